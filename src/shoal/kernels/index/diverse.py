"""A tree of boxes around free rows that clusters of bounded diversity grow from: the row with the best score, exactly.

What is known of boxes, and why the answer is that of a scan, is said in `rows`. Here a box also says how diverse the
sensitive values of a cluster can become at most: a score is better the more diverse they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.diversity import Cluster, Pool, Terms, empty_for, swap, take_in
from shoal.kernels.index.boxes import (
    BLOCK,
    GAPS,
    HEAD,
    NOBODY,
    WORDS,
    BoxTree,
    enclose_above,
    enclose_inner,
    first_of,
    leaf_of,
    lift_heads,
    note_search,
    push,
)  # fmt: skip
from shoal.kernels.jit import jit

BLOCK_WORK, LEAF_WORK = 10, 8
"""What a look at a block and at a leaf costs, measured in rows of a scan."""

SORTS = np.dtype(
    [
        ("seen", np.int64), ("other", np.int64), ("gone", np.int64),  # places, a bit each
        ("cost_seen", np.float64), ("cost_other", np.float64), ("cost_gone", np.float64),
    ],
    align=True,
)  # fmt: skip
"""The places of values that a cluster has, of all others, and of the missing one; the diversity with each sort in."""


class DiverseIndex(NamedTuple):
    """Boxes around the tuples of a pool, which stand in the order of the leaves; the free ones of a leaf come first."""

    tree: BoxTree
    starts: Any  # int64[trees]      IN     where the values of each tree begin in `place_of`
    place_of: Any  # int64[values]   IN     place of each value among the bits of a box, tree after tree
    sorts: Any  # SORTS[trees]       INOUT
    apart: Any  # float64[BLOCK]     INOUT  how diverse the sensitive values can become with a row of each box


# -- bounds -----------------------------------------------------------------------------------------------------------


@jit
def _set_sorts(index: DiverseIndex, cluster: Cluster, terms: Terms) -> None:
    """Note which places hold values that the cluster has."""
    for t in range(len(index.sorts)):
        sorts, missing = index.sorts[t], terms.trees[t].last
        sorts.seen, sorts.other, sorts.gone = 0, 0, 1 << index.place_of[missing]
        sorts.cost_gone = cluster.values[missing].cost
        for value in range(terms.trees[t].first, missing):
            bit = 1 << index.place_of[value]
            if cluster.values[value].seen:
                sorts.seen, sorts.cost_seen = sorts.seen | bit, cluster.values[value].cost
            else:
                sorts.other, sorts.cost_other = sorts.other | bit, cluster.values[value].cost


@jit
def _add_least_of_lines(low: Any, high: Any, gaps: Any, bit: int, extent: Any, column: Any, out: Any) -> None:
    """Add the least diversity of a column with a number of each box in.

    IN     low, high float64[BLOCK];  gaps int64[BLOCK];  extent EXTENT;  column COLUMN
    INOUT  out float64[BLOCK]
    """
    begin, end, weight, holes, span = extent.low, extent.high, column.weight, extent.holes, column.span
    gone = 0.0 if np.isnan(begin) else weight
    for i in range(BLOCK):
        x, y = low[i], high[i]
        wide = (x if x > end else end) - (y if y < begin else begin)
        share = wide / span if span > 0.0 else 0.0
        cost = weight if holes else weight * share
        cost = cost if x <= y else np.inf
        missing = gone if (gaps[i] >> bit) & 1 else np.inf
        out[i] += missing if missing < cost else cost


@jit
def _add_most_of_lines(low: Any, high: Any, gaps: Any, bit: int, extent: Any, column: Any, out: Any) -> None:
    """Add the largest diversity of a column with a number of each box in; as `_add_least_of_lines`."""
    begin, end, weight, holes, span = extent.low, extent.high, column.weight, extent.holes, column.span
    gone = 0.0 if np.isnan(begin) else weight
    for i in range(BLOCK):
        x, y = low[i], high[i]
        one = (x if x > end else end) - (x if x < begin else begin)
        other = (y if y > end else end) - (y if y < begin else begin)
        wide = one if one > other else other
        share = wide / span if span > 0.0 else 0.0
        cost = weight if holes else weight * share
        cost = cost if x <= y else -np.inf
        missing = gone if (gaps[i] >> bit) & 1 else -np.inf
        out[i] += missing if missing > cost else cost


@jit
def _add_least_of_words(words: Any, sorts: Any, out: Any) -> None:
    """Add the least diversity of a column of categories with a value of each box in."""
    for i in range(BLOCK):
        word = words[i]
        seen = sorts.cost_seen if word & sorts.seen else np.inf
        other = sorts.cost_other if word & sorts.other else np.inf
        gone = sorts.cost_gone if word & sorts.gone else np.inf
        least = seen if seen < other else other
        out[i] += gone if gone < least else least


@jit
def _add_most_of_words(words: Any, sorts: Any, out: Any) -> None:
    """Add the largest diversity of a column of categories with a value of each box in."""
    for i in range(BLOCK):
        word = words[i]
        seen = sorts.cost_seen if word & sorts.seen else -np.inf
        other = sorts.cost_other if word & sorts.other else -np.inf
        gone = sorts.cost_gone if word & sorts.gone else -np.inf
        most = seen if seen > other else other
        out[i] += gone if gone > most else most


@jit
def _set_bounds(index: DiverseIndex, cluster: Cluster, terms: Terms, block: int) -> None:
    """The best score that a row of each box of a block can have; infinite where there is none."""
    boxes, floats, out, apart = index.tree.boxes[block], index.tree.floats[block], index.tree.bound, index.apart
    n_trees, bounds = len(terms.trees), terms.bounds[0]
    for i in range(BLOCK):
        out[i], apart[i] = 0.0, 0.0
    for j in range(len(terms.lines)):
        at = WORDS + n_trees + 2 * j
        if terms.lines[j].quasi:
            _add_least_of_lines(floats[at], floats[at + 1], boxes[GAPS], j, cluster.extents[j], terms.lines[j], out)
        else:
            _add_most_of_lines(floats[at], floats[at + 1], boxes[GAPS], j, cluster.extents[j], terms.lines[j], apart)
    for t in range(n_trees):
        if terms.trees[t].quasi:
            _add_least_of_words(boxes[WORDS + t], index.sorts[t], out)
        else:
            _add_most_of_words(boxes[WORDS + t], index.sorts[t], apart)
    n_sensitive = bounds.n_sensitive if bounds.n_sensitive > 1 else 1
    for i in range(BLOCK):
        score = bounds.w * out[i] + (1.0 - bounds.w) * (1.0 - apart[i] / n_sensitive)
        out[i] = np.inf if boxes[HEAD, i] == NOBODY else score


# -- searching --------------------------------------------------------------------------------------------------------


@jit
def _measure(pool: Pool, cluster: Cluster, terms: Terms, at: int) -> Any:
    """Diversity of the quasi-identifiers with a tuple in the cluster, and its score; summed as `fill` does."""
    quasi, apart, bounds = 0.0, 0.0, terms.bounds[0]
    for j in range(len(terms.lines)):
        x, extent, span, weight = pool.lines[j, at], cluster.extents[j], terms.lines[j].span, terms.lines[j].weight
        if extent.holes:
            cost = 0.0 if np.isnan(x) and np.isnan(extent.low) else weight
        else:
            wide = (x if x > extent.high else extent.high) - (x if x < extent.low else extent.low)
            share = wide / span if span > 0.0 else 0.0
            cost = weight if np.isnan(x) else weight * share
        quasi, apart = (quasi + cost, apart) if terms.lines[j].quasi else (quasi, apart + cost)
    for t in range(len(terms.trees)):
        cost = cluster.values[terms.trees[t].first + pool.codes[t, at]].cost
        quasi, apart = (quasi + cost, apart) if terms.trees[t].quasi else (quasi, apart + cost)
    n_sensitive = bounds.n_sensitive if bounds.n_sensitive > 1 else 1
    return quasi, bounds.w * quasi + (1.0 - bounds.w) * (1.0 - apart / n_sensitive)


@jit
def best_candidate(pool: Pool, cluster: Cluster, terms: Terms, index: DiverseIndex) -> Any:
    """The free row with the lowest score, and the diversity of the quasi-identifiers with it."""
    tree, first_leaf, work = index.tree, index.tree.shape[0].first_leaf, BLOCK_WORK
    best, row, diversity = np.inf, NOBODY, 0.0
    _set_bounds(index, cluster, terms, 0)
    n = push(tree, 0, best, 0)
    while n > 0:
        n -= 1
        box, bound = tree.stack[n], tree.bounds[n]
        if bound > best or (bound == best and tree.boxes[box // BLOCK, HEAD, box % BLOCK] >= row):
            continue
        if box < first_leaf:
            work += BLOCK_WORK
            _set_bounds(index, cluster, terms, box + 1)
            n = push(tree, box + 1, best, n)
            continue
        work += LEAF_WORK
        first = first_of(tree, box - first_leaf)
        for at in range(first, first + tree.live[box - first_leaf]):
            quasi, score = _measure(pool, cluster, terms, at)
            if score <= best:
                head = pool.rows[pool.tuples[at].next_row]
                if score < best or head < row:
                    best, row, diversity = score, head, quasi
    note_search(tree, work, pool.size[0])
    return row, diversity


# -- growing ----------------------------------------------------------------------------------------------------------


@jit
def grow(pool: Pool, cluster: Cluster, terms: Terms, index: DiverseIndex, seed: int, n_steps: int) -> bool:
    """Let the cluster grow by a number of steps; say whether it is complete. As the scan's, with the same rows."""
    bounds = terms.bounds[0]
    if seed >= 0:
        empty_for(pool, cluster, seed)
        take_in(pool, cluster, terms, seed)
        _leave(pool, index, seed)
    _set_sorts(index, cluster, terms)
    for _ in range(n_steps):
        if pool.size[0] == 0 or cluster.count[0] == bounds.most:
            return True
        row, diversity = best_candidate(pool, cluster, terms, index)
        if diversity > bounds.delta:
            return True
        if take_in(pool, cluster, terms, row):
            _set_sorts(index, cluster, terms)
        _leave(pool, index, row)
    return False


