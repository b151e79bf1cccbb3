"""A tree of boxes around points: the k nearest to a point, the farthest from it, exactly, while points leave.

See `rows`; distances here are the squares of `shoal.kernels.cluster.points`, summed over the columns in their order.
Of identical points the lowest that is free may stand for all: the others follow it, one after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import NAME, add_column, before, offer
from shoal.kernels.index.boxes import (
    BLOCK,
    GAPS,
    HEAD,
    NOBODY,
    BoxTree,
    enclose_above,
    enclose_inner,
    lift_heads,
    note_search,
    push,
)
from shoal.kernels.jit import jit

BLOCK_WORK, LEAF_WORK = 20, 50
"""What a look at a block and at a leaf costs, measured in points of a scan."""


class PointIndex(NamedTuple):
    """Boxes around points, and the points in the order of the leaves."""

    tree: BoxTree
    axes: Any  # AXIS[d]             IN
    columns: Any  # float64[leaves, d, room]  INOUT  points of each leaf, NaN = missing
    rows: Any  # int64[leaves, room] INOUT  their rows
    positions: Any  # int64[n]       INOUT  leaf of each row, times room, and its place there; or -1 - its first twin
    twins: Any  # int64[n]           INOUT  the next row that is identical to each, -1 for none; empty: all stand alone
    fields: Any  # int64[d]          IN     where in a block a column is
    place_of: Any  # int64[all]      IN     place of each category among the bits; where several share one, negative - 1
    size: Any  # int64[1]            INOUT  how many points are free
    distances: Any  # float64[rows of a leaf]  INOUT


@jit
def _add_mixed(index: PointIndex, block: int, j: int, c: float, sign: float) -> None:
    """Add how far the numbers of each box of a block are at least from one, where some are missing; signed."""
    floats, gaps, out, at = index.tree.floats[block], index.tree.boxes[block, GAPS], index.tree.bound, index.fields[j]
    lows, highs = floats[at], floats[at + 1]
    weight, gap, unknown = index.axes[j].weight, sign * index.axes[j].gap, np.isnan(c)
    for i in range(len(out)):
        low, high = lows[i], highs[i]
        one, other = (low - c, c - high) if sign > 0.0 else (c - low, high - c)
        t = one if one > other else other
        t = t if t > 0.0 else 0.0
        present = gap if unknown else sign * (t * t * weight)
        present = present if low <= high else np.inf
        missing = 0.0 if unknown else gap
        missing = missing if (gaps[i] >> j) & 1 else np.inf
        out[i] += missing if missing < present else present


@jit
def _add_name(index: PointIndex, block: int, j: int, c: float, sign: float) -> None:
    """Add how far the categories of each box of a block are at least from one; signed."""
    words, out = index.tree.boxes[block, index.fields[j]], index.tree.bound
    place = index.place_of[index.axes[j].first + np.int64(c)]
    bit, alone = np.int64(1) << (place if place >= 0 else -place - 1), place >= 0
    for i in range(len(out)):
        word = words[i]
        near = 0.0 if word & bit else 1.0
        far = 0.0 if word == bit and alone else -1.0
        out[i] += near if sign > 0.0 else far


@jit
def set_bounds(index: PointIndex, point: Any, sign: float, block: int) -> None:
    """How far any point of each box of a block is at least from one, signed; infinite where there is none.

    IN  point float64[d]
    """
    # Whole arrays and no branch within a column: here the time goes.
    floats, out, axes, fields = index.tree.floats, index.tree.bound, index.axes, index.fields
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(point)):
        c, weight, at = point[j], axes[j].weight, fields[j]
        if axes[j].kind == NAME:
            _add_name(index, block, j, c, sign)
        elif axes[j].holes or np.isnan(c):
            _add_mixed(index, block, j, c, sign)
        elif sign > 0.0:
            low, high = floats[block, at], floats[block, at + 1]
            for i in range(len(out)):
                one, other = low[i] - c, c - high[i]
                t = one if one > other else other
                t = t if t > 0.0 else 0.0
                out[i] += t * t * weight
        else:
            low, high = floats[block, at], floats[block, at + 1]
            for i in range(len(out)):
                one, other = c - low[i], high[i] - c
                t = one if one > other else other
                out[i] -= t * t * weight
    for i in range(len(out)):
        out[i] = np.inf if index.tree.boxes[block, HEAD, i] == NOBODY else out[i]


@jit
def measure(index: PointIndex, point: Any, leaf: int) -> None:
    """Distances of the free points of a leaf to one.

    IN  point float64[d]
    """
    columns, n = index.columns[leaf], index.tree.live[leaf]
    out = index.distances[:n]
    out[:] = 0.0
    for j in range(len(point)):
        add_column(index.axes[j], columns[j, :n], point[j], out)


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def nearest(index: PointIndex, point: Any, near: Any) -> int:
    """Find the free points nearest to one, the lowest rows of those that tie; how many there are.

    IN   point float64[d]
    OUT  near NEIGHBOUR[k]: a heap, the last of them on top; without their places
    """
    tree, first_leaf, work, room = index.tree, index.tree.shape[0].first_leaf, BLOCK_WORK, len(near)
    out, twins = index.distances, index.twins
    best, row, n_near = np.inf, NOBODY, 0
    set_bounds(index, point, 1.0, 0)
    n = push(tree, 0, best, 0)
    while n > 0:
        n -= 1
        box, bound = tree.stack[n], tree.bounds[n]
        if bound > best or (bound == best and tree.boxes[box // BLOCK, HEAD, box % BLOCK] >= row):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            set_bounds(index, point, 1.0, box + 1)
            n = push(tree, box + 1, best, n)
            continue
        work += LEAF_WORK
        leaf = box - first_leaf
        measure(index, point, leaf)
        for i in range(tree.live[leaf]):
            mine = index.rows[leaf, i] if out[i] <= best else -1
            while mine >= 0 and (n_near < room or before(out[i], mine, best, row)):
                n_near = offer(near, n_near, out[i], mine, 0)
                if n_near == room:
                    best, row = near[0].distance, near[0].row
                mine = twins[mine] if len(twins) else -1
    note_search(tree, work, index.size[0])
    return n_near


@jit
def farthest(index: PointIndex, point: Any) -> int:
    """Row of the free point farthest from one, the lowest of those that tie.

    IN  point float64[d]
    """
    tree, first_leaf, work, out = index.tree, index.tree.shape[0].first_leaf, BLOCK_WORK, index.distances
    best, row = np.inf, NOBODY
    set_bounds(index, point, -1.0, 0)
    n = push(tree, 0, best, 0)
    while n > 0:
        n -= 1
        box, bound = tree.stack[n], tree.bounds[n]
        if bound > best or (bound == best and tree.boxes[box // BLOCK, HEAD, box % BLOCK] >= row):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            set_bounds(index, point, -1.0, box + 1)
            n = push(tree, box + 1, best, n)
            continue
        work += LEAF_WORK
        leaf = box - first_leaf
        measure(index, point, leaf)
        for i in range(tree.live[leaf]):
            if -out[i] <= best and before(-out[i], index.rows[leaf, i], best, row):
                best, row = -out[i], index.rows[leaf, i]
    note_search(tree, work, index.size[0])
    return row


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _enclose_leaf(index: PointIndex, leaf: int) -> None:
    """Put the box of a leaf around its free points."""
    block, lane = _box_of(index, leaf)
    index.tree.boxes[block, GAPS, lane] = 0
    for j in range(len(index.axes)):
        _enclose_column(index, leaf, j)
    index.tree.boxes[block, HEAD, lane] = _lowest(index, leaf)


@jit
def _box_of(index: PointIndex, leaf: int) -> Any:
    """Block of the box of a leaf, and where it is there."""
    box = index.tree.shape[0].first_leaf + leaf
    return box // BLOCK, box % BLOCK


@jit
def _enclose_column(index: PointIndex, leaf: int, j: int) -> None:
    """Put the box of a leaf around its free points, in one column."""
    axis, column, at, (block, lane) = index.axes[j], index.columns[leaf, j], index.fields[j], _box_of(index, leaf)
    boxes, floats, n = index.tree.boxes[block], index.tree.floats[block], index.tree.live[leaf]
    if axis.kind == NAME:
        word = 0
        for i in range(n):
            place = index.place_of[axis.first + np.int64(column[i])]
            word |= np.int64(1) << (place if place >= 0 else -place - 1)
        boxes[at, lane] = word
        return
    low, high, gap = np.inf, -np.inf, 0
    for i in range(n):
        x = column[i]
        gap |= int(np.isnan(x))
        low, high = x if x < low else low, x if x > high else high
    floats[at, lane], floats[at + 1, lane] = low, high
    boxes[GAPS, lane] = (boxes[GAPS, lane] & ~(1 << j)) | (gap << j)


@jit
def _lowest(index: PointIndex, leaf: int) -> int:
    """The lowest free row of a leaf."""
    lowest = NOBODY
    for i in range(index.tree.live[leaf]):
        lowest = index.rows[leaf, i] if index.rows[leaf, i] < lowest else lowest
    return lowest


@jit
def enclose_all(index: PointIndex) -> None:
    """Put boxes around all free points."""
    for leaf in range(len(index.tree.live)):
        _enclose_leaf(index, leaf)
    enclose_inner(index.tree)


@jit
def leave(index: PointIndex, row: int) -> None:
    """Take a point out: its boxes shrink, unless another one is identical."""
    tree, room, at = index.tree, index.rows.shape[1], index.positions[_first(index, row)]
    leaf, place = at // room, at % room
    index.size[0] -= 1
    if len(index.twins) and _let_follow(index, leaf, place, row):
        return
    tree.live[leaf] -= 1
    _swap(index, leaf, place, tree.live[leaf])
    if _shrink(index, leaf, tree.live[leaf]):
        enclose_above(tree, leaf)


@jit
def _shrink(index: PointIndex, leaf: int, gone: int) -> bool:
    """Let the box of a leaf shrink by a point that is gone from a place; say whether it may have been at an edge."""
    edge, (block, lane) = False, _box_of(index, leaf)
    boxes, floats = index.tree.boxes[block], index.tree.floats[block]
    for j in range(len(index.axes)):
        x, at = index.columns[leaf, j, gone], index.fields[j]
        if index.axes[j].kind == NAME or not floats[at, lane] < x < floats[at + 1, lane]:
            _enclose_column(index, leaf, j)
            edge = True
    if boxes[HEAD, lane] == index.rows[leaf, gone]:
        boxes[HEAD, lane], edge = _lowest(index, leaf), True
    return edge


@jit
def _first(index: PointIndex, row: int) -> int:
    """The first of the rows that were identical to one."""
    return row if index.positions[row] >= 0 else -1 - index.positions[row]


@jit
def _let_follow(index: PointIndex, leaf: int, place: int, row: int) -> bool:
    """Take one of identical points out; say whether others are left."""
    twins, one = index.twins, index.rows[leaf, place]
    if one == row:
        if twins[row] >= 0:
            index.rows[leaf, place] = twins[row]
            lift_heads(index.tree, leaf, _lowest(index, leaf))
        return twins[row] >= 0  # type: ignore[no-any-return]
    while twins[one] != row:
        one = twins[one]
    twins[one] = twins[row]
    return True


@jit
def leave_all(index: PointIndex, rows: Any) -> None:
    """Take points out.

    IN  rows int64[m]
    """
    for row in rows:
        leave(index, row)


@jit
def come_back(index: PointIndex, row: int) -> None:
    """Put a point in that was taken out: its boxes grow."""
    tree, room = index.tree, index.rows.shape[1]
    leaf, place = index.positions[row] // room, index.positions[row] % room
    _swap(index, leaf, place, tree.live[leaf])
    tree.live[leaf] += 1
    index.size[0] += 1
    _enclose_leaf(index, leaf)
    enclose_above(tree, leaf)


@jit
def come_back_all(index: PointIndex, rows: Any) -> None:
    """Put points in that were taken out.

    IN  rows int64[m]
    """
    for row in rows:
        come_back(index, row)


@jit
def _swap(index: PointIndex, leaf: int, one: int, other: int) -> None:
    """Let two points of a leaf change places."""
    columns, rows, room = index.columns[leaf], index.rows[leaf], index.rows.shape[1]
    for j in range(len(columns)):
        columns[j, one], columns[j, other] = columns[j, other], columns[j, one]
    rows[one], rows[other] = rows[other], rows[one]
    index.positions[_first(index, rows[one])] = leaf * room + one
    index.positions[_first(index, rows[other])] = leaf * room + other


@jit
def move(index: PointIndex, row: int, point: Any) -> None:
    """Let a free point be elsewhere from now on: its boxes follow.

    IN  point float64[d]
    """
    leaf, place = index.positions[row] // index.rows.shape[1], index.positions[row] % index.rows.shape[1]
    for j in range(len(point)):
        index.columns[leaf, j, place] = point[j]
    _enclose_leaf(index, leaf)
    enclose_above(index.tree, leaf)
