"""The point farthest from an average, without looking at all of them.

Points are kept in the order of their distance from one fixed point. Nobody is farther from an average than their own
distance from that point plus the average's, so the search begins with the outermost and ends where nobody can do
better: after a few points, as long as the average stays near the fixed point. Where it does not, the search gives up,
and all points have to be looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.drifting_order import SLACK, DriftingOrder
from shoal.kernels.cluster.points import PointStore, between
from shoal.kernels.jit import jit

ONE_IN = 16
"""The search gives up after one in so many of the free points; 4 to 64 took the same time."""


class DistanceOrder(NamedTuple):
    """Rows from the outermost inwards."""

    centre: Any  # float64[d, 1]  IN     the fixed point
    rows: Any  # int64[n]         IN     the farthest from it first
    radius: Any  # float64[n]     IN     their distances from it
    head: Any  # int64[1]         INOUT  where the first row is that may still be free
    luck: Any  # int64[1]         INOUT  how often a search found it, less how often it gave up; see `farthest_of_all`
    drifting: DriftingOrder  #    INOUT  the same points on a heap, where a tree of boxes finds the others


@jit
def farthest_by_order(store: PointStore, order: DistanceOrder, point: Any) -> int:
    """Place of the free point farthest from a given one, the lowest row of those that tie; -1 if many may be it.

    IN  point  float64[d]
    """
    while store.places[order.rows[order.head[0]]] < 0:
        order.head[0] += 1
    reach = np.sqrt(between(store.axes, order.centre, 0, point))
    best, best_row, looked = -1.0, -1, 0
    for i in range(order.head[0], len(order.rows)):
        bound = (reach + order.radius[i]) * SLACK
        if bound * bound < best:
            break
        row = order.rows[i]
        if store.places[row] < 0:
            continue
        looked += 1
        if ONE_IN * looked > store.size[0]:
            return -1
        d = between(store.axes, store.columns, store.places[row], point)
        if d > best or (d == best and row < best_row):
            best, best_row = d, row
    return store.places[best_row]  # type: ignore[no-any-return]
