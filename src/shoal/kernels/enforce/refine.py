"""Rows that move and swap between groups: while that lowers a loss, or as if they were hot and cooled down.

Which loss it is, the kernels of `refine_points`, `refine_mixed` and `refine_covers` know. Each has a `change`, which
tells how the loss of a group changes when rows leave and join, and a `renew`, which works out what has to be known for
that. The search asks nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from shoal.kernels.cluster.partition import Partition, enter, keeps, leave, may_become, members_of
from shoal.kernels.enforce import refine_covers, refine_mixed, refine_points
from shoal.kernels.enforce.refine_covers import Covers
from shoal.kernels.enforce.refine_mixed import Mixed
from shoal.kernels.enforce.refine_points import Points
from shoal.kernels.jit import jit

STEPS, CHAINS = 0, 1
LEAST = 1e-9
"""What a step must gain: far more than rounding, so that no step is undone by another for ever."""

LOSSES = {Points: refine_points, Mixed: refine_mixed, Covers: refine_covers}


def change(partition: Partition, loss: Any, group: int, out: int, into: int) -> float:
    """By how much the loss of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
    found: float = LOSSES[type(loss)].change(partition, loss, group, out, into)  # compiled code: see `_change`
    return found


def renew(partition: Partition, loss: Any, group: int) -> None:
    """Work out anew what is known of a group."""
    LOSSES[type(loss)].renew(partition, loss, group)


def least_added(partition: Partition, loss: Any, group: int) -> float:
    """What a further row adds to the loss of a group at least, known at a glance."""
    found: float = LOSSES[type(loss)].least_added(partition, loss, group)
    return found


@overload(change, strict=False)  # type: ignore[untyped-decorator]
def _change(partition: Any, loss: Any, group: Any, out: Any, into: Any) -> Any:  # noqa: ARG001
    return LOSSES[loss.instance_class].change.py_func


@overload(renew, strict=False)  # type: ignore[untyped-decorator]
def _renew(partition: Any, loss: Any, group: Any) -> Any:  # noqa: ARG001
    return LOSSES[loss.instance_class].renew.py_func


@overload(least_added, strict=False)  # type: ignore[untyped-decorator]
def _least_added(partition: Any, loss: Any, group: Any) -> Any:  # noqa: ARG001
    return LOSSES[loss.instance_class].least_added.py_func


# -- steps ------------------------------------------------------------------------------------------------------------


@jit
def renew_all(partition: Partition, loss: Any) -> None:
    """Work out what is known of every group."""
    for group in range(len(partition.size)):
        renew(partition, loss, group)


@jit
def relieve_all(partition: Partition, loss: Any, relief: Any) -> None:
    """Note for every row what its leaving would gain its group.

    OUT  relief float64[n]
    """
    for group in range(len(partition.size)):
        relieve(partition, loss, group, relief)


@jit
def move(partition: Partition, loss: Any, row: int, group: int) -> None:
    """Send a row to another group."""
    old = partition.label[row]
    leave(partition, row)
    enter(partition, row, group)
    renew(partition, loss, old)
    renew(partition, loss, group)


@jit
def swap(partition: Partition, loss: Any, row: int, other: int) -> None:
    """Let two rows of different groups change places."""
    here, there = partition.label[row], partition.label[other]
    leave(partition, row)
    leave(partition, other)
    enter(partition, row, there)
    enter(partition, other, here)
    renew(partition, loss, here)
    renew(partition, loss, there)


@jit
def relieve(partition: Partition, loss: Any, group: int, relief: Any) -> None:
    """Note how the loss of a group would change if a member left: no step of the member can gain its group more.

    OUT  relief float64[n]
    """
    for row in members_of(partition, group):
        relief[row] = change(partition, loss, group, row, -1)


@jit
def best_step(partition: Partition, loss: Any, near: Any, relief: Any, row: int, k: int) -> Any:
    """The move or swap of a row that gains most: the group it goes to and the row that comes back, -1 for none.

    IN  near int64[n, m], rows whose groups are looked at; with m = 0, every group is;  relief float64[n]
    """
    here, n_near = partition.label[row], near.shape[1]
    best, where, back = -LEAST, -1, -1
    for i in range(n_near if n_near else len(partition.size)):
        group = partition.label[near[row, i]] if n_near else i
        if group == here or not partition.size[group] or (n_near and seen_before(partition, near, row, i)):
            continue
        movable = may_become(partition, here, row, -1, k) and may_become(partition, group, -1, row, k)
        if movable and relief[row] < best:
            gain = change(partition, loss, here, row, -1) + change(partition, loss, group, -1, row)
            better = gain < best - LEAST or (where < 0 and gain < best)
            if better and keeps(partition, here, row, -1) and keeps(partition, group, -1, row):
                best, where, back = gain, group, -1
        for other in members_of(partition, group):
            if relief[row] + relief[other] >= best:
                continue
            if may_become(partition, here, row, other, k) and may_become(partition, group, other, row, k):
                gain = change(partition, loss, here, row, other) + change(partition, loss, group, other, row)
                better = gain < best - LEAST or (where < 0 and gain < best)
                if better and keeps(partition, here, row, other) and keeps(partition, group, other, row):
                    best, where, back = gain, group, other
    return where, back


