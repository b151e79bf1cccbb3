"""Boxes that contain other boxes: an enclosure search over a tree of bounds.

A box is one stretch of whole numbers per column, or a list of them. The tree holds, for every node, the least low and
the greatest high of the boxes below: where that does not reach around what is looked for, no box below does. Nodes are
numbered so that the first child follows its parent, and `skip` leads past a node's whole subtree.
"""

from __future__ import annotations

from typing import Any

from shoal.kernels.jit import jit, jit_parallel, prange


@jit
def lists_contain(outer: int, inner: int, low: int, high: int, discrete: bool, first: Any, places: Any) -> bool:
    """Whether a list holds all places of another list, or of a stretch.

    IN  outer, inner   numbers of lists; inner is -1 for the stretch from low to high
    IN  first          int64[lists + 1]
    IN  places         int32[...]  of each list ascending
    """
    at, end = first[outer], first[outer + 1]
    if inner < 0:
        if low != high and not discrete:  # there are values between the places
            return False
        while at < end and places[at] < low:
            at += 1
        return end - at > high - low and places[at] == low and places[at + high - low] == high
    for wanted in range(first[inner], first[inner + 1]):
        while at < end and places[at] < places[wanted]:
            at += 1
        if at == end or places[at] != places[wanted]:
            return False
    return True


@jit
def contains(
    low: Any, high: Any, listed: Any, box: int, q_low: Any, q_high: Any, q_listed: Any, query: int,
    discrete: Any, first: Any, places: Any,
) -> bool:  # fmt: skip
    """Whether a box contains another in every column.

    IN  low, high, listed        int32[boxes, d]
    IN  q_low, q_high, q_listed  int32[queries, d]
    IN  discrete                 bool[d]
    """
    for j in range(low.shape[1]):
        if low[box, j] > q_low[query, j] or high[box, j] < q_high[query, j]:
            return False
    for j in range(low.shape[1]):
        outer, inner = listed[box, j], q_listed[query, j]
        if (
            outer >= 0
            and outer != inner
            and not lists_contain(outer, inner, q_low[query, j], q_high[query, j], discrete[j], first, places)
        ):
            return False
    return True


@jit
def walk(
    node_low: Any, node_high: Any, begin: Any, end: Any, skip: Any, low: Any, high: Any, listed: Any,
    q_low: Any, q_high: Any, q_listed: Any, query: int, discrete: Any, first: Any, places: Any, found: Any, at: int,
) -> int:  # fmt: skip
    """Count the boxes that contain a query; with a place `at` of zero or more, write their numbers down from there.

    IN   node_low, node_high    int32[nodes, d]
    IN   begin, end, skip       int64[nodes]  boxes of each node, and the node after its subtree
    OUT  found                  int64[...]
    """
    n_found, node = 0, 0
    while node < len(skip):
        reaches = True
        for j in range(q_low.shape[1]):
            if node_low[node, j] > q_low[query, j] or node_high[node, j] < q_high[query, j]:
                reaches = False
                break
        if not reaches:
            node = skip[node]
            continue
        node += 1
        if skip[node - 1] == node:  # a leaf
            for box in range(begin[node - 1], end[node - 1]):
                if contains(low, high, listed, box, q_low, q_high, q_listed, query, discrete, first, places):
                    if at >= 0:
                        found[at + n_found] = box
                    n_found += 1
    return n_found


@jit_parallel
def count_containers(
    node_low: Any, node_high: Any, begin: Any, end: Any, skip: Any, low: Any, high: Any, listed: Any,
    q_low: Any, q_high: Any, q_listed: Any, discrete: Any, first: Any, places: Any, counts: Any,
) -> None:  # fmt: skip
    """How many boxes contain each query.

    OUT  counts  int64[queries]
    """
    for query in prange(len(counts)):
        counts[query] = walk(
            node_low, node_high, begin, end, skip, low, high, listed, q_low, q_high, q_listed, query,
            discrete, first, places, counts, -1,
        )  # fmt: skip


@jit_parallel
def find_containers(
    node_low: Any, node_high: Any, begin: Any, end: Any, skip: Any, low: Any, high: Any, listed: Any,
    q_low: Any, q_high: Any, q_listed: Any, discrete: Any, first: Any, places: Any, starts: Any, found: Any,
) -> None:  # fmt: skip
    """Which boxes contain each query.

    IN   starts  int64[queries]  where the boxes of each query go
    OUT  found   int64[...]
    """
    for query in prange(len(starts)):
        walk(
            node_low, node_high, begin, end, skip, low, high, listed, q_low, q_high, q_listed, query,
            discrete, first, places, found, starts[query],
        )  # fmt: skip
