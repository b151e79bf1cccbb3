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

from shoal.kernels.cluster.store import HULL, MEAN_COST, MIDPOINT, CostTable, Group, Store, fill, line_cost, move
from shoal.kernels.index.tree import BLOCK, first_of, leaf_of
from shoal.kernels.jit import jit

NOBODY = np.iinfo(np.int64).max
"""The lowest row of a box that is empty."""
WORD = 64
"""How many sorts of categories a box tells apart in a column; where there are more, some share a place."""
LEVELS = 4
"""How many different costs of categories are told apart; the others count as the least of them."""
HEAD, GAPS, WORDS = 0, 1, 2
"""Where in a block the lowest rows of its boxes are, the bits of missing numbers, the first bits of categories."""
BLOCK_WORK, LEAF_WORK = 10, 8
"""What a look at a block and at a leaf costs, measured in rows of a scan."""
PATIENCE = 256
"""After so many searches it is asked whether they are cheaper than scans."""

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
SHAPE = np.dtype(
    [
        ("n_tuples", np.int64),
        ("n_leaves", np.int64),
        ("first_leaf", np.int64),  # where the boxes of the leaves begin, counted in boxes
        ("searches", np.int64),  # since it was last asked whether they pay
        ("work", np.int64),  # what they took
        ("scans", np.int64),  # what scans would have taken
        ("off", np.int64),  # 1 once scans are cheaper: then the rows are packed, and the tree is not used any more
    ],
    align=True,
)


class RowIndex(NamedTuple):
    """Boxes around the tuples of a store, which stand in the order of the leaves; within a leaf the free ones first.

    Of each block the same of all its boxes lies side by side: their lowest free rows; which columns of numbers have a
    missing one (a bit each); for each tree, which places of categories occur (a bit each); for each column of numbers,
    the lowest and then the highest, infinite if all are missing. Numbers are read through `floats`, all else through
    `boxes`: it is the same memory.
    """

    boxes: Any  # int64[blocks, fields, BLOCK]    INOUT
    floats: Any  # float64[blocks, fields, BLOCK] INOUT
    live: Any  # int64[leaves]           INOUT  how many tuples of each leaf are free
    starts: Any  # int64[trees + 1]      IN     where each tree begins in `place_of`, as in the costs
    place_of: Any  # int64[all]          IN     place of each category, tree after tree; -1: it does not occur
    costs: Any  # float64[trees, LEVELS] INOUT  costs that categories have beside the group, the best first
    places: Any  # int64[trees, LEVELS]  INOUT  and the places of those that have it; all others have the last
    targets: Any  # TARGET[lines]        INOUT
    bound: Any  # float64[BLOCK]         INOUT
    stack: Any  # int64[BLOCK * depth]   INOUT
    bounds: Any  # float64[BLOCK * depth] INOUT
    shape: Any  # SHAPE[1]               INOUT


# -- bounds -----------------------------------------------------------------------------------------------------------


@jit
def _set_costs(index: RowIndex, cost_table: CostTable, sign: float) -> None:
    """Note the lowest costs that categories of each column have beside the group; places that some share have the best.
    """
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
        target.low, target.high, target.span = low, high, cost_table.spans[j]
        if cost_table.reading == MIDPOINT:
            target.low = target.high = (low + high) / 2.0
        target.gone = sign * line_cost(np.nan, low, high, holes, target.span, cost_table.reading)
        target.same = holes or not target.span > 0.0
        target.cost = sign * line_cost(0.0, low, high, holes, target.span, cost_table.reading) if target.same else 0.0


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
    boxes, floats, costs, places, out = index.boxes, index.floats, index.costs, index.places, index.bound
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
def _push(index: RowIndex, block: int, best: float, n: int) -> int:
    """Put the boxes of a block that can hold a better row on the stack, the best on top; how many are on it."""
    stack, bounds, found, bottom = index.stack, index.bounds, index.bound, n
    for i in range(BLOCK):
        bound = found[i]
        if bound > best or bound == np.inf:
            continue
        at = n
        while at > bottom and bounds[at - 1] < bound:
            bounds[at], stack[at] = bounds[at - 1], stack[at - 1]
            at -= 1
        bounds[at], stack[at] = bound, block * BLOCK + i
        n += 1
    return n


