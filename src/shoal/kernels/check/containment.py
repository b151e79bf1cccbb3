"""Boxes that contain other boxes: a walk over a tree of prefixes.

A box is one stretch of whole numbers per column, or a list of them. Boxes with equal cells in the first columns share
the way to them, so that a cell which does not contain what is looked for rules out all of them at once. Nodes are
numbered so that the first child follows its parent, and `skip` leads past a node's whole subtree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

NODE = np.dtype(
    [("column", np.int32), ("low", np.int32), ("high", np.int32), ("listed", np.int32), ("box", np.int64),
     ("skip", np.int64)],
    align=True,
)  # fmt: skip
"""A node: the column that it looks at; a cell, or the bounds of several; the list of places that the cell is, or -1;
the box that a way ends in, or -1 before its end; the node after the subtree."""


FIRST: int = np.int64(0)  # type: ignore[assignment]
"""The first node."""


class PlaceLists(NamedTuple):
    """Places that cells list, and whether there is nothing between two places of a column."""

    discrete: Any  # bool[d]         IN
    first: Any  # int64[lists + 1]   IN  where each list begins
    places: Any  # int32[...]        IN  rising within a list


class Queries(NamedTuple):
    """Boxes that are looked for in others."""

    low: Any  # int32[queries, d]     IN
    high: Any  # int32[queries, d]    IN
    listed: Any  # int32[queries, d]  IN


@jit
def _list_contains(lists: PlaceLists, outer: int, queries: Queries, query: int, j: int) -> bool:
    """Whether a list holds all places of a query's cell, a list or a stretch."""
    at, end, places = lists.first[outer], lists.first[outer + 1], lists.places
    low, high, listed = queries.low[query, j], queries.high[query, j], queries.listed[query, j]
    if listed < 0:
        if low != high and not lists.discrete[j]:  # there are values between the places
            return False
        while at < end and places[at] < low:
            at += 1
        return end - at > high - low and places[at] == low and places[at + high - low] == high
    for wanted in range(lists.first[listed], lists.first[listed + 1]):
        while at < end and places[at] < places[wanted]:
            at += 1
        if at == end or places[at] != places[wanted]:
            return False
    return True


@jit
def _next_container(nodes: Any, lists: PlaceLists, queries: Queries, query: int, at: int) -> int:
    """The next node, from one on, where the way to a box that contains a query ends; -1 after the last."""
    while at < len(nodes):
        node = nodes[at]
        j = node.column
        inside = node.low <= queries.low[query, j] and node.high >= queries.high[query, j]
        if inside and node.listed >= 0 and node.listed != queries.listed[query, j]:
            inside = _list_contains(lists, node.listed, queries, query, j)
        if not inside:
            at = node.skip
        elif node.box >= 0:
            return at
        else:
            at += 1
    return -1


@jit
def _count(nodes: Any, lists: PlaceLists, queries: Queries, query: int) -> int:
    """How many boxes contain a query."""
    n_found, at = 0, _next_container(nodes, lists, queries, query, FIRST)
    while at >= 0:
        n_found += 1
        at = _next_container(nodes, lists, queries, query, at + 1)
    return n_found


@jit
def _find(nodes: Any, lists: PlaceLists, queries: Queries, query: int, start: int, found: Any) -> None:
    """Write the boxes that contain a query, in the order of the tree."""
    at = _next_container(nodes, lists, queries, query, FIRST)
    while at >= 0:
        found[start] = nodes[at].box
        start += 1
        at = _next_container(nodes, lists, queries, query, at + 1)


@jit
def _weigh(nodes: Any, lists: PlaceLists, queries: Queries, query: int, weight: int, totals: Any) -> None:
    """Add a weight to all boxes that contain a query."""
    at = _next_container(nodes, lists, queries, query, FIRST)
    while at >= 0:
        totals[nodes[at].box] += weight
        at = _next_container(nodes, lists, queries, query, at + 1)


@jit
def _add(nodes: Any, lists: PlaceLists, queries: Queries, query: int, shares: Any) -> float:
    """The sum of the shares of all boxes that contain a query, in the order of the tree."""
    total, at = 0.0, _next_container(nodes, lists, queries, query, FIRST)
    while at >= 0:
        total += shares[nodes[at].box]
        at = _next_container(nodes, lists, queries, query, at + 1)
    return total


# -- each for all queries ---------------------------------------------------------------------------------------------


@jit
def count_containers(nodes: Any, lists: PlaceLists, queries: Queries, counts: Any) -> None:
    """How many boxes contain each query.

    IN   nodes  NODE[nodes]
    OUT  counts  int64[queries]
    """
    for query in range(len(counts)):
        counts[query] = _count(nodes, lists, queries, query)


@jit
def find_containers(nodes: Any, lists: PlaceLists, queries: Queries, starts: Any, found: Any) -> None:
    """Which boxes contain each query.

    IN   nodes  NODE[nodes];  starts  int64[queries]  where the boxes of each query go
    OUT  found   int64[...]
    """
    for query in range(len(starts)):
        _find(nodes, lists, queries, query, starts[query], found)


@jit
def weigh_boxes(nodes: Any, lists: PlaceLists, queries: Queries, weights: Any, totals: Any) -> None:
    """The weight of all queries that each box contains.

    IN   nodes  NODE[nodes];  weights  int64[queries]
    OUT  totals   int64[boxes]
    """
    for query in range(len(weights)):
        _weigh(nodes, lists, queries, query, weights[query], totals)


@jit
def add_shares(nodes: Any, lists: PlaceLists, queries: Queries, shares: Any, sums: Any) -> None:
    """The sum of the shares of all boxes that contain each query, in the order of the tree.

    IN   nodes  NODE[nodes];  shares  float64[boxes]
    OUT  sums    float64[queries]
    """
    for query in range(len(sums)):
        sums[query] = _add(nodes, lists, queries, query, shares)
