"""Sensitive values as places in their tree, numbered so that everything below a node is one run of places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.privacy.base import SLACK, Tree, Values
from shoal.privacy.counts import Counts, Floats, Ints


@dataclass(frozen=True, repr=False)
class Branches:
    """The nodes of a tree in depth-first order, a missing value last, as one more leaf right below the root.

    `place_of` gives the place of each value's code. The other arrays are by place.
    """

    place_of: Ints
    parent: Ints
    """Place of the node above; -1 for the root."""
    depth: Ints
    end: Ints
    """One past the last place below each node."""
    height: Floats
    """Height of each node over that of the tree; 1 for the root, 0 for a leaf."""
    leaves: Floats
    """Leaves below each node."""
    names: dict[str, int]
    """Place of each node by its name."""
    n_levels: int
    """Height of the tree; 1 of a tree that is one node."""

    @property
    def n_places(self) -> int:
        """Nodes of the tree and the missing value."""
        return len(self.parent)

    @classmethod
    def of(cls, values: Values) -> Branches:
        """The tree of a column whose every value is a node of it."""
        tree = values.tree
        if tree is None:
            raise ValueError("the column has no tree")
        order = _depth_first(tree)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        parents = np.array(tree.parents, dtype=np.int64)[order]
        parent = np.append(np.where(parents < 0, -1, place[parents]), 0)
        depth = np.zeros(len(parent), dtype=np.int64)
        end = np.arange(1, len(parent) + 1)
        for node in range(1, len(parent)):
            depth[node] = depth[parent[node]] + 1
        for node in range(len(parent) - 1, 0, -1):
            end[parent[node]] = max(end[parent[node]], end[node])
        n_levels = max(tree.heights[0], 1)
        height = np.append(np.array(tree.heights, dtype=np.float64)[order] / n_levels, 0.0)
        height[0] = 1.0  # also of a tree that is one node, beside which a missing value may stand
        leaves = np.append(np.array(tree.leaves, dtype=np.float64)[order], 1.0)
        names = {name: int(place[node]) for node, name in enumerate(tree.names)}
        places = [names[str(value)] for value in values.known]
        place_of = np.array([*places, len(parent) - 1][: len(values.counts)], dtype=np.int64)
        return cls(place_of, parent, depth, end, height, leaves, names, n_levels)

    def levels(self) -> Iterator[tuple[Ints, Floats]]:
        """Ways to see the values ever more coarsely, from the values themselves up to the branches below the root.

        Each is a place for each place of the level before, in the same order, and the length of the edge that a value
        or branch seen at this level hangs on. A value that is an inner node hangs as one more leaf below that node.
        """
        inner = self.height > 0
        above = self.height[np.maximum(self.parent, 0)]
        yield np.arange(self.n_places), np.where(inner, self.height, above)
        for level in range(int(self.depth.max()) - 1, 0, -1):
            place_of = np.where(self.depth > level, self.parent, np.arange(self.n_places))
            yield place_of, np.where((self.depth == level) & inner, above - self.height, 0.0)


def _depth_first(tree: Tree) -> Ints:
    """Nodes in an order in which everything below a node follows it directly."""
    below: list[list[int]] = [[] for _ in tree.names]
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            below[parent].append(node)
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(below[node]))
    return np.array(order, dtype=np.int64)


def related_rows(values: Values, counts: Counts, theta: float) -> Ints:
    """Of each pair of a class and a value, the rows of the class whose value is related to it.

    That is the same value, or any below the highest node above it that is lower than theta.
    """
    if values.tree is None:
        return counts.count
    branches = Branches.of(values)
    low, place = branches.height < theta - SLACK, branches.place_of[counts.code]
    top = _highest(branches.parent, low)[place]
    placed = counts.recoded(branches.place_of, branches.n_places)
    below = placed.up_to(counts.owner, branches.end[top]) - placed.up_to(counts.owner, top)
    # A shown node that is itself that high is an ancestor of what lies below it, and still related to none of that.
    return np.where(low[place], below, counts.count)


def _highest(parent: Ints, low: np.typing.NDArray[np.bool_]) -> Ints:
    """The highest node above each node, or itself, that can be reached over low nodes alone."""
    top = np.arange(len(parent))
    while True:
        above = parent[top]
        climbs = (above >= 0) & low[above]
        if not climbs.any():
            return top
        top = np.where(climbs, above, top)