@jit
def search(store: Store, index: RowIndex, group: Group, cost_table: CostTable, sign: float) -> Any:
    """Position of the free tuple nearest to (sign = 1) or farthest from (sign = -1) the group, and its distance."""
    _set_costs(index, cost_table, sign)
    _set_targets(index, group, cost_table, sign)
    stack, bounds, shape, work = index.stack, index.bounds, index.shape[0], BLOCK_WORK
    n_leaves, n_tuples, first_leaf = shape.n_leaves, shape.n_tuples, shape.first_leaf
    lines, codes, costs, starts = store.lines, store.codes, cost_table.costs, index.starts
    spans, reading = cost_table.spans, cost_table.reading
    best, where, row = np.inf, -1, NOBODY
    _set_bounds(index, cost_table, sign, 0)
    n = _push(index, 0, best, 0)
    while n > 0:
        n -= 1
        box, bound = stack[n], bounds[n]
        if bound > best or (bound == best and index.boxes[box // BLOCK, HEAD, box % BLOCK] >= row):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_bounds(index, cost_table, sign, box + 1)
            n = _push(index, box + 1, best, n)
            continue
        work += LEAF_WORK
        first = first_of(box - first_leaf, n_tuples, n_leaves)
        for i in range(first, first + index.live[box - first_leaf]):
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
    shape.searches += 1
    shape.work += work
    shape.scans += store.size[0]
    return where, sign * best


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _enclose_leaf(store: Store, index: RowIndex, leaf: int) -> None:
    """Put the box of a leaf around its free tuples."""
    shape, n_trees = index.shape[0], len(index.costs)
    block, lane = (shape.first_leaf + leaf) // BLOCK, (shape.first_leaf + leaf) % BLOCK
    boxes, floats, first = index.boxes[block], index.floats[block], first_of(leaf, shape.n_tuples, shape.n_leaves)
    last, gaps, lowest = first + index.live[leaf], 0, NOBODY
    for j in range(len(store.lines)):
        low, high = np.inf, -np.inf
        for i in range(first, last):
            x = store.lines[j, i]
            gaps |= np.int64(np.isnan(x)) << j
            low, high = x if x < low else low, x if x > high else high
        at = WORDS + n_trees + 2 * j
        floats[at, lane], floats[at + 1, lane] = low, high
    for t in range(n_trees):
        word, begin = 0, index.starts[t]
        for i in range(first, last):
            word |= 1 << index.place_of[begin + store.codes[t, i]]
        boxes[WORDS + t, lane] = word
    for i in range(first, last):
        row = store.rows[store.next_row[i]]
        lowest = row if row < lowest else lowest
    boxes[HEAD, lane], boxes[GAPS, lane] = lowest, gaps


@jit
def _enclose(index: RowIndex, box: int) -> bool:
    """Put a box around those of its block of children; say whether that changed it."""
    inner, inner_floats = index.boxes[box + 1], index.floats[box + 1]
    boxes, floats, lane = index.boxes[box // BLOCK], index.floats[box // BLOCK], box % BLOCK
    first, changed, head = WORDS + len(index.costs), False, NOBODY
    for i in range(BLOCK):
        head = inner[HEAD, i] if inner[HEAD, i] < head else head
    changed, boxes[HEAD, lane] = head != boxes[HEAD, lane], head
    for at in range(GAPS, first):
        word = 0
        for i in range(BLOCK):
            word |= inner[at, i]
        changed |= word != boxes[at, lane]
        boxes[at, lane] = word
    for at in range(first, len(boxes), 2):
        low, high = np.inf, -np.inf
        for i in range(BLOCK):
            low = inner_floats[at, i] if inner_floats[at, i] < low else low
            high = inner_floats[at + 1, i] if inner_floats[at + 1, i] > high else high
        changed |= low != floats[at, lane] or high != floats[at + 1, lane]
        floats[at, lane], floats[at + 1, lane] = low, high
    return changed


@jit
def enclose_all(store: Store, index: RowIndex) -> None:
    """Put boxes around all free tuples."""
    shape = index.shape[0]
    for leaf in range(shape.n_leaves):
        _enclose_leaf(store, index, leaf)
    for box in range(shape.first_leaf - 1, -1, -1):
        if box + 1 < len(index.boxes):
            _enclose(index, box)


@jit
def leave(store: Store, index: RowIndex, position: int) -> None:
    """Follow a row that left the tuple at a position: boxes shrink; a tuple with no free row leaves its leaf."""
    shape = index.shape[0]
    leaf = leaf_of(position, shape.n_tuples, shape.n_leaves)
    if store.next_row[position] == store.last_row[position]:
        index.live[leaf] -= 1
        store.size[0] -= 1
        move(store, first_of(leaf, shape.n_tuples, shape.n_leaves) + index.live[leaf], position)
    _enclose_leaf(store, index, leaf)
    block = (shape.first_leaf + leaf) // BLOCK
    while block > 0 and _enclose(index, block - 1):
        block = (block - 1) // BLOCK
    if shape.searches >= PATIENCE:
        if shape.work > shape.scans:
            _switch_off(store, index)
        shape.searches, shape.work, shape.scans = 0, 0, 0


@jit
def _switch_off(store: Store, index: RowIndex) -> None:
    """Pack the free tuples at the front, for scans."""
    shape, n = index.shape[0], 0
    for leaf in range(shape.n_leaves):
        first = first_of(leaf, shape.n_tuples, shape.n_leaves)
        for i in range(first, first + index.live[leaf]):
            move(store, i, n)
            n += 1
    shape.off = 1
