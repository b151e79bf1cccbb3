"""What the squared error of a group becomes when a row leaves it, or joins it, or both: columns of every kind.

Numbers without missing values are points around their mean, for which the change has a closed form. Every other column
is looked at on its own: names by how often the most frequent one occurs, ranks by their median, numbers with missing
values by the mean of those present.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.partition import Partition, members_of
from shoal.kernels.cluster.points import NAME, ORDER, sort
from shoal.kernels.enforce.refine_points import Points
from shoal.kernels.enforce.refine_points import change as flat_change
from shoal.kernels.enforce.refine_points import renew as renew_points
from shoal.kernels.jit import jit

KIND, WEIGHT, GAP = 0, 1, 2
PRESENT, MEAN, WITHIN = 0, 1, 2
TOP, TIES = 0, 1


class Mixed(NamedTuple):
    """Rows of every kind, and the averages of the groups they are in."""

    flat: Any  # float64[n, m]           IN     standardised numbers of columns without missing values
    centre: Any  # float64[groups, m]    INOUT  their means
    odd: Any  # float64[n, o]            IN     the other columns, NaN = missing; names have a code for it instead
    column: Any  # float64[o, 3]         IN     their KIND, the WEIGHT of a squared difference, that of missing: GAP
    facts: Any  # float64[groups, o, 3]  INOUT  how many are PRESENT, the MEAN of numbers and their error WITHIN;
    #                                           of names: how often the TOP one occurs, how many do so (TIES)
    ranks: Any  # float64[o, slots]      INOUT  ranks present in each group, lowest first
    error: Any  # float64[groups]        INOUT  squared error of the other columns


@jit
def least_added(partition: Partition, mixed: Mixed, group: int) -> float:  # noqa: ARG001
    """What a further row adds to the loss of a group at least."""
    return 0.0


@jit
def change(partition: Partition, mixed: Mixed, group: int, out: int, into: int) -> float:
    """By how much the squared error of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
    size, odd, column, facts = partition.size[group], mixed.odd, mixed.column, mixed.facts
    begin, members = partition.begin[group], partition.members
    total = flat_change(partition, Points(mixed.flat, mixed.centre), group, out, into)
    after, m = 0.0, size - (out >= 0) + (into >= 0)
    for j in range(len(column)):
        x = odd[out, j] if out >= 0 else np.nan
        y = odd[into, j] if into >= 0 else np.nan
        if column[j, KIND] == NAME:
            after += m - _top_count(odd, members, begin, size, facts, group, j, x, y)
        elif column[j, KIND] == ORDER:
            after += _ranks_error(column, facts, mixed.ranks, begin, group, j, m, x, y)
        else:
            after += _numbers_error(column, facts, group, j, m, x, y)
    return total + after - mixed.error[group]


@jit
def _top_count(
    odd: Any, members: Any, begin: int, size: int, facts: Any, group: int, j: int, x: float, y: float
) -> float:
    """How often the most frequent name occurs, once x has left and y has joined."""
    top = facts[group, j, TOP]
    if x == y:
        return top
    n_x = n_y = 0
    for at in range(begin, begin + size):
        n_x += odd[members[at], j] == x
        n_y += odd[members[at], j] == y
    if n_x == top and facts[group, j, TIES] == 1.0:
        top -= 1.0
    return top if np.isnan(y) else max(top, n_y + 1.0)


@jit
def _ranks_error(
    column: Any, facts: Any, ranks: Any, begin: int, group: int, j: int, m: int, x: float, y: float
) -> float:
    """Squared error of m ranks around their lower median, once x has left and y has joined."""
    n = int(facts[group, j, PRESENT])
    here = n - (not np.isnan(x)) + (not np.isnan(y))
    if 2 * (m - here) > m:
        return here * column[j, GAP]
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
    return error * column[j, WEIGHT] + (m - here) * column[j, GAP]


@jit
def _numbers_error(column: Any, facts: Any, group: int, j: int, m: int, x: float, y: float) -> float:
    """Squared error of m numbers, some missing, around the mean of the others, once x has left and y has joined."""
    here, mean, within = facts[group, j, PRESENT], facts[group, j, MEAN], facts[group, j, WITHIN]
    if not np.isnan(x):
        t = x - mean
        here -= 1.0
        within = within - t * t * column[j, WEIGHT] * (here + 1.0) / here if here > 0.0 else 0.0
        mean = mean - t / here if here > 0.0 else 0.0
    if not np.isnan(y):
        t = y - mean
        within += t * t * column[j, WEIGHT] * here / (here + 1.0)
        here += 1.0
    if 2.0 * (m - here) > m:
        return here * column[j, GAP]
    return within + (m - here) * column[j, GAP]


# -- what is known of a group -----------------------------------------------------------------------------------------


@jit
def renew(partition: Partition, mixed: Mixed, group: int) -> None:
    """Average a group anew, from its members alone."""
    renew_points(partition, Points(mixed.flat, mixed.centre), group)
    members, begin = members_of(partition, group), partition.begin[group]
    odd, column, facts, ranks, error = mixed.odd, mixed.column, mixed.facts, mixed.ranks, 0.0
    m = len(members)
    for j in range(len(column)):
        if column[j, KIND] == NAME:
            _count_names(odd, members, facts, group, j)
            error += m - facts[group, j, TOP]
        elif column[j, KIND] == ORDER:
            _order_ranks(odd, members, facts, ranks, begin, group, j)
            error += _ranks_error(column, facts, ranks, begin, group, j, m, np.nan, np.nan)
        else:
            _average_numbers(odd, members, column, facts, group, j)
            error += _numbers_error(column, facts, group, j, m, np.nan, np.nan)
    mixed.error[group] = error


@jit
def _count_names(odd: Any, members: Any, facts: Any, group: int, j: int) -> None:
    names = np.empty(len(members))
    for i in range(len(members)):
        names[i] = odd[members[i], j]
    sort(names, names)
    top, ties, run = 0, 0, 0
    for i in range(len(names)):
        run = run + 1 if i and names[i] == names[i - 1] else 1
        if run > top:
            top, ties = run, 1
        elif run == top:
            ties += 1
    facts[group, j, TOP], facts[group, j, TIES] = top, ties


@jit
def _order_ranks(odd: Any, members: Any, facts: Any, ranks: Any, begin: int, group: int, j: int) -> None:
    n = 0
    for row in members:
        if not np.isnan(odd[row, j]):
            ranks[j, begin + n] = odd[row, j]
            n += 1
    present = ranks[j, begin : begin + n]
    sort(present, present)
    facts[group, j, PRESENT] = n


@jit
def _average_numbers(odd: Any, members: Any, column: Any, facts: Any, group: int, j: int) -> None:
    n, total, within = 0, 0.0, 0.0
    for row in members:
        if not np.isnan(odd[row, j]):
            total += odd[row, j]
            n += 1
    mean = total / max(n, 1)
    for row in members:
        if not np.isnan(odd[row, j]):
            t = odd[row, j] - mean
            within += t * t * column[j, WEIGHT]
    facts[group, j, PRESENT], facts[group, j, MEAN], facts[group, j, WITHIN] = n, mean, within
