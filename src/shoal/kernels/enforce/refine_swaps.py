"""Rows that move and swap between groups as if they were hot and cooled down."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition, may_become
from shoal.kernels.enforce.refine import LEAST, ROUNDING, Search, both_keep, change, exchange, least_swap, relieve
from shoal.kernels.enforce.refine_anew_points import Anew, divide_anew
from shoal.kernels.jit import jit

DRAW = np.dtype([("near", np.float64), ("chance", np.float64)], align=True)
"""Random numbers in [0, 1) for one try: which near row, and what decides."""


@jit
def anneal(partition: Partition, loss: Any, search: Search, rows: Any, draws: Any, heat: Any, anew: Anew | None) -> int:
    """Try steps at random, taking one that adds d to the loss with probability exp(-d / heat); how many were taken.

    Each row in its turn is to join the group of a row near it, by a move, or by a swap with any of its members: by
    whatever adds least.

    IN     rows int64[tries], whose turn it is;  draws DRAW[tries];  anew: where groups are also divided anew
    INOUT  heat float64[2]: what is left of it, and by what it is multiplied after every try
    """
    # One function and few calls: to hand over so many arrays takes longer than to look at a group.
    taken, near, known, groups = 0, search.near, search.rows, partition.groups
    for i in range(len(draws)):
        heat[0] *= heat[1]
        if anew is not None and i % anew.every == anew.every - 1:
            taken += divide_anew(partition, loss, search, anew, i // anew.every, heat[0])
        row = rows[i]
        here, there = partition.label[row], partition.label[near[row, np.int64(draws[i].near * near.shape[1])]]
        if here == there:
            continue
        best, back = -heat[0] * np.log(1.0 - draws[i].chance), -2  # no step yet
        relief, joined = known[row].relief, change(partition, loss, there, NOBODY, row)
        movable = may_become(partition, here, row, NOBODY) and may_become(partition, there, NOBODY, row)
        if movable and relief + joined < best and both_keep(partition, search.needs, here, row, there, NOBODY):
            best, back = relief + joined, -1
        least = least_swap(partition, loss, here, there, known[row], joined) - ROUNDING
        for at in range(groups[there].begin, groups[there].begin + groups[there].size):
            other = partition.members[at]
            if least + known[other].slack >= best:
                continue
            added = change(partition, loss, here, row, other) + change(partition, loss, there, other, row)
            if added < best - LEAST and both_keep(partition, search.needs, here, row, there, other):
                best, back = added, other
        if back >= -1:
            taken += 1
            exchange(partition, loss, here, row, there, back)
            relieve(partition, loss, search, here)
            relieve(partition, loss, search, there)
    return taken