@jit
def give_back(pool: Pool, cluster: Cluster, index: DiverseIndex) -> None:
    """Make all members but the first free again; they were taken in row order within their tuples."""
    tree = index.tree
    for i in range(1, cluster.count[0]):
        position = pool.place[pool.tuple_of[cluster.members[i]]]
        leaf, one = leaf_of(tree, position), pool.tuples[position]
        one.next_row -= 1
        if one.next_row + 1 == one.last_row:
            swap(pool, position, first_of(tree, leaf) + tree.live[leaf])
            tree.live[leaf] += 1
            pool.size[0] += 1
            _enclose_leaf(pool, index, leaf)
            enclose_above(tree, leaf)
        else:
            lift_heads(tree, leaf, _lowest(pool, tree, leaf))


@jit
def pack(pool: Pool, tree: BoxTree) -> None:
    """Bring the free tuples to the front, for scans."""
    n = 0
    for leaf in range(len(tree.live)):
        first = first_of(tree, leaf)
        for at in range(first, first + tree.live[leaf]):
            swap(pool, at, n)
            n += 1


# -- boxes ------------------------------------------------------------------------------------------------------------


@jit
def _leave(pool: Pool, index: DiverseIndex, row: int) -> None:
    """Follow a row that was taken: a tuple with no free row leaves its leaf, and boxes shrink."""
    tree, position = index.tree, pool.place[pool.tuple_of[row]]
    leaf = leaf_of(tree, position)
    if pool.tuples[position].next_row == pool.tuples[position].last_row:
        tree.live[leaf] -= 1
        pool.size[0] -= 1
        swap(pool, position, first_of(tree, leaf) + tree.live[leaf])
        _enclose_leaf(pool, index, leaf)
        enclose_above(tree, leaf)
    else:
        lift_heads(tree, leaf, _lowest(pool, tree, leaf))


