"""Rows sent through a tree of cuts, and counted where they come to."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.jit import jit


class Tree(NamedTuple):
    """A tree of cuts as arrays, one entry per node."""

    column: Any  # int64[nodes]  IN  which column it is cut by, -1 for a node without a cut
    bound: Any  # int64[nodes]   IN  the last bin that goes to the left
    left: Any  # int64[nodes]    IN
    right: Any  # int64[nodes]   IN


@jit
def route(tree: Tree, bins: Any, nodes: Any) -> None:
    """Send every row on, from the node it is at (`nodes`, INOUT) to one without a cut; `bins` has a row per column."""
    for row in range(len(nodes)):
        node = nodes[row]
        while tree.column[node] >= 0:
            left = bins[tree.column[node], row] <= tree.bound[node]
            node = tree.left[node] if left else tree.right[node]
        nodes[row] = node


@jit
def tally(places: Any, bins: Any, counts: Any) -> None:
    """Count (`counts`, INOUT, places by bins) the bins of one column; rows at place -1 are not counted."""
    for row in range(len(places)):
        place = places[row]
        if place >= 0:
            counts[place, bins[row]] += 1
