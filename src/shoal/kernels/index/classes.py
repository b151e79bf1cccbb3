"""A tree of boxes around classes and their generalised tuples: the nearest to one of them, exactly (KACA).

A box knows between which numbers its intervals begin and end, and which nodes are in it. So it is known how little a
class, and any class of the box, can lose at least if they are merged; both sums are formed in the order in which those
of two classes are, so no class is lost to rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.kaca import ClassStore, Scale, line_costs
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
    push,
)
from shoal.kernels.jit import jit

BLOCK_WORK, LEAF_WORK = 20, 20
"""What a look at a block and at a leaf costs, measured in classes of a scan."""
LEVELS = 4
"""How many different losses in a tree are told apart; the others count as the least of them."""
SURE = 1.0 - 1e-9
"""A loss that was not formed as that of two classes is: so much of it is less, whatever was rounded."""


class ClassIndex(NamedTuple):
    """Boxes around classes, and their tuples in the order of the leaves."""

    tree: BoxTree  # two columns of numbers for each: where intervals begin, where they end
    low: Any  # float64[leaves, lines, room]   INOUT  as in the store
    high: Any  # float64[leaves, lines, room]  INOUT
    node: Any  # int64[leaves, trees, room]    INOUT
    ids: Any  # int64[leaves, room]            INOUT  their positions in the store
    place_of: Any  # int64[nodes]              IN     place of each node among the bits of a box; -1: it does not occur
    fuzz: Any  # float64[lines]                IN     what a loss may be off by rounding; infinite: all are points


class Query(NamedTuple):
    """What the class that looks for a partner is compared with."""

    mine: Any  # float64[trees, LEVELS]          INOUT  what it loses beside nodes, the least first
    mine_places: Any  # int64[trees, LEVELS]     INOUT  the places of those nodes; all others have the last
    theirs: Any  # float64[trees, LEVELS]        INOUT  the same of what nodes lose
    their_places: Any  # int64[trees, LEVELS]    INOUT
    sums: Any  # float64[2, BLOCK]               INOUT
    best: Any  # float64[WORD]                   INOUT


# -- bounds -----------------------------------------------------------------------------------------------------------


@jit
def _set_levels(best: Any, n_places: int, costs: Any, places: Any) -> None:
    """Note the lowest costs of places, and who has them.

    IN   best float64[WORD], by place
    OUT  costs float64[LEVELS];  places int64[LEVELS]
    """
    n = 0
    for place in range(n_places):
        cost, at = best[place], n
        while at > 0 and costs[at - 1] > cost:
            at -= 1
        if at > 0 and costs[at - 1] == cost:
            places[at - 1] |= np.int64(1) << place
            continue
        if n == LEVELS and at == n:
            continue  # shares the last level
        n = n + 1 if n < LEVELS else n
        for i in range(n - 1, at, -1):
            costs[i], places[i] = costs[i - 1], places[i - 1]
        costs[at], places[at] = cost, np.int64(1) << place
    for i in range(n, LEVELS):
        costs[i], places[i] = costs[n - 1] if n else 0.0, 0


@jit
def _set_query(index: ClassIndex, scale: Scale, reach: Any, query: Query) -> None:
    """Note what a class and the nodes of each tree lose beside each other, the least first.

    IN  reach REACH[nodes]
    """
    best = query.best
    for t in range(len(scale.trees)):
        for side in range(2):
            best[:], n_places = np.inf, 0
            for node in range(scale.trees[t].first, scale.trees[t].last):
                place = index.place_of[node]
                if place >= 0:
                    cost = reach[node].theirs if side else reach[node].mine
                    best[place] = cost if cost < best[place] else best[place]
                    n_places = place + 1 if place >= n_places else n_places
            if side:
                _set_levels(best, n_places, query.theirs[t], query.their_places[t])
            else:
                _set_levels(best, n_places, query.mine[t], query.mine_places[t])


@jit
def _add_line(index: ClassIndex, block: int, j: int, low: float, high: float, span: float, query: Query) -> None:
    """Add what an interval, and those of each box of a block, lose at least in a column of numbers."""
    boxes, floats, fuzz = index.tree.boxes[block], index.tree.floats[block], index.fuzz[j]
    at, stars = WORDS + len(index.node[0]) + 1 + 4 * j, boxes[WORDS + len(index.node[0])]
    gone, star = low > high, low == -np.inf
    for i in range(BLOCK):
        mine = theirs = np.inf
        low_first, low_last, high_first, high_last = (
            floats[at, i],
            floats[at + 1, i],
            floats[at + 2, i],
            floats[at + 3, i],
        )
        if low_first <= low_last:
            if star:
                mine, theirs = 0.0, 1.0
            elif gone:
                mine, theirs = 1.0, 1.0
            elif span == 0.0:
                mine, theirs = 0.0, 0.0
            else:
                wide = (high if high > high_first else high_first) - (low if low < low_last else low_last)
                mine = (wide - (high - low)) / span
                theirs = wide / span
                if fuzz < np.inf:
                    right, left = high - high_last, low_first - low
                    theirs = ((right if right > 0.0 else 0.0) + (left if left > 0.0 else 0.0)) / span * SURE - fuzz
                    theirs = theirs if theirs > 0.0 else 0.0
        if (boxes[GAPS, i] >> j) & 1:
            one, other = (0.0, 0.0) if gone else (0.0 if star else 1.0, 1.0)
            mine, theirs = one if one < mine else mine, other if other < theirs else theirs
        if (stars[i] >> j) & 1:
            one = 0.0 if star else 1.0
            mine, theirs = one if one < mine else mine, 0.0
        query.sums[0, i] += mine
        query.sums[1, i] += theirs


@jit
def _set_bounds(
    index: ClassIndex, store: ClassStore, scale: Scale, query: Query, one: int, least: int, block: int
) -> None:
    """How near the classes of each box of a block can be at most, if all have a size; infinite where there is none."""
    mine, theirs, boxes, out = query.sums[0], query.sums[1], index.tree.boxes[block], index.tree.bound
    for i in range(len(out)):
        mine[i], theirs[i] = 0.0, 0.0
    for j in range(len(store.low)):
        _add_line(index, block, j, store.low[j, one], store.high[j, one], scale.spans[j], query)
    for t in range(len(store.node)):
        words = boxes[WORDS + t]
        _add_levels(words, query.mine[t], query.mine_places[t], mine)
        _add_levels(words, query.theirs[t], query.their_places[t], theirs)
    size = store.classes[one].size
    for i in range(len(out)):
        out[i] = np.inf if boxes[HEAD, i] == NOBODY else size * mine[i] + least * theirs[i]


@jit
def _add_levels(words: Any, costs: Any, places: Any, out: Any) -> None:
    """Add the lowest cost of the places that each box has.

    IN     words int64[BLOCK];  costs float64[LEVELS];  places int64[LEVELS]
    INOUT  out float64[BLOCK]
    """
    cost_0, cost_1, cost_2, cost_3 = costs[0], costs[1], costs[2], costs[3]
    place_0, place_1, place_2 = places[0], places[1], places[2]
    for i in range(len(out)):
        word = words[i]
        cost = cost_2 if word & place_2 else cost_3
        cost = cost_1 if word & place_1 else cost
        out[i] += cost_0 if word & place_0 else cost


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def costs_of(store: ClassStore, scale: Scale, reach: Any, one: int, other: int, found: Any) -> Any:
    """What each of two classes of a store loses if they are merged, for each row; summed as a scan does.

    Infinite as soon as it is known that another one is nearer.

    IN  reach REACH[nodes];  found FOUND
    """
    size, least, best, mine, theirs = store.classes[one].size, found.least, found.distance, 0.0, 0.0
    for j in range(len(store.low)):
        lost, other_lost = line_costs(
            store.low[j, one], store.high[j, one], store.low[j, other], store.high[j, other], scale.spans[j]
        )
        mine, theirs = mine + lost, theirs + other_lost
    for t in range(len(store.node)):
        if size * mine + least * theirs > best:
            return np.inf, np.inf
        seen = reach[scale.trees[t].first + store.node[t, other]]
        mine, theirs = mine + seen.mine, theirs + seen.theirs
    return mine, theirs


@jit
def _look_at(
    index: ClassIndex, store: ClassStore, scale: Scale, reach: Any, one: int, k: int, leaf: int, found: Any
) -> None:
    """Compare the classes of a leaf with the nearest found before.

    IN     reach REACH[nodes]
    INOUT  found FOUND
    """
    low, high, node, ids = index.low[leaf], index.high[leaf], index.node[leaf], index.ids[leaf]
    size, least = store.classes[one].size, found.least
    for i in range(index.tree.live[leaf]):
        best, mine, theirs = found.distance, 0.0, 0.0
        for j in range(len(low)):
            lost, other_lost = line_costs(store.low[j, one], store.high[j, one], low[j, i], high[j, i], scale.spans[j])
            mine, theirs = mine + lost, theirs + other_lost
        t = 0
        while t < len(node) and size * mine + least * theirs <= best:
            seen = reach[scale.trees[t].first + node[t, i]]
            mine, theirs = mine + seen.mine, theirs + seen.theirs
            t += 1
        if t < len(node) or size * mine + least * theirs > best:
            continue
        distance = size * mine + charged(size, store.classes[ids[i]].size, k) * theirs
        if distance < best or (distance == best and ids[i] < found.id):
            found.distance, found.id = distance, ids[i]


@jit
def charged(size: int, other_size: int, k: int) -> int:
    """For how many rows the other class is charged: a split generalises the stub only."""
    return k - size if size + other_size >= 2 * k else other_size


@jit
def search(
    index: ClassIndex, store: ClassStore, scale: Scale, reach: Any, query: Query, one: int, k: int, found: Any
) -> None:
    """Find the class nearest to one, the first of those that tie, if it is nearer than the one found before.

    IN     reach REACH[nodes]
    INOUT  found FOUND
    """
    tree, first_leaf, work = index.tree, index.tree.shape[0].first_leaf, BLOCK_WORK
    least = found.least
    _set_query(index, scale, reach, query)
    _set_bounds(index, store, scale, query, one, least, 0)
    n = push(tree, 0, found.distance, 0)
    while n > 0:
        n -= 1
        box, bound, best = tree.stack[n], tree.bounds[n], found.distance
        if bound > best or (bound == best and tree.boxes[box // BLOCK, HEAD, box % BLOCK] >= found.id):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_bounds(index, store, scale, query, one, least, box + 1)
            n = push(tree, box + 1, best, n)
            continue
        work += LEAF_WORK
        _look_at(index, store, scale, reach, one, k, box - first_leaf, found)
    note_search(tree, work, store.counts[0].alive)


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _enclose_leaf(index: ClassIndex, scale: Scale, leaf: int) -> None:
    """Put the box of a leaf around its classes."""
    tree, n, n_trees = index.tree, index.tree.live[leaf], len(index.node[leaf])
    block, lane = (tree.shape[0].first_leaf + leaf) // BLOCK, (tree.shape[0].first_leaf + leaf) % BLOCK
    boxes, floats, gaps, stars, lowest = tree.boxes[block], tree.floats[block], 0, 0, NOBODY
    for j in range(len(index.low[leaf])):
        at = WORDS + n_trees + 1 + 4 * j
        for side in range(2):
            floats[at + 2 * side, lane], floats[at + 2 * side + 1, lane] = np.inf, -np.inf
        for i in range(n):
            low, high = index.low[leaf, j, i], index.high[leaf, j, i]
            if low > high:
                gaps |= 1 << j
            elif low == -np.inf:
                stars |= 1 << j
            else:
                floats[at, lane] = low if low < floats[at, lane] else floats[at, lane]
                floats[at + 1, lane] = low if low > floats[at + 1, lane] else floats[at + 1, lane]
                floats[at + 2, lane] = high if high < floats[at + 2, lane] else floats[at + 2, lane]
                floats[at + 3, lane] = high if high > floats[at + 3, lane] else floats[at + 3, lane]
    for t in range(n_trees):
        word = 0
        for i in range(n):
            word |= np.int64(1) << index.place_of[scale.trees[t].first + index.node[leaf, t, i]]
        boxes[WORDS + t, lane] = word
    for i in range(n):
        lowest = index.ids[leaf, i] if index.ids[leaf, i] < lowest else lowest
    boxes[HEAD, lane], boxes[GAPS, lane], boxes[WORDS + n_trees, lane] = lowest, gaps, stars


@jit
def enclose_all(index: ClassIndex, scale: Scale) -> None:
    """Put boxes around all classes."""
    for leaf in range(len(index.tree.live)):
        _enclose_leaf(index, scale, leaf)
    enclose_inner(index.tree)


@jit
def leave(index: ClassIndex, scale: Scale, position: int, places: Any) -> None:
    """Take the class at a position out.

    INOUT  places int64[room], where each class is
    """
    room = index.ids.shape[1]
    leaf, place = position // room, position % room
    index.tree.live[leaf] -= 1
    last = index.tree.live[leaf]
    for j in range(len(index.low[leaf])):
        index.low[leaf, j, place], index.high[leaf, j, place] = index.low[leaf, j, last], index.high[leaf, j, last]
    for t in range(len(index.node[leaf])):
        index.node[leaf, t, place] = index.node[leaf, t, last]
    index.ids[leaf, place] = index.ids[leaf, last]
    places[index.ids[leaf, place]] = position
    _enclose_leaf(index, scale, leaf)
    enclose_above(index.tree, leaf)
