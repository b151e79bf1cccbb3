"""Who may join a group that grows, so that it can keep its promises when it closes.

A group that grows has a size at which it can close: k, or more where its promises need more rows. A row may join if
that size does not rise by it. Of rows at equal distance, those come first that bring the group nearer to its promises.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.free_rows import FreeRows, extreme
from shoal.kernels.cluster.store import Group, Store
from shoal.kernels.enforce.violation import SIZE, Needs, short
from shoal.kernels.jit import jit

TRIED = 64
"""How many different values are tried when the rows are counted that a group still needs."""
FARTHEST = 256
"""How many rows ahead is looked for the size at which a group can close."""
BURST = 20.0
"""By how many rows the free ones of a value may fall below its share, where groups must resemble the table."""
LEAST = 1e-12
"""By how much a row must bring a group nearer to its promises to be called a help."""
SUPPLY = np.dtype([("free", np.int64), ("whole", np.int64), ("turn", np.int64), ("fits", np.bool_)], align=True)
"""Of a sensitive value: how many of its rows are free, how many rows have it; in which turn was last found out whether
the group can still close with one more of it, and whether it can."""
STATE = np.dtype(
    [("size", np.int64), ("free", np.int64), ("planned", np.int64), ("at", np.int64), ("turn", np.int64)], align=True
)
"""How many rows are in the group; how many are free; how many rows a group is planned to have that must resemble the
table; where the keys are among the codes of a store; how often somebody was to be chosen."""


class Growth(NamedTuple):
    """One growing group as its promises see it: its values in rising order, and how often each occurs.

    The sensitive values of a row, as all promises see them together, have one number: the row's key. Where nothing is
    promised there is no such record, but None: then only sizes count, and nothing of this is compiled.
    """

    needs: Needs
    seen_as: Any  # int64[promises, keys]  IN     value that each promise sees in a key
    values: Any  # int64[promises, room]   INOUT
    counts: Any  # int64[promises, room]   INOUT
    n_runs: Any  # int64[promises]         INOUT
    supply: Any  # SUPPLY[values]          INOUT  promise after promise
    state: Any  # STATE[1]                 INOUT


@jit
def clear_growth(growth: Growth | None) -> None:
    """Begin a group with nobody in it."""
    if growth is None:
        return
    growth.n_runs[:] = 0
    growth.state[0].size = 0


@jit
def join(growth: Growth, key: int) -> None:
    """Take a row of a key into the group."""
    for promise in range(len(growth.n_runs)):
        _note(growth, promise, growth.seen_as[promise, key], 1)
    growth.state[0].size += 1


@jit
def spend(growth: Growth, key: int) -> None:
    """Note that a row of a key is free no more."""
    for promise in range(len(growth.n_runs)):
        growth.supply[growth.needs.promises[promise].first + growth.seen_as[promise, key]].free -= 1
    growth.state[0].free -= 1


@jit
def may_be_spent(growth: Growth, promise: int, value: int) -> bool:
    """Whether a row of a value is free, and the group may have one more of it without robbing the groups to come.

    Where groups must resemble the table, no group has more of a value than its share of the planned size, or of its own
    if that is more, rounded down; one more only of a value of which its share or more is free. So the free rows go on
    resembling the table, too.
    """
    supply, state = growth.supply[growth.needs.promises[promise].first + value], growth.state[0]
    if supply.free == 0 or not growth.needs.promises[promise].resembles:
        return supply.free > 0
    share = supply.whole / growth.needs.codes.shape[1]
    n, planned = 0, state.planned if state.planned > state.size else state.size + 1
    most: Any = np.int64(share * planned)
    for i in range(growth.n_runs[promise]):
        n = growth.counts[promise, i] if growth.values[promise, i] == value else n
    return n < most or (n == most and supply.free >= share * state.free - BURST)


@jit
def greet_key(growth: Growth | None, store: Store, position: int) -> None:
    """Take a row of the tuple at a position of a store into the group."""
    if growth is None:
        return
    key: Any = np.int64(store.codes[growth.state[0].at, position])
    join(growth, key)
    spend(growth, key)


@jit
def violation(growth: Growth) -> float:
    """How far the group is from keeping all promises."""
    total = 0.0
    for promise in range(len(growth.n_runs)):
        total += _short(growth, promise, growth.state[0].size)
    return total


@jit
def closes(growth: Growth | None, size: int, k: int) -> bool:
    """Whether a group of a size may close: it has k rows, and keeps its promises or is to be formed anew anyway."""
    if growth is None:
        return size >= k
    return size >= k and (growth.state[0].planned > k or violation(growth) == 0.0)


@jit
def helps(growth: Growth, key: int, before: float) -> bool:
    """Whether a row of a key brings the group nearer to its promises, which it was `before` away from."""
    after = 0.0
    for promise in range(len(growth.n_runs)):
        value = growth.seen_as[promise, key]
        _note(growth, promise, value, 1)
        after += _short(growth, promise, growth.state[0].size + 1)
        _note(growth, promise, value, -1)
    return after < before - LEAST


@jit
def closing_size(growth: Growth, k: int, most: int) -> int:
    """The size at which the group can close, as far as greedy steps tell; beyond `most` if they do not get there."""
    here = growth.state[0].size
    size = k if k > here else here
    for promise in range(len(growth.n_runs)):
        needed = here + _rows_needed(growth, promise, most - here)
        size = needed if needed > size else size
    return size


@jit
def fits(growth: Growth, key: int, limit: int) -> bool:
    """Whether the group can still close at `limit` rows once a row of a key is in."""
    for promise in range(len(growth.n_runs)):
        if not value_fits(growth, promise, growth.seen_as[promise, key], limit):
            return False
    return growth.state[0].size < limit  # type: ignore[no-any-return]


@jit
def value_fits(growth: Growth, promise: int, value: int, limit: int) -> bool:
    """Whether the group can still keep one promise at `limit` rows with one more of a value.

    Promises do not ask about each other, so this is found out once for each value, and holds until the next turn.
    """
    supply, state = growth.supply[growth.needs.promises[promise].first + value], growth.state[0]
    if supply.turn != state.turn:
        supply.turn, supply.fits = state.turn, False
        if may_be_spent(growth, promise, value):
            _note(growth, promise, value, 1)
            state.size += 1
            supply.fits = state.size + _rows_needed(growth, promise, limit - state.size) <= limit
            state.size -= 1
            _note(growth, promise, value, -1)
    return supply.fits  # type: ignore[no-any-return]


@jit
def _rows_needed(growth: Growth, promise: int, most: int) -> int:
    """How many rows the group needs to keep one promise, one best value at a time; most + 1 if more, or none helps."""
    needs, here = growth.needs.promises[promise], growth.state[0].size
    far = _short(growth, promise, here)
    if needs.kind == SIZE:
        return np.int64(needs.bound) - here if here < needs.bound else 0
    n_values = needs.last - needs.first
    stride = n_values // TRIED if n_values >= TRIED else 1
    most = most if most > 0 else 0
    added = np.empty(most, dtype=np.int64)
    n = 0
    while n < most and far > 0.0:
        nearest, best = far, -1
        for value in range(0, n_values, stride):
            if may_be_spent(growth, promise, value):
                _note(growth, promise, value, 1)
                reached = _short(growth, promise, here + n + 1)
                _note(growth, promise, value, -1)
                if reached < nearest:
                    nearest, best = reached, value
        if best < 0:
            break
        _note(growth, promise, best, 1)
        added[n] = best
        n, far = n + 1, nearest
    for i in range(n):
        _note(growth, promise, added[i], -1)
    return n if far == 0.0 else most + 1


@jit
def _short(growth: Growth, promise: int, size: int) -> float:
    return short(growth.needs, promise, growth.values[promise], growth.counts[promise], growth.n_runs[promise], size)


@jit
def _note(growth: Growth, promise: int, value: int, more: int) -> None:
    """Note one more of a value (more = 1), or one less of one that is there (more = -1)."""
    values, counts, n = growth.values[promise], growth.counts[promise], growth.n_runs[promise]
    at = n
    while at > 0 and values[at - 1] >= value:
        at -= 1
    if at < n and values[at] == value:
        counts[at] += more
        if counts[at] == 0:
            for i in range(at, n - 1):
                values[i], counts[i] = values[i + 1], counts[i + 1]
            growth.n_runs[promise] -= 1
        return
    for i in range(n, at, -1):
        values[i], counts[i] = values[i - 1], counts[i - 1]
    values[at], counts[at] = value, 1
    growth.n_runs[promise] += 1


# -- the choice of who joins -------------------------------------------------------------------------------------------


@jit
def choose(free: FreeRows, group: Group, growth: Growth | None, shared: bool | None) -> int:
    """Position of the nearest free tuple that may join the group; -1 if it has k rows and nobody left may join.

    Keys that may not join cost infinitely much in the scan; `costs` of the cost table has room for them behind all
    others.
    """
    store, cost_table, k = free.store, free.cost_table, free.k
    position, distance = extreme(free, group, 1.0, shared)
    if growth is None or growth.state[0].planned > k:  # groups of so few rows are formed anew in any case
        return position
    state, n_keys = growth.state[0], growth.seen_as.shape[1]
    begin, size, far = cost_table.starts[state.at], state.size, violation(growth)
    costs, nearest, at_nearest = cost_table.costs[begin : begin + n_keys], -1, np.inf
    limit = closing_size(growth, k, (k if k > size else size) + FARTHEST)
    state.turn += 1
    while position >= 0 and (nearest < 0 or distance == at_nearest):
        key: Any = np.int64(store.codes[state.at, position])
        if not fits(growth, key, limit):
            _shut_out(growth, key, limit, costs)
        elif nearest >= 0:  # somebody at the same distance who helps
            nearest = position
            break
        else:
            nearest, at_nearest = position, distance
            if far == 0.0 or helps(growth, key, far):
                break
            for other in range(n_keys):
                costs[other] = costs[other] if helps(growth, other, far) else np.inf
        position, distance = extreme(free, group, 1.0, shared)
    costs[:] = 0.0
    if nearest < 0 and size < k:
        nearest, _ = extreme(free, group, 1.0, shared)
    return nearest


@jit
def _shut_out(growth: Growth, key: int, limit: int, costs: Any) -> None:
    """Have all keys cost infinitely much that may not join for the reason for which one of them may not.

    OUT  costs float64[keys]
    """
    costs[key] = np.inf
    for promise in range(len(growth.n_runs)):
        seen_as = growth.seen_as[promise]
        if not value_fits(growth, promise, seen_as[key], limit):
            for other in range(len(costs)):
                costs[other] = np.inf if seen_as[other] == seen_as[key] else costs[other]


@jit
def spend_all(growth: Growth, keys: Any, rows: Any) -> None:
    """Note that rows are free no more.

    IN  keys int64[n];  rows int64[m]
    """
    for row in rows:
        spend(growth, keys[row])


@jit
def choose_near(growth: Growth, keys: Any, rows: Any, k: int, chosen: Any) -> int:
    """Choose from rows, nearest first, who forms a group that can close; how many, -1 if it cannot close.

    IN     keys int64[n];  rows int64[m]
    OUT    chosen int64[m], places in `rows`
    """
    clear_growth(growth)
    state = growth.state[0]
    n, limit = 0, closing_size(growth, k, k + FARTHEST)
    state.turn += 1
    for place in range(len(rows)):
        if closes(growth, state.size, k):
            return n
        if state.planned > k or fits(growth, keys[rows[place]], limit):
            join(growth, keys[rows[place]])
            limit = closing_size(growth, k, limit if limit > state.size else state.size)
            state.turn += 1
            chosen[n] = place
            n += 1
    return n if closes(growth, state.size, k) else -1
