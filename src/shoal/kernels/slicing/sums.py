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

from shoal.kernels.jit import jit
from shoal.kernels.slicing.halves import LEFT, RIGHT, WHOLE, Halves, Sliced, part_of

ROUNDING = 2.0**-101
"""More than what one split can add to the error of a sum, as a share of the largest sum on the way."""
TRUSTED = 1e-14
"""Error of a sum, as a share of it, above which it is formed anew."""


class BucketCounts(NamedTuple):
    """Who is with whom, a run of `order` for each bucket."""

    order: Any  # int64[n]     INOUT
    first: Any  # int64[n]     INOUT
    last: Any  # int64[n]      INOUT
    bucket_of: Any  # int64[n] INOUT


class Sums(NamedTuple):
    """The sums of every tuple as pairs of doubles, and scratch for one tuple."""

    match: Any  # float64[u, 2]        INOUT  sum of f(t, B)
    value: Any  # float64[u, cells, 2] INOUT  sums of f(t, B) h / a
    error: Any  # float64[u]           INOUT  bound of the error of each of them
    next_match: Any  # float64[u, 2]   scratch, what they would be after a split, in the order of the tuples asked
    next_value: Any  # float64[u, cells, 2]
    next_error: Any  # float64[u]
    row: Any  # float64[values, 2]     scratch
    hist: Any  # int64[values]         scratch, 0
    seen: Any  # int64[n]              scratch, the last call that looked at a bucket
    n_calls: Any  # int64[1]           INOUT  how often a tuple was summed anew
    parts: Any  # int64[c]             scratch


@jit
def plus(high: float, low: float, x: float) -> Any:
    """Add a double to a pair of doubles, which need not be far apart in size."""
    total = high + x
    back = total - high
    low += (high - (total - back)) + (x - back)
    high = total + low
    return high, low - (high - total)


@jit
def all_agree(sliced: Sliced, buckets: BucketCounts, halves: Halves, sums: Sums, n_tuples: int, bound: float) -> bool:
    """Whether p <= bound after the split for every tuple in `matched`; their sums go to `sums.next_*`.

    The loop is in here, and arrays are taken out of their tuples first, because a call with all of them costs more
    than what is done for a tuple.
    """
    tuple_part, home, scale, next_value = sliced.tuple_part, sliced.home, sliced.scale, sums.next_value
    count, sizes, begin, end, cells, shares = (
        halves.count,
        halves.sizes,
        halves.begin,
        halves.end,
        halves.cell,
        halves.share,
    )
    match, value, n_slices, n_cells = sums.match, sums.value, tuple_part.shape[1], sums.value.shape[1]
    for i in range(n_tuples):
        t = halves.matched[i]
        high, low, largest = match[t, 0], match[t, 1], match[t, 0]
        for cell in range(n_cells):
            next_value[i, cell, 0], next_value[i, cell, 1] = value[t, cell, 0], value[t, cell, 1]
        for side in (LEFT, RIGHT, WHOLE):  # what goes, goes last: sums do not fall below 0 on the way
            product = 1.0 if sizes[side] else 0.0
            for j in range(n_slices):
                product *= part_of(count[tuple_part[t, j], side], sizes[side]) * scale
                if product == 0.0:
                    break
            if product == 0.0:
                continue
            product = -product if side == WHOLE else product
            high, low = plus(high, low, product)
            largest = max(largest, high)
            for s in range(len(home)):
                part = tuple_part[t, home[s]]
                for entry in range(begin[part], end[s, part]):
                    cell, x = cells[s, entry], product * shares[s, side, entry]
                    next_value[i, cell, 0], next_value[i, cell, 1] = plus(
                        next_value[i, cell, 0], next_value[i, cell, 1], x
                    )
        error = sums.error[t] + ROUNDING * largest
        if error > TRUSTED * high:
            high, low, error = summed(sliced, buckets, sums, t, n_cells)
            _copy(sums.row, next_value[i])
        sums.next_match[i, 0], sums.next_match[i, 1], sums.next_error[i] = high, low, error
        most = 0.0
        for cell in range(n_cells):
            most = max(most, next_value[i, cell, 0])
        if most / high > bound and not _is_fine(sliced, buckets, sums, t, bound):
            return False
    return True


