"""How far rows are from centroids, and centroids from each other: laid out for kernels, and column by column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from shoal.kernels.cluster.centroids import LEVEL, LINE, NODE, TREE, CentroidGroups, Ruler
from shoal.kernels.index.boxes import WORD
from shoal.methods.groups import Labels
from shoal.table.encode import Encoded, Floats
from shoal.table.hierarchy.tree import meet

Ints = npt.NDArray[np.signedinteger]
LARGEST_TREE = 512
"""Up to this many nodes the distance of every pair is written down: 2 MB, which still fits into a core's cache."""


class RulerMaker:
    """Rulers for the columns of a table, whatever their weights.

    Parameters
    ----------
    encoded
        The columns.
    lines
        The numbers and ranks, a line each, on their grid.
    spans
        What differences of each line are divided by; never 0.
    grid
        Numbers are summed as whole multiples of one over this.
    squared
        Whether differences are squared and nominal values are just equal or not.
    common
        Whether the centroid of a nominal column is the lowest common node instead of the most frequent value.
    """

    def __init__(
        self, encoded: Encoded, lines: Floats, spans: Floats, grid: float, *, squared: bool, common: bool
    ) -> None:
        self._encoded, forest = encoded, encoded.forest
        self._lines = np.zeros(len(lines), dtype=LINE)
        self._lines["span"], self._lines["squared"] = spans, squared
        self._lines["grid"] = grid
        self._lines["holes"] = np.isnan(lines).any(axis=1)
        sizes = np.diff(forest.start)
        self._small = sizes <= LARGEST_TREE
        self._trees = np.zeros(len(sizes), dtype=TREE)
        self._trees["first"], self._trees["size"], self._trees["common"] = forest.start[:-1], sizes, common
        length = np.where(self._small, sizes * sizes, 0)
        self._trees["pairs"] = np.where(self._small, np.cumsum(length) - length, -1)
        self._met = [_met(tree.parent) for tree, small in zip(encoded.trees, self._small, strict=True) if small]
        self._squared = squared

    def ruler(self, weights: Floats) -> Ruler:
        """How far a row is from a centroid, with a factor for each column."""
        encoded, forest = self._encoded, self._encoded.forest
        lines, nodes = self._lines.copy(), np.zeros(len(forest.parent), dtype=NODE)
        lines["scale"] = weights[~encoded.is_tree]
        shares = _shares(encoded, weights[encoded.is_tree], flat=self._squared)
        nodes["parent"], nodes["depth"] = forest.parent, forest.depth
        nodes["share"] = np.concatenate([np.zeros(0), *shares])
        small = (share for share, small in zip(shares, self._small, strict=True) if small)
        pairs = (share[met].reshape(-1) for share, met in zip(small, self._met, strict=True))
        levels = [_levels(tree.parent, share) for tree, share in zip(encoded.trees, shares, strict=True)]
        none = np.zeros(0, dtype=LEVEL)
        return Ruler(lines, self._trees, nodes, np.concatenate([none, *levels]), np.concatenate([np.zeros(0), *pairs]))


def distances(ruler: Ruler, groups: CentroidGroups, lines: Floats, codes: Ints, of: Labels) -> Iterator[Floats]:
    """Distance of each row to one centroid, column by column: lines first, then trees.

    `lines` and `codes` are the rows, a column each; `of` is the group of each row.
    """
    for line, x, means in zip(ruler.lines, lines, groups.means, strict=True):
        centre = means["centre"][of]
        t = np.abs(x - centre) / line["span"]
        t = line["scale"] * (t * t if line["squared"] else t)
        yield np.where(np.isnan(t), np.where(np.isnan(x) & np.isnan(centre), 0.0, line["scale"]), t)
    for tree, code, modes in zip(ruler.trees, codes, groups.modes, strict=True):
        node = modes["node"][of]
        if tree["pairs"] >= 0:
            yield ruler.table[tree["pairs"] + code * tree["size"] + node]
        else:
            nodes = ruler.nodes[tree["first"] : tree["first"] + tree["size"]]
            yield nodes["share"][meet(nodes["parent"], nodes["depth"], code, node)]


def _shares(encoded: Encoded, weights: Floats, *, flat: bool) -> list[Floats]:
    """Distance of two values by the node they meet in: its height over that of the tree, or just equal or not."""
    shares = []
    for tree, weight in zip(encoded.trees, weights, strict=True):
        whole = float(tree.height[tree.root])
        share = (tree.height > 0).astype(float) if flat else tree.height / max(whole, 1.0)
        share[tree.missing], share[tree.top] = 0.0, 1.0
        shares.append(share * weight)
    return shares


def _levels(parent: Ints, share: Floats) -> npt.NDArray[np.void]:
    """For every node of a tree, what is how near to it: what lies below it, below its parent, and so on."""
    size = len(parent)
    levels, above = np.zeros(size, dtype=LEVEL), np.append(parent[:-1], size - 1)  # the top is its own parent
    place = levels["place"] = np.int64(1) << np.arange(size) * min(size, WORD) // size
    below, at = place.copy(), above[:-1]
    while (at < size - 1).any():
        np.bitwise_or.at(below, at, place[:-1])
        at = above[at]
    below[-1] = -1
    at = np.arange(size)
    for level in range(4):
        higher = above[at]
        while (same := (share[higher] == share[at]) & (higher != at)).any():
            at = np.where(same, higher, at)
            higher = above[at]
        levels[f"cost_{level}"] = share[at]
        if level < 3:
            levels[f"below_{level}"] = below[at]
        at = higher
    return levels


def _met(parent: Ints) -> Labels:
    """The lowest common ancestor of every two nodes of a tree.

    A parent comes before its children, but for the top, which comes last.
    """
    top = len(parent) - 1
    met = np.full((len(parent), len(parent)), top, dtype=np.int64)
    for node in range(top):
        if parent[node] != top:
            met[node, :node] = met[:node, node] = met[parent[node], :node]
        met[node, node] = node
    return met
