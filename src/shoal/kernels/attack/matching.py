"""Published cells that what is known of a person does not contradict: boxes that meet other boxes.

A box is one stretch of whole numbers per column, or a list of them. Two boxes meet if they have something in common in
every column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.attack.halves import next_node
from shoal.kernels.jit import jit


class Tree(NamedTuple):
    """Bounds of boxes that were halved over and over; a leaf holds the boxes from one edge to the next."""

    low: Any  # int32[nodes, d]      IN
    high: Any  # int32[nodes, d]     IN
    edges: Any  # int64[leaves + 1]  IN


class Boxes(NamedTuple):
    """A stretch per column, and which list of places it is; -1 for all places of the stretch."""

    low: Any  # int32[n, d]     IN
    high: Any  # int32[n, d]    IN
    listed: Any  # int32[n, d]  IN


class PlaceLists(NamedTuple):
    """Places that cells list."""

    first: Any  # int64[lists + 1]  IN  where each list begins
    places: Any  # int32[...]       IN  rising within a list


@jit
def _bounds_meet(tree: Tree, at: int, queries: Boxes, query: int) -> bool:
    """Whether a query has something in common with the bounds of a node."""
    for j in range(queries.low.shape[1]):
        if tree.low[at, j] > queries.high[query, j] or tree.high[at, j] < queries.low[query, j]:
            return False
    return True


@jit
def _list_meets(lists: PlaceLists, one: int, low: int, high: int) -> bool:
    """Whether a list has a place in a stretch."""
    for at in range(lists.first[one], lists.first[one + 1]):
        if lists.places[at] >= low:
            return lists.places[at] <= high
    return False


@jit
def _lists_meet(lists: PlaceLists, one: int, other: int) -> bool:
    """Whether two lists have a place in common."""
    at, there = lists.first[one], lists.first[other]
    while at < lists.first[one + 1] and there < lists.first[other + 1]:
        if lists.places[at] == lists.places[there]:
            return True
        if lists.places[at] < lists.places[there]:
            at += 1
        else:
            there += 1
    return False


@jit
def _boxes_meet(boxes: Boxes, box: int, queries: Boxes, query: int, lists: PlaceLists) -> bool:
    """Whether a box and a query have something in common in every column."""
    for j in range(boxes.low.shape[1]):
        if boxes.low[box, j] > queries.high[query, j] or boxes.high[box, j] < queries.low[query, j]:
            return False
        one, other = boxes.listed[box, j], queries.listed[query, j]
        if one >= 0 and other >= 0:
            if one != other and not _lists_meet(lists, one, other):
                return False
        elif one >= 0:
            if not _list_meets(lists, one, queries.low[query, j], queries.high[query, j]):
                return False
        elif other >= 0 and not _list_meets(lists, other, boxes.low[box, j], boxes.high[box, j]):
            return False
    return True


@jit
def count_matches(tree: Tree, boxes: Boxes, lists: PlaceLists, queries: Boxes, counts: Any) -> None:
    """How many boxes each query meets.

    OUT  counts  int64[queries]
    """
    n_inner = len(tree.edges) - 2
    for query in range(len(counts)):
        at, n_found = 0, 0
        while at >= 0:
            inside = _bounds_meet(tree, at, queries, query)
            if inside and at >= n_inner:
                for box in range(tree.edges[at - n_inner], tree.edges[at - n_inner + 1]):
                    if _boxes_meet(boxes, box, queries, query, lists):
                        n_found += 1
            at = next_node(at, n_inner, inside)
        counts[query] = n_found


@jit
def find_matches(tree: Tree, boxes: Boxes, lists: PlaceLists, queries: Boxes, starts: Any, found: Any) -> None:
    """Which boxes each query meets, in the order of the tree.

    IN   starts  int64[queries]  where those of each query go
    OUT  found  int64[...]
    """
    n_inner = len(tree.edges) - 2
    for query in range(len(starts)):
        at, place = 0, starts[query]
        while at >= 0:
            inside = _bounds_meet(tree, at, queries, query)
            if inside and at >= n_inner:
                for box in range(tree.edges[at - n_inner], tree.edges[at - n_inner + 1]):
                    if _boxes_meet(boxes, box, queries, query, lists):
                        found[place] = box
                        place += 1
            at = next_node(at, n_inner, inside)
