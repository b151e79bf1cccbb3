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
def next_container(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, query: int, node: int,
) -> int:  # fmt: skip
    """The next node, from one on, where the way to a box that contains a query ends; -1 after the last.

    IN   column, low, high, listed  int32[nodes]  the cell of each node, or the bounds of several
    IN   box, skip                  int64[nodes]  the box a way ends in, or -1; the node after the subtree
    IN   q_low, q_high, q_listed    int32[queries, d]
    """
    while node < len(skip):
        j = column[node]
        inside = low[node] <= q_low[query, j] and high[node] >= q_high[query, j]
        if inside and listed[node] >= 0 and listed[node] != q_listed[query, j]:
            inside = list_contains(
                listed[node], q_listed[query, j], q_low[query, j], q_high[query, j], discrete[j], first, places
            )
        if not inside:
            node = skip[node]
        elif box[node] >= 0:
            return node
        else:
            node += 1
    return -1


@jit_parallel
def count_containers(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, counts: Any,
) -> None:  # fmt: skip
    """How many boxes contain each query.

    OUT  counts  int64[queries]
    """
    for query in prange(len(counts)):
        n_found, node = 0, -1
        while True:
            node = next_container(
                column, low, high, listed, box, skip, discrete, first, places, q_low, q_high, q_listed, query, node + 1
            )
            if node < 0:
                break
            n_found += 1
        counts[query] = n_found


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
        at, node = starts[query], -1
        while True:
            node = next_container(
                column, low, high, listed, box, skip, discrete, first, places, q_low, q_high, q_listed, query, node + 1
            )
            if node < 0:
                break
            found[at] = box[node]
            at += 1


@jit_parallel
def weigh_boxes(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, weights: Any, totals: Any,
) -> None:  # fmt: skip
    """The weight of all queries that each box contains; whole numbers, so that the order of adding does not matter.

    IN   weights  int64[queries]
    OUT  totals   int64[parts, boxes]  one line for each part of the queries, to be added up
    """
    n_parts = len(totals)
    for part in prange(n_parts):
        for query in range(part, len(weights), n_parts):
            node = -1
            while True:
                node = next_container(
                    column, low, high, listed, box, skip, discrete, first, places, q_low, q_high, q_listed, query,
                    node + 1,
                )  # fmt: skip
                if node < 0:
                    break
                totals[part, box[node]] += weights[query]


@jit_parallel
def add_shares(
    column: Any, low: Any, high: Any, listed: Any, box: Any, skip: Any, discrete: Any, first: Any, places: Any,
    q_low: Any, q_high: Any, q_listed: Any, shares: Any, sums: Any,
) -> None:  # fmt: skip
    """The sum of the shares of all boxes that contain each query, in the order of the tree.

    IN   shares  float64[boxes]
    OUT  sums    float64[queries]
    """
    for query in prange(len(sums)):
        total, node = 0.0, -1
        while True:
            node = next_container(
                column, low, high, listed, box, skip, discrete, first, places, q_low, q_high, q_listed, query, node + 1
            )
            if node < 0:
                break
            total += shares[box[node]]
        sums[query] = total
