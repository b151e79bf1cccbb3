"""What the squared error of a group becomes when a row leaves it, or joins it, or both: columns of every kind.

Numbers without missing values are points around their mean, for which the change has a closed form. Every other column
is looked at on its own: names by how often the most frequent one occurs, ranks by their median, numbers with missing
values by the mean of those present.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import NAME, ORDER, sort
from shoal.kernels.enforce.partition import NOBODY, Partition
from shoal.kernels.enforce.refine_points import Points
from shoal.kernels.enforce.refine_points import change as flat_change
from shoal.kernels.enforce.refine_points import error as flat_error
from shoal.kernels.enforce.refine_points import renew as renew_points
from shoal.kernels.jit import jit

COLUMN = np.dtype([("kind", np.int64), ("weight", np.float64), ("gap", np.float64)], align=True)
"""A column: its kind, the weight of a squared difference, and the squared distance of missing and present."""
AVERAGE = np.dtype(
    [("present", np.int64), ("mean", np.float64), ("within", np.float64), ("top", np.int64), ("ties", np.int64),
     ("tops", np.uint64), ("slack", np.float64)],
    align=True,
)  # fmt: skip
"""What is known of a column in a group: how many values are present, the mean of numbers or ranks and their error
around it; how often the most frequent name occurs, how many names occur as often, and which, as bits; how much
larger the error of ranks is around their median."""
BITS = 64
"""How many names have a bit of their own; others share one."""
ROUNDING = 1e-9
"""By how much less is taken for what a row adds at least."""


class Mixed(NamedTuple):
    """Rows of every kind, and the averages of the groups they are in."""

    flat: Any  # float64[n, m]           IN     standardised numbers of columns without missing values
    centre: Any  # float64[groups, m]    INOUT  their means
    other: Any  # float64[n, o]          IN     the other columns, NaN = missing; names have a code for it instead
    column: Any  # COLUMN[o]             IN
    average: Any  # AVERAGE[groups, o]   INOUT
    ranks: Any  # float64[o, slots]      INOUT  ranks present in each group, lowest first
    lost: Any  # float64[groups]         INOUT  squared error of the other columns; NaN where nothing is known yet


@jit
def least_added(partition: Partition, mixed: Mixed, group: int) -> float:  # noqa: ARG001
    """What a further row adds to the loss of a group at least: a median may come nearer to all others by it."""
    least = 0.0
    for j in range(len(mixed.column)):
        least = least if mixed.column[j].kind == NAME else -np.inf
    return least


@jit
def least_with(partition: Partition, mixed: Mixed, group: int, row: int) -> float:
    """What a row adds at least to the loss of a group that it joins, known at a glance.

    Numbers add what they do, and names one unless none is more frequent; of other averages the best is assumed.
    """
    size, total = partition.groups[group].size, 0.0
    for j in range(mixed.centre.shape[1]):
        x = mixed.flat[row, j] - mixed.centre[group, j]
        total += x * x
    total = total * size / (size + 1) - ROUNDING
    for j in range(len(mixed.column)):
        known, y = mixed.average[group, j], mixed.other[row, j]
        if mixed.column[j].kind == NAME:
            total += not _may_be_top(known, y)
        else:  # a median comes nearer to all, or an average gives way to a missing value
            total -= known.slack + known.within if np.isnan(y) else known.slack
    return total


@jit
def _may_be_top(known: Any, name: float) -> bool:
    """Whether no name may be more frequent in a group; nobody's is NaN."""
    return not np.isnan(name) and (known.tops >> np.uint64(np.int64(name) & (BITS - 1))) & np.uint64(1) != 0


@jit
def least_swapped(partition: Partition, mixed: Mixed, group: int, row: int, relief: float) -> float:
    """How the loss changes at least when a row is replaced: as if it left, but for averages that another can better."""
    one, least = partition.groups[group], relief
    for j in range(len(mixed.column)):
        column, known, x = mixed.column[j], mixed.average[group, j], mixed.other[row, j]
        here = known.present - (not np.isnan(x))
        if column.kind == ORDER:
            least -= _ranks_error(column, mixed.ranks, j, one.begin, known.present, one.size - 1, x, np.nan)
            around = _around_mean(column, mixed.ranks[j, one.begin : one.begin + known.present], x)
            least += _least_error(column, around, here, one.size)
        elif column.kind != NAME:
            least -= _numbers_error(column, known, one.size - 1, x, np.nan)
            least += _least_error(column, _numbers_error(column, known, here, x, np.nan), here, one.size)
    return least


@jit
def _least_error(column: Any, around: float, here: int, m: int) -> float:
    """Squared error of m values at least, one of which may be any: others are present, with an error around their mean.

    No average is nearer to those present than their mean, and most may be missing, or not, by the one that is added.
    """
    missing = m - 1 - here
    present, absent = around + missing * column.gap, here * column.gap
    if 2 * missing > m or (2 * (missing + 1) > m and absent < present):
        return absent
    return present


@jit
def _around_mean(column: Any, ranks: Any, x: float) -> float:
    """Squared error of some ranks around their mean, once x has left."""
    n, total, square = len(ranks), 0.0, 0.0
    for rank in ranks:
        total, square = total + rank, square + rank * rank
    if not np.isnan(x):
        n, total, square = n - 1, total - x, square - x * x
    return (square - total * total / n) * column.weight if n else 0.0


@jit
def least_swap(partition: Partition, mixed: Mixed, here: int, there: int, known: Any, joined: float) -> float:  # noqa: ARG001
    """What a swap adds at least, but for what the other row gains its group if it leaves."""
    return known.slack  # type: ignore[no-any-return]


