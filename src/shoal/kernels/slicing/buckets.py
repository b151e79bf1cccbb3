"""Slicing's tuple partitioning: a queue of buckets, each split at a median if the whole table stays diverse.

A split is tried in place: the two halves take the place of the bucket, and every tuple that matches the bucket is
asked what its sums would be. Nothing is stored before all have agreed, so a split that one of them refuses is undone
by putting the bucket's run back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.mondrian import CutSpace, _cut_by_order, width
from shoal.kernels.jit import jit
from shoal.kernels.slicing.halves import WHOLE, Halves, Sliced, TupleRows, clear_halves, count_halves, matching
from shoal.kernels.slicing.sums import BucketCounts, Sums, all_agree, largest_share, store, summed


class Queue(NamedTuple):
    """Buckets that may be split, first in, first out."""

    bucket: Any  # int64[2 n]  INOUT
    tally: Any  # int64[6]     INOUT  the five below, and rows in buckets that are done


class Cuts(NamedTuple):
    """All rows in the order of the buckets, so that those of a bucket are near each other, and a copy of one bucket."""

    space: CutSpace  # INOUT
    rows: TupleRows  # INOUT
    near: CutSpace  # scratch
    near_rows: TupleRows  # scratch
    everyone: Any  # int64[n]  IN  0, 1, 2, ...
    place: Any  # int64[n]     OUT places by half, the left first
    spare: Any  # int64[n]     the bucket's run as it was
    scratch: Any  # float64[n]
    widths: Any  # float64[d]


ASKED_FIRST = 64
"""Rows of a bucket that are asked before all others that match it: those are the likeliest to refuse a split."""
HEAD, TAIL, N_BUCKETS, N_TRIALS, N_REJECTED, N_SETTLED = 0, 1, 2, 3, 4, 5


@jit
def begin(sliced: Sliced, buckets: BucketCounts, halves: Halves, sums: Sums) -> None:
    """Form the sums of all tuples for the unsplit table, which comes from nothing: a left half alone."""
    n_rows = len(buckets.order)
    count_halves(sliced, halves, TupleRows(sliced.row_part, sliced.row_value), buckets.order, n_rows)
    halves.sizes[WHOLE] = 0
    _stays_diverse(sliced, buckets, halves, sums, buckets.order, np.inf)
    clear_halves(sliced, halves)


@jit
def work_off(
    sliced: Sliced, buckets: BucketCounts, halves: Halves, sums: Sums, queue: Queue, cuts: Cuts, k: int, tries: int,
    bound: float, n_trials: int,
) -> None:  # fmt: skip
    """Take buckets from the queue until it is empty or so many splits were tried."""
    tally = queue.tally
    until = tally[N_TRIALS] + n_trials
    while tally[HEAD] < tally[TAIL] and tally[N_TRIALS] < until:
        bucket, new = queue.bucket[tally[HEAD]], tally[N_BUCKETS]
        tally[HEAD] += 1
        _gather(cuts, buckets.first[bucket], buckets.last[bucket])
        split = False
        for _ in range(tries):
            n_left = _cut(cuts, buckets.last[bucket] - buckets.first[bucket], k)
            if n_left == 0:
                break
            tally[N_TRIALS] += 1
            _exchange(buckets, bucket, new, n_left, cuts)
            run = cuts.spare[buckets.first[bucket] : buckets.last[new]]  # as it was: every cut asks the same rows first
            count_halves(sliced, halves, cuts.near_rows, cuts.place[: len(run)], n_left)
            split = _stays_diverse(sliced, buckets, halves, sums, run, bound)
            clear_halves(sliced, halves)
            if split:
                break
            tally[N_REJECTED] += 1
            _put_back(buckets, bucket, new, cuts.spare)
        if split:
            _move(cuts, buckets.first[bucket], buckets.last[new])
            queue.bucket[tally[TAIL]], queue.bucket[tally[TAIL] + 1] = bucket, new
            tally[TAIL] += 2
            tally[N_BUCKETS] += 1
        else:
            tally[N_SETTLED] += buckets.last[bucket] - buckets.first[bucket]


@jit
def _gather(cuts: Cuts, first: int, last: int) -> None:
    """Copy the rows of a bucket, and measure its normalised width in every column."""
    points, widths, parts, values = cuts.near.points, cuts.widths, cuts.near_rows.part, cuts.near_rows.value
    low, high = np.full(len(widths), np.inf), np.full(len(widths), -np.inf)
    for i in range(last - first):
        for j in range(len(widths)):
            x = cuts.space.points[first + i, j]
            points[i, j] = x
            low[j], high[j] = min(low[j], x), max(high[j], x)
        for j in range(parts.shape[1]):
            parts[i, j] = cuts.rows.part[first + i, j]
        for s in range(values.shape[1]):
            values[i, s] = cuts.rows.value[first + i, s]
    for j in range(len(widths)):
        widths[j] = width(cuts.space, j, low[j], high[j])


@jit
def _move(cuts: Cuts, first: int, last: int) -> None:
    """Put the rows of a bucket that was split where their halves are."""
    points, parts, values = cuts.space.points, cuts.rows.part, cuts.rows.value
    for i in range(first, last):
        place = cuts.place[i - first]
        for j in range(points.shape[1]):
            points[i, j] = cuts.near.points[place, j]
        for j in range(parts.shape[1]):
            parts[i, j] = cuts.near_rows.part[place, j]
        for s in range(values.shape[1]):
            values[i, s] = cuts.near_rows.value[place, s]


@jit
def _cut(cuts: Cuts, n_rows: int, k: int) -> int:
    """Cut in the widest column that allows it, at the median, into `place`; rows of the left half, or 0.

    A column that was looked at has width 0 from then on.
    """
    sizes = np.zeros(2, dtype=np.int64)
    run, place, scratch = cuts.everyone[:n_rows], cuts.place[:n_rows], cuts.scratch[:n_rows]
    for _ in range(len(cuts.widths)):
        column = int(np.argmax(cuts.widths))  # the first of equals
        if cuts.widths[column] <= 0.0:
            return 0
        cuts.widths[column] = 0.0
        if _cut_by_order(cuts.near, run, place, scratch, column, k, True, sizes):
            return sizes[0]
    return 0


@jit
def _exchange(buckets: BucketCounts, bucket: int, new: int, n_left: int, cuts: Cuts) -> None:
    """Let the halves take the bucket's place; its run as it was stays in `spare`."""
    first, last = buckets.first[bucket], buckets.last[bucket]
    for i in range(first, last):
        cuts.spare[i] = buckets.order[i]
    for i in range(first, last):
        buckets.order[i] = cuts.spare[first + cuts.place[i - first]]
    buckets.last[bucket], buckets.first[new], buckets.last[new] = first + n_left, first + n_left, last
    for row in buckets.order[first + n_left : last]:
        buckets.bucket_of[row] = new


