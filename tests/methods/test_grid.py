"""Sums that are rounded once."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cluster.grid import exact_sum
from support.pairwise import examples

NUMBERS = st.one_of(st.floats(0, 1e300), st.floats(0, 1), st.integers(0, 2**60).map(lambda whole: whole * 2.0**-60))


@settings(max_examples=examples(200))
@given(numbers=st.lists(NUMBERS, max_size=30))
def test_sums_are_rounded_once(numbers):
    assert exact_sum(np.array(numbers)) == math.fsum(numbers)


def test_sums_of_many_numbers_are_rounded_once():
    numbers = np.random.default_rng(1).standard_normal(20_000) ** 2
    assert exact_sum(numbers) == math.fsum(numbers.tolist())
    assert exact_sum(numbers) != sum(numbers.tolist())
