"""CAAT's distances and its growth of one group from a store of free rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.store import CostTable, Group, Store, absorb, clear, extreme, fill, line_cost, take
from shoal.kernels.cluster.trees import Forest, climb, meet
from shoal.kernels.enforce.growth import Growth, choose, clear_growth, closes, greet_key
from shoal.kernels.jit import inner, jit


@inner
def tree_costs(cost_table: CostTable, forest: Forest, group: Group) -> None:
    """Distance of every node of every tree to the group's node: half the way of the one, half the way of the other."""
    costs = cost_table.costs
    for t in range(len(group.node)):
        begin, end = forest.start[t], forest.start[t + 1]
        parent, depth = forest.parent[begin:end], forest.depth[begin:end]
        node = group.node[t]
        for code in range(end - begin - 1):
            common = meet(parent, depth, code, node)
            costs[begin + code] = 0.5 * (climb(parent, depth, code, common) + climb(parent, depth, node, common))


@inner
def _take_equal(
    store: Store,
    group: Group,
    cost_table: CostTable,
    forest: Forest,
    growth: Growth,
    nearest: float,
    labels: Any,
    label: int,
) -> None:
    """Move every free row at distance `nearest` into the group: the literal reading of ties."""
    n_trees = len(group.node)
    out = np.empty(store.size[0])
    fill(store, group, cost_table, 0, out)
    for position in range(len(out) - 1, -1, -1):  # from the end: what `take` moves forward was looked at already
        if out[position] == nearest:
            absorb(group, store.lines[:, position], store.codes[:n_trees, position], forest)
            for _ in range(store.last_row[position] - store.next_row[position]):
                greet_key(growth, store, position)
                labels[take(store, position)] = label


@jit
def grow(
    store: Store, group: Group, cost_table: CostTable, forest: Forest, growth: Growth | None, all_ties: bool, k: int,
    seed: int, label: int, labels: Any,
) -> int:  # fmt: skip
    """Grow one group of k rows from the tuple at position `seed`, and count its rows.

    A group that does not keep its promises with k rows grows on while somebody helps.

    OUT  labels  int64[n]
    """
    n_trees = len(group.node)
    clear(group)
    clear_growth(growth)
    absorb(group, store.lines[:, seed], store.codes[:n_trees, seed], forest)
    greet_key(growth, store, seed)
    labels[take(store, seed)] = label
    tree_costs(cost_table, forest, group)
    while store.size[0] > 0 and all_ties and growth.size[0] < k:
        _, nearest = extreme(store, group, cost_table, 1.0)
        _take_equal(store, group, cost_table, forest, growth, nearest, labels, label)
        tree_costs(cost_table, forest, group)
    while store.size[0] > 0 and not closes(growth, k):
        position = choose(store, group, cost_table, growth, k)
        if position < 0:
            break
        changed = absorb(group, store.lines[:, position], store.codes[:n_trees, position], forest)
        greet_key(growth, store, position)
        labels[take(store, position)] = label
        if changed:
            tree_costs(cost_table, forest, group)
    return growth.size[0]


@inner
def distance(lines: Any, codes: Any, group: Group, cost_table: CostTable, forest: Forest) -> float:
    """Distance of one tuple to a group.

    IN  lines  float64[lines];  codes  uint[trees]
    """
    total = 0.0
    for j in range(len(lines)):
        total += line_cost(
            lines[j], group.low[j], group.high[j], group.holes[j], cost_table.spans[j], cost_table.reading
        )
    for t in range(len(codes)):
        begin, end = forest.start[t], forest.start[t + 1]
        parent, depth = forest.parent[begin:end], forest.depth[begin:end]
        code: Any = np.int64(codes[t])
        common = meet(parent, depth, code, group.node[t])
        total += 0.5 * (climb(parent, depth, code, common) + climb(parent, depth, group.node[t], common))
    return total / cost_table.divisor


@jit
def place_leftovers(
    lines: Any, codes: Any, leftovers: Any, low: Any, high: Any, holes: Any, node: Any, cost_table: CostTable,
    forest: Forest, labels: Any,
) -> None:  # fmt: skip
    """Send each leftover row, in row order, to the nearest group, which then covers it.

    IN     lines float64[lines, n];  codes uint[trees, n];  leftovers int64[m], ascending
    INOUT  low, high, holes, node  [groups, lines | trees]
    OUT    labels int64[n]
    """
    for row in leftovers:
        best, nearest = np.inf, 0
        for g in range(low.shape[0]):
            d = distance(lines[:, row], codes[:, row], Group(low[g], high[g], holes[g], node[g]), cost_table, forest)
            if d < best:
                best, nearest = d, g
        absorb(Group(low[nearest], high[nearest], holes[nearest], node[nearest]), lines[:, row], codes[:, row], forest)
        labels[row] = nearest
