"""CAAT's distances and its growth of one group from a store of free rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit
from shoal.kernels.store import Group, Store, Yard, absorb, clear, extreme, fill, line_cost, take
from shoal.kernels.trees import Forest, climb, meet


@jit
def tree_costs(yard: Yard, forest: Forest, group: Group) -> None:
    """Distance of every node of every tree to the group's node: half the way of the one, half the way of the other."""
    costs = yard.costs
    for t in range(len(group.node)):
        begin, end = forest.start[t], forest.start[t + 1]
        parent, depth = forest.parent[begin:end], forest.depth[begin:end]
        node = group.node[t]
        for code in range(end - begin - 1):
            common = meet(parent, depth, code, node)
            costs[begin + code] = 0.5 * (climb(parent, depth, code, common) + climb(parent, depth, node, common))


@jit
def _take_equal(store: Store, group: Group, yard: Yard, forest: Forest, nearest: float, labels: Any, label: int) -> int:
    """Move every free row at distance `nearest` into the group (the literal reading of ties), and count them."""
    out = np.empty(store.size[0])
    fill(store, group, yard, 0, out)
    taken = 0
    for position in range(len(out) - 1, -1, -1):  # from the end: what `take` moves forward was looked at already
        if out[position] == nearest:
            absorb(group, store.lines[:, position], store.codes[:, position], forest)
            left = store.last_row[position] - store.next_row[position]
            for _ in range(left):
                labels[take(store, position)] = label
            taken += left
    return taken


@jit
def grow(
    store: Store, group: Group, yard: Yard, forest: Forest, all_ties: bool, k: int, seed: int, label: int, labels: Any
) -> int:
    """Grow one group of k rows from the tuple at position `seed`, and count its rows.

    OUT  labels  int64[n]
    """
    clear(group)
    absorb(group, store.lines[:, seed], store.codes[:, seed], forest)
    labels[take(store, seed)] = label
    tree_costs(yard, forest, group)
    n = 1
    while n < k and store.size[0] > 0:
        position, nearest = extreme(store, group, yard, 1.0)
        if all_ties:
            n += _take_equal(store, group, yard, forest, nearest, labels, label)
            tree_costs(yard, forest, group)
            continue
        changed = absorb(group, store.lines[:, position], store.codes[:, position], forest)
        labels[take(store, position)] = label
        n += 1
        if changed:
            tree_costs(yard, forest, group)
    return n


@jit
def distance(lines: Any, codes: Any, group: Group, yard: Yard, forest: Forest) -> float:
    """Distance of one tuple to a group.

    IN  lines  float64[lines];  codes  uint[trees]
    """
    total = 0.0
    for j in range(len(lines)):
        total += line_cost(lines[j], group.low[j], group.high[j], group.holes[j], yard.spans[j], yard.reading)
    for t in range(len(codes)):
        begin, end = forest.start[t], forest.start[t + 1]
        parent, depth = forest.parent[begin:end], forest.depth[begin:end]
        code: Any = np.int64(codes[t])
        common = meet(parent, depth, code, group.node[t])
        total += 0.5 * (climb(parent, depth, code, common) + climb(parent, depth, group.node[t], common))
    return total / yard.divisor


@jit
def place_leftovers(
    lines: Any, codes: Any, leftovers: Any, low: Any, high: Any, holes: Any, node: Any, yard: Yard,
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
            d = distance(lines[:, row], codes[:, row], Group(low[g], high[g], holes[g], node[g]), yard, forest)
            if d < best:
                best, nearest = d, g
        absorb(Group(low[nearest], high[nearest], holes[nearest], node[nearest]), lines[:, row], codes[:, row], forest)
        labels[row] = nearest
