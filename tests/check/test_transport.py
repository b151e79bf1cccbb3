"""Pairs of rows with nothing left over, against every way to pair them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.check.transport import bottleneck, can_be_paired
from support.pairwise import examples

INF = float("inf")


def least_largest(cost, left, right):
    """The smallest largest cost over all ways to pair, each written out."""
    rows, columns = np.repeat(np.arange(len(left)), left), np.repeat(np.arange(len(right)), right)
    return min(max(cost[i, j] for i, j in zip(rows, order, strict=True)) for order in permutations(columns))


@st.composite
def sorts(draw):
    """How many of each sort there are on both sides, and what pairs cost; some cannot be."""
    n = draw(st.integers(1, 6))
    left, right = (
        np.bincount(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), minlength=4) for _ in range(2)
    )
    left, right = left[left > 0], right[right > 0]
    costs = draw(st.lists(st.sampled_from([0.2, 0.5, 0.7, 1.0, INF]), min_size=16, max_size=16))
    return np.array(costs).reshape(4, 4)[: len(left), : len(right)], left, right


@settings(max_examples=examples(300))
@given(sorts(), st.sampled_from([0.0, 0.2, 0.5, 0.6]))
def test_the_bottleneck_is_that_of_all_ways(drawn, above):
    cost, left, right = drawn
    least = least_largest(cost, left, right)
    assert can_be_paired(cost <= above, left, right) == (least <= above)
    assert bottleneck(cost, left, right, above) == (least if least > above else 0.0)


@pytest.mark.parametrize(("allowed", "can"), [("110 110 110", False), ("110 110 111", True), ("100 110 011", True)])
def test_what_has_partners_may_not_have_enough_together(allowed, can):
    lines = np.array([[letter == "1" for letter in line] for line in allowed.split()])
    assert can_be_paired(lines, np.ones(3, dtype=np.int64), np.ones(3, dtype=np.int64)) is can


def test_large_sides():
    """A block of half the left that may have all but half the right, and one too many of them."""
    n = 400
    allowed = np.ones((n, n), dtype=np.bool_)
    allowed[: n // 2, : n // 2] = False
    once = np.ones(n, dtype=np.int64)
    assert can_be_paired(allowed, once, once)
    allowed[n // 2, : n // 2] = False
    assert not can_be_paired(allowed, once, once)
