"""What the bounds of a loss share: for which k, and of which rows."""

from __future__ import annotations

import numpy as np

from shoal.errors import ParameterError, Problem, Problems
from shoal.measure.base import Given, Measure
from shoal.measure.group_errors import Labels


def k_of(asked: int | None, given: Given) -> int:
    """The size that classes must have: as asked for, else the largest k promised, else the smallest class there is."""
    if asked is not None:
        return asked
    promised = [int(str(one["k"])) for one in given.manifest.promise if one.get("model") == "k-anonymity"]
    return max(promised, default=int(given.class_sizes[0]) if len(given.class_sizes) else 0)


def check_input(measure: Measure, given: Given, problems: Problems) -> None:
    """Note a release of which nobody says which rows were in one group."""
    if given.labels is None:
        what = "needs the groups of the input, and the files of a release do not have them"
        problems.add(f"measure {measure.name}", what, "measure the release where it is made, in Python")


def labels_of(given: Given) -> Labels:
    """The group of each row that was not dropped before the work."""
    assert given.labels is not None  # noqa: S101  seen to before
    if len(given.labels) != given.table.n_input:
        what = f"has {given.table.n_input} rows, the release was made of {len(given.labels)}"
        raise ParameterError(Problem("original", what, "give the input of the release"))
    found: Labels = np.asarray(given.labels)[given.table.kept]
    return found
