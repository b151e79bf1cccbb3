"""Groups of k around the point farthest from the average; or in pairs, the second around the point opposite."""

from __future__ import annotations

import numpy as np

from shoal.kernels.cluster.distance_order import DistanceOrder
from shoal.kernels.cluster.free_points import Index, farthest_of_all, look, take
from shoal.kernels.cluster.points import NEIGHBOUR, PointStore, average, read
from shoal.kernels.jit import jit


@jit
def take_groups(
    store: PointStore, index: Index | None, order: DistanceOrder, k: int, label: int, n_groups: int, pairs: bool
) -> None:
    """Take groups of k, one after the other; at least k points must be free for each.

    A group is formed around the point farthest from the average of those still free; the second of a pair around the
    point farthest from the one that the first was formed around.

    IN  label, of the first group;  pairs, whether they come in pairs
    """
    near, places = np.empty(k, dtype=NEIGHBOUR), np.empty(k, dtype=np.int64)
    point, opposite, taken = np.empty(len(store.columns)), np.empty(len(store.columns)), False
    for group in range(n_groups):
        second = pairs and group % 2 == 1
        if second and not taken:
            point, opposite = opposite, point
        else:
            if not second:
                average(store, point)
            far = farthest_of_all(store, index, order, point, int(second))
            if far < 0:
                far = look(store, index, point, near[:0], True)
            read(store.columns, far, point)
        far = farthest_of_all(store, index, order, point, 1) if pairs and not second else -1
        scanned = look(store, index, point, near, False)  # one scan finds both
        far = scanned if far < 0 else far
        if far >= 0:
            read(store.columns, far, opposite)
        taken = False  # whether the farthest is one of the nearest: only where all are equally far
        for i in range(k):
            places[i] = near[i].place
            taken |= places[i] == far
        take(store, index, places, label + group)
