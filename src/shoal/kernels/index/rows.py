"""A tree of boxes around the distinct rows of a store: the nearest to a group, the farthest from it, exactly.

A box knows how low and how high its numbers are and which categories are in it, so it is known how near to a group any
of its rows can be. Boxes that cannot hold a better row than the best one found are passed over. Bounds are summed in
the order in which distances are: rounding keeps the order of sums whose every term is smaller, so the answer is exactly
that of looking at every row. Of rows at equal distance the lowest wins, so every box carries its lowest row. Boxes
shrink as rows leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.store import HULL, MEAN_COST, MIDPOINT, CostTable, Group, Store, line_cost, move
from shoal.kernels.index.boxes import (
    BLOCK,
    GAPS,
    HEAD,
    NOBODY,
    WORD,
    WORDS,
    BoxTree,
    enclose_above,
    enclose_inner,
    first_of,
    leaf_of,
    lift_heads,
    note_search,
    pays,
    push,
)  # fmt: skip
from shoal.kernels.jit import jit

BLOCK_WORK, LEAF_WORK = 10, 8
"""What a look at a block and at a leaf costs, measured in rows of a scan."""
LEVELS = 4
"""How many different costs of categories are told apart; the others count as the least of them."""

TARGET = np.dtype(
    [
        ("low", np.float64), ("high", np.float64), ("span", np.float64),
        ("same", np.bool_),  # whether all numbers are equally far
        ("cost", np.float64),  # how far, signed
        ("gone", np.float64),  # how far a missing one is, signed
    ],
    align=True,
)  # fmt: skip
"""What the numbers of a column are compared with."""


class RowIndex(NamedTuple):
    """Boxes around the tuples of a store, which stand in the order of the leaves."""

    tree: BoxTree
    starts: Any  # int64[trees + 1]      IN     where each tree begins in `place_of`, as in the costs
    place_of: Any  # int64[all]          IN     place of each category, tree after tree; -1: it does not occur
    costs: Any  # float64[trees, LEVELS] INOUT  costs that categories have beside the group, the best first
    places: Any  # int64[trees, LEVELS]  INOUT  and the places of those that have it; all others have the last
    targets: Any  # TARGET[lines]        INOUT


# -- bounds -----------------------------------------------------------------------------------------------------------


@jit
def _set_costs(index: RowIndex, cost_table: CostTable, sign: float) -> None:
    """Note the lowest costs that categories of each column have beside the group; shared places have the best."""
    best, place_of = np.empty(WORD), index.place_of
    for t in range(len(index.costs)):
        costs, places, n_places, n = index.costs[t], index.places[t], 0, 0
        best[:] = np.inf
        for code in range(index.starts[t], index.starts[t + 1]):
            place = place_of[code]
            if place >= 0:
                cost = sign * cost_table.costs[code]
                best[place] = cost if cost < best[place] else best[place]
                n_places = place + 1 if place >= n_places else n_places
        for place in range(n_places):
            cost, at = best[place], n
            while at > 0 and costs[at - 1] > cost:
                at -= 1
            if at > 0 and costs[at - 1] == cost:
                places[at - 1] |= 1 << place
                continue
            if n == LEVELS and at == n:
                continue  # shares the last level
            n = n + 1 if n < LEVELS else n
            for i in range(n - 1, at, -1):
                costs[i], places[i] = costs[i - 1], places[i - 1]
            costs[at], places[at] = cost, 1 << place
        for i in range(n, LEVELS):
            costs[i], places[i] = costs[n - 1], 0


@jit
def _set_targets(index: RowIndex, group: Group, cost_table: CostTable, sign: float) -> None:
    """Note what the numbers of each column are compared with."""
    for j in range(len(group.low)):
        target, low, high, holes = index.targets[j], group.low[j], group.high[j], group.holes[j]
        span = cost_table.spans[j]
        target.low, target.high, target.span = low, high, span if span > 0.0 else 1.0
        if cost_table.reading == MIDPOINT:
            target.low = target.high = (low + high) / 2.0
        target.gone = sign * line_cost(np.nan, low, high, holes, span, cost_table.reading)
        target.same = holes or not span > 0.0
        target.cost = sign * line_cost(0.0, low, high, holes, span, cost_table.reading) if target.same else 0.0


@jit
def _add_line(low: Any, high: Any, gaps: Any, bit: int, target: Any, reading: int, sign: float, out: Any) -> None:
    """Add what the numbers of each box of a block are at least away from the group; signed.

    IN     low, high float64[BLOCK];  gaps int64[BLOCK];  target TARGET
    INOUT  out float64[BLOCK]
    """
    begin, end, span, gone, width = target.low, target.high, target.span, target.gone, target.high - target.low
    same, flat, hull, mean, near = target.same, target.cost, reading <= HULL, reading == MEAN_COST, sign > 0.0
    for i in range(BLOCK):
        x, y = low[i], high[i]
        if hull:
            x_up, y_up = x if x > end else end, y if y > end else end
            x_down, y_down = x if x < begin else begin, y if y < begin else begin
            one, other = x_up - x_down, y_up - y_down
            wide = x_up - y_down if near else one if one > other else other
        else:
            one, other = (x - end, begin - y) if near else (begin - x, y - end)
            one = one if one > other else other
            wide = one if one > 0.0 else 0.0
        cost = (wide + (wide - width)) / (2.0 * span) if mean else wide / span
        cost = flat if same else cost if near else -cost
        cost = cost if x <= y else np.inf
        missing = gone if (gaps[i] >> bit) & 1 else np.inf
        out[i] += missing if missing < cost else cost


@jit
def _set_bounds(index: RowIndex, cost_table: CostTable, sign: float, block: int) -> None:
    """What any row of each box of a block is at least away from the group, signed; infinite where there is none."""
    # Whole arrays, no branch, and no loop over the levels: here the time goes.
    boxes, floats, costs, places, out = index.tree.boxes, index.tree.floats, index.costs, index.places, index.tree.bound
    n_trees, divisor = len(costs), cost_table.divisor
    for i in range(BLOCK):
        out[i] = 0.0
    for j in range(len(index.targets)):
        at = WORDS + n_trees + 2 * j
        low, high, gaps = floats[block, at], floats[block, at + 1], boxes[block, GAPS]
        _add_line(low, high, gaps, j, index.targets[j], cost_table.reading, sign, out)
    for t in range(n_trees):
        cost_0, cost_1, cost_2, cost_3 = costs[t, 0], costs[t, 1], costs[t, 2], costs[t, 3]
        place_0, place_1, place_2 = places[t, 0], places[t, 1], places[t, 2]
        words = boxes[block, WORDS + t]
        for i in range(BLOCK):
            word = words[i]
            cost = cost_2 if word & place_2 else cost_3
            cost = cost_1 if word & place_1 else cost
            out[i] += cost_0 if word & place_0 else cost
    for i in range(BLOCK):
        out[i] = np.inf if boxes[block, HEAD, i] == NOBODY else out[i] / divisor


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def search(store: Store, index: RowIndex, group: Group, cost_table: CostTable, sign: float) -> Any:
    """Position of the free tuple nearest to (sign = 1) or farthest from (sign = -1) the group, and its distance."""
    _set_costs(index, cost_table, sign)
    _set_targets(index, group, cost_table, sign)
    tree, lines, codes, costs, starts = index.tree, store.lines, store.codes, cost_table.costs, index.starts
    spans, reading, first_leaf, work = cost_table.spans, cost_table.reading, tree.shape[0].first_leaf, BLOCK_WORK
    best, where, row = np.inf, -1, NOBODY
    _set_bounds(index, cost_table, sign, 0)
    n = push(tree, 0, best, 0)
    while n > 0:
        n -= 1
        box, bound = tree.stack[n], tree.bounds[n]
        if bound > best or (bound == best and tree.boxes[box // BLOCK, HEAD, box % BLOCK] >= row):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_bounds(index, cost_table, sign, box + 1)
            n = push(tree, box + 1, best, n)
            continue
        work += LEAF_WORK
        first = first_of(tree, box - first_leaf)
        for i in range(first, first + tree.live[box - first_leaf]):
            total = 0.0  # summed as `fill` does
            for j in range(len(lines)):
                total += line_cost(lines[j, i], group.low[j], group.high[j], group.holes[j], spans[j], reading)
            for t in range(len(codes)):
                total += costs[starts[t] + codes[t, i]]
            d = sign * (total / cost_table.divisor)
            if d <= best and d < np.inf:
                mine = store.rows[store.next_row[i]]
                if d < best or mine < row:
                    best, where, row = d, i, mine
    note_search(tree, work, store.size[0])
    return where, sign * best


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _enclose_leaf(store: Store, index: RowIndex, leaf: int) -> None:
    """Put the box of a leaf around its free tuples."""
    tree, n_trees = index.tree, len(index.costs)
    block, lane = (tree.shape[0].first_leaf + leaf) // BLOCK, (tree.shape[0].first_leaf + leaf) % BLOCK
    boxes, floats, first = tree.boxes[block], tree.floats[block], first_of(tree, leaf)
    last, gaps = first + tree.live[leaf], 0
    for j in range(len(store.lines)):
        low, high = np.inf, -np.inf
        for i in range(first, last):
            x = store.lines[j, i]
            gaps |= int(np.isnan(x)) << j
            low, high = x if x < low else low, x if x > high else high
        at = WORDS + n_trees + 2 * j
        floats[at, lane], floats[at + 1, lane] = low, high
    for t in range(n_trees):
        word, begin = 0, index.starts[t]
        for i in range(first, last):
            word |= 1 << index.place_of[begin + store.codes[t, i]]
        boxes[WORDS + t, lane] = word
    boxes[HEAD, lane], boxes[GAPS, lane] = _lowest(store, index, leaf), gaps


@jit
def _lowest(store: Store, index: RowIndex, leaf: int) -> int:
    """The lowest free row of a leaf."""
    first, lowest = first_of(index.tree, leaf), NOBODY
    for i in range(first, first + index.tree.live[leaf]):
        row = store.rows[store.next_row[i]]
        lowest = row if row < lowest else lowest
    return lowest


@jit
def enclose_all(store: Store, index: RowIndex) -> None:
    """Put boxes around all free tuples."""
    for leaf in range(len(index.tree.live)):
        _enclose_leaf(store, index, leaf)
    enclose_inner(index.tree)


@jit
def leave(store: Store, index: RowIndex, position: int) -> None:
    """Follow a row that left the tuple at a position: a tuple with no free row leaves its leaf, and boxes shrink."""
    tree = index.tree
    leaf = leaf_of(tree, position)
    if store.next_row[position] == store.last_row[position]:
        tree.live[leaf] -= 1
        store.size[0] -= 1
        move(store, first_of(tree, leaf) + tree.live[leaf], position)
        _enclose_leaf(store, index, leaf)
        enclose_above(tree, leaf)
    else:
        lift_heads(tree, leaf, _lowest(store, index, leaf))
    if not pays(tree):
        _switch_off(store, tree)


@jit
def _switch_off(store: Store, tree: BoxTree) -> None:
    """Pack the free tuples at the front, for scans."""
    n = 0
    for leaf in range(len(tree.live)):
        first = first_of(tree, leaf)
        for i in range(first, first + tree.live[leaf]):
            move(store, i, n)
            n += 1
    tree.shape[0].off = 1
