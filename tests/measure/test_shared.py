"""What measures share is what each would have worked out alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import sample
from shoal.check.value_ranges import MISSING_VALUE, SPAN, UNREAD, Range, axis_of
from shoal.measure import measure_all, shown
from shoal.measure.base import Given
from shoal.measure.candidates import products_of_shown
from shoal.measure.membership import _among
from shoal.measure.products import Component
from shoal.measure.shown import Shown

FRAME = sample.people(240, seed=4).select(
    "age", "sex", pl.when(pl.int_range(pl.len()) % 29 != 0).then("postcode").alias("postcode"), "income", "disease"
)
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric(), "sex": shoal.Nominal(), "postcode": shoal.Nominal(), "income": shoal.Numeric()},
    sensitive={"disease": shoal.Nominal()},
)
METHODS = {"classes": shoal.Mondrian(k=3), "averages": shoal.Mdav(k=3), "buckets": shoal.Anatomy(l=2)}


def released(name: str) -> Given:
    """A release of people some of whom have no postcode, beside its input."""
    return shoal.anonymize(FRAME, SCHEMA, METHODS[name], seed=1).given(FRAME, SCHEMA)


def lines_of(found: Shown) -> list[dict[str, list[int]]]:
    return [{name: cells.line.tolist() for name, cells in part.columns.items()} for part in found.parts]


@pytest.mark.parametrize("name", METHODS)
def test_a_release_that_was_just_made_has_the_figures_of_one_that_is_read(name: str) -> None:
    fresh = released(name)
    assert fresh.seen is not None
    assert measure_all(fresh) == measure_all(replace(fresh, seen=None))


@pytest.mark.parametrize("name", METHODS)
def test_one_row_of_a_class_stands_for_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = released(name)
    by_class = Shown.of(given)
    assert (by_class.parts[0].alike is not None) == (name != "buckets")
    monkeypatch.setattr(shown, "_shows_classes", lambda *_: False)
    by_row = Shown.of(given)
    assert lines_of(by_class) == lines_of(by_row)
    for one, other in zip(by_class.parts, by_row.parts, strict=True):
        assert [found.tolist() for found in one.units] == [found.tolist() for found in other.units]
    if name == "classes":
        one, other = (products_of_shown(found, given.manifest.layout) for found in (by_class, by_row))
        assert one.originals.tolist() == other.originals.tolist()
        for left, right in zip(one.components, other.components, strict=True):
            assert left.start.tolist() == right.start.tolist()
            assert left.high.tolist() == right.high.tolist()


@pytest.mark.parametrize("missing", ["keep", "drop"])
def test_codes_of_the_table_are_used_only_where_its_cells_are_those_of_the_input(missing: str) -> None:
    given = shoal.anonymize(FRAME, SCHEMA, METHODS["classes"], seed=1, missing=missing).given(FRAME, SCHEMA)
    found, n_rows = Shown.of(given), []
    for name, column in found.columns.items():
        assert column.values.gather(column.code).to_list() == FRAME[name].to_list()
        n_rows.append(len(column.code))
    assert set(n_rows) == {FRAME.height}
    assert (given.table.n_rows == FRAME.height) == (missing == "keep")


def test_numbers_behind_cells_have_the_places_of_ranges() -> None:
    cells = [Range(SPAN, 1.0, 4.0), MISSING_VALUE, Range(UNREAD, text="?"), Range(SPAN, 2.5, 2.5)]
    numbers = np.array([4.0, np.nan, -1.0, 2.5, 3.0])
    ranges = [MISSING_VALUE if np.isnan(number) else Range(SPAN, number, number) for number in numbers.tolist()]
    one, other = axis_of([*cells, *ranges], discrete=False), axis_of(cells, discrete=False, numbers=numbers)
    assert (one.low.tolist(), one.high.tolist()) == (other.low.tolist(), other.high.tolist())
    assert one.listed.tolist() == other.listed.tolist()
    assert other.low.tolist() == [1, 5, 6, 2, 4, 5, 0, 2, 3]


@pytest.mark.parametrize("far", [0, 2**61])
def test_runs_of_pairs_however_large_their_numbers_are(far: int) -> None:
    sets, numbers = np.array([7, 0, 7, 7, 0, 7]), np.array([5, 2, 3, 4, 2, far + 9])
    found = Component.of_pairs(sets, numbers, np.array([0, 7, 3]))
    runs = [[*zip(found.low[a:b].tolist(), found.high[a:b].tolist(), strict=True)]
            for a, b in zip(found.start, found.stop, strict=True)]  # fmt: skip
    assert runs == [[(2, 2)], [(3, 5), (far + 9, far + 9)], []]


def test_tuples_among_originals() -> None:
    originals = np.array([[1, -1, 2**40], [0, 3, 2**40], [2, 2, 0]])
    tuples = np.array([[0, 3, 2**40], [1, 3, 2**40], [2, 2, 0], [1, 0, 2**40], [0, 2, 2**40]])
    assert _among(tuples, originals).tolist() == [True, False, True, False, False]
    assert _among(tuples, originals[:0]).tolist() == [False] * 5
    assert pl.Series(_among(tuples[:0], originals)).len() == 0
