"""Centroids laid out for the search: close ones side by side, in blocks whose bounds are known."""

from __future__ import annotations

import numpy as np

from shoal.cluster.centroid_distances import distances
from shoal.kernels.cluster.centroids import CentroidGroups, Ruler
from shoal.kernels.cluster.nearest import BLOCK, PLACE, CentroidIndex
from shoal.methods.groups import Labels
from shoal.table.encode import Floats


def index_of(ruler: Ruler, groups: CentroidGroups, members: Labels, room: Labels) -> CentroidIndex:
    """Lay some centroids out, of which each takes so many rows; there is at least one."""
    members, room = _side_by_side(ruler, groups, members, room)
    n, n_blocks = len(members), -(-len(members) // BLOCK)
    places = np.zeros(n_blocks * BLOCK, dtype=PLACE)
    places["group"][:n], places["room"][:n] = members, room
    places["group"][n:] = members[-1]  # fills the last block without changing its bounds; there is no room
    place_of = np.full(len(groups.size), -1, dtype=np.int64)
    place_of[members] = np.arange(n)
    centre = np.take(groups.means["centre"], places["group"], axis=1)
    node = np.take(groups.modes["node"], places["group"], axis=1)
    gone, blocks = np.isnan(centre), (len(centre), n_blocks, BLOCK)
    low = np.where(gone, np.inf, centre).reshape(blocks).min(axis=2)
    high = np.where(gone, -np.inf, centre).reshape(blocks).max(axis=2)
    n_open = (places["room"] > 0).reshape(n_blocks, BLOCK).sum(axis=1)
    return CentroidIndex(
        places, place_of, centre, node.astype(np.int32), low, high, gone.reshape(blocks).any(axis=2),
        _least(ruler, node, n_blocks), n_open,
    )  # fmt: skip


def _side_by_side(ruler: Ruler, groups: CentroidGroups, members: Labels, room: Labels) -> tuple[Labels, Labels]:
    """Bring close centroids side by side: halve them along the column in which they differ most, again and again."""
    centre, node = groups.means["centre"], groups.modes["node"]
    keys = np.concatenate([np.where(np.isnan(centre), np.inf, centre), node])
    begin = np.zeros(1, dtype=np.int64)
    while len(begin) * BLOCK < len(members):
        size = np.diff(begin, append=len(members))
        part = np.repeat(np.arange(len(begin)), size)
        middle = members[begin + size // 2][part]
        terms = distances(ruler, groups, centre[:, members], node[:, members], middle)
        column = np.argmax([np.add.reduceat(term, begin) for term in terms], axis=0)
        order = np.lexsort((keys[column[part], members], part))
        members, room = members[order], room[order]
        blocks = -(-size // BLOCK)
        begin = np.union1d(begin, begin + blocks // 2 * BLOCK)
    return members, room


def _least(ruler: Ruler, node: Labels, n_blocks: int) -> Floats:
    """How near the nodes of each block are to each node of the smaller trees."""
    small = ruler.trees["pairs"] >= 0
    least = np.empty((int(ruler.trees["size"][small].sum()), n_blocks))
    for tree, nodes in zip(ruler.trees[small], node[small], strict=True):
        for value in range(tree["size"]):
            near = ruler.table[tree["pairs"] + value * tree["size"] :][nodes]
            least[tree["least"] + value] = near.reshape(n_blocks, BLOCK).min(axis=1)
    return least
