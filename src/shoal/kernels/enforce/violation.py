"""What a group still lacks of the promises it must keep: sensitive values, counted and held against their bounds.

A group is seen as runs: its values of a column in rising order, and how often each occurs. Every promise says from the
runs alone how far the group is from keeping it. The formulas are those of the privacy models, written a second time:
the checker works with the models' own.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from shoal.kernels.cluster.points import sort
from shoal.kernels.jit import chosen_by_type, jit

SIZE, DISTINCT, ENTROPY, RECURSIVE, BANDS, EQUAL, ORDERED, HIERARCHICAL, WINDOW, GUARDED = range(10)
COMMON = (SIZE, DISTINCT, EQUAL)
"""Kinds that are asked for most: where there are no others, none are compiled."""
ROUNDING = 1e-11
"""What a bound may be missed by: less than the checker overlooks."""
MISSED = 1e-6
"""What a group lacks at least that fails by a hair, so that failing shows."""
PROMISE = np.dtype(
    [("kind", np.int64), ("bound", np.float64), ("second", np.float64), ("first", np.int64), ("last", np.int64),
     ("first_node", np.int64), ("last_node", np.int64), ("resembles", np.int64)],
    align=True,
)  # fmt: skip
"""A promise: its kind; what is to be reached, or not to be exceeded; a second parameter; where its values begin and
end, and where the nodes of its tree do; whether it makes groups resemble the table, 1 or 0."""
VALUE = np.dtype(
    [("share", np.float64), ("cumulated", np.float64), ("before", np.float64), ("low", np.float64),
     ("high", np.float64), ("number", np.float64), ("node", np.int64), ("guard", np.int64)],
    align=True,
)  # fmt: skip
"""What is known of a sensitive value: its share of the table, that of it and all lower ones, the sum of the latter over
all lower values; the least and the highest share a group may have of it, or the numbers that are near to it; the number
itself; its node, and the node that guards it, -1 for none. Every promise fills in what it reads."""
NODE = np.dtype(
    [("parent", np.int64), ("height", np.float64), ("share", np.float64), ("first", np.int64), ("last", np.int64)],
    align=True,
)
"""A node of a tree: its parent in its own tree, -1 for the root; its height over that of the tree; the share of the
table below it; the first and the last leaf below it."""


class AllNeeds(NamedTuple):
    """The promises, and the sensitive values of all rows as each of them sees them."""

    promises: Any  # PROMISE[promises]   IN
    codes: Any  # int32[promises, n]     IN  value of each row, numbered in rising order
    values: Any  # VALUE[values]         IN  promise after promise
    nodes: Any  # NODE[nodes]            IN  promise after promise


class CommonNeeds(NamedTuple):
    """The same where all promises are of common kinds."""

    promises: Any
    codes: Any
    values: Any


Needs: TypeAlias = AllNeeds | CommonNeeds


# -- one promise ------------------------------------------------------------------------------------------------------


@jit
def _short_of_common(needs: Needs, at: int, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """How far a group is from keeping a promise of a common kind."""
    promise = needs.promises[at]
    if size == 0:
        return np.inf
    if promise.kind == EQUAL:
        far = 0.0
        for i in range(n_runs):
            more = counts[i] / size - needs.values[promise.first + values[i]].share
            far += more if more > 0.0 else 0.0
        return _above(far, promise.bound)
    reached = size if promise.kind == SIZE else n_runs
    return (promise.bound - reached) / promise.bound if reached < promise.bound else 0.0


@jit
def _short_of_any(needs: AllNeeds, at: int, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """How far a group is from keeping a promise of any kind."""
    promise = needs.promises[at]
    kind, bound = promise.kind, promise.bound
    if size == 0:
        return np.inf
    if kind == ENTROPY:
        return _short_of_entropy(counts, n_runs, size, bound)
    if kind == RECURSIVE:
        return _short_of_recursive(counts, n_runs, size, bound, promise.second)
    known = needs.values[promise.first : promise.last]
    if kind == BANDS:
        return _outside_bands(known, values, counts, n_runs, size, promise.second)
    if kind == WINDOW:
        return _above(_fullest_window(known, values, counts, n_runs) / size, bound)
    if kind == ORDERED:
        return _above(_ordered_distance(known, values, counts, n_runs, size), bound)
    nodes = needs.nodes[promise.first_node : promise.last_node]
    if kind == GUARDED:
        return _above(_worst_breach(known, nodes, values, counts, n_runs, size), bound)
    if kind == HIERARCHICAL:
        return _above(_tree_distance(known, nodes, values, counts, n_runs, size), bound)
    return _short_of_common(needs, at, values, counts, n_runs, size)


short = chosen_by_type(0, {AllNeeds: _short_of_any, CommonNeeds: _short_of_common})
"""How far a group is from keeping the promise at a place; 0 when it keeps it.

