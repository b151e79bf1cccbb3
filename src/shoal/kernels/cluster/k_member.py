"""Greedy k-member: what a record adds to the information loss of a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.store import HULL, CostTable, Group, Store, absorb, clear, extreme, line_cost, take
from shoal.kernels.cluster.trees import Forest, meet
from shoal.kernels.enforce.growth import Growth, choose, clear_growth, closes, greet_key
from shoal.kernels.jit import inner, jit


class JoinPreferences(NamedTuple):
    """What else than its loss a group looks at in who joins: class labels, values of a sensitive column.

    Both are columns of the store behind those of the trees, and their costs stand behind those of the trees: what a
    label or a value costs beside the quasi-identifiers. At -1, a column is not looked at.
    """

    label_at: Any  # int           IN     where the class labels are among the codes
    weight: Any  # float           IN     what joining a group of another majority costs
    counts: Any  # int64[labels]   INOUT  how many members have each label
    majority: Any  # int64[1]      INOUT  the label of most members, the first to reach that number
    diverse_at: Any  # int         IN     where the sensitive values are among the codes
    present: Any  # bool[values]   INOUT  which of them are in the group
    wanted: Any  # int             IN     how many different ones the group is to have


@inner
def _greet(store: Store, position: int, preferences: JoinPreferences) -> None:
    """Note the label and the value of a tuple that joins."""
    if preferences.label_at >= 0:
        label = store.codes[preferences.label_at, position]
        preferences.counts[label] += 1
        if preferences.majority[0] < 0 or preferences.counts[label] > preferences.counts[preferences.majority[0]]:
            preferences.majority[0] = label
    if preferences.diverse_at >= 0:
        preferences.present[store.codes[preferences.diverse_at, position]] = True


@inner
def _company_costs(cost_table: CostTable, preferences: JoinPreferences, size: int) -> bool:
    """What each label and value costs beside a group of `size`; say whether some are shut out.

    The loss of a group of size + 1 is divided by that size in a scan, so the penalty is too.
    """
    if preferences.label_at >= 0:
        begin = cost_table.starts[preferences.label_at]
        for label in range(len(preferences.counts)):
            cost_table.costs[begin + label] = (
                0.0 if label == preferences.majority[0] else preferences.weight / (size + 1)
            )
    if preferences.diverse_at < 0:
        return False
    begin = cost_table.starts[preferences.diverse_at]
    n_present = 0
    for value in range(len(preferences.present)):
        n_present += preferences.present[value]
    for value in range(len(preferences.present)):
        shut = preferences.present[value] and n_present < preferences.wanted
        cost_table.costs[begin + value] = np.inf if shut else 0.0
    return n_present < preferences.wanted


@inner
def _dismiss(cost_table: CostTable, preferences: JoinPreferences) -> None:
    """Forget the company: nothing in it costs anything."""
    preferences.counts[:] = 0
    preferences.majority[0] = -1
    preferences.present[:] = False
    if preferences.label_at >= 0:
        begin = cost_table.starts[preferences.label_at]
        cost_table.costs[begin : begin + len(preferences.counts)] = 0.0
    _let_all_in(cost_table, preferences)


@inner
def _let_all_in(cost_table: CostTable, preferences: JoinPreferences) -> None:
    if preferences.diverse_at >= 0:
        begin = cost_table.starts[preferences.diverse_at]
        cost_table.costs[begin : begin + len(preferences.present)] = 0.0


@inner
def height_costs(cost_table: CostTable, forest: Forest, heights: Any, group: Group) -> None:
    """What the lowest node over each node and the group's own costs: its height over that of the tree.

    IN  heights  float64[nodes], height of each node over that of its tree; `top` counts 1
    """
    for t in range(len(group.node)):
        begin, end = forest.start[t], forest.start[t + 1]
        parent, depth = forest.parent[begin:end], forest.depth[begin:end]
        for code in range(end - begin - 1):
            cost_table.costs[begin + code] = heights[begin + meet(parent, depth, code, group.node[t])]


@inner
def set_costs(cost_table: CostTable, forest: Forest, n_values: Any, seen: Any) -> None:
    """What the set of a group's values costs with each value in it: (values - 1)/(domain - 1), 1 with missing beside.

    IN  n_values  int64[trees], values that occur;  seen  bool[nodes], values of the group
    """
    for t in range(len(forest.start) - 1):
        begin, end = forest.start[t], forest.start[t + 1]
        missing = end - 2
        n_seen = 0
        for node in range(begin, missing):
            n_seen += seen[node]
        for node in range(begin, missing + 1):
            both = (seen[missing] or node == missing) and (n_seen > 0 or node != missing)
            n = n_seen + (node != missing and not seen[node])
            open_part = (
                (n - 1) / max(n_values[t] - 1, 1) if n > 1 else 0.0
            )  # a node that never occurs counts for nothing
            cost_table.costs[node] = 1.0 if both else open_part


@inner
def note_values(forest: Forest, codes: Any, seen: Any) -> bool:
    """Mark the values of one tuple as seen; say whether one is new.

    IN  codes  uint[trees];  INOUT  seen  bool[nodes]
    """
    new = False
    for t in range(len(codes)):
        new |= not seen[forest.start[t] + codes[t]]
        seen[forest.start[t] + codes[t]] = True
    return new


@jit
def grow(
    store: Store, group: Group, cost_table: CostTable, forest: Forest, heights: Any, n_values: Any, seen: Any,
    sets: bool, preferences: JoinPreferences, growth: Growth, k: int, seed: int, label: int, labels: Any,
) -> Any:  # fmt: skip
    """Grow a group of k rows from the tuple at position `seed` by the row that adds least; the last row, and how many.

    All candidates join a group of the same size, so the one that adds least is the one with the cheapest result.
    A group that does not keep its promises with k rows grows on while somebody helps.

    IN     heights float64[nodes];  n_values int64[trees];  sets: whether nominal columns are charged by their sets
    INOUT  seen bool[nodes]
    OUT    labels int64[n]
    """
    clear(group)
    seen[:] = False
    clear_growth(growth)
    n_trees = len(group.node)
    position, last, size = seed, -1, 0
    while store.size[0] > 0 and not closes(growth, k):
        if size > 0:
            shut = _company_costs(cost_table, preferences, size)
            position = choose(store, group, cost_table, growth, k)
            if shut and position < 0:  # only shut out values are left
                _let_all_in(cost_table, preferences)
                position = choose(store, group, cost_table, growth, k)
            if position < 0:
                break
        changed = absorb(group, store.lines[:, position], store.codes[:n_trees, position], forest)
        new = note_values(forest, store.codes[:n_trees, position], seen)
        _greet(store, position, preferences)
        greet_key(growth, store, position)
        last = take(store, position)
        labels[last] = label
        size += 1
        if sets and new:
            set_costs(cost_table, forest, n_values, seen)
        elif changed and not sets:
            height_costs(cost_table, forest, heights, group)
    return last, size


@jit
def farthest(
    store: Store, group: Group, cost_table: CostTable, forest: Forest, heights: Any, n_values: Any, seen: Any,
    sets: bool, preferences: JoinPreferences, lines: Any, codes: Any,
) -> int:  # fmt: skip
    """Position of the free tuple farthest from one record, by what the two of them would cost together.

    IN  lines  float64[lines];  codes  uint[trees]
    """
    clear(group)
    seen[:] = False
    _dismiss(cost_table, preferences)
    absorb(group, lines, codes, forest)
    note_values(forest, codes, seen)
    if sets:
        set_costs(cost_table, forest, n_values, seen)
    else:
        height_costs(cost_table, forest, heights, group)
    position, _ = extreme(store, group, cost_table, -1.0)
    return position


@inner
def _line_loss(group: Group, spans: Any) -> float:
    total = 0.0
    for j in range(len(spans)):
        if group.holes[j]:
            total += 0.0 if np.isnan(group.low[j]) else 1.0
        elif spans[j] > 0.0:
            total += (group.high[j] - group.low[j]) / spans[j]
    return total


@inner
def _set_loss(n: int, holes: bool, n_values: int) -> float:
    if holes:
        return 1.0 if n > 0 else 0.0
    return (n - 1) / (n_values - 1) if n > 1 else 0.0


@inner
def _majority_with(classes: Any, labels: Any, group: int, majority: int, joined: int) -> int:
    """The class label of most members of a group that one of another label has just joined."""
    n_joined, n_most = 0, 0
    for row in range(len(labels)):
        if labels[row] == group:
            n_joined += classes[row] == joined
            n_most += classes[row] == majority
    return joined if n_joined > n_most else majority


@jit
def place_leftovers(
    lines: Any, codes: Any, leftovers: Any, sizes: Any, low: Any, high: Any, holes: Any, node: Any, distinct: Any,
    gaps: Any, spans: Any, forest: Forest, heights: Any, n_values: Any, sets: bool, classes: Any, majority: Any,
    weight: float, labels: Any,
) -> None:  # fmt: skip
    """Send each leftover row, in the given order, to the group whose total loss it raises least.

    IN     lines float64[lines, n];  codes uint[trees, n];  leftovers int64[m];  spans float64[lines]
    INOUT  sizes int64[groups];  low, high, holes, node [groups, lines | trees]
           distinct int64[groups, trees], present values of each group;  gaps bool[groups, trees], one is missing
           majority int64[groups], class label of most members
    IN     classes int64[n], class label of each row, all equal where labels do not matter;  weight: see `Company`
    OUT    labels int64[n]
    """
    n_trees = codes.shape[0]
    inside = np.zeros((len(sizes), n_trees), dtype=np.bool_)
    for row in leftovers:
        if sets:
            inside[:] = False
            for other in range(codes.shape[1]):
                if labels[other] >= 0:
                    for t in range(n_trees):
                        inside[labels[other], t] |= codes[t, other] == codes[t, row]
        best, cheapest = np.inf, 0
        for g in range(len(sizes)):
            group = Group(low[g], high[g], holes[g], node[g])
            before = _line_loss(group, spans)
            after = 0.0
            for j in range(len(spans)):
                after += line_cost(lines[j, row], low[g, j], high[g, j], holes[g, j], spans[j], HULL)
            for t in range(n_trees):
                begin, end = forest.start[t], forest.start[t + 1]
                code: Any = np.int64(codes[t, row])
                if sets:
                    gone = code == end - begin - 2
                    n = distinct[g, t] + (0 if inside[g, t] or gone else 1)
                    before += _set_loss(distinct[g, t], gaps[g, t], n_values[t])
                    after += _set_loss(n, gaps[g, t] or gone, n_values[t])
                else:
                    before += heights[begin + node[g, t]]
                    after += heights[begin + meet(forest.parent[begin:end], forest.depth[begin:end], code, node[g, t])]
            added = (sizes[g] + 1) * after - sizes[g] * before
            if classes[row] != majority[g]:
                added += weight
            if added < best:
                best, cheapest = added, g
        absorb(
            Group(low[cheapest], high[cheapest], holes[cheapest], node[cheapest]), lines[:, row], codes[:, row], forest
        )
        for t in range(n_trees):
            gone = codes[t, row] == forest.start[t + 1] - forest.start[t] - 2
            gaps[cheapest, t] |= gone
            distinct[cheapest, t] += not (inside[cheapest, t] or gone)
        sizes[cheapest] += 1
        labels[row] = cheapest
        if classes[row] != majority[cheapest]:
            majority[cheapest] = _majority_with(classes, labels, cheapest, majority[cheapest], classes[row])
