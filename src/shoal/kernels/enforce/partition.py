"""Groups whose rows still change places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.violation import Needs, violation
from shoal.kernels.jit import jit

GROUP = np.dtype([("begin", np.int64), ("end", np.int64), ("size", np.int64)], align=True)
"""A group: where its slots begin and end, and how many of them it fills, from the first on."""


NOBODY: int = np.int64(-1)  # type: ignore[assignment]
"""In the place of a row: none. As a number of 64 bits: kernels are compiled once more for a literal."""


class Partition(NamedTuple):
    """Who is in which group; a group has as many slots as it may have rows."""

    label: Any  # int64[n]        INOUT  -1 for a row in no group
    members: Any  # int64[slots]  INOUT  rows of each group, lowest first
    groups: Any  # GROUP[groups]  INOUT
    k: int  # smallest size of a group


@jit
def may_become(partition: Partition, group: int, out: int, into: int) -> bool:
    """Whether a group has a fitting size without the row `out` and with the row `into` (-1 for none)."""
    one = partition.groups[group]
    size = one.size - (out >= 0) + (into >= 0)
    return partition.k <= size <= one.end - one.begin


@jit
def keeps(partition: Partition, needs: Needs | None, group: int, out: int, into: int) -> bool:
    """Whether a group keeps its promises without the row `out` and with the row `into` (-1 for none).

    Every step of every search asks this last, because it costs most.
    """
    if needs is None:
        return True
    return violation_with(partition, needs, group, out, into) == 0.0


@jit
def violation_with(partition: Partition, needs: Needs, group: int, out: int, into: int) -> float:
    """How far a group is from its promises without the row `out` and with the row `into` (-1 for none)."""
    rows = np.empty(partition.groups[group].size + 1, dtype=np.int64)
    n = 0
    for row in members_of(partition, group):
        if row != out:
            rows[n] = row
            n += 1
    if into >= 0:
        rows[n] = into
        n += 1
    return violation(needs, rows[:n])


@jit
def members_of(partition: Partition, group: int) -> Any:
    """Rows of a group, lowest first: a view."""
    one = partition.groups[group]
    return partition.members[one.begin : one.begin + one.size]


@jit
def leave(partition: Partition, row: int) -> None:
    """Take a row out of its group."""
    members, one = partition.members, partition.groups[partition.label[row]]
    at = one.begin
    while members[at] != row:
        at += 1
    one.size -= 1
    for i in range(at, one.begin + one.size):
        members[i] = members[i + 1]
    partition.label[row] = -1


@jit
def enter(partition: Partition, row: int, group: int) -> None:
    """Put a row that is in no group into one that has a free slot."""
    members, one = partition.members, partition.groups[group]
    at = one.begin + one.size
    while at > one.begin and members[at - 1] > row:
        members[at] = members[at - 1]
        at -= 1
    members[at] = row
    one.size += 1
    partition.label[row] = group
