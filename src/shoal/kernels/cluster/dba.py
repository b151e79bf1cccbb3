"""DBA: how dense the neighbourhood of each free point is, and who lost a neighbour."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.points import BLOCK, PointStore, before, error_of, fill, read, sort, survey
from shoal.kernels.jit import jit

NEIGHBOURHOOD = np.dtype([("error", np.float64), ("radius", np.float64), ("last", np.int64)], align=True)
"""A point and its k - 1 nearest: their squared error, the squared distance of the farthest, and its row."""


@jit
def density(store: PointStore, places: Any, near: Any, out: Any) -> None:
    """Measure the k-neighbourhood of some free points.

    IN   places int64[m]
    OUT  near NEIGHBOUR[k], that of the last of them;  out NEIGHBOURHOOD[n], by row
    """
    k = len(near)
    members, rows = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    point, centre = np.empty(len(store.columns)), np.empty(len(store.columns))
    for mine in places:
        read(store.columns, mine, point)
        survey(store, point, 0, store.size[0], near)
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
