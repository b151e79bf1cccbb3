"""Slicing's tuple partitioning: a queue of buckets, each split at a median if the whole table stays diverse.

A split is tried in place: the two halves take the place of the bucket, and every tuple that matches the bucket is
asked what its sums would be. Nothing is stored before all have agreed, so a split that one of them refuses is undone
by putting the bucket's run back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.mondrian import kth_smallest
from shoal.kernels.jit import jit
from shoal.kernels.slicing.halves import Halves, Sliced, TupleRows, clear_halves, count_halves, matching
from shoal.kernels.slicing.sums import AGREED, REFUSED, UNSURE, BucketCounts, Sums, all_agree, largest_of, store, summed

ASKED_FIRST = 64
"""Rows of a bucket that are asked before all others that match it: those are the likeliest to refuse a split."""
TALLY = np.dtype(
    [("head", np.int64), ("tail", np.int64), ("n_buckets", np.int64), ("n_trials", np.int64), ("n_rejected", np.int64),
     ("n_settled", np.int64), ("unsure", np.int64)],
    align=True,
)  # fmt: skip
"""Where the queue begins and ends; how many buckets there are; how many splits were tried, and refused; how many rows
are in buckets that are done; whether a tuple has to be summed anew, 1 or 0."""


class Table(NamedTuple):
    """What is known of the table, and of its tuples as the buckets stand."""

    sliced: Sliced
    counts: BucketCounts
    halves: Halves
    sums: Sums


class Cuts(NamedTuple):
    """All rows in the order of the buckets, so that those of a bucket are near each other, and what may be cut."""

    points: Any  # float64[n, d]  INOUT  numbers, ranks, places of leaves; infinite = missing
    rows: TupleRows  #            INOUT
    spans: Any  # float64[d]      IN     what a width is divided by
    k: int  # rows of a half at least
    tries: int  # cuts that a bucket may be refused before it is done
    widths: Any  # float64[d]     scratch
    place: Any  # int64[n]        scratch  places by half, the left first
    spare: Any  # int64[n]        scratch  the bucket's run as it was
    scratch: Any  # float64[n]


@jit
def work_off(table: Table, cuts: Cuts, queue: Any, tally: Any, bound: float, n_trials: int, anew: bool | None) -> None:
    """Take buckets from the queue until it is empty, so many splits were tried, or it is unsure what a tuple says.

    IN     anew, whether tuples can be summed anew, or None: then this ends where one has to be
    INOUT  queue int64[2 n], buckets that may be split, first in, first out;  tally TALLY[1]
    """
    state = tally[0]
    until = state.n_trials + n_trials
    while state.head < state.tail and state.n_trials < until:
        bucket = queue[state.head]
        first, last = table.counts.buckets[bucket].first, table.counts.buckets[bucket].last
        said = _split(table, cuts, bucket, state, bound, anew)
        if said == UNSURE:
            state.unsure = 1
            return
        state.head += 1
        if said == AGREED:
            _move(cuts, first, last)
            queue[state.tail], queue[state.tail + 1] = bucket, state.n_buckets
            state.tail += 2
            state.n_buckets += 1
        else:
            state.n_settled += last - first


@jit
def _split(table: Table, cuts: Cuts, bucket: int, state: Any, bound: float, anew: bool | None) -> int:
    """Split a bucket at the first of its widest columns where that is not refused; what was said to the last."""
    counts, new, tried = table.counts, state.n_buckets, 0
    first, last = counts.buckets[bucket].first, counts.buckets[bucket].last
    run, place = cuts.spare[first:last], cuts.place[: last - first]
    _measure(cuts, first, last)
    for i in range(first, last):
        cuts.spare[i] = counts.order[i]
    for _ in range(cuts.tries):
        n_left = _cut(cuts, first, last)
        if n_left == 0:
            break
        tried += 1
        for i in range(first, last):
            counts.order[i] = run[place[i - first]]
        counts.buckets[bucket].last = first + n_left
        counts.buckets[new].first, counts.buckets[new].last = first + n_left, last
        for i in range(first + n_left, last):
            counts.bucket_of[counts.order[i]] = new
        count_halves(table.sliced, table.halves, cuts.rows, first, place, n_left, anew)
        said = _asked(table, run, bound, anew)  # the run as it was: every cut asks the same rows first
        clear_halves(table.sliced, table.halves)
        if said == AGREED:
            state.n_trials += tried
            state.n_rejected += tried - 1
            return AGREED
        counts.buckets[bucket].last = last
        for i in range(first, last):
            counts.order[i] = run[i - first]
            counts.bucket_of[run[i - first]] = bucket
        if said == UNSURE:
            return UNSURE
    state.n_trials += tried
    state.n_rejected += tried
    return REFUSED


@jit
def _measure(cuts: Cuts, first: int, last: int) -> None:
    """Measure the normalised width of a bucket in every column: 0 for one value, 1 for missing beside present."""
    for j in range(len(cuts.widths)):
        low, high = np.inf, -np.inf
        for i in range(first, last):
            x = cuts.points[i, j]
            low, high = x if x < low else low, x if x > high else high
        cuts.widths[j] = 1.0 if high == np.inf else (high - low) / cuts.spans[j]
        if low == high:
            cuts.widths[j] = 0.0


@jit
def _move(cuts: Cuts, first: int, last: int) -> None:
    """Put the rows of a bucket that was split where their halves are."""
    place, rows = cuts.place, cuts.rows
    for j in range(cuts.points.shape[1]):
        for i in range(last - first):
            cuts.scratch[i] = cuts.points[first + place[i], j]
        for i in range(last - first):
            cuts.points[first + i, j] = cuts.scratch[i]
    for j in range(rows.part.shape[1]):
        for i in range(last - first):
            cuts.spare[i] = rows.part[first + place[i], j]
        for i in range(last - first):
            rows.part[first + i, j] = cuts.spare[i]
    for s in range(rows.value.shape[1]):
        for i in range(last - first):
            cuts.spare[i] = rows.value[first + place[i], s]
        for i in range(last - first):
            rows.value[first + i, s] = cuts.spare[i]


@jit
def _cut(cuts: Cuts, first: int, last: int) -> int:
    """Cut in the widest column that allows it, at the median, into `place`; rows of the left half, or 0.

    Equal values stay together. A column that was looked at has width 0 from then on.
    """
    n, values, place = last - first, cuts.scratch[: last - first], cuts.place
    for _ in range(len(cuts.widths) if n >= 2 * cuts.k else 0):
        column = 0
        for j in range(1, len(cuts.widths)):
            column = j if cuts.widths[j] > cuts.widths[column] else column  # the first of equals
        if cuts.widths[column] <= 0.0:
            return 0
        cuts.widths[column] = 0.0
        for i in range(n):
            values[i] = cuts.points[first + i, column]
        middle = kth_smallest(values, n // 2 - 1)
        if middle == np.inf:  # mostly missing: the one cut left is between present and missing
            middle = -np.inf
            for i in range(n):
                middle = values[i] if middle < values[i] < np.inf else middle
        n_left = 0
        for i in range(n):
            n_left += values[i] <= middle
        if cuts.k <= n_left <= n - cuts.k:
            at_left, at_right = 0, n_left
            for i in range(n):
                if cuts.points[first + i, column] <= middle:
                    place[at_left] = i
                    at_left += 1
                else:
                    place[at_right] = i
                    at_right += 1
            return n_left
    return 0


@jit
def _asked(table: Table, run: Any, bound: float, anew: bool | None) -> int:
    """What all tuples say to the halves that were counted; their sums are stored if they agree.

    Tuples of some rows of the bucket are asked first.
    """
    matched, n_tuples, said = table.halves.matched, 0, AGREED
    for i in range(0, len(run), 1 + len(run) // ASKED_FIRST):
        if n_tuples < len(matched):
            matched[n_tuples] = table.sliced.row_tuple[run[i]]
            n_tuples += 1
    for stage in range(2):
        if stage:
            n_tuples = matching(table.sliced, table.halves)
        said = all_agree(table.sliced, table.counts, table.halves, table.sums, n_tuples, bound, anew)
        if said != AGREED:
            return said
    store(table.halves, table.sums, n_tuples)
    return said


@jit
def worst_share(table: Table) -> float:
    """Largest p(t, s) of all tuples where one sum stands for all values: those whose bound is larger are summed."""
    worst, sums = 0.0, table.sums
    for t in range(len(sums.match)):
        if largest_of(sums.value[t]) / sums.match[t].high > worst:
            match, _, _ = summed(table.sliced, table.counts, sums, t, table.sliced.n_values)
            share = largest_of(sums.row) / match
            worst = share if share > worst else worst
    return worst
