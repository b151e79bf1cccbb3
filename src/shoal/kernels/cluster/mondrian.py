"""Mondrian's cuts, one level of parts at a time, the parts of a level side by side.

Rows are points of a matrix, one row per person: a number, a rank, or the left-to-right position of a leaf, and
infinity for a missing value, which therefore lies at the far end of its column. The rows of a part are a run of
`order`; cutting a part permutes its own run only, keeping row order, so parts never touch each other's memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.trees import meet
from shoal.kernels.enforce.violation import Needs, violation
from shoal.kernels.jit import jit, jit_parallel, prange


class CutSpace(NamedTuple):
    """The points and what their columns are."""

    points: Any  # float64[n, d]    IN  inf = missing
    spans: Any  # float64[d]        IN  for a column cut by order: what a width is divided by
    tree: Any  # int64[d]           IN  number of the tree a column is cut along, -1 where it is cut by order
    start: Any  # int64[trees + 1]  IN  where each tree begins in the arrays below
    parent: Any  # int32[nodes]     IN
    depth: Any  # int32[nodes]      IN
    n_leaves: Any  # int32[nodes]   IN
    first_leaf: Any  # int32[nodes] IN
    leaf_start: Any  # int64[trees + 1] IN
    leaf_node: Any  # int32[leaves] IN


class Level(NamedTuple):
    """The parts of one level and what becomes of them."""

    first: Any  # int64[parts]      IN  run of each part in `order`
    last: Any  # int64[parts]       IN
    low: Any  # float64[parts, d]   INOUT  box of each part, as far as it is known
    high: Any  # float64[parts, d]  INOUT
    n_children: Any  # int64[parts] OUT 0 = the part is a class
    column: Any  # int64[parts]     OUT the column that was cut


@jit
def kth_smallest(values: Any, k: int) -> float:
    """Value at position k (from 0) of the sorted values.

    INOUT  values  float64[n], permuted
    """
    left, right = 0, len(values) - 1
    state = 12345
    while left < right:
        # A pivot from a scrambled place: columns that rise and fall would make a fixed place quadratic.
        state = (1103515245 * state + 12345) % 2147483648
        pivot = values[left + state % (right - left + 1)]
        below, i, above = left, left, right
        while i <= above:  # three ways, because columns repeat their values
            if values[i] < pivot:
                values[i], values[below] = values[below], values[i]
                below += 1
                i += 1
            elif values[i] > pivot:
                values[i], values[above] = values[above], values[i]
                above -= 1
            else:
                i += 1
        if k < below:
            right = below - 1
        elif k > above:
            left = above + 1
        else:
            return pivot
    return values[k]


@jit
def _node(space: CutSpace, column: int, low: float, high: float) -> int:
    """Lowest node over a run of leaves; `top` when the run reaches the missing ones."""
    t = space.tree[column]
    begin, end = space.start[t], space.start[t + 1]
    if high == np.inf:
        return end - begin - 2 if low == np.inf else end - begin - 1
    leaves = space.leaf_node[space.leaf_start[t] : space.leaf_start[t + 1]]
    return meet(space.parent[begin:end], space.depth[begin:end], leaves[np.int64(low)], leaves[np.int64(high)])


@jit
def width(space: CutSpace, column: int, low: float, high: float) -> float:
    """Normalised width of a part in one column: 0 for one value, 1 for missing beside present."""
    if low == high:
        return 0.0
    if high == np.inf:
        return 1.0
    if space.tree[column] < 0:
        return (high - low) / space.spans[column]
    begin = space.start[space.tree[column]]
    return space.n_leaves[begin + _node(space, column, low, high)] / space.n_leaves[begin]


@jit
def _bounds(space: CutSpace, run: Any, column: int) -> Any:
    low, high = np.inf, -np.inf
    for row in run:
        x = space.points[row, column]
        low = min(low, x)
        high = max(high, x)
    return low, high


@jit
def _cut_by_order(
    space: CutSpace, run: Any, out: Any, scratch: Any, column: int, k: int, strict: bool, sizes: Any
) -> bool:
    """Cut at the median; strict keeps equal values together, relaxed fills the left half with them in row order."""
    n = len(run)
    if n < 2 * k:
        return False
    for i in range(n):
        scratch[i] = space.points[run[i], column]
    middle = kth_smallest(scratch, n // 2 - 1)
    if strict and middle == np.inf:  # mostly missing: the one cut left is between present and missing
        middle = -np.inf
        for x in scratch:
            if x < np.inf:
                middle = max(middle, x)
    n_below, n_equal = 0, 0
    for x in scratch:
        n_below += x < middle
        n_equal += x == middle
    from_equal = n_equal if strict else n // 2 - n_below
    n_left = n_below + from_equal
    if n_left < k or n - n_left < k:
        return False
    at_left, at_right = 0, n_left
    for row in run:
        x = space.points[row, column]
        left = x < middle
        if x == middle and from_equal > 0:
            from_equal -= 1
            left = True
        if left:
            out[at_left] = row
            at_left += 1
        else:
            out[at_right] = row
            at_right += 1
    sizes[0], sizes[1] = n_left, n - n_left
    return True


@jit
def _cut_by_tree(space: CutSpace, run: Any, out: Any, column: int, low: float, high: float, k: int, sizes: Any) -> int:
    """Cut into the children of the part's lowest node that hold a row; how many, or 0 if one holds fewer than k."""
    if len(run) < 2 * k:
        return 0
    t = space.tree[column]
    begin, end = space.start[t], space.start[t + 1]
    parent = space.parent[begin:end]
    leaves = space.leaf_node[space.leaf_start[t] : space.leaf_start[t + 1]]
    node = _node(space, column, low, high)
    missing_apart = high == np.inf
    first = 0
    n_ids = 2
    if not missing_apart:  # children of a node lie between the child over the first and that over the last leaf
        first = _child_over(parent, leaves[np.int64(low)], node)
        n_ids = _child_over(parent, leaves[np.int64(high)], node) - first + 1
    count = np.zeros(n_ids, dtype=np.int64)
    for row in run:
        x = space.points[row, column]
        count[np.int64(x == np.inf) if missing_apart else _child_over(parent, leaves[np.int64(x)], node) - first] += 1
    n_children = 0
    for size in count:
        if 0 < size < k:
            return 0
        if size:
            sizes[n_children] = size
            n_children += 1
    place = np.cumsum(count) - count
    for row in run:
        x = space.points[row, column]
        child = np.int64(x == np.inf) if missing_apart else _child_over(parent, leaves[np.int64(x)], node) - first
        out[place[child]] = row
        place[child] += 1
    return n_children


