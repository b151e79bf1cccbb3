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

from shoal.kernels.cluster.store import MIDPOINT, CostTable, Group, Store, fill, line_cost, move
from shoal.kernels.index.tree import first_of, leaf_of
from shoal.kernels.jit import jit

NOBODY = np.iinfo(np.int64).max
"""The lowest row of a box that is empty."""
WORD = 64
"""How many sorts of categories a box tells apart in a column; where there are more, some share a place."""
FEW = 4
"""How many costs of the categories of a column are looked at without asking whether there are so many."""
HEAD, GAPS, WORDS = 0, 1, 2
"""Where in a box its lowest row is, the bits of missing numbers, the first of the bits of categories."""
NODE_WORK, LEAF_WORK = 8, 16
"""What a look at a node and at a leaf costs, measured in rows of a scan."""
PATIENCE = 1 << 40
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
        ("searches", np.int64),  # since it was last asked whether they pay
        ("work", np.int64),  # what they took
        ("scans", np.int64),  # what scans would have taken
        ("off", np.int64),  # 1 once scans are cheaper: then the rows are packed, and the tree is not used any more
    ],
    align=True,
)


class RowIndex(NamedTuple):
    """Boxes around the tuples of a store, which stand in the order of the leaves; within a leaf the free ones first.

    What a box knows lies side by side, `width` values: its lowest free row; which columns of numbers have a missing one
    (a bit each); which places of categories occur in each tree (a bit each); the lowest and the highest number of each
    column, infinite if all are missing. Numbers are read through `floats`, all else through `boxes`: the same memory.
    """

    boxes: Any  # int64[nodes, width]    INOUT
    floats: Any  # float64[nodes, width] INOUT
    live: Any  # int64[leaves]           INOUT  how many tuples of each leaf are free
    starts: Any  # int64[trees + 1]      IN     where each tree begins in `place_of`, as in the costs
    place_of: Any  # int64[all]          IN     place of each category, tree after tree; -1: it does not occur
    costs: Any  # float64[trees, WORD]   INOUT  costs that categories have beside the group, the best first
    places: Any  # int64[trees, WORD]    INOUT  and the places of those that have it
    targets: Any  # TARGET[lines]        INOUT
    stack: Any  # int64[2 * depth + 2]   INOUT
    bounds: Any  # float64[2 * depth + 2] INOUT
    shape: Any  # SHAPE[1]               INOUT


# -- bounds -----------------------------------------------------------------------------------------------------------


@jit
def _set_levels(index: RowIndex, cost_table: CostTable, sign: float) -> None:
    """Note which costs the categories of each column have beside the group; places shared by several have the best."""
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
            for i in range(n, at, -1):
                costs[i], places[i] = costs[i - 1], places[i - 1]
            costs[at], places[at] = cost, 1 << place
            n += 1
        for i in range(n, FEW):
            costs[i], places[i] = costs[n - 1], 0


@jit
def _set_targets(index: RowIndex, group: Group, cost_table: CostTable, sign: float) -> None:
    """Note what the numbers of each column are compared with."""
    for j in range(len(group.low)):
        target, low, high, holes, span = index.targets[j], group.low[j], group.high[j], group.holes[j], cost_table.spans[j]
        target.low, target.high, target.span = low, high, span
        target.gone = sign * line_cost(np.nan, low, high, holes, span, cost_table.reading)
        target.same = holes or not span > 0.0
        target.cost = sign * line_cost(low if low == low else 0.0, low, high, holes, span, cost_table.reading)


