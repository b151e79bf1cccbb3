"""CAAT's distances and its growth of one group from a store of free rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.free_rows import FreeRows, extreme, take
from shoal.kernels.cluster.store import (
    CostTable,
    Group,
    Summaries,
    absorb,
    clear,
    fill,
    line_cost,
    summary,
)
from shoal.kernels.cluster.trees import Forest, climb, meet
from shoal.kernels.enforce.growth import Growth, choose, clear_growth, closes, greet_key
from shoal.kernels.index.rows import RowIndex
from shoal.kernels.jit import jit


@jit
def tree_costs(cost_table: CostTable, forest: Forest, group: Group) -> None:
    """Distance of every node of every tree to the group's node: half the way of the one, half the way of the other."""
    costs = cost_table.costs
    for t in range(len(group.node)):
        begin, end = forest.start[t], forest.start[t + 1]
        parent, depth = forest.parent[begin:end], forest.depth[begin:end]
        for code in range(end - begin - 1):
            costs[begin + code] = _apart(parent, depth, code, group.node[t])


@jit
def _apart(parent: Any, depth: Any, one: int, other: int) -> float:
    """Half the way from one node to where they meet, half the way from the other."""
    common = meet(parent, depth, one, other)
    return 0.5 * (climb(parent, depth, one, common) + climb(parent, depth, other, common))


@jit
def _join(free: FreeRows, group: Group, growth: Growth | None, position: int, members: Any, size: int) -> bool:
    """Take a row of the tuple at a position into a group of a size; say whether the group covers more by it.

    OUT  members int64[n]
    """
    n_trees = len(group.node)
    changed = absorb(group, free.store.lines[:, position], free.store.codes[:n_trees, position], free.forest)
    greet_key(growth, free.store, position)
    members[size] = take(free, position)
    return changed


@jit
def _take_equal(
    free: FreeRows, index: RowIndex | None, group: Group, growth: Growth | None, nearest: float, members: Any, size: int
) -> int:
    """Move every free row at distance `nearest` into the group, the literal reading of ties; its size after it."""
    # What is not there is an argument of its own: only so nothing is compiled for it.
    if index is None:
        return _scan_equal(free, group, growth, nearest, members, size)
    if index.tree.shape[0].off:
        return _scan_equal(free, group, growth, nearest, members, size)
    before = Group(group.low.copy(), group.high.copy(), group.holes.copy(), group.node.copy())
    while free.store.size[0] > 0:
        position, distance = extreme(free, before, 1.0, None)
        if distance != nearest:
            break
        _join(free, group, growth, position, members, size)
        size += 1
    return size


@jit
def _scan_equal(free: FreeRows, group: Group, growth: Growth | None, nearest: float, members: Any, size: int) -> int:
    store = free.store
    out = np.empty(store.size[0])
    fill(store, group, free.cost_table, 0, out)
    for position in range(len(out) - 1, -1, -1):  # from the end: what `take` moves forward was looked at already
        if out[position] == nearest:
            for _ in range(store.last_row[position] - store.next_row[position]):
                _join(free, group, growth, position, members, size)
                size += 1
    return size


@jit
def take_ties(free: FreeRows, group: Group, growth: Growth | None, shared: bool | None, members: Any) -> int:
    """Have all rows at equal distance join at once a group of one row, up to k; its size after it.

    OUT  members int64[n]
    """
    size = 1
    while free.store.size[0] > 0 and size < free.k:
        _, nearest = extreme(free, group, 1.0, shared)
        size = _take_equal(free, free.row_index, group, growth, nearest, members, size)
        tree_costs(free.cost_table, free.forest, group)
    return size


@jit
def grow(
    free: FreeRows, group: Group, growth: Growth | None, shared: bool | None, seed: int, members: Any, size: int,
    most: int,
) -> int:  # fmt: skip
    """Grow a group of a size to k rows, or to `most`, and count them.

    One of no rows begins with the tuple at position `seed`; at -1, with the tuple farthest from the group before, which
    `group` still is. A group that does not keep its promises with k rows grows on while somebody helps.

    OUT  members int64[n], in the order they joined
    """
    store, cost_table = free.store, free.cost_table
    if size == 0:
        if seed < 0:
            seed, _ = extreme(free, group, -1.0, shared)
        clear(group)
        clear_growth(growth)
    while size == 0 or (size < most and store.size[0] > 0 and not closes(growth, size, free.k)):
        position = choose(free, group, growth, shared) if size > 0 else seed
        if position < 0:
            break
        if _join(free, group, growth, position, members, size) or size == 0:
            tree_costs(cost_table, free.forest, group)
        size += 1
    return size


@jit
def distance(lines: Any, codes: Any, group: Group, cost_table: CostTable, forest: Forest) -> float:
    """Distance of one tuple to a group.

    IN  lines  float64[lines];  codes  uint32[trees]
    """
    total = 0.0
    for j in range(len(lines)):
        total += line_cost(
            lines[j], group.low[j], group.high[j], group.holes[j], cost_table.spans[j], cost_table.reading
        )
    for t in range(len(codes)):
        begin, end = forest.start[t], forest.start[t + 1]
        code: Any = np.int64(codes[t])
        total += _apart(forest.parent[begin:end], forest.depth[begin:end], code, group.node[t])
    return total / cost_table.divisor


@jit
def place_leftovers(
    lines: Any, codes: Any, leftovers: Any, groups: Summaries, cost_table: CostTable, forest: Forest, labels: Any
) -> None:
    """Send each leftover row, in row order, to the nearest group, which then covers it.

    IN   lines float64[lines, n];  codes uint32[trees, n];  leftovers int64[m], ascending
    OUT  labels int64[n]
    """
    for row in leftovers:
        best, nearest = np.inf, 0
        for g in range(len(groups.low)):
            d = distance(lines[:, row], codes[:, row], summary(groups, g), cost_table, forest)
            if d < best:
                best, nearest = d, g
        absorb(summary(groups, nearest), lines[:, row], codes[:, row], forest)
        labels[row] = nearest
