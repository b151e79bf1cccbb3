"""What rows and groups find while nothing changes: any number of cores can look at once.

Most look in vain. That is noted, with the time, and holds until a group in sight changes: when its turn comes, a row or
a group looks again only where it must. So turns lead where they would have led without any look ahead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition, may_become, members_of
from shoal.kernels.enforce.refine import (
    LEAST,
    Search,
    best_chain,
    best_step,
    change,
    error,
    found_no_step,
    least_added,
    may_pull,
)
from shoal.kernels.enforce.refine_groups import may_dissolve, may_split, note_tried
from shoal.kernels.jit import jit


@jit
def count_watchers(near: Any, begin: int, end: int, counts: Any) -> None:
    """How many rows have each of a run of rows among those near them.

    IN     near int64[n, m], -1 for none
    INOUT  counts int64[n], zeros at first
    """
    for row in range(len(near)):
        for other in near[row]:
            if begin <= other < end:
                counts[other] += 1


@jit
def list_watchers(near: Any, turn: Any, begin: int, end: int, places: Any, turns: Any) -> None:
    """Which turns these rows have, in the order of rows.

    IN     near int64[n, m];  turn int64[n]
    INOUT  places int64[n]: where those of each row begin, and in the end where they end
    OUT    turns int64[...]
    """
    for row in range(len(near)):
        for other in near[row]:
            if begin <= other < end:
                turns[places[other]] = turn[row]
                places[other] += 1


# -- steps and chains -------------------------------------------------------------------------------------------------


@jit
def who_may_pull(partition: Partition, search: Search, turns: Any, begin: int, end: int) -> int:
    """Those of some turns whose rows look for a chain; how many they are.

    INOUT  turns int64[some]: which are asked, from `begin` on, and in the end those that look
    """
    n = begin
    for at in range(begin, end):
        if may_pull(partition, search, search.order[turns[at]]):
            turns[n] = turns[at]
            n += 1
    return n - begin


@jit
def look_for_steps(partition: Partition, loss: Any, search: Search, turns: Any) -> int:
    """Note whose rows of some turns have no step, as things are; how many have one.

    IN  turns int64[some], no other of which is looked at meanwhile
    """
    n = 0
    for turn in turns:
        there, back = best_step(partition, loss, search, search.order[turn])
        if there < 0:
            found_no_step(search, turn)
        else:
            note_found(search, turn, there, back, NOBODY)
            n += 1
    return n


@jit
def look_for_chains(partition: Partition, loss: Any, search: Search, turns: Any) -> int:
    """Note whose rows of some turns have no chain, as things are; how many have one.

    IN  turns int64[some]
    """
    n = 0
    for turn in turns:
        other, last, third = best_chain(partition, loss, search, search.order[turn])
        if other < 0:
            search.rows[search.order[turn]].chains = search.clock[0]
        else:
            note_found(search, turn, last, other, third)
            n += 1
    return n


@jit
def note_found(search: Search, turn: int, group: int, row: int, third: int) -> None:
    """Note what a row has found, for the time when its turn comes."""
    found = search.found[turn]
    found.since, found.group, found.row, found.third = search.clock[0], group, row, third


# -- whole groups -----------------------------------------------------------------------------------------------------


@jit
def look_at_groups(partition: Partition, loss: Any, search: Search, begin: int, end: int) -> int:
    """Note which of a run of groups can surely not be dissolved, as things are; how many others there are to try."""
    n = 0
    for group in range(begin, end):
        if may_dissolve(partition, search, group):
            if _stays(partition, loss, search, group):
                note_tried(partition, search, group)
            else:
                n += 1
        n += may_split(partition, search, group)
    return n


@jit
def _stays(partition: Partition, loss: Any, search: Search, group: int) -> bool:
    """Whether the rows of a group add more to other groups than it loses, at least: nothing has to be moved for that.

    What a row adds to a group that an earlier row may have joined is not known; it is taken to be the least there is.
    A group to which any row adds more than this one adds to another is passed over. Where a further row can lower the
    loss of a group, nothing is sure.
    """
    if least_added(partition, loss, group) < 0.0:
        return False
    near, n_near, total, most = search.near, search.near.shape[1], 0.0, error(partition, loss, group)
    joined, n, added = np.empty(n_near * partition.groups[group].size, dtype=np.int64), 0, np.empty(n_near)
    least_of_joined = np.inf
    for row in members_of(partition, group):
        least, exact, passed = np.inf, np.inf, False
        for i in range(n_near):
            other = partition.label[near[row, i]]
            added[i] = np.inf
            if other == group:  # it sees where an earlier one went
                least = least_of_joined if near[row, i] < row and least_of_joined < least else least
            elif may_become(partition, other, NOBODY, row):
                later = least_added(partition, loss, other)
                if _has(joined[:n], other):
                    least = min(least, later)
                elif later > exact + 3.0 * LEAST:
                    passed = True
                else:
                    added[i] = change(partition, loss, other, NOBODY, row)
                    exact = min(exact, added[i])
        total += min(least, exact)
        if total >= most or (passed and exact <= 2.0 * LEAST):
            return total >= most
        for i in range(n_near):  # it may have joined any of those that are about as good as the best
            if added[i] < np.inf and (added[i] <= exact + 2.0 * LEAST or exact <= 2.0 * LEAST):
                joined[n] = partition.label[near[row, i]]
                least_of_joined = min(least_of_joined, least_added(partition, loss, joined[n]))
                n += 1
    return False


@jit
def _has(groups: Any, group: int) -> bool:
    """Whether a group is one of some."""
    found = False
    for one in groups:
        found |= one == group
    return found
