"""r-gather: how far the k-th nearest is, which distances exist, and who lies within reach of which centre."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.points import BLOCK, fill, read
from shoal.kernels.jit import jit

REACHED = np.dtype([("nearest", np.int64), ("distance", np.float64), ("within", np.int64)], align=True)
"""A row among centres: number of the nearest one, squared distance to it, and how many centres reach the row."""


@jit
def kth_nearest(axes: Any, columns: Any, begin: int, end: int, k: int, least: float, rising: bool, out: Any) -> float:
    """Squared distance of each row of a run to its k-th nearest, itself the first; the largest of them.

    Where k rows lie within `least`, that is the answer, and the scan of the row ends there. While `rising`, `least`
    becomes the largest distance so far, which leaves the largest of all what it is and saves most of the scans.

    IN   columns float64[d, n]
    OUT  out float64[n], at places begin .. end - 1
    """
    point, block, heap = np.empty(len(columns)), np.empty(BLOCK), np.empty(k)
    for row in range(begin, end):
        read(columns, row, point)
        out[row] = _kth(axes, columns, point, (row // BLOCK) * BLOCK, least, block, heap)
        if rising and out[row] > least:
            least = out[row]
    return least


@jit
def not_near(axes: Any, columns: Any, begin: int, end: int, k: int, least: float, out: Any) -> int:
    """Rows of a run that have fewer than k within `least` among the rows that stand beside them; how many.

    IN   columns float64[d, n]
    OUT  out int64[n]
    """
    n, point, block, count = columns.shape[1], np.empty(len(columns)), np.empty(BLOCK), 0
    for row in range(begin, end):
        read(columns, row, point)
        first, within = (row // BLOCK) * BLOCK, 0
        part = block[: n - first]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            within += part[i] <= least
        if within < k:
            out[count] = row
            count += 1
    return count


@jit
def _kth(axes: Any, columns: Any, point: Any, start: int, least: float, block: Any, heap: Any) -> float:
    """Squared distance of one point to the k-th nearest, or `least` as soon as that is known to be enough."""
    n, k, size, within = columns.shape[1], len(heap), 0, 0
    n_blocks = (n + BLOCK - 1) // BLOCK
    for b in range(n_blocks):
        first = (start + b * BLOCK) % (n_blocks * BLOCK)
        part = block[: n - first]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            if part[i] <= least:
                within += 1
            if size < k or part[i] < heap[0]:
                size = _keep(heap, size, part[i])
        if within >= k:
            return least
    return heap[0]


@jit
def _keep(heap: Any, size: int, value: float) -> int:
    """Offer a value to a bounded heap of the smallest, the largest of them on top; how many it holds."""
    if size < len(heap):
        at = size
        while at > 0 and heap[(at - 1) // 2] < value:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = value
        return size + 1
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return size


# -- which distances there are ----------------------------------------------------------------------------------------


@jit
def snap(axes: Any, columns: Any, begin: int, end: int, low: float, middle: float, high: float) -> Any:
    """Of the squared distances between low and high, both excluded: the last up to middle, the next, and how many.

    The distances are those of the rows of a run to all rows after them; low and high stand for none.

    IN  columns float64[d, n]
    """
    n, point, block = columns.shape[1], np.empty(len(columns)), np.empty(BLOCK)
    below, above, count = low, high, 0
    for row in range(begin, end):
        read(columns, row, point)
        for first in range(row + 1, n, BLOCK):
            part = block[: n - first]
            fill(axes, columns, point, first, part)
            for i in range(len(part)):
                if low < part[i] < high:
                    count += 1
                    if part[i] <= middle:
                        below = max(below, part[i])
                    else:
                        above = min(above, part[i])
    return below, above, count


@jit
def collect(axes: Any, columns: Any, begin: int, end: int, low: float, high: float, out: Any) -> int:
    """Squared distances between low and high, both excluded, of the rows of a run to all rows after them; how many.

    OUT  out float64[room], large enough
    """
    n, point, block = columns.shape[1], np.empty(len(columns)), np.empty(BLOCK)
    count = 0
    for row in range(begin, end):
        read(columns, row, point)
        for first in range(row + 1, n, BLOCK):
            part = block[: n - first]
            fill(axes, columns, point, first, part)
            for i in range(len(part)):
                if low < part[i] < high:
                    out[count] = part[i]
                    count += 1
    return count


# -- centres ----------------------------------------------------------------------------------------------------------


@jit
def spread(
    axes: Any, columns: Any, reach: float, centres: Any, n_centres: int, cursor: int, most: int, found: Any
) -> Any:
    """Make rows centres that no centre reaches, in row order, at most so many; number of centres, and where it stopped.

    IN     columns float64[d, n]
    INOUT  centres int64[n];  found REACHED[n]
    """
    n, point, block = columns.shape[1], np.empty(len(columns)), np.empty(BLOCK)
    begun = n_centres
    while cursor < n and n_centres - begun < most:
        if found[cursor].within == 0:
            read(columns, cursor, point)
            for first in range(0, n, BLOCK):
                part = block[: n - first]
                fill(axes, columns, point, first, part)
                _note(part, n_centres, reach, found[first : first + len(part)])
            centres[n_centres] = cursor
            n_centres += 1
        cursor += 1
    return n_centres, cursor


@jit
def _note(distance: Any, centre: int, reach: float, found: Any) -> None:
    """Tell rows of one more centre; the lower number stays the nearest where two are as near."""
    for i in range(len(distance)):
        if distance[i] < found[i].distance:
            found[i].distance, found[i].nearest = distance[i], centre
        if distance[i] <= reach:
            found[i].within += 1


@jit
def ball(axes: Any, columns: Any, row: int, reach: float, wanted: Any, out: Any) -> int:
    """Wanted rows within reach of one row, in row order; how many.

    IN   columns float64[d, n];  wanted bool[n]
    OUT  out int64[n]
    """
    n, point, block = columns.shape[1], np.empty(len(columns)), np.empty(BLOCK)
    read(columns, row, point)
    count = 0
    for first in range(0, n, BLOCK):
        part = block[: n - first]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            if part[i] <= reach and wanted[first + i]:
                out[count] = first + i
                count += 1
    return count
