"""A store of distinct rows that are taken out as they find a group.

What a method understands by near is given by a reading of intervals, for numbers and ranks, and by a table of costs per
node, for categories.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.trees import Forest, meet
from shoal.kernels.jit import jit

MEAN_COST, HULL, GAP, MIDPOINT = 0, 1, 2, 3


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
def move(store: Store, position: int, to: int) -> None:
    """Let a tuple stand at another position; what stood there is gone."""
    for j in range(len(store.lines)):
        store.lines[j, to] = store.lines[j, position]
    for t in range(len(store.codes)):
        store.codes[t, to] = store.codes[t, position]
    store.next_row[to] = store.next_row[position]
    store.last_row[to] = store.last_row[position]
