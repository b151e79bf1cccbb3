"""V-MDAV: how near each free point is to a group that grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.free_points import Index, nearest
from shoal.kernels.cluster.points import BLOCK, PointStore, before, fill
from shoal.kernels.jit import jit


@jit
def reach_out(store: PointStore, begin: int, end: int, members: Any, fresh: bool, reach: Any) -> int:
    """Bring up to date how near each point of a run is to a group; place of the nearest, -1 if the run is empty.

    IN     members float64[m, d], points that joined;  fresh: whether they are the whole group
    INOUT  reach float64[n], squared distances by row
    """
    rows, out, least = store.rows, np.empty(BLOCK), np.empty(BLOCK)
    top = -1
    for first in range(begin, end, BLOCK):
        m = min(BLOCK, end - first)
        for i in range(m):
            least[i] = np.inf if fresh else reach[rows[first + i]]
        for g in range(len(members)):
            fill(store.axes, store.columns, members[g], first, out[:m])
            for i in range(m):
                least[i] = min(least[i], out[i])
        for i in range(m):
            row = rows[first + i]
            reach[row] = least[i]
            if top < 0 or before(least[i], row, reach[rows[top]], rows[top]):
                top = first + i
    return top


@jit
def nearest_to_any(store: PointStore, index: Index, members: Any, near: Any) -> int:
    """Bring up to date which free point is nearest to each member of a group; the member that one is nearest to.

    IN     members float64[m, d]
    INOUT  near NEIGHBOUR[m]: row -1 where it is not known yet
    """
    best = 0
    for i in range(len(members)):
        if near[i].row < 0 or store.places[near[i].row] < 0:
            nearest(index, members[i], near[i : i + 1])
        if before(near[i].distance, near[i].row, near[best].distance, near[best].row):
            best = i
    return best
