"""Lower bounds of a loss, from the nearest rows of each row; equal rows are one point with a count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit
from shoal.kernels.measure.neighbours import Columns, Near, one_apart


class Graph(NamedTuple):
    """Pairs of points that are near each other, both ways; those of point i from `first[i]` to `first[i + 1]`."""

    first: Any  # int64[n + 1]    IN
    other: Any  # int32[pairs]    IN
    apart: Any  # float64[pairs]  IN
    counts: Any  # int64[n]       IN  rows of each point


@jit
def add_nearest(near: Near, counts: Any, k: int, sums: Any) -> None:
    """Of one row of each point asked for, the sum of the distances of the k - 1 other rows nearest to it.

    IN   counts int64[n]
    OUT  sums float64[m]
    """
    for line in range(len(sums)):
        left, total = k - 1, 0.0
        for i in range(near.size[line]):
            other = near.place[line, i]
            rows = min(left, counts[other] - (1 if other == near.point[line] else 0))
            total += rows * near.apart[line, i]
            left -= rows
        sums[line] = total


@jit
def _settle(costs: Any, heap: Any, at: int, n: int) -> None:
    """Let an entry of a heap sink until those below cost no less; of equal costs, the lower number comes first."""
    moved = heap[at]
    while 2 * at + 1 < n:
        below = 2 * at + 1
        if below + 1 < n and _before(costs, heap[below + 1], heap[below]):
            below += 1
        if not _before(costs, heap[below], moved):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = moved


@jit
def _before(costs: Any, one: int, other: int) -> bool:
    return bool(costs[one] < costs[other] or (costs[one] == costs[other] and one < other))


@jit
def _heaped(costs: Any, heap: Any) -> None:
    """All numbers in a heap, the cheapest on top.

    OUT  heap int64[n]
    """
    for i in range(len(costs)):
        heap[i] = i
    for i in range(len(costs) // 2 - 1, -1, -1):
        _settle(costs, heap, i, len(costs))


@jit
def _popped(costs: Any, heap: Any, n: int) -> int:
    """Take the cheapest of n numbers out of a heap."""
    first = heap[0]
    heap[0] = heap[n - 1]
    _settle(costs, heap, 0, n - 1)
    return int(first)


@jit
def balance(graph: Graph, potential: Any, outside: Any, k: int, least: Any, used: Any) -> None:
    """What a row of each point costs at least, where a pair costs its distance plus the difference of two potentials.

    In a class the potentials cancel, so the costs of its rows still sum up to the distances of all its pairs. For a
    class of m rows that is the sum of the m - 1 least costs, over m; the least of that over all m from k on is taken.

    IN   potential float64[n];  outside float64[n]: distance and potential of a point that is no neighbour, at least
    OUT  least float64[n];  used float64[n]: how many rows want a row of each point
    """
    used[:] = 0.0
    for at in range(len(least)):
        begin, end = graph.first[at], graph.first[at + 1]
        costs = np.empty(end - begin + 1)
        costs[0] = 0.0  # rows equal to this one
        for i in range(begin, end):
            costs[i - begin + 1] = graph.apart[i] + potential[graph.other[i]] - potential[at]
        beyond = outside[at] - potential[at]
        total, rows, heap = 0.0, 1, np.empty(len(costs), dtype=np.int64)
        _heaped(costs, heap)
        for left in range(len(costs), 0, -1):
            i = _popped(costs, heap, left)
            cost = costs[i]
            if cost > beyond:
                break
            other = at if i == 0 else graph.other[begin + i - 1]
            n = graph.counts[other] - (1 if i == 0 else 0)
            wanted = min(n, max(k - rows, 0))
            used[other] += wanted * graph.counts[at]
            total, rows = total + wanted * cost, rows + wanted
            if rows >= k:
                if cost >= total / rows:  # more rows would not lower the mean
                    break
                total, rows = total + (n - wanted) * cost, rows + n - wanted
        if rows < k:
            total, rows = total + (k - rows) * beyond, k
        least[at] = min(total / rows, beyond)


@jit
def reach(near: Near, counts: Any, k: int, least: Any) -> None:
    """The distance within which a row of each point asked for has k rows, itself among them.

    IN   counts int64[n]
    OUT  least float64[m]
    """
    for line in range(len(least)):
        rows, i = 0, 0
        while i < near.size[line] and rows < k:
            rows += counts[near.place[line, i]]
            i += 1
        least[line] = near.apart[line, i - 1] if rows >= k else 0.0


class Cover(NamedTuple):
    """Points as cells cover them, and their nearest."""

    columns: Columns
    points: Any  # float64[n, d]  IN
    counts: Any  # int64[n]       IN
    near: Near
    beyond: Any  # float64[m]     IN  how far a point is that is not among the nearest, at least
    k: int


@jit
def _pairs(cover: Cover, line: int, apart: Any) -> None:
    """Of the points nearest to one, how far every two are apart in each column.

    OUT  apart float64[size, size, d]
    """
    near, size = cover.near, cover.near.size[line]
    for i in range(size):
        left = near.place[line, i]
        for j in range(i + 1):
            right = near.place[line, j]
            for c in range(apart.shape[2]):
                one = one_apart(cover.columns, c, cover.points[left, c], cover.points[right, c])
                apart[i, j, c] = apart[j, i, c] = one


@jit
def _three(apart: Any, a: int, b: int, c: int) -> float:
    """What cells lose that cover three points."""
    total = 0.0
    for j in range(apart.shape[2]):
        total += max(apart[a, b, j], apart[a, c, j], apart[b, c, j])
    return total


@jit
def _reached(costs: Any, rows: Any, wanted: int, most: float, heap: Any) -> float:
    """The cost within which there are as many rows as wanted; `most`, where that is less."""
    held = 0
    _heaped(costs, heap)
    for left in range(len(costs), 0, -1):
        i = _popped(costs, heap, left)
        if held >= wanted or costs[i] >= most:
            break
        held += rows[i]
        if held >= wanted:
            return float(costs[i])
    return most if wanted > 0 else 0.0


@jit
def raise_least(cover: Cover, least: Any, begin: int, end: int, raised: Any) -> None:
    """Raise what rows cost at least by what cells lose that cover three rows, and by what these rows cost.

    A class of row i that holds row j, too, has k - 2 rows l more. It costs at least what covers all three, and what
    any of them costs at least; so at least g(i, j), the (k - 2)-th least of that over l. It has k - 1 such rows j, so
    it costs at least the (k - 1)-th least g(i, j).

    IN   least float64[n], of every point, 0 where it is not known
    OUT  raised float64[m], of the points asked for, from `begin` to `end`
    """
    near, k, width = cover.near, cover.k, cover.near.place.shape[1]
    apart = np.empty((width, width, cover.points.shape[1]))
    for line in range(begin, end):
        size, at = near.size[line], near.point[line]
        raised[line] = least[at]
        if cover.counts[at] >= k:
            continue
        _pairs(cover, line, apart)
        own, rows, heap = 0, np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        for i in range(size):
            rows[i] = cover.counts[near.place[line, i]]
            if near.place[line, i] == at:
                own = i
        rows[own] -= 1
        costs, pairs, beyond = np.empty(size), np.empty(size), cover.beyond[line]
        for j in range(size):
            other = near.place[line, j]
            if rows[j] == 0:
                pairs[j] = 0.0  # the row itself, which has no equal
                continue
            rows[j] -= 1
            for i in range(size):
                costs[i] = max(_three(apart, own, j, i), least[near.place[line, i]])
            pairs[j] = max(_reached(costs, rows, k - 2, beyond, heap), near.apart[line, j], least[other])
            rows[j] += 1
        raised[line] = max(least[at], _reached(pairs, rows, k - 1, beyond, heap))
