"""Rows, one after the other, sent to the groups where they add least to the loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce import refine_covers, refine_mixed
from shoal.kernels.enforce.partition import NOBODY, Partition, enter, keeps, members_of
from shoal.kernels.enforce.refine import LEAST, change, error, exchange, learn, least_added, renew
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.refine_mixed import Mixed
from shoal.kernels.enforce.refine_points import Points
from shoal.kernels.enforce.violation import Needs
from shoal.kernels.jit import chosen_by_type, jit

ASKED = np.dtype([("group", np.int64), ("key", np.int64), ("changes", np.int64), ("fine", np.bool_)], align=True)
"""Whether a row of some key may join a group, as it was after so many changes; no group is -1."""


class Memory(NamedTuple):
    """What has been asked before: which rows may join which groups, as long as those stay as they are."""

    keys: Any  # int64[n]           IN     equal ones for equal sensitive values
    changes: Any  # int64[groups]    INOUT  how often each group has changed
    asked: Any  # ASKED[power of two]  INOUT


@jit
def _joined(partition: Partition, loss: Any, group: int, row: int, most: float) -> float:  # noqa: ARG001
    """What a row adds to the loss of a group that it joins."""
    return change(partition, loss, group, NOBODY, row)


joined_below = chosen_by_type(1, {Points: _joined, Mixed: _joined, Covers: refine_covers.joined_below})
"""The same; infinite where that is surely more than `most`, if it can be known at a glance."""


@jit
def _least_with(partition: Partition, loss: Any, group: int, row: int) -> float:  # noqa: ARG001
    """What any row adds at least."""
    return least_added(partition, loss, group)


least_with = chosen_by_type(1, {Points: _least_with, Mixed: refine_mixed.least_with, Covers: _least_with})
"""What a row adds at least, known at a glance."""


@jit
def settle(partition: Partition, loss: Any, needs: Needs, rows: Any, groups: Any, memory: Memory) -> int:
    """Send rows, then all rows of groups, to the groups where they add least and break no promise; how many steps.

    A row in no group goes where it can; one in a group, and all rows of a group to be given up, only if the loss falls.

    IN  rows, groups int64[some], in the order of their turns
    """
    learn(partition, loss)
    steps = 0
    for row in rows:
        here, dearest = partition.label[row], np.inf
        if here >= 0:
            if partition.groups[here].size <= partition.k or not keeps(partition, needs, here, row, NOBODY):
                continue
            dearest = -change(partition, loss, here, row, NOBODY) - LEAST
        where, _ = _best_home(partition, loss, needs, row, here, dearest, memory)
        if where >= 0:
            steps += 1
            _send(partition, loss, row, where, memory)
    for group in groups:
        steps += _give_up(partition, loss, needs, group, memory)
    return steps


@jit
def _send(partition: Partition, loss: Any, row: int, where: int, memory: Memory) -> None:
    """Send a row to another group, from its own if it is in one."""
    here = partition.label[row]
    memory.changes[where] += 1
    if here < 0:
        enter(partition, row, where)
        renew(partition, loss, where)
    else:
        memory.changes[here] += 1
        exchange(partition, loss, here, row, where, NOBODY)


@jit
def _best_home(
    partition: Partition, loss: Any, needs: Needs, row: int, here: int, dearest: float, memory: Memory
) -> Any:
    """The group other than `here` that a row adds least to, less than `dearest`, without breaking a promise.

    All groups are looked at, not only near ones as in a refinement: groups of coarse cells overlap with many.
    """
    best, where = dearest, -1
    for group in range(len(partition.groups)):
        one = partition.groups[group]
        full = one.size == one.end - one.begin
        if one.size == 0 or full or group == here or least_with(partition, loss, group, row) >= best:
            continue
        added = joined_below(partition, loss, group, row, best + LEAST)
        if added < best and _may_join(partition, needs, group, row, memory):
            best, where = added, group
    return where, best


@jit
def _may_join(partition: Partition, needs: Needs, group: int, row: int, memory: Memory) -> bool:
    """Whether a group keeps its promises with one more row: asked once for all rows with the same sensitive values."""
    key, changes = memory.keys[row], memory.changes[group]
    scrambled = np.uint64(group * 1000003 + key) * np.uint64(11400714819323198485)
    known = memory.asked[np.int64(scrambled >> np.uint64(33)) & (len(memory.asked) - 1)]
    if known.group != group or known.key != key or known.changes != changes:
        known.group, known.key, known.changes = group, key, changes
        known.fine = keeps(partition, needs, group, NOBODY, row)
    return known.fine  # type: ignore[no-any-return]


@jit
def _give_up(partition: Partition, loss: Any, needs: Needs, group: int, memory: Memory) -> bool:
    """Send every row of a group to others, if the loss falls by it and no promise is broken; say whether."""
    rows, added_by_all, before = members_of(partition, group).copy(), 0.0, error(partition, loss, group)
    moved = 0
    for row in rows:
        if added_by_all >= before - LEAST and least_added(partition, loss, group) >= 0.0:
            break  # whatever the others add, the loss does not fall
        where, added = _best_home(partition, loss, needs, row, group, np.inf, memory)
        if where < 0:
            break
        added_by_all += added
        _send(partition, loss, row, where, memory)
        moved += 1
    if moved == len(rows) and added_by_all < before - LEAST:
        return True
    for row in rows[:moved]:
        _send(partition, loss, row, group, memory)
    return False
