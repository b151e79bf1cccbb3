"""Cells as items: every row has one of each column, and numbers are cut where they can be read."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.mining.items import _between, items_of
from support.pairwise import examples


def shown(series, bins=4, least=1):
    return [(" and ".join(map(str, item.conditions)), int(item.rows.sum())) for item in items_of(series, bins, least)]


def test_cells_by_hand():
    towns = pl.Series("town", ["Bo", "Ada", None, "Ada", "*", "", "Cu"])
    assert shown(towns) == [
        ('town = ""', 1),
        ("town = Ada", 2),
        ("town = Bo", 1),
        ("town = Cu", 1),
        ("town = missing", 1),
    ]
    assert shown(towns, least=2) == [("town = Ada", 2)]
    assert shown(pl.Series("town", ["Ada", "Ada"])) == [], "what all rows show says nothing"
    assert shown(pl.Series("well", [True, False, None])) == [
        ("well = false", 1),
        ("well = true", 1),
        ("well = missing", 1),
    ]


def test_vague_cells_are_no_items():
    disease = pl.Series("disease", ["any", "flu", "*"])
    assert [str(item.conditions[0]) for item in items_of(disease, 4, 1, {"any", "*"})] == ["disease = flu"]


def test_few_numbers_are_cells():
    assert shown(pl.Series("rooms", [3, 1, 3, None])) == [("rooms = 1", 1), ("rooms = 3", 2), ("rooms = missing", 1)]
    assert shown(pl.Series("grade", [1.5, math.nan])) == [("grade = 1.5", 1), ("grade = missing", 1)]


def test_many_numbers_are_cut_where_it_can_be_read():
    incomes = pl.Series("income", [1010, 1200, 20345, 23110, 23500, 44210, 45000, None])
    assert shown(incomes, bins=3) == [
        ("income < 20000", 2),
        ("income >= 20000 and income < 40000", 3),
        ("income >= 40000", 2),
        ("income = missing", 1),
    ]


@settings(max_examples=examples(100))
@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.floats(allow_infinity=False)), max_size=30).map(
            lambda x: pl.Series("x", x, pl.Float64)
        ),
        st.lists(st.one_of(st.none(), st.integers(-50, 50)), max_size=30).map(lambda x: pl.Series("x", x, pl.Int64)),
        st.lists(st.one_of(st.none(), st.sampled_from("abc")), max_size=30).map(lambda x: pl.Series("x", x, pl.String)),
    ),
    st.integers(2, 6),
)
def test_every_row_has_one_item_and_conditions_say_which(series, bins):
    items = items_of(series, bins, 1)
    if items:
        assert (np.stack([item.rows for item in items]).sum(axis=0) == 1).all()
    for item in items:
        holds = np.logical_and.reduce([one.holds(series) for one in item.conditions])
        assert holds.tolist() == item.rows.tolist()
        assert item.conditions


@settings(max_examples=examples(200))
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_cut_lies_between(one, other):
    low, high = sorted((one, other))
    if low < high:
        assert low < _between(low, high) <= high


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (1, 2, 2),
        (1.999, 3.4, 3),
        (0.12344, 0.123497, 0.12349),
        (-7.3, -7.12, -7.2),
        (-5, 5, 0),
        (999, 1000, 1000),
        (1e300, 2e300, 2e300),
        (-1.79e308, -1.712e308, -1.72e308),
        (5e-324, 1e-323, 1e-323),
    ],
)
def test_cuts_by_hand(low, high, cut):
    assert _between(low, high) == pytest.approx(cut, rel=1e-12)


def test_no_shorter_number_lies_between():
    rng = np.random.default_rng(1)
    for low, high in np.sort(rng.uniform(0, 10, (200, 2)), axis=1):
        cut = _between(float(low), float(high))
        digits = next(n for n in range(20) if Fraction(repr(cut)) * 10**n % 1 == 0)
        if digits:
            coarser = Fraction(10) ** (digits - 1)
            assert math.floor(Fraction(float(high)) * coarser) == math.floor(Fraction(float(low)) * coarser)
