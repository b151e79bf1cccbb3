"""What two attributes say of each other, and how much of it a release keeps."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import polars as pl
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shoal
from support.pairwise import examples

FEW = pl.DataFrame(
    {
        "a": [1, 1, 2, 2, 3, 3, 4, 4],
        "b": ["x", "x", "y", "y", "x", "y", "x", "y"],
        "c": ["u", "v", "u", "v", "u", "v", "v", "u"],
        "s": ["p", "q", "r", "p", "q", "r", "p", "q"],
    }
)
SCHEMA = shoal.Schema(
    quasi={"a": shoal.Numeric(), "b": shoal.Nominal(), "c": shoal.Nominal()}, sensitive={"s": shoal.Nominal()}
)


def distance(true, expected):
    """Half the sum of what two distributions differ by."""
    keys = {*true, *expected}
    n_true, n_expected = sum(true.values()), sum(expected.values())
    return 0.5 * sum(abs(true.get(key, 0) / n_true - expected.get(key, 0) / n_expected) for key in keys)


def by_answers(release, frame):
    """The same from expected counts, for values that are shown as they are and few enough to be categories."""
    found = {}
    for one, other in combinations([name for name in frame.columns if name in SCHEMA.roles], 2):
        counts = release.expected_counts(one, other)
        expected = {row[:2]: row[2] for row in counts.rows()}
        found[one, other] = distance(Counter(frame.select(one, other).rows()), expected)
    return found


@pytest.mark.parametrize(
    "method",
    [
        shoal.Anatomy(l=2),
        shoal.Slicing(l=2, groups={"a": 1, "b": 1, "c": 2, "s": 3}),
        shoal.Slicing(l=2, groups={"a": 1, "b": 2, "c": 3, "s": 4}, cuts="widest"),
        shoal.Slicing(l=2, groups={"a": 1, "b": 2, "c": 2, "s": 3}, overlap="b"),
    ],
    ids=str,
)
def test_pairs_of_buckets_and_slices_are_those_of_the_expected_counts(method):
    release = shoal.anonymize(FEW, SCHEMA, method, seed=0)
    found = release.pair_errors(FEW, schema=SCHEMA)
    assert found == pytest.approx(by_answers(release, FEW), abs=1e-12)
    assert list(found) == list(combinations(FEW.columns, 2))


@settings(max_examples=examples(15))
@given(data=st.data())
def test_pairs_of_any_slices_are_those_of_the_expected_counts(data):
    n_rows = data.draw(st.integers(4, 14))
    frame = pl.DataFrame(
        {
            name: data.draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))
            for name, values in {"a": [1, 2, 3], "b": ["x", "y", None], "c": ["u", "v"], "s": ["p", "q", "r"]}.items()
        },
        schema={"a": pl.Int64, "b": pl.String, "c": pl.String, "s": pl.String},
    )
    assume(2 * max(Counter(frame["s"]).values()) <= n_rows)  # else there is no way to slice it
    groups = {name: data.draw(st.integers(1, 3), name) for name in "abc"} | {"s": 4}
    overlap = data.draw(st.sampled_from([None, "b"]), "overlap")
    try:
        release = shoal.anonymize(frame, SCHEMA, shoal.Slicing(l=2, groups=groups, overlap=overlap), seed=0)
    except shoal.InfeasibleError:
        reject()
    assert release.pair_errors(frame, schema=SCHEMA) == pytest.approx(by_answers(release, frame), abs=1e-12)


def test_a_generalised_cell_is_spread_evenly_over_the_values_it_covers():
    release = shoal.anonymize(FEW, SCHEMA, shoal.Mondrian(k=4), seed=0)
    assert set(release.table["a"]) == {"[1, 2]", "[3, 4]"}
    found = release.pair_errors(FEW, schema=SCHEMA)
    expected = Counter()
    domain = {"b": ["x", "y"]}
    for a, b in release.table.select("a", "b").rows():
        ages = [1, 2] if a == "[1, 2]" else [3, 4]
        values = domain["b"] if b == "*" else [b]
        for pair in product(ages, values):
            expected[pair] += 1 / (len(ages) * len(values))
    assert found["a", "b"] == pytest.approx(distance(Counter(FEW.select("a", "b").rows()), expected), abs=1e-12)


def test_nothing_is_lost_where_attributes_stand_side_by_side():
    release = shoal.anonymize(FEW, SCHEMA, shoal.Anatomy(l=2), seed=0)
    found = release.pair_errors(FEW, schema=SCHEMA)
    assert {pair: error for pair, error in found.items() if "s" not in pair} == {
        ("a", "b"): 0.0, ("a", "c"): 0.0, ("b", "c"): 0.0,
    }  # fmt: skip


def test_generalised_columns_are_read_row_by_row():
    """With p, both cells of a row are known to belong together: no more is lost than they leave open."""
    release = shoal.anonymize(FEW, SCHEMA, shoal.Slicing(l=2, groups={"a": 1, "b": 1, "c": 2, "s": 3}, p=2), seed=0)
    assert release.frames["table"]["a"].unique().sort().to_list() == ["1", "2", "[3, 4]"]
    found = release.pair_errors(FEW, schema=SCHEMA)
    assert found["a", "b"] == pytest.approx(shown_pairs(release), abs=1e-12)


def shown_pairs(release):
    expected = Counter()
    for a, b in release.frames["table"].select("a", "b").rows():
        ages = [3, 4] if a == "[3, 4]" else [int(a)]
        values = ["x", "y"] if b == "*" else [b]
        for pair in product(ages, values):
            expected[pair] += 1 / (len(ages) * len(values))
    return distance(Counter(FEW.select("a", "b").rows()), expected)


def test_an_average_is_in_the_category_of_the_nearest_number():
    release = shoal.anonymize(FEW, SCHEMA, shoal.Mdav(k=4), seed=0)
    assert release.manifest.layout.shape == "values"
    expected = Counter()
    for a, b in release.table.select("a", "b").rows():
        expected[min([1, 2, 3, 4], key=lambda number: abs(number - a)), b] += 1
    found = release.pair_errors(FEW, schema=SCHEMA)
    assert found["a", "b"] == pytest.approx(distance(Counter(FEW.select("a", "b").rows()), expected), abs=1e-12)
