"""Slicing's tuple partitioning: a queue of buckets, each split at a median if the whole table stays diverse.

A split is tried in place: the two halves take the place of the bucket, and every tuple that matches the bucket is
asked what its sums would be. Nothing is stored before all have agreed, so a split that one of them refuses is undone
by putting the bucket's run back. Only then are the sums formed once more and kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit
from shoal.kernels.mondrian import Space, _cut_by_order, width
from shoal.kernels.slice_halves import WHOLE, Halves, Sliced, clear_halves, count_halves, matching
from shoal.kernels.slice_sums import Buckets, Sums, largest_share, summed, updated


class Queue(NamedTuple):
    """Buckets that may be split, first in, first out."""

    bucket: Any  # int64[2 n]  INOUT
    tally: Any  # int64[6]     INOUT  the five below, and rows in buckets that are done


class Cuts(NamedTuple):
    """Scratch for the cuts of a bucket."""

    spare: Any  # int64[n]
    scratch: Any  # float64[n]
    widths: Any  # float64[d]


ASKED_FIRST = 64
"""Rows of a bucket that are asked before all others that match it: those are the likeliest to refuse a split."""
HEAD, TAIL, N_BUCKETS, N_TRIALS, N_REJECTED, N_SETTLED = 0, 1, 2, 3, 4, 5


@jit
def begin(sliced: Sliced, buckets: Buckets, halves: Halves, sums: Sums) -> None:
    """Form the sums of all tuples for the unsplit table."""
    count_halves(sliced, halves, buckets.order, len(buckets.order))
    halves.sizes[WHOLE] = 0  # the table comes from nothing: a left half alone
    for t in range(len(sums.error)):
        _keep(sliced, buckets, halves, sums, t)
    clear_halves(sliced, halves)


@jit
def work_off(
    space: Space, sliced: Sliced, buckets: Buckets, halves: Halves, sums: Sums, queue: Queue, cuts: Cuts, k: int,
    tries: int, bound: float, n_trials: int,
) -> None:  # fmt: skip
    """Take buckets from the queue until it is empty or so many splits were tried."""
    tally = queue.tally
    until = tally[N_TRIALS] + n_trials
    while tally[HEAD] < tally[TAIL] and tally[N_TRIALS] < until:
        bucket, new = queue.bucket[tally[HEAD]], tally[N_BUCKETS]
        tally[HEAD] += 1
        _measure(space, buckets, bucket, cuts.widths)
        split = False
        for _ in range(tries):
            n_left = _cut(space, buckets, bucket, cuts, k)
            if n_left == 0:
                break
            tally[N_TRIALS] += 1
            _exchange(buckets, bucket, new, n_left, cuts.spare)
            split = _stays_diverse(sliced, buckets, halves, sums, bucket, new, bound)
            if split:
                break
            tally[N_REJECTED] += 1
            _put_back(buckets, bucket, new, cuts.spare)
        if split:
            queue.bucket[tally[TAIL]], queue.bucket[tally[TAIL] + 1] = bucket, new
            tally[TAIL] += 2
            tally[N_BUCKETS] += 1
        else:
            tally[N_SETTLED] += buckets.last[bucket] - buckets.first[bucket]


@jit
def _measure(space: Space, buckets: Buckets, bucket: int, widths: Any) -> None:
    """Normalised width of a bucket in every column."""
    low, high = np.full(len(widths), np.inf), np.full(len(widths), -np.inf)
    for row in buckets.order[buckets.first[bucket] : buckets.last[bucket]]:
        for j in range(len(widths)):
            low[j] = min(low[j], space.points[row, j])
            high[j] = max(high[j], space.points[row, j])
    for j in range(len(widths)):
        widths[j] = width(space, j, low[j], high[j])


@jit
def _cut(space: Space, buckets: Buckets, bucket: int, cuts: Cuts, k: int) -> int:
    """Cut in the widest column that allows it, at the median, into `spare`; rows of the left half, or 0.

    A column that was looked at has width 0 from then on.
    """
    first, last = buckets.first[bucket], buckets.last[bucket]
    run, sizes = buckets.order[first:last], np.zeros(2, dtype=np.int64)
    for _ in range(len(cuts.widths)):
        column = int(np.argmax(cuts.widths))  # the first of equals
        if cuts.widths[column] <= 0.0:
            return 0
        cuts.widths[column] = 0.0
        if _cut_by_order(space, run, cuts.spare[first:last], cuts.scratch[first:last], column, k, True, sizes):
            return sizes[0]
    return 0


@jit
def _exchange(buckets: Buckets, bucket: int, new: int, n_left: int, spare: Any) -> None:
    """Let the halves take the bucket's place; its run as it was stays in `spare`."""
    first, last = buckets.first[bucket], buckets.last[bucket]
    for i in range(first, last):
        buckets.order[i], spare[i] = spare[i], buckets.order[i]
    buckets.last[bucket], buckets.first[new], buckets.last[new] = first + n_left, first + n_left, last
    for row in buckets.order[first + n_left : last]:
        buckets.bucket_of[row] = new


