"""Published cells and people's values as numbers side by side, for a model that learns from the ones about the others.

A number is itself, an interval its middle, a category of an order its rank. A node of a hierarchy says for every
published node whether it lies in it, and a value whether it would; a set shares 1 out between its members.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.attack.index import Floats
from shoal.attack.knowledge import Known
from shoal.attack.published import Part
from shoal.check.cell_forms import CellForm, form_of
from shoal.check.cells import read_cell
from shoal.check.value_ranges import MISSING_VALUE, SET, SPAN, Range

MOST = 200
"""Categories of a column that have a number of their own: the most frequent ones."""


def features(part: Part, names: Sequence[str], known: Sequence[Known]) -> tuple[Floats, list[Floats]]:
    """The rows of a part, and people of several groups, one line each; missing and unknown numbers are NaN."""
    rows: list[Floats] = []
    people: list[list[Floats]] = [[] for _ in known]
    for name in names:
        form, cells = form_of(part.columns[name]), part.cells(name)
        shown = [read_cell(form, *row).range for row in cells.shown]
        asked = [one.distinct(name) for one in known]
        values = [one.column(form).ranges(these, MISSING_VALUE) for one, (these, _) in zip(known, asked, strict=True)]
        counts = np.bincount(cells.codes, minlength=len(shown))
        lines = _numbers(form, shown, counts, values)
        rows.append(lines[0][cells.codes])
        for group, line, (_, person) in zip(people, lines[1:], asked, strict=True):
            group.append(line[person])
    return np.concatenate(rows, axis=1), [np.concatenate(group, axis=1) for group in people]


def _numbers(
    form: CellForm, shown: Sequence[Range], counts: np.ndarray, values: Sequence[Sequence[Range]]
) -> list[Floats]:
    """Cells of a column, then the values of each group, as lines of numbers."""
    if not form.discrete or form.column.form == "order":
        return [
            np.array([[_middle(one)] for one in some], dtype=np.float64).reshape(-1, 1) for some in (shown, *values)
        ]
    order = np.argsort(-counts, kind="stable")[:MOST]
    nodes = list(dict.fromkeys(shown[place] for place in order if shown[place].sort in (SPAN, SET)))
    within = form.column.form == "node"
    return [
        np.array([[_share(one, node, within) for node in nodes] for one in some], dtype=np.float64).reshape(
            len(some), len(nodes)
        )
        for some in (shown, *values)
    ]


def _middle(one: Range) -> float:
    return (one.low + one.high) / 2 if one.sort in (SPAN, SET) else np.nan


def _share(one: Range, node: Range, within: bool) -> float:
    """Whether a cell or value lies within a node; of categories and sets, what share of it is in the other."""
    if one.sort not in (SPAN, SET):
        return 0.0
    if within:
        return float(node.low <= one.low and one.high <= node.high)
    here, there = _members(one), _members(node)
    return len(here & there) / len(here)


def _members(one: Range) -> set[float]:
    return set(one.values) if one.sort == SET else set(np.arange(one.low, one.high + 1).tolist())


__all__ = ["features"]
