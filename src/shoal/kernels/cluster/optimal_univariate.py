"""The least squared error of one column, by dynamic programming over runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit


@jit
def best_runs(values: Any, k: int, best: Any, begin: Any, first: int, last: int) -> None:
    """Least squared error of cutting the first j sorted values into runs of k to 2k - 1, for j = first .. last - 1.

    The error of a run is built up value by value around its moving mean: it is never a difference of large sums.

    IN     values float64[n], ascending
    INOUT  best float64[n + 1], inf where no cut is possible;  begin int64[n + 1], where the last run begins
    """
    for j in range(first, last):
        best[j] = np.inf
        mean, error = 0.0, 0.0
        for size in range(1, min(2 * k - 1, j) + 1):
            x = values[j - size]
            off = x - mean
            mean += off / size
            error += off * (x - mean)
            if size >= k and best[j - size] + error < best[j]:
                best[j] = best[j - size] + error
                begin[j] = j - size