@jit
def seen_before(partition: Partition, near: Any, row: int, at: int) -> bool:
    """Whether an earlier one of the near rows is in the same group."""
    seen = False
    for i in range(at):
        seen |= partition.label[near[row, i]] == partition.label[near[row, at]]
    return seen


@jit
def settle(partition: Partition, loss: Any, near: Any, rows: Any, restless: Any, relief: Any, k: int) -> int:
    """Let restless rows take their best step until they have none; the number of steps.

    IN     near int64[n, m];  rows int64[some], in the order of their turns
    INOUT  restless bool[n, 2], rows in whose group something changed since they last looked for STEPS or CHAINS
           relief float64[n]
    """
    steps = 0
    for row in rows:
        while restless[row, STEPS]:
            restless[row, STEPS] = False
            here = partition.label[row]
            there, back = best_step(partition, loss, near, relief, row, k)
            if there < 0:
                break
            steps += 1
            if back < 0:
                move(partition, loss, row, there)
            else:
                swap(partition, loss, row, back)
            for group in (here, there):
                relieve(partition, loss, group, relief)
                stir(partition, restless, group)
    return steps


@jit
def stir(partition: Partition, restless: Any, group: int) -> None:
    """Make the rows of a group restless."""
    for row in members_of(partition, group):
        restless[row] = True


# -- chains -----------------------------------------------------------------------------------------------------------


@jit
def best_chain(partition: Partition, loss: Any, near: Any, relief: Any, row: int, k: int) -> Any:
    """The chain of three groups that gains most: a row goes in the place of a second, that one to a third group.

    From there a third row comes back, or none (-1). A chain is followed only while its rows gain on the way, and from
    every near group goes on with the one row whose place gains most.
    Gives the second row, the third group and the third row.
    """
    here = partition.label[row]
    best, second, where, back = -LEAST, -1, -1, -1
    for i in range(near.shape[1]):
        there = partition.label[near[row, i]]
        if there == here or seen_before(partition, near, row, i):
            continue
        other, so_far = best_ousted(partition, loss, relief, row, there, k)
        if other < 0:
            continue
        for j in range(near.shape[1]):
            last = partition.label[near[other, j]]
            if last in (here, there) or seen_before(partition, near, other, j):
                continue
            gain, third = best_end(partition, loss, relief, row, other, last, so_far, best, k)
            if gain < best - LEAST or (second < 0 and gain < best):
                best, second, where, back = gain, other, last, third
    return second, where, back


@jit
def best_ousted(partition: Partition, loss: Any, relief: Any, row: int, group: int, k: int) -> Any:
    """The member of a group in whose place a row would do best, -1 if none, and what both groups gain by that."""
    best, who = -LEAST, -1
    for other in members_of(partition, group):
        if may_become(partition, group, other, row, k):
            gain = relief[row] + change(partition, loss, group, other, row)
            better = gain < best - LEAST or (who < 0 and gain < best)
            if better and keeps(partition, group, other, row):
                best, who = gain, other
    return who, best


@jit
def best_end(
    partition: Partition, loss: Any, relief: Any, row: int, other: int, last: int, so_far: float, bound: float, k: int
) -> Any:
    """What a chain gains whose second row goes to a group, and the row that comes back from there, -1 for none."""
    here = partition.label[row]
    best, back = np.inf, -1
    movable = may_become(partition, here, row, -1, k) and may_become(partition, last, -1, other, k)
    if movable and keeps(partition, here, row, -1) and keeps(partition, last, -1, other):
        best = so_far + change(partition, loss, last, -1, other)
    for third in members_of(partition, last):
        if so_far + relief[third] >= bound:
            continue
        if may_become(partition, here, row, third, k) and may_become(partition, last, third, other, k):
            gain = so_far - relief[row] + change(partition, loss, here, row, third)
            gain += change(partition, loss, last, third, other)
            if gain < best - LEAST and keeps(partition, here, row, third) and keeps(partition, last, third, other):
                best, back = gain, third
    return best, back


