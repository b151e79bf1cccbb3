"""Rows that change places between near groups until a group keeps its promises."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.partition import Partition, may_become, members_of, violation_with
from shoal.kernels.enforce.refine import change, move, swap
from shoal.kernels.enforce.violation import violation
from shoal.kernels.jit import jit

LEAST = 1e-9
"""By how much a step must bring two groups nearer to their promises."""
PATIENCE = 3
"""How many steps a group may take for each of its rows."""


@jit
def mend(partition: Partition, loss: Any, near: Any, keys: Any, group: int, k: int, dearest: float) -> bool:
    """Let a group exchange rows with near ones until it keeps its promises; say whether, and undo all if not.

    Each step is the move or swap that costs least for what it brings the two groups nearer to their promises.

    IN  near int64[m], groups;  keys int64[n], rows of one key are the same to all promises
        dearest, what all steps together may add to the loss
    """
    most = PATIENCE * partition.size[group]
    left, back, home = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    spent, n = 0.0, 0
    far = violation(partition.needs, members_of(partition, group))
    while far > 0.0 and n < most:
        out, into, other, cost = _best_step(partition, loss, near, keys, group, far, k)
        if other < 0 or spent + cost > dearest:
            break
        _step(partition, loss, group, out, into, other)
        left[n], back[n], home[n] = out, into, other
        spent += cost
        n += 1
        far = violation(partition.needs, members_of(partition, group))
    if far == 0.0:
        return True
    for i in range(n - 1, -1, -1):
        _step(partition, loss, group, back[i], left[i], home[i])
    return False


@jit
def _step(partition: Partition, loss: Any, group: int, out: int, into: int, other: int) -> None:
    """Send the row `out` of a group to another one, and its row `into` back (-1 for none)."""
    if into < 0:
        move(partition, loss, out, other)
    elif out < 0:
        move(partition, loss, into, group)
    else:
        swap(partition, loss, out, into)


@jit
def _best_step(partition: Partition, loss: Any, near: Any, keys: Any, group: int, far: float, k: int) -> Any:
    """The row that leaves a group, the row that comes (-1 for none), the group it comes from, and what that costs."""
    best, best_out, best_into, best_other, best_cost = np.inf, -1, -1, -1, 0.0
    members = members_of(partition, group).copy()
    for i in range(-1, len(members)):
        out = -1 if i < 0 else members[i]
        known = np.full(_n_keys(partition, near, keys) + 1, np.nan)  # by key: how far the group would be
        for other in near:
            if other == group or partition.size[other] == 0:
                continue
            before = np.nan  # how far the other group is, once that is asked
            there = members_of(partition, other)
            for j in range(-1, len(there)):
                into = -1 if j < 0 else there[j]
                if not (
                    (out >= 0 or into >= 0)
                    and may_become(partition, group, out, into, k)
                    and may_become(partition, other, into, out, k)
                ):
                    continue
                key = len(known) - 1 if into < 0 else keys[into]
                if np.isnan(known[key]):
                    known[key] = violation_with(partition, group, out, into)
                gain = far - known[key]
                if gain <= LEAST:
                    continue
                cost = change(partition, loss, group, out, into) + change(partition, loss, other, into, out)
                if np.isnan(before):
                    before = violation(partition.needs, there)
                if cost > 0.0 and cost / (gain + before) >= best:  # even if it did the other group all the good
                    continue
                gain += before - violation_with(partition, other, into, out)
                if gain > LEAST and _price(cost, gain) < best:
                    best, best_out, best_into, best_other, best_cost = _price(cost, gain), out, into, other, cost
    return best_out, best_into, best_other, best_cost


@jit
def _price(cost: float, gain: float) -> float:
    """What a step costs for what it brings; one that lowers the loss is the better the more it does both."""
    return cost / gain if cost > 0.0 else cost * gain


@jit
def _n_keys(partition: Partition, near: Any, keys: Any) -> int:
    most = 0
    for other in near:
        for row in members_of(partition, other):
            most = max(most, keys[row] + 1)
    return most
