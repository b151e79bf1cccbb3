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
ROW = np.dtype(
    [("relief", np.float64), ("slack", np.float64), ("steps", np.int64), ("chains", np.int64), ("turn", np.int64)],
    align=True,
)
"""What is known of a row: how the loss of its group would change if it left, and how it changes at least if another
row takes its place; when it last looked for a step, and for a chain, and found none; which turn it has."""

TURN = np.dtype([("step", np.bool_), ("chain", np.bool_), ("group", np.bool_)])
"""What is new for the row that has a turn. For a step: its group, or that of a row near it, has changed since it last
looked in vain; for a chain: its own has; for its group: what a step minds, since it was last tried to dissolve it.
Turns are a few bytes side by side: to note news, and to pass over rows without, takes next to no time."""

FOUND = np.dtype([("since", np.int64), ("group", np.int64), ("row", np.int64), ("third", np.int64)], align=True)
"""What the row that has a turn found when it looked ahead, and when that was (-1 for nothing): the group it goes to and
the row that comes back from there, or, of a chain, the second row, the third group and the third row."""

SEEN = np.dtype([("changed", np.int64), ("news", np.int64), ("tried", np.int64), ("relieved", np.int64)], align=True)
"""What is known of a group: when it last changed; when it did by a chain, or a group near one of its rows; when it was
last tried to dissolve or to split it, in vain; when it was last noted what its rows would gain it if they left."""


class Watchers(NamedTuple):
    """Which rows have a row among those near them, row after row."""

    first: Any  # int64[n + 1]  IN  where those of each row begin
    turns: Any  # int64[...]    IN  the turns they have


