"""Groups that move: what a centroid is, and how it follows its members as these come in.

The centroid of a line (numbers and ranks) is the mean of the present values, from exact whole-number sums, so that it
depends neither on the order of the rows nor on rounding on the way. That of a tree is the most frequent value, or the
lowest common node. A missing value is at distance 1 from a present one and 0 from another. Distances are summed lines
first, then trees, in the order of the columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

LINE = np.dtype(
    [("scale", np.float64), ("span", np.float64), ("grid", np.float64), ("holes", np.int64), ("squared", np.int64)],
    align=True,
)
"""A line: the factor of its distances, what a difference is divided by (never 0); numbers are summed as whole multiples
of 1 / grid; whether it has missing values and whether differences are squared, 1 or 0."""
TREE = np.dtype(
    [("first", np.int64), ("size", np.int64), ("pairs", np.int64), ("common", np.int64)],
    align=True,
)
"""A tree: its first node, how many nodes it has; where the distances of all pairs of its nodes begin in the table, -1
if it is too large for that; whether its centroid is the lowest common node instead of the most frequent value, 1 or 0.
"""
NODE = np.dtype([("parent", np.int64), ("depth", np.int64), ("share", np.float64)], align=True)
"""A node: its parent, in its own tree; its depth; the distance of two nodes that meet here."""
LEVEL = np.dtype(
    [
        ("place", np.int64),
        ("below_0", np.int64), ("below_1", np.int64), ("below_2", np.int64),
        ("cost_0", np.float64), ("cost_1", np.float64), ("cost_2", np.float64), ("cost_3", np.float64),
    ],
    align=True,
)  # fmt: skip
"""A node, for bounds: its bit among the 64 of a box, shared if there are more nodes; the bits of those that are nearest
to it, of these and the next, and so on, and how far they are. All others are at least as far as the last."""
MEAN = np.dtype([("centre", np.float64), ("total", np.int64), ("square", np.int64), ("present", np.int64)], align=True)
"""A line in a group: the centre, NaN = missing; the sum of the numbers and that of their squares, in units of the grid;
how many numbers are not missing."""
MODE = np.dtype([("node", np.int64), ("head", np.int64)], align=True)
"""A tree in a group: the node, and the first of the group's values, -1 for none."""
VALUE = np.dtype([("node", np.int64), ("count", np.int64), ("row", np.int64), ("next", np.int64)], align=True)
"""A value in a group: how many members have it, the lowest of their rows, and the next value of the group, -1 for none.
Values lie at the row that brought them."""


class Ruler(NamedTuple):
    """How far a row is from a centroid."""

    lines: Any  # LINE[lines]    IN
    trees: Any  # TREE[trees]    IN
    nodes: Any  # NODE[nodes]    IN  tree after tree
    levels: Any  # LEVEL[nodes]  IN
    table: Any  # float64[all]   IN  distance of every pair of nodes, for trees that are not too large


class CentroidGroups(NamedTuple):
    """Centroids, and what is needed to move them when a row comes in."""

    means: Any  # MEAN[lines, K]   INOUT
    modes: Any  # MODE[trees, K]   INOUT
    size: Any  # int64[K]          INOUT
    values: Any  # VALUE[trees, n] INOUT  no row where the centroids are lowest common nodes


@jit
def join(ruler: Ruler, groups: CentroidGroups, lines: Any, codes: Any, row: int, c: int) -> None:
    """Let a row into a group, whose centroid follows.

    IN  lines float64[n, lines];  codes int32[n, trees]
    """
    means, modes, trees = groups.means, groups.modes, ruler.trees
    groups.size[c] += 1
    size = groups.size[c]
    for j in range(len(means)):
        _add(ruler.lines[j], means[j, c], lines[row, j], size)
    for t in range(len(modes)):
        mode = modes[t, c]
        value: Any = np.int64(codes[row, t])
        if not trees[t].common:
            _count(groups.values[t], mode, value, row)
        else:
            mode.node = value if size == 1 else meet(ruler.nodes, trees[t].first, value, mode.node)


@jit
def _add(line: Any, mean: Any, x: float, size: int) -> None:
    """Add a number to those of a group, which has so many members with it."""
    if not np.isnan(x):
        mean.present += 1
        mean.total += np.int64(np.rint(x * line.grid))
        mean.square += np.int64(np.rint(x * x * line.grid))
    mean.centre = centre_of(line, mean, size)


@jit
def centre_of(line: Any, mean: Any, size: int) -> float:
    """Mean of the present values; missing where more than half are, or, with squares, where that costs less.

    The mean of equal numbers is exactly the number.
    """
    n = mean.present
    if n == 0:
        return np.nan
    centre = (np.float64(mean.total // n) + np.float64(mean.total % n) / np.float64(n)) / line.grid
    if not line.squared:
        return np.nan if 2 * (size - n) > size else centre
    if n == size:
        return centre
    spread = np.float64(mean.square) / line.grid - centre * centre * n
    around = spread / (line.span * line.span) + (size - n)
    return np.nan if n < around else centre


@jit
def meet(nodes: Any, first: int, left: int, right: int) -> int:
    """Lowest common ancestor of two nodes of the tree that begins at a node.

    IN  nodes NODE[nodes]
    """
    while left != right:
        if nodes[first + left].depth >= nodes[first + right].depth:
            left = nodes[first + left].parent
        else:
            right = nodes[first + right].parent
    return left


@jit
def _count(values: Any, mode: Any, node: int, row: int) -> None:
    """Count a value of a member; the most frequent one leads, of those that tie the one met in the lowest row.

    INOUT  values VALUE[n]
    """
    mine, leading, at = -1, -1, mode.head
    while at >= 0:
        if values[at].node == node:
            mine = at
        if values[at].node == mode.node:
            leading = at
        at = values[at].next
    if mine < 0:
        mine = row
        new = values[row]
        new.node, new.count, new.row, new.next = node, 0, row, mode.head
        mode.head = row
    value = values[mine]
    value.count += 1
    if row < value.row:
        value.row = row
    if leading < 0 or leads(value, values[leading]):
        mode.node = node


@jit
def leads(one: Any, other: Any) -> bool:
    """Whether one value comes before another: more members, or as many and met in a lower row."""
    return one.count > other.count or (one.count == other.count and one.row < other.row)
