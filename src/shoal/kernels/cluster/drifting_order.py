"""The point farthest from an average that moves a little at a time, without looking at many of them.

Points stand on a heap by how far they were from the average when they were last looked at, less the way that it had
moved by then. Nobody is farther now than that and all of the way together. So those on top are looked at anew, until
nobody below can be farther. Of identical points the lowest that is free stands for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import PointStore, between
from shoal.kernels.jit import jit

SLACK = 1.0 + 1e-9
"""Rounding must not end a search too early; far more than the sum of a thousand columns can lose."""
MOST = 4096
"""After so many points the search gives up."""


class DriftingOrder(NamedTuple):
    """Rows on a heap, those that may be farthest on top."""

    heap: Any  # int64[tuples]   INOUT  rows
    key: Any  # float64[n]       INOUT  of each row: its distance when it was looked at, less the way until then
    size: Any  # int64[1]        INOUT  rows on the heap
    way: Any  # float64[1]       INOUT  how far the average has moved in all
    centre: Any  # float64[d, 1] INOUT  where it was
    twin: Any  # int64[n]        IN     the next row that is identical to each; -1 for none
    waiting: Any  # int64[MOST]  INOUT  rows that were looked at


@jit
def farthest_by_drift(store: PointStore, order: DriftingOrder, point: Any) -> int:
    """Place of the free point farthest from an average, the lowest row of those that tie; -1 if many may be it.

    IN  point  float64[d]
    """
    order.way[0] += np.sqrt(between(store.axes, order.centre, 0, point)) * SLACK
    for j in range(len(point)):
        order.centre[j, 0] = point[j]
    best, best_row, n_waiting, way = -1.0, -1, 0, order.way[0]
    while order.size[0] > 0 and n_waiting < len(order.waiting):
        row = order.heap[0]
        bound = (order.key[row] + way) * SLACK
        if bound * bound < best:
            break
        if store.places[row] < 0:
            _replace(store, order, row)
            continue
        _pop(order)
        d = between(store.axes, store.columns, store.places[row], point)
        order.key[row] = np.sqrt(d) - way
        order.waiting[n_waiting] = row
        n_waiting += 1
        if d > best or (d == best and row < best_row):
            best, best_row = d, row
    for row in order.waiting[:n_waiting]:
        _push(order, row)
    found = 0 < n_waiting < len(order.waiting)
    return store.places[best_row] if found else -1  # type: ignore[no-any-return]


@jit
def _replace(store: PointStore, order: DriftingOrder, row: int) -> None:
    """Let the next identical row that is free stand on top instead of one that is gone."""
    twin = order.twin[row]
    while twin >= 0 and store.places[twin] < 0:
        twin = order.twin[twin]
    if twin < 0:
        _pop(order)
    else:
        order.heap[0], order.key[twin] = twin, order.key[row]


@jit
def _pop(order: DriftingOrder) -> None:
    """Take the row on top away."""
    heap, key, n = order.heap, order.key, order.size[0] - 1
    order.size[0] = n
    row, at, child = heap[n], 0, 1
    while child < n:
        if child + 1 < n and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[child]] <= key[row]:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = row


@jit
def _push(order: DriftingOrder, row: int) -> None:
    """Put a row on the heap."""
    heap, key, at = order.heap, order.key, order.size[0]
    order.size[0] = at + 1
    while at > 0 and key[heap[(at - 1) // 2]] < key[row]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = row
