"""The point farthest from an average, without looking at all of them.

Points are kept in the order of their distance from one fixed point. Nobody is farther from an average than their own
distance from that point plus the average's, so the search begins at the rim and ends where nobody can do better: after
a few points, as long as the average stays near the fixed point. Where it does not, all points are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import Axes, PointStore, between, scan
from shoal.kernels.jit import jit

SLACK = 1.0 + 1e-9
"""Rounding must not end a search too early."""


class DistanceOrder(NamedTuple):
    """Rows from the rim inwards."""

    centre: Any  # float64[d]  IN     the fixed point
    order: Any  # int64[n]     IN     rows, the farthest from it first
    radius: Any  # float64[n]  IN     their distances from it
    head: Any  # int64[1]      INOUT  where the first row begins that may still be free


@jit
def farthest_at_rim(axes: Axes, store: PointStore, distance_order: DistanceOrder, point: Any) -> int:
    """Place of the free point farthest from a given one, the lowest row of those that tie.

    IN  point  float64[d]
    """
    while store.places[distance_order.order[distance_order.head[0]]] < 0:
        distance_order.head[0] += 1
    reach = np.sqrt(between(axes, point, distance_order.centre))
    best, best_row, looked = -1.0, -1, 0
    for i in range(distance_order.head[0], len(distance_order.order)):
        bound = (reach + distance_order.radius[i]) * SLACK
        if bound * bound < best:
            break
        row = distance_order.order[i]
        if store.places[row] < 0:
            continue
        looked += 1
        if 16 * looked > store.size[0]:
            return _farthest(axes, store, point)
        d = between(axes, store.columns[:, store.places[row]], point)
        if d > best or (d == best and row < best_row):
            best, best_row = d, row
    return store.places[best_row]  # type: ignore[no-any-return]


@jit
def _farthest(axes: Axes, store: PointStore, point: Any) -> int:
    none = np.empty(0, dtype=np.int64)
    found = scan(axes, store.columns, store.rows, point, 0, store.size[0], np.empty(0), none, none)
    return found[3]  # type: ignore[no-any-return]
