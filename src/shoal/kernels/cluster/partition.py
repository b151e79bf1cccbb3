"""Groups whose rows still change places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.violation import Needs, violation
from shoal.kernels.jit import jit


class Partition(NamedTuple):
    """Who is in which group; a group has slots begin[g] .. begin[g + 1] - 1 and fills the first size[g] of them."""

    label: Any  # int64[n]           INOUT  -1 for a row in no group
    members: Any  # int64[slots]     INOUT  rows of each group, lowest first
    begin: Any  # int64[groups + 1]  IN     the number of its slots is the most rows a group may have
    size: Any  # int64[groups]       INOUT
    needs: Needs  #                  IN     what every group must keep besides its size


@jit
def may_become(partition: Partition, group: int, out: int, into: int, k: int) -> bool:
    """Whether a group has a fitting size without the row `out` and with the row `into` (-1 for none)."""
    size = partition.size[group] - (out >= 0) + (into >= 0)
    return k <= size <= partition.begin[group + 1] - partition.begin[group]


@jit
def keeps(partition: Partition, group: int, out: int, into: int) -> bool:
    """Whether a group keeps its promises without the row `out` and with the row `into` (-1 for none).

    Every step of every search asks this last, because it costs most.
    """
    return len(partition.needs.promises) == 0 or violation_with(partition, group, out, into) == 0.0


@jit
def violation_with(partition: Partition, group: int, out: int, into: int) -> float:
    """How far a group is from its promises without the row `out` and with the row `into` (-1 for none)."""
    rows = np.empty(partition.size[group] + 1, dtype=np.int64)
    n = 0
    for row in members_of(partition, group):
        if row != out:
            rows[n] = row
            n += 1
    if into >= 0:
        rows[n] = into
        n += 1
    return violation(partition.needs, rows[:n])


@jit
def members_of(partition: Partition, group: int) -> Any:
    """Rows of a group, lowest first: a view."""
    begin = partition.begin[group]
    return partition.members[begin : begin + partition.size[group]]


@jit
def leave(partition: Partition, row: int) -> None:
    """Take a row out of its group."""
    members, group = partition.members, partition.label[row]
    at = partition.begin[group]
    last = at + partition.size[group] - 1
    while members[at] != row:
        at += 1
    for i in range(at, last):
        members[i] = members[i + 1]
    partition.size[group] -= 1
    partition.label[row] = -1


@jit
def enter(partition: Partition, row: int, group: int) -> None:
    """Put a row that is in no group into one that has a free slot."""
    members, begin = partition.members, partition.begin[group]
    at = begin + partition.size[group]
    while at > begin and members[at - 1] > row:
        members[at] = members[at - 1]
        at -= 1
    members[at] = row
    partition.size[group] += 1
    partition.label[row] = group
