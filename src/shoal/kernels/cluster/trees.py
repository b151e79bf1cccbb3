"""Walks on hierarchies laid out as arrays (see `shoal.table.hierarchy.tree.TreeArrays`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.jit import jit


class Forest(NamedTuple):
    """The trees of all nominal columns, one after the other; node numbers count within their own tree."""

    start: Any  # int64[trees + 1]  IN  where each tree begins, and one past the last
    parent: Any  # int32[nodes]     IN
    depth: Any  # int32[nodes]      IN
    n_leaves: Any  # int32[nodes]   IN


@jit
def meet(parent: Any, depth: Any, left: int, right: int) -> int:
    """Lowest common ancestor of two nodes of one tree.

    IN  parent, depth  int32[nodes]
    """
    while left != right:
        if depth[left] >= depth[right]:
            left = parent[left]
        else:
            right = parent[right]
    return left


@jit
def climb(parent: Any, depth: Any, node: int, above: int) -> float:
    """Share of the way from a node to the root that leads to an ancestor.

    Climbing to `top` (where missing and present values meet) is the whole way for every node that still says
    something, and no way at all for an inner root, which publishes as little as `top`.

    IN  parent, depth  int32[nodes]
    """
    if node == above:
        return 0.0
    if above == len(parent) - 1:
        inner_root = node == 0 and len(parent) > 3
        return 0.0 if inner_root else 1.0
    return (depth[node] - depth[above]) / depth[node]
