"""Columns that are published as they are, and whose values look like the names or numbers of people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.concerns.base import Concern, Looked, quoted
from shoal.table.profile.profile import profile

ROWS = 5000
"""So many rows are looked at, spread over the table: enough to see what a column holds."""


def identifiers(looked: Looked) -> Iterator[Concern]:
    """What `shoal init` would propose to drop, it is told here once more, by what was published."""
    passed = looked.passed
    if not passed.width or not passed.height:
        return
    rows = np.unique(np.linspace(0, passed.height - 1, min(ROWS, passed.height)).astype(np.int64))
    for column in profile(passed[rows]).columns:
        if column.role in ("identifying", "person") and column.n_distinct > 1:
            reason = column.reason[:1].lower() + column.reason[1:]
            what = f"column {column.name!r} is published as it is and looks like an identifier: {reason}"
            change = f'[columns.{quoted(column.name)}]\nrole = "identifying"'
            yield Concern("identifiers", what, change, 0.95, column.name)
