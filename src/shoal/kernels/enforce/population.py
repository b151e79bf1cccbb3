"""Who of a population the cells of groups cover."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.refine_covers import SET
from shoal.kernels.jit import jit

COLUMN = np.dtype([("kind", np.int64), ("first", np.int64)], align=True)
"""A column: its kind, and where the values of a set column begin in `sets`."""
ENDS = np.dtype([("low", np.float64), ("high", np.float64)], align=True)
"""A cell: a run of numbers, ranks or leaves; everything from -inf to inf; NaN for a missing cell."""


class ShownCells(NamedTuple):
    """What the groups would show."""

    columns: Any  # COLUMN[d]          IN
    ends: Any  # ENDS[groups, d]       IN
    sets: Any  # bool[groups, values]  IN


@jit
def _covers(cells: ShownCells, group: int, person: Any) -> bool:
    """Whether the cells of a group cover a person.

    IN  person float64[d]; infinite where a value is in no tree, NaN where it is missing
    """
    for j in range(len(person)):
        x, cell = person[j], cells.ends[group, j]
        if cell.low == -np.inf and cell.high == np.inf:
            continue  # `*`, or the root
        if cells.columns[j].kind == SET:
            if not (0.0 <= x < np.inf) or not cells.sets[group, cells.columns[j].first + np.int64(x)]:
                return False
        elif np.isnan(x):
            if not np.isnan(cell.low):
                return False
        elif not (cell.low <= x <= cell.high):  # a missing cell covers nobody who has a value
            return False
    return True


@jit
def _count(cells: ShownCells, people: Any, group: int) -> int:
    n = 0
    for i in range(len(people)):
        n += _covers(cells, group, people[i])
    return n


@jit
def _sum(cells: ShownCells, person: Any, chance: Any) -> float:
    total = 0.0
    for group in range(len(chance)):
        if _covers(cells, group, person):
            total += chance[group]
    return total


@jit
def count_people(cells: ShownCells, people: Any, out: Any) -> None:
    """How many people the cells of each group cover.

    IN   people float64[m, d]
    OUT  out int64[groups]
    """
    for group in range(len(out)):
        out[group] = _count(cells, people, group)


@jit
def sum_chances(cells: ShownCells, people: Any, chance: Any, out: Any) -> None:
    """For each person, the sum of the chances of the groups whose cells cover the person.

    IN   people float64[m, d];  chance float64[groups]
    OUT  out float64[m]
    """
    for i in range(len(people)):
        out[i] = _sum(cells, people[i], chance)
