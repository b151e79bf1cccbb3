"""Contingency tables of categories, of the input and as a release lets expect them."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from shoal.measure.base import Given
from shoal.measure.expected import Distribution, Expected, JointDistribution

MOST = 2
"""Columns of the largest table."""


def table_differences(given: Given, most: int) -> tuple[float, int]:
    """The sum of all differences between cells of the tables of up to so many columns, and how many cells they have."""
    expected = given.once(Expected.of)
    names = [name for name in expected.columns if name not in expected.numbers]
    tables: list[Distribution | JointDistribution] = [expected.one(name) for name in names]
    if most > 1:
        tables += [expected.two(*pair) for pair in combinations(names, 2)]
    total = math.fsum(float(np.abs(one.before - one.after).sum()) for one in tables)
    return total * expected.shown.n_rows, sum(one.before.size for one in tables)
