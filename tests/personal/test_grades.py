"""Grades: the worked values, the corrected listing as twin, and what a random grade can tell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from support.pairwise import examples

SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})


def shown(incomes, seed=7, **options):
    """The release of some incomes, and the grade of each."""
    frame = pl.DataFrame({"age": range(len(incomes)), "income": incomes})
    release = shoal.anonymize(frame, SCHEMA, shoal.Personal(), publish=shoal.Grades("income", **options), seed=seed)
    by_age = dict(release.table.select("age", "income").iter_rows())
    return release, [by_age[age] for age in range(len(incomes))]


def as_listed(value, categories):
    """The published listing, one value at a time, with its mistakes corrected."""
    i = 1
    while i <= len(categories):  # the listing stops before the last category
        low, high = categories[i - 1]
        ends_here = i == len(categories) or categories[i][0] != high
        if low <= value and (value < high or (value == high and (ends_here or low == high))):
            if value == low:
                return i + 0.0
            if value == high:
                return i + 0.999
            return i + min((value - low) / (high - low), 0.999)  # the listing lacks these parentheses
        i += 1
    raise ValueError


def test_the_worked_values():
    _, grades = shown([21, 22, 10, 40], categories=[[10, 40]])
    assert grades == [1 + 11 / 30, 1.4, 1.0, 1.999]
    assert [round(grade, 3) for grade in grades] == [1.367, 1.4, 1.0, 1.999]


def test_the_last_category_is_tried_and_borders_belong_to_the_upper_one():
    _, grades = shown([5, 10, 15, 20, 30], categories=[[0, 10], [10, 20], [25, 30]])
    assert grades == [1.5, 2.0, 2.5, 2.999, 3.999]


def test_values_near_the_upper_end_tie_and_the_key_says_so():
    release, grades = shown([0.0, 999.5, 999.9, 1000.0], categories=[[0, 1000]])
    assert grades == [1.0, 1.999, 1.999, 1.999]
    assert release.key.by_name["income"].values[1.999] == (999.5, 999.9, 1000.0)


def test_a_category_of_one_value_and_a_missing_number():
    _, grades = shown([7, None, 9], categories=[[7, 7], [9, 9]])
    assert grades == [1.0, None, 2.0]


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_linear_grades_are_those_of_the_listing(data):
    ends = sorted(data.draw(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True)))
    categories = [[low, high] for low, high in pairwise(ends)]
    values = data.draw(st.lists(st.integers(ends[0], ends[-1]), min_size=1, max_size=12))
    assert shown(values, categories=categories)[1] == [as_listed(value, categories) for value in values]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float), min_size=2, max_size=20), st.integers(1, 4))
def test_random_grades_rise_with_the_values(values, quantiles):
    _, grades = shown(values, quantiles=quantiles, variant="random")
    for one, other in zip(np.argsort(values), np.argsort(values)[1:], strict=False):
        assert (grades[one] < grades[other]) if values[one] < values[other] else (grades[one] == grades[other])


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=2, max_size=20, unique=True), st.integers(0, 9))
def test_random_grades_depend_on_the_order_of_values_alone(values, seed):
    """The guarantee, to the last bit: another table whose values have the same order gives the same cells."""
    order = sorted(values)
    ranks = [order.index(value) for value in values]
    assert shown(values, seed, quantiles=1, variant="random")[1] == shown(ranks, seed, quantiles=1, variant="random")[1]


def test_quantiles_share_the_rows_out():
    _, grades = shown(list(range(100)), quantiles=4)
    assert np.bincount(np.floor(grades).astype(int)).tolist() == [0, 25, 25, 25, 25]


@pytest.mark.parametrize(
    ("categories", "fault"),
    [
        ([[0, 10], [5, 20]], "numbers 1 and 2 overlap"),
        ([[10, 20], [0, 10]], "are not in rising order"),
        ([[10, 0]], "number 1 ends before it begins"),
        ([[0, 1, 2]], "number 1 is no pair"),
        ([], "a list of pairs"),
    ],
)
def test_categories_that_are_none_are_refused(categories, fault):
    with pytest.raises(shoal.ParameterError, match=fault):
        shoal.Grades("income", categories=categories)


def test_values_outside_all_categories_are_named_by_their_rows():
    with pytest.raises(
        shoal.ParameterError, match=r"column 'income': 2 values are outside all categories, at rows 2, 4"
    ):
        shown([5, 11, 6, -1], categories=[[0, 10]])


def test_what_cannot_be_graded_is_refused():
    frame = pl.DataFrame({"age": [1, 2], "income": ["a", "b"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Nominal()})
    with pytest.raises(shoal.ParameterError, match="the column is not numeric"):
        shoal.anonymize(frame, schema, shoal.Personal(), publish=shoal.Grades("income", quantiles=2))
    for options in ({}, {"quantiles": 2, "categories": [[0, 1]]}):
        with pytest.raises(shoal.ParameterError, match="does not say what the categories are"):
            shown([1, 2], **options)