@jit
def _child_over(parent: Any, leaf: int, node: int) -> int:
    while parent[leaf] != node:
        leaf = parent[leaf]
    return leaf


@jit
def _all_keep(needs: Needs, run: Any, sizes: Any, n_children: int) -> bool:
    """Whether every child of a part keeps what is promised.

    IN  run int64[rows], by child;  sizes int64[>= n_children]
    """
    begin, fine = 0, True
    for child in range(n_children):
        if fine and len(needs.promises):
            fine = violation(needs, run[begin : begin + sizes[child]]) == 0.0
        begin += sizes[child]
    return fine


@jit
def _split(
    space: CutSpace, level: Level, needs: Needs, part: int, order: Any, out: Any, scratch: Any, sizes: Any, k: int,
    strict: bool, box: bool,
) -> int:  # fmt: skip
    """Cut one part in the widest column that allows a cut; the number of children, 0 when none does."""
    first, last = level.first[part], level.last[part]
    run, low, high = order[first:last], level.low[part], level.high[part]
    n_columns = len(low)
    if not box:
        low[:] = np.inf
        high[:] = -np.inf
        for row in run:
            for j in range(n_columns):
                x = space.points[row, j]
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)
    tried = np.zeros(n_columns, dtype=np.bool_)
    for _ in range(n_columns):
        widest, column = -1.0, -1
        for j in range(n_columns):
            if not tried[j]:
                w = width(space, j, low[j], high[j])
                if w > widest:
                    widest, column = w, j
        tried[column] = True
        if box:
            low[column], high[column] = _bounds(space, run, column)
        if strict and low[column] == high[column]:
            continue
        level.column[part] = column
        here, into = out[first:last], sizes[first:last]
        n_children = 2
        if space.tree[column] >= 0:
            n_children = _cut_by_tree(space, run, here, column, low[column], high[column], k, into)
        elif not _cut_by_order(space, run, here, scratch[first:last], column, k, strict, into):
            n_children = 0
        if n_children and _all_keep(needs, here, into, n_children):
            return n_children
    return 0


@jit_parallel
def split_level(
    space: CutSpace, level: Level, needs: Needs, order: Any, out: Any, scratch: Any, sizes: Any, k: int, strict: bool,
    box: bool, labels: Any,
) -> None:  # fmt: skip
    """Cut every part of a level, or label its rows with the place of the part when it stays whole.

    IN     order  int64[n]
    OUT    out int64[n], the rows of cut parts by child;  sizes int64[n], sizes of the children from the part's place on
    INOUT  scratch float64[n];  labels int64[n]
    """
    first, last, n_children = level.first, level.last, level.n_children  # a store through a tuple is lost in prange
    for part in prange(len(first)):
        n_children[part] = _split(space, level, needs, part, order, out, scratch, sizes, k, strict, box)
        if n_children[part] == 0:
            for row in order[first[part] : last[part]]:
                labels[row] = first[part]


@jit
def children(space: CutSpace, level: Level, order: Any, sizes: Any, first: Any, last: Any, low: Any, high: Any) -> None:
    """Lay out the next level: each child's run, and its box, known so far only in the column that was cut.

    IN   order  int64[n], after the cuts
    OUT  first, last int64[children];  low, high float64[children, d]
    """
    child = 0
    for part in range(len(level.first)):
        at, column = level.first[part], level.column[part]
        for i in range(level.n_children[part]):
            first[child] = at
            at += sizes[level.first[part] + i]
            last[child] = at
            low[child] = level.low[part]
            high[child] = level.high[part]
            _shrink_box(space, order[first[child] : at], column, i, low[child], high[child])
            child += 1


@jit
def _shrink_box(space: CutSpace, run: Any, column: int, i: int, low: Any, high: Any) -> None:
    """A cut moves one end of each child's box; along a tree, the box becomes the leaves of the child's node."""
    true_low, true_high = _bounds(space, run, column)
    if space.tree[column] < 0:
        if i == 0:
            high[column] = true_high
        else:
            low[column] = true_low
        return
    t = space.tree[column]
    begin, end = space.start[t], space.start[t + 1]
    if true_low == np.inf:
        low[column] = high[column] = np.inf
        return
    leaves = space.leaf_node[space.leaf_start[t] : space.leaf_start[t + 1]]
    node = 0
    if high[column] < np.inf:
        above = _node(space, column, low[column], high[column])
        node = _child_over(space.parent[begin:end], leaves[np.int64(true_low)], above)
    low[column] = space.first_leaf[begin + node]
    high[column] = low[column] + space.n_leaves[begin + node] - 1