@jit
def least_joined(partition: Partition, mixed: Mixed, group: int, joined: float) -> float:  # noqa: ARG001
    """What is added to that at least."""
    return 0.0


@jit
def change(partition: Partition, mixed: Mixed, group: int, out: int, into: int) -> float:
    """By how much the squared error of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
    total = flat_change(partition, Points(mixed.flat, mixed.centre, mixed.lost), group, out, into)
    return total + _error_after(partition, mixed, group, out, into) - mixed.lost[group]


@jit
def _error_after(partition: Partition, mixed: Mixed, group: int, out: int, into: int) -> float:
    """Squared error of the other columns, once the row `out` has left and `into` has joined (-1 for none)."""
    one, column, other, members, after = partition.groups[group], mixed.column, mixed.other, partition.members, 0.0
    m = one.size - (out >= 0) + (into >= 0)
    for j in range(len(column)):
        x = other[out, j] if out >= 0 else np.nan
        y = other[into, j] if into >= 0 else np.nan
        known = mixed.average[group, j]
        if column[j].kind == ORDER:
            after += _ranks_error(column[j], mixed.ranks, j, one.begin, known.present, m, x, y)
        elif column[j].kind != NAME:
            after += _numbers_error(column[j], known, m, x, y)
        else:  # all but those who have the most frequent name
            top, n_x, n_y = known.top, 0, 0
            if x != y and (top == 0 or _may_be_top(known, x) or _may_be_top(known, y)):
                for at in range(one.begin, one.begin + one.size):
                    n_x += other[members[at], j] == x
                    n_y += other[members[at], j] == y
                if n_x == top and known.ties == 1:
                    top -= 1
                if not np.isnan(y) and n_y + 1 > top:
                    top = n_y + 1
            after += m - top
    return after


@jit
def _ranks_error(column: Any, ranks: Any, j: int, begin: int, n: int, m: int, x: float, y: float) -> float:
    """Squared error of m ranks around their lower median, once x has left and y has joined."""
    here = n - (not np.isnan(x)) + (not np.isnan(y))
    if 2 * (m - here) > m:
        return here * column.gap
    middle, total, square = 0.0, 0.0, 0.0
    i, at, left, joined = 0, 0, np.isnan(x), np.isnan(y)
    while i < n or not joined:
        if not joined and (i == n or ranks[j, begin + i] >= y):
            rank, joined = y, True
        else:
            rank = ranks[j, begin + i]
            i += 1
            if not left and rank == x:
                left = True
                continue
        if at == (here - 1) // 2:
            middle = rank
        total, square, at = total + rank, square + rank * rank, at + 1
    error = square - 2.0 * middle * total + here * middle * middle  # whole numbers: exact
    return error * column.weight + (m - here) * column.gap


@jit
def _numbers_error(column: Any, known: Any, m: int, x: float, y: float) -> float:
    """Squared error of m numbers, some missing, around the mean of the others, once x has left and y has joined."""
    here, mean, within = np.float64(known.present), known.mean, known.within
    if not np.isnan(x):
        t = x - mean
        here -= 1.0
        within = within - t * t * column.weight * (here + 1.0) / here if here > 0.0 else 0.0
        mean = mean - t / here if here > 0.0 else 0.0
    if not np.isnan(y):
        t = y - mean
        within += t * t * column.weight * here / (here + 1.0)
        here += 1.0
    if 2.0 * (m - here) > m:
        return here * column.gap
    return within + (m - here) * column.gap


# -- what is known of a group -----------------------------------------------------------------------------------------


@jit
def error(partition: Partition, mixed: Mixed, group: int) -> float:
    """Squared error of a group."""
    return flat_error(partition, Points(mixed.flat, mixed.centre, mixed.lost), group) + mixed.lost[group]


@jit
def renew(partition: Partition, mixed: Mixed, group: int) -> None:
    """Average a group anew, from its members alone."""
    renew_points(partition, Points(mixed.flat, mixed.centre, mixed.lost), group)
    begin, size = partition.groups[group].begin, partition.groups[group].size
    members, values = partition.members[begin : begin + size], np.empty(size)
    for j in range(len(mixed.column)):
        known, n = mixed.average[group, j], 0
        for row in members:
            if not np.isnan(mixed.other[row, j]):
                values[n] = mixed.other[row, j]
                n += 1
        known.present = n
        if mixed.column[j].kind == NAME:
            _count_names(values[:n], known)
        elif mixed.column[j].kind == ORDER:
            sort(values[:n], values[:n])
            for i in range(n):
                mixed.ranks[j, begin + i] = values[i]
            _average_numbers(values[:n], mixed.column[j].weight, known)
            known.slack = _ranks_error(mixed.column[j], mixed.ranks, j, begin, n, n, np.nan, np.nan) - known.within
        else:
            _average_numbers(values[:n], mixed.column[j].weight, known)
    mixed.lost[group] = _error_after(partition, mixed, group, NOBODY, NOBODY)


@jit
def _count_names(names: Any, known: Any) -> None:
    sort(names, names)
    top, ties, run, tops = 0, 0, 0, np.uint64(0)
    for i in range(len(names)):
        run = run + 1 if i and names[i] == names[i - 1] else 1
        if run < top:
            continue
        if run > top:
            top, ties, tops = run, 0, np.uint64(0)
        ties += 1
        tops |= np.uint64(1) << np.uint64(np.int64(names[i]) & (BITS - 1))
    known.top, known.ties, known.tops = top, ties, tops


@jit
def _average_numbers(numbers: Any, weight: float, known: Any) -> None:
    total, within = 0.0, 0.0
    for x in numbers:
        total += x
    mean = total / len(numbers) if len(numbers) else 0.0
    for x in numbers:
        t = x - mean
        within += t * t * weight
    known.mean, known.within = mean, within
