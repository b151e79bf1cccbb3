"""Rows that move and swap between groups as if they were hot and cooled down."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition, may_become, members_of
from shoal.kernels.enforce.refine import LEAST, ROUNDING, Search, both_keep, change, exchange, least_swap, relieve
from shoal.kernels.enforce.refine_anew_points import Anew, divide_anew
from shoal.kernels.jit import jit

DRAW = np.dtype([("near", np.float64), ("chance", np.float64)], align=True)
"""Random numbers in [0, 1) for one try: which near row, and what decides."""
EVERY = 30
"""After how many steps groups are divided anew once."""


@jit
def anneal(
    partition: Partition, loss: Any, search: Search, rows: Any, draws: Any, heat: Any, anew: Anew | None
) -> int:
    """Try steps at random, taking one that adds d to the loss with probability exp(-d / heat); how many were taken.

    Each row in its turn is to join the group of a row near it, by a move, or by a swap with any of its members: by
    whatever adds least.

    IN     rows int64[tries], whose turn it is;  draws DRAW[tries];  anew: where groups are also divided anew
    INOUT  heat float64[2]: what is left of it, and by what it is multiplied after every try
    """
    taken, near = 0, search.near
    for i in range(len(draws)):
        heat[0] *= heat[1]
        row = rows[i]
        here, there = partition.label[row], partition.label[near[row, np.int64(draws[i].near * near.shape[1])]]
        if here != there:
            most = -heat[0] * np.log(1.0 - draws[i].chance)
            taken += _join(partition, loss, search, row, there, most)
        if anew is not None and i % EVERY == EVERY - 1:
            taken += divide_anew(partition, loss, search, anew, i // EVERY, heat[0])
    return taken


@jit
def _join(partition: Partition, loss: Any, search: Search, row: int, there: int, most: float) -> bool:
    """Let a row join a group by the move or the swap that adds least, if that is less than `most`; say whether."""
    here, best, found, back = partition.label[row], most, False, NOBODY
    joined, relief = change(partition, loss, there, NOBODY, row), search.rows[row].relief
    movable = may_become(partition, here, row, NOBODY) and may_become(partition, there, NOBODY, row)
    if movable and joined + relief < best - LEAST and both_keep(partition, search.needs, here, row, there, NOBODY):
        best, found = joined + relief, True
    least = least_swap(partition, loss, here, there, relief, joined) - ROUNDING
    for other in members_of(partition, there):
        if least + search.rows[other].slack >= best:
            continue
        if not (may_become(partition, here, row, other) and may_become(partition, there, other, row)):
            continue
        added = change(partition, loss, here, row, other) + change(partition, loss, there, other, row)
        if added < best - LEAST and both_keep(partition, search.needs, here, row, there, other):
            best, found, back = added, True, other
    if found:
        exchange(partition, loss, here, row, there, back)
        relieve(partition, loss, search, here)
        relieve(partition, loss, search, there)
    return found
