"""Mondrian's cuts, one level of parts at a time, the parts of a level side by side.

Rows are points of a matrix, one row per person: a number, a rank, or the left-to-right position of a leaf, and
infinity for a missing value, which therefore lies at the far end of its column. The rows of a part are a run of
`order`; cutting a part permutes its own run only, keeping row order, so parts never touch each other's memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.violation import Needs, violation
from shoal.kernels.jit import jit

COLUMN = np.dtype(
    [("span", np.float64), ("tree", np.bool_), ("first", np.int64), ("last", np.int64), ("leaves", np.int64)],
    align=True,
)
"""A column: what a width is divided by where it is cut by order; whether it is cut along a tree; where the nodes of
that tree begin and end, and where its leaves begin."""
NODE = np.dtype(
    [("parent", np.int64), ("depth", np.int64), ("n_leaves", np.int64), ("first_leaf", np.int64)], align=True
)
"""A node; numbers of nodes and leaves count within their own tree."""
PART = np.dtype([("first", np.int64), ("last", np.int64), ("n_children", np.int64), ("column", np.int64)], align=True)
"""A part: its run in `order`; into how many it was cut, 0 where it is a class; the column that was cut."""


class CutSpace(NamedTuple):
    """The points and what their columns are."""

    points: Any  # float64[n, d]   IN  inf = missing
    columns: Any  # COLUMN[d]      IN
    nodes: Any  # NODE[nodes]      IN  tree after tree
    leaf_node: Any  # int64[leaves] IN  tree after tree


class Level(NamedTuple):
    """The parts of one level and what becomes of them."""

    parts: Any  # PART[parts]       INOUT
    low: Any  # float64[parts, d]   INOUT  box of each part, as far as it is known
    high: Any  # float64[parts, d]  INOUT


class Cutting(NamedTuple):
    """How parts are cut, and where their rows go."""

    k: int
    strict: bool  # whether equal values stay on one side of a cut
    box: bool  # whether widths are those of boxes, not of the rows
    order: Any  # int64[n]      IN
    out: Any  # int64[n]        OUT    the rows of cut parts by child
    sizes: Any  # int64[n]      OUT    sizes of the children, from the part's place on
    labels: Any  # int64[n]     INOUT  the place of the part, for rows of one that stays whole
    scratch: Any  # float64[n]


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
    this, nodes = space.columns[column], space.nodes
    if high == np.inf:
        return this.last - this.first - 2 if low == np.inf else this.last - this.first - 1
    left, right = space.leaf_node[this.leaves + np.int64(low)], space.leaf_node[this.leaves + np.int64(high)]
    while left != right:
        if nodes[this.first + left].depth >= nodes[this.first + right].depth:
            left = nodes[this.first + left].parent
        else:
            right = nodes[this.first + right].parent
    return left


@jit
def _child_over(space: CutSpace, column: int, place: float, node: int) -> int:
    """The child of a node over the leaf at a place."""
    this = space.columns[column]
    child = space.leaf_node[this.leaves + np.int64(place)]
    while space.nodes[this.first + child].parent != node:
        child = space.nodes[this.first + child].parent
    return child


@jit
def width(space: CutSpace, column: int, low: float, high: float) -> float:
    """Normalised width of a part in one column: 0 for one value, 1 for missing beside present."""
    this = space.columns[column]
    if low == high:
        return 0.0
    if high == np.inf:
        return 1.0
    if not this.tree:
        return (high - low) / this.span
    return space.nodes[this.first + _node(space, column, low, high)].n_leaves / space.nodes[this.first].n_leaves


@jit
def _bounds(space: CutSpace, run: Any, column: int) -> Any:
    low, high = np.inf, -np.inf
    for row in run:
        x = space.points[row, column]
        low = min(low, x)
        high = max(high, x)
    return low, high


@jit
def _cut_by_order(space: CutSpace, cutting: Cutting, first: int, last: int, column: int) -> int:
    """Cut at the median; strict keeps equal values together, relaxed fills the left half with them in row order.

    2, or 0 where the median allows no cut.
    """
    run, out, scratch, k = cutting.order[first:last], cutting.out, cutting.scratch[first:last], cutting.k
    n = last - first
    for i in range(n):
        scratch[i] = space.points[run[i], column]
    middle = kth_smallest(scratch, n // 2 - 1)
    if cutting.strict and middle == np.inf:  # mostly missing: the one cut left is between present and missing
        middle = -np.inf
        for x in scratch:
            if x < np.inf:
                middle = max(middle, x)
    n_below, n_equal = 0, 0
    for x in scratch:
        n_below += x < middle
        n_equal += x == middle
    from_equal = n_equal if cutting.strict else n // 2 - n_below
    n_left = n_below + from_equal
    if n_left < k or n - n_left < k:
        return 0
    at_left, at_right = first, first + n_left
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
    cutting.sizes[first], cutting.sizes[first + 1] = n_left, n - n_left
    return 2


@jit
def _cut_by_tree(
    space: CutSpace, cutting: Cutting, first: int, last: int, column: int, low: float, high: float
) -> int:  # fmt: skip
    """Cut into the children of the part's lowest node that hold a row; how many, or 0 if one holds fewer than k."""
    points, node, missing_apart = space.points, _node(space, column, low, high), high == np.inf
    least, n_ids = 0, 2
    if not missing_apart:  # children of a node lie between the child over the first and that over the last leaf
        least = _child_over(space, column, low, node)
        n_ids = _child_over(space, column, high, node) - least + 1
    place = np.empty(n_ids + 1, dtype=np.int64)
    place[:] = 0
    for i in range(first, last):
        x = points[cutting.order[i], column]
        child = np.int64(x == np.inf) if missing_apart else _child_over(space, column, x, node) - least
        place[child + 1] += 1
    n_children = 0
    for child in range(n_ids):
        if 0 < place[child + 1] < cutting.k:
            return 0
        if place[child + 1]:
            cutting.sizes[first + n_children] = place[child + 1]
            n_children += 1
        place[child + 1] += place[child]
    for i in range(first, last):
        row = cutting.order[i]
        x = points[row, column]
        child = np.int64(x == np.inf) if missing_apart else _child_over(space, column, x, node) - least
        cutting.out[first + place[child]] = row
        place[child] += 1
    return n_children


