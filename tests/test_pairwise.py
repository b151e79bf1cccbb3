"""Combinations of parameters: every pair is tried, and few combinations are."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import pairwise as module
from support.pairwise import pairwise


@pytest.fixture(autouse=True)
def _no_long_run(monkeypatch):
    monkeypatch.setattr(module, "ALL", False)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_every_pair_of_values_is_there(sizes):
    parameters = [[f"{place}: {value}" for value in range(size)] for place, size in enumerate(sizes)]
    rows = pairwise(*parameters)
    for a, b in combinations(range(len(sizes)), 2):
        assert {(row[a], row[b]) for row in rows} == set(product(parameters[a], parameters[b]))
    assert all(value in parameters[place] for row in rows for place, value in enumerate(row))


def test_it_is_the_same_every_time_and_much_less_than_all():
    sizes = [31, 11, 5, 3]
    rows = pairwise(*map(range, sizes))
    assert rows == pairwise(*map(range, sizes))
    assert 31 * 11 <= len(rows) < 1.1 * 31 * 11
    assert len(pairwise(*[range(4)] * 6)) <= 30  # of 4,096


def test_values_need_not_be_hashable():
    assert ({"a": 1}, [2], 3) in pairwise([{"a": 1}], [[2]], [3])


def test_a_long_run_takes_all(monkeypatch):
    monkeypatch.setattr(module, "ALL", True)
    assert len(pairwise(range(3), range(4), range(5))) == 60
