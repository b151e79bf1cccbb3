"""Rows that move and swap between groups while that lowers a loss.

Which loss it is, the kernels of `refine_points`, `refine_mixed` and `refine_covers` know. Each has a `change`, which
tells how the loss of a group changes when rows leave and join, and a `renew`, which works out what has to be known for
that. The search asks nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce import refine_covers, refine_mixed, refine_points
from shoal.kernels.enforce.partition import NOBODY, Partition, enter, keeps, leave, may_become, members_of
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.refine_mixed import Mixed
from shoal.kernels.enforce.refine_points import Points
from shoal.kernels.enforce.violation import Needs
from shoal.kernels.jit import chosen_by_type, jit

LEAST = 1e-9
"""What a step must gain: far more than rounding, so that no step is undone by another for ever."""
ROUNDING = 1e-11
"""By how much less is taken for what a step adds at least."""
ROW = np.dtype([("relief", np.float64), ("slack", np.float64), ("steps", np.int64), ("chains", np.int64)], align=True)
"""What is known of a row: how the loss of its group would change if it left, and how it changes at least if another
row takes its place; when it last looked for a step, and for a chain, and found none."""


class Search(NamedTuple):
    """Where rows look for a better group."""

    needs: Needs | None  #   IN     what every group must keep besides its size
    near: Any  # int64[n, m]  IN     rows whose groups are looked at; with m = 0, every group is
    rows: Any  # ROW[n]       INOUT
    changed: Any  # int64[groups]  INOUT  when a group last changed
    clock: Any  # int64[1]    INOUT  how many changes there were


LOSSES = {Points: refine_points, Mixed: refine_mixed, Covers: refine_covers}
change = chosen_by_type(1, {loss: kernels.change for loss, kernels in LOSSES.items()})
"""By how much the loss of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
renew = chosen_by_type(1, {loss: kernels.renew for loss, kernels in LOSSES.items()})
"""Work out anew what is known of a group."""
error = chosen_by_type(1, {loss: kernels.error for loss, kernels in LOSSES.items()})
"""The loss of a group."""
least_swapped = chosen_by_type(1, {loss: kernels.least_swapped for loss, kernels in LOSSES.items()})
"""How the loss of a group changes at least when a row is replaced, by the change when it leaves."""
least_joined = chosen_by_type(1, {loss: kernels.least_joined for loss, kernels in LOSSES.items()})
"""What is added to that at least by a row that takes the place of another, by the change when it only joins."""
least_swap = chosen_by_type(1, {loss: LOSSES[loss].least_swap for loss in (Points, Mixed)})
"""What a swap adds to the loss of both groups at least, but for the slack of the row that comes back."""
least_added = chosen_by_type(1, {loss: kernels.least_added for loss, kernels in LOSSES.items()})
"""What a further row adds to the loss of a group at least, known at a glance."""


# -- steps ------------------------------------------------------------------------------------------------------------


@jit
def learn(partition: Partition, loss: Any) -> None:
    """Work out what is known of the groups of which nothing is known yet."""
    for group in range(len(partition.groups)):
        if np.isnan(loss.lost[group]):
            renew(partition, loss, group)


@jit
def exchange(partition: Partition, loss: Any, here: int, out: int, there: int, into: int) -> None:
    """Send the row `out` of a group to another one, and its row `into` back (-1 for none)."""
    if out >= 0:
        leave(partition, out)
    if into >= 0:
        leave(partition, into)
        enter(partition, into, here)
    if out >= 0:
        enter(partition, out, there)
    renew(partition, loss, here)
    renew(partition, loss, there)


@jit
def relieve_all(partition: Partition, loss: Any, search: Search) -> None:
    """Note for every row what its leaving would gain its group."""
    learn(partition, loss)
    for group in range(len(partition.groups)):
        relieve(partition, loss, search, group)


@jit
def relieve(partition: Partition, loss: Any, search: Search, group: int) -> None:
    """Note how the loss of a group would change if a member left: no step of the member can gain its group more."""
    for row in members_of(partition, group):
        relief = change(partition, loss, group, row, NOBODY)
        search.rows[row].relief = relief
        search.rows[row].slack = least_swapped(partition, loss, group, relief) - ROUNDING


