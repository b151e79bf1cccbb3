"""Whether one column decides another, in plain Python over every row."""

from __future__ import annotations

from collections.abc import Sequence


def agreeing(key: Sequence[int], other: Sequence[int]) -> tuple[float, int]:
    """Share of the rows that agree with the first of the same key, and how many rows have an earlier one."""
    first: dict[int, int] = {}
    same = later = 0
    for one, cell in zip(key, other, strict=True):
        if one < 0 or cell < 0:
            continue
        if one in first:
            later += 1
            same += first[one] == cell
        else:
            first[one] = cell
    return (same / later if later else 0.0), later


def by_chance(column: Sequence[int]) -> float:
    present = [cell for cell in column if cell >= 0]
    if not present:
        return 1.0
    return sum(one == other for one in present for other in present) / len(present) ** 2


def decides(key: Sequence[int], other: Sequence[int]) -> bool:
    share, later = agreeing(key, other)
    chance = by_chance(other)
    return later >= 20 and share >= 0.95 and chance < 1 and (share - chance) / (1 - chance) >= 0.8


def more_alike(columns: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Share of the rows that equal another, and pairs of equal rows by those that chance would give."""
    rows = list(zip(*columns, strict=True))
    pairs = sum(one == other for place, one in enumerate(rows) for at, other in enumerate(rows) if at != place)
    chance = 1.0
    for column in columns:
        chance *= by_chance(column)
    return sum(rows.count(row) > 1 for row in rows) / len(rows), pairs / (len(rows) * (len(rows) - 1) * chance)