@jit
def _lowest(pool: Pool, tree: BoxTree, leaf: int) -> int:
    """The lowest free row of a leaf."""
    first, lowest = first_of(tree, leaf), NOBODY
    for at in range(first, first + tree.live[leaf]):
        row = pool.rows[pool.tuples[at].next_row]
        lowest = row if row < lowest else lowest
    return lowest


@jit
def _enclose_leaf(pool: Pool, index: DiverseIndex, leaf: int) -> None:
    """Put the box of a leaf around its free tuples."""
    tree, n_trees, starts = index.tree, len(pool.codes), index.starts
    block, lane = (tree.shape[0].first_leaf + leaf) // BLOCK, (tree.shape[0].first_leaf + leaf) % BLOCK
    boxes, floats, first = tree.boxes[block], tree.floats[block], first_of(tree, leaf)
    last, gaps = first + tree.live[leaf], 0
    for j in range(len(pool.lines)):
        low, high = np.inf, -np.inf
        for at in range(first, last):
            x = pool.lines[j, at]
            gaps |= int(np.isnan(x)) << j
            low, high = x if x < low else low, x if x > high else high
        field = WORDS + n_trees + 2 * j
        floats[field, lane], floats[field + 1, lane] = low, high
    for t in range(n_trees):
        word = 0
        for at in range(first, last):
            word |= 1 << index.place_of[starts[t] + pool.codes[t, at]]
        boxes[WORDS + t, lane] = word
    boxes[HEAD, lane], boxes[GAPS, lane] = _lowest(pool, tree, leaf), gaps


@jit
def enclose_all(pool: Pool, index: DiverseIndex) -> None:
    """Put boxes around all tuples."""
    for leaf in range(len(index.tree.live)):
        _enclose_leaf(pool, index, leaf)
    enclose_inner(index.tree)