@jit
def _note_change(partition: Partition, loss: Any, search: Search, group: int) -> None:
    """Note that a group has changed."""
    search.clock[0] += 1
    search.changed[group] = search.clock[0]
    relieve(partition, loss, search, group)


@jit
def settle(partition: Partition, loss: Any, search: Search, rows: Any) -> int:
    """Let rows take their best step until they have none; the number of steps.

    A row looks at no group that is as it was when it last looked in vain, as long as its own is, too.

    IN  rows int64[some], in the order of their turns
    """
    steps = 0
    for row in rows:
        while search.rows[row].steps < search.clock[0]:
            here = partition.label[row]
            there, back = _best_step(partition, loss, search, row)
            if there < 0:
                search.rows[row].steps = search.clock[0]
                break
            steps += 1
            exchange(partition, loss, here, row, there, back)
            _note_change(partition, loss, search, here)
            _note_change(partition, loss, search, there)
    return steps


@jit
def _best_step(partition: Partition, loss: Any, search: Search, row: int) -> Any:
    """The move or swap of a row that gains most: the group it goes to and the row that comes back, -1 for none."""
    here, n_near, rows = partition.label[row], search.near.shape[1], search.rows
    best, where, back, relief = -LEAST, -1, -1, rows[row].relief
    since = rows[row].steps if search.changed[here] <= rows[row].steps else -1
    leaves = may_become(partition, here, row, NOBODY)
    for i in range(n_near if n_near else len(partition.groups)):
        group = partition.label[search.near[row, i]] if n_near else i
        if group == here or search.changed[group] <= since or not partition.groups[group].size:
            continue
        if n_near and _seen_before(partition, search, row, i):
            continue
        joined = change(partition, loss, group, NOBODY, row)
        movable = leaves and may_become(partition, group, NOBODY, row)
        if (
            movable
            and _better(relief + joined, best, where)
            and both_keep(partition, search.needs, here, row, group, NOBODY)
        ):
            best, where, back = relief + joined, group, NOBODY
        least = rows[row].slack + least_joined(partition, loss, group, joined)
        for other in members_of(partition, group):
            if least + rows[other].slack >= best:
                continue
            if may_become(partition, here, row, other) and may_become(partition, group, other, row):
                gain = change(partition, loss, here, row, other)
                if gain + rows[other].slack >= best:
                    continue
                gain += change(partition, loss, group, other, row)
                if _better(gain, best, where) and both_keep(partition, search.needs, here, row, group, other):
                    best, where, back = gain, group, other
    return where, back


@jit
def _better(gain: float, best: float, found: int) -> bool:
    """Whether a step gains more than the best one, by more than rounding if there is one (-1 for none)."""
    return gain < best - LEAST or (found < 0 and gain < best)


@jit
def both_keep(partition: Partition, needs: Needs | None, here: int, out: int, there: int, into: int) -> bool:
    """Whether two groups keep their promises once rows have changed places (-1 for none)."""
    return keeps(partition, needs, here, out, into) and keeps(partition, needs, there, into, out)


@jit
def _seen_before(partition: Partition, search: Search, row: int, at: int) -> bool:
    """Whether an earlier one of the near rows is in the same group."""
    seen = False
    for i in range(at):
        seen |= partition.label[search.near[row, i]] == partition.label[search.near[row, at]]
    return seen


# -- chains -----------------------------------------------------------------------------------------------------------


@jit
def pull(partition: Partition, loss: Any, search: Search, rows: Any) -> int:
    """Let rows take their best chain, one each; the number of chains.

    IN  rows int64[some]
    """
    steps = 0
    for row in rows:
        here = partition.label[row]
        if search.changed[here] <= search.rows[row].chains or search.rows[row].relief >= -LEAST:
            continue
        other, last, third = _best_chain(partition, loss, search, row)
        if other < 0:
            search.rows[row].chains = search.clock[0]
            continue
        steps += 1
        there = partition.label[other]
        exchange(partition, loss, here, row, there, other)
        exchange(partition, loss, here, other, last, third)
        for group in (here, there, last):
            _note_change(partition, loss, search, group)
    return steps


