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
SEEN: int = 63
"""Points whose median stands for that of a node."""


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

    order: Any  # int64[n]          INOUT  which point is at each place
    points: Any  # float64[n, d]    INOUT
    low: Any  # float64[nodes, d]   OUT
    high: Any  # float64[nodes, d]  OUT
    begin: Any  # int64[nodes]      OUT  the run of `order` that a node holds
    stop: Any  # int64[nodes]       OUT
    part: Any  # int64[nodes]       OUT
    leaf: Any  # int64[n]           OUT  the leaf of each place of `order`


class Near(NamedTuple):
    """The nearest points of some, each itself among them, nearest first."""

    point: Any  # int64[m]            IN   the point that each line is of
    size: Any  # int64[m]             OUT  how many there are
    place: Any  # int32[m, wanted]    OUT
    apart: Any  # float64[m, wanted]  OUT


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
def _least(columns: Columns, halves: Halves, node: int, at: int, most: float) -> float:
    """How far a point is from everything that a node holds, at least; no more is summed up once it is `most`."""
    total = 0.0
    for j in range(halves.points.shape[1]):
        value = halves.points[at, j]
        nearest = min(max(value, halves.low[node, j]), halves.high[node, j])
        if nearest != value:
            total = _added(columns, total, one_apart(columns, j, value, nearest))
            if total >= most:
                return total
    return total