@jit
def _all_keep(needs: Needs | None, cutting: Cutting, begin: int, n_children: int) -> bool:
    """Whether every child of the part that begins at a place keeps what is promised."""
    if needs is None:
        return True
    first, fine = begin, True
    for child in range(begin, begin + n_children):
        if fine:
            fine = violation(needs, cutting.out[first : first + cutting.sizes[child]]) == 0.0
        first += cutting.sizes[child]
    return fine


@jit
def _measure(space: CutSpace, level: Level, cutting: Cutting, at: int) -> None:
    """Shrink the box of a part to its rows."""
    low, high = level.low[at], level.high[at]
    for j in range(len(low)):
        low[j], high[j] = np.inf, -np.inf
    for i in range(level.parts[at].first, level.parts[at].last):
        for j in range(len(low)):
            x = space.points[cutting.order[i], j]
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)


@jit
def _split(space: CutSpace, level: Level, needs: Needs | None, cutting: Cutting, at: int, tried: Any) -> int:
    """Cut one part in the widest column that allows a cut; the number of children, 0 when none does."""
    part, low, high = level.parts[at], level.low[at], level.high[at]
    first, last = part.first, part.last
    if last - first < 2 * cutting.k:
        return 0
    if not cutting.box:
        _measure(space, level, cutting, at)
    tried[:] = False
    for _ in range(len(low)):
        widest, column = -1.0, -1
        for j in range(len(low)):
            if not tried[j]:
                w = width(space, j, low[j], high[j])
                if w > widest:
                    widest, column = w, j
        tried[column] = True
        if cutting.box:
            low[column], high[column] = _bounds(space, cutting.order[first:last], column)
        if cutting.strict and low[column] == high[column]:
            continue
        part.column = column
        if space.columns[column].tree:
            n_children = _cut_by_tree(space, cutting, first, last, column, low[column], high[column])
        else:
            n_children = _cut_by_order(space, cutting, first, last, column)
        if n_children and _all_keep(needs, cutting, first, n_children):
            return n_children
    return 0


@jit
def split_level(space: CutSpace, level: Level, needs: Needs | None, cutting: Cutting, first: int, last: int) -> None:
    """Cut some parts of a level, or label the rows of a part with its place when it stays whole.

    IN  needs, or None where nothing is promised beyond k
    """
    tried = np.empty(len(space.columns), dtype=np.bool_)
    for at in range(first, last):
        part = level.parts[at]
        part.n_children = _split(space, level, needs, cutting, at, tried)
        if part.n_children == 0:
            for i in range(part.first, part.last):
                cutting.labels[cutting.order[i]] = part.first


@jit
def children(space: CutSpace, level: Level, order: Any, sizes: Any, below: Level) -> None:
    """Lay out the next level: each child's run, and its box, known so far only in the column that was cut.

    IN   order  int64[n], after the cuts;  sizes int64[n]
    OUT  below
    """
    child = 0
    for at in range(len(level.parts)):
        part = level.parts[at]
        first = part.first
        for i in range(part.n_children):
            last = first + sizes[part.first + i]
            below.parts[child].first, below.parts[child].last = first, last
            low, high = below.low[child], below.high[child]
            for j in range(len(low)):
                low[j], high[j] = level.low[at, j], level.high[at, j]
            _shrink_box(space, order[first:last], part.column, i, low, high)
            first = last
            child += 1


@jit
def _shrink_box(space: CutSpace, run: Any, column: int, i: int, low: Any, high: Any) -> None:
    """A cut moves one end of each child's box; along a tree, the box becomes the leaves of the child's node."""
    true_low, true_high = _bounds(space, run, column)
    this = space.columns[column]
    if not this.tree:
        if i == 0:
            high[column] = true_high
        else:
            low[column] = true_low
        return
    if true_low == np.inf:
        low[column] = high[column] = np.inf
        return
    node = 0
    if high[column] < np.inf:
        node = _child_over(space, column, true_low, _node(space, column, low[column], high[column]))
    low[column] = space.nodes[this.first + node].first_leaf
    high[column] = low[column] + space.nodes[this.first + node].n_leaves - 1
