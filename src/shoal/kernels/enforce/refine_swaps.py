"""Rows that move and swap between groups as if they were hot and cooled down."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import Partition, may_become, members_of
from shoal.kernels.enforce.refine import Search, both_keep, change, exchange
from shoal.kernels.jit import jit

DRAW = np.dtype([("near", np.float64), ("member", np.float64), ("chance", np.float64)], align=True)
"""Random numbers in [0, 1) for one try: which near row, which member of its group, and what decides."""


@jit
def anneal(partition: Partition, loss: Any, search: Search, rows: Any, draws: Any, heat: Any) -> int:
    """Try steps at random, taking one that adds d to the loss with probability exp(-d / heat); how many were taken.

    Each row in its turn is to join the group of a row near it, by a move, or by a swap with any of its members.

    IN     rows int64[tries], whose turn it is;  draws DRAW[tries]
    INOUT  heat float64[2]: what is left of it, and by what it is multiplied after every try
    """
    taken, near = 0, search.near
    for i in range(len(draws)):
        heat[0] *= heat[1]
        row, draw = rows[i], draws[i]
        here, there = partition.label[row], partition.label[near[row, np.int64(draw.near * near.shape[1])]]
        if here == there:
            continue
        members = members_of(partition, there)
        at = np.int64(draw.member * (len(members) + 1))
        back = members[at] if at < len(members) else -1
        if not (may_become(partition, here, row, back) and may_become(partition, there, back, row)):
            continue
        added = change(partition, loss, here, row, back) + change(partition, loss, there, back, row)
        if draw.chance < np.exp(-added / heat[0]) and both_keep(partition, search.needs, here, row, there, back):
            taken += 1
            exchange(partition, loss, here, row, there, back)
    return taken
