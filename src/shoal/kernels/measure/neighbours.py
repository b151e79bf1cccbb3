"""Nearest rows by a sum over columns, found in a tree of halves: exact, and without a table of all pairs.

Rows that are equal are one point with a count. A column is a line of numbers, whose differences count up to a cap, or
the nodes of a hierarchy in depth-first order, where the lowest common ancestor says how far two are apart. On either,
of a run of values the one nearest in the order is nearest, so the bounds of a half say how far it is at least.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

LEAF: int = 8
"""Points of a leaf, at most, unless they are alike."""


class Columns(NamedTuple):
    """How far two values of each column are apart."""

    cap: Any  # float64[d]        IN  the largest difference on a line; what is missing lies farther away
    first: Any  # int64[d]        IN  where the nodes of a column begin, -1 for a line
    parent: Any  # int64[nodes]   IN  counted within the column
    end: Any  # int64[nodes]      IN  the last node below each
    apart: Any  # float64[nodes]  IN  how far values are apart that meet here
    squared: bool  # IN  whether squares are summed


class Halves(NamedTuple):
    """Points in the order of a tree: the parts of a node are `part` and `part + 1`, where that is not 0."""

    order: Any  # int64[n]          OUT
    low: Any  # float64[nodes, d]   OUT
    high: Any  # float64[nodes, d]  OUT
    begin: Any  # int64[nodes]      OUT  the run of `order` that a node holds
    stop: Any  # int64[nodes]       OUT
    part: Any  # int64[nodes]       OUT
    leaf: Any  # int64[n]           OUT  the leaf of each place of `order`


class Near(NamedTuple):
    """The nearest points of each, itself among them, nearest first."""

    size: Any  # int64[n]            OUT  how many there are
    place: Any  # int32[n, wanted]   OUT
    apart: Any  # float64[n, wanted] OUT


@jit
def one_apart(columns: Columns, j: int, a: float, b: float) -> float:
    """How far two values of a column are apart; not squared."""
    if a == b:
        return 0.0
    if columns.first[j] < 0:
        return min(abs(a - b), columns.cap[j])
    low: Any = np.int64(min(a, b))
    high: Any = np.int64(max(a, b))
    first = columns.first[j]
    while columns.end[first + low] < high:
        low = columns.parent[first + low]
    return float(columns.apart[first + low])


@jit
def _added(columns: Columns, total: float, one: float) -> float:
    return total + (one * one if columns.squared else one)


@jit
def points_apart(columns: Columns, points: Any, left: int, right: int, most: float) -> float:
    """The distance of two points; no more is summed up once it is `most`."""
    total = 0.0
    for j in range(points.shape[1]):
        if points[left, j] != points[right, j]:
            total = _added(columns, total, one_apart(columns, j, points[left, j], points[right, j]))
            if total >= most:
                return total
    return total


@jit
def _least(columns: Columns, halves: Halves, node: int, points: Any, at: int, most: float) -> float:
    """How far a point is from everything that a node holds, at least; no more is summed up once it is `most`."""
    total = 0.0
    for j in range(points.shape[1]):
        value = points[at, j]
        nearest = min(max(value, halves.low[node, j]), halves.high[node, j])
        if nearest != value:
            total = _added(columns, total, one_apart(columns, j, value, nearest))
            if total >= most:
                return total
    return total


@jit
def _cut(columns: Columns, j: int, keys: Any) -> int:
    """Where to cut a sorted run of a column: in the middle of a line, of a tree where values are farthest apart."""
    middle, best, width = len(keys) // 2, 0, -1.0
    for i in range(1, len(keys)):
        if keys[i - 1] != keys[i]:
            apart = 0.0 if columns.first[j] < 0 else one_apart(columns, j, keys[i - 1], keys[i])
            if apart > width or (apart == width and abs(i - middle) < abs(best - middle)):
                best, width = i, apart
    return best


@jit
def _widest(columns: Columns, halves: Halves, node: int, by_column: Any) -> int:
    """Set the bounds of a node; the column to cut it in, -1 where all its points are alike."""
    begin, stop = halves.begin[node], halves.stop[node]
    widest, width = -1, 0.0
    for j in range(len(by_column)):
        low = high = by_column[j, halves.order[begin]]
        for i in range(begin + 1, stop):
            value = by_column[j, halves.order[i]]
            low, high = min(low, value), max(high, value)
        halves.low[node, j], halves.high[node, j] = low, high
        # a cut through a tree parts values by all of that, one through a line by next to nothing
        apart = one_apart(columns, j, low, high) * (0.5 if columns.first[j] < 0 else 1.0)
        if apart > width:
            widest, width = j, apart
    return widest


@jit
def halve(columns: Columns, by_column: Any, halves: Halves) -> int:
    """Cut points in two over and over, each time in the column in which they differ most; how many nodes there are.

    IN   by_column float64[d, n]
    OUT  halves, whose `order` holds all places in any order
    """
    halves.begin[0], halves.stop[0] = 0, by_column.shape[1]
    n_nodes, node = 1, 0
    while node < n_nodes:
        begin, stop = halves.begin[node], halves.stop[node]
        j = _widest(columns, halves, node, by_column)
        halves.part[node] = 0
        if stop - begin <= LEAF or j < 0:
            halves.leaf[begin:stop] = node
        else:
            run = halves.order[begin:stop]
            run[:] = run[np.argsort(by_column[j][run], kind="mergesort")]
            middle = begin + _cut(columns, j, by_column[j][run])
            halves.part[node] = n_nodes
            halves.begin[n_nodes], halves.stop[n_nodes] = begin, middle
            halves.begin[n_nodes + 1], halves.stop[n_nodes + 1] = middle, stop
            n_nodes += 2
        node += 1
    return n_nodes


@jit
def _keep(near: Near, counts: Any, at: int, other: int, apart: float, held: int) -> int:
    """Put a point among the nearest, nearest first, and drop what is not needed any more; how many rows are held."""
    wanted = near.place.shape[1]
    size = near.size[at]
    if size == wanted:  # every point has a row at least, so the last one is not needed
        size -= 1
        held -= counts[near.place[at, size]]
    i = size
    while i > 0 and near.apart[at, i - 1] > apart:
        near.place[at, i], near.apart[at, i] = near.place[at, i - 1], near.apart[at, i - 1]
        i -= 1
    near.place[at, i], near.apart[at, i] = other, apart
    size, held = size + 1, held + counts[other]
    while held - counts[near.place[at, size - 1]] >= wanted:
        size -= 1
        held -= counts[near.place[at, size]]
    near.size[at] = size
    return held


@jit
def find_near(
    columns: Columns, halves: Halves, points: Any, counts: Any, begin: int, stop: int, near: Near
) -> None:  # fmt: skip
    """The nearest points of some others, until they have as many rows as `near` is wide, itself among them.

    Points beyond the last one that is kept are at least as far away as that one; where all are kept, there is none.

    IN   points float64[n, d], counts int64[n]: in the order of the tree
    OUT  near, from `begin` to `stop`
    """
    stack, least = np.empty(len(halves.begin), dtype=np.int64), np.empty(len(halves.begin))
    for at in range(begin, stop):
        leaf = halves.leaf[at]
        near.size[at] = 0
        held = _look(columns, halves, leaf, points, counts, at, near, 0)  # a near bound to begin with
        stack[0], least[0], depth = 0, 0.0, 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            most = _most(near, at, held)
            if node == leaf or least[depth] >= most:
                continue
            part = halves.part[node]
            if part == 0:
                held = _look(columns, halves, node, points, counts, at, near, held)
                continue
            left = _least(columns, halves, part, points, at, most)
            right = _least(columns, halves, part + 1, points, at, most)
            first = 1 if left <= right else 0  # the nearer one is looked at first, so it waits last
            stack[depth + first], least[depth + first] = part, left
            stack[depth + 1 - first], least[depth + 1 - first] = part + 1, right
            depth += 2


@jit
def _most(near: Near, at: int, held: int) -> float:
    """How near a point must be to be kept."""
    return float(near.apart[at, near.size[at] - 1]) if held >= near.place.shape[1] else np.inf


@jit
def _look(
    columns: Columns, halves: Halves, node: int, points: Any, counts: Any, at: int, near: Near, held: int
) -> int:  # fmt: skip
    """Keep the points of a leaf that are among the nearest so far; how many rows are held."""
    for other in range(halves.begin[node], halves.stop[node]):
        most = _most(near, at, held)
        apart = points_apart(columns, points, at, other, most)
        if apart < most:
            held = _keep(near, counts, at, other, apart, held)
    return held
