"""What a group still lacks of the promises it must keep: sensitive values, counted and held against their bounds.

A group is seen as runs: its values of a column in rising order, and how often each occurs. Every promise says from the
runs alone how far the group is from keeping it. The formulas are those of the privacy models, written a second time:
the checker works with the models' own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import sort
from shoal.kernels.jit import inner, jit, jit_parallel, prange

SIZE, DISTINCT, ENTROPY, RECURSIVE, BANDS, EQUAL, ORDERED, HIERARCHICAL, WINDOW, GUARDED = range(10)
ROUNDING = 1e-11
"""What a bound may be missed by: less than the checker overlooks."""
MISSED = 1e-6
"""What a group lacks at least that fails by a hair, so that failing shows."""
MANY_GROUPS = 256
"""From how many groups on cores share the work."""


class Needs(NamedTuple):
    """The promises, one after the other, and the sensitive values of all rows as each of them sees them."""

    kind: Any  # int64[promises]         IN
    bound: Any  # float64[promises]      IN  what is to be reached, or not to be exceeded
    second: Any  # float64[promises]     IN  a second parameter
    codes: Any  # int32[promises, n]     IN  value of each row, numbered in rising order
    first: Any  # int64[promises + 1]    IN  where the values of each promise begin in `facts`
    facts: Any  # float64[values, 3]     IN  what is known of each value; see the promise that reads it
    first_node: Any  # int64[promises + 1] IN  where the nodes of each promise begin in `tree`
    tree: Any  # int64[nodes]            IN  parent of each node, within its own tree; -1 for the root
    weight: Any  # float64[nodes, 2]     IN  of each node: height over that of the tree, share of the table below it;
    #                                        for GUARDED: first and last leaf below it


# -- one promise ------------------------------------------------------------------------------------------------------


@inner
def short(needs: Needs, promise: int, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """How far a group is from keeping one promise; 0 when it keeps it.

    IN  values int32[>= n_runs], in rising order;  counts int64[>= n_runs];  size, rows of the group
    """
    kind, bound, second = needs.kind[promise], needs.bound[promise], needs.second[promise]
    first = needs.first[promise]
    if size == 0:
        return np.inf
    if kind == SIZE:
        return max(bound - size, 0.0) / bound
    if kind == DISTINCT:
        return max(bound - n_runs, 0.0) / bound
    if kind == ENTROPY:
        return _short_of_entropy(counts, n_runs, size, bound)
    if kind == RECURSIVE:
        return _short_of_recursive(counts, n_runs, size, int(bound), second)
    if kind == BANDS:
        return _outside_bands(needs.facts, first, needs.first[promise + 1], values, counts, n_runs, size, second)
    if kind == WINDOW:
        return _above(_fullest_window(needs.facts, first, values, counts, n_runs) / size, bound)
    if kind == GUARDED:
        return _above(_worst_breach(needs, promise, values, counts, n_runs, size), bound)
    far = 0.0
    if kind == EQUAL:
        for i in range(n_runs):
            far += max(counts[i] / size - needs.facts[first + values[i], 0], 0.0)
    elif kind == ORDERED:
        far = _ordered_distance(needs.facts, first, needs.first[promise + 1], values, counts, n_runs, size)
    else:
        far = _tree_distance(needs, promise, values, counts, n_runs, size)
    return _above(far, bound)


@inner
def _above(value: float, bound: float) -> float:
    return 0.0 if value <= bound + ROUNDING else max(value - bound, MISSED)


@inner
def _short_of_entropy(counts: Any, n_runs: int, size: int, bound: float) -> float:
    """`bound` is the natural logarithm of the wanted l."""
    total = 0.0
    for i in range(n_runs):
        total += counts[i] * np.log(counts[i])
    entropy = np.log(size) - total / size
    return 0.0 if entropy >= bound - ROUNDING else max((bound - entropy) / bound, MISSED)


@inner
def _short_of_recursive(counts: Any, n_runs: int, size: int, l: int, c: float) -> float:  # noqa: E741
    """The most frequent value must occur less than c times as often as the l-th and all rarer ones together."""
    most, tail = 0, 0
    before, n_before = size + 1, 0  # counts above which all were looked at, and how many those are
    while n_before < l - 1 and before > 0:  # drop the l - 1 most frequent values, from the top
        level, n_level = 0, 0
        for i in range(n_runs):
            if counts[i] < before:
                if counts[i] > level:
                    level, n_level = counts[i], 0
                n_level += counts[i] == level
        most = max(most, level)
        n_before += n_level
        if n_before > l - 1:  # some of these are already beyond the l - 1
            tail += (n_before - (l - 1)) * level
        before = level
    for i in range(n_runs):
        tail += counts[i] if counts[i] < before else 0
    if n_runs >= l and most < c * tail * (1.0 - ROUNDING):
        return 0.0
    return max(most - c * tail, 0.0) / size + max(l - n_runs, 0) / l + MISSED


@inner
def _outside_bands(
    facts: Any, first: int, last: int, values: Any, counts: Any, n_runs: int, size: int, absent: float
) -> float:
    """By how much shares lie above what each value may have (facts 0), and below what it must (facts 1).

    `absent` says whether a value that the group lacks counts as one below.
    """
    outside, floors = 0.0, 0.0
    for i in range(n_runs):
        share = counts[i] / size
        high, low = facts[first + values[i], 0], facts[first + values[i], 1]
        if share > high + ROUNDING:
            outside += max(share - high, MISSED)
        if share < low - ROUNDING:
            outside += max(low - share, MISSED)
        floors += low
    if absent > 0.0 and n_runs < last - first:
        outside += max(facts[first, 2] - floors, MISSED)  # facts 2: all lower bounds together
    return outside


@inner
def _fullest_window(facts: Any, first: int, values: Any, counts: Any, n_runs: int) -> float:
    """Most rows whose number lies near to one row's number: from facts 0 to facts 1 of its value.

    Facts 2 is the number itself, NaN for missing, which is near to missing ones only and has the last place.
    """
    fullest = 0.0
    if n_runs and np.isnan(facts[first + values[n_runs - 1], 2]):
        n_runs -= 1
        fullest = float(counts[n_runs])
    before = np.zeros(n_runs + 1)
    for i in range(n_runs):
        before[i + 1] = before[i] + counts[i]
    for i in range(n_runs):
        low = _first_not_below(facts, first, values, 0, i, facts[first + values[i], 0])
        high = _first_above(facts, first, values, i, n_runs, facts[first + values[i], 1])
        fullest = max(fullest, before[high] - before[low])
    return fullest


@inner
def _first_not_below(facts: Any, first: int, values: Any, low: int, high: int, number: float) -> int:
    while low < high:
        middle = (low + high) // 2
        if facts[first + values[middle], 2] < number:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _first_above(facts: Any, first: int, values: Any, low: int, high: int, number: float) -> int:
    while low < high:
        middle = (low + high) // 2
        if facts[first + values[middle], 2] > number:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def _ordered_distance(facts: Any, first: int, last: int, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """Sum over the values of how far the cumulated shares of group and table are apart, over the number of steps.

    Facts 0 is the share of each value, 1 that of it and all below, 2 the sum of the latter up to the value before: the
    values between two runs are summed at once, parted where the table overtakes the group.
    """
    n_values = last - first
    if n_values < 2:
        return 0.0
    total, inside, at = 0.0, 0.0, 0
    for i in range(n_runs + 1):
        end = values[i] if i < n_runs else n_values - 1
        total += _apart(facts, first, at, end, inside)
        if i < n_runs:
            inside += counts[i] / size
            at = values[i]
    return total / (n_values - 1)


@inner
def _apart(facts: Any, first: int, begin: int, end: int, inside: float) -> float:
    """Sum over values begin .. end - 1 of |inside - cumulated share|."""
    low, high = begin, end  # the first value whose cumulated share is above `inside`
    while low < high:
        middle = (low + high) // 2
        if facts[first + middle, 1] > inside:
            high = middle
        else:
            low = middle + 1
    below = facts[first + low, 2] - facts[first + begin, 2]
    above = facts[first + end, 2] - facts[first + low, 2]
    return (low - begin) * inside - below + above - (end - low) * inside


@inner
def _tree_distance(needs: Needs, promise: int, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """Cost of moving the group's shares to the table's along the tree.

    At each node, what its children have too much meets what the others have too little. Facts 0 is the share of each
    value, facts 1 its node. Only nodes above the group's own values can have children with too much.
    """
    first, begin = needs.first[promise], needs.first_node[promise]
    n_nodes = needs.first_node[promise + 1] - begin
    surplus, excess = np.zeros(n_nodes), np.zeros(n_nodes)
    for node in range(n_nodes):
        surplus[node] = -needs.weight[begin + node, 1]
    for i in range(n_runs):
        node = int(needs.facts[first + values[i], 1])
        while node >= 0:
            surplus[node] += counts[i] / size
            node = needs.tree[begin + node]
    for node in range(1, n_nodes):
        excess[needs.tree[begin + node]] += max(surplus[node], 0.0)
    total = 0.0
    for node in range(n_nodes):
        lacking = excess[node] - surplus[node]
        total += needs.weight[begin + node, 0] * max(min(excess[node], lacking), 0.0)
    return total


@inner
def _worst_breach(needs: Needs, promise: int, values: Any, counts: Any, n_runs: int, size: int) -> float:
    """Largest share of the group, leaf by leaf, that lies below the guarding node of one of its rows.

    Facts 0 is the node of each value (-1 for missing), facts 1 the guarding node (-1 for none).
    """
    first, begin = needs.first[promise], needs.first_node[promise]
    worst = 0.0
    for i in range(n_runs):
        guard = int(needs.facts[first + values[i], 1])
        if guard < 0:
            continue
        low, high = needs.weight[begin + guard, 0], needs.weight[begin + guard, 1]
        total = 0.0
        for j in range(n_runs):
            node = int(needs.facts[first + values[j], 0])
            if node >= 0:
                left, right = needs.weight[begin + node, 0], needs.weight[begin + node, 1]
                total += counts[j] * max(min(high, right) - max(low, left) + 1.0, 0.0) / (right - left + 1.0)
        worst = max(worst, total / size)
    return worst


# -- whole groups -----------------------------------------------------------------------------------------------------


@jit
def violation(needs: Needs, rows: Any) -> float:
    """How far a group of rows is from keeping all promises; 0 when it keeps them.

    IN  rows int64[m]
    """
    total = 0.0
    for promise in range(len(needs.kind)):
        values, counts, n_runs = runs_of(needs, promise, rows)
        total += short(needs, promise, values, counts, n_runs, len(rows))
    return total


@inner
def runs_of(needs: Needs, promise: int, rows: Any) -> Any:
    """Values of some rows in rising order, how often each occurs, and how many there are."""
    codes, n = needs.codes[promise], len(rows)
    n_values = needs.first[promise + 1] - needs.first[promise]
    if n >= n_values:  # counting is cheaper than sorting
        often = np.zeros(n_values, dtype=np.int64)
        for row in rows:
            often[codes[row]] += 1
        values, counts, n_runs = np.empty(n_values, dtype=np.int64), np.empty(n_values, dtype=np.int64), 0
        for value in range(n_values):
            if often[value]:
                values[n_runs], counts[n_runs] = value, often[value]
                n_runs += 1
        return values, counts, n_runs
    values, counts, n_runs = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for i in range(n):
        values[i] = codes[rows[i]]
    sort(values, values)
    for i in range(n):
        if n_runs and values[n_runs - 1] == values[i]:
            counts[n_runs - 1] += 1
        else:
            values[n_runs], counts[n_runs] = values[i], 1
            n_runs += 1
    return values, counts, n_runs


@jit_parallel
def violations(needs: Needs, members: Any, begin: Any, size: Any, out: Any) -> None:
    """How far each of several groups is from keeping all promises.

    IN   members int64[slots];  begin int64[>= groups];  size int64[groups], a group's rows begin at its slot
    OUT  out float64[groups]
    """
    if len(size) < MANY_GROUPS:
        for group in range(len(size)):
            out[group] = violation(needs, members[begin[group] : begin[group] + size[group]])
    else:
        for group in prange(len(size)):
            out[group] = violation(needs, members[begin[group] : begin[group] + size[group]])
