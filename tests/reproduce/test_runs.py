"""Means over runs, their intervals, and what they say of a claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from shoal.reproduce.runs import FAILS, HOLDS, OPEN, PARTLY, Mean, together


def test_the_interval_is_students():
    values = np.random.default_rng(3).normal(5, 2, 9)
    found = Mean.of(values.tolist())
    low, high = scipy.stats.t.interval(0.95, 8, loc=values.mean(), scale=scipy.stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high), rel=1e-12)


def test_a_ratio_is_that_of_each_run():
    same = Mean.ratio([2.0, 8.0, 32.0], [1.0, 4.0, 16.0])
    assert (same.value, same.low, same.high, same.n) == pytest.approx((2.0, 2.0, 2.0, 3))
    found, turned = Mean.ratio([3.0, 5.0], [2.0, 2.0]), Mean.ratio([2.0, 2.0], [3.0, 5.0])
    assert found.value * turned.value == pytest.approx(1)
    assert found.low * turned.high == pytest.approx(1)


def test_a_difference_is_paired():
    """What runs have in common does not widen the interval."""
    assert Mean.difference([101.0, 52.0, 11.0], [100.0, 51.0, 10.0]) == Mean(1.0, 1.0, 1.0, 3)


def test_one_run_decides_nothing():
    found = Mean.of([7.0])
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert found.above(0) == found.below(0) == OPEN
    assert found.text(".1f") == "7.0"


@pytest.mark.parametrize(("low", "high", "above", "below"), [
    (1.1, 2.0, HOLDS, FAILS), (0.2, 0.9, FAILS, HOLDS), (0.9, 1.1, OPEN, OPEN), (1.0, 1.5, OPEN, OPEN),
])  # fmt: skip
def test_a_border_inside_the_interval_leaves_it_open(low, high, above, below):
    mean = Mean((low + high) / 2, low, high, 5)
    assert (mean.above(1), mean.below(1)) == (above, below)


@pytest.mark.parametrize(("verdicts", "all_of_them"), [
    ([HOLDS, HOLDS], HOLDS), ([FAILS, FAILS], FAILS), ([OPEN, OPEN], OPEN), ([HOLDS, FAILS], PARTLY),
    ([HOLDS, OPEN], PARTLY), ([FAILS, OPEN], FAILS), ([PARTLY, FAILS], PARTLY),
])  # fmt: skip
def test_several_verdicts_are_one(verdicts, all_of_them):
    assert together(verdicts) == all_of_them
