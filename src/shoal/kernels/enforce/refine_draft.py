"""Groups near each other put together, and divided as it was drafted, whichever loss is lowered.

A draft is a record with at least the fields `grown` (GROWN[MOST + 1]), `rows`, `before` and `after` (int64[room]: rows
of the groups, in which of them each is, and in which new one it will be) and `spare` (int64[1]: a group that has no
rows, -1 for none). Rows that are in no new group yet stand first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition, enter, keeps
from shoal.kernels.enforce.refine import LEAST, Search, error, renew
from shoal.kernels.jit import jit

MOST = 4
"""How many groups are put together at most."""
FAR = 0.5
"""How often a new group begins at the row that is farthest from the last one, and not at one drawn at random."""
OTHER = 0.2
"""How often one group fewer is tried, and one more."""
DRAW = np.dtype([("many", np.float64), ("other", np.float64), ("chance", np.float64)], align=True)
"""Random numbers in [0, 1) for one try: how many groups, whether fewer or more become of them, and what decides."""
PICK = np.dtype([("group", np.float64), ("member", np.float64), ("near", np.float64), ("seed", np.float64)], align=True)
"""Random numbers for each group of a try: next to which group, to which member, and at which row near to that; and
where a new group begins."""
GROWN = np.dtype(
    [("group", np.int64), ("room", np.int64), ("size", np.int64), ("share", np.float64), ("becomes", np.int64)],
    align=True,
)  # fmt: skip
"""A new group: where it will be, how many rows it may have, how many it has, and the share all columns leave open; and
of an old one, which of them it becomes."""


@jit
def put_together(partition: Partition, search: Search, draft: Any, row: int, many: float, picks: Any) -> int:
    """Note the group of a row and some near it, with their rows; how many they are."""
    grown, wanted = draft.grown, 2 + np.int64(many * (MOST - 1))
    n, n_rows, group = 0, 0, partition.label[row]
    for i in range(wanted):
        if i:
            near = partition.groups[grown[np.int64(picks[i].group * n)].group]
            member = partition.members[near.begin + np.int64(picks[i].member * near.size)]
            group = partition.label[search.near[member, np.int64(picks[i].near * search.near.shape[1])]]
        one, new = partition.groups[group], True
        for g in range(n):
            new &= grown[g].group != group
        if not new or one.size >= 2 * partition.k:
            if n == 0:
                return 0
            continue
        for at in range(one.begin, one.begin + one.size):
            draft.rows[n_rows], draft.before[n_rows], draft.after[n_rows] = partition.members[at], n, -1
            n_rows += 1
        grown[n].group, grown[n].room, grown[n].size = group, one.end - one.begin, one.size
        n += 1
    return n


@jit
def how_many(partition: Partition, draft: Any, n: int, n_rows: int, other: float) -> int:
    """How many groups are made of some: as many, or one fewer or more if that is drawn and can be."""
    k, spare = partition.k, draft.spare[0]
    if other < OTHER and n_rows <= (n - 1) * (2 * k - 1):
        return n - 1
    if other >= 1.0 - OTHER and n_rows >= (n + 1) * k and spare >= 0:
        one = partition.groups[spare]
        draft.grown[n].group, draft.grown[n].room = spare, one.end - one.begin
        return n + 1
    return n


@jit
def first_row(far: Any, n_free: int, g: int, seed: float) -> int:
    """Where a new group begins: at the row farthest from the last group, or at one drawn at random.

    IN  far float64[rows]: how far free rows are from the last group
    """
    if g == 0 or seed >= FAR:
        return np.int64((seed if g == 0 else (seed - FAR) / (1.0 - FAR)) * n_free)  # type: ignore[return-value]
    most, who = -1.0, 0
    for i in range(n_free):
        if far[i] > most + LEAST:
            most, who = far[i], i
    return who


@jit
def lost_by(partition: Partition, loss: Any, draft: Any, n: int) -> float:
    """What some groups lose."""
    total = 0.0
    for g in range(n):
        total += error(partition, loss, draft.grown[g].group)
    return total


@jit
def rows_of(draft: Any, n: int) -> int:
    """How many rows some groups have, before they are divided."""
    total = 0
    for g in range(n):
        total += draft.grown[g].size
    return total


@jit
def divide(
    partition: Partition, loss: Any, search: Search, draft: Any, n_before: int, n_after: int, n_rows: int,
    most: float,
) -> bool:  # fmt: skip
    """Divide the rows as drafted, if groups keep their promises and less than `most` is lost; say whether."""
    if n_before == n_after and _same(draft, n_rows):
        return False
    n = n_before if n_before > n_after else n_after
    _lay_out(partition, loss, draft, draft.after, n, n_rows)
    lost, fine = lost_by(partition, loss, draft, n), True
    for g in range(n_after):
        fine = fine and keeps(partition, search.needs, draft.grown[g].group, NOBODY, NOBODY)
    if not fine or lost >= most:
        _lay_out(partition, loss, draft, draft.before, n, n_rows)
        return False
    if n_after < n_before:
        draft.spare[0] = draft.grown[n_after].group
    elif n_after > n_before:
        draft.spare[0] = -1
    return True


@jit
def _same(draft: Any, n_rows: int) -> bool:
    """Whether the new groups are the old ones, maybe in another order: none was parted, and there are as many."""
    grown, same = draft.grown, True
    for g in range(len(grown)):
        grown[g].becomes = -1
    for i in range(n_rows):
        one = grown[draft.before[i]]
        one.becomes = draft.after[i] if one.becomes < 0 else one.becomes
        same &= one.becomes == draft.after[i]
    return same


@jit
def _lay_out(partition: Partition, loss: Any, draft: Any, which: Any, n: int, n_rows: int) -> None:
    """Put rows into groups as stated."""
    for g in range(n):
        partition.groups[draft.grown[g].group].size = 0
    for i in range(n_rows):
        enter(partition, draft.rows[i], draft.grown[which[i]].group)
    for g in range(n):
        renew(partition, loss, draft.grown[g].group)
