"""Weighted-feature C-means: small groups merged into near ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.centroids import CentroidGroups, Ruler, centre_of, leads
from shoal.kernels.index.boxes import BoxTree
from shoal.kernels.index.centroids import Leaves, close, move, nearest
from shoal.kernels.jit import jit


@jit
def merge_small(
    ruler: Ruler, groups: CentroidGroups, leaves: Leaves, tree: BoxTree | None, k: int, most: int, cursor: Any,
    into: Any,
) -> int:  # fmt: skip
    """Merge the smallest group below k into that with the nearest centre, again and again; how many were merged.

    IN     most: how many at the most
    INOUT  cursor int64[2]: the smallest size that there still is, and the first group that may have it; 0 at first
           into int64[K], where each group went; itself at first
    """
    lines, codes = np.empty(len(groups.means)), np.empty(len(groups.modes), dtype=np.int32)
    for done in range(most):
        small = _smallest(groups.size, k, cursor, into)
        if small < 0:
            return done
        close(ruler, leaves, tree, small)
        for j in range(len(lines)):
            lines[j] = groups.means[j, small].centre
        for t in range(len(codes)):
            codes[t] = groups.modes[t, small].node
        target = nearest(ruler, leaves, tree, lines, codes, small)
        into[small] = target
        if groups.size[small] > 0:
            _absorb(ruler, groups, small, target)
            move(ruler, groups, leaves, tree, target)
    return most


@jit
def _smallest(sizes: Any, k: int, cursor: Any, into: Any) -> int:
    """The smallest group below k that is still there, the lowest number of those that tie; -1 if there is none.

    A group that takes another in becomes larger than it: no size comes up again once all groups of it are gone.
    """
    size, c = cursor[0], cursor[1]
    while size < k:
        while c < len(into) and (into[c] != c or sizes[c] != size):
            c += 1
        if c < len(into):
            break
        size, c = size + 1, 0
    cursor[0], cursor[1] = size, c
    return c if size < k else -1


@jit
def _absorb(ruler: Ruler, groups: CentroidGroups, small: int, target: int) -> None:
    """Let all members of one group into another."""
    groups.size[target] += groups.size[small]
    for j in range(len(groups.means)):
        mean, more = groups.means[j, target], groups.means[j, small]
        mean.present += more.present
        mean.total += more.total
        mean.square += more.square
        mean.centre = centre_of(ruler.lines[j], mean, groups.size[target])
    for t in range(len(groups.modes)):
        _hand_over(groups.values[t], groups.modes[t, small], groups.modes[t, target])


@jit
def _hand_over(values: Any, small: Any, target: Any) -> None:
    """Give the values of one group to another; the most frequent one leads.

    INOUT  values VALUE[n]
    """
    at = small.head
    while at >= 0:
        given, mine = values[at], target.head
        following = given.next
        while mine >= 0 and values[mine].node != given.node:
            mine = values[mine].next
        if mine >= 0:
            values[mine].count += given.count
            if given.row < values[mine].row:
                values[mine].row = given.row
        else:
            given.next, target.head = target.head, at
        at = following
    leading = at = target.head
    while at >= 0:
        if leads(values[at], values[leading]):
            leading = at
        at = values[at].next
    target.node = values[leading].node
