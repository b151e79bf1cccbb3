"""Balls around points, by trees of boxes: who is inside, and when one is paid for (r-cellular)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import read, sort
from shoal.kernels.cluster.r_cellular import NEVER, Terms, next_of
from shoal.kernels.index.boxes import BLOCK, note_search
from shoal.kernels.index.points import BLOCK_WORK, LEAF_WORK, PointIndex, measure, nearest, set_bounds
from shoal.kernels.jit import jit

MORE = -2
"""In place of a radius: there was not room enough for all points that had to be looked at."""


class PayerTrees(NamedTuple):
    """All points that pay for balls, or did."""

    everyone: PointIndex
    paying: PointIndex  # those that have not stopped
    columns: Any  # float64[d, n]  IN
    point: Any  # float64[d]       INOUT  the point looked at
    kth: Any  # int64[n]           INOUT  how large a ball around each point must be to have k rows


@jit
def in_units(squared: float, scale: float) -> int:
    """A distance in whole units, as `r_cellular.measure` has it."""
    return np.int64(np.rint(np.sqrt(squared) * scale))  # type: ignore[return-value]


@jit
def _next_leaf(index: PointIndex, point: Any, reach: float, height: int) -> Any:
    """Measure the points of the next leaf that may have some up to a squared distance away.

    Gives the leaf, or -1 where none is left; how many boxes wait on the stack; and what it took to find it.
    """
    tree, first_leaf, stack, work = index.tree, index.tree.shape[0].first_leaf, index.tree.stack, 0
    while height > 0:
        height -= 1
        box = stack[height]
        if box >= first_leaf:
            measure(index, point, box - first_leaf)
            return box - first_leaf, height, work + LEAF_WORK
        work += BLOCK_WORK
        set_bounds(index, point, 1.0, box + 1)
        for i in range(BLOCK):
            if tree.bound[i] <= reach and tree.bound[i] < np.inf:
                stack[height] = (box + 1) * BLOCK + i
                height += 1
    return -1, 0, work


@jit
def _from_the_root(index: PointIndex) -> int:
    """Put the root on the stack, and say that one box waits there."""
    index.tree.stack[0] = -1
    return 1


@jit
def within(index: PointIndex, point: Any, scale: float, radius: int, found: Any) -> int:
    """Find the rows of the free points up to so many units away; how many there are.

    IN   point float64[d]
    OUT  found int64[n]
    """
    reach = ((radius + 1) / scale) ** 2  # beyond what is rounded to the radius
    n, work, height = 0, 0, _from_the_root(index)
    while True:
        leaf, height, took = _next_leaf(index, point, reach, height)
        work += took
        if leaf < 0:
            break
        for i in range(index.tree.live[leaf]):
            if in_units(index.distances[i], scale) <= radius:
                found[n] = index.rows[leaf, i]
                n += 1
    note_search(index.tree, work, index.size[0])
    return n


@jit
def reached(index: PointIndex, point: Any, reach: float, found: Any) -> int:
    """Find the rows of the free points up to a squared distance away, in any order; how many there are.

    IN   point float64[d]
    OUT  found int64[n]
    """
    n, work, height = 0, 0, _from_the_root(index)
    while True:
        leaf, height, took = _next_leaf(index, point, reach, height)
        work += took
        if leaf < 0:
            break
        for i in range(index.tree.live[leaf]):
            if index.distances[i] <= reach:
                found[n] = index.rows[leaf, i]
                n += 1
    note_search(index.tree, work, index.size[0])
    return n


@jit
def spread_by_tree(
    index: PointIndex, columns: Any, reach: float, centres: Any, n_centres: int, cursor: int, most: int, found: Any
) -> Any:
    """Make rows centres that no centre reaches, as a scan does; but rows are told of centres that reach them alone.

    IN     columns float64[d, n]
    INOUT  centres int64[n];  found REACHED[n]
    """
    n, point, begun = columns.shape[1], np.empty(len(columns)), n_centres
    while cursor < n and n_centres - begun < most:
        if found[cursor].within == 0:
            read(columns, cursor, point)
            _note_within(index, point, reach, n_centres, found)
            centres[n_centres] = cursor
            n_centres += 1
        cursor += 1
    return n_centres, cursor


@jit
def _note_within(index: PointIndex, point: Any, reach: float, centre: int, found: Any) -> None:
    """Tell the rows up to a squared distance away of one more centre, as `reached` finds them."""
    work, height = 0, _from_the_root(index)
    while True:
        leaf, height, took = _next_leaf(index, point, reach, height)
        work += took
        if leaf < 0:
            break
        for i in range(index.tree.live[leaf]):
            if index.distances[i] <= reach:
                one = found[index.rows[leaf, i]]
                one.within += 1
                if index.distances[i] < one.distance:
                    one.distance, one.nearest = index.distances[i], centre
    note_search(index.tree, work, index.size[0])


@jit
def kth_by_tree(index: PointIndex, columns: Any, rows: Any, near: Any, out: Any) -> None:
    """Squared distance of some rows to their k-th nearest, themselves the first.

    IN   columns float64[d, n];  rows int64[m]
    OUT  near NEIGHBOUR[k];  out float64[n], by row
    """
    point = np.empty(len(columns))
    for row in rows:
        read(columns, row, point)
        nearest(index, point, near)
        out[row] = near[0].distance


@jit
def nearest_in_units(index: PointIndex, point: Any, scale: float, near: Any, radii: Any, rows: Any) -> int:
    """Find the free points nearest to one, by their distances in units, then their rows; how many there are.

    IN   point float64[d]
    OUT  near NEIGHBOUR[m];  radii, rows int64[m]
    """
    n = nearest(index, point, near)
    for i in range(n):
        radii[i], rows[i] = in_units(near[i].distance, scale), near[i].row
    sort(rows[:n], radii[:n])
    _sort_stable(radii[:n], rows[:n])
    return n


@jit
def _sort_stable(keys: Any, along: Any) -> None:
    """Sort in place what is in order already but for a key, keeping the order of equal keys; something else along."""
    # Few of them at a time, or nearly in order: merged from runs that double.
    n, width = len(keys), 1
    other_keys, other_along = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = begin + width if begin + width < n else n
            end = middle + width if middle + width < n else n
            left, right = begin, middle
            for at in range(begin, end):
                if left < middle and (right == end or keys[left] <= keys[right]):
                    other_keys[at], other_along[at] = keys[left], along[left]
                    left += 1
                else:
                    other_keys[at], other_along[at] = keys[right], along[right]
                    right += 1
        keys[:], along[:] = other_keys, other_along
        width *= 2


@jit
def measure_kth(trees: PayerTrees, payers: Any, terms: Terms, begin: int, end: int, near: Any) -> None:
    """Find how large balls around some points must be to have k rows.

    IN   payers PAYER[n]
    OUT  near NEIGHBOUR[k]
    """
    radii, rows = np.empty(len(near), dtype=np.int64), np.empty(len(near), dtype=np.int64)
    for row in range(begin, end):
        read(trees.columns, row, trees.point)
        n = nearest_in_units(trees.everyone, trees.point, terms.scale, near, radii, rows)
        n_rows, at = 0, 0
        while at < n and n_rows < terms.k:
            n_rows += payers[rows[at]].count
            at += 1
        trees.kth[row] = radii[at - 1]


@jit
def next_by_tree(trees: PayerTrees, payers: Any, terms: Terms, row: int, now: int, known: int, near: Any) -> Any:
    """When the next ball around a point is paid for, if nobody else stops paying, and its radius.

    What was known before is that this is not earlier than a time. Where it is found to be later, that later time is
    given, with -1 for the radius.

    IN   payers PAYER[n]
    OUT  near NEIGHBOUR[m]
    """
    point = trees.point
    read(trees.columns, row, point)
    if nearest(trees.paying, point, near[:1]) == 0:
        return NEVER, -1
    # No ball is paid for before a time as long as its radius, or without somebody who pays in it.
    least = in_units(near[0].distance, terms.scale)
    least = least if least > trees.kth[row] else trees.kth[row]
    if terms.price == 0:
        return (least if least > now else now), least
    if least > known:
        return least, -1
    radii, rows = np.empty(len(near), dtype=np.int64), np.empty(len(near), dtype=np.int64)
    n = nearest_in_units(trees.everyone, point, terms.scale, near, radii, rows)
    end, complete = n, n == len(trees.kth)
    while not complete and end > 0 and radii[end - 1] == radii[n - 1]:
        end -= 1  # not all as far away as the last may be among them
    time, radius = next_of(radii[:end], rows[:end], payers, terms, now)
    return (time, radius) if complete or time <= radii[n - 1] else (time, MORE)
