"""Rows as points that leave a store as they find a group: who is farthest from a point, who are the nearest to it.

A store keeps the points still free packed at the front of its arrays, column by column, so that a scan reads only live
memory and a block of distances is formed with vector instructions, the columns added in their order. Places inside the
store mean nothing: ties go to the lowest row. Averages come from exact integer sums (numbers) and counts (categories),
kept as points leave, so they depend neither on the order of the rows nor on rounding on the way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit, jit_parallel, prange

NUMBER, ORDER, NAME = 0, 1, 2
BLOCK = 512
CHUNKS = 8


class Axes(NamedTuple):
    """What the columns are, and how far apart two of their values are."""

    kind: Any  # int64[d]      IN  NUMBER: averaged by the mean; ORDER: by the lower median; NAME: by the mode
    weight: Any  # float64[d]  IN  factor of a squared difference; a mismatch of names counts 1
    gap: Any  # float64[d]     IN  squared distance of missing and present; names have a code for missing instead
    holes: Any  # bool[d]      IN  whether a number or an order has missing values
    first: Any  # int64[d + 1] IN  where the counts of each column begin; numbers have none
    grid: Any  # float64[1]    IN  numbers are summed as whole multiples of 1 / grid


class PointStore(NamedTuple):
    """Points still free, in places 0 .. size[0] - 1."""

    columns: Any  # float64[d, n]  INOUT  NaN = missing
    rows: Any  # int64[n]          INOUT  row of each point
    places: Any  # int64[n]        INOUT  place of each row, -1 once it is taken
    size: Any  # int64[1]          INOUT
    total: Any  # int64[d]         INOUT  sums of the numbers, in units of the grid
    present: Any  # int64[d]       INOUT  how many values are not missing
    counts: Any  # int64[all]      INOUT  how many points have each category


# -- distances --------------------------------------------------------------------------------------------------------


@jit
def fill(axes: Axes, columns: Any, point: Any, first: int, out: Any) -> None:
    """Squared distances of a run of points to one point.

    IN   columns float64[d, n];  point float64[d]
    OUT  out float64[m], for places first .. first + m - 1
    """
    m = len(out)
    out[:] = 0.0
    for j in range(len(point)):
        column, c, w, gap = columns[j, first : first + m], point[j], axes.weight[j], axes.gap[j]
        if axes.kind[j] == NAME:
            for i in range(m):
                out[i] += 1.0 if column[i] != c else 0.0
        elif np.isnan(c):
            for i in range(m):
                out[i] += 0.0 if np.isnan(column[i]) else gap
        elif axes.holes[j]:
            for i in range(m):
                t = column[i] - c
                out[i] += gap if np.isnan(t) else t * t * w
        else:
            for i in range(m):
                t = column[i] - c
                out[i] += t * t * w


@jit
def between(axes: Axes, left: Any, right: Any) -> float:
    """Squared distance of two points, summed as `fill` does.

    IN  left, right  float64[d]
    """
    d = 0.0
    for j in range(len(left)):
        if axes.kind[j] == NAME:
            d += 1.0 if left[j] != right[j] else 0.0
        elif np.isnan(left[j]) or np.isnan(right[j]):
            d += 0.0 if np.isnan(left[j]) and np.isnan(right[j]) else axes.gap[j]
        else:
            t = left[j] - right[j]
            d += t * t * axes.weight[j]
    return d


# -- averages ---------------------------------------------------------------------------------------------------------


@jit
def average(axes: Axes, store: PointStore, out: Any) -> None:
    """Average record of the free points: mean, lower median, mode; missing where more than half of them are.

    OUT  out  float64[d]
    """
    n = store.size[0]
    for j in range(len(out)):
        counts = store.counts[axes.first[j] : axes.first[j + 1]]
        present = store.present[j]
        if axes.kind[j] == NAME:
            out[j] = np.argmax(counts)
        elif 2 * (n - present) > n:
            out[j] = np.nan
        elif axes.kind[j] == NUMBER:
            out[j] = np.float64(store.total[j]) / np.float64(present) / axes.grid[0]
        else:
            rank, below = 0, counts[0]
            while 2 * below < present:
                rank += 1
                below += counts[rank]
            out[j] = rank


@jit
def average_of(axes: Axes, columns: Any, members: Any, out: Any) -> None:
    """Average record of a few points, as `average` defines it.

    IN   columns float64[d, n];  members int64[m], places of the points
    OUT  out float64[d]
    """
    m = len(members)
    values = np.empty(m)
    for j in range(len(out)):
        present, total = 0, np.int64(0)
        for place in members:
            x = columns[j, place]
            if not np.isnan(x):
                values[present] = x
                present += 1
                if axes.kind[j] == NUMBER:
                    total += np.int64(np.rint(x * axes.grid[0]))
        if 2 * (m - present) > m:
            out[j] = np.nan
        elif axes.kind[j] == NUMBER:
            out[j] = np.float64(total) / np.float64(present) / axes.grid[0]
        else:
            ordered = values[:present]
            sort(ordered, ordered)
            out[j] = ordered[(present - 1) // 2] if axes.kind[j] == ORDER else _mode(ordered)


@jit
def sort(keys: Any, along: Any) -> None:
    """Sort in place (Shell's way; the library's sort takes seconds to compile), and something else along.

    INOUT  keys, along  [m], or twice the same array
    """
    step = len(keys) // 2
    while step > 0:
        for i in range(step, len(keys)):
            key, value, at = keys[i], along[i], i
            while at >= step and keys[at - step] > key:
                keys[at], along[at] = keys[at - step], along[at - step]
                at -= step
            keys[at], along[at] = key, value
        step //= 2


@jit
def _mode(ordered: Any) -> float:
    """Most frequent of sorted values, the lowest of those that tie."""
    best, n_best, begin = ordered[0], 0, 0
    for i in range(len(ordered)):
        if ordered[i] != ordered[begin]:
            begin = i
        if i - begin + 1 > n_best:
            best, n_best = ordered[i], i - begin + 1
    return best


@jit
def error_of(axes: Axes, columns: Any, members: Any, centre: Any) -> float:
    """Squared error of a few points around their average, summed in the order given.

    IN   columns float64[d, n];  members int64[m]
    OUT  centre float64[d]
    """
    average_of(axes, columns, members, centre)
    total = 0.0
    for place in members:
        total += between(axes, columns[:, place], centre)
    return total


# -- scans ------------------------------------------------------------------------------------------------------------


@jit
def _sink(distance: Any, row: Any, place: Any, n: int) -> None:
    """Let the root of a heap of n entries, the last of (distance, row) on top, sink to where it belongs."""
    at = 0
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and before(distance[child], row[child], distance[child + 1], row[child + 1]):
            child += 1
        if not before(distance[at], row[at], distance[child], row[child]):
            return
        _swap(distance, row, place, at, child)
        at = child


@jit
def before(d: float, row: int, other: float, other_row: int) -> bool:
    """Whether one point comes before another: nearer, or as near and in a lower row."""
    return d < other or (d == other and row < other_row)


@jit
def _swap(distance: Any, row: Any, place: Any, a: int, b: int) -> None:
    distance[a], distance[b] = distance[b], distance[a]
    row[a], row[b] = row[b], row[a]
    place[a], place[b] = place[b], place[a]


@jit
def _offer(distance: Any, row: Any, place: Any, n: int, d: float, r: int, p: int) -> int:
    """Offer a point to a bounded heap of the nearest; the number of entries after it."""
    if n == len(distance):
        if n and before(d, r, distance[0], row[0]):
            distance[0], row[0], place[0] = d, r, p
            _sink(distance, row, place, n)
        return n
    distance[n], row[n], place[n] = d, r, p
    at = n
    while at > 0 and before(distance[(at - 1) // 2], row[(at - 1) // 2], distance[at], row[at]):
        _swap(distance, row, place, at, (at - 1) // 2)
        at = (at - 1) // 2
    return n + 1


@jit
def scan(
    axes: Axes, columns: Any, rows: Any, point: Any, begin: int, end: int, distance: Any, row: Any, place: Any
) -> Any:
    """One pass over a run of places: the heap of the nearest, how many they are, and the farthest.

    IN   point float64[d]
    OUT  distance float64[k];  row, place int64[k]
    """
    out = np.empty(BLOCK)
    room = len(distance)
    n, far, far_row, far_place = 0, -1.0, -1, -1
    for first in range(begin, end, BLOCK):
        block = out[: min(BLOCK, end - first)]
        fill(axes, columns, point, first, block)
        for i in range(len(block)):
            if block[i] >= far:
                r = rows[first + i]
                if block[i] > far or r < far_row:
                    far, far_row, far_place = block[i], r, first + i
        if room:
            for i in range(len(block)):
                if n < room or block[i] <= distance[0]:
                    n = _offer(distance, row, place, n, block[i], rows[first + i], first + i)
    return n, far, far_row, far_place


@jit
def survey(axes: Axes, columns: Any, rows: Any, n: int, point: Any, k: int) -> Any:
    """Squared distances and places of the k nearest of n points, nearest first, and the place of the farthest.

    IN  columns float64[d, all];  rows int64[all];  point float64[d]
    """
    room = min(k, n)
    distance, row, place = np.empty(room), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    _, _, _, far_place = scan(axes, columns, rows, point, 0, n, distance, row, place)
    _unheap(distance, row, place)
    return distance, place, far_place


@jit_parallel
def survey_shared(axes: Axes, columns: Any, rows: Any, n: int, point: Any, k: int) -> Any:
    """`survey` on all cores: points are in one strict order (distance, row), so the answer is the same."""
    step = (n + CHUNKS - 1) // CHUNKS
    room = min(k, step)
    distance = np.empty((CHUNKS, room))
    row = np.empty((CHUNKS, room), dtype=np.int64)
    place = np.empty((CHUNKS, room), dtype=np.int64)
    found = np.empty(CHUNKS, dtype=np.int64)
    far = np.empty(CHUNKS)
    far_row = np.empty(CHUNKS, dtype=np.int64)
    far_place = np.empty(CHUNKS, dtype=np.int64)
    for c in prange(CHUNKS):
        begin, end = min(n, c * step), min(n, (c + 1) * step)
        found[c], far[c], far_row[c], far_place[c] = scan(
            axes, columns, rows, point, begin, end, distance[c], row[c], place[c]
        )
    top = 0
    for c in range(1, CHUNKS):
        if far[c] > far[top] or (far[c] == far[top] and far_row[c] < far_row[top]):
            top = c
    near, near_place = _merge(distance, row, place, found, min(k, n))
    return near, near_place, far_place[top]


@jit
def _merge(distance: Any, row: Any, place: Any, found: Any, k: int) -> Any:
    """The k nearest of all chunks, nearest first."""
    near, n = np.empty(k), 0
    near_row, near_place = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for c in range(len(found)):
        for i in range(found[c]):
            n = _offer(near, near_row, near_place, n, distance[c, i], row[c, i], place[c, i])
    _unheap(near, near_row, near_place)
    return near, near_place


@jit
def _unheap(distance: Any, row: Any, place: Any) -> None:
    """Turn a full heap into an ascending order."""
    for end in range(len(distance) - 1, 0, -1):
        _swap(distance, row, place, 0, end)
        _sink(distance, row, place, end)


@jit
def take(axes: Axes, store: PointStore, places: Any) -> None:
    """Take points out of a store; the last free points move into the holes.

    IN  places int64[m], descending: so what moves is never one of those still to go
    """
    size, columns, rows = store.size, store.columns, store.rows
    for place in places:
        store.places[rows[place]] = -1
        for j in range(len(columns)):
            x = columns[j, place]
            if not np.isnan(x):
                store.present[j] -= 1
                if axes.kind[j] == NUMBER:
                    store.total[j] -= np.int64(np.rint(x * axes.grid[0]))
                else:
                    store.counts[axes.first[j] + np.int64(x)] -= 1
        last = size[0] - 1
        if place < last:
            columns[:, place] = columns[:, last]
            rows[place] = rows[last]
            store.places[rows[place]] = place
        size[0] = last


# -- groups already formed --------------------------------------------------------------------------------------------


@jit
def distances_to_own(axes: Axes, columns: Any, labels: Any, points: Any, out: Any) -> None:
    """Squared distance of every row in a group to the point of its group.

    IN   columns float64[d, n];  labels int64[n], -1 for a row in no group;  points float64[groups, d]
    OUT  out float64[n], untouched for rows in no group
    """
    for i in range(len(labels)):
        if labels[i] >= 0:
            out[i] = between(axes, columns[:, i], points[labels[i]])


@jit
def nearest_groups(axes: Axes, columns: Any, members: Any, centres: Any, open_: Any, out: Any) -> None:
    """Number of the nearest open group for some points, the lowest number of those that tie.

    IN   columns float64[d, n];  members int64[m];  centres float64[groups, d];  open_ bool[groups]
    OUT  out int64[m]
    """
    for i in range(len(members)):
        point = columns[:, members[i]].copy()
        best, nearest = np.inf, -1
        for g in range(len(centres)):
            if open_[g]:
                d = between(axes, point, centres[g])
                if nearest < 0 or d < best:
                    best, nearest = d, g
        out[i] = nearest
