"""Centroids in a tree of boxes, for the search."""

from __future__ import annotations

import numpy as np

from shoal.cluster.box_tree import Scaled, empty_tree, order_of, scaled
from shoal.kernels.cluster.centroids import CentroidGroups, Ruler
from shoal.kernels.index import centroids as kernel
from shoal.kernels.index.centroids import LEAF, CentroidIndex
from shoal.methods.groups import Labels
from shoal.table.encode import Floats

FLAT, FEW = 3, 4
"""A tree with fewer different distances than this is flat; so few nodes are parted anyway."""


def index_of(ruler: Ruler, groups: CentroidGroups, members: Labels, room: Labels, *, scans: bool) -> CentroidIndex:
    """Lay some centroids out, of which each takes so many rows; there is at least one. With `scans` they have no boxes."""
    centre, node = groups.means["centre"][:, members], groups.modes["node"][:, members]
    if not scans:
        order = order_of(_spread(ruler, centre, node), LEAF)
        members, room, centre, node = members[order], room[order], centre[:, order], node[:, order]
    n, n_groups = len(members), len(groups.size)
    tree = empty_tree(n, len(centre), len(node), LEAF)
    leaves = np.repeat(np.arange(len(tree.live)), tree.live)
    slots = np.arange(n) - np.repeat(np.cumsum(tree.live) - tree.live, tree.live)
    index = CentroidIndex(
        tree, np.zeros((len(tree.live), len(centre), LEAF)), np.zeros((len(tree.live), len(node), LEAF), np.int32),
        np.zeros((len(tree.live), LEAF), np.int64), np.full(n_groups, -1), np.zeros(n_groups, np.int64),
        np.empty(LEAF),
    )  # fmt: skip
    index.centre[leaves, :, slots], index.node[leaves, :, slots], index.group[leaves, slots] = centre.T, node.T, members
    index.place_of[members], index.room[members] = leaves * LEAF + slots, room
    tree.shape["off"] = scans
    if not scans:
        kernel.enclose_all(ruler, index)
    return index


def is_off(index: CentroidIndex) -> bool:
    """Whether all centroids are scanned, since searches would take longer."""
    return bool(index.tree.shape["off"][0])


def own_scratch(index: CentroidIndex) -> CentroidIndex:
    """The same index for another thread, which may search it as long as nothing moves or closes."""
    tree = index.tree
    mine = tree._replace(
        bound=tree.bound.copy(), stack=tree.stack.copy(), bounds=tree.bounds.copy(), shape=tree.shape.copy()
    )
    return index._replace(tree=mine, distances=index.distances.copy())


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
