"""DBA: how dense the neighbourhood of each free point is, and who lost a neighbour."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.points import BLOCK, Axes, before, error_of, fill, scan, sort
from shoal.kernels.jit import jit, jit_parallel, prange


@jit
def density(
    axes: Axes, columns: Any, rows: Any, n: int, places: Any, k: int, error: Any, radius: Any, last: Any
) -> None:
    """Squared error of the k-neighbourhood of some of n free points, and how far it reaches.

    IN     places int64[m]
    INOUT  error, radius float64[n];  last int64[n], row of the farthest neighbour; all by row
    """
    distance, row, place = np.empty(k), np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    centre = np.empty(len(columns))
    for mine in places:
        scan(axes, columns, rows, columns[:, mine].copy(), 0, n, distance, row, place)
        radius[rows[mine]], last[rows[mine]] = distance[0], row[0]
        sort(row, place)  # in row order, the same neighbourhood has the same error, whosever it is
        error[rows[mine]] = error_of(axes, columns, place, centre)


@jit_parallel
def density_shared(
    axes: Axes, columns: Any, rows: Any, n: int, places: Any, k: int, error: Any, radius: Any, last: Any
) -> None:
    """`density` on all cores."""
    for i in prange(len(places)):
        density(axes, columns, rows, n, places[i : i + 1], k, error, radius, last)


@jit
def bereft(axes: Axes, columns: Any, rows: Any, n: int, gone: Any, gone_rows: Any, radius: Any, last: Any) -> Any:
    """Places of those of n free points that had one of the points that left in their neighbourhood.

    IN  gone float64[m, d];  gone_rows int64[m];  radius float64[all];  last int64[all]
    """
    lost = np.zeros(n, dtype=np.bool_)
    out = np.empty(BLOCK)
    for first in range(0, n, BLOCK):
        block = out[: min(BLOCK, n - first)]
        for g in range(len(gone)):
            fill(axes, columns, gone[g], first, block)
            for i in range(len(block)):
                mine = rows[first + i]
                if not before(radius[mine], last[mine], block[i], gone_rows[g]):
                    lost[first + i] = True
    return np.flatnonzero(lost)
