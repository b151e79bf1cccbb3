"""What the rows of one value have in common: whether a column decides others, as the number of a person does.

Cells are codes of distinct values; a missing cell is below 0 and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]

AGREES = 0.95
"""Share of the rows that must agree with the first of the same value; some cells are always mistyped."""
BEYOND_CHANCE = 0.8
"""How much of what chance leaves open must agree."""
FEWEST_PAIRS = 20
"""Rows that must have an earlier one of the same value, before their agreement says anything."""
GLANCE = 2000
"""Rows that a first look takes of a long table."""


def agreement(people: Codes, others: Sequence[Codes]) -> float | None:
    """Share of the rows that agree with the first row of the same person, in the column that agrees least."""
    found = [share for share, n in (_agreeing(people, one) for one in others) if n]
    return min(found) if found else None


def decides(key: Codes, other: Codes) -> bool:
    """Whether rows with the same key have the same in the other column, nearly always and not by chance."""
    if _clearly_not(key, other):
        return False
    share, n = _agreeing(key, other)
    if n < FEWEST_PAIRS or share < AGREES:
        return False
    chance = by_chance(other)
    return share - chance >= BEYOND_CHANCE * (1 - chance) > 0


def _clearly_not(key: Codes, other: Codes) -> bool:
    """Whether the rows of some keys show already that it does not decide, as most columns do not."""
    if len(key) < 4 * GLANCE:
        return False
    some = key <= int(key.max()) * GLANCE // len(key)
    share, n = _agreeing(key[some], other[some])
    return n >= 100 and share < AGREES - 0.1


def same_groups(one: Codes, other: Codes) -> bool:
    """Whether two columns put rows into the same groups, nearly always."""
    return decides(one, other) and decides(other, one)


def by_chance(codes: Codes) -> float:
    """How often two rows agree that have nothing to do with each other."""
    present = codes[codes >= 0]
    return float(((np.bincount(present) / len(present)) ** 2).sum()) if len(present) else 1.0


def apart(columns: Sequence[Codes]) -> int:
    """How many of some columns say something of their own: none of them decides another, as a town does its region."""
    finest_last = sorted(columns, key=by_chance, reverse=True)
    kept: list[Codes] = []
    for place, one in enumerate(finest_last):
        if not any(decides(finer, one) for finer in finest_last[place + 1 :]):
            kept.append(one)
    return len(kept)


def more_alike(columns: Sequence[Codes]) -> tuple[float, float]:
    """Share of the rows that others equal in all columns, and how many times more pairs of rows do than by chance."""
    n = len(columns[0])
    _, times = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    pairs = float((times * (times - 1)).sum())
    expected = n * (n - 1) * float(np.prod([by_chance(one) for one in columns]))
    return float(times[times > 1].sum()) / n, pairs / expected if expected else 0.0


def _agreeing(key: Codes, other: Codes) -> tuple[float, int]:
    """Share of the rows that agree with the first of the same key, and how many rows have an earlier one."""
    there = (key >= 0) & (other >= 0)
    keys, cells = key[there], other[there]
    rows = np.arange(len(keys))
    first = np.zeros(int(keys.max(initial=0)) + 1, dtype=np.int64)
    first[keys[::-1]] = rows[::-1]  # the last to be written is the first to occur
    leader = first[keys]
    again = leader != rows
    n = int(again.sum())
    return (float((cells[again] == cells[leader[again]]).mean()) if n else 0.0), n
