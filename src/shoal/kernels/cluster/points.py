"""Rows as points that leave a store as they find a group: who is farthest from a point, who are the nearest to it.

A store keeps the points still free packed at the front of its arrays, column by column, so that a scan reads only live
memory and a block of distances is formed with vector instructions, the columns added in their order. Places inside the
store mean nothing: ties go to the lowest row. Averages come from exact integer sums (numbers) and counts (categories),
kept as points leave, so they depend neither on the order of the rows nor on rounding on the way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

NUMBER, ORDER, NAME = 0, 1, 2
BLOCK = 512
"""How many distances are formed at a time; 128 to 1024 took the same time, more took up to a tenth longer."""

AXIS = np.dtype(
    [
        ("kind", np.int64),  # NUMBER: averaged by the mean; ORDER: by the lower median; NAME: by the mode
        ("weight", np.float64),  # factor of a squared difference; a mismatch of names counts 1
        ("gap", np.float64),  # squared distance of missing and present; names have a code for missing instead
        ("grid", np.float64),  # numbers are summed as whole multiples of 1 / grid
        ("first", np.int64),  # where the counts of its categories begin; numbers have none
        ("end", np.int64),  # where they end
        ("holes", np.bool_),  # whether a number or an order has missing values
    ],
    align=True,
)
"""What a column is, and how far apart two of its values are; an array of them is called axes."""

SUM = np.dtype([("total", np.int64), ("present", np.int64)], align=True)
"""The sum of a column of numbers, in units of the grid, and how many of its values are not missing."""

NEIGHBOUR = np.dtype([("distance", np.float64), ("row", np.int64), ("place", np.int64)], align=True)
"""A point near another one: their squared distance, its row, and its place in the store."""


class PointStore(NamedTuple):
    """Points still free, in places 0 .. size[0] - 1."""

    axes: Any  # AXIS[d]           IN
    columns: Any  # float64[d, n]  INOUT  NaN = missing
    rows: Any  # int64[n]          INOUT  row of each point
    places: Any  # int64[n]        INOUT  place of each row, -1 once it is taken
    labels: Any  # int64[n]        INOUT  group of each row that is taken
    sums: Any  # SUM[d]            INOUT
    counts: Any  # int64[all]      INOUT  how many points have each category
    size: Any  # int64[1]          INOUT


# -- distances --------------------------------------------------------------------------------------------------------


@jit
def add_column(axis: Any, column: Any, c: float, out: Any) -> None:
    """Add the squared differences of some values of one column from one.

    IN     axis AXIS;  column float64[m]
    INOUT  out float64[m]
    """
    w, gap = axis.weight, axis.gap
    if axis.kind == NAME:
        for i in range(len(out)):
            out[i] += 1.0 if column[i] != c else 0.0
    elif np.isnan(c):
        for i in range(len(out)):
            out[i] += 0.0 if np.isnan(column[i]) else gap
    elif axis.holes:
        for i in range(len(out)):
            t = column[i] - c
            out[i] += gap if np.isnan(t) else t * t * w
    else:
        for i in range(len(out)):
            t = column[i] - c
            out[i] += t * t * w


@jit
def fill(axes: Any, columns: Any, point: Any, first: int, out: Any) -> None:
    """Squared distances of a run of points to one point.

    IN   axes AXIS[d];  columns float64[d, n];  point float64[d]
    OUT  out float64[m], for places first .. first + m - 1
    """
    out[:] = 0.0
    for j in range(len(point)):
        add_column(axes[j], columns[j, first : first + len(out)], point[j], out)


@jit
def between(axes: Any, columns: Any, place: int, point: Any) -> float:
    """Squared distance of the point at a place to another one, summed as `fill` does.

    IN  axes AXIS[d];  columns float64[d, n];  point float64[d]
    """
    d = 0.0
    for j in range(len(point)):
        x, c = columns[j, place], point[j]
        if axes[j].kind == NAME:
            d += 1.0 if x != c else 0.0
        elif np.isnan(x) or np.isnan(c):
            d += 0.0 if np.isnan(x) and np.isnan(c) else axes[j].gap
        else:
            t = x - c
            d += t * t * axes[j].weight
    return d


@jit
def read(columns: Any, place: int, out: Any) -> None:
    """Read the point at a place.

    IN   columns float64[d, n]
    OUT  out float64[d]
    """
    for j in range(len(out)):
        out[j] = columns[j, place]


# -- averages ---------------------------------------------------------------------------------------------------------


@jit
def average(store: PointStore, out: Any) -> None:
    """Average record of the free points: mean, lower median, mode; missing where more than half of them are.

    OUT  out  float64[d]
    """
    n, counts = store.size[0], store.counts
    for j in range(len(out)):
        axis, present = store.axes[j], store.sums[j].present
        found = axis.first
        if axis.kind == NAME:
            for code in range(axis.first, axis.end):
                if counts[code] > counts[found]:
                    found = code
            out[j] = found - axis.first
        elif 2 * (n - present) > n:
            out[j] = np.nan
        elif axis.kind == NUMBER:
            out[j] = np.float64(store.sums[j].total) / np.float64(present) / axis.grid
        else:
            below = counts[found]
            while 2 * below < present:
                found += 1
                below += counts[found]
            out[j] = found - axis.first


@jit
def average_of(axes: Any, columns: Any, members: Any, out: Any) -> None:
    """Average record of a few points, as `average` defines it.

    IN   axes AXIS[d];  columns float64[d, n];  members int64[m], places of the points
    OUT  out float64[d]
    """
    m = len(members)
    codes = np.empty(m, dtype=np.int64)
    for j in range(len(out)):
        present, total = 0, np.int64(0)
        for place in members:
            x = columns[j, place]
            if not np.isnan(x):
                if axes[j].kind == NUMBER:
                    total += np.int64(np.rint(x * axes[j].grid))
                else:
                    codes[present] = np.int64(x)
                present += 1
        if 2 * (m - present) > m:
            out[j] = np.nan
        elif axes[j].kind == NUMBER:
            out[j] = np.float64(total) / np.float64(present) / axes[j].grid
        else:
            ordered = codes[:present]
            sort(ordered, ordered)
            out[j] = ordered[(present - 1) // 2] if axes[j].kind == ORDER else _mode(ordered)


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
def _mode(ordered: Any) -> int:
    """Most frequent of sorted codes, the lowest of those that tie."""
    best, n_best, begin = ordered[0], 0, 0
    for i in range(len(ordered)):
        if ordered[i] != ordered[begin]:
            begin = i
        if i - begin + 1 > n_best:
            best, n_best = ordered[i], i - begin + 1
    return best


@jit
def error_of(axes: Any, columns: Any, members: Any, centre: Any) -> float:
    """Squared error of a few points around their average, summed in the order given.

    IN   axes AXIS[d];  columns float64[d, n];  members int64[m]
    OUT  centre float64[d]
    """
    average_of(axes, columns, members, centre)
    total = 0.0
    for place in members:
        total += between(axes, columns, place, centre)
    return total


# -- scans ------------------------------------------------------------------------------------------------------------


@jit
def before(d: float, row: int, other: float, other_row: int) -> bool:
    """Whether one point comes before another: nearer, or as near and in a lower row."""
    return d < other or (d == other and row < other_row)


@jit
def _put(near: Any, at: int, d: float, row: int, place: int) -> None:
    near[at].distance, near[at].row, near[at].place = d, row, place


@jit
def _sink(near: Any, n: int, d: float, row: int, place: int) -> None:
    """Put a point at the root of a heap of n neighbours, the last of (distance, row) on top, and let it sink."""
    at = 0
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and before(
            near[child].distance, near[child].row, near[child + 1].distance, near[child + 1].row
        ):
            child += 1
        if not before(d, row, near[child].distance, near[child].row):
            break
        _put(near, at, near[child].distance, near[child].row, near[child].place)
        at = child
    _put(near, at, d, row, place)


@jit
def offer(near: Any, n: int, d: float, row: int, place: int) -> int:
    """Offer a point to a bounded heap of the nearest; the number of entries after it."""
    if n == len(near):
        if n > 0 and before(d, row, near[0].distance, near[0].row):
            _sink(near, n, d, row, place)
        return n
    at = n
    while at > 0:
        above = (at - 1) // 2
        if not before(near[above].distance, near[above].row, d, row):
            break
        _put(near, at, near[above].distance, near[above].row, near[above].place)
        at = above
    _put(near, at, d, row, place)
    return n + 1


@jit
def survey(store: PointStore, point: Any, begin: int, end: int, near: Any) -> Any:
    """Find the nearest points of a run of places; squared distance, row and place of the farthest.

    IN   point float64[d]
    OUT  near NEIGHBOUR[k], no more than there are: a heap, the last of them on top
    """
    out, rows = np.empty(BLOCK), store.rows
    room = len(near)
    n, far, far_row, far_place = 0, -1.0, -1, -1
    for first in range(begin, end, BLOCK):
        block = out[: end - first]
        fill(store.axes, store.columns, point, first, block)
        for i in range(len(block)):
            if block[i] >= far:
                r = rows[first + i]
                if block[i] > far or r < far_row:
                    far, far_row, far_place = block[i], r, first + i
        if room:
            for i in range(len(block)):
                if n < room or block[i] <= near[0].distance:
                    n = offer(near, n, block[i], rows[first + i], first + i)
    return far, far_row, far_place


@jit
def take(store: PointStore, places: Any, label: int) -> None:
    """Take points out of a store, as members of a group; the last free points move into the holes.

    INOUT  places int64[m], in any order; ascending afterwards
    """
    size, columns, rows = store.size, store.columns, store.rows
    sort(places, places)
    for i in range(len(places) - 1, -1, -1):  # the last first: so what moves is never one of those still to go
        place, last = places[i], size[0] - 1
        store.places[rows[place]], store.labels[rows[place]] = -1, label
        for j in range(len(columns)):
            x = columns[j, place]
            if not np.isnan(x):
                store.sums[j].present -= 1
                if store.axes[j].kind == NUMBER:
                    store.sums[j].total -= np.int64(np.rint(x * store.axes[j].grid))
                else:
                    store.counts[store.axes[j].first + np.int64(x)] -= 1
            columns[j, place] = columns[j, last]
        if place < last:
            rows[place] = rows[last]
            store.places[rows[place]] = place
        size[0] = last


# -- groups already formed --------------------------------------------------------------------------------------------


@jit
def nearest_groups(axes: Any, columns: Any, members: Any, centres: Any, open_: Any, out: Any) -> None:
    """Number of the nearest open group for some points, the lowest number of those that tie.

    IN   axes AXIS[d];  columns float64[d, n];  members int64[m];  centres float64[groups, d];  open_ bool[groups]
    OUT  out int64[m]
    """
    for i in range(len(members)):
        best, nearest = np.inf, -1
        for g in range(len(centres)):
            if open_[g]:
                d = between(axes, columns, members[i], centres[g])
                if nearest < 0 or d < best:
                    best, nearest = d, g
        out[i] = nearest
