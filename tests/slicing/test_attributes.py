"""Attribute partitioning: the worked example, the slow twin, and what must not matter."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.slicing.attributes import Attributes, attributes_of, partition_attributes, phi2
from shoal.table.categories import categories_of
from shoal.table.prepare import Table, prepare
from shoal.testing import tables
from support.pairwise import examples
from support.realdata import adult
from support.slicing_example import ROWS
from twins import columns as twin

PATIENTS = ROWS.with_columns(pl.col("Zip").cast(pl.String))
RAW = {
    ("Age", "Sex"): Fraction(3, 4), ("Age", "Zip"): Fraction(5, 6), ("Age", "Disease"): Fraction(8, 9),
    ("Sex", "Zip"): Fraction(1, 2), ("Sex", "Disease"): Fraction(2, 3), ("Zip", "Disease"): Fraction(1, 3),
}  # fmt: skip
AT_40 = {("Age", "Sex"): Fraction(1, 15), ("Age", "Zip"): Fraction(11, 15), ("Age", "Disease"): Fraction(13, 45)}


def table_of(frame: pl.DataFrame, **kinds: shoal.Numeric | shoal.Ordinal | shoal.Nominal) -> Table:
    """A table whose every column is nominal, or what is said of it."""
    return prepare(frame, shoal.Schema(quasi={name: kinds.get(name, shoal.Nominal()) for name in frame.columns}))


def patients(*, at_40: bool) -> Attributes:
    age = pl.col("Age") > 40 if at_40 else pl.col("Age")
    frame = PATIENTS.with_columns(age.cast(pl.Int64))
    return attributes_of(table_of(frame, Age=shoal.Numeric()), frame.columns)


def pair(attributes: Attributes, one: str, other: str) -> float:
    return attributes.phi2[attributes.names.index(one), attributes.names.index(other)]


def made(matrix: np.ndarray, names: list[str]) -> Attributes:
    return Attributes(tuple(names), matrix, (2,) * len(names), (), (), ())


def tried(values: list, kind: object, bins: int = 3, discretise: str = "frequency") -> tuple[list[int], bool]:
    codes, fewer = categories_of(pl.Series("x", values), kind, bins, discretise)
    return codes.tolist(), fewer


def groups_as_sets(columns) -> set[frozenset[str]]:
    return {frozenset(group) for group in columns.groups}


# -- the worked example -----------------------------------------------------------------------------------------


def test_raw_coefficients_of_the_worked_example():
    found = patients(at_40=False)
    for (one, other), expected in RAW.items():
        assert pair(found, one, other) == pytest.approx(float(expected), abs=1e-15)
    assert found.n_categories == (6, 2, 4, 4)
    assert len(found.biased) == 6, "eight rows are few for any pair"
    assert (found.all_distinct, found.discretised) == ((), ())


def test_coefficients_with_ages_cut_at_40():
    found = patients(at_40=True)
    for (one, other), expected in ({**RAW, **AT_40}).items():
        assert pair(found, one, other) == pytest.approx(float(expected), abs=1e-15)


def test_two_columns_of_the_worked_example():
    found = partition_attributes(patients(at_40=True), 2)
    assert found.groups == (("Age", "Zip"), ("Sex", "Disease"))
    assert found.total == pytest.approx(4 / 15 + 1 / 3, abs=1e-12)
    assert found.medoids == ("Age", "Disease"), "of the four sets with this total, the first by name"
    assert found.silhouettes == {}


def test_the_total_of_the_worked_example_is_the_best_of_all():
    names = sorted(PATIENTS.columns)
    similar = {**RAW, **AT_40}
    both = {**similar, **{(b, a): value for (a, b), value in similar.items()}}
    distance = [[1 - both.get((a, b), Fraction(1)) for b in names] for a in names]
    total, medoids = twin.medoid_sets(distance, 2)[0]
    assert total == Fraction(3, 5)
    assert [names[place] for place in medoids] == ["Age", "Disease"]


def test_the_sensitive_attribute_as_the_last_column():
    found = partition_attributes(patients(at_40=True), 3, last="Sex")
    assert found.groups == (("Age", "Zip"), ("Disease",), ("Sex",))
    assert found.medoids == ("Age", "Disease", "Sex")
    assert found.total == pytest.approx(4 / 15, abs=1e-12)


# -- against the twin -------------------------------------------------------------------------------------------


@settings(max_examples=examples(25))
@pytest.mark.parametrize("mix", ["mixed", "numeric"])
@given(data=st.data())
def test_coefficients_are_those_of_the_twin(mix, data):
    case = data.draw(tables(mix, max_rows=12))
    names = [name for name in case.frame.columns if name not in ("name", "note")]
    found = attributes_of(prepare(case.frame, case.schema), names, bins=50)
    cells = {name: case.frame[name].to_list() for name in names}
    assert found.discretised == ()
    assert found.n_categories == tuple(len(set(cells[name])) for name in names)
    for one, other in combinations(names, 2):
        assert pair(found, one, other) == pytest.approx(float(twin.phi2(cells[one], cells[other])), abs=1e-12)
        few = case.frame.height < 5 * len(set(cells[one])) * len(set(cells[other]))
        assert ((one, other) in found.biased) == few
    n_rows = case.frame.height
    assert found.all_distinct == tuple(name for name in names if len(set(cells[name])) == n_rows > 1)


def eighths(n_attributes: int) -> st.SearchStrategy[np.ndarray]:
    """Symmetric matrices with many equal entries, so that ties decide."""
    n_pairs = n_attributes * (n_attributes - 1) // 2

    def square(entries: list[int]) -> np.ndarray:
        matrix = np.eye(n_attributes)
        matrix[np.triu_indices(n_attributes, 1)] = np.array(entries) / 8
        return np.maximum(matrix, matrix.T)

    return st.lists(st.integers(0, 8), min_size=n_pairs, max_size=n_pairs).map(square)


@given(data=st.data(), n_attributes=st.integers(1, 6))
def test_no_exchange_of_a_medoid_is_better_or_as_good_and_first(data, n_attributes):
    matrix, number = data.draw(eighths(n_attributes)), data.draw(st.integers(1, n_attributes))
    names = [f"a{place}" for place in range(n_attributes)]
    found = partition_attributes(made(matrix, names), number)
    distance = [[1 - Fraction(cell) for cell in row] for row in matrix.tolist()]
    every = twin.medoid_sets(distance, number)
    medoids = tuple(sorted(names.index(medoid) for medoid in found.medoids))
    total = next(total for total, one in every if one == medoids)
    assert total >= every[0][0]
    assert found.total == pytest.approx(float(total), abs=1e-12)
    better = [one for value, one in every if (value, one) < (total, medoids)]
    assert all(len(set(one) & set(medoids)) < number - 1 for one in better)


def test_the_first_medoids_are_chosen_greedily():
    """From the first three attributes, exchanges alone end at a total of 3/8."""
    eight = [
        [8, 2, 2, 7, 1, 5],
        [2, 8, 2, 7, 6, 5],
        [2, 2, 8, 3, 3, 8],
        [7, 7, 3, 8, 6, 3],
        [1, 6, 3, 6, 8, 0],
        [5, 5, 8, 3, 0, 8],
    ]
    found = partition_attributes(made(np.array(eight) / 8, list("abcdef")), 3)
    assert twin.medoid_sets([[1 - Fraction(cell, 8) for cell in row] for row in eight], 3)[0] == (
        Fraction(1, 4),
        (2, 3, 4),
    )
    assert (found.total, found.medoids) == (0.25, ("d", "c", "e"))


@given(data=st.data(), n_attributes=st.integers(1, 6))
def test_every_attribute_is_with_its_nearest_medoid(data, n_attributes):
    matrix, number = data.draw(eighths(n_attributes)), data.draw(st.integers(1, n_attributes))
    names = data.draw(st.permutations("badcfe"[:n_attributes]))
    found = partition_attributes(made(matrix, names), number)
    assert sorted(name for group in found.groups for name in group) == sorted(names)
    assert len(found.groups) == len(found.medoids) == number
    assert [names.index(group[0]) for group in found.groups] == sorted(names.index(group[0]) for group in found.groups)
    for group, medoid in zip(found.groups, found.medoids, strict=True):
        assert [names.index(name) for name in group] == sorted(names.index(name) for name in group)
        assert medoid in group
        for name in set(group) - {medoid}:
            near = [(-matrix[names.index(name), names.index(other)], other) for other in found.medoids]
            assert min(near)[1] == medoid


@given(data=st.data(), n_attributes=st.integers(3, 6))
def test_the_number_of_columns_is_the_first_with_the_best_silhouette(data, n_attributes):
    matrix = data.draw(eighths(n_attributes))
    names = [f"a{place}" for place in range(n_attributes)]
    last = data.draw(st.none() | st.sampled_from(names))
    found = partition_attributes(made(matrix, names), None, last=last)
    distance = [[1 - Fraction(cell) for cell in row] for row in matrix.tolist()]
    means = {}
    for number in range(2, n_attributes):
        groups = partition_attributes(made(matrix, names), number, last=last).groups
        means[number] = twin.mean_silhouette(distance, [[names.index(name) for name in group] for group in groups])
    assert found.silhouettes == pytest.approx({number: float(mean) for number, mean in means.items()}, abs=1e-12)
    chosen = min(number for number, mean in means.items() if mean == max(means.values()))
    assert found.groups == partition_attributes(made(matrix, names), chosen, last=last).groups


@given(data=st.data(), n_attributes=st.integers(2, 6))
def test_the_last_column_holds_one_attribute_and_the_others_are_gathered_without_it(data, n_attributes):
    matrix, number = data.draw(eighths(n_attributes)), data.draw(st.integers(2, n_attributes))
    names = [f"a{place}" for place in range(n_attributes)]
    last = data.draw(st.integers(0, n_attributes - 1))
    rest = [place for place in range(n_attributes) if place != last]
    without = partition_attributes(made(matrix[np.ix_(rest, rest)], [names[place] for place in rest]), number - 1)
    found = partition_attributes(made(matrix, names), number, last=names[last])
    assert found.groups == (*without.groups, (names[last],))
    assert found.medoids == (*without.medoids, names[last])
    assert found.total == pytest.approx(without.total, abs=1e-12)


@pytest.mark.parametrize(
    ("names", "last", "groups"),
    [
        (["a"], None, (("a",),)),
        (["a"], "a", (("a",),)),
        (["b", "a"], None, (("b",), ("a",))),
        (["b", "a"], "b", (("a",), ("b",))),
        (["c", "b", "a"], "b", (("c", "a"), ("b",))),
    ],
)
def test_few_attributes(names, last, groups):
    assert partition_attributes(made(np.eye(len(names)), names), None, last=last).groups == groups


def test_attributes_that_say_everything_of_each_other_still_make_the_columns_asked_for():
    found = partition_attributes(made(np.ones((4, 4)), ["d", "c", "b", "a"]), 3)
    assert found.groups == (("d", "a"), ("c",), ("b",))
    assert (found.medoids, found.total) == (("a", "c", "b"), 0.0)


# -- what holds of any table ------------------------------------------------------------------------------------


@settings(max_examples=examples(30))
@given(case=tables("mixed", max_rows=20), bins=st.integers(2, 5), how=st.sampled_from(["frequency", "width"]))
def test_coefficients_are_symmetric_and_between_0_and_1(case, bins, how):
    table = prepare(case.frame, case.schema)
    found = attributes_of(table, list(table.published), bins=bins, discretise=how)
    assert (found.phi2 == found.phi2.T).all()
    assert (np.diag(found.phi2) == 1).all()
    assert ((found.phi2 >= 0) & (found.phi2 <= 1)).all()


@settings(max_examples=examples(30))
@given(case=tables("mixed", max_rows=20), data=st.data(), number=st.sampled_from([2, 3, None]))
def test_the_order_of_rows_and_columns_does_not_matter(case, data, number):
    frame = case.frame
    rows, names = data.draw(st.permutations(range(frame.height))), data.draw(st.permutations(frame.columns))
    results = []
    for one in (frame, frame[rows].select(names)):
        table = prepare(one, case.schema)
        attributes = attributes_of(table, list(table.published), bins=4)
        results.append((attributes, partition_attributes(attributes, number)))
    (before, columns), (after, moved) = results
    places = [after.names.index(name) for name in before.names]
    assert (before.phi2 == after.phi2[np.ix_(places, places)]).all(), "to the last bit"
    assert groups_as_sets(columns) == groups_as_sets(moved)
    assert set(columns.medoids) == set(moved.medoids)
    assert columns.total == moved.total
    assert columns.silhouettes == pytest.approx(moved.silhouettes, abs=1e-12)


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40),
    names=st.permutations(range(5)),
)
def test_the_names_of_categories_do_not_matter(rows, names):
    one, other = (np.array(values) for values in zip(*rows, strict=True))
    assert phi2(one, other) == phi2(np.array(names)[one], other) == phi2(other, np.array(names)[one] + 3)


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_a_constant_says_nothing_and_a_copy_everything(values):
    one = np.array(values)
    assert phi2(one, np.zeros_like(one)) == 0
    assert phi2(one, one) == (1 if len(set(values)) > 1 else 0)


def test_no_rows_no_coefficient():
    assert phi2(np.zeros(0, dtype=int), np.zeros(0, dtype=int)) == 0


# -- few categories ---------------------------------------------------------------------------------------------

numbers = st.lists(st.none() | st.integers(-30, 30), min_size=1, max_size=60)


def same_parts(codes: list[int], bins: list[int | None]) -> bool:
    """Whether two numberings tell the same rows apart."""
    return len(set(codes)) == len(set(bins)) == len(set(zip(codes, bins, strict=True)))


@given(values=numbers, bins=st.integers(2, 10))
def test_runs_of_equal_frequency(values, bins):
    codes, fewer = tried(values, shoal.Numeric(), bins)
    present = {value for value in values if value is not None}
    assert fewer == (len(present) > bins)
    assert same_parts(codes, twin.equal_frequency(values, bins) if fewer else values)
    by_value = dict(zip(values, codes, strict=True))
    assert [by_value[value] for value in values] == codes, "equal values are never apart"
    assert [by_value[value] for value in sorted(present)] == sorted(by_value[value] for value in present)


@given(values=numbers, bins=st.integers(2, 10))
def test_runs_of_equal_width(values, bins):
    codes, fewer = tried(values, shoal.Numeric(), bins, "width")
    assert same_parts(codes, twin.equal_width(values, bins) if fewer else values)


def test_runs_of_equal_frequency_hold_equally_many_rows_where_all_values_differ():
    codes, _ = tried(list(range(70)), shoal.Numeric(), 10)
    assert codes == [row // 7 for row in range(70)]


def test_one_heavy_value_takes_the_runs_it_fills():
    codes, _ = tried([0] * 91 + list(range(1, 10)), shoal.Numeric(), 5)
    assert codes == [0] * 91 + [1] * 9


def test_numbers_near_the_largest_can_be_cut():
    values = [-1.7e308, *(float(number) for number in range(10)), 1.7e308]
    assert tried(values, shoal.Numeric(), 4, "width")[0] == [0, *[1] * 10, 2]


def test_ordinal_attributes_are_cut_by_rank_where_they_have_too_many_categories():
    order = [f"{letter}{digit}" for digit in "21" for letter in "ba"]
    rows = ["b2", "a2", "b1", "a1", None]
    assert tried(rows, shoal.Ordinal(order), 2) == ([0, 0, 1, 1, 2], True)
    assert tried(rows, shoal.Ordinal(order), 4) == ([0, 1, 2, 3, 4], False)
    assert tried(rows[:4] * 5, shoal.Ordinal(order), 2) == ([0, 1, 2, 3] * 5, False), "five rows to each are enough"


def test_nominal_attributes_climb_to_the_lowest_level_with_few_enough_nodes():
    tree = shoal.Hierarchy([("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "abc", "*"), ("d", "*")])
    rows = ["a", "b", "c", "d", None]
    assert same_parts(tried(rows, shoal.Nominal(tree), 4)[0], rows)
    assert same_parts(tried(rows, shoal.Nominal(tree), 3)[0], ["ab", "ab", "c", "d", None])
    assert same_parts(tried(rows, shoal.Nominal(tree), 2)[0], ["abc", "abc", "abc", "d", None])


def test_nominal_attributes_without_a_fitting_level_keep_their_most_frequent_categories():
    rows = ["d", "d", "c", "b", "a", None]
    assert same_parts(tried(rows, shoal.Nominal(), 3)[0], ["d", "d", "others", "others", "a", None])
    tree = shoal.Hierarchy([(value, f"{value}+", "*") for value in "abcd"])
    assert same_parts(tried(rows, shoal.Nominal(tree), 3)[0], ["d", "d", "others", "others", "a", None])


def test_more_than_a_hundred_categories_are_too_many_however_many_rows():
    rows = [f"{row % 101:03}" for row in range(101 * 6)]
    codes, fewer = tried(rows, shoal.Nominal(), 10)
    assert fewer
    assert len(set(codes)) == 10
    assert not tried(rows[:-101] + ["000"] * 101, shoal.Nominal(), 200)[1]


def test_attributes_whose_values_are_all_distinct_are_named_and_lose_their_false_correlation():
    n_rows = 200
    frame = pl.DataFrame(
        {
            "id": [f"{row:03}" for row in range(n_rows)],
            "weight": [float(row * 37 % 200) for row in range(n_rows)],
            "sex": ["MF"[row % 2] for row in range(n_rows)],
            "planet": ["earth"] * n_rows,
        }
    )
    found = attributes_of(table_of(frame, weight=shoal.Numeric()), frame.columns)
    assert found.all_distinct == ("id", "weight")
    assert found.discretised == ("id", "weight")
    assert found.n_categories == (10, 10, 2, 1)
    assert found.biased == (("id", "weight"),)
    raw = np.arange(n_rows)
    assert phi2(raw, raw % 2) == 1
    assert pair(found, "id", "sex") < 0.1
    assert (found.phi2[3, :3] == 0).all()


@pytest.mark.parametrize("kind", [shoal.Numeric(), shoal.Ordinal(["a", "b"]), shoal.Nominal()], ids=["n", "o", "c"])
def test_an_attribute_without_any_value_has_one_category(kind):
    frame = pl.DataFrame({"rows": [None] * 4, "value": ["1", "2", "1", "2"]}, schema_overrides={"rows": pl.String})
    found = attributes_of(table_of(frame, rows=kind, value=shoal.Numeric()), frame.columns)
    assert (found.n_categories, found.phi2[0, 1]) == ((1, 2), 0)


def test_columns_without_a_kind_are_read_by_their_content():
    frame = pl.DataFrame({"a": [str(row % 40) for row in range(80)], "n": list(range(80)), "t": [True, False] * 40})
    table = prepare(frame, shoal.Schema(quasi={"a": shoal.Numeric()}, neutral=["n", "t"]))
    assert attributes_of(table, ["a", "n", "t"]).n_categories == (10, 10, 2)


# -- real data --------------------------------------------------------------------------------------------------


def test_attributes_of_adult_that_belong_together():
    frame = adult()
    numeric = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
    table = table_of(frame, **dict.fromkeys(numeric, shoal.Numeric()))
    attributes = attributes_of(table, frame.columns)
    assert len(attributes.names) == 15
    assert attributes.biased == attributes.all_distinct == ()
    assert attributes.discretised == numeric
    assert pair(attributes, "education", "education-num") == 1, "one is the number of the other"
    columns = partition_attributes(attributes, None)
    of = {name: place for place, group in enumerate(columns.groups) for name in group}
    assert of["education"] == of["education-num"]
    assert of["race"] == of["native-country"]
    assert of["marital-status"] == of["relationship"] == of["sex"]
    assert max(columns.silhouettes, key=columns.silhouettes.get) == len(columns.groups)