@jit
def _put_back(buckets: BucketCounts, bucket: int, new: int, spare: Any) -> None:
    buckets.last[bucket] = buckets.last[new]
    for i in range(buckets.first[bucket], buckets.last[bucket]):
        buckets.order[i] = spare[i]
        buckets.bucket_of[spare[i]] = bucket


@jit
def _stays_diverse(sliced: Sliced, buckets: BucketCounts, halves: Halves, sums: Sums, run: Any, bound: float) -> bool:
    """Whether every tuple agrees to the halves that were counted; their sums are stored if so."""
    n_tuples = _some_of(sliced, halves, run)
    for stage in range(2):
        if stage:
            n_tuples = matching(sliced, halves)
        if not all_agree(sliced, buckets, halves, sums, n_tuples, bound):
            return False
    store(halves, sums, n_tuples)
    return True


@jit
def _some_of(sliced: Sliced, halves: Halves, run: Any) -> int:
    """Tuples of some rows of the bucket, into `matched`."""
    n_tuples = 0
    for i in range(0, len(run), 1 + len(run) // ASKED_FIRST):
        if n_tuples < len(halves.matched):
            halves.matched[n_tuples] = sliced.row_tuple[run[i]]
            n_tuples += 1
    return n_tuples


@jit
def worst_share(sliced: Sliced, buckets: BucketCounts, sums: Sums) -> float:
    """Largest p(t, s) of all tuples as the buckets stand; folded, only tuples whose bound is larger are summed."""
    worst = 0.0
    for t in range(len(sums.error)):
        match = sums.match[t, 0]
        share = largest_share(sums.value[t], match)
        if share > worst and sliced.folded:
            match, _, _ = summed(sliced, buckets, sums, t, sliced.n_values)
            share = largest_share(sums.row, match)
        worst = max(worst, share)
    return worst
