"""r-cellular: when a ball is paid for, and what it costs to bring a small group up to size.

Distances are whole numbers of a small unit here, so that payments add up exactly, in whatever order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import BLOCK, fill, read, sort
from shoal.kernels.jit import jit

BINS = 11
"""Distances are counted and sorted by their first so many bits; 8 to 11 took the same time, 14 twice as long."""
NEVER = 1 << 62
"""Later than any time: offers of all rows together stay below it."""

PAYER = np.dtype([("count", np.int64), ("paid", np.int64)], align=True)
"""A point that pays for balls: how many rows it stands for, and its last offer if it stopped, else -1."""

BALL = np.dtype([("time", np.int64), ("radius", np.int64)], align=True)
"""A ball around a point: when it is paid for, and its radius, both in units."""


class Terms(NamedTuple):
    """What a ball must have, and what it costs."""

    scale: Any  # float64  units in a distance of 1
    k: Any  # int64        rows, at least
    price: Any  # int64    what it costs besides its radius, in units


@jit
def measure(axes: Any, columns: Any, point: Any, scale: float, out: Any) -> None:
    """Distances of all points to one, in whole units.

    IN   axes AXIS[d];  columns float64[d, n];  point float64[d]
    OUT  out int64[n]
    """
    n, block = columns.shape[1], np.empty(BLOCK)
    for first in range(0, n, BLOCK):
        part = block[: n - first]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            out[first + i] = np.int64(np.rint(np.sqrt(part[i]) * scale))


# -- payments ---------------------------------------------------------------------------------------------------------


@jit
def next_paid(axes: Any, columns: Any, payers: Any, terms: Terms, begin: int, end: int, now: int, out: Any) -> None:
    """When the next ball around each point of a run is paid for, if nobody else stops paying, and its radius.

    A point that has not stopped offers as much as the time is. What it offers beyond the radius of a ball it is in goes
    towards the price of that ball. Only balls with k rows count, and those with somebody who still pays.

    IN   axes AXIS[d];  columns float64[d, n];  payers PAYER[n]
    OUT  out BALL[n], at places begin .. end - 1
    """
    point, distance = np.empty(len(columns)), np.empty(len(payers), dtype=np.int64)
    for row in range(begin, end):
        read(columns, row, point)
        measure(axes, columns, point, terms.scale, distance)
        out[row].time, out[row].radius = _next_paid(distance, payers, terms, now)


@jit
def _next_paid(distance: Any, payers: Any, terms: Terms, now: int) -> Any:
    """When the next ball around a point is paid for, and its radius, by the distances of all points to it."""
    radii, near = _ordered(distance, _limit(distance, payers, terms, now))
    return next_of(radii, near, payers, terms, now)


@jit
def next_of(radii: Any, near: Any, payers: Any, terms: Terms, now: int) -> Any:
    """When the next ball around a point is paid for, and its radius, by the nearest points in order.

    IN  radii int64[m], how far they are away;  near int64[m];  payers PAYER[n]
    """
    offers = np.empty(len(near), dtype=np.int64)  # of those who stopped, beyond their distance
    for i in range(len(near)):
        offers[i] = payers[near[i]].paid if payers[near[i]].paid > radii[i] else -1
    offers, leaving = _ordered(offers, NEVER)
    soonest, radius = NEVER, -1
    n_rows = n_paying = n_giving = given = at = gone = 0
    while at < len(radii) and radii[at] < soonest:
        r = radii[at]
        while at < len(radii) and radii[at] == r:
            count, offer = payers[near[at]].count, payers[near[at]].paid
            n_rows += count
            if offer < 0:
                n_paying += count
            elif offer > r:
                n_giving, given = n_giving + count, given + count * offer
            at += 1
        while gone < len(leaving) and offers[gone] <= r:  # they do not reach this far
            count = payers[near[leaving[gone]]].count
            n_giving, given = n_giving - count, given - count * offers[gone]
            gone += 1
        if n_rows >= terms.k and n_paying > 0:
            missing = terms.price - (given - n_giving * r)
            time = r - (-missing) // n_paying
            time = time if time > now else now
            if time < soonest:
                soonest, radius = time, r
    return soonest, radius


@jit
def _limit(distance: Any, payers: Any, terms: Terms, now: int) -> Any:
    """A time by which some ball is paid for: no ball with a larger radius can be before it."""
    shift = _shift(distance, NEVER)
    n_rows, n_paying = np.empty(1 << BINS, dtype=np.int64), np.empty(1 << BINS, dtype=np.int64)
    n_rows[:], n_paying[:] = 0, 0
    for i in range(len(distance)):
        n_rows[distance[i] >> shift] += payers[i].count
        if payers[i].paid < 0:
            n_paying[distance[i] >> shift] += payers[i].count
    limit, rows, paying = NEVER, 0, 0
    for b in range(1 << BINS):
        rows, paying = rows + n_rows[b], paying + n_paying[b]
        if rows >= terms.k and paying > 0:
            edge = ((b + 1) << shift) - 1
            time = edge - (-terms.price) // paying
            time = time if time > now else now
            limit = time if time < limit else limit
    return limit


@jit
def _ordered(keys: Any, most: int) -> Any:
    """Keys from 0 to `most` in order, and their places: by their first bits into bins, then each bin by itself.

    IN  keys int64[n]
    """
    n, shift, begin = 0, _shift(keys, most), np.empty((1 << BINS) + 1, dtype=np.int64)
    begin[:] = 0
    for key in keys:
        if 0 <= key <= most:
            begin[(key >> shift) + 1] += 1
            n += 1
    for b in range(1 << BINS):
        begin[b + 1] += begin[b]
    ordered, places, first = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for i in range(len(keys)):
        if 0 <= keys[i] <= most:
            b = keys[i] >> shift
            ordered[begin[b]], places[begin[b]] = keys[i], i
            begin[b] += 1  # in the end, where the bin ends
    for b in range(1 << BINS):
        if begin[b] - first > 1:
            sort(ordered[first : begin[b]], places[first : begin[b]])
        first = begin[b]
    return ordered, places


@jit
def _shift(keys: Any, most: int) -> int:
    """How far to shift keys up to `most` so that their first bits are left."""
    largest, shift = 0, 0
    for key in keys:
        if largest < key <= most:
            largest = key
    while largest >> shift >= 1 << BINS:
        shift += 1
    return shift


# -- groups -----------------------------------------------------------------------------------------------------------


@jit
def middle(axes: Any, columns: Any, begin: int, end: int, best: float, place: int) -> Any:
    """The point whose farthest is nearest, the first of those that tie: squared radius and place.

    Only candidates begin .. end - 1 are looked at, against the best so far.

    IN  columns float64[d, m]
    """
    m, point, block = columns.shape[1], np.empty(len(columns)), np.empty(BLOCK)
    for candidate in range(begin, end):
        read(columns, candidate, point)
        farthest = 0.0
        for first in range(0, m, BLOCK):
            part = block[: m - first]
            fill(axes, columns, point, first, part)
            for one in part:
                farthest = one if one > farthest else farthest
            if farthest >= best:
                break
        if farthest < best:
            best, place = farthest, candidate
    return best, place


@jit
def borrow(distance: Any, labels: Any, spare: Any, group: int, wanted: int, out: Any) -> int:
    """The nearest rows of other groups that can spare them, the lowest row of those that tie; how many there are.

    IN     distance int64[n];  labels int64[n]
    INOUT  spare int64[groups], how many each can spare
    OUT    out int64[wanted]
    """
    taken = np.empty(len(labels), dtype=np.bool_)
    taken[:] = False
    for found in range(wanted):
        nearest = -1
        for i in range(len(labels)):
            if (
                (nearest < 0 or distance[i] < distance[nearest])
                and labels[i] != group
                and spare[labels[i]] > 0
                and not taken[i]
            ):
                nearest = i
        if nearest < 0:
            return found
        taken[nearest] = True
        spare[labels[nearest]] -= 1
        out[found] = nearest
    return wanted