IN  values int64[>= n_runs], in rising order;  counts int64[>= n_runs];  size, rows of the group
"""


@jit
def _above(value: float, bound: float) -> float:
    if value <= bound + ROUNDING:
        return 0.0
    return value - bound if value - bound > MISSED else MISSED


@jit
def _short_of_entropy(counts: Any, n_runs: int, size: int, bound: float) -> float:
    """`bound` is the natural logarithm of the wanted l."""
    total = 0.0
    for i in range(n_runs):
        total += counts[i] * np.log(counts[i])
    entropy = np.log(size) - total / size
    if entropy >= bound - ROUNDING:
        return 0.0
    return (bound - entropy) / bound if (bound - entropy) / bound > MISSED else MISSED


@jit
def _short_of_recursive(counts: Any, n_runs: int, size: int, bound: float, c: float) -> float:
    """The most frequent value must occur less than c times as often as the l-th and all rarer ones together."""
    l: Any = np.int64(bound)  # noqa: E741  the name of the literature
    ordered = np.empty(n_runs, dtype=np.int64)
    for i in range(n_runs):
        ordered[i] = counts[i]
    sort(ordered, ordered)
    tail = 0
    for i in range(n_runs - l + 1):
        tail += ordered[i]
    most = ordered[n_runs - 1]
    if n_runs >= l and most < c * tail * (1.0 - ROUNDING):
        return 0.0
    above = most - c * tail if most > c * tail else 0.0
    missing = l - n_runs if l > n_runs else 0
    return above / size + missing / l + MISSED


@jit
def _outside_bands(known: Any, values: Any, counts: Any, n_runs: int, size: int, floors: float) -> float:
    """By how much shares lie above what each value may have, and below what it must.

    `floors` is what all values must have together where a value that the group lacks counts as one below; else
    negative.
    """
    outside, reached = 0.0, 0.0
    for i in range(n_runs):
        share = counts[i] / size
        high, low = known[values[i]].high, known[values[i]].low
        if share > high + ROUNDING:
            outside += share - high if share - high > MISSED else MISSED
        if share < low - ROUNDING:
            outside += low - share if low - share > MISSED else MISSED
        reached += low
    if floors >= 0.0 and n_runs < len(known):
        outside += floors - reached if floors - reached > MISSED else MISSED
    return outside


@jit
def _fullest_window(known: Any, values: Any, counts: Any, n_runs: int) -> float:
    """Most rows whose number lies near to one row's number: from `low` to `high` of its value.

    A missing number is NaN, which is near to missing ones only and has the last place.
    """
    fullest = 0.0
    if n_runs and np.isnan(known[values[n_runs - 1]].number):
        n_runs -= 1
        fullest = np.float64(counts[n_runs])
    before = np.empty(n_runs + 1)
    before[0] = 0.0
    for i in range(n_runs):
        before[i + 1] = before[i] + counts[i]
    for i in range(n_runs):
        begin = _first_at_least(known, values, 0, i, known[values[i]].low)
        end = _first_at_least(known, values, i, n_runs, np.nextafter(known[values[i]].high, np.inf))
        if before[end] - before[begin] > fullest:
            fullest = before[end] - before[begin]
    return fullest


@jit
def _first_at_least(known: Any, values: Any, low: int, high: int, number: float) -> int:
    """The first of some runs in rising order whose number is at least as high as a given one."""
    while low < high:
        middle = (low + high) // 2
        if known[values[middle]].number < number:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _ordered_distance(known: Any, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """Sum over the values of how far the cumulated shares of group and table are apart, over the number of steps.

    The values between two runs are summed at once, parted where the table overtakes the group.
    """
    n_values = len(known)
    if n_values < 2:
        return 0.0
    total, inside, begin = 0.0, 0.0, 0
    for i in range(n_runs + 1):
        end = values[i] if i < n_runs else n_values - 1
        low, high = begin, end  # the first value whose cumulated share is above `inside`
        while low < high:
            middle = (low + high) // 2
            if known[middle].cumulated > inside:
                high = middle
            else:
                low = middle + 1
        below = known[low].before - known[begin].before
        above = known[end].before - known[low].before
        total += (low - begin) * inside - below + above - (end - low) * inside
        if i < n_runs:
            inside += counts[i] / size
            begin = values[i]
    return total / (n_values - 1)


@jit
def _tree_distance(known: Any, nodes: Any, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """Cost of moving the group's shares to the table's along the tree.

    At each node, what its children have too much meets what the others have too little. Only nodes above the group's
    own values can have children with too much.
    """
    surplus, excess = np.empty(len(nodes)), np.empty(len(nodes))
    for node in range(len(nodes)):
        surplus[node], excess[node] = -nodes[node].share, 0.0
    for i in range(n_runs):
        node = known[values[i]].node
        while node >= 0:
            surplus[node] += counts[i] / size
            node = nodes[node].parent
    for node in range(1, len(nodes)):
        if surplus[node] > 0.0:
            excess[nodes[node].parent] += surplus[node]
    total = 0.0
    for node in range(len(nodes)):
        lacking = excess[node] - surplus[node]
        meets = excess[node] if excess[node] < lacking else lacking
        if meets > 0.0:
            total += nodes[node].height * meets
    return total


@jit
def _worst_breach(known: Any, nodes: Any, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """Largest share of the group, leaf by leaf, that lies below the guarding node of one of its rows."""
    worst = 0.0
    for i in range(n_runs):
        guard = known[values[i]].guard
        if guard < 0:
            continue
        low, high = nodes[guard].first, nodes[guard].last
        total = 0.0
        for j in range(n_runs):
            node = known[values[j]].node
            if node >= 0:
                left, right = nodes[node].first, nodes[node].last
                shared = (high if high < right else right) - (low if low > left else left) + 1
                if shared > 0:
                    total += counts[j] * np.float64(shared) / (right - left + 1.0)
        worst = total / size if total / size > worst else worst
    return worst


# -- whole groups -----------------------------------------------------------------------------------------------------


@jit
def violation(needs: Needs, rows: Any) -> float:
    """How far a group of rows is from keeping all promises; 0 when it keeps them.

    IN  rows int64[m]
    """
    total = 0.0
    for at in range(len(needs.promises)):
        n_values = needs.promises[at].last - needs.promises[at].first
        room = len(rows) if len(rows) < n_values else n_values
        values, counts = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        n_runs = _count_runs(needs.codes[at], rows, n_values, values, counts)
        total += short(needs, at, values, counts, n_runs, len(rows))
    return total


@jit
def _count_runs(codes: Any, rows: Any, n_values: int, values: Any, counts: Any) -> int:
    """How many different values some rows have.

    OUT  values int64[m], those values in rising order;  counts int64[m], how often each occurs
    """
    n_runs = 0
    if len(rows) >= n_values:  # counting is cheaper than sorting
        often = np.empty(n_values, dtype=np.int64)
        often[:] = 0
        for row in rows:
            often[codes[row]] += 1
        for value in range(n_values):
            if often[value]:
                values[n_runs], counts[n_runs] = value, often[value]
                n_runs += 1
        return n_runs
    for i in range(len(rows)):
        values[i] = codes[rows[i]]
    sort(values, values)
    for i in range(len(rows)):
        if n_runs and values[n_runs - 1] == values[i]:
            counts[n_runs - 1] += 1
        else:
            values[n_runs], counts[n_runs] = values[i], 1
            n_runs += 1
    return n_runs


@jit
def violations(needs: Needs, members: Any, begin: Any, size: Any, out: Any) -> None:
    """How far each of several groups is from keeping all promises.

    IN   members int64[slots];  begin int64[>= groups];  size int64[groups], a group's rows begin at its slot
    OUT  out float64[groups]
    """
    for group in range(len(size)):
        out[group] = violation(needs, members[begin[group] : begin[group] + size[group]])