@jit
def _middle(points: Any, begin: int, stop: int, j: int, some: Any) -> float:
    """About the median of a run of points in a column: that of points spread evenly over it."""
    n = min(len(some), stop - begin)
    for i in range(n):
        value, at = points[begin + (stop - begin) * i // n, j], i
        while at > 0 and some[at - 1] > value:
            some[at] = some[at - 1]
            at -= 1
        some[at] = value
    return float(some[n // 2])


@jit
def _branch(columns: Columns, j: int, low: float, high: float, value: float) -> Any:
    """The first and the last value that stay together with one: itself on a line, else all below the same child.

    Children are those of the node in which the lowest and the highest value meet: there they are farthest apart.
    """
    first = columns.first[j]
    if first < 0:
        return value, value
    top: Any = np.int64(low)
    while columns.end[first + top] < np.int64(high):
        top = columns.parent[first + top]
    child: Any = np.int64(value)
    if child == top:
        return value, value
    while columns.parent[first + child] != top:
        child = columns.parent[first + child]
    return float(child), float(columns.end[first + child])


@jit
def _cut(columns: Columns, j: int, halves: Halves, node: int, some: Any) -> float:
    """The value at which to cut a node in a column: what is less goes to one half, what is not to the other.

    That is in the middle of a line, or of what is farthest apart in a tree; both halves have points.
    """
    begin, stop, points = halves.begin[node], halves.stop[node], halves.points
    low, high = halves.low[node, j], halves.high[node, j]
    from_, to = _branch(columns, j, low, high, _middle(points, begin, stop, j, some))
    n_less, n_upto, after = 0, 0, np.inf
    for i in range(begin, stop):
        value = points[i, j]
        n_less += value < from_
        n_upto += value <= to
        if value > to:
            after = min(after, value)
    half = (stop - begin) // 2
    use_after = n_upto < stop - begin and (n_less == 0 or abs(n_upto - half) < abs(n_less - half))
    return float(after if use_after else from_)


@jit
def _parted(halves: Halves, begin: int, stop: int, j: int, cut: float) -> int:
    """Put points that are less than a cut before all others; where the others begin."""
    points, order = halves.points, halves.order
    left, right = begin, stop - 1
    while True:
        while left <= right and points[left, j] < cut:
            left += 1
        while left <= right and points[right, j] >= cut:
            right -= 1
        if left > right:
            return left
        order[left], order[right] = order[right], order[left]
        for c in range(points.shape[1]):
            points[left, c], points[right, c] = points[right, c], points[left, c]


@jit
def _widest(columns: Columns, halves: Halves, node: int) -> int:
    """Set the bounds of a node; the column to cut it in, -1 where all its points are alike."""
    begin, stop, points = halves.begin[node], halves.stop[node], halves.points
    low, high = halves.low[node], halves.high[node]
    low[:] = points[begin]
    high[:] = points[begin]
    for i in range(begin + 1, stop):
        for j in range(points.shape[1]):
            low[j], high[j] = min(low[j], points[i, j]), max(high[j], points[i, j])
    widest, width = -1, 0.0
    for j in range(points.shape[1]):
        # a cut through a tree parts values by all of that, one through a line by next to nothing
        apart = one_apart(columns, j, low[j], high[j]) * (0.5 if columns.first[j] < 0 else 1.0)
        if apart > width:
            widest, width = j, apart
    return widest


@jit
def halve(columns: Columns, halves: Halves) -> int:
    """Cut points in two over and over, each time in the column in which they differ most; how many nodes there are.

    INOUT  halves, whose `points` are in any order, and `order` says which they are
    """
    halves.begin[0], halves.stop[0] = 0, len(halves.points)
    n_nodes, node, some = 1, 0, np.empty(SEEN)
    while node < n_nodes:
        begin, stop = halves.begin[node], halves.stop[node]
        j = _widest(columns, halves, node)
        halves.part[node] = 0
        if stop - begin <= LEAF or j < 0:
            halves.leaf[begin:stop] = node
        else:
            middle = _parted(halves, begin, stop, j, _cut(columns, j, halves, node, some))
            halves.part[node] = n_nodes
            halves.begin[n_nodes], halves.stop[n_nodes] = begin, middle
            halves.begin[n_nodes + 1], halves.stop[n_nodes + 1] = middle, stop
            n_nodes += 2
        node += 1
    return n_nodes


@jit
def spreads(columns: Columns, halves: Halves, least: int, found: Any) -> None:
    """How far apart the points around each may be: in the smallest node that holds it and so many points.

    OUT  found float64[n]
    """
    of_node = np.zeros(len(halves.begin))
    for node in range(len(of_node)):  # a node comes before its parts
        if node == 0 or halves.stop[node] - halves.begin[node] >= least:
            total = 0.0
            for j in range(halves.points.shape[1]):
                total = _added(columns, total, one_apart(columns, j, halves.low[node, j], halves.high[node, j]))
            of_node[node] = total
        part = halves.part[node]
        if part > 0:
            of_node[part] = of_node[part + 1] = of_node[node]
    for at in range(len(found)):
        found[at] = of_node[halves.leaf[at]]


@jit
def _keep(near: Near, counts: Any, line: int, other: int, apart: float, held: int) -> int:
    """Put a point among the nearest, nearest first, and drop what is not needed any more; how many rows are held."""
    wanted = near.place.shape[1]
    size = near.size[line]
    if size == wanted:  # every point has a row at least, so the last one is not needed
        size -= 1
        held -= counts[near.place[line, size]]
    i = size
    while i > 0 and near.apart[line, i - 1] > apart:
        near.place[line, i], near.apart[line, i] = near.place[line, i - 1], near.apart[line, i - 1]
        i -= 1
    near.place[line, i], near.apart[line, i] = other, apart
    size, held = size + 1, held + counts[other]
    while held - counts[near.place[line, size - 1]] >= wanted:
        size -= 1
        held -= counts[near.place[line, size]]
    near.size[line] = size
    return held


@jit
def find_near(columns: Columns, halves: Halves, counts: Any, begin: int, stop: int, near: Near) -> None:
    """The nearest points of some, until they have as many rows as `near` is wide, each itself among them.

    Points beyond the last one that is kept are at least as far away as that one; where all are kept, there is none.

    IN   counts int64[n], in the order of the tree
    OUT  near, lines from `begin` to `stop`
    """
    stack, least = np.empty(len(halves.begin), dtype=np.int64), np.empty(len(halves.begin))
    for line in range(begin, stop):
        at = near.point[line]
        leaf = halves.leaf[at]
        near.size[line] = 0
        held = _look(columns, halves, leaf, counts, near, line, 0)  # a near bound to begin with
        stack[0], least[0], depth = 0, 0.0, 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            most = _most(near, line, held)
            if node == leaf or least[depth] >= most:
                continue
            part = halves.part[node]
            if part == 0:
                held = _look(columns, halves, node, counts, near, line, held)
                continue
            left = _least(columns, halves, part, at, most)
            right = _least(columns, halves, part + 1, at, most)
            first = 1 if left <= right else 0  # the nearer one is looked at first, so it waits last
            stack[depth + first], least[depth + first] = part, left
            stack[depth + 1 - first], least[depth + 1 - first] = part + 1, right
            depth += 2


@jit
def _most(near: Near, line: int, held: int) -> float:
    """How near a point must be to be kept."""
    return float(near.apart[line, near.size[line] - 1]) if held >= near.place.shape[1] else np.inf


@jit
def _look(columns: Columns, halves: Halves, node: int, counts: Any, near: Near, line: int, held: int) -> int:
    """Keep the points of a leaf that are among the nearest so far; how many rows are held."""
    for other in range(halves.begin[node], halves.stop[node]):
        most = _most(near, line, held)
        apart = points_apart(columns, halves.points, near.point[line], other, most)
        if apart < most:
            held = _keep(near, counts, line, other, apart, held)
    return held
