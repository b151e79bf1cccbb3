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
from shoal.kernels.slice_halves import LEFT, RIGHT, WHOLE, Halves, Sliced, part_of

ROUNDING = 2.0**-101
"""More than what one split can add to the error of a sum, as a share of the largest sum on the way."""
TRUSTED = 1e-14
"""Error of a sum, as a share of it, above which it is formed anew."""


class Buckets(NamedTuple):
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
def updated(sliced: Sliced, buckets: Buckets, halves: Halves, sums: Sums, t: int, row: Any) -> Any:
    """The sums of a tuple after the split: f's pair and the error, the sums of values in `row`.

    OUT  row  float64[cells, 2]
    """
    high, low, largest = sums.match[t, 0], sums.match[t, 1], sums.match[t, 0]
    for cell in range(len(row)):
        row[cell, 0], row[cell, 1] = sums.value[t, cell, 0], sums.value[t, cell, 1]
    for side in (LEFT, RIGHT, WHOLE):  # what goes, goes last: sums do not fall below 0 on the way
        product = 1.0 if halves.sizes[side] else 0.0
        for part in sliced.tuple_part[t]:
            product *= part_of(halves.count[part, side], halves.sizes[side]) * sliced.scale
        if product == 0.0:
            continue
        signed = -product if side == WHOLE else product
        high, low = plus(high, low, signed)
        largest = max(largest, high)
        for s in range(len(sliced.home)):
            part, share, cells = sliced.tuple_part[t, sliced.home[s]], halves.share[s, side], halves.cell[s]
            for entry in range(halves.begin[part], halves.end[s, part]):
                cell = cells[entry]
                row[cell, 0], row[cell, 1] = plus(row[cell, 0], row[cell, 1], signed * share[entry])
    error = sums.error[t] + ROUNDING * largest
    if error > TRUSTED * high:
        high, low, error = summed(sliced, buckets, sums, t, len(row))
        for cell in range(len(row)):
            row[cell, 0], row[cell, 1] = sums.row[cell, 0], sums.row[cell, 1]
    return high, low, error


@jit
def summed(sliced: Sliced, buckets: Buckets, sums: Sums, t: int, n_cells: int) -> Any:
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
