"""r-cellular: when a ball is paid for, and what it costs to bring a small group up to size.

Distances are whole numbers of a small unit here, so that payments add up exactly, in whatever order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.points import BLOCK, CHUNKS, Axes, between, fill, sort
from shoal.kernels.jit import jit, jit_parallel, prange

BINS = 11
"""Distances are counted and sorted by their first so many bits."""


@jit
def units(squared: float, scale: float) -> Any:
    """A squared distance as a distance in whole units."""
    return np.int64(np.rint(np.sqrt(squared) * scale))


@jit
def measure(axes: Axes, columns: Any, row: int, scale: float, out: Any) -> None:
    """Distances of all points to one of them, in units.

    IN   columns float64[d, n]
    OUT  out int64[n]
    """
    n = columns.shape[1]
    block = np.empty(BLOCK)
    point = columns[:, row].copy()
    for first in range(0, n, BLOCK):
        part = block[: min(BLOCK, n - first)]
        fill(axes, columns, point, first, part)
        for i in range(len(part)):
            out[first + i] = units(part[i], scale)


# -- payments ---------------------------------------------------------------------------------------------------------


@jit
def next_paid(
    axes: Axes, columns: Any, counts: Any, row: int, scale: float, paid: Any, k: int, price: int, now: int
) -> Any:
    """When the next ball around a point is paid for, if nobody else stops paying, and its radius.

    A point that has not stopped offers as much as the time is. What it offers beyond the radius of a ball it is in goes
    towards the price of that ball. Only balls with k rows count, and those with somebody who still pays.

    IN  columns float64[d, n];  counts int64[n], rows at each point;  paid int64[n], last offer of who stopped, or -1
    """
    distance = np.empty(columns.shape[1], dtype=np.int64)
    measure(axes, columns, row, scale, distance)
    limit = _limit(distance, counts, paid, k, price, now)
    near = np.flatnonzero(distance <= limit)
    radii, near = _ordered(distance[near], near)
    leaving = _leaving(radii, near, paid)
    soonest, radius = np.int64(2**62), np.int64(-1)
    n_rows = n_paying = n_giving = given = at = gone = 0
    while at < len(radii) and radii[at] < soonest:
        r = radii[at]
        while at < len(radii) and radii[at] == r:
            count, offer = counts[near[at]], paid[near[at]]
            n_rows += count
            if offer < 0:
                n_paying += count
            elif offer > r:
                n_giving, given = n_giving + count, given + count * offer
            at += 1
        while gone < len(leaving) and paid[leaving[gone]] <= r:  # their last offer does not reach this far
            count = counts[leaving[gone]]
            n_giving, given = n_giving - count, given - count * paid[leaving[gone]]
            gone += 1
        if n_rows >= k and n_paying > 0:
            missing = price - (given - n_giving * r)
            time = max(now, r - (-missing) // n_paying)
            if time < soonest:
                soonest, radius = time, r
    return soonest, radius


@jit
def _limit(distance: Any, counts: Any, paid: Any, k: int, price: int, now: Any) -> Any:
    """A time by which some ball is paid for: no ball with a larger radius can be before it."""
    shift = _shift(distance)
    n_rows, n_paying = np.zeros(1 << BINS, dtype=np.int64), np.zeros(1 << BINS, dtype=np.int64)
    for i in range(len(distance)):
        n_rows[distance[i] >> shift] += counts[i]
        if paid[i] < 0:
            n_paying[distance[i] >> shift] += counts[i]
    limit, rows, paying = np.int64(2**62), 0, 0
    for b in range(1 << BINS):
        rows, paying = rows + n_rows[b], paying + n_paying[b]
        if rows >= k and paying > 0:
            edge = ((b + 1) << shift) - 1
            limit = min(limit, max(now, edge - (-price) // paying))
    return limit


@jit
def _leaving(radii: Any, near: Any, paid: Any) -> Any:
    """Points that stopped with an offer beyond their distance, the lowest offer first."""
    found = near[paid[near] > radii]
    return _ordered(paid[found], found)[1]


@jit
def _ordered(keys: Any, along: Any) -> Any:
    """Keys in order, and something else along: by their first bits into bins, then each bin by itself.

    IN  keys int64[m], not negative;  along int64[m]
    """
    m, shift, top = len(keys), _shift(keys), 1 << BINS
    begin = np.zeros(top + 1, dtype=np.int64)
    for key in keys:
        begin[(key >> shift) + 1] += 1
    for b in range(top):
        begin[b + 1] += begin[b]
    place, ordered, moved = begin.copy(), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for i in range(m):
        at = place[keys[i] >> shift]
        ordered[at], moved[at] = keys[i], along[i]
        place[keys[i] >> shift] += 1
    for b in range(top):
        if begin[b + 1] - begin[b] > 1:
            sort(ordered[begin[b] : begin[b + 1]], moved[begin[b] : begin[b + 1]])
    return ordered, moved


@jit
def _shift(keys: Any) -> int:
    """How far to shift keys so that their first bits are left."""
    largest, shift = np.int64(0), 0
    for key in keys:
        largest = max(largest, key)
    while largest >> shift >= 1 << BINS:
        shift += 1
    return shift


@jit
def first_paid(
    axes: Axes, columns: Any, counts: Any, begin: int, end: int, scale: float, paid: Any, k: int, price: int, out: Any
) -> None:
    """When the first ball around each point of a run is paid for.

    OUT  out int64[n], at places begin .. end - 1
    """
    for row in range(begin, end):
        out[row], _ = next_paid(axes, columns, counts, row, scale, paid, k, price, 0)


@jit_parallel
def first_paid_shared(
    axes: Axes, columns: Any, counts: Any, begin: int, end: int, scale: float, paid: Any, k: int, price: int, out: Any
) -> None:
    """`first_paid` on all cores."""
    step = (end - begin + CHUNKS - 1) // CHUNKS
    for c in prange(CHUNKS):
        first, last = min(end, begin + c * step), min(end, begin + (c + 1) * step)
        first_paid(axes, columns, counts, first, last, scale, paid, k, price, out)


# -- groups -----------------------------------------------------------------------------------------------------------


@jit
def middle(axes: Axes, columns: Any, begin: int, end: int, best: float, place: int) -> Any:
    """The point whose farthest is nearest, the first of those that tie: squared radius and place.

    Only candidates begin .. end - 1 are looked at, against the best so far.

    IN  columns float64[d, m]
    """
    m = columns.shape[1]
    block = np.empty(BLOCK)
    for candidate in range(begin, end):
        point, farthest = columns[:, candidate].copy(), 0.0
        for first in range(0, m, BLOCK):
            part = block[: min(BLOCK, m - first)]
            fill(axes, columns, point, first, part)
            farthest = max(farthest, part.max())
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
    taken = np.zeros(len(labels), dtype=np.bool_)
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


@jit
def radii_if_joined(
    axes: Axes, columns: Any, scale: float, distance: Any, labels: Any, members: Any, centres: Any, theirs: Any,
    mine: Any,
) -> None:  # fmt: skip
    """How far the members of a group are from the centre of each other one, and those of each from the group's own.

    IN     distance int64[n], to the centre of the group;  members int64[m];  centres int64[groups], -1 where gone
    INOUT  theirs, mine int64[groups]
    """
    for i in range(len(labels)):
        mine[labels[i]] = max(mine[labels[i]], distance[i])
    points = np.empty((len(members), len(columns)))
    for m in range(len(members)):
        points[m] = columns[:, members[m]]
    for g in range(len(centres)):
        if centres[g] >= 0:
            point = columns[:, centres[g]].copy()
            for m in range(len(members)):
                theirs[g] = max(theirs[g], units(between(axes, points[m], point), scale))
