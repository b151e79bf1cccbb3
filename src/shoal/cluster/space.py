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
    spans = np.ones(encoded.n_columns)
    tree = np.full(encoded.n_columns, -1, dtype=np.int64)
    for column, (is_tree, slot) in enumerate(zip(encoded.is_tree, encoded.slot, strict=True)):
        if is_tree:
            points[:, column] = _leaf_places(encoded, slot)
            spans[column] = max(len(encoded.trees[slot].leaf_node) - 1, 1)
            tree[column] = slot if along_trees else -1
        else:
            line = encoded.lines[slot]
            points[:, column] = np.where(np.isnan(line), np.inf, line)
            spans[column] = encoded.spans[slot] or 1.0
    empty = np.zeros(0, dtype=np.int32)
    forest, trees = encoded.forest, encoded.trees
    n_leaves = [len(one.leaf_node) for one in trees]
    return kernel.CutSpace(
        points, spans, tree, forest.start, forest.parent, forest.depth, forest.n_leaves,
        np.concatenate([one.first_leaf for one in trees] or [empty]),
        np.concatenate([[0], np.cumsum(n_leaves)]).astype(np.int64),
        np.concatenate([one.leaf_node for one in trees] or [empty]),
    )  # fmt: skip


def _leaf_places(encoded: Encoded, slot: int) -> Floats:
    """Left-to-right position of each row's leaf, infinity for missing."""
    tree = encoded.trees[slot]
    place = np.full(len(tree.parent), np.inf)
    place[tree.leaf_node] = np.arange(len(tree.leaf_node))
    places: Floats = place[encoded.codes[slot]]
    return places
