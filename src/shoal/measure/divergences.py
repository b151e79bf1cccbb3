"""How far what a release lets expect is from what the input has."""

from __future__ import annotations

import numpy as np

from shoal.measure.expected import Distribution, JointDistribution


def total_variation(one: Distribution | JointDistribution) -> float:
    """The share of rows that would have to change their category."""
    return min(0.5 * float(np.abs(one.before - one.after).sum()), 1.0)


def divergence(one: Distribution | JointDistribution, n_rows: int) -> float:
    """Bits lost by whoever takes what is expected for what the input has (Kullback and Leibler).

    To both, one row more is added that is spread evenly over the categories: the figure is finite so, and 0 where both
    are the same.
    """
    even = 1.0 / one.before.size
    before, after = ((share * n_rows + even) / (n_rows + 1) for share in (one.before, one.after))
    return max(float((before * np.log2(before / after)).sum()), 0.0)
