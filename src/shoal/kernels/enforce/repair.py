"""Rows that change places between near groups until a group keeps its promises."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition, may_become, members_of, violation_with
from shoal.kernels.enforce.refine import change, exchange, learn
from shoal.kernels.enforce.violation import Needs
from shoal.kernels.jit import jit

LEAST = 1e-9
"""By how much a step must bring two groups nearer to their promises."""
PATIENCE = 3
"""How many steps a group may take for each of its rows."""
STEP = np.dtype([("out", np.int64), ("into", np.int64), ("other", np.int64)], align=True)
"""A step: the row that leaves a group, the row that comes (-1 for none), the group it comes from (-1 for no step)."""


@jit
def mend(partition: Partition, loss: Any, needs: Needs, near: Any, keys: Any, group: int, dearest: float) -> bool:
    """Let a group exchange rows with near ones until it keeps its promises; say whether, and undo all if not.

    Each step is the move or swap that costs least for what it brings the two groups nearer to their promises.

    IN  near int64[m], groups;  keys int64[n], rows of one key are the same to all promises
        dearest, what all steps together may add to the loss
    """
    learn(partition, loss)
    taken, n, spent = np.empty(PATIENCE * partition.groups[group].size, dtype=STEP), 0, 0.0
    far = violation_with(partition, needs, group, NOBODY, NOBODY)
    while far > 0.0 and n < len(taken):
        cost = _best_step(partition, loss, needs, near, keys, group, taken[n])
        if taken[n].other < 0 or spent + cost > dearest:
            break
        exchange(partition, loss, group, taken[n].out, taken[n].other, taken[n].into)
        spent += cost
        n += 1
        far = violation_with(partition, needs, group, NOBODY, NOBODY)
    for i in range(n - 1 if far > 0.0 else -1, -1, -1):
        exchange(partition, loss, group, taken[i].into, taken[i].other, taken[i].out)
    return far == 0.0


@jit
def _best_step(partition: Partition, loss: Any, needs: Needs, near: Any, keys: Any, group: int, step: Any) -> float:
    """What the best step costs.

    OUT  step  STEP
    """
    best, best_cost, far = np.inf, 0.0, violation_with(partition, needs, group, NOBODY, NOBODY)
    step.other = -1
    n_keys = 0
    for other in near:
        for row in members_of(partition, other):
            n_keys = keys[row] + 1 if keys[row] + 1 > n_keys else n_keys
    known = np.empty(n_keys + 1)  # by key of the row that comes: how far the group would be; the last is for none
    members = members_of(partition, group)
    for i in range(-1, len(members)):
        out = NOBODY if i < 0 else members[i]
        known[:] = np.nan
        for other in near:
            before = np.nan  # how far the other group is, once that is asked
            there = members_of(partition, other)
            for j in range(-1, len(there) if other != group and len(there) else -1):
                into = NOBODY if j < 0 else there[j]
                if (out < 0 and into < 0) or not may_become(partition, group, out, into):
                    continue
                if not may_become(partition, other, into, out):
                    continue
                key = n_keys if into < 0 else keys[into]
                if np.isnan(known[key]):
                    known[key] = violation_with(partition, needs, group, out, into)
                gain = far - known[key]
                if gain <= LEAST:
                    continue
                cost = change(partition, loss, group, out, into) + change(partition, loss, other, into, out)
                if np.isnan(before):
                    before = violation_with(partition, needs, other, NOBODY, NOBODY)
                if cost > 0.0 and cost / (gain + before) >= best:  # even if it did the other group all the good
                    continue
                gain += before - violation_with(partition, needs, other, into, out)
                if gain <= LEAST:
                    continue
                # A step that lowers the loss is the better the more it does both.
                price = cost / gain if cost > 0.0 else cost * gain
                if price < best:
                    best, best_cost = price, cost
                    step.out, step.into, step.other = out, into, other
    return best_cost
