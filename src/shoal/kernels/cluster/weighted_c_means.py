"""Weighted-feature C-means: how much the columns vary inside groups, and small groups merged into near ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.centroids import CentroidGroups, Ruler, centre_of, leads, line_term, tree_term
from shoal.kernels.cluster.nearest import BLOCK, CentroidIndex, close, move, nearest
from shoal.kernels.jit import jit


@jit
def dispersions(ruler: Ruler, groups: CentroidGroups, lines: Any, codes: Any, labels: Any, out: Any) -> None:
    """How much each column varies inside groups: the sum over the rows, in row order.

    IN   lines float64[n, lines];  codes int32[n, trees];  labels int64[n]
    OUT  out float64[lines + trees]
    """
    n_lines = lines.shape[1]
    out[:] = 0.0
    for row in range(len(labels)):
        c = labels[row]
        for j in range(n_lines):
            out[j] += line_term(ruler, j, lines[row, j], groups.centre[j, c])
        for t in range(codes.shape[1]):
            out[n_lines + t] += tree_term(ruler, t, codes[row, t], groups.node[t, c])


@jit
def merge_small(ruler: Ruler, groups: CentroidGroups, index: CentroidIndex, k: int, most: int, into: Any) -> int:
    """Merge the smallest group below k into that with the nearest centre, again and again; how many were merged.

    IN     most: how many at the most
    INOUT  into int64[K], where each group went; itself at first
    """
    lines, codes = np.empty(len(groups.centre)), np.empty(len(groups.node), dtype=np.int32)
    bound, part = np.empty(len(index.left)), np.empty(BLOCK)
    for done in range(most):
        small = _smallest(groups, k, into)
        if small < 0:
            return done
        close(index, small)
        lines[:] = groups.centre[:, small]
        codes[:] = groups.node[:, small]
        target = nearest(ruler, index, lines, codes, -1, bound, part)
        into[small] = target
        if groups.size[small] > 0:
            _absorb(ruler, groups, small, target)
            move(ruler, groups, index, target)
    return most


@jit
def _smallest(groups: CentroidGroups, k: int, into: Any) -> int:
    """The smallest group below k that is still there, the lowest number of those that tie; -1 if there is none."""
    small, size = -1, k
    for c in range(len(into)):
        if into[c] == c and groups.size[c] < size:
            small, size = c, groups.size[c]
    return small


@jit
def _absorb(ruler: Ruler, groups: CentroidGroups, small: int, target: int) -> None:
    """Let all members of one group into another."""
    groups.size[target] += groups.size[small]
    for j in range(len(groups.centre)):
        groups.present[j, target] += groups.present[j, small]
        groups.total[j, target] += groups.total[j, small]
        groups.square[j, target] += groups.square[j, small]
        groups.centre[j, target] = centre_of(ruler, groups, j, target)
    for t in range(len(groups.node)):
        _hand_over(groups, t, small, target)


@jit
def _hand_over(groups: CentroidGroups, t: int, small: int, target: int) -> None:
    """Give the values of one group to another; the most frequent one leads."""
    entry = groups.head[t, small]
    while entry >= 0:
        following = groups.entry_next[entry]
        mine = groups.head[t, target]
        while mine >= 0 and groups.entry_node[mine] != groups.entry_node[entry]:
            mine = groups.entry_next[mine]
        if mine >= 0:
            groups.entry_count[mine] += groups.entry_count[entry]
            groups.entry_row[mine] = min(groups.entry_row[mine], groups.entry_row[entry])
        else:
            groups.entry_next[entry], groups.head[t, target] = groups.head[t, target], entry
        entry = following
    leading = entry = groups.head[t, target]
    while entry >= 0:
        if leads(groups.entry_count, groups.entry_row, entry, leading):
            leading = entry
        entry = groups.entry_next[entry]
    groups.node[t, target] = groups.entry_node[leading]
