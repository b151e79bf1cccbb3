"""The nearest of many centres, by a tree of boxes around them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.points import NEIGHBOUR, before, read
from shoal.kernels.index.points import PointIndex, nearest
from shoal.kernels.jit import jit


@jit
def nearest_indexed(index: PointIndex, columns: Any, members: Any, but: int, out: Any) -> None:
    """Number of the nearest centre for some points, the lowest number of those that tie; one does not count, or none.

    IN   columns float64[d, n];  members int64[m];  but: the number of that centre, or -1
    OUT  out int64[m]
    """
    point, near = np.empty(len(columns)), np.empty(2 if but >= 0 else 1, dtype=NEIGHBOUR)
    for i in range(len(members)):
        read(columns, members[i], point)
        n, best = nearest(index, point, near), -1
        for at in range(n):
            one = near[at]
            if one.row != but and (best < 0 or before(one.distance, one.row, near[best].distance, near[best].row)):
                best = at
        out[i] = near[best].row
