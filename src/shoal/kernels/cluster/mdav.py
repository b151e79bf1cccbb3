"""MDAV's rounds: a group around the point farthest from the average, and one around the point farthest from that."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.distance_order import DistanceOrder, farthest_at_rim
from shoal.kernels.cluster.points import Axes, PointStore, average, sort, survey, survey_shared, take
from shoal.kernels.jit import jit


@jit
def take_pairs(
    axes: Axes,
    store: PointStore,
    distance_order: DistanceOrder,
    k: int,
    label: int,
    n_pairs: int,
    shared: bool,
    labels: Any,
) -> None:
    """Take two groups of k, several times; at least 2k points must be free each time.

    IN     label, of the first group;  shared, whether cores share the scans
    INOUT  labels int64[n]
    """
    centre = np.empty(len(store.columns))
    for pair in range(n_pairs):
        average(axes, store, centre)
        r = store.columns[:, farthest_at_rim(axes, store, distance_order, centre)].copy()
        near, far = _survey(axes, store, r, k, shared)  # one pass answers both questions about r
        s = store.columns[:, far].copy()
        gone = False
        for place in near:
            gone |= place == far
        _take(axes, store, near, label + 2 * pair, labels)
        if gone:  # only where all are equally far from r
            _, far = _survey(axes, store, r, 0, shared)
            s = store.columns[:, far].copy()
        near, _ = _survey(axes, store, s, k, shared)
        _take(axes, store, near, label + 2 * pair + 1, labels)


@jit
def _survey(axes: Axes, store: PointStore, point: Any, k: int, shared: bool) -> Any:
    if shared:
        _, near, far = survey_shared(axes, store.columns, store.rows, store.size[0], point, k)
    else:
        _, near, far = survey(axes, store.columns, store.rows, store.size[0], point, k)
    return near, far


@jit
def _take(axes: Axes, store: PointStore, places: Any, label: int, labels: Any) -> None:
    for place in places:
        labels[store.rows[place]] = label
    sort(places, places)
    take(axes, store, places[::-1].copy())
