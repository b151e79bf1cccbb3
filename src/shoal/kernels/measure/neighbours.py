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
"""Points of a leaf, at most."""
MOST_WAITING: int = 128
"""Nodes that wait to be looked at: one for each level of the tree, and some."""


class Columns(NamedTuple):
    """How far two values of each column are apart."""

    cap: Any  # float64[d]        IN  the largest difference on a line; what is missing lies farther away
    first: Any  # int64[d]        IN  where the nodes of a column begin, -1 for a line
    parent: Any  # int64[nodes]   IN  counted within the column
    end: Any  # int64[nodes]      IN  the last node below each
    apart: Any  # float64[nodes]  IN  how far values are apart that meet here
    squared: bool  # IN  whether squares are summed


class Halves(NamedTuple):
    """Points in the order of a whole tree: the halves of node i are 2 i + 1 and 2 i + 2."""

    order: Any  # int64[n]          OUT
    low: Any  # float64[nodes, d]   OUT
    high: Any  # float64[nodes, d]  OUT
    begin: Any  # int64[nodes]      OUT  the run of `order` that a node holds
    stop: Any  # int64[nodes]       OUT


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
def _select(keys: Any, order: Any, begin: int, stop: int, middle: int) -> None:
    """Put the smallest keys of a run before its middle."""
    stop -= 1
    while begin < stop:
        pivot = keys[order[(begin + stop) // 2]]
        i, j = begin, stop
        while i <= j:
            while keys[order[i]] < pivot:
                i += 1
            while keys[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            stop = j
        elif middle >= i:
            begin = i
        else:
            return


@jit
def halve(columns: Columns, points: Any, by_column: Any, halves: Halves) -> None:
    """Halve points over and over, each time in the column in which they differ most.

    IN   points float64[n, d];  by_column float64[d, n]: the same
    OUT  halves, whose `order` holds all places in any order
    """
    n_nodes, d = len(halves.begin), points.shape[1]
    n_inner = n_nodes // 2
    halves.begin[0], halves.stop[0] = 0, len(points)
    for node in range(n_nodes):
        begin, stop = halves.begin[node], halves.stop[node]
        widest, width = 0, -1.0
        for j in range(d):
            low = high = by_column[j, halves.order[begin]]
            for i in range(begin + 1, stop):
                value = by_column[j, halves.order[i]]
                low, high = min(low, value), max(high, value)
            halves.low[node, j], halves.high[node, j] = low, high
            if one_apart(columns, j, low, high) > width:
                widest, width = j, one_apart(columns, j, low, high)
        if node < n_inner:
            middle = (begin + stop) // 2
            _select(by_column[widest], halves.order, begin, stop, middle)
            halves.begin[2 * node + 1], halves.stop[2 * node + 1] = begin, middle
            halves.begin[2 * node + 2], halves.stop[2 * node + 2] = middle, stop


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
    n_inner = len(halves.begin) // 2
    stack, least = np.empty(MOST_WAITING, dtype=np.int64), np.empty(MOST_WAITING)
    leaf = n_inner
    for at in range(begin, stop):
        while halves.stop[leaf] <= at:
            leaf += 1
        near.size[at] = 0
        held = _look(columns, halves, leaf, points, counts, at, near, 0)  # a near bound to begin with
        stack[0], least[0], depth = 0, 0.0, 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            most = _most(near, at, held)
            if node == leaf or least[depth] >= most:
                continue
            if node >= n_inner:
                held = _look(columns, halves, node, points, counts, at, near, held)
                continue
            left = _least(columns, halves, 2 * node + 1, points, at, most)
            right = _least(columns, halves, 2 * node + 2, points, at, most)
            first = 1 if left <= right else 0  # the nearer one is looked at first, so it waits last
            stack[depth + first], least[depth + first] = 2 * node + 1, left
            stack[depth + 1 - first], least[depth + 1 - first] = 2 * node + 2, right
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
