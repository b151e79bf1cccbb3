"""A tree of boxes around centroids: which is nearest to a row, exactly, while centroids move and close.

See `rows`; distances here are those of `shoal.kernels.cluster.centroids`, lines first, then trees. A box knows which
nodes of a tree its centroids are at, and how near any of them is to a value of a row: the lowest node above the value
under which one of them lies says it. Of centroids at equal distance the lowest number wins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.centroids import CentroidGroups, Ruler, meet
from shoal.kernels.index.boxes import (
    BLOCK,
    GAPS,
    HEAD,
    NOBODY,
    WORDS,
    BoxTree,
    enclose_above,
    enclose_inner,
    note_search,
    pays,
    push,
)
from shoal.kernels.jit import jit

LEAF = 8
"""Most centroids of a leaf."""
BLOCK_WORK, LEAF_WORK = 10, 10
"""What a look at a block and at a leaf costs, measured in centroids of a scan."""


class Leaves(NamedTuple):
    """Centroids in leaves; in a leaf those that are open come first. A tree of boxes may stand above them."""

    centre: Any  # float64[leaves, lines, LEAF]  INOUT
    node: Any  # int32[leaves, trees, LEAF]      INOUT
    group: Any  # int64[leaves, LEAF]            INOUT  their numbers
    live: Any  # int64[leaves]                   INOUT  how many of each leaf are open
    place_of: Any  # int64[K]                    INOUT  leaf of each centroid, times LEAF, and its place there; -1: none
    room: Any  # int64[K]                        INOUT  how many rows may still come to it; 0 = it is closed
    distances: Any  # float64[LEAF]              INOUT


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def nearest(ruler: Ruler, leaves: Leaves, tree: BoxTree | None, lines: Any, codes: Any, hint: int) -> int:
    """The open centroid nearest to a row, the lowest number of those that tie; -1 if none is open.

    IN  lines float64[lines];  codes int32[trees];  hint: a centroid that may be near, or -1
        tree: None where centroids are few; nothing that a tree needs is compiled then
    """
    if tree is None:  # noqa: SIM114 - an own branch: it alone is compiled without a tree
        who = _scan(ruler, leaves, lines, codes)
    elif tree.shape[0].off:
        who = _scan(ruler, leaves, lines, codes)
    else:
        who = _search(ruler, leaves, tree, lines, codes, hint)
    return who if who < NOBODY else -1


@jit
def _scan(ruler: Ruler, leaves: Leaves, lines: Any, codes: Any) -> int:
    """Look at all of them."""
    best, who = np.inf, NOBODY
    for leaf in range(len(leaves.live)):
        best, who = _look(ruler, leaves, lines, codes, leaf, best, who)
    return who


@jit
def _search(ruler: Ruler, leaves: Leaves, tree: BoxTree, lines: Any, codes: Any, hint: int) -> int:
    """Pass over the boxes in which none can be nearer; a look at those beside the hint comes first."""
    first_leaf, work = tree.shape[0].first_leaf, BLOCK_WORK
    best, who, hinted = np.inf, NOBODY, -1
    if hint >= 0 and leaves.place_of[hint] >= 0:
        hinted = leaves.place_of[hint] // LEAF
        best, who = _look(ruler, leaves, lines, codes, hinted, best, who)
    _set_bounds(ruler, tree, lines, codes, 0)
    n = push(tree, 0, best, 0)
    while n > 0:
        n -= 1
        box, bound = tree.stack[n], tree.bounds[n]
        if bound > best or (bound == best and tree.boxes[box // BLOCK, HEAD, box % BLOCK] >= who):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_bounds(ruler, tree, lines, codes, box + 1)
            n = push(tree, box + 1, best, n)
        elif box - first_leaf != hinted:
            work += LEAF_WORK
            best, who = _look(ruler, leaves, lines, codes, box - first_leaf, best, who)
    note_search(tree, work, tree.shape[0].n_rows)
    if not pays(tree):
        tree.shape[0].off = 1
    return who


@jit
def _look(ruler: Ruler, leaves: Leaves, lines: Any, codes: Any, leaf: int, best: float, who: int) -> Any:
    """The best so far after a look at the open centroids of a leaf: its distance and its number."""
    _measure(ruler, leaves, lines, codes, leaf)
    out, group = leaves.distances, leaves.group
    for i in range(leaves.live[leaf]):
        if out[i] < best or (out[i] == best and group[leaf, i] < who):
            best, who = out[i], group[leaf, i]
    return best, who


@jit
def _measure(ruler: Ruler, leaves: Leaves, lines: Any, codes: Any, leaf: int) -> None:
    """Distances of a row to the centroids of a leaf, also to those that are closed."""
    # Whole arrays: here the time goes.
    out, table = leaves.distances, ruler.table
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(lines)):
        line, x, centre = ruler.lines[j], lines[j], leaves.centre[leaf, j]
        scale, span, holes, squared = line.scale, line.span, line.holes, line.squared
        for i in range(len(out)):
            t = abs(x - centre[i]) / span
            if holes and np.isnan(t):
                t = 0.0 if np.isnan(x) and np.isnan(centre[i]) else 1.0
            out[i] += scale * (t * t if squared else t)
    for t in range(len(codes)):
        tree, node = ruler.trees[t], leaves.node[leaf, t]
        code: Any = np.int64(codes[t])
        if tree.pairs >= 0:
            at = tree.pairs + code * tree.size
            for i in range(len(out)):
                out[i] += table[at + node[i]]
        else:
            for i in range(len(out)):
                other: Any = np.int64(node[i])
                out[i] += ruler.nodes[tree.first + meet(ruler.nodes, tree.first, code, other)].share


@jit
def _set_bounds(ruler: Ruler, tree: BoxTree, lines: Any, codes: Any, block: int) -> None:
    """What the distance to any open centroid of each box of a block is at least; infinite where there is none."""
    # Whole arrays, no branch, and no loop over the levels: here the time goes.
    boxes, floats, out, heads, n_trees = tree.boxes, tree.floats, tree.bound, tree.boxes[block, HEAD], len(codes)
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(lines)):
        _add_line(ruler.lines[j], lines[j], floats, boxes[block, GAPS], block, WORDS + n_trees + 2 * j, j, out)
    for t in range(n_trees):
        level = ruler.levels[ruler.trees[t].first + codes[t]]
        cost_0, cost_1, cost_2, cost_3 = level.cost_0, level.cost_1, level.cost_2, level.cost_3
        below_0, below_1, below_2 = level.below_0, level.below_1, level.below_2
        words = boxes[block, WORDS + t]
        if cost_1 == cost_3:
            for i in range(len(out)):
                out[i] += cost_0 if words[i] & below_0 else cost_1
            continue
        for i in range(len(out)):
            word = words[i]
            cost = cost_2 if word & below_2 else cost_3
            cost = cost_1 if word & below_1 else cost
            out[i] += cost_0 if word & below_0 else cost
    for i in range(len(out)):
        out[i] = np.inf if heads[i] == NOBODY else out[i]


@jit
def _add_line(line: Any, x: float, floats: Any, gaps: Any, block: int, at: int, bit: int, out: Any) -> None:
    """Add what the centres of each box of a block are at least away from a number.

    IN     line LINE;  gaps int64[BLOCK];  at: where the centres are in the block
    INOUT  out float64[BLOCK]
    """
    low, high = floats[block, at], floats[block, at + 1]
    scale, span, squared, unknown = line.scale, line.span, line.squared, np.isnan(x)
    if not line.holes and not unknown:
        for i in range(len(out)):
            below, above = low[i] - x, x - high[i]
            t = below if below > above else above
            t = (t if t > 0.0 else 0.0) / span
            out[i] += scale * (t * t if squared else t)
        return
    for i in range(len(out)):
        below, above = low[i] - x, x - high[i]
        t = below if below > above else above
        t = (t if t > 0.0 else 0.0) / span
        present = scale if unknown else scale * (t * t if squared else t)
        present = present if low[i] <= high[i] else np.inf
        missing = 0.0 if unknown else scale
        missing = missing if (gaps[i] >> bit) & 1 else np.inf
        out[i] += missing if missing < present else present


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _enclose_leaf(ruler: Ruler, leaves: Leaves, tree: BoxTree, leaf: int) -> bool:
    """Put the box of a leaf around its open centroids; say whether that changed it."""
    centre, node, group, n = leaves.centre, leaves.node, leaves.group, leaves.live[leaf]
    block, lane = (tree.shape[0].first_leaf + leaf) // BLOCK, (tree.shape[0].first_leaf + leaf) % BLOCK
    boxes, floats, n_trees, gaps, lowest = tree.boxes[block], tree.floats[block], node.shape[1], 0, NOBODY
    changed = False
    for j in range(centre.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(n):
            x = centre[leaf, j, i]
            gaps |= int(np.isnan(x)) << j
            low, high = x if x < low else low, x if x > high else high
        at = WORDS + n_trees + 2 * j
        changed |= low != floats[at, lane] or high != floats[at + 1, lane]
        floats[at, lane], floats[at + 1, lane] = low, high
    for t in range(n_trees):
        word, first = 0, ruler.trees[t].first
        for i in range(n):
            word |= ruler.levels[first + node[leaf, t, i]].place
        changed |= word != boxes[WORDS + t, lane]
        boxes[WORDS + t, lane] = word
    for i in range(n):
        lowest = group[leaf, i] if group[leaf, i] < lowest else lowest
    changed |= lowest != boxes[HEAD, lane] or gaps != boxes[GAPS, lane]
    boxes[HEAD, lane], boxes[GAPS, lane] = lowest, gaps
    return changed


@jit
def enclose_all(ruler: Ruler, leaves: Leaves, tree: BoxTree) -> None:
    """Put boxes around all open centroids."""
    for leaf in range(len(leaves.live)):
        _enclose_leaf(ruler, leaves, tree, leaf)
    enclose_inner(tree)


@jit
def _follow(ruler: Ruler, leaves: Leaves, tree: BoxTree | None, leaf: int) -> None:
    """Follow a leaf whose centroids moved or closed."""
    if tree is None:
        return
    if not tree.shape[0].off and _enclose_leaf(ruler, leaves, tree, leaf):
        enclose_above(tree, leaf)


@jit
def move(ruler: Ruler, groups: CentroidGroups, leaves: Leaves, tree: BoxTree | None, c: int) -> None:
    """Follow a centroid that moved, if it did."""
    means, modes, place = groups.means, groups.modes, leaves.place_of[c]
    leaf, i, moved = place // LEAF, place % LEAF, False
    centre, node = leaves.centre, leaves.node
    for j in range(len(means)):
        x = means[j, c].centre
        moved |= x != centre[leaf, j, i] and not (np.isnan(x) and np.isnan(centre[leaf, j, i]))
        centre[leaf, j, i] = x
    for t in range(len(modes)):
        moved |= modes[t, c].node != node[leaf, t, i]
        node[leaf, t, i] = modes[t, c].node
    if moved:
        _follow(ruler, leaves, tree, leaf)


@jit
def close(ruler: Ruler, leaves: Leaves, tree: BoxTree | None, c: int) -> None:
    """Take a centroid out of the search."""
    centre, node, group, place_of = leaves.centre, leaves.node, leaves.group, leaves.place_of
    leaf, i = place_of[c] // LEAF, place_of[c] % LEAF
    leaves.live[leaf] -= 1
    last = leaves.live[leaf]
    for j in range(centre.shape[1]):
        centre[leaf, j, i], centre[leaf, j, last] = centre[leaf, j, last], centre[leaf, j, i]
    for t in range(node.shape[1]):
        node[leaf, t, i], node[leaf, t, last] = node[leaf, t, last], node[leaf, t, i]
    group[leaf, i], group[leaf, last] = group[leaf, last], group[leaf, i]
    place_of[group[leaf, i]], place_of[group[leaf, last]] = leaf * LEAF + i, leaf * LEAF + last
    leaves.room[c] = 0
    _follow(ruler, leaves, tree, leaf)
