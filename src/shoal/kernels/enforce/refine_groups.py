"""Whole groups that are split, or dissolved into those around them, while that lowers a loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition, enter, keeps, leave, may_become, members_of
from shoal.kernels.enforce.refine import (
    LEAST,
    Search,
    both_keep,
    change,
    error,
    exchange,
    least_added,
    note_change,
    renew,
)
from shoal.kernels.jit import jit


@jit
def regroup(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> int:
    """Split groups of 2k or more, and dissolve others, of a run of groups; how many of them.

    What the rows of those that have changed would gain them if they left is to be noted afterwards.
    """
    groups, changed, empty = partition.groups, 0, 0
    for group in range(begin, end):
        splits = True
        while splits and may_split(partition, search, group):
            while empty < len(groups) and groups[empty].size:
                empty += 1
            splits = empty < len(groups) and split(partition, loss, search, group, empty)
            changed += splits
        if may_dissolve(partition, search, group) and dissolve(partition, loss, search, group):
            changed += 1
            empty = group if group < empty else empty
    return changed


@jit
def may_split(partition: Partition, search: Search, group: int) -> bool:
    """Whether to try to split a group: it is large, and has changed since that was tried in vain."""
    seen = search.groups[group]
    return partition.groups[group].size >= 2 * partition.k and seen.changed > seen.tried  # type: ignore[no-any-return]


@jit
def may_dissolve(partition: Partition, search: Search, group: int) -> bool:
    """Whether to try to dissolve a group: it is small, and has news since that was tried in vain."""
    if not 0 < partition.groups[group].size < 2 * partition.k:
        return False
    news = search.near.shape[1] == 0
    for row in members_of(partition, group):
        news |= search.turns[search.rows[row].turn].group
    return news


@jit
def note_tried(partition: Partition, search: Search, group: int) -> None:
    """Note that a group cannot be dissolved, as things are."""
    search.groups[group].tried = search.clock[0]
    for row in members_of(partition, group):
        search.turns[search.rows[row].turn].group = False


@jit
def dissolve(partition: Partition, loss: Any, search: Search, group: int) -> bool:
    """Send every row of a group where it adds least, if the loss falls by it; say whether."""
    rows, total, most = members_of(partition, group).copy(), 0.0, error(partition, loss, group) - LEAST
    moved, n_near, rises = 0, search.near.shape[1], least_added(partition, loss, group) >= 0.0
    for row in rows:
        best, where = np.inf, -1
        for i in range(n_near if n_near else len(partition.groups)):
            other = partition.label[search.near[row, i]] if n_near else i
            if other != group and partition.groups[other].size and may_become(partition, other, NOBODY, row):
                if where >= 0 and least_added(partition, loss, other) >= best:
                    continue
                added = change(partition, loss, other, NOBODY, row)
                if where < 0 or added < best - LEAST:
                    best, where = added, other
        total += best
        if where < 0 or (rises and total >= most):
            break
        leave(partition, row)
        enter(partition, row, where)
        renew(partition, loss, where)
        moved += 1
    fine = moved == len(rows) and total < most
    for row in rows:
        fine = fine and keeps(partition, search.needs, partition.label[row], NOBODY, NOBODY)
    before = search.clock[0]
    for row in rows[:moved]:
        where = partition.label[row]
        if fine and search.groups[where].changed <= before:  # once for all that joined it
            note_change(partition, search, where)
        elif not fine:
            leave(partition, row)
            enter(partition, row, group)
            renew(partition, loss, where)
    renew(partition, loss, group)
    if not fine:
        note_tried(partition, search, group)
    return fine


@jit
def split(partition: Partition, loss: Any, search: Search, group: int, empty: int) -> bool:
    """Send k rows of a group of 2k or more to an empty one, if the loss falls by it; say whether.

    The first is the one whose leaving gains most; each further one is the one whose change of groups does.
    """
    total = 0.0
    for _ in range(partition.k):
        best, who = np.inf, -1
        for row in members_of(partition, group):
            added = change(partition, loss, group, row, NOBODY) + change(partition, loss, empty, NOBODY, row)
            if who < 0 or added < best - LEAST:
                best, who = added, row
        total += best
        exchange(partition, loss, group, who, empty, NOBODY)
    allowed = may_become(partition, group, NOBODY, NOBODY) and may_become(partition, empty, NOBODY, NOBODY)
    if allowed and total < -LEAST and both_keep(partition, search.needs, group, NOBODY, empty, NOBODY):
        note_change(partition, search, group)
        note_change(partition, search, empty)
        return True
    for row in members_of(partition, empty).copy():
        exchange(partition, loss, empty, row, group, NOBODY)
    search.groups[group].tried = search.clock[0]
    return False
