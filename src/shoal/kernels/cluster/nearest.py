"""Which centroid is nearest to a row, without looking at all of them.

Centroids that are close to each other lie side by side in blocks. Of each block it is known how near any of its members
can be to a value of each column, so a block whose best is worse than what was found already is passed over. The bounds
are summed in the order in which distances are: rounding keeps the order of sums whose every term is smaller, so the
answer is exactly that of looking at every centroid, the lowest number of those that tie.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.centroids import CentroidGroups, Ruler, join, meet
from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 16
CHUNKS = 16
PLACE = np.dtype([("group", np.int64), ("room", np.int64)], align=True)
"""A place of the index: the number of its centroid, and how many rows may still come to it; 0 = it is closed."""


class CentroidIndex(NamedTuple):
    """Centroids in B blocks, at places 0 .. P - 1; the last block is filled up with places that are closed."""

    places: Any  # PLACE[P]           INOUT
    place_of: Any  # int64[K]         IN     place of each centroid; -1: not in the index
    centre: Any  # float64[lines, P]  INOUT
    node: Any  # int32[trees, P]      INOUT
    low: Any  # float64[lines, B]     INOUT  centres of each block are at least this, infinite if all are missing
    high: Any  # float64[lines, B]    INOUT  and at most this
    gone: Any  # bool[lines, B]       INOUT  whether a centre of the block is missing
    least: Any  # float64[all, B]     INOUT  how near the nodes of each block are to each node of the smaller trees
    n_open: Any  # int64[B]           INOUT  open centroids of each block


@jit
def move(ruler: Ruler, groups: CentroidGroups, index: CentroidIndex, c: int) -> None:
    """Follow a centroid that moved; the bounds of its block only widen, and are as tight as can be in a new index."""
    means, modes, nodes, low, high, least = groups.means, groups.modes, index.node, index.low, index.high, index.least
    p = index.place_of[c]
    block = p // BLOCK
    for j in range(len(means)):
        x = means[j, c].centre
        index.centre[j, p] = x
        if np.isnan(x):
            index.gone[j, block] = True
        else:
            low[j, block] = x if x < low[j, block] else low[j, block]
            high[j, block] = x if x > high[j, block] else high[j, block]
    for t in range(len(modes)):
        node, tree = modes[t, c].node, ruler.trees[t]
        if nodes[t, p] != node and tree.least >= 0:
            for value in range(tree.size):
                near = ruler.table[tree.pairs + value * tree.size + node]
                if near < least[tree.least + value, block]:
                    least[tree.least + value, block] = near
        nodes[t, p] = node


@jit
def close(index: CentroidIndex, p: int) -> None:
    """Take a place out of the search."""
    index.places[p].room = 0
    index.n_open[p // BLOCK] -= 1


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def nearest(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, hint: int, bound: Any, out: Any) -> int:
    """The open centroid nearest to a row, the lowest number of those that tie; -1 if none is open.

    IN   lines float64[lines];  codes int32[trees];  hint: a centroid that may be near, or -1
    OUT  bound float64[B];  out float64[BLOCK]
    """
    _bounds(ruler, index, lines, codes, bound)
    hinted = index.place_of[hint] // BLOCK if hint >= 0 else -1
    if hinted < 0:
        hinted = 0
        for b in range(len(bound)):
            if bound[b] < bound[hinted]:
                hinted = b
    best, who, places = np.inf, -1, index.places
    for turn in range(-1, len(bound)):
        block = hinted if turn < 0 else turn
        if bound[block] > best or bound[block] == np.inf or turn == hinted:
            continue
        _look(ruler, index, lines, codes, block, out)
        for i in range(len(out)):
            group = places[block * BLOCK + i].group
            if out[i] < best or (out[i] == best and group < who):
                best, who = out[i], group
    return who


@jit
def _bounds(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, out: Any) -> None:
    """What the distance to any open centroid of each block is at least.

    OUT  out float64[B]
    """
    # Whole arrays and two indices: a view of a row would cost more than the work on it.
    low, high, gone, least, n_open = index.low, index.high, index.gone, index.least, index.n_open
    n_blocks = len(out)
    for b in range(n_blocks):
        out[b] = 0.0 if n_open[b] else np.inf
    for j in range(len(lines)):
        line, x = ruler.lines[j], lines[j]
        scale, span, squared = line.scale, line.span, line.squared
        if np.isnan(x):
            for b in range(n_blocks):
                out[b] += 0.0 if gone[j, b] else scale
            continue
        for b in range(n_blocks):
            below, above = low[j, b] - x, x - high[j, b]
            t = below if below > above else above
            t = (t if t > 0.0 else 0.0) / span
            t = t * t if squared else t
            # A block of missing centres only has no interval; it is as far as a missing value is.
            out[b] += scale * (t if t < 1.0 else 1.0)
    for t in range(len(codes)):
        if ruler.trees[t].least >= 0:
            at = ruler.trees[t].least + codes[t]
            for b in range(n_blocks):
                out[b] += least[at, b]


@jit
def _look(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, block: int, out: Any) -> None:
    """Distances to a block of centroids, infinite where they are closed.

    OUT  out float64[BLOCK]
    """
    # Whole arrays and a fixed number of turns: here the time goes.
    places, centre, node, table, first = index.places, index.centre, index.node, ruler.table, block * BLOCK
    for i in range(BLOCK):
        out[i] = 0.0 if places[first + i].room else np.inf
    for j in range(len(lines)):
        line, x = ruler.lines[j], lines[j]
        scale, span, holes, squared = line.scale, line.span, line.holes, line.squared
        for i in range(BLOCK):
            t = abs(x - centre[j, first + i]) / span
            if holes and np.isnan(t):
                t = 0.0 if np.isnan(x) and np.isnan(centre[j, first + i]) else 1.0
            out[i] += scale * (t * t if squared else t)
    for t in range(len(codes)):
        tree = ruler.trees[t]
        code: Any = np.int64(codes[t])
        if tree.pairs >= 0:
            at = tree.pairs + code * tree.size
            for i in range(BLOCK):
                out[i] += table[at + node[t, first + i]]
        else:
            for i in range(len(out)):
                other: Any = np.int64(node[t, first + i])
                out[i] += ruler.nodes[tree.first + meet(ruler.nodes, tree.first, code, other)].share


@jit
def place(
    ruler: Ruler, groups: CentroidGroups | None, index: CentroidIndex, lines: Any, codes: Any, rows: Any, moving: bool,
    labels: Any,
) -> int:  # fmt: skip
    """Send rows, one after the other, to the nearest open group; how many were sent before all were closed.

    IN     lines float64[n, lines];  codes int32[n, trees];  rows int64[m]
           moving: whether a centroid follows who comes in
    INOUT  groups: None where centroids never follow
           labels int64[n]: a centroid that may be near, or -1; then the nearest
    """
    bound, part = np.empty(len(index.n_open)), np.empty(BLOCK)
    c = -1
    for i in range(len(rows)):
        row = rows[i]
        c = nearest(ruler, index, lines[row], codes[row], labels[row] if labels[row] >= 0 else c, bound, part)
        if c < 0:
            return i
        labels[row] = c
        if groups is not None and moving:
            join(ruler, groups, lines, codes, row, c)
            move(ruler, groups, index, c)
        p = index.place_of[c]
        index.places[p].room -= 1
        if index.places[p].room == 0:
            close(index, p)
    return len(rows)


@jit_parallel
def nearest_shared(ruler: Ruler, index: CentroidIndex, lines: Any, codes: Any, rows: Any, labels: Any) -> None:
    """`place` on all cores, where groups neither move nor close: rows do not depend on each other then."""
    step = (len(rows) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        bound, part = np.empty(len(index.n_open)), np.empty(BLOCK)
        for row in rows[chunk * step : (chunk + 1) * step]:
            labels[row] = nearest(ruler, index, lines[row], codes[row], labels[row], bound, part)
