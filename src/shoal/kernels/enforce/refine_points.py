"""What the squared error of a group becomes when a row leaves it, or joins it, or both: numbers, none missing.

Here and in the kernels like it, `change` is asked millions of times. It calls nothing that is not compiled into it, and
its arrays are few: handing over arrays costs more than the work itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.partition import Partition
from shoal.kernels.jit import jit


class Points(NamedTuple):
    """Rows as points, and the means of the groups they are in."""

    flat: Any  # float64[n, m]         IN     standardised numbers
    centre: Any  # float64[groups, m]  INOUT  their means
    lost: Any  # float64[groups]       INOUT  NaN for a group of which nothing is known yet, else 0


@jit
def least_added(partition: Partition, points: Points, group: int) -> float:  # noqa: ARG001
    """What a further row adds to the loss of a group at least."""
    return 0.0


@jit
def least_swapped(partition: Partition, points: Points, group: int, row: int, relief: float) -> float:  # noqa: ARG001
    """How the loss changes at least when a row is replaced: by a row at the mean of the others, as if it left."""
    return relief


@jit
def least_joined(partition: Partition, points: Points, group: int, joined: float) -> float:  # noqa: ARG001
    """What is added to that at least."""
    return 0.0


@jit
def least_swap(partition: Partition, points: Points, here: int, there: int, known: Any, joined: float) -> float:  # noqa: ARG001
    """What a swap adds at least, but for what the other row gains its group if it leaves.

    With X and Y the squared distances of the rows from their own means, and Z that of the first from the other mean, a
    swap adds Z - X - Y + |y - a|^2 - w |y - x|^2, where w = 1/m + 1/n. For any y that is at least Z - X / (1 - w) - Y.
    """
    m, n = partition.groups[here].size, partition.groups[there].size
    left = 1.0 - 1.0 / m - 1.0 / n
    return joined * (n + 1.0) / n + known.relief * (m - 1.0) / m / left if left > 0.0 else -np.inf


@jit
def change(partition: Partition, points: Points, group: int, out: int, into: int) -> float:
    """By how much the squared error of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
    flat, centre, size = points.flat, points.centre, partition.groups[group].size
    total = 0.0
    if out >= 0 and into >= 0:
        share = 1.0 / size
        for j in range(centre.shape[1]):
            x, y = flat[out, j] - centre[group, j], flat[into, j] - centre[group, j]
            total += (y - x) * (x + y - (y - x) * share)
    elif size > (out >= 0):  # else nobody is left, or one alone comes: no error before, none after
        row, sign = (out, -1.0) if out >= 0 else (into, 1.0)
        for j in range(centre.shape[1]):
            x = flat[row, j] - centre[group, j]
            total += x * x
        total *= sign * size / (size + sign)
    return total


@jit
def error(partition: Partition, points: Points, group: int) -> float:
    """Squared error of a group."""
    flat, centre, one, total = points.flat, points.centre, partition.groups[group], 0.0
    for at in range(one.begin, one.begin + one.size):
        for j in range(centre.shape[1]):
            x = flat[partition.members[at], j] - centre[group, j]
            total += x * x
    return total


@jit
def renew(partition: Partition, points: Points, group: int) -> None:
    """Average a group anew, from its members alone: nothing adds up however many rows come and go."""
    flat, centre, members = points.flat, points.centre, partition.members
    begin, size = partition.groups[group].begin, partition.groups[group].size
    for j in range(centre.shape[1]):
        centre[group, j] = 0.0
    for at in range(begin, begin + size):
        for j in range(centre.shape[1]):
            centre[group, j] += flat[members[at], j]
    for j in range(centre.shape[1] if size else 0):
        centre[group, j] /= size
    points.lost[group] = 0.0
