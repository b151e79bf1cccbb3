"""Values as numbers, against plain Python."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.row_order import _ranked
from shoal.table import numbering
from shoal.table.categories import categories_of
from shoal.table.numbering import coded, numbered, renumbered, sorted_rows
from shoal.table.prepare import prepare
from shoal.table.schema import Nominal, Numeric
from support.mixed_table import MIXED, mixed_frame
from support.pairwise import examples

pytestmark = pytest.mark.usefixtures("few_or_many")

COLUMNS = {
    "close together": [7, -3, 7, 0],
    "far apart": [0, 10**15, -(10**15), 10**15],
    "one missing": [5, None, 4, 5],
    "floats": [0.5, 2.0, None, 0.5],
    "texts": ["b", None, "a", "b"],
    "none there": pl.Series([None] * 4, dtype=pl.Int64),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_value_has_its_place_among_the_sorted_ones(name: str) -> None:
    series = pl.Series(name, COLUMNS[name])
    values = sorted({value for value in series if value is not None})
    found = coded(series.to_frame())[name]
    assert found.values.to_list() == values
    assert found.codes.tolist() == [len(values) if value is None else values.index(value) for value in series]


@pytest.mark.parametrize(
    "method", [shoal.Mdav(k=3), shoal.Mondrian(k=3), shoal.Anatomy(l=2), shoal.Slicing(l=2, sensitive_apart=True)]
)
def test_releases_are_the_same_whether_columns_are_few_or_not(method, monkeypatch):
    require = [shoal.LDiversity("disease", l=2)] if method.name in ("mdav", "mondrian") else []
    found = []
    for few in (-1, 256):
        monkeypatch.setattr(numbering, "FEW", few)
        release = shoal.anonymize(mixed_frame(60), MIXED, method, require=require, seed=3)
        release.verify()
        found.append((release.manifest.to_json(), [table.rows() for table in release.tables.values()]))
    assert found[0] == found[1]


LONGER = "a text that is longer than twelve bytes"


@settings(max_examples=examples(60))
@given(
    st.lists(st.none() | st.sampled_from(["", "b", "a", "twelve bytes", LONGER, LONGER + "!"]), max_size=40),
    st.integers(1, 8), st.booleans(),
)  # fmt: skip
def test_texts_of_many_rows_are_numbered_by_their_views(cells, repeated, gathered):
    """Whether a longer text lies in one place or in several."""
    series = pl.Series("a", cells, dtype=pl.String)
    if gathered:
        series = pl.Series("a", [*cells, *cells], dtype=pl.String).gather([*range(len(cells))] * 2).slice(len(cells))
    values = sorted({cell for cell in cells if cell is not None})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "MANY", 0)
        patch.setattr(numbering, "REPEATED", repeated)
        found, alone = coded(series.to_frame())["a"], numbering.values_of(series.to_frame())["a"]
        known = coded(series.to_frame(), {"a": pl.Series(["", *values, "z"]).unique().sort()})["a"]
    assert found.values.to_list() == alone.to_list() == values
    assert found.codes.tolist() == [len(values) if cell is None else values.index(cell) for cell in cells]
    shown = known.values.to_list()
    assert known.codes.tolist() == [len(shown) if cell is None else shown.index(cell) for cell in cells]


def test_texts_of_which_most_are_different_are_not_numbered_by_their_views():
    different = pl.Series([str(number) for number in range(100)])
    assert numbering.distinct_views(different) is None
    shown = numbering.distinct_views(pl.concat([different.head(3)] * 30))
    assert shown is not None
    assert (shown[0].to_list(), shown[1].tolist()) == (["0", "1", "2"], [0, 1, 2] * 30)


def test_texts_are_in_the_order_of_their_bytes():
    """Also beyond the letters of two bytes, where the order of another encoding differs."""
    texts = ["\U0001f600", "\uffee", "z", "é", "", "Z", None]
    found = coded(pl.DataFrame({"a": texts}))["a"]
    assert found.values.to_list() == sorted(texts[:-1], key=lambda text: text.encode())
    assert found.codes.tolist() == [5, 4, 2, 3, 0, 1, 6]
    assert [one.tolist() for one in numbered([pl.Series(texts), pl.Series(["a", "z"])])] == [
        [6, 5, 3, 4, 0, 1, 0],
        [2, 3],
    ]


def test_numbers_close_together_are_looked_up_by_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"age": [30, 20, 30]})
    monkeypatch.setattr(numbering, "_place_among", lambda name, _: pl.lit(pl.Series(name, [9, 9, 9])))
    assert coded(frame)["age"].codes.tolist() == [1, 0, 1]
    assert coded(frame * 10**6)["age"].codes.tolist() == [9, 9, 9]


@pytest.mark.parametrize("step", [1, 3, 10**6])
def test_numbers_without_gaps(step: int) -> None:
    codes = np.array([4, 0, 4, 2]) * step
    assert renumbered(codes).tolist() == [2, 0, 2, 1]


def test_a_table_numbers_a_column_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = prepare(
        pl.DataFrame({"a": [2, 1, 2], "b": ["x", "y", None]}),
        shoal.Schema(quasi={"a": shoal.Numeric()}, rest="neutral"),
    )
    first = table.coded(["a"])["a"]
    asked = []
    monkeypatch.setattr("shoal.table.prepare.coded", lambda frame, _: asked.append(frame.columns) or coded(frame))
    found = table.coded(["b", "a"])
    assert asked == [["b"]]
    assert found["a"] is first
    assert [*found] == ["b", "a"]
    assert (first.codes.tolist(), found["b"].codes.tolist()) == ([1, 0, 1], [0, 1, 2])


@pytest.mark.parametrize("kind", [Numeric(), Nominal()])
@pytest.mark.parametrize("bins", [2, 3, 10])
def test_categories_of_distinct_values_are_those_of_their_rows(kind: Numeric | Nominal, bins: int) -> None:
    drawn = np.random.default_rng(bins).geometric(0.08, 300)
    series = pl.Series([None if value == 3 else int(value) for value in drawn])
    values, codes = coded(series.to_frame("x"))["x"]
    values = pl.concat([values, pl.Series("x", [None], dtype=pl.Int64)])
    of_value, fewer = categories_of(values, kind, bins, "frequency", np.bincount(codes))
    of_row, fewer_rows = categories_of(series, kind, bins, "frequency")
    assert of_value[codes].tolist() == of_row.tolist()
    assert fewer == fewer_rows


@given(st.lists(st.one_of(st.none(), st.text("abé", max_size=4)), min_size=1, max_size=12))
def test_long_texts_are_numbered_alike_without_being_copied(cells):
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)})
    short = coded(frame)["a"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "LONG", -1)
        long = coded(frame)["a"]
        ranks = _ranked(frame)
    assert long.values.to_list() == short.values.to_list()
    assert long.codes.tolist() == short.codes.tolist()
    assert ranks.tolist() == _ranked(frame).tolist()


@given(
    texts=st.lists(st.none() | st.text(alphabet="abä\n", max_size=4), min_size=1, max_size=12),
    beginning=st.sampled_from([1, 2, 64]),
)
def test_long_texts_are_numbered_in_their_order(texts, beginning):
    values = sorted({text for text in texts if text is not None})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "BEGINNING", beginning)
        found = numbering.long_codes(pl.Series(texts, dtype=pl.String))
    assert found.tolist() == [len(values) if text is None else values.index(text) for text in texts]


@settings(max_examples=examples(100))
@given(
    numbers=st.lists(st.sampled_from([(0, 3), (2**16 - 2, 2**16 + 1), (0, 2**63 - 1), (2**64 - 9, 2**64 - 1)])
    .flatmap(lambda ends: st.integers(*ends)))
    .map(lambda found: np.array(found, dtype=np.uint64)),
    distinct=st.booleans(),
)  # fmt: skip
def test_rows_are_sorted_as_a_stable_sort_does(numbers, distinct):
    """Also where numbers that are said to be distinct are not, or differ in their last places only."""
    np.testing.assert_array_equal(sorted_rows(numbers, distinct=distinct), np.argsort(numbers, kind="stable"))
    signed = (numbers >> np.uint64(1)).astype(np.int64)
    np.testing.assert_array_equal(sorted_rows(signed, distinct=distinct), np.argsort(signed, kind="stable"))