class Search(NamedTuple):
    """Where rows look for a better group."""

    needs: Needs | None  #   IN     what every group must keep besides its size
    near: Any  # int64[n, m]  IN     rows whose groups are looked at; with m = 0, every group is
    rows: Any  # ROW[n]       INOUT
    groups: Any  # SEEN[groups]  INOUT
    turns: Any  # TURN[turns]  INOUT
    found: Any  # FOUND[turns] INOUT
    order: Any  # int64[turns]  IN   whose turn it is
    clock: Any  # int64[1]    INOUT  the time, which goes on with every change
    watchers: Watchers  #     IN     who has news when a group changes


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
"""What a further row adds to the loss of a group at least, whoever joins it before, known at a glance."""


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
def relieve_all(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> None:
    """Note for every row of a run of groups what its leaving would gain its group."""
    for group in range(begin, end):
        if np.isnan(loss.lost[group]):
            renew(partition, loss, group)
        relieve(partition, loss, search, group)


@jit
def relieve_changed(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> None:
    """The same for those groups of the run that have changed since."""
    for group in range(begin, end):
        if search.groups[group].changed > search.groups[group].relieved:
            relieve_all(partition, loss, search, group, group + 1)


@jit
def relieve(partition: Partition, loss: Any, search: Search, group: int) -> None:
    """Note how the loss of a group would change if a member left: no step of the member can gain its group more."""
    search.groups[group].relieved = search.clock[0]
    for row in members_of(partition, group):
        relief = change(partition, loss, group, row, NOBODY)
        search.rows[row].relief = relief
        search.rows[row].slack = least_swapped(partition, loss, group, row, relief) - ROUNDING


@jit
def note_step(partition: Partition, loss: Any, search: Search, group: int) -> None:
    """Note that a step has changed a group, and what its rows would gain it now if they left."""
    note_change(partition, search, group)
    relieve(partition, loss, search, group)


@jit
def note_change(partition: Partition, search: Search, group: int) -> None:
    """Note that a group has changed, for its rows and for all that have one of them near."""
    search.clock[0] += 1
    rows, turns, watchers = search.rows, search.turns, search.watchers
    search.groups[group].changed = search.clock[0]
    for row in members_of(partition, group):
        own = turns[rows[row].turn]
        own.step = own.chain = own.group = True
        for at in range(watchers.first[row], watchers.first[row + 1]):
            turns[watchers.turns[at]].step = turns[watchers.turns[at]].group = True


@jit
def has_news(search: Search, turn: int) -> bool:
    """Whether a group that a row looks at has changed since it last looked for a step in vain."""
    if search.near.shape[1]:
        return search.turns[turn].step  # type: ignore[no-any-return]
    return search.rows[search.order[turn]].steps < search.clock[0]  # type: ignore[no-any-return]


@jit
def found_no_step(search: Search, turn: int) -> None:
    """Note that a row has no step, as things are."""
    search.rows[search.order[turn]].steps = search.clock[0]
    search.turns[turn].step = False


@jit
def settle(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> int:
    """Let the rows of a run of turns take their best step until they have none; the number of steps.

    A row looks at no group that is as it was when it last looked in vain, as long as its own is, too.
    """
    steps = 0
    for turn in range(begin, end):
        while has_news(search, turn):
            row, found = search.order[turn], search.found[turn]
            here = partition.label[row]
            if found.since >= 0 and is_as_before(partition, search, row, found.since):
                there, back = found.group, found.row
            else:
                there, back = best_step(partition, loss, search, row)
            found.since = -1
            if there < 0:
                found_no_step(search, turn)
                break
            steps += 1
            exchange(partition, loss, here, row, there, back)
            note_step(partition, loss, search, here)
            note_step(partition, loss, search, there)
    return steps


@jit
def is_as_before(partition: Partition, search: Search, row: int, since: int) -> bool:
    """Whether a row would find again what it found some time ago: no group that it looks at has changed since."""
    if not search.near.shape[1]:
        return search.clock[0] == since  # type: ignore[no-any-return]
    same = search.groups[partition.label[row]].changed <= since
    for near in search.near[row]:
        same = same and search.groups[partition.label[near]].changed <= since
    return same  # type: ignore[no-any-return]


@jit
def best_step(partition: Partition, loss: Any, search: Search, row: int) -> Any:
    """The move or swap of a row that gains most: the group it goes to and the row that comes back, -1 for none."""
    here, n_near, rows = partition.label[row], search.near.shape[1], search.rows
    best, where, back, relief = -LEAST, -1, -1, rows[row].relief
    since = rows[row].steps if search.groups[here].changed <= rows[row].steps else -1
    leaves = may_become(partition, here, row, NOBODY)
    for i in range(n_near if n_near else len(partition.groups)):
        group = partition.label[search.near[row, i]] if n_near else i
        if group == here or search.groups[group].changed <= since or not partition.groups[group].size:
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
def pull(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> int:
    """Let the rows of a run of turns take their best chain, one each; the number of chains.

    A row that looked ahead, since its group changed, looks again only if a chain could be another by now.
    """
    steps = 0
    for turn in range(begin, end):
        if not search.turns[turn].chain:
            continue
        row, search.turns[turn].chain = search.order[turn], False
        known, here, found = search.rows[row], partition.label[row], search.found[turn]
        since, found.since = found.since, -1
        if known.relief >= -LEAST:
            continue
        # One row after the other without a call: to hand over so many arrays takes longer than all the rest.
        if search.groups[here].changed <= known.chains and search.clock[0] == known.chains:
            continue
        if search.groups[here].changed <= known.chains and not _is_outdated(partition, search, row, known.chains):
            continue
        if since >= search.groups[here].changed and not _is_outdated(partition, search, row, since):
            other, last, third = found.row, found.group, found.third
        else:
            other, last, third = best_chain(partition, loss, search, row)
        if other < 0:
            search.rows[row].chains = search.clock[0]
            continue
        steps += 1
        there = partition.label[other]
        exchange(partition, loss, here, row, there, other)
        exchange(partition, loss, here, other, last, third)
        for group in (here, there, last):
            note_step(partition, loss, search, group)
            _note_news(partition, search, group)
    return steps


@jit
def _note_news(partition: Partition, search: Search, group: int) -> None:
    """Note that a group has changed with all groups that have one of its rows near."""
    groups, watchers = search.groups, search.watchers
    groups[group].news = search.clock[0]
    for row in members_of(partition, group):
        for at in range(watchers.first[row], watchers.first[row + 1]):
            groups[partition.label[search.order[watchers.turns[at]]]].news = search.clock[0]


@jit
def may_pull(partition: Partition, search: Search, row: int) -> bool:
    """Whether a row looks for a chain: its group would gain if it left, and has changed since it looked in vain."""
    known = search.rows[row]
    return known.relief < -LEAST and search.groups[partition.label[row]].changed > known.chains  # type: ignore[no-any-return]


@jit
def _is_outdated(partition: Partition, search: Search, row: int, since: int) -> bool:
    """Whether some group that a chain of a row could pass through has changed since some time, but for its own."""
    outdated = False
    for near in search.near[row]:
        outdated |= search.groups[partition.label[near]].news > since
    return outdated


@jit
def best_chain(partition: Partition, loss: Any, search: Search, row: int) -> Any:
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
