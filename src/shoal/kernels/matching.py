"""Boxes that contain other boxes: a walk over a tree of prefixes.

A box is one stretch of whole numbers per column, or a list of them. Boxes with equal cells in the first columns share
the way to them, so that a cell which does not contain what is looked for rules out all of them at once. Nodes are
numbered so that the first child follows its parent, and `skip` leads past a node's whole subtree.
"""

from __future__ import annotations

from typing import Any

from shoal.kernels.jit import jit, jit_parallel, prange


@jit
def list_contains(outer: int, inner: int, low: int, high: int, discrete: bool, first: Any, places: Any) -> bool:
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
def walk(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, query: int, found: Any, at: int,
) -> int:  # fmt: skip
    """Count the boxes that contain a query; with a place `at` of zero or more, write their numbers down from there.

    IN   column, low, high, listed  int32[nodes]  the cell of each node, or the bounds of several
    IN   box, skip                  int64[nodes]  the box a way ends in, or -1; the node after the subtree
    IN   q_low, q_high, q_listed    int32[queries, d]
    OUT  found                      int64[...]
    """
    n_found, node = 0, 0
    while node < len(skip):
        j = column[node]
        inside = low[node] <= q_low[query, j] and high[node] >= q_high[query, j]
        if inside and listed[node] >= 0 and listed[node] != q_listed[query, j]:
            inside = list_contains(
                listed[node], q_listed[query, j], q_low[query, j], q_high[query, j], discrete[j], first, places
            )
        if not inside:
            node = skip[node]
            continue
        if box[node] >= 0:
            if at >= 0:
                found[at + n_found] = box[node]
            n_found += 1
        node += 1
    return n_found


@jit_parallel
def count_containers(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, counts: Any,
) -> None:  # fmt: skip
    """How many boxes contain each query.

    OUT  counts  int64[queries]
    """
    for query in prange(len(counts)):
        counts[query] = walk(
            column, low, high, listed, box, skip, discrete, first, places, q_low, q_high, q_listed, query, counts, -1
        )


@jit_parallel
def find_containers(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, starts: Any, found: Any,
) -> None:  # fmt: skip
    """Which boxes contain each query.

    IN   starts  int64[queries]  where the boxes of each query go
    OUT  found   int64[...]
    """
    for query in prange(len(starts)):
        walk(
            column, low, high, listed, box, skip, discrete, first, places, q_low, q_high, q_listed, query, found,
            starts[query],
        )  # fmt: skip
