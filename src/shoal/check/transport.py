"""Things of two sides put together in pairs, each as often as it is there: the transportation problem."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def can_be_paired(allowed: Bools, left: Ints, right: Ints) -> bool:
    """Whether everything on the left can be paired with everything on the right, in allowed pairs alone.

    Parameters
    ----------
    allowed
        One line for each sort on the left, one column for each on the right.
    left, right
        How many there are of each sort; the sums are equal.
    """
    n = int(left.sum())
    fewest = int((allowed @ right).min()), int((left @ allowed).min())
    if min(fewest) == 0:
        return False
    # By Hall: some of the left would need more partners than they have together. One of them has no more than these;
    # one that is no partner of theirs has only the rest of the left.
    if sum(fewest) >= n:
        return True
    one, other = np.nonzero(allowed)
    return largest_flow(one, other, left, right) == n


def bottleneck(cost: Floats, left: Ints, right: Ints, above: float) -> float:
    """The largest cost that some pair has in every way to pair all; 0 where it is not `above` something.

    A pair that cannot be has an infinite cost; so has the result where no way is left.
    """
    if can_be_paired(cost <= above, left, right):
        return 0.0
    costs = np.unique(cost[cost > above])
    low, high = 0, len(costs) - 1  # the last allows every pair, or is infinite
    while low < high:
        middle = (low + high) // 2
        if can_be_paired(cost <= costs[middle], left, right):
            high = middle
        else:
            low = middle + 1
    return float(costs[low])


def largest_flow(one: Ints, other: Ints, left: Ints, right: Ints) -> int:
    """How many pairs there can be at once: the largest flow from a source through left and right to a sink.

    Parameters
    ----------
    one, other
        The pairs that are allowed: which sort on the left, and which on the right; none of them twice.
    left, right
        How many there are of each sort.
    """
    from scipy.sparse import csr_array  # takes long to load, and only this needs it
    from scipy.sparse.csgraph import maximum_flow

    if (np.bincount(other, minlength=1) <= 1).all():  # nothing on the right can be paired in two ways
        return int(np.minimum(np.bincount(one, weights=right[other], minlength=len(left)), left).sum())
    order = np.argsort(one, kind="stable")
    one, other = one[order], other[order]
    n_left, n_right = len(left), len(right)
    sink = 1 + n_left + n_right
    heads = np.concatenate([np.arange(1, 1 + n_left), 1 + n_left + other, np.full(n_right, sink)])
    capacity = np.concatenate([left, np.minimum(left[one], right[other]), right])
    out = np.concatenate([[n_left], np.bincount(one, minlength=n_left), np.ones(n_right), [0]])
    starts = np.concatenate([[0], np.cumsum(out)]).astype(np.int32)
    network = csr_array((capacity.astype(np.int32), heads.astype(np.int32), starts), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, 0, sink).flow_value)
