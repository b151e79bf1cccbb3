"""Which centroid is nearest to a row, without looking at all of them.

Centroids that are close to each other lie side by side in blocks. Of each block it is known how near any of its members
can be to a value of each column, so a block whose best is worse than what was found already is passed over. The bounds
are summed in the order in which distances are: rounding keeps the order of sums whose every term is smaller, so the
answer is exactly that of looking at every centroid, the lowest number of those that tie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.centroids import CentroidGroups, Ruler, join, line_term, tree_term
from shoal.kernels.cluster.points import sort
from shoal.kernels.cluster.trees import meet
from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 16
CHUNKS = 16


class CentroidIndex(NamedTuple):
    """Open centroids in blocks, at places 0 .. n - 1."""

    n: Any  # int64[1]                IN     how many they were at first; P is that rounded up to whole blocks
    group: Any  # int64[P]            INOUT  number of the centroid at each place
    place: Any  # int64[K]            INOUT  place of each centroid; -1: not in the index
    centre: Any  # float64[lines, P]  INOUT
    node: Any  # int32[trees, P]      INOUT
    shut: Any  # float64[P]           INOUT  0, or infinite where nobody is, or somebody who is closed
    low: Any  # float64[lines, B]     INOUT  centres of each block are at least this, infinite if all are missing
    high: Any  # float64[lines, B]    INOUT  and at most this
    gone: Any  # bool[lines, B]       INOUT  whether a centre of the block is missing
    least: Any  # float64[all, B]     INOUT  how near the nodes of each block are to each node of the smaller trees
    least_at: Any  # int64[trees]     IN     where the rows of each tree begin in `least`; -1: too large a tree
    left: Any  # int64[B]             INOUT  open centroids of each block
    shut_block: Any  # float64[B]     INOUT  0, or infinite once all are closed


# -- building ---------------------------------------------------------------------------------------------------------


@jit
def arrange(ruler: Ruler, groups: CentroidGroups, members: Any) -> None:
    """Bring close centroids side by side: halve them along the column in which they differ most, again and again.

    INOUT  members int64[P]
    """
    stack = np.empty((64, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1], depth = 0, len(members), 1
    keys = np.empty(len(members))
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= BLOCK:
            continue
        column = _widest(ruler, groups, members[begin:end])
        if column < 0:
            continue
        for i in range(begin, end):
            keys[i] = _key(groups, column, members[i])
        sort(keys[begin:end], members[begin:end])
        blocks = (end - begin + BLOCK - 1) // BLOCK
        middle = begin + (blocks // 2) * BLOCK
        stack[depth, 0], stack[depth, 1] = begin, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@jit
def _key(groups: CentroidGroups, column: int, c: int) -> float:
    n_lines = len(groups.centre)
    if column >= n_lines:
        return np.float64(groups.node[column - n_lines, c])
    x = groups.centre[column, c]
    return np.inf if np.isnan(x) else x


@jit
def _widest(ruler: Ruler, groups: CentroidGroups, members: Any) -> int:
    """The column in which some centroids are farthest from the one in their middle; -1 if they are all the same."""
    n_lines, widest, most = len(groups.centre), -1, 0.0
    pivot = members[len(members) // 2]
    for column in range(n_lines + len(groups.node)):
        wide = 0.0
        for c in members:
            if column < n_lines:
                wide += line_term(ruler, column, groups.centre[column, c], groups.centre[column, pivot])
            else:
                t = column - n_lines
                wide += tree_term(ruler, t, groups.node[t, c], groups.node[t, pivot])
        if wide > most:
            widest, most = column, wide
    return widest


@jit
def load(ruler: Ruler, groups: CentroidGroups, index: CentroidIndex) -> None:
    """Fill an index whose `group` says which centroid lies where."""
    index.place[:] = -1
    index.shut[:] = np.inf
    index.low[:] = np.inf
    index.high[:] = -np.inf
    index.gone[:] = False
    index.left[:] = 0
    index.shut_block[:] = 0.0
    index.node[:] = 0
    for p in range(index.n[0]):
        index.shut[p] = 0.0
        index.place[index.group[p]] = p
        index.left[p // BLOCK] += 1
        _move_lines(groups, index, p)
        for t in range(len(groups.node)):
            index.node[t, p] = groups.node[t, index.group[p]]
    for t in range(len(groups.node)):
        if index.least_at[t] >= 0:
            _load_least(ruler, index, t)


@jit
def _load_least(ruler: Ruler, index: CentroidIndex, t: int) -> None:
    """How near the nodes of each block are to each node of a tree."""
    node, least, table, size = index.node, index.least, ruler.table, ruler.size[t]
    n = index.n[0]
    for value in range(size):
        at, row = index.least_at[t] + value, ruler.table_at[t] + value * size
        for b in range(least.shape[1]):
            near = np.inf
            for p in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
                near = min(near, table[row + node[t, p]])
            least[at, b] = near


@jit
def _move_lines(groups: CentroidGroups, index: CentroidIndex, p: int) -> None:
    block, c = p // BLOCK, index.group[p]
    for j in range(len(groups.centre)):
        x = groups.centre[j, c]
        index.centre[j, p] = x
        if np.isnan(x):
            index.gone[j, block] = True
        else:
            index.low[j, block] = min(index.low[j, block], x)
            index.high[j, block] = max(index.high[j, block], x)


@jit
def move(ruler: Ruler, groups: CentroidGroups, index: CentroidIndex, c: int) -> None:
    """Follow a centroid that moved; the bounds of its block only widen, and are as tight as can be when loaded anew."""
    p = index.place[c]
    block = p // BLOCK
    _move_lines(groups, index, p)
    for t in range(len(groups.node)):
        node = groups.node[t, c]
        if index.node[t, p] != node:
            index.node[t, p] = node
            if index.least_at[t] >= 0:
                size = ruler.size[t]
                for value in range(size):
                    at = index.least_at[t] + value
                    near = ruler.table[ruler.table_at[t] + value * size + node]
                    index.least[at, block] = min(index.least[at, block], near)


@jit
def close(index: CentroidIndex, c: int) -> None:
    """Take a centroid out of the search."""
    p = index.place[c]
    index.shut[p] = np.inf
    index.left[p // BLOCK] -= 1
    if index.left[p // BLOCK] == 0:
        index.shut_block[p // BLOCK] = np.inf


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def _bounds(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, out: Any) -> None:
    """What the distance to any centroid of each block is at least.

    OUT  out float64[B]
    """
    # Whole arrays and two indices: a view of a row would cost more than the work on it.
    low, high, gone, least, shut = index.low, index.high, index.gone, index.least, index.shut_block
    n_blocks = len(out)
    for b in range(n_blocks):
        out[b] = shut[b]
    for j in range(len(lines)):
        x, scale, span = lines[j], ruler.scale[j], ruler.spans[j]
        if np.isnan(x):
            for b in range(n_blocks):
                out[b] += 0.0 if gone[j, b] else scale
        elif ruler.squared:
            for b in range(n_blocks):
                t = max(low[j, b] - x, x - high[j, b], 0.0) / span
                out[b] += scale * min(t * t, 1.0)
        else:
            for b in range(n_blocks):
                # A block of missing centres only has no interval; it is as far as a missing value is.
                out[b] += scale * min(max(low[j, b] - x, x - high[j, b], 0.0) / span, 1.0)
    for t in range(len(codes)):
        if index.least_at[t] >= 0:
            at = index.least_at[t] + codes[t]
            for b in range(n_blocks):
                out[b] += least[at, b]


@jit
def nearest(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, hint: int, bound: Any, out: Any) -> int:
    """The open centroid nearest to a row, the lowest number of those that tie; -1 if none is open.

    IN   lines float64[lines];  codes int32[trees];  hint: a centroid that may be near, or -1
    OUT  bound float64[B];  out float64[BLOCK]
    """
    _bounds(ruler, index, lines, codes, bound)
    hinted = index.place[hint] // BLOCK if hint >= 0 and index.place[hint] >= 0 else np.argmin(bound)
    best, who, group = np.inf, -1, index.group
    for turn in range(-1, len(bound)):
        block = hinted if turn < 0 else turn
        if bound[block] > best or bound[block] == np.inf or turn == hinted:
            continue
        first: Any = block * BLOCK
        _look(ruler.scale, ruler.spans, ruler.holes, ruler.squared, index.centre, index.shut, lines, first, out)
        _look_up(
            ruler.table, ruler.table_at, ruler.size, ruler.start, ruler.parent, ruler.depth, ruler.share, index.node,
            codes, first, out,
        )  # fmt: skip
        for i in range(BLOCK):
            if out[i] < best:
                best, who = out[i], group[first + i]
            elif out[i] == best and group[first + i] < who:
                who = group[first + i]
    return who


# Plain arrays and a fixed number of turns: in these two the time goes.


@jit
def _look(
    scale: Any, spans: Any, holes: Any, squared: bool, centre: Any, shut: Any, lines: Any, first: int, out: Any
) -> None:
    """Distances to a block of centroids, over the lines.

    OUT  out float64[BLOCK]
    """
    for i in range(BLOCK):
        out[i] = shut[first + i]
    for j in range(len(lines)):
        x, span, factor = lines[j], spans[j], scale[j]
        for i in range(BLOCK):
            t = abs(x - centre[j, first + i]) / span
            if holes[j] and np.isnan(t):
                t = 0.0 if np.isnan(x) and np.isnan(centre[j, first + i]) else 1.0
            out[i] += factor * (t * t if squared else t)


@jit
def _look_up(
    table: Any, table_at: Any, size: Any, start: Any, parent: Any, depth: Any, share: Any, node: Any, codes: Any,
    first: int, out: Any,
) -> None:  # fmt: skip
    """Distances to a block of centroids: add those over the trees.

    INOUT  out float64[BLOCK]
    """
    for t in range(len(codes)):
        if table_at[t] >= 0:
            at = table_at[t] + codes[t] * size[t]
            for i in range(BLOCK):
                out[i] += table[at + node[t, first + i]]
        else:
            begin, end = start[t], start[t + 1]
            for i in range(BLOCK):
                out[i] += share[begin + meet(parent[begin:end], depth[begin:end], codes[t], node[t, first + i])]


@jit
def nearest_of_some(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, begin: int, end: int, out: Any) -> None:
    """The nearest centroid of some rows.

    IN     lines float64[n, lines];  codes int32[n, trees]
    INOUT  out int64[n]: a centroid that may be near, or -1; then the nearest
    """
    bound, part = np.empty(len(index.left)), np.empty(BLOCK)
    for row in range(begin, end):
        out[row] = nearest(ruler, index, lines[row], codes[row], out[row], bound, part)


@jit_parallel
def nearest_shared(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, begin: int, end: int, out: Any) -> None:
    """`nearest_of_some` on all cores: rows do not depend on each other, so the answer is the same."""
    step = (end - begin + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        first = begin + chunk * step
        nearest_of_some(ruler, index, lines, codes, first, max(first, min(end, first + step)), out)


@jit
def place(
    ruler: Ruler, groups: CentroidGroups, index: CentroidIndex, lines: Any, codes: Any, rows: Any, k: int,
    moving: bool, closing: bool, size: Any, labels: Any,
) -> int:  # fmt: skip
    """Send rows, one after the other, to the nearest open group; how many were sent before all were closed.

    IN     lines float64[n, lines];  codes int32[n, trees];  rows int64[m]
           moving: whether a centroid follows who comes in;  closing: whether a group of k is closed
    INOUT  size int64[K], members of each group;  labels int64[n]
    """
    bound, part = np.empty(len(index.left)), np.empty(BLOCK)
    last = -1
    for i in range(len(rows)):
        row = rows[i]
        c = nearest(ruler, index, lines[row], codes[row], last, bound, part)
        if c < 0:
            return i
        last = labels[row] = c
        size[c] += 1
        if moving:
            join(ruler, groups, lines, codes, row, c)
            move(ruler, groups, index, c)
        if closing and size[c] >= k:
            close(index, c)
    return len(rows)
