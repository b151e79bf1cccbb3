"""The free points of a table: who is nearest to a point, who is farthest from it, and who leaves.

Where points are many, a tree of boxes finds them; else all of them are looked at.
"""

from __future__ import annotations

from typing import Any

from shoal.kernels.cluster import points
from shoal.kernels.cluster.distance_order import DistanceOrder, farthest_by_order
from shoal.kernels.cluster.drifting_order import farthest_by_drift
from shoal.kernels.cluster.points import PointStore, survey
from shoal.kernels.index import numbers as of_numbers
from shoal.kernels.index import points as of_points
from shoal.kernels.index.boxes import pays
from shoal.kernels.index.numbers import NumberIndex
from shoal.kernels.index.points import PointIndex
from shoal.kernels.jit import chosen_by_type, jit

Index = PointIndex | NumberIndex
nearest = chosen_by_type(0, {PointIndex: of_points.nearest, NumberIndex: of_numbers.nearest})
farthest = chosen_by_type(0, {PointIndex: of_points.farthest, NumberIndex: of_numbers.farthest})
leave = chosen_by_type(0, {PointIndex: of_points.leave, NumberIndex: of_numbers.leave})

MISSES = 32
"""After so many searches in the order that gave up, more than found it, no further ones are made."""


@jit
def look(store: PointStore, index: Index | None, point: Any, near: Any, far: bool) -> int:
    """Find the free points nearest to one; the place of the farthest, if that is wanted.

    IN   point float64[d]
    OUT  near NEIGHBOUR[k], no more than there are: a heap, the last of them on top
    """
    if index is None:
        return survey(store, point, 0, store.size[0], near)[2]  # type: ignore[no-any-return]
    if index.tree.shape[0].off:
        return survey(store, point, 0, store.size[0], near)[2]  # type: ignore[no-any-return]
    if len(near):
        nearest(index, point, near)
        for i in range(len(near)):
            near[i].place = store.places[near[i].row]
    return store.places[farthest(index, point)] if far else -1  # type: ignore[no-any-return]


@jit
def farthest_of_all(store: PointStore, index: Index | None, order: DistanceOrder, point: Any, which: int) -> int:
    """Place of the free point farthest from an average (which = 0) or from a point (which = 1); -1: scan all.

    IN  point float64[d]
    """
    # Without a tree, a scan finds the nearest and the farthest at once: the order is asked for averages only.
    place, luck = -1, order.luck
    if which == 0 and luck[0] > -MISSES:
        drifts = _searches(index)
        place = farthest_by_drift(store, order.drifting, point) if drifts else farthest_by_order(store, order, point)
        luck[0] += -1 if place < 0 else 1 if luck[0] < MISSES else 0
    if place < 0 and _searches(index):
        place = _farthest(store, index, point)
    return place


@jit
def _searches(index: Index | None) -> bool:
    if index is None:
        return False
    return not index.tree.shape[0].off


@jit
def _farthest(store: PointStore, index: Index | None, point: Any) -> int:
    if index is None:
        return -1
    return store.places[farthest(index, point)]  # type: ignore[no-any-return]


@jit
def take(store: PointStore, index: Index | None, places: Any, label: int) -> None:
    """Take points out, as members of a group.

    INOUT  places int64[m], in any order; ascending afterwards
    """
    _leave(store, index, places)
    points.take(store, places, label)


@jit
def _leave(store: PointStore, index: Index | None, places: Any) -> None:
    if index is None:
        return
    if index.tree.shape[0].off:
        return
    for place in places:
        leave(index, store.rows[place])
    index.tree.shape[0].off = not pays(index.tree)
