"""The published values nearest to what is known of a person, by Gower's distance.

Numbers lie in [0, 1] and differ by at most 1; categories are numbers of which only "the same or not" counts. A missing
number lies far from all others, and the difference counts as 1. What is known may be a stretch of numbers: then the
nearest of them counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.attack.halves import next_node
from shoal.kernels.jit import jit


class Points(NamedTuple):
    """Published values, halved over and over; a leaf holds the points from one edge to the next."""

    low: Any  # float64[nodes, d]    IN  bounds
    high: Any  # float64[nodes, d]   IN
    edges: Any  # int64[leaves + 1]  IN
    points: Any  # float64[n, d]     IN
    number: Any  # bool[d]           IN  whether a column has numbers


@jit
def _gap(low: float, high: float, known_low: float, known_high: float, number: bool) -> float:
    """How far what is known of one column is from a stretch of values, at least."""
    gap = 0.0
    if known_high < low:
        gap = low - known_high
    elif known_low > high:
        gap = known_low - high
    if gap > 0.0 and (not number or gap > 1.0):
        return 1.0
    return gap


@jit
def _least(low: Any, high: Any, at: int, known_low: Any, known_high: Any, query: int, number: Any) -> float:
    """How far a query is from bounds, or from a point, at least; summed column by column."""
    total = 0.0
    for j in range(len(number)):
        total += _gap(low[at, j], high[at, j], known_low[query, j], known_high[query, j], number[j])
    return total


@jit
def _nearest(shown: Points, known_low: Any, known_high: Any, query: int) -> float:
    """The distance of the nearest point, once down to a near one for a first bound, then wherever one may be nearer."""
    n_inner = len(shown.edges) - 2
    at = 0
    while at < n_inner:
        left = _least(shown.low, shown.high, 2 * at + 1, known_low, known_high, query, shown.number)
        right = _least(shown.low, shown.high, 2 * at + 2, known_low, known_high, query, shown.number)
        at = 2 * at + 1 if left <= right else 2 * at + 2
    best = len(shown.number) + 1.0
    for point in range(shown.edges[at - n_inner], shown.edges[at - n_inner + 1]):
        best = min(best, _least(shown.points, shown.points, point, known_low, known_high, query, shown.number))
    at = 0
    while at >= 0:
        inside = _least(shown.low, shown.high, at, known_low, known_high, query, shown.number) < best
        if inside and at >= n_inner:
            for point in range(shown.edges[at - n_inner], shown.edges[at - n_inner + 1]):
                best = min(best, _least(shown.points, shown.points, point, known_low, known_high, query, shown.number))
        at = next_node(at, n_inner, inside)
    return best


@jit
def nearest_distances(shown: Points, known_low: Any, known_high: Any, distances: Any) -> None:
    """The distance of the nearest point to each query.

    IN   known_low, known_high  float64[queries, d]
    OUT  distances  float64[queries]
    """
    for query in range(len(distances)):
        distances[query] = _nearest(shown, known_low, known_high, query)


@jit
def count_within(shown: Points, known_low: Any, known_high: Any, within: Any, counts: Any) -> None:
    """How many points are at most so far from each query.

    IN   known_low, known_high  float64[queries, d];  within  float64[queries]
    OUT  counts  int64[queries]
    """
    n_inner = len(shown.edges) - 2
    for query in range(len(counts)):
        at, n_found = 0, 0
        while at >= 0:
            inside = _least(shown.low, shown.high, at, known_low, known_high, query, shown.number) <= within[query]
            if inside and at >= n_inner:
                for point in range(shown.edges[at - n_inner], shown.edges[at - n_inner + 1]):
                    far = _least(shown.points, shown.points, point, known_low, known_high, query, shown.number)
                    if far <= within[query]:
                        n_found += 1
            at = next_node(at, n_inner, inside)
        counts[query] = n_found


@jit
def find_within(shown: Points, known_low: Any, known_high: Any, within: Any, starts: Any, found: Any) -> None:
    """Which points are at most so far from each query, in the order of the tree.

    IN   known_low, known_high  float64[queries, d];  within  float64[queries];  starts  int64[queries]
    OUT  found  int64[...]
    """
    n_inner = len(shown.edges) - 2
    for query in range(len(starts)):
        at, place = 0, starts[query]
        while at >= 0:
            inside = _least(shown.low, shown.high, at, known_low, known_high, query, shown.number) <= within[query]
            if inside and at >= n_inner:
                for point in range(shown.edges[at - n_inner], shown.edges[at - n_inner + 1]):
                    far = _least(shown.points, shown.points, point, known_low, known_high, query, shown.number)
                    if far <= within[query]:
                        found[place] = point
                        place += 1
            at = next_node(at, n_inner, inside)