@jit
def _put_back(buckets: Buckets, bucket: int, new: int, spare: Any) -> None:
    buckets.last[bucket] = buckets.last[new]
    for i in range(buckets.first[bucket], buckets.last[bucket]):
        buckets.order[i] = spare[i]
        buckets.bucket_of[spare[i]] = bucket


@jit
def _stays_diverse(
    sliced: Sliced, buckets: Buckets, halves: Halves, sums: Sums, bucket: int, new: int, bound: float
) -> bool:
    """Whether every tuple agrees to the halves; their sums are stored if so."""
    run = buckets.order[buckets.first[bucket] : buckets.last[new]]
    count_halves(sliced, halves, run, buckets.last[bucket] - buckets.first[bucket])
    fine = True
    for i in range(0, len(run), 1 + len(run) // ASKED_FIRST):
        fine = fine and _agrees(sliced, buckets, halves, sums, sliced.row_tuple[run[i]], bound)
    if fine:
        n_tuples, i = matching(sliced, halves), 0
        while fine and i < n_tuples:
            fine = _agrees(sliced, buckets, halves, sums, halves.frontier[0, i], bound)
            i += 1
        if fine:
            for t in halves.frontier[0, :n_tuples]:
                _keep(sliced, buckets, halves, sums, t)
    clear_halves(sliced, halves)
    return fine


@jit
def _agrees(sliced: Sliced, buckets: Buckets, halves: Halves, sums: Sums, t: int, bound: float) -> bool:
    match, _, _ = updated(sliced, buckets, halves, sums, t)
    if largest_share(sums, sums.value.shape[1], match) <= bound:
        return True
    if not sliced.folded:
        return False
    match, _, _ = summed(sliced, buckets, sums, t, False)
    return largest_share(sums, sliced.n_values, match) <= bound


@jit
def _keep(sliced: Sliced, buckets: Buckets, halves: Halves, sums: Sums, t: int) -> None:
    sums.match[t, 0], sums.match[t, 1], sums.error[t] = updated(sliced, buckets, halves, sums, t)
    sums.value[t] = sums.row[: sums.value.shape[1]]


@jit
def worst_share(sliced: Sliced, buckets: Buckets, sums: Sums) -> float:
    """Largest p(t, s) of all tuples as the buckets stand; folded, only tuples whose bound is larger are summed."""
    worst, n_cells = 0.0, sums.value.shape[1]
    for t in range(len(sums.error)):
        match = sums.match[t, 0]
        sums.row[:n_cells] = sums.value[t]
        share = largest_share(sums, n_cells, match)
        if share > worst and sliced.folded:
            match, _, _ = summed(sliced, buckets, sums, t, False)
            share = largest_share(sums, sliced.n_values, match)
        worst = max(worst, share)
    return worst
