"""Rows as points, names by the place of their leaf: what median cuts need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.cluster import mondrian as kernel
from shoal.table.encode import Encoded

Floats = npt.NDArray[np.float64]


def space_of(encoded: Encoded, *, along_trees: bool) -> kernel.CutSpace:
    """Lay rows out as points, nominal values by the place of their leaf."""
    points = np.empty((encoded.n_rows, encoded.n_columns))
    columns = np.zeros(encoded.n_columns, dtype=kernel.COLUMN)
    trees = encoded.trees
    first = np.cumsum([0, *(len(tree.parent) for tree in trees)])
    leaves = np.cumsum([0, *(len(tree.leaf_node) for tree in trees)])
    for column, (is_tree, slot) in enumerate(zip(encoded.is_tree, encoded.slot, strict=True)):
        if is_tree:
            points[:, column] = _leaf_places(encoded, slot)
            span = max(len(trees[slot].leaf_node) - 1, 1)
            columns[column] = (span, along_trees, first[slot], first[slot + 1], leaves[slot])
        else:
            line = encoded.lines[slot]
            points[:, column] = np.where(np.isnan(line), np.inf, line)
            columns["span"][column] = encoded.spans[slot] or 1.0
    nodes, leaf_node = np.zeros(first[-1], dtype=kernel.NODE), np.zeros(leaves[-1], dtype=np.int64)
    for slot, tree in enumerate(trees):
        mine = nodes[first[slot] : first[slot + 1]]
        for field in ("parent", "depth", "n_leaves", "first_leaf"):
            mine[field] = getattr(tree, field)
        leaf_node[leaves[slot] : leaves[slot + 1]] = tree.leaf_node
    return kernel.CutSpace(points, columns, nodes, leaf_node)


def _leaf_places(encoded: Encoded, slot: int) -> Floats:
    """Left-to-right position of each row's leaf, infinity for missing."""
    tree = encoded.trees[slot]
    place = np.full(len(tree.parent), np.inf)
    place[tree.leaf_node] = np.arange(len(tree.leaf_node))
    places: Floats = place[encoded.codes[slot]]
    return places