@jit
def store(halves: Halves, sums: Sums, n_tuples: int) -> None:
    """Let the sums after the split be the sums."""
    match, value, error, next_value = sums.match, sums.value, sums.error, sums.next_value
    for i in range(n_tuples):
        t = halves.matched[i]
        match[t, 0], match[t, 1], error[t] = sums.next_match[i, 0], sums.next_match[i, 1], sums.next_error[i]
        for cell in range(value.shape[1]):
            value[t, cell, 0], value[t, cell, 1] = next_value[i, cell, 0], next_value[i, cell, 1]


@jit
def _copy(row: Any, into: Any) -> None:
    for cell in range(len(into)):
        into[cell, 0], into[cell, 1] = row[cell, 0], row[cell, 1]


@jit
def _is_fine(sliced: Sliced, buckets: BucketCounts, sums: Sums, t: int, bound: float) -> bool:
    """Whether a tuple agrees of which only a bound was known."""
    if not sliced.folded:
        return False
    match, _, _ = summed(sliced, buckets, sums, t, sliced.n_values)
    return largest_share(sums.row, match) <= bound


@jit
def summed(sliced: Sliced, buckets: BucketCounts, sums: Sums, t: int, n_cells: int) -> Any:
    """The sums of a tuple from all buckets that it matches: f's pair and the error, sums of values in `sums.row`.

    As many sums as are kept, or one for every value.
    """
    fold = n_cells < sliced.n_values
    sums.row[:] = 0.0
    sums.n_calls[0] += 1
    high, low, n_terms = 0.0, 0.0, 0
    for row in _fewest_rows(sliced, t):
        bucket = buckets.bucket_of[row]
        if sums.seen[bucket] == sums.n_calls[0]:
            continue
        sums.seen[bucket] = sums.n_calls[0]
        run = buckets.order[buckets.first[bucket] : buckets.last[bucket]]
        product = _match(sliced, sums, run, t)
        if product > 0.0:
            high, low = plus(high, low, product)
            n_terms += 1
            for s in range(len(sliced.home)):
                _add_values(sliced, sums, run, t, s, product, fold)
    return high, low, ROUNDING * n_terms * high


@jit
def _fewest_rows(sliced: Sliced, t: int) -> Any:
    """The rows with t's part of the slice where they are fewest: whatever bucket t matches has one of them."""
    rare = sliced.tuple_part[t, 0]
    for part in sliced.tuple_part[t]:
        here = sliced.rows_start[part + 1] - sliced.rows_start[part]
        if here < sliced.rows_start[rare + 1] - sliced.rows_start[rare]:
            rare = part
    return sliced.part_rows[sliced.rows_start[rare] : sliced.rows_start[rare + 1]]


@jit
def _match(sliced: Sliced, sums: Sums, run: Any, t: int) -> float:
    """f(t, B), scaled; the rows with each part of t in `sums.parts`."""
    sums.parts[:] = 0
    for row in run:
        for j in range(len(sums.parts)):
            sums.parts[j] += sliced.row_part[row, j] == sliced.tuple_part[t, j]
    product = 1.0
    for j in range(len(sums.parts)):
        product *= part_of(sums.parts[j], len(run)) * sliced.scale
    return product


@jit
def _add_values(sliced: Sliced, sums: Sums, run: Any, t: int, s: int, product: float, fold: bool) -> None:
    j, most = sliced.home[s], 0
    for row in run:
        if sliced.row_part[row, j] == sliced.tuple_part[t, j]:
            sums.hist[sliced.row_value[row, s]] += 1
            most = max(most, sums.hist[sliced.row_value[row, s]])
    if fold:
        x = product * part_of(most, sums.parts[j])
        sums.row[s, 0], sums.row[s, 1] = plus(sums.row[s, 0], sums.row[s, 1], x)
    for row in run:
        value = sliced.row_value[row, s]
        if sums.hist[value] and not fold:
            x = product * part_of(sums.hist[value], sums.parts[j])
            sums.row[value, 0], sums.row[value, 1] = plus(sums.row[value, 0], sums.row[value, 1], x)
        sums.hist[value] = 0


@jit
def largest_share(row: Any, match: float) -> float:
    """Largest p(t, s) by the sums of a tuple.

    IN  row  float64[cells, 2]
    """
    most = 0.0
    for cell in range(len(row)):
        most = max(most, row[cell, 0])
    return most / match
