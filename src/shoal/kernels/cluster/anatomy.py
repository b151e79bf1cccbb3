"""Groups of rows with different values, drawn from the most frequent values first."""

from __future__ import annotations

import heapq
from typing import Any

from shoal.kernels.jit import jit


@jit
def draw_groups(counts: Any, l: int, values: Any) -> int:  # noqa: E741
    """Form groups of l different values for as long as l values have rows left, the l with most rows each time.

    Of values with as many rows left, the one with the lowest number goes first.

    INOUT  counts int64[values], rows left of each value
    OUT    values int64[n], the values of the groups, l after l
    Returns how many entries of `values` are filled.
    """
    n_values, most = len(counts), 0
    for count in counts:
        most = max(most, count)
    heap = []
    for value in range(n_values):
        if counts[value] > 0:
            heap.append((most - counts[value]) * n_values + value)  # noqa: PERF401  no closures in kernels
    heapq.heapify(heap)
    n_drawn = 0
    while len(heap) >= l:
        for i in range(l):
            values[n_drawn + i] = heapq.heappop(heap) % n_values
        for i in range(l):
            value = values[n_drawn + i]
            counts[value] -= 1
            if counts[value] > 0:
                heapq.heappush(heap, (most - counts[value]) * n_values + value)
        n_drawn += l
    return n_drawn
