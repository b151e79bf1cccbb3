"""Boxes that hold a tuple, found in a tree of boxes that were halved over and over."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.attack.halves import next_node
from shoal.kernels.jit import jit


class HalvedBoxes(NamedTuple):
    """Bounds of the nodes of a tree; a leaf holds the boxes from one edge to the next."""

    low: Any  # int32[nodes, d]      IN
    high: Any  # int32[nodes, d]     IN
    edges: Any  # int64[leaves + 1]  IN
    box_low: Any  # int32[boxes, d]   IN  in the order of the tree
    box_high: Any  # int32[boxes, d]  IN


@jit
def _holds(low: Any, high: Any, at: int, tuples: Any, one: int) -> bool:
    """Whether a box has the numbers of a tuple in every column."""
    for j in range(tuples.shape[1]):  # noqa: SIM110  a generator does not compile in a kernel
        if low[at, j] > tuples[one, j] or high[at, j] < tuples[one, j]:
            return False
    return True


@jit
def find_holders(tree: HalvedBoxes, tuples: Any, counts: Any, found: Any) -> None:
    """How many boxes hold each tuple, and the first of them: as many as there is room for.

    IN   tuples  int32[n, d]
    OUT  counts  int64[n];  found  int64[n, room]
    """
    n_inner = len(tree.edges) - 2
    for one in range(len(counts)):
        at, n_found = 0, 0
        while at >= 0:
            inside = _holds(tree.low, tree.high, at, tuples, one)
            if inside and at >= n_inner:
                for box in range(tree.edges[at - n_inner], tree.edges[at - n_inner + 1]):
                    if _holds(tree.box_low, tree.box_high, box, tuples, one):
                        if n_found < found.shape[1]:
                            found[one, n_found] = box
                        n_found += 1
            at = next_node(at, n_inner, inside)
        counts[one] = n_found
