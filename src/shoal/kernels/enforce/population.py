"""Who of a population the cells of groups cover."""

from __future__ import annotations

from typing import Any

from shoal.kernels.enforce.refine_covers import SET
from shoal.kernels.jit import jit, jit_parallel, prange

MANY = 16
"""From how many groups on cores share the work."""
PIECE = 256
"""People that one core looks at before it takes others."""


@jit
def covers(kind: Any, low: Any, high: Any, sets: Any, first: Any, person: Any, group: int) -> bool:
    """Whether the cells of a group cover a person.

    IN  kind float64[d];  low, high float64[groups, d], a run of numbers, ranks or leaves; everything from -inf to inf
        sets bool[groups, values];  first int64[d], where the values of a set column begin in `sets`
        person float64[d]; infinite where a value is in no tree, NaN where it is missing
    """
    for j in range(len(kind)):
        x = person[j]
        if low[group, j] == -float("inf") and high[group, j] == float("inf"):
            continue  # `*`, or the root
        if kind[j] == SET:
            if not (0.0 <= x < float("inf")) or not sets[group, first[j] + int(x)]:
                return False
        elif x != x:
            if low[group, j] == low[group, j]:
                return False
        elif not (low[group, j] <= x <= high[group, j]):  # a missing cell covers nobody who has a value
            return False
    return True


@jit
def _count(kind: Any, low: Any, high: Any, sets: Any, first: Any, people: Any, group: int) -> int:
    n = 0
    for i in range(len(people)):
        n += covers(kind, low, high, sets, first, people[i], group)
    return n


@jit_parallel
def count_people(kind: Any, low: Any, high: Any, sets: Any, first: Any, people: Any, out: Any) -> None:
    """How many people the cells of each group cover.

    IN   people float64[m, d]
    OUT  out int64[groups]
    """
    if len(out) < MANY:  # waking cores would cost more than the work
        for group in range(len(out)):
            out[group] = _count(kind, low, high, sets, first, people, group)
    else:
        for group in prange(len(out)):
            out[group] = _count(kind, low, high, sets, first, people, group)


@jit_parallel
def sum_chances(kind: Any, low: Any, high: Any, sets: Any, first: Any, people: Any, chance: Any, out: Any) -> None:
    """For each person, the sum of the chances of the groups whose cells cover the person.

    IN   people float64[m, d];  chance float64[groups]
    OUT  out float64[m]
    """
    for piece in prange((len(people) + PIECE - 1) // PIECE):
        for i in range(piece * PIECE, min((piece + 1) * PIECE, len(people))):
            total = 0.0
            for group in range(len(chance)):
                if covers(kind, low, high, sets, first, people[i], group):
                    total += chance[group]
            out[i] = total
