"""Points that reach so far: which of them reach a given one, without looking at all of them.

Every box knows how far the farthest-reaching of its free points does. A box that is farther away than that from a given
point holds nobody who reaches it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import NAME, before, between
from shoal.kernels.index.boxes import BLOCK, GAPS, HEAD, NOBODY, note_search
from shoal.kernels.index.points import BLOCK_WORK, LEAF_WORK, PointIndex
from shoal.kernels.jit import jit

NOWHERE = -1.0
"""The radius of a point that reaches nobody."""


class Reaches(NamedTuple):
    """How far points reach: up to a squared distance, the radius, and of those as far away up to a row, the last."""

    of_row: Any  # radius float64, last int64 [n]   INOUT  by row
    of_box: Any  # float64[blocks, BLOCK]           INOUT  the largest radius of the free points of each box


@jit
def set_all(index: PointIndex, reaches: Reaches) -> None:
    """Note for all boxes how far their points reach."""
    of_box = reaches.of_box
    of_box[:] = NOWHERE
    for leaf in range(len(index.tree.live)):
        box = index.tree.shape[0].first_leaf + leaf
        of_box[box // BLOCK, box % BLOCK] = _of_leaf(index, reaches, leaf)
    for box in range(len(of_box) - 2, -1, -1):
        of_box[box // BLOCK, box % BLOCK] = _largest(of_box[box + 1])


@jit
def follow(index: PointIndex, reaches: Reaches, row: int) -> None:
    """Follow a point whose reach changed, or that has just left."""
    leaf, of_box = index.positions[row] // index.rows.shape[1], reaches.of_box
    box, largest = index.tree.shape[0].first_leaf + leaf, _of_leaf(index, reaches, leaf)
    while of_box[box // BLOCK, box % BLOCK] != largest:
        of_box[box // BLOCK, box % BLOCK] = largest
        if box < BLOCK:
            break
        largest = _largest(of_box[box // BLOCK])
        box = box // BLOCK - 1


@jit
def _of_leaf(index: PointIndex, reaches: Reaches, leaf: int) -> float:
    """How far the free points of a leaf reach."""
    largest, rows = NOWHERE, index.rows[leaf]
    for i in range(index.tree.live[leaf]):
        radius = reaches.of_row[rows[i]].radius
        largest = radius if radius > largest else largest
    return largest


@jit
def _largest(radii: Any) -> float:
    largest = NOWHERE
    for i in range(BLOCK):
        largest = radii[i] if radii[i] > largest else largest
    return largest


# -- who reaches one of several points --------------------------------------------------------------------------------


class Targets(NamedTuple):
    """Some points near each other, and a box around them."""

    points: Any  # float64[m, d]  INOUT
    rows: Any  # int64[m]         INOUT
    low: Any  # float64[d]        INOUT  of numbers; infinite if all are missing
    high: Any  # float64[d]       INOUT
    words: Any  # int64[d]        INOUT  of categories: which places occur; of numbers: whether some are missing


@jit
def enclose_targets(index: PointIndex, targets: Targets, n: int) -> None:
    """Put a box around the first n targets."""
    axes, points = index.axes, targets.points
    for j in range(len(axes)):
        low, high, word = np.inf, -np.inf, 0
        for i in range(n):
            x = points[i, j]
            if axes[j].kind == NAME:
                word |= _bit(index, j, x)
            elif np.isnan(x):
                word = 1
            else:
                low, high = x if x < low else low, x if x > high else high
        targets.low[j], targets.high[j], targets.words[j] = low, high, word


@jit
def _bit(index: PointIndex, j: int, x: float) -> int:
    place = index.place_of[index.axes[j].first + np.int64(x)]
    return np.int64(1) << (place if place >= 0 else -place - 1)


@jit
def _apart(low: float, high: float, holes: bool, targets: Targets, j: int, axis: Any) -> float:
    """How far the numbers of a column, from low to high and perhaps missing, are at least from the targets', squared.

    IN  axis AXIS
    """
    begin, end, gone, found = targets.low[j], targets.high[j], targets.words[j] == 1, np.inf
    if low <= high and begin <= end:
        t = low - end if low - end > begin - high else begin - high
        found = t * t * axis.weight if t > 0.0 else 0.0
    if (holes and begin <= end) or (gone and low <= high):
        found = axis.gap if axis.gap < found else found
    return 0.0 if holes and gone else found


@jit
def _set_bounds(index: PointIndex, targets: Targets, block: int) -> None:
    """How far the points of each box of a block are at least from all targets; infinite where there is none."""
    boxes, floats, out, axes = index.tree.boxes[block], index.tree.floats[block], index.tree.bound, index.axes
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(axes)):
        at, word, begin, end, weight = (
            index.fields[j],
            targets.words[j],
            targets.low[j],
            targets.high[j],
            axes[j].weight,
        )
        if axes[j].kind == NAME:
            words = boxes[at]
            for i in range(len(out)):
                out[i] += 0.0 if words[i] & word else 1.0
        elif axes[j].holes:
            for i in range(len(out)):
                gaps = (boxes[GAPS, i] >> j) & 1 == 1
                out[i] += _apart(floats[at, i], floats[at + 1, i], gaps, targets, j, axes[j])
        else:
            low, high = floats[at], floats[at + 1]
            for i in range(len(out)):
                one, other = low[i] - end, begin - high[i]
                t = one if one > other else other
                t = t if t > 0.0 else 0.0
                out[i] += t * t * weight
    for i in range(len(out)):
        out[i] = np.inf if boxes[HEAD, i] == NOBODY else out[i]


@jit
def _measure(index: PointIndex, targets: Targets, leaf: int) -> None:
    """How far each point of a leaf is at least from all targets."""
    columns, out, axes = index.columns[leaf], index.distances, index.axes
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(axes)):
        column, word = columns[j], targets.words[j]
        begin, end, weight = targets.low[j], targets.high[j], axes[j].weight
        if axes[j].kind == NAME:
            for i in range(len(out)):
                out[i] += 0.0 if _bit(index, j, column[i]) & word else 1.0
        elif axes[j].holes:
            for i in range(len(out)):
                x = column[i]
                gap = np.isnan(x)
                low, high = (np.inf, -np.inf) if gap else (x, x)
                out[i] += _apart(low, high, gap, targets, j, axes[j])
        else:
            for i in range(len(out)):
                one, other = column[i] - end, begin - column[i]
                t = one if one > other else other
                t = t if t > 0.0 else 0.0
                out[i] += t * t * weight


@jit
def who_reach(index: PointIndex, reaches: Reaches, targets: Targets, n_targets: int, found: Any) -> int:
    """Find the rows of the free points that reach one of the first targets, around which the box is; how many.

    OUT  found int64[n]
    """
    tree, first_leaf, out, stack = index.tree, index.tree.shape[0].first_leaf, index.distances, index.tree.stack
    n, work, height = 0, 0, 1
    stack[0] = -1  # the root
    while height > 0:
        height -= 1
        box = stack[height]
        if box < first_leaf:
            work += BLOCK_WORK
            radii = reaches.of_box[box + 1]
            _set_bounds(index, targets, box + 1)
            for i in range(BLOCK):
                if tree.bound[i] <= radii[i]:
                    stack[height] = (box + 1) * BLOCK + i
                    height += 1
            continue
        work += LEAF_WORK
        leaf = box - first_leaf
        _measure(index, targets, leaf)
        for i in range(tree.live[leaf]):
            row = index.rows[leaf, i]
            if out[i] <= reaches.of_row[row].radius and _reaches(
                index, reaches.of_row[row], leaf, i, targets, n_targets
            ):
                found[n] = row
                n += 1
    note_search(tree, work, index.size[0])
    return n


@jit
def _reaches(index: PointIndex, mine: Any, leaf: int, place: int, targets: Targets, n_targets: int) -> bool:
    """Whether a point of a leaf reaches a target."""
    for i in range(n_targets):
        d = between(index.axes, index.columns[leaf], place, targets.points[i])
        if not before(mine.radius, mine.last, d, targets.rows[i]):
            return True
    return False
