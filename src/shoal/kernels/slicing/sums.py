"""What is known of every distinct tuple of a sliced table while buckets are split: its sums over all buckets.

With f(t, B) the product over slices of the share of B's rows with t's part, and h / a the share of a sensitive value
among the rows of B with t's part of the slice that value is in, slicing bounds for every tuple t and value s

    p(t, s) = sum_B f(t, B) h / a  /  sum_B f(t, B)

A split replaces one term of these sums by two. Terms span many orders of magnitude, so a sum in doubles from which a
large term is taken away can be rubbish. Here a term is a double that depends on counts alone: what is taken away has
the very bits that were added. The sums of these doubles are pairs of doubles, exact to 106 bits of the largest they
ever held, and how much that may be is kept for every tuple. Only where it has grown beyond `TRUSTED` of what is left
(a sum has shrunk by some sixteen orders of magnitude) is the tuple summed anew over all its buckets, from the same
terms. So p is right to about 1e-14, wherever it came from, far inside the tolerance of the check: it decides as a
check of the whole table does, and where p is exactly 1 / l as well.

Where tuples times sensitive values are too many to keep (`folded`), one sum stands for all values of an attribute,
with the largest share of each bucket for term: an upper bound. Where the bound is too large, the tuple is summed anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import inner
from shoal.kernels.slicing.halves import LEFT, RIGHT, WHOLE, Halves, Sliced

ROUNDING = 2.0**-101
"""More than what one split can add to the error of a sum, as a share of the largest sum on the way."""
TRUSTED = 1e-14
"""Error of a sum, as a share of it, above which it is formed anew."""
AGREED, REFUSED, UNSURE = 0, 1, 2
"""What tuples say to a split."""
BUCKET = np.dtype([("first", np.int64), ("last", np.int64)])
"""Where the rows of a bucket begin and end in the order of all rows."""
PAIR = np.dtype([("high", np.float64), ("low", np.float64)])
"""A sum as a pair of doubles."""
MATCH = np.dtype([("high", np.float64), ("low", np.float64), ("error", np.float64)])
"""The sum of f(t, B) of a tuple, and a bound of the error of all its sums."""


class BucketCounts(NamedTuple):
    """Who is with whom, a run of `order` for each bucket."""

    order: Any  # int64[n]      INOUT
    buckets: Any  # BUCKET[n]   INOUT
    bucket_of: Any  # int64[n]  INOUT


class Sums(NamedTuple):
    """The sums of every tuple, and scratch for one tuple."""

    match: Any  # MATCH[u]             INOUT
    value: Any  # PAIR[u, cells]       INOUT    sums of f(t, B) h / a
    next_match: Any  # MATCH[u]        scratch  what they would be after a split, in the order of the tuples asked
    next_value: Any  # PAIR[u, cells]
    row: Any  # PAIR[values]           scratch
    often: Any  # int64[values]        scratch, 0
    seen: Any  # int64[n]              scratch, the last call that looked at a bucket
    n_calls: Any  # int64[1]           INOUT    how often a tuple was summed anew
    parts: Any  # int64[c]             scratch


@inner
def plus(high: float, low: float, x: float) -> Any:
    """Add a double to a pair of doubles, which need not be far apart in size."""
    total = high + x
    back = total - high
    low += (high - (total - back)) + (x - back)
    high = total + low
    return high, low - (high - total)


@inner
def all_agree(
    sliced: Sliced, buckets: BucketCounts, halves: Halves, sums: Sums, n_tuples: int, bound: float, anew: bool | None
) -> int:
    """Whether p <= bound after the split for every tuple in `matched`; their sums go to `sums.next_*`.

    Where tuples cannot be summed `anew` (None) and one has to be, it is UNSURE: that is seldom so, and takes long to
    compile. The loop is in here, and arrays are taken out of their tuples first, because a call with all of them costs
    more than what is done for a tuple.
    """
    tuple_part, home, scale, value = sliced.tuple_part, sliced.home, sliced.scale, sums.next_value
    count, sizes, begin, end = halves.count, halves.sizes, halves.begin, halves.end
    n_slices, n_cells = tuple_part.shape[1], value.shape[1]
    for i in range(n_tuples):
        t = halves.matched[i]
        high, low = sums.match[t].high, sums.match[t].low
        largest = high
        for cell in range(n_cells):
            value[i, cell].high, value[i, cell].low = sums.value[t, cell].high, sums.value[t, cell].low
        for side in (LEFT, RIGHT, WHOLE):  # what goes, goes last: sums do not fall below 0 on the way
            product = 1.0 if sizes[side] else 0.0
            for j in range(n_slices):
                product *= count[tuple_part[t, j], side] / sizes[side] * scale if sizes[side] else 0.0
                if product == 0.0:
                    break
            if product == 0.0:
                continue
            product = -product if side == WHOLE else product
            high, low = plus(high, low, product)
            largest = high if high > largest else largest
            for s in range(len(home)):
                part = tuple_part[t, home[s]]
                for entry in range(begin[part], end[s, part]):
                    one = value[i, halves.cell[s, entry]]
                    one.high, one.low = plus(one.high, one.low, product * halves.share[s, side, entry])
        error = sums.match[t].error + ROUNDING * largest
        if error > TRUSTED * high:
            if anew is None:
                return UNSURE
            high, low, error = summed(sliced, buckets, sums, t, n_cells)
            for cell in range(n_cells):
                value[i, cell].high, value[i, cell].low = sums.row[cell].high, sums.row[cell].low
        sums.next_match[i].high, sums.next_match[i].low, sums.next_match[i].error = high, low, error
        most = 0.0
        for cell in range(n_cells):
            most = value[i, cell].high if value[i, cell].high > most else most
        if most / high > bound:
            if anew is None:
                return REFUSED
            if sliced.folded:  # only a bound is known
                high, _, _ = summed(sliced, buckets, sums, t, sliced.n_values)
                most = largest_of(sums.row)
            if most / high > bound:
                return REFUSED
    return AGREED


@inner
def store(halves: Halves, sums: Sums, n_tuples: int) -> None:
    """Let the sums after the split be the sums."""
    for i in range(n_tuples):
        known, after = sums.match[halves.matched[i]], sums.next_match[i]
        known.high, known.low, known.error = after.high, after.low, after.error
        for cell in range(sums.value.shape[1]):
            one = sums.value[halves.matched[i], cell]
            one.high, one.low = sums.next_value[i, cell].high, sums.next_value[i, cell].low


@inner
def summed(sliced: Sliced, buckets: BucketCounts, sums: Sums, t: int, n_cells: int) -> Any:
    """The sums of a tuple from all buckets that it matches: f's pair and the error, sums of values in `sums.row`.

    As many sums as are kept, or one for every value.
    """
    fold, parts = n_cells < sliced.n_values, sums.parts
    for cell in range(len(sums.row)):
        sums.row[cell].high = sums.row[cell].low = 0.0
    sums.n_calls[0] += 1
    high, low, n_terms = 0.0, 0.0, 0
    rare = _rarest(sliced, t)  # whatever bucket t matches has a row with it
    for at in range(sliced.rows_start[rare], sliced.rows_start[rare + 1]):
        bucket = buckets.bucket_of[sliced.part_rows[at]]
        if sums.seen[bucket] == sums.n_calls[0]:
            continue
        sums.seen[bucket] = sums.n_calls[0]
        first, last = buckets.buckets[bucket].first, buckets.buckets[bucket].last
        parts[:] = 0
        for i in range(first, last):
            for j in range(len(parts)):
                parts[j] += sliced.row_part[buckets.order[i], j] == sliced.tuple_part[t, j]
        product = 1.0
        for j in range(len(parts)):
            product *= parts[j] / (last - first) * sliced.scale
        if product > 0.0:
            high, low = plus(high, low, product)
            n_terms += 1
            for s in range(len(sliced.home)):
                _add_values(sliced, buckets, sums, bucket, t, s, product, fold)
    return high, low, ROUNDING * n_terms * high


@inner
def _rarest(sliced: Sliced, t: int) -> int:
    """The part of a tuple that the fewest rows have."""
    rare, fewest = sliced.tuple_part[t, 0], len(sliced.part_rows) + 1
    for j in range(sliced.tuple_part.shape[1]):
        part = sliced.tuple_part[t, j]
        if sliced.rows_start[part + 1] - sliced.rows_start[part] < fewest:
            rare, fewest = part, sliced.rows_start[part + 1] - sliced.rows_start[part]
    return rare


@inner
def _add_values(
    sliced: Sliced, buckets: BucketCounts, sums: Sums, bucket: int, t: int, s: int, product: float, fold: bool
) -> None:
    """Add the terms of a bucket for the values of one attribute; folded, the largest of them only."""
    j, most, often = sliced.home[s], 0, sums.often
    first, last = buckets.buckets[bucket].first, buckets.buckets[bucket].last
    for i in range(first, last):
        row = buckets.order[i]
        if sliced.row_part[row, j] == sliced.tuple_part[t, j]:
            often[sliced.row_value[row, s]] += 1
            most = often[sliced.row_value[row, s]] if often[sliced.row_value[row, s]] > most else most
    if fold:
        one = sums.row[s]
        one.high, one.low = plus(one.high, one.low, product * (most / sums.parts[j]))
    for i in range(first, last):
        value = sliced.row_value[buckets.order[i], s]
        if often[value] and not fold:
            one = sums.row[value]
            one.high, one.low = plus(one.high, one.low, product * (often[value] / sums.parts[j]))
        often[value] = 0


@inner
def largest_of(row: Any) -> float:
    """Largest of the sums of a tuple.

    IN  row  PAIR[cells]
    """
    most = 0.0
    for cell in range(len(row)):
        most = row[cell].high if row[cell].high > most else most
    return most
