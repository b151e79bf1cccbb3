"""Who may join a group that grows, so that it can keep its promises when it closes.

A group that grows has a size at which it can close: k, or more where its promises need more rows. A row may join if
that size does not rise by it. Of rows at equal distance, those come first that bring the group nearer to its promises.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.store import CostTable, Group, Store, extreme
from shoal.kernels.enforce.violation import BANDS, EQUAL, HIERARCHICAL, ORDERED, SIZE, Needs, short
from shoal.kernels.jit import inner, jit

TRIED = 64
"""How many different values are tried when the rows are counted that a group still needs."""
FARTHEST = 256
"""How many rows ahead is looked for the size at which a group can close."""
BURST = 20.0
"""By how many rows the free ones of a value may fall below its share, where groups must resemble the table."""
LEAST = 1e-12
"""By how much a row must bring a group nearer to its promises to be called a help."""


class Growth(NamedTuple):
    """One growing group as its promises see it: its values in rising order, and how often each occurs.

    The sensitive values of a row, as all promises see them together, have one number: the row's key.
    """

    needs: Needs
    seen_as: Any  # int64[promises, keys]  IN     value that each promise sees in a key
    values: Any  # int64[promises, room]   INOUT
    counts: Any  # int64[promises, room]   INOUT
    n_runs: Any  # int64[promises]         INOUT
    size: Any  # int64[1]                  INOUT
    supply: Any  # int64[values]           INOUT  how many rows of each value are free, promise after promise
    within: Any  # int64[values]           INOUT  how many of them are within reach; may be the same array
    whole: Any  # int64[values]            IN     how many rows of each value there are
    free: Any  # int64[1]                  INOUT  how many rows are free
    planned: Any  # int                    IN     how many rows a group is planned to have that must resemble the table
    at: Any  # int                         IN     where the keys are among the codes of a store


@jit
def clear_growth(growth: Growth) -> None:
    """Begin a group with nobody in it."""
    growth.n_runs[:] = 0
    growth.size[0] = 0


@inner
def join(growth: Growth, key: int) -> None:
    """Take a row of a key into the group."""
    for promise in range(len(growth.n_runs)):
        _count(growth, promise, growth.seen_as[promise, key])
    growth.size[0] += 1


@jit
def spend(growth: Growth, key: int) -> None:
    """Note that a row of a key is free no more."""
    for promise in range(len(growth.n_runs)):
        growth.supply[growth.needs.first[promise] + growth.seen_as[promise, key]] -= 1
    growth.free[0] -= 1


@inner
def may_be_spent(growth: Growth, promise: int, value: int) -> bool:
    """Whether a row of a value is free, and the group may have one more of it without robbing the groups to come.

    Where groups must resemble the table, no group has more of a value than its share of the planned size, rounded down;
    one more only of a value of which its share or more is free. So the free rows go on resembling the table, too.
    """
    place = growth.needs.first[promise] + value
    supply = growth.supply[place]
    if growth.within[place] == 0 or not resembles(growth.needs, promise):
        return growth.within[place] > 0
    share = growth.whole[place] / max(len(growth.needs.codes[promise]), 1)
    n, most = _count_of(growth, promise, value), int(share * growth.planned)
    return n < most or (n == most and supply >= share * growth.free[0] - BURST)


@jit
def resembles(needs: Needs, promise: int) -> bool:
    """Whether a promise makes groups resemble the table."""
    kind = needs.kind[promise]
    return kind in (EQUAL, ORDERED, HIERARCHICAL) or (kind == BANDS and needs.second[promise] > 0.0)


@inner
def _count_of(growth: Growth, promise: int, value: int) -> int:
    """How often a value is in the group."""
    for i in range(growth.n_runs[promise]):
        if growth.values[promise, i] == value:
            return growth.counts[promise, i]
    return 0


@inner
def greet_key(growth: Growth, store: Store, position: int) -> None:
    """Take a row of the tuple at a position of a store into the group; where nothing is promised, count it only."""
    if growth.at >= 0:
        join(growth, store.codes[growth.at, position])
        spend(growth, store.codes[growth.at, position])
    else:
        growth.size[0] += 1


@inner
def violation(growth: Growth) -> float:
    """How far the group is from keeping all promises."""
    total = 0.0
    for promise in range(len(growth.n_runs)):
        total += _short(growth, promise, growth.size[0])
    return total


@inner
def closes(growth: Growth, k: int) -> bool:
    """Whether the group may close: it has k rows and keeps its promises, or its rows form groups anew in any case."""
    return growth.size[0] >= k and (growth.planned > k or violation(growth) == 0.0)


@inner
def helps(growth: Growth, key: int, before: float) -> bool:
    """Whether a row of a key brings the group nearer to its promises, which it was `before` away from."""
    after = 0.0
    for promise in range(len(growth.n_runs)):
        value = growth.seen_as[promise, key]
        _count(growth, promise, value)
        after += _short(growth, promise, growth.size[0] + 1)
        _uncount(growth, promise, value)
    return after < before - LEAST


@jit
def closing_size(growth: Growth, k: int, most: int) -> int:
    """The size at which the group can close, as far as greedy steps tell; beyond `most` if they do not get there."""
    here = growth.size[0]
    size = max(k, here)
    for promise in range(len(growth.n_runs)):
        size = max(size, here + _rows_needed(growth, promise, most - here))
    return size


@inner
def fits(growth: Growth, key: int, k: int, limit: int) -> bool:
    """Whether the group can still close at `limit` rows once a row of a key is in."""
    for promise in range(len(growth.n_runs)):
        if not may_be_spent(growth, promise, growth.seen_as[promise, key]):
            return False
    for promise in range(len(growth.n_runs)):
        _count(growth, promise, growth.seen_as[promise, key])
    growth.size[0] += 1
    fine = closing_size(growth, k, limit) <= limit
    growth.size[0] -= 1
    for promise in range(len(growth.n_runs)):
        _uncount(growth, promise, growth.seen_as[promise, key])
    return fine


@inner
def _rows_needed(growth: Growth, promise: int, most: int) -> int:
    """How many rows the group needs to keep one promise, one best value at a time; most + 1 if more, or none helps."""
    here, far = growth.size[0], _short(growth, promise, growth.size[0])
    if growth.needs.kind[promise] == SIZE:
        return max(int(growth.needs.bound[promise]) - here, 0)
    first, last = growth.needs.first[promise], growth.needs.first[promise + 1]
    stride = max((last - first) // TRIED, 1)
    added = np.empty(max(most, 0), dtype=np.int64)
    n = 0
    while n < most and far > 0.0:
        nearest, best = far, -1
        for value in range(0, last - first, stride):
            if may_be_spent(growth, promise, value):
                _count(growth, promise, value)
                reached = _short(growth, promise, here + n + 1)
                _uncount(growth, promise, value)
                if reached < nearest:
                    nearest, best = reached, value
        if best < 0:
            break
        _count(growth, promise, best)
        added[n] = best
        n, far = n + 1, nearest
    for i in range(n):
        _uncount(growth, promise, added[i])
    return n if far == 0.0 else max(most, 0) + 1


@inner
def _short(growth: Growth, promise: int, size: int) -> float:
    return short(growth.needs, promise, growth.values[promise], growth.counts[promise], growth.n_runs[promise], size)


@inner
def _count(growth: Growth, promise: int, value: int) -> None:
    """Note one more of a value."""
    values, counts, n = growth.values[promise], growth.counts[promise], growth.n_runs[promise]
    at = n
    while at > 0 and values[at - 1] > value:
        at -= 1
    if at > 0 and values[at - 1] == value:
        counts[at - 1] += 1
        return
    for i in range(n, at, -1):
        values[i], counts[i] = values[i - 1], counts[i - 1]
    values[at], counts[at] = value, 1
    growth.n_runs[promise] += 1


@inner
def _uncount(growth: Growth, promise: int, value: int) -> None:
    """Note one less of a value that is there."""
    values, counts, n = growth.values[promise], growth.counts[promise], growth.n_runs[promise]
    at = 0
    while values[at] != value:
        at += 1
    counts[at] -= 1
    if counts[at]:
        return
    for i in range(at, n - 1):
        values[i], counts[i] = values[i + 1], counts[i + 1]
    growth.n_runs[promise] -= 1


# -- the choice of who joins -------------------------------------------------------------------------------------------


@inner
def choose(store: Store, group: Group, cost_table: CostTable, growth: Growth, k: int) -> int:
    """Position of the nearest free tuple that may join the group; -1 if it has k rows and nobody left may join.

    Keys that may not join cost infinitely much in the scan; `yard.costs` has room for them behind all others.
    """
    n_keys = growth.seen_as.shape[1]
    if growth.planned > k or n_keys == 0:  # groups of so few rows are formed anew in any case
        position, _ = extreme(store, group, cost_table, 1.0)
        return position
    begin, size, far = cost_table.starts[growth.at], growth.size[0], violation(growth)
    limit = closing_size(growth, k, max(k, size) + FARTHEST)
    position, distance = extreme(store, group, cost_table, 1.0)
    while position >= 0 and not fits(growth, store.codes[growth.at, position], k, limit):
        cost_table.costs[begin + store.codes[growth.at, position]] = np.inf
        position, distance = extreme(store, group, cost_table, 1.0)
    if position >= 0 and far > 0.0 and not helps(growth, store.codes[growth.at, position], far):
        for key in range(n_keys):
            if not helps(growth, key, far):
                cost_table.costs[begin + key] = np.inf
        other, at_other = extreme(store, group, cost_table, 1.0)
        if other >= 0 and at_other == distance:
            position = other
    cost_table.costs[begin : begin + n_keys] = 0.0
    if position < 0 and size < k:
        position, _ = extreme(store, group, cost_table, 1.0)
    return position


@jit
def choose_near(growth: Growth, keys: Any, rows: Any, k: int, chosen: Any) -> int:
    """Choose from rows, nearest first, who may join until the group can close; how many, -1 if it cannot close.

    IN     keys int64[n];  rows int64[m]
    OUT    chosen int64[m], places in `rows`
    """
    n, limit = 0, closing_size(growth, k, k + FARTHEST)
    for place in range(len(rows)):
        if closes(growth, k):
            return n
        if growth.planned > k or fits(growth, keys[rows[place]], k, limit):
            join(growth, keys[rows[place]])
            limit = closing_size(growth, k, max(limit, growth.size[0]))
            chosen[n] = place
            n += 1
    return n if closes(growth, k) else -1
