"""A store of distinct rows that are taken out as they find a group.

Every method asks it the same two questions: which free row is nearest to a group, which is farthest. The free rows are
packed at the front of the arrays, so that a scan reads only live memory. Order inside the store means nothing: ties go
to the lowest row position, which every tuple carries. What a method understands by near is given by a reading of
intervals, for numbers and ranks, and by a table of costs per node, for categories.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.trees import Forest, meet
from shoal.kernels.jit import jit, jit_parallel, prange

MEAN_COST, HULL, GAP, MIDPOINT = 0, 1, 2, 3
BLOCK = 1024
"""How many tuples are measured at once: their distances, 8 KiB, stay in the fastest cache of any processor."""


class Store(NamedTuple):
    """Distinct rows still free, in positions 0 .. size[0] - 1."""

    lines: Any  # float64[lines, tuples]     INOUT, NaN = missing
    codes: Any  # uint32[trees, tuples]        INOUT
    next_row: Any  # int64[tuples]           INOUT  place in `rows` of the tuple's first free row
    last_row: Any  # int64[tuples]           INOUT  one past its last
    rows: Any  # int64[n]                    IN     rows by tuple, each tuple's in row order
    size: Any  # int64[1]                    INOUT  how many tuples have a free row


class Group(NamedTuple):
    """The generalised tuple of one group."""

    low: Any  # float64[lines]   INOUT, NaN while only missing values are in
    high: Any  # float64[lines]  INOUT
    holes: Any  # bool[lines]    INOUT  whether a missing value is in
    node: Any  # int64[trees]    INOUT


class CostTable(NamedTuple):
    """What a method understands by near."""

    spans: Any  # float64[lines]  IN     what a width is divided by
    starts: Any  # int64[trees + 1] IN   where each tree begins in `costs`
    costs: Any  # float64[nodes]  INOUT  what each node costs beside the group's node, tree after tree
    heights: Any  # float64[nodes] IN    what each node costs by itself, where a method asks that
    reading: Any  # int           IN     how far a number is from an interval
    divisor: Any  # float         IN     what the sum over the columns is divided by


class FreeRows(NamedTuple):
    """The free rows, and how near they are to a group."""

    store: Store
    cost_table: CostTable
    forest: Forest
    k: Any  # int  IN  smallest group size


class Summaries(NamedTuple):
    """The generalised tuples of all groups, one after the other."""

    low: Any  # float64[groups, lines]   INOUT
    high: Any  # float64[groups, lines]  INOUT
    holes: Any  # bool[groups, lines]    INOUT
    node: Any  # int64[groups, trees]    INOUT


@jit
def summary(groups: Summaries, which: int) -> Group:
    """The generalised tuple of one of several groups."""
    return Group(groups.low[which], groups.high[which], groups.holes[which], groups.node[which])


@jit
def line_cost(x: float, low: float, high: float, holes: bool, span: float, reading: int) -> float:
    """Distance of a number to a group's interval; `*` (missing beside present) is as wide as the whole span."""
    gone = np.isnan(x)
    if holes and not np.isnan(low):  # the group publishes `*` already
        return 1.0 if reading == HULL else 0.0 if reading == GAP else 0.5
    if holes:
        return 0.0 if gone else 1.0
    if gone:
        width = (high - low) / span if span > 0.0 else 0.0
        return 1.0 - width / 2.0 if reading == MEAN_COST else 1.0
    if span == 0.0:
        return 0.0
    wide = (x if x > high else high) - (x if x < low else low)
    if reading == MEAN_COST:
        return (wide + (wide - (high - low))) / (2.0 * span)
    if reading == HULL:
        return wide / span
    if reading == GAP:
        gap = low - x if x < low else x - high
        return gap / span if gap > 0.0 else 0.0
    return abs(x - (low + high) / 2.0) / span


