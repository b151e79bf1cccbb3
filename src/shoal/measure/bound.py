"""What the bounds of a loss share: for which k, and how many rows may be left out."""

from __future__ import annotations

import numpy as np

from shoal.errors import ParameterError, Problem, counted
from shoal.measure.base import Given
from shoal.measure.group_errors import Labels


def k_of(asked: int | None, given: Given) -> int:
    """The size that classes must have: as asked for, else the largest k promised, else the smallest class there is."""
    if asked is not None:
        return asked
    promised = [int(str(one["k"])) for one in given.manifest.promise if one.get("model") == "k-anonymity"]
    return max(promised, default=int(given.class_sizes[0]) if len(given.class_sizes) else 0)


def labels_of(given: Given) -> Labels | None:
    """The group of each row that was not dropped before the work, where that is known; the input must be that one."""
    rows, n_input = given.manifest.rows, given.table.n_input
    made_of = None if rows.left_out is None else rows.published + rows.left_out
    made_of = made_of if given.labels is None else len(given.labels)
    if n_input < rows.published or made_of not in (None, n_input):
        what = (
            f"has {counted(n_input, 'row')}, the release was made of {rows.published if made_of is None else made_of:,}"
        )
        raise ParameterError(Problem("original", what, "give the input of the release"))
    return None if given.labels is None else np.asarray(given.labels)[given.table.kept]


def n_suppressed(given: Given) -> int:
    """Rows left out that were not dropped before the work."""
    return given.table.n_rows - given.manifest.rows.published
