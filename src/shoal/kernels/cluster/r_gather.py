"""r-gather: how far the k-th nearest is, which distances exist, and who lies within reach of which centre."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.points import BLOCK, CHUNKS, Axes, fill
from shoal.kernels.jit import jit, jit_parallel, prange


@jit
def kth_nearest(axes: Axes, columns: Any, begin: int, end: int, k: int, least: float, rising: bool, out: Any) -> float:
    """Squared distance of each row of a run to its k-th nearest, itself the first; the largest of them.

    Where k rows lie within `least`, that is the answer, and the scan of the row ends there. While `rising`, `least`
    becomes the largest distance so far, which leaves the largest of all what it is and saves most of the scans.

    IN   columns float64[d, n]
    OUT  out float64[n], at places begin .. end - 1
    """
    n = columns.shape[1]
    block, heap = np.empty(BLOCK), np.empty(k)
    for row in range(begin, end):
        out[row] = _kth(axes, columns, columns[:, row].copy(), (row // BLOCK) * BLOCK, n, least, block, heap)
        if rising:
            least = max(least, out[row])
    return least


@jit
def _kth(axes: Axes, columns: Any, point: Any, start: int, n: int, least: float, block: Any, heap: Any) -> float:
    """Squared distance of one point to the k-th nearest, or `least` as soon as that is known to be enough."""
    k, size, within = len(heap), 0, 0
    n_blocks = (n + BLOCK - 1) // BLOCK
    for b in range(n_blocks):
        first = (start + b * BLOCK) % (n_blocks * BLOCK)
        part = block[: min(BLOCK, n - first)]
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


@jit_parallel
def kth_nearest_shared(
    axes: Axes, columns: Any, begin: int, end: int, k: int, least: float, rising: bool, out: Any
) -> float:
    """`kth_nearest` on all cores."""
    step = (end - begin + CHUNKS - 1) // CHUNKS
    largest = np.empty(CHUNKS)
    for c in prange(CHUNKS):
        first, last = min(end, begin + c * step), min(end, begin + (c + 1) * step)
        largest[c] = kth_nearest(axes, columns, first, last, k, least, rising, out)
    return largest.max()


# -- which distances there are ----------------------------------------------------------------------------------------


@jit
def snap(axes: Axes, columns: Any, begin: int, end: int, low: float, middle: float, high: float) -> Any:
    """Of the squared distances between low and high, both excluded: the last up to middle, the next, and how many.

    The distances are those of the rows of a run to all rows after them; low and high stand for none.

    IN  columns float64[d, n]
    """
    n = columns.shape[1]
    block = np.empty(BLOCK)
    below, above, count = low, high, 0
    for row in range(begin, end):
        point = columns[:, row].copy()
        for first in range(row + 1, n, BLOCK):
            part = block[: min(BLOCK, n - first)]
            fill(axes, columns, point, first, part)
            for i in range(len(part)):
                if low < part[i] < high:
                    count += 1
                    if part[i] <= middle:
                        below = max(below, part[i])
                    else:
                        above = min(above, part[i])
    return below, above, count


@jit_parallel
def snap_shared(axes: Axes, columns: Any, begin: int, end: int, low: float, middle: float, high: float) -> Any:
    """`snap` on all cores."""
    step = (end - begin + CHUNKS - 1) // CHUNKS
    below, above, count = np.empty(CHUNKS), np.empty(CHUNKS), np.empty(CHUNKS, dtype=np.int64)
    for c in prange(CHUNKS):
        first, last = min(end, begin + c * step), min(end, begin + (c + 1) * step)
        below[c], above[c], count[c] = snap(axes, columns, first, last, low, middle, high)
    return below.max(), above.min(), count.sum()


@jit
def collect(axes: Axes, columns: Any, begin: int, end: int, low: float, high: float, out: Any) -> int:
    """Squared distances between low and high, both excluded, of the rows of a run to all rows after them; how many.

    OUT  out float64[room], large enough
    """
    n = columns.shape[1]
    block = np.empty(BLOCK)
    count = 0
    for row in range(begin, end):
        point = columns[:, row].copy()
        for first in range(row + 1, n, BLOCK):
            part = block[: min(BLOCK, n - first)]
            fill(axes, columns, point, first, part)
            for i in range(len(part)):
                if low < part[i] < high:
                    out[count] = part[i]
                    count += 1
    return count


# -- centres ----------------------------------------------------------------------------------------------------------


@jit
def spread(
    axes: Axes, columns: Any, reach: float, centres: Any, n_centres: int, cursor: int, most: int,
    nearest: Any, distance: Any, within: Any,
) -> Any:  # fmt: skip
    """Make rows centres that no centre reaches, in row order, at most so many; number of centres, and where it stopped.

    IN     columns float64[d, n]
    INOUT  centres int64[n];  nearest int64[n], number of the nearest centre;  distance float64[n], squared, to it;
           within int64[n], how many centres reach the row
    """
    n = columns.shape[1]
    block = np.empty(BLOCK)
    begun = n_centres
    while cursor < n and n_centres - begun < most:
        if within[cursor] == 0:
            _note(axes, columns, reach, cursor, n_centres, block, nearest, distance, within)
            centres[n_centres] = cursor
            n_centres += 1
        cursor += 1
    return n_centres, cursor


@jit
def _note(
    axes: Axes, columns: Any, reach: float, row: int, number: int, block: Any, nearest: Any, distance: Any, within: Any
) -> None:
    """Tell every row of one more centre; the lower number stays the nearest where two are as near."""
    n = columns.shape[1]
    point = columns[:, row].copy()
    for first in range(0, n, BLOCK):
        part = block[: min(BLOCK, n - first)]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            if part[i] < distance[first + i]:
                distance[first + i], nearest[first + i] = part[i], number
            if part[i] <= reach:
                within[first + i] += 1


@jit
def ball(axes: Axes, columns: Any, row: int, reach: float, wanted: Any, out: Any) -> int:
    """Wanted rows within reach of one row, in row order; how many.

    IN   columns float64[d, n];  wanted bool[n]
    OUT  out int64[n]
    """
    n = columns.shape[1]
    block = np.empty(BLOCK)
    point = columns[:, row].copy()
    count = 0
    for first in range(0, n, BLOCK):
        part = block[: min(BLOCK, n - first)]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            if part[i] <= reach and wanted[first + i]:
                out[count] = first + i
                count += 1
    return count
