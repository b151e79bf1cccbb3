"""Centroids in a tree of boxes, for the search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.cluster.box_tree import Scaled, empty_tree, order_of, scaled
from shoal.kernels.cluster.centroids import CentroidGroups, Ruler
from shoal.kernels.index import centroids as kernel
from shoal.kernels.index.boxes import BoxTree
from shoal.kernels.index.centroids import LEAF, Leaves
from shoal.methods.groups import Labels
from shoal.table.encode import Floats

FLAT, FEW = 3, 4
"""A tree with fewer different distances than this is flat; so few nodes are parted anyway."""


class CentroidIndex(NamedTuple):
    """Centroids in leaves, and the boxes around these; without boxes all centroids are scanned."""

    leaves: Leaves
    tree: BoxTree | None


def index_of(ruler: Ruler, groups: CentroidGroups, members: Labels, room: Labels, *, boxes: bool) -> CentroidIndex:
    """Lay some centroids out, of which each takes so many rows; there is at least one."""
    centre, node = groups.means["centre"][:, members], groups.modes["node"][:, members]
    if boxes:
        order = order_of(_spread(ruler, centre, node), LEAF)
        members, room, centre, node = members[order], room[order], centre[:, order], node[:, order]
    tree = empty_tree(len(members), len(centre), len(node), LEAF)
    leaves = _leaves(tree.live, centre, node, members, len(groups.size))
    leaves.room[members] = room
    if boxes:
        kernel.enclose_all(ruler, leaves, tree)
    return CentroidIndex(leaves, tree if boxes else None)


def _leaves(live: Labels, centre: Floats, node: Labels, members: Labels, n_groups: int) -> Leaves:
    """Centroids in leaves of the given sizes, still without room for rows."""
    n, n_leaves, none = len(members), len(live), np.full(n_groups, -1)
    leaf = np.repeat(np.arange(n_leaves), live)
    slot = np.arange(n) - np.repeat(np.cumsum(live) - live, live)
    leaves = Leaves(
        np.zeros((n_leaves, len(centre), LEAF)), np.zeros((n_leaves, len(node), LEAF), dtype=np.int32),
        np.zeros((n_leaves, LEAF), dtype=np.int64), live, none, np.zeros(n_groups, dtype=np.int64), np.empty(LEAF),
    )  # fmt: skip
    leaves.centre[leaf, :, slot], leaves.node[leaf, :, slot], leaves.group[leaf, slot] = centre.T, node.T, members
    leaves.place_of[members] = leaf * LEAF + slot
    return leaves


def is_off(index: CentroidIndex) -> bool:
    """Whether all centroids are scanned."""
    return index.tree is None or bool(index.tree.shape["off"][0])


def own_scratch(index: CentroidIndex) -> CentroidIndex:
    """The same index for another thread, which may search it as long as nothing moves or closes."""
    leaves, tree = index
    if tree is not None:
        tree = tree._replace(
            bound=tree.bound.copy(), stack=tree.stack.copy(), bounds=tree.bounds.copy(), shape=tree.shape.copy()
        )
    return CentroidIndex(leaves._replace(distances=leaves.distances.copy()), tree)


def _spread(ruler: Ruler, centre: Floats, node: Labels) -> Scaled:
    """Columns for cutting centroids in halves: each as wide as it counts in a distance."""
    squared = bool(ruler.lines["squared"].any())
    keys = []
    for line, numbers in zip(ruler.lines, centre, strict=True):
        factor = np.sqrt(line["scale"]) if squared else line["scale"]
        keys.append(scaled(numbers, line["span"]) * np.float32(factor))
    for tree, nodes in zip(ruler.trees, node, strict=True):
        shares = ruler.nodes["share"][tree["first"] :][: tree["size"]]
        factor = np.sqrt(shares[-1]) if squared else shares[-1]
        ranks = _ranks(np.bincount(nodes, minlength=len(shares)), flat=len(np.unique(shares)) < FLAT)
        keys.append((ranks * factor).astype(np.float32)[nodes])
    return np.stack(keys)


def _ranks(counts: Labels, *, flat: bool) -> Floats:
    """Nodes from 0 to 1, in the order of the tree; where many are just equal or not, the most frequent ones first."""
    occurs = counts > 0
    if not flat or occurs.sum() <= FEW:
        return (np.cumsum(occurs) - 1) / max(int(occurs.sum()) - 1, 1)
    order, ranks = np.argsort(-counts, kind="stable"), np.zeros(len(counts))
    ranks[order] = (np.cumsum(counts[order]) - counts[order] / 2) / counts.sum()
    return ranks