@jit
def _line_bound(low: float, high: float, target: Any, reading: int, sign: float) -> float:
    """What a number between two bounds is at least away from the group; signed.

    IN  target TARGET
    """
    begin, end, span = target.low, target.high, target.span
    if sign < 0.0:
        one, other = line_cost(low, begin, end, False, span, reading), line_cost(high, begin, end, False, span, reading)
        return -one if one > other else -other
    middle = (begin + end) / 2.0
    from_, to = (middle, middle) if reading == MIDPOINT else (begin, end)
    x = low if low > from_ else from_
    x = high if high < to and high < x else x
    return line_cost(x, begin, end, False, span, reading)


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def search(store: Store, index: RowIndex, group: Group, cost_table: CostTable, sign: float) -> Any:
    """Position of the free tuple nearest to (sign = 1) or farthest from (sign = -1) the group, and its distance."""
    _set_levels(index, cost_table, sign)
    _set_targets(index, group, cost_table, sign)
    # All in one: a call that is given so many arrays takes longer than the work on a box.
    boxes, floats, places, costs, targets = index.boxes, index.floats, index.places, index.costs, index.targets
    stack, bounds, reading, divisor = index.stack, index.bounds, cost_table.reading, cost_table.divisor
    n_leaves, n_tuples, n_trees = index.shape[0].n_leaves, index.shape[0].n_tuples, len(costs)
    out, work = np.empty(n_tuples // n_leaves + 1), 0
    best, where, row, n = np.inf, -1, NOBODY, 1
    stack[0], bounds[0] = 1, -np.inf
    while n > 0:
        n -= 1
        node = stack[n]
        if bounds[n] > best or bounds[n] == np.inf or (bounds[n] == best and boxes[node, HEAD] >= row):
            continue
        if node >= n_leaves:
            work += LEAF_WORK
            first = first_of(node - n_leaves, n_tuples, n_leaves)
            found = out[: index.live[node - n_leaves]]
            fill(store, group, cost_table, first, found)
            for i in range(len(found)):
                d = sign * found[i]
                if d <= best and d < np.inf:
                    mine = store.rows[store.next_row[first + i]]
                    if d < best or mine < row:
                        best, where, row = d, first + i, mine
            continue
        work += 2 * NODE_WORK
        for child in range(2 * node, 2 * node + 2):
            total, gaps, at = 0.0, boxes[child, GAPS], WORDS + n_trees
            for j in range(len(targets)):
                low, high, target = floats[child, at + 2 * j], floats[child, at + 2 * j + 1], targets[j]
                bound = target.cost if target.same else _line_bound(low, high, target, reading, sign)
                bound = bound if low <= high else np.inf
                total += target.gone if (gaps >> j) & 1 and target.gone < bound else bound
            for t in range(n_trees):
                word = boxes[child, WORDS + t]
                cost = costs[t, 3]
                cost = costs[t, 2] if places[t, 2] & word else cost
                cost = costs[t, 1] if places[t, 1] & word else cost
                cost = costs[t, 0] if places[t, 0] & word else cost
                if not word & (places[t, 0] | places[t, 1] | places[t, 2] | places[t, 3]) and word:
                    i = FEW
                    while not places[t, i] & word:
                        i += 1
                    cost = costs[t, i]
                total += cost
            stack[n], bounds[n] = child, np.inf if boxes[child, HEAD] == NOBODY else total / divisor
            n += 1
        tie = bounds[n - 2] == bounds[n - 1]
        if bounds[n - 2] < bounds[n - 1] or (tie and boxes[2 * node, HEAD] < boxes[2 * node + 1, HEAD]):
            stack[n - 2], stack[n - 1] = stack[n - 1], stack[n - 2]
            bounds[n - 2], bounds[n - 1] = bounds[n - 1], bounds[n - 2]
    shape = index.shape[0]
    shape.searches += 1
    shape.work += work
    shape.scans += store.size[0]
    return where, sign * best


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _enclose_leaf(store: Store, index: RowIndex, leaf: int) -> None:
    """Put the box of a leaf around its free tuples."""
    shape, boxes, floats, n_trees = index.shape[0], index.boxes, index.floats, len(index.costs)
    node, first = shape.n_leaves + leaf, first_of(leaf, shape.n_tuples, shape.n_leaves)
    last, gaps, lowest = first + index.live[leaf], 0, NOBODY
    for j in range(len(store.lines)):
        low, high = np.inf, -np.inf
        for i in range(first, last):
            x = store.lines[j, i]
            gaps |= np.int64(np.isnan(x)) << j
            low, high = x if x < low else low, x if x > high else high
        at = WORDS + n_trees + 2 * j
        floats[node, at], floats[node, at + 1] = low, high
    for t in range(n_trees):
        word, begin = 0, index.starts[t]
        for i in range(first, last):
            word |= 1 << index.place_of[begin + store.codes[t, i]]
        boxes[node, WORDS + t] = word
    for i in range(first, last):
        row = store.rows[store.next_row[i]]
        lowest = row if row < lowest else lowest
    boxes[node, HEAD], boxes[node, GAPS] = lowest, gaps


@jit
def _enclose(index: RowIndex, node: int) -> bool:
    """Put the box of a node around those of its children; say whether that changed it."""
    boxes, floats, one, other = index.boxes, index.floats, 2 * node, 2 * node + 1
    first, width = WORDS + len(index.costs), boxes.shape[1]
    head = boxes[one, HEAD] if boxes[one, HEAD] < boxes[other, HEAD] else boxes[other, HEAD]
    changed, boxes[node, HEAD] = head != boxes[node, HEAD], head
    for at in range(GAPS, first):
        word = boxes[one, at] | boxes[other, at]
        changed |= word != boxes[node, at]
        boxes[node, at] = word
    for at in range(first, width, 2):
        low = floats[one, at] if floats[one, at] < floats[other, at] else floats[other, at]
        high = floats[one, at + 1] if floats[one, at + 1] > floats[other, at + 1] else floats[other, at + 1]
        changed |= low != floats[node, at] or high != floats[node, at + 1]
        floats[node, at], floats[node, at + 1] = low, high
    return changed


@jit
def enclose_all(store: Store, index: RowIndex) -> None:
    """Put boxes around all free tuples."""
    n_leaves = index.shape[0].n_leaves
    for leaf in range(n_leaves):
        _enclose_leaf(store, index, leaf)
    for node in range(n_leaves - 1, 0, -1):
        _enclose(index, node)


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
    node = (shape.n_leaves + leaf) // 2
    while node > 0 and _enclose(index, node):
        node //= 2
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