@jit
def pull(partition: Partition, loss: Any, near: Any, rows: Any, restless: Any, relief: Any, k: int) -> int:
    """Let rows take their best chain, one each; the number of chains.

    IN     near int64[n, m];  rows int64[some]
    INOUT  restless bool[n, 2];  relief float64[n]
    """
    steps = 0
    for row in rows:
        if not restless[row, CHAINS] or relief[row] >= -LEAST:
            continue
        other, last, third = best_chain(partition, loss, near, relief, row, k)
        if other < 0:
            restless[row, CHAINS] = False
            continue
        steps += 1
        here, there = partition.label[row], partition.label[other]
        swap(partition, loss, row, other)  # now the second row is where the first was
        if third < 0:
            move(partition, loss, other, last)
        else:
            swap(partition, loss, other, third)
        for group in (here, there, last):
            relieve(partition, loss, group, relief)
            stir(partition, restless, group)
    return steps


# -- whole groups -----------------------------------------------------------------------------------------------------


@jit
def dissolve(partition: Partition, loss: Any, near: Any, group: int, restless: Any, k: int) -> bool:
    """Send every row of a group where it adds least, if the loss falls by it; say whether."""
    rows, total = members_of(partition, group).copy(), 0.0
    moved = 0
    for row in rows:
        best, where = np.inf, -1
        n_near = near.shape[1]
        for i in range(n_near if n_near else len(partition.size)):
            other = partition.label[near[row, i]] if n_near else i
            if other != group and partition.size[other] and may_become(partition, other, -1, row, k):
                added = change(partition, loss, other, -1, row)
                if where < 0 or added < best - LEAST:
                    best, where = added, other
        if where < 0:
            break
        total += best + change(partition, loss, group, row, -1)
        move(partition, loss, row, where)
        moved += 1
    if moved == len(rows) and total < -LEAST and _all_keep(partition, rows):
        for row in rows:
            stir(partition, restless, partition.label[row])
        return True
    for row in rows[:moved]:
        move(partition, loss, row, group)
    return False


@jit
def _all_keep(partition: Partition, rows: Any) -> bool:
    """Whether the groups that some rows are in keep their promises."""
    fine = True
    if len(partition.needs.promises):
        for row in rows:
            fine = fine and keeps(partition, partition.label[row], -1, -1)
    return fine


@jit
def split(partition: Partition, loss: Any, group: int, empty: int, restless: Any, k: int) -> bool:
    """Send k rows of a group of 2k or more to an empty one, if the loss falls by it; say whether.

    The first is the one whose leaving gains most; each further one is the one whose change of groups does.
    """
    total = 0.0
    for _ in range(k):
        best, who = np.inf, -1
        for row in members_of(partition, group):
            added = change(partition, loss, group, row, -1) + change(partition, loss, empty, -1, row)
            if who < 0 or added < best - LEAST:
                best, who = added, row
        total += best
        move(partition, loss, who, empty)
    allowed = may_become(partition, group, -1, -1, k) and may_become(partition, empty, -1, -1, k)
    if allowed and total < -LEAST and keeps(partition, group, -1, -1) and keeps(partition, empty, -1, -1):
        stir(partition, restless, group)
        stir(partition, restless, empty)
        return True
    for row in members_of(partition, empty).copy():
        move(partition, loss, row, group)
    return False


# -- annealing --------------------------------------------------------------------------------------------------------


@jit
def anneal(
    partition: Partition, loss: Any, near: Any, rows: Any, draws: Any, k: int, heat: float, cooling: float
) -> Any:
    """Try steps at random, taking one that adds d to the loss with probability exp(-d / heat).

    Gives the heat that is left and the number of steps taken.

    Each row in its turn is to join the group of a row near it, by a move, or by a swap with any of its members.

    IN  near int64[n, m];  rows int64[tries], whose turn it is
        draws float64[tries, 3], in [0, 1): which near row, which member, and what decides
    """
    taken = 0
    for i in range(len(draws)):
        heat *= cooling
        row = rows[i]
        here, there = partition.label[row], partition.label[near[row, int(draws[i, 0] * near.shape[1])]]
        if here == there:
            continue
        members = members_of(partition, there)
        at = int(draws[i, 1] * (len(members) + 1))
        back = members[at] if at < len(members) else -1
        if not (may_become(partition, here, row, back, k) and may_become(partition, there, back, row, k)):
            continue
        added = change(partition, loss, here, row, back) + change(partition, loss, there, back, row)
        if draws[i, 2] < np.exp(-added / heat):
            if not (keeps(partition, here, row, back) and keeps(partition, there, back, row)):
                continue
            taken += 1
            if back < 0:
                move(partition, loss, row, there)
            else:
                swap(partition, loss, row, back)
    return heat, taken