@jit
def fill(store: Store, group: Group, cost_table: CostTable, first: int, out: Any) -> None:
    """Distances of a block of tuples to the group: lines first, then trees, in the order of the columns.

    OUT  out  float64[block]
    """
    n_lines, n_trees = store.lines.shape[0], store.codes.shape[0]
    out[:] = 0.0
    for j in range(n_lines):
        line, low, high, holes, span = store.lines[j], group.low[j], group.high[j], group.holes[j], cost_table.spans[j]
        for i in range(len(out)):
            out[i] += line_cost(line[first + i], low, high, holes, span, cost_table.reading)
    for t in range(n_trees):
        codes, begin = store.codes[t], cost_table.starts[t]
        for i in range(len(out)):
            out[i] += cost_table.costs[begin + codes[first + i]]
    for i in range(len(out)):
        out[i] /= cost_table.divisor


@jit
def _block_best(store: Store, group: Group, cost_table: CostTable, sign: float, block: int) -> Any:
    """Best of one block: signed distance, position, lowest row."""
    first = block * BLOCK
    n = store.size[0] - first
    out = np.empty(n if n < BLOCK else BLOCK)
    fill(store, group, cost_table, first, out)
    best, where, row = np.inf, -1, -1
    for i in range(len(out)):
        d = sign * out[i]
        if d <= best:
            head = store.rows[store.next_row[first + i]]
            if d < best or head < row:
                best, where, row = d, first + i, head
    return best, where, row


@jit
def extreme(store: Store, group: Group, cost_table: CostTable, sign: float, shared: bool | None) -> Any:
    """Position of the free tuple nearest to (sign = 1) or farthest from (sign = -1) the group, and its distance.

    Where `shared` is given, cores share the scan; the answer is the same.
    """
    n_blocks = (store.size[0] + BLOCK - 1) // BLOCK
    best = np.empty(n_blocks)
    where = np.empty(n_blocks, dtype=np.int64)
    row = np.empty(n_blocks, dtype=np.int64)
    if shared is None:
        for block in range(n_blocks):
            best[block], where[block], row[block] = _block_best(store, group, cost_table, sign, block)
    else:
        _best_of_all_blocks(store, group, cost_table, sign, best, where, row)
    top = 0
    for block in range(1, n_blocks):
        if best[block] < best[top] or (best[block] == best[top] and row[block] < row[top]):
            top = block
    return where[top], sign * best[top]


@jit_parallel
def _best_of_all_blocks(
    store: Store, group: Group, cost_table: CostTable, sign: float, best: Any, where: Any, row: Any
) -> None:
    """Best of every block.

    OUT  best float64[blocks];  where, row int64[blocks]
    """
    for block in prange(len(best)):
        best[block], where[block], row[block] = _block_best(store, group, cost_table, sign, block)


@jit
def clear(group: Group) -> None:
    """Empty the group."""
    group.low[:] = np.nan
    group.high[:] = np.nan
    group.holes[:] = False
    group.node[:] = -1


@jit
def absorb(group: Group, lines: Any, codes: Any, forest: Forest) -> bool:
    """Generalise the group so that it covers one more tuple; say whether that changed it.

    IN  lines  float64[lines];  codes  uint[trees]
    """
    changed = False
    for j in range(len(lines)):
        x = lines[j]
        if np.isnan(x):
            changed |= not group.holes[j]
            group.holes[j] = True
        elif np.isnan(group.low[j]):
            group.low[j] = group.high[j] = x
            changed = True
        elif x < group.low[j]:
            group.low[j] = x
            changed = True
        elif x > group.high[j]:
            group.high[j] = x
            changed = True
    for t in range(len(codes)):
        begin, end = forest.start[t], forest.start[t + 1]
        code: Any = np.int64(codes[t])
        common = (
            code if group.node[t] < 0 else meet(forest.parent[begin:end], forest.depth[begin:end], code, group.node[t])
        )
        changed |= common != group.node[t]
        group.node[t] = common
    return changed


@jit
def take(store: Store, position: int) -> int:
    """Take the first free row of a tuple; a tuple with none left leaves the store."""
    row = store.rows[store.next_row[position]]
    store.next_row[position] += 1
    if store.next_row[position] == store.last_row[position]:
        last = store.size[0] - 1
        for j in range(len(store.lines)):
            store.lines[j, position] = store.lines[j, last]
        for t in range(len(store.codes)):
            store.codes[t, position] = store.codes[t, last]
        store.next_row[position] = store.next_row[last]
        store.last_row[position] = store.last_row[last]
        store.size[0] = last
    return row
