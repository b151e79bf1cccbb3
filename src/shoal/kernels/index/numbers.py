"""A tree of boxes around points whose columns are all numbers, none missing: as `points`, several times quicker.

Boxes and points are kept as short floats, each coordinate between -1 and 1, which take half the room and the time. They
only say who cannot be meant: a point that may be is measured as a scan would, to the last bit. All that short floats
can lose is far less than what is added to their distances for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import before, offer
from shoal.kernels.index.boxes import BLOCK, NOBODY, BoxTree, note_search, push
from shoal.kernels.jit import jit

BLOCK_WORK, LEAF_WORK = 8, 16
"""What a look at a block and at a leaf costs, measured in points of a scan."""
EIGHT = 8
"""Points of a leaf are measured eight at a time, with those that are gone."""
ZERO, ONE = np.float32(0.0), np.float32(1.0)
EMPTY = np.float32(-1e30)
"""Half the width of a box that is empty: whoever asks, it is too far away, and too near."""
LOSS, PART = 1e-6, 1e-5
"""What short floats may lose of a difference of two coordinates, and of a sum of up to 64 squares, as a part of it."""
LEAST = 1e-30
"""What they lose of squares that are next to nothing."""
MOVED = 0.8
"""Lengths are measured anew when so many of the points are left."""
OPPOSITE = 0.75
"""Where the point opposite is, by which the farthest is bounded: 1 / so many times as far away as the outermost."""
WIDER = 1.0 + 2.0**-22
"""Rounds the widths of boxes up."""


class NumberIndex(NamedTuple):
    """Boxes around points, and the points in the order of the leaves.

    Of each block the same of all its boxes lies side by side: for each column, the middle of a box and then half its
    width; at last the largest squared distance from an origin, the average of all when it was last found.
    """

    tree: BoxTree
    points: Any  # float64[n, d]    IN     as they are
    weights: Any  # float64[d]      IN     factors of squared differences
    columns: Any  # float32[leaves, d + 1, room]  INOUT  scaled points of each leaf; squares of their lengths
    rows: Any  # int64[leaves, room] INOUT  their rows
    positions: Any  # int64[n]      INOUT  leaf of each row, times room, and its place there; or -1 - its first twin
    twins: Any  # int64[n]          INOUT  the next row that is identical to each, -1 for none
    size: Any  # int64[2]           INOUT  how many points are free, and were when lengths were measured
    middle: Any  # float64[d]       IN     what is taken from a coordinate before it is scaled
    scales: Any  # float64[d + 1]   IN     how each coordinate is scaled, and a squared distance
    asked: Any  # float32[d]        INOUT  the point that is asked for, scaled
    opposite: Any  # float32[d]     INOUT  see `_ask_opposite`
    origin: Any  # float32[d]       INOUT  where lengths begin
    distances: Any  # float32[room] INOUT


# -- distances --------------------------------------------------------------------------------------------------------


@jit
def _exact(index: NumberIndex, row: int, point: Any) -> float:
    """Squared distance of a row to a point, summed as `shoal.kernels.cluster.points.fill` does."""
    mine, weights, d = index.points[row], index.weights, 0.0
    for j in range(len(point)):
        t = mine[j] - point[j]
        d += t * t * weights[j]
    return d


@jit
def _ask(index: NumberIndex, point: Any) -> float:
    """Scale the point that is asked for; what short floats may lose of a distance to it."""
    asked, largest = index.asked, 1.0
    for j in range(len(point)):
        c = (point[j] - index.middle[j]) * index.scales[j]
        asked[j] = c
        largest = max(largest, abs(c))
    return LOSS * largest * np.sqrt(len(point))  # type: ignore[no-any-return]


@jit
def _measure(index: NumberIndex, leaf: int, low: float, high: float) -> int:
    """Scaled squared distances of the points of a leaf to the one that is asked for; about how many are in between."""
    columns, asked, zero = index.columns[leaf], index.asked, ZERO
    n = (index.tree.live[leaf] + EIGHT - 1) // EIGHT * EIGHT
    out = index.distances[:n]
    for i in range(len(out)):
        out[i] = zero
    for j in range(len(asked)):
        column, c = columns[j, :n], asked[j]
        for i in range(len(out)):
            t = column[i] - c
            out[i] += t * t
    least, most, n_between = np.float32(low), np.float32(high), 0
    for i in range(len(out)):
        n_between += int(least <= out[i]) & int(out[i] <= most)
    return n_between


@jit
def _near(index: NumberIndex, best: float, loss: float) -> float:
    """What the scaled squared distance of a point is at most that is not farther than the best."""
    far = np.sqrt(best * index.scales[len(index.asked)]) + loss
    return far * far * (1.0 + PART) + LEAST  # type: ignore[no-any-return]


@jit
def _far(index: NumberIndex, best: float, loss: float) -> float:
    """What it is at least, of one that is not nearer."""
    near = max(np.sqrt(best * index.scales[len(index.asked)]) - loss, 0.0)
    return near * near * (1.0 - PART) - LEAST  # type: ignore[no-any-return]


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def _set_bounds(index: NumberIndex, asked: Any, block: int) -> None:
    """How near the points of each box of a block can be to one; infinite where there is none.

    IN  asked float32[d]
    """
    fields, out, zero = index.tree.floats[block], index.tree.bound, ZERO
    for i in range(len(out)):
        out[i] = zero
    for j in range(len(asked)):
        middle, half, c = fields[2 * j], fields[2 * j + 1], asked[j]
        for i in range(len(out)):
            t = abs(middle[i] - c) - half[i]
            t = t if t > zero else zero
            out[i] += t * t


@jit
def nearest(index: NumberIndex, point: Any, near: Any) -> int:
    """Find the free points nearest to one, the lowest rows of those that tie; how many there are.

    IN   point float64[d]
    OUT  near NEIGHBOUR[k]: a heap, the last of them on top; without their places
    """
    tree, first_leaf, work, room = index.tree, index.tree.shape[0].first_leaf, BLOCK_WORK, len(near)
    out, twins, loss = index.distances, index.twins, _ask(index, point)
    best, row, n_near, within = np.inf, NOBODY, 0, np.inf
    _set_bounds(index, index.asked, 0)
    n = push(tree, 0, within, 0)
    while n > 0:
        n -= 1
        box = tree.stack[n]
        if tree.bounds[n] > within:
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_bounds(index, index.asked, box + 1)
            n = push(tree, box + 1, within, n)
            continue
        work += LEAF_WORK
        leaf = box - first_leaf
        n_live = tree.live[leaf] if _measure(index, leaf, 0.0, within) else 0
        for i in range(n_live):
            if out[i] > within:
                continue
            mine = index.rows[leaf, i]
            d = _exact(index, mine, point)
            while mine >= 0 and (n_near < room or before(d, mine, best, row)):
                n_near = offer(near, n_near, d, mine, 0)
                if n_near == room:
                    best, row = near[0].distance, near[0].row
                    within = _near(index, best, loss)
                mine = twins[mine]
    note_search(tree, work, index.size[0])
    return n_near


@jit
def _ask_opposite(index: NumberIndex) -> Any:
    """Find the point v that bounds the farthest from the one asked for, c; a factor f of its bounds, and what is added.

    Boxes know r, the largest distance of their points from an origin. Seen from there, for a point x, any f > 0 and
    v = -c / f: (x - c)^2 = x^2 - 2cx + c^2 <= (1 + f) r^2 - f x^2 - 2cx + c^2
    = (1 + f) r^2 - f (x - v)^2 + f v^2 + c^2.
    So what is far from c is near to v, on the other side; a corner of a box may be farther away than any point in it.
    """
    asked, opposite, origin, n = index.asked, index.opposite, index.origin, len(index.asked)
    squares, away, largest, edge = 0.0, 0.0, 0.0, 0.0
    for j in range(n):
        squares += np.float64(asked[j] - origin[j]) * np.float64(asked[j] - origin[j])
    for length in index.tree.floats[0, 2 * n]:
        largest = max(largest, np.float64(length))
    factor = np.float32(OPPOSITE * np.sqrt(squares / max(largest, LEAST)) + LOSS)
    for j in range(n):
        v = (origin[j] - asked[j]) / factor
        opposite[j] = origin[j] + v
        away += np.float64(v) * np.float64(v)
        edge = max(edge, max(abs(np.float64(opposite[j])), abs(np.float64(origin[j]))))
    begin, way = squares + factor * away, np.sqrt(away) + np.sqrt(largest) + np.sqrt(squares)
    loss = LOSS * np.sqrt(n) * (edge + np.sqrt(largest))
    slack = PART * (begin + (1.0 + factor) * (largest + way * way)) + (1.0 + factor) * loss * (2.0 * way + loss)
    return factor, begin + slack


@jit
def _set_far_bounds(index: NumberIndex, factor: Any, begin: float, block: int) -> None:
    """How far the points of each box of a block can be, negative."""
    _set_bounds(index, index.opposite, block)
    out, lengths, longer = index.tree.bound, index.tree.floats[block, 2 * len(index.asked)], factor + ONE
    first = np.float32(begin)
    for i in range(len(out)):
        out[i] = factor * out[i] - longer * lengths[i] - first


@jit
def _set_origin(index: NumberIndex) -> None:
    """Let lengths begin at the average of the free points from now on."""
    origin, n, total = index.origin, len(index.origin), 0
    live, columns, fields = index.tree.live, index.columns, index.tree.floats
    for leaf in range(len(live)):
        total += live[leaf]
    for j in range(n):
        mean = 0.0
        for leaf in range(len(live)):
            for x in columns[leaf, j, : live[leaf]]:
                mean += np.float64(x)
        origin[j] = mean / total
    fields[:, 2 * n] = EMPTY
    for leaf in range(len(live)):
        for i in range(live[leaf]):
            square = 0.0
            for j in range(n):
                t = np.float64(columns[leaf, j, i]) - np.float64(origin[j])
                square += t * t
            columns[leaf, n, i] = square * WIDER
        _lower(index, leaf)
    index.size[1] = index.size[0]


@jit
def farthest(index: NumberIndex, point: Any) -> int:
    """Row of the free point farthest from one, the lowest of those that tie.

    IN  point float64[d]
    """
    tree, first_leaf, work, out = index.tree, index.tree.shape[0].first_leaf, BLOCK_WORK, index.distances
    loss, best, row, beyond = _ask(index, point), np.inf, NOBODY, -1.0
    if index.size[0] < index.size[1] * MOVED:
        _set_origin(index)
    factor, begin = _ask_opposite(index)
    _set_far_bounds(index, factor, begin, 0)
    n = push(tree, 0, -beyond, 0)
    while n > 0:
        n -= 1
        box = tree.stack[n]
        if -tree.bounds[n] < beyond:
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_far_bounds(index, factor, begin, box + 1)
            n = push(tree, box + 1, -beyond, n)
            continue
        work += LEAF_WORK
        leaf = box - first_leaf
        n_live = tree.live[leaf] if _measure(index, leaf, beyond, np.inf) else 0
        for i in range(n_live):
            if out[i] < beyond:
                continue
            d = -_exact(index, index.rows[leaf, i], point)
            if before(d, index.rows[leaf, i], best, row):
                best, row = d, index.rows[leaf, i]
                beyond = _far(index, -best, loss)
    note_search(tree, work, index.size[0])
    return row


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _put(fields: Any, j: int, lane: int, low: float, high: float) -> bool:
    """Let a box reach from one coordinate to another in a column; say whether that changed it."""
    middle, half = np.float32(0.0), EMPTY
    if low <= high:
        middle = np.float32((low + high) / 2.0)
        half = np.float32(max(high - middle, middle - low) * WIDER)
    changed = fields[2 * j, lane] != middle or fields[2 * j + 1, lane] != half
    fields[2 * j, lane], fields[2 * j + 1, lane] = middle, half
    return changed


@jit
def _enclose_column(index: NumberIndex, leaf: int, j: int) -> bool:
    """Put the box of a leaf around its free points, in one column; say whether that changed it."""
    box, column, low, high = index.tree.shape[0].first_leaf + leaf, index.columns[leaf, j], np.inf, -np.inf
    for i in range(index.tree.live[leaf]):
        x = np.float64(column[i])
        low, high = x if x < low else low, x if x > high else high
    return _put(index.tree.floats[box // BLOCK], j, box % BLOCK, low, high)


@jit
def _enclose_boxes(index: NumberIndex, box: int, j: int) -> bool:
    """Put a box around those of its block of children, in one column; say whether that changed it."""
    inner, low, high = index.tree.floats[box + 1], np.inf, -np.inf
    for i in range(BLOCK):
        middle, half = np.float64(inner[2 * j, i]), np.float64(inner[2 * j + 1, i])
        low = middle - half if middle - half < low else low
        high = middle + half if middle + half > high else high
    return _put(index.tree.floats[box // BLOCK], j, box % BLOCK, low, high)


@jit
def _enclose_above(index: NumberIndex, leaf: int, j: int) -> None:
    """Follow a leaf whose box changed in one column."""
    block = (index.tree.shape[0].first_leaf + leaf) // BLOCK
    while block > 0 and _enclose_boxes(index, block - 1, j):
        block = (block - 1) // BLOCK


@jit
def _lower(index: NumberIndex, leaf: int) -> None:
    """Find the largest length among the points of a leaf, and of the boxes above it."""
    d, largest, column = len(index.asked), EMPTY, index.columns[leaf, len(index.asked)]
    for i in range(index.tree.live[leaf]):
        largest = column[i] if column[i] > largest else largest
    box = index.tree.shape[0].first_leaf + leaf
    while box >= 0 and index.tree.floats[box // BLOCK, 2 * d, box % BLOCK] != largest:
        index.tree.floats[box // BLOCK, 2 * d, box % BLOCK] = largest
        all_of_block, box = index.tree.floats[box // BLOCK, 2 * d], box // BLOCK - 1
        for i in range(BLOCK):
            largest = all_of_block[i] if all_of_block[i] > largest else largest


@jit
def enclose_all(index: NumberIndex) -> None:
    """Put boxes around all free points."""
    for leaf in range(len(index.tree.live)):
        for j in range(len(index.asked)):
            _enclose_column(index, leaf, j)
        _lower(index, leaf)
    for box in range(len(index.tree.floats) - 2, -1, -1):
        for j in range(len(index.asked)):
            _enclose_boxes(index, box, j)


@jit
def leave(index: NumberIndex, row: int) -> None:
    """Take a point out: its boxes shrink, unless another one is identical."""
    room, at = index.rows.shape[1], index.positions[_first(index, row)]
    leaf, place = at // room, at % room
    index.size[0] -= 1
    if _let_follow(index, leaf, place, row):
        return
    columns, rows, last = index.columns[leaf], index.rows[leaf], index.tree.live[leaf] - 1
    index.tree.live[leaf] = last
    for j in range(len(columns)):
        columns[j, place], columns[j, last] = columns[j, last], columns[j, place]
    rows[place] = rows[last]
    index.positions[_first(index, rows[place])] = leaf * room + place
    _shrink(index, leaf, last)


@jit
def _shrink(index: NumberIndex, leaf: int, gone: int) -> None:
    """Let the box of a leaf shrink by a point that is gone from a place, and those above it."""
    d, columns, box = len(index.asked), index.columns[leaf], index.tree.shape[0].first_leaf + leaf
    fields, lane = index.tree.floats[box // BLOCK], box % BLOCK
    for j in range(d):
        edge = abs(columns[j, gone] - fields[2 * j, lane]) * WIDER * WIDER >= fields[2 * j + 1, lane]
        if edge and _enclose_column(index, leaf, j):
            _enclose_above(index, leaf, j)
    if columns[d, gone] == fields[2 * d, lane]:
        _lower(index, leaf)


@jit
def _first(index: NumberIndex, row: int) -> int:
    """The first of the rows that were identical to one."""
    return row if index.positions[row] >= 0 else -1 - index.positions[row]


@jit
def _let_follow(index: NumberIndex, leaf: int, place: int, row: int) -> bool:
    """Take one of identical points out; say whether others are left."""
    twins, one = index.twins, index.rows[leaf, place]
    if one == row:
        if twins[row] >= 0:
            index.rows[leaf, place] = twins[row]
        return twins[row] >= 0  # type: ignore[no-any-return]
    while twins[one] != row:
        one = twins[one]
    twins[one] = twins[row]
    return True