@jit
def _best_chain(partition: Partition, loss: Any, search: Search, row: int) -> Any:
    """The chain of three groups that gains most: a row goes in the place of a second, that one to a third group.

    From there a third row comes back, or none (-1). A chain is followed only while its rows gain on the way, and from
    every near group goes on with the one row whose place gains most.
    Gives the second row, the third group and the third row.
    """
    here, near = partition.label[row], search.near
    best, second, where, back = -LEAST, -1, -1, -1
    for i in range(near.shape[1]):
        there = partition.label[near[row, i]]
        if there == here or _seen_before(partition, search, row, i):
            continue
        other, so_far = _best_ousted(partition, loss, search, row, there)
        if other < 0:
            continue
        for j in range(near.shape[1]):
            last = partition.label[near[other, j]]
            if last in (here, there) or _seen_before(partition, search, other, j):
                continue
            gain, third = _best_end(partition, loss, search, row, other, last, so_far, best)
            if _better(gain, best, second):
                best, second, where, back = gain, other, last, third
    return second, where, back


@jit
def _best_ousted(partition: Partition, loss: Any, search: Search, row: int, group: int) -> Any:
    """The member of a group in whose place a row would do best, -1 if none, and what both groups gain by that."""
    best, who, relief = -LEAST, -1, search.rows[row].relief
    least = relief + least_joined(partition, loss, group, change(partition, loss, group, NOBODY, row))
    for other in members_of(partition, group):
        if least + search.rows[other].slack < best and may_become(partition, group, other, row):
            gain = relief + change(partition, loss, group, other, row)
            if _better(gain, best, who) and keeps(partition, search.needs, group, other, row):
                best, who = gain, other
    return who, best


@jit
def _best_end(
    partition: Partition, loss: Any, search: Search, row: int, other: int, last: int, so_far: float, bound: float
) -> Any:
    """What a chain gains whose second row goes to a group, and the row that comes back from there, -1 for none."""
    here, rows, best, back = partition.label[row], search.rows, np.inf, -1
    joined = change(partition, loss, last, NOBODY, other)
    ousting = so_far - rows[row].relief
    movable = may_become(partition, here, row, NOBODY) and may_become(partition, last, NOBODY, other)
    movable = movable and keeps(partition, search.needs, here, row, NOBODY)
    if movable and keeps(partition, search.needs, last, NOBODY, other):
        best = so_far + joined
    least = ousting + rows[row].slack + least_joined(partition, loss, last, joined)
    for third in members_of(partition, last):
        if least + rows[third].slack >= bound:
            continue
        if may_become(partition, here, row, third) and may_become(partition, last, third, other):
            gain = ousting + change(partition, loss, here, row, third)
            if gain + rows[third].slack >= bound:
                continue
            gain += change(partition, loss, last, third, other)
            fine = gain < best - LEAST and keeps(partition, search.needs, here, row, third)
            if fine and keeps(partition, search.needs, last, third, other):
                best, back = gain, third
    return best, back


# -- whole groups -----------------------------------------------------------------------------------------------------


@jit
def regroup(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> int:
    """Split groups of 2k or more, and dissolve others, of a run of groups; how many of them."""
    groups, changed, empty = partition.groups, 0, 0
    for group in range(begin, end):
        splits = True
        while splits and groups[group].size >= 2 * partition.k:
            while empty < len(groups) and groups[empty].size:
                empty += 1
            splits = empty < len(groups) and split(partition, loss, search, group, empty)
            changed += splits
        if 0 < groups[group].size < 2 * partition.k and dissolve(partition, loss, search, group):
            changed += 1
            empty = group if group < empty else empty
    return changed


@jit
def dissolve(partition: Partition, loss: Any, search: Search, group: int) -> bool:
    """Send every row of a group where it adds least, if the loss falls by it; say whether."""
    rows, total, most = members_of(partition, group).copy(), 0.0, error(partition, loss, group) - LEAST
    moved, n_near = 0, search.near.shape[1]
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
        if where < 0 or total >= most:
            break
        exchange(partition, loss, group, row, where, NOBODY)
        moved += 1
    fine = moved == len(rows)
    for row in rows:
        fine = fine and keeps(partition, search.needs, partition.label[row], NOBODY, NOBODY)
    for row in rows[:moved]:
        if fine:
            _note_change(partition, loss, search, partition.label[row])
        else:
            exchange(partition, loss, partition.label[row], row, group, NOBODY)
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
        _note_change(partition, loss, search, group)
        _note_change(partition, loss, search, empty)
        return True
    for row in members_of(partition, empty).copy():
        exchange(partition, loss, empty, row, group, NOBODY)
    return False
