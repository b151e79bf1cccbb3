"""Intervals: against scipy, against a published example, and that they hold what they say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from shoal.attack.intervals import difference, wilson


@pytest.mark.parametrize(("right", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (37, 500), (0, 1), (1, 1)])
def test_wilson_is_that_of_scipy(right, n):
    wanted = scipy.stats.binomtest(right, n).proportion_ci(method="wilson")
    assert wilson(right / n, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_nothing_tried_says_nothing():
    assert wilson(0.0, 0) == (0.0, 1.0)


def test_newcombe_is_that_of_his_paper():
    """Newcombe 1998, example (a): 56 of 70 against 48 of 80; method 10 gives 0.0524 to 0.3339."""
    assert difference(56 / 70, 70, 48 / 80, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_it_holds_the_true_rate_as_often_as_it_says():
    """Of people with chances, not successes: then more often still."""
    rng, n = np.random.default_rng(3), 200
    chances = rng.beta(2, 6, size=(2_000, n))
    held = [low <= 0.25 <= high for low, high in (wilson(float(line.mean()), n) for line in chances)]
    assert np.mean(held) > 0.94
    drawn = rng.random((2_000, n)) < 0.25
    held = [low <= 0.25 <= high for low, high in (wilson(float(line.mean()), n) for line in drawn)]
    assert 0.93 < np.mean(held) < 0.97
