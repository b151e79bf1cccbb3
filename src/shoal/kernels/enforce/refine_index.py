"""Which rows are near to a row, by a tree of boxes: the time of a search hardly grows with the number of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import before
from shoal.kernels.enforce.refine_near import SQUARE, TREE, UNEQUAL, Nearness, distances, fill_costs
from shoal.kernels.index.boxes import GAPS, HEAD, push
from shoal.kernels.index.boxes import NOBODY as EMPTY
from shoal.kernels.index.points import PointIndex
from shoal.kernels.jit import jit

MOST_LEAVES = 64
"""After so many leaves a search ends. In few columns it has ended by then; in many, what it finds is near enough."""


class Neighbourhood(NamedTuple):
    """Points in a tree of boxes, how far apart they are, and room for one search."""

    points: PointIndex
    nearness: Nearness  #           IN
    point: Any  # float64[d]        INOUT  the one whose neighbours are searched
    costs: Any  # float64[nodes]    INOUT  what every node costs beside it
    distance: Any  # float64[m + 1] INOUT  the nearest so far, the point itself among them
    name: Any  # int64[m + 1]       INOUT


@jit
def _least_other(nearness: Nearness, j: int, c: float) -> float:
    """What a category other than one costs at least beside it."""
    column = nearness.column[j]
    if column.kind == UNEQUAL:
        return column.weight
    parent = nearness.nodes[column.first + np.int64(c)].parent
    return nearness.nodes[column.first + parent].share if parent < column.n_nodes - 1 else 1.0


@jit
def _set_bounds(around: Neighbourhood, block: int) -> None:
    """How far any point of each box of a block is at least; infinite where there is none."""
    index, nearness, point = around.points, around.nearness, around.point
    boxes, floats, out = index.tree.boxes[block], index.tree.floats[block], index.tree.bound
    heads, gaps = boxes[HEAD], boxes[GAPS]
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(point)):
        c, at, kind, w = point[j], index.fields[j], nearness.column[j].kind, nearness.column[j].weight
        if kind in (UNEQUAL, TREE):
            place, other = index.place_of[index.axes[j].first + np.int64(c)], _least_other(nearness, j, c)
            bit, words = np.int64(1) << (place if place >= 0 else -place - 1), boxes[at]
            for i in range(len(out)):
                out[i] += 0.0 if words[i] & bit else other
        elif not np.isnan(c):
            low, high = floats[at], floats[at + 1]
            for i in range(len(out)):
                one, two = low[i] - c, c - high[i]
                t = one if one > two else two
                t = t if t > 0.0 and not (gaps[i] >> j) & 1 else 0.0
                out[i] += t * t * w if kind == SQUARE else t * w
    for i in range(len(out)):
        out[i] = np.inf if heads[i] == EMPTY else out[i]


@jit
def _note_leaf(around: Neighbourhood, leaf: int, n_near: int) -> int:
    """Note those of the points of a leaf that are nearer than what was found; how many are found now."""
    index, distance, name = around.points, around.distance, around.name
    out, rows, room = index.distances, index.rows[leaf], len(distance)
    distances(around.nearness, index.columns[leaf], around.point, around.costs, out)
    for i in range(index.tree.live[leaf]):
        if n_near == room and not before(out[i], rows[i], distance[room - 1], name[room - 1]):
            continue
        at = n_near if n_near < room else room - 1
        n_near = at + 1
        while at > 0 and before(out[i], rows[i], distance[at - 1], name[at - 1]):
            distance[at], name[at] = distance[at - 1], name[at - 1]
            at -= 1
        distance[at], name[at] = out[i], rows[i]
    return n_near


@jit
def _search(around: Neighbourhood) -> int:
    """Find the points nearest to the one that is set, itself among them; how many they are."""
    tree, first_leaf, room = around.points.tree, around.points.tree.shape[0].first_leaf, len(around.distance)
    n_near, n_leaves, farthest = 0, 0, np.inf
    _set_bounds(around, 0)
    n = push(tree, 0, farthest, 0)
    while n > 0 and n_leaves < MOST_LEAVES:
        n -= 1
        box = tree.stack[n]
        if tree.bounds[n] >= farthest:
            continue
        if box < first_leaf:
            _set_bounds(around, box + 1)
            n = push(tree, box + 1, farthest, n)
            continue
        n_leaves += 1
        n_near = _note_leaf(around, box - first_leaf, n_near)
        if n_near == room:
            farthest = around.distance[room - 1]
    return n_near


@jit
def near_points(around: Neighbourhood, begin: int, end: int, near: Any) -> None:
    """The points near to each of those of some leaves, the nearest first.

    OUT  near int64[n, m]; from the beginning again where too few were found
    """
    index, m = around.points, near.shape[1]
    for leaf in range(begin, end):
        for i in range(index.tree.live[leaf]):
            for j in range(len(around.point)):
                around.point[j] = index.columns[leaf, j, i]
            fill_costs(around.nearness, around.point, around.costs)
            n_near, me, n = _search(around), index.rows[leaf, i], 0
            for other in around.name[:n_near]:
                if other != me and n < m:
                    near[me, n] = other
                    n += 1
            for at in range(n, m):
                near[me, at] = near[me, at - n] if n else me
