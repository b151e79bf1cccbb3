"""DBA: how dense the neighbourhood of each free point is, and who lost a neighbour.

Where a tree finds points, those who lost a neighbour are measured anew only when their turn may come: two of k points
that are so far apart as a point and the last of its neighbourhood make an error of at least half of that distance, and
that distance never falls as points leave. Until then this bound stands for the error in a heap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.free_points import look, take
from shoal.kernels.cluster.points import BLOCK, PointStore, before, error_of, fill, read, sort
from shoal.kernels.index.points import PointIndex
from shoal.kernels.index.reaches import NOWHERE, Reaches, Targets, enclose_targets, follow, who_reach
from shoal.kernels.jit import jit

HALF = 0.5 - 1e-9
"""Half of a squared distance; rounding must not lift it above an error."""

NEIGHBOURHOOD = np.dtype([("error", np.float64), ("radius", np.float64), ("last", np.int64)], align=True)
"""A point and its k - 1 nearest: their squared error, the squared distance of the farthest, and its row."""


@jit
def density(store: PointStore, index: PointIndex | None, places: Any, near: Any, out: Any) -> None:
    """Measure the k-neighbourhood of some free points.

    IN   places int64[m]
    OUT  near NEIGHBOUR[k], that of the last of them;  out NEIGHBOURHOOD[n], by row
    """
    k = len(near)
    members, rows = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    point, centre = np.empty(len(store.columns)), np.empty(len(store.columns))
    for mine in places:
        read(store.columns, mine, point)
        look(store, index, point, near, False)
        for i in range(k):
            members[i], rows[i] = near[i].place, near[i].row
        sort(rows, members)  # in row order, the same neighbourhood has the same error, whosever it is
        found = out[store.rows[mine]]
        found.error = error_of(store.axes, store.columns, members, centre)
        found.radius, found.last = near[0].distance, near[0].row


@jit
def find_bereft(store: PointStore, gone: Any, gone_rows: Any, around: Any, lost: Any) -> None:
    """Mark those free points that had one of the points that left in their neighbourhood.

    IN     gone float64[m, d];  gone_rows int64[m];  around NEIGHBOURHOOD[n], by row
    INOUT  lost bool[free]
    """
    n, out = len(lost), np.empty(BLOCK)
    for first in range(0, n, BLOCK):
        block = out[: n - first]
        for g in range(len(gone)):
            fill(store.axes, store.columns, gone[g], first, block)
            for i in range(len(block)):
                mine = around[store.rows[first + i]]
                if not before(mine.radius, mine.last, block[i], gone_rows[g]):
                    lost[first + i] = True


# -- with a tree ------------------------------------------------------------------------------------------------------


class Densities(NamedTuple):
    """The free points, the one with the densest neighbourhood on top of a heap."""

    reaches: Reaches  # of NEIGHBOURHOOD[n]; the radius is NOWHERE and the error a bound for who lost a neighbour
    heap: Any  # int64[n]   INOUT  rows of the free points, the least error first, then the lowest row
    places: Any  # int64[n] INOUT  where in the heap each row is
    size: Any  # int64[1]   INOUT  how many are in it
    found: Any  # int64[n]  INOUT  who lost a neighbour
    mine: Any  # int64[1]   INOUT  the point on top


@jit
def densest(store: PointStore, index: PointIndex, densities: Densities, near: Any) -> int:
    """Row of the point with the densest neighbourhood.

    OUT  near NEIGHBOUR[k], its neighbourhood
    """
    around, mine, row = densities.reaches.of_row, densities.mine, -1
    while row != densities.heap[0] or around[row].radius == NOWHERE:
        row = densities.heap[0]
        mine[0] = store.places[row]
        density(store, index, mine, near, around)
        follow(index, densities.reaches, row)
        _sift(densities, 0, row)
    return row


@jit
def part(store: PointStore, index: PointIndex, densities: Densities, places: Any, gone: Targets, label: int) -> None:
    """Take points out, as members of a group, and note who lost a neighbour by that.

    IN   places int64[m]
    OUT  gone, room for m
    """
    around, reaches, found = densities.reaches.of_row, densities.reaches, densities.found
    for i in range(len(places)):
        gone.rows[i] = store.rows[places[i]]
        read(store.columns, places[i], gone.points[i])
        _remove(densities, gone.rows[i])
    take(store, index, places, label)
    for i in range(len(places)):
        follow(index, reaches, gone.rows[i])
    enclose_targets(index, gone, len(places))
    for at in range(who_reach(index, reaches, gone, len(places), found)):
        row = found[at]
        around[row].error, around[row].radius = around[row].radius * HALF, NOWHERE
        follow(index, reaches, row)
        _sift(densities, densities.places[row], row)


@jit
def take_densest(
    store: PointStore, index: PointIndex, densities: Densities, near: Any, gone: Targets, label: int, n: int
) -> int:
    """Group densest neighbourhoods, up to n of them while k points are free and searches pay; how many.

    OUT  near NEIGHBOUR[k];  gone, room for k
    """
    k, places = len(near), np.empty(len(near), dtype=np.int64)
    for done in range(n):
        if store.size[0] < k or index.tree.shape[0].off:
            return done
        densest(store, index, densities, near)
        for i in range(k):
            places[i] = near[i].place
        part(store, index, densities, places, gone, label + done)
    return n


@jit
def _sift(densities: Densities, at: int, row: int) -> None:
    """Let a row rise or sink in the heap from a place, until all above it come before it."""
    heap, places, around, n = densities.heap, densities.places, densities.reaches.of_row, densities.size[0]
    error = around[row].error
    while at > 0:
        above = heap[(at - 1) // 2]
        if not before(error, row, around[above].error, above):
            break
        heap[at], places[above] = above, at
        at = (at - 1) // 2
    while 2 * at + 1 < n:
        child = 2 * at + 1
        below = heap[child]
        if child + 1 < n and before(around[heap[child + 1]].error, heap[child + 1], around[below].error, below):
            child, below = child + 1, heap[child + 1]
        if not before(around[below].error, below, error, row):
            break
        heap[at], places[below] = below, at
        at = child
    heap[at], places[row] = row, at


@jit
def _remove(densities: Densities, row: int) -> None:
    """Take a row out of the heap."""
    densities.size[0] -= 1
    at, last = densities.places[row], densities.heap[densities.size[0]]
    if last != row:
        _sift(densities, at, last)
