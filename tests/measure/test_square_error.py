"""Figures against the input, and the classification metric, worked out by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import Nominal, Numeric, Ordinal
from shoal.measure import input_figures
from shoal.table.prepare import prepare

QUASI = {"age": Numeric(), "grade": Ordinal(["low", "high"]), "town": Nominal()}
FRAME = pl.DataFrame(
    {
        "age": [1, 3, 5, 7, 9, 11],
        "grade": ["low", "low", "high", "high", "high", "low"],
        "town": ["a", "a", "b", "b", None, None],
        "disease": ["x", "y", "x", "x", "x", "x"],
        "cost": [0.0, 2.0, 2.0, 2.0, 2.0, 4.0],
    }
)
SCHEMA = shoal.Schema(quasi=QUASI, sensitive={"disease": Nominal()}, neutral={"cost": Numeric()})


def figures(frame, schema, labels):
    found = input_figures(prepare(frame, schema), np.array(labels))
    return {figure.measure: figure.value for figure in found}, {figure.measure: figure.columns for figure in found}


def test_by_hand():
    values, columns = figures(FRAME, SCHEMA, [0, 0, 0, 1, 1, 1])
    variance = 35 / 3  # of 1, 3, ..., 11
    assert values["sse"] == pytest.approx((4 + 0 + 4) * 2 / variance)
    assert values["sse_percent"] == pytest.approx(100 * 16 / 70)
    assert values["square_error"] == pytest.approx(values["sse"] + (1 + 1) + (1 + 1))
    cost = (8 / 3 * 2) / (4 / 3)  # 0, 2, 2 around 4/3, and 2, 2, 4 around 8/3, over the variance 4/3
    assert values["square_error_all"] == pytest.approx(values["square_error"] + 1 + 0 + cost)
    assert columns == {
        "sse": ("age",),
        "sse_percent": ("age",),
        "square_error": ("age", "grade", "town"),
        "square_error_all": ("age", "grade", "town", "disease", "cost"),
    }


def test_suppressed_rows_are_charged_what_they_differ_from_the_whole():
    values, _ = figures(FRAME, SCHEMA, [-1] * 6)
    assert values["sse_percent"] == pytest.approx(100)
    assert values["sse"] == pytest.approx(6)
    assert values["square_error"] == pytest.approx(6 + 3 + 4)
    some, _ = figures(FRAME, SCHEMA, [0, 0, 0, -1, -1, -1])
    assert some["sse"] == pytest.approx((8 + 1 + 9 + 25) / (35 / 3))


def test_missing_numbers_are_as_far_as_numbers_can_be():
    frame = pl.DataFrame({"age": [0, 2, None, None, None, 4]})
    values, _ = figures(frame, shoal.Schema(quasi={"age": Numeric()}), [0, 0, 0, 1, 1, 1])
    variance = 8 / 3
    gap = 16 / variance
    assert values["sse"] == pytest.approx((1 + 1) / variance + gap + gap)  # the second group's mean is missing


def test_constant_and_empty_columns():
    frame = pl.DataFrame({"a": [7, 7, 7, None], "b": pl.Series([None] * 4, dtype=pl.Int64)})
    values, _ = figures(frame, shoal.Schema(quasi={"a": Numeric(), "b": Numeric()}), [0, 0, 0, 0])
    assert values["sse"] == 1.0  # missing beside present, in a column without a spread


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_numbers_of_any_size(size):
    frame = pl.DataFrame({"a": [1 * size, 2 * size, -3 * size, 4 * size]})
    values, _ = figures(frame, shoal.Schema(quasi={"a": Numeric()}), [0, 0, 1, 1])
    assert values["sse_percent"] == pytest.approx(100 * (0.5 + 24.5) / (30 - 4))


def test_no_number_no_sse():
    values, _ = figures(FRAME.select("town"), shoal.Schema(quasi={"town": Nominal()}), [0, 0, 0, 1, 1, 1])
    assert values == {"square_error": 2.0, "square_error_all": 2.0}


def test_columns_without_a_kind_enter_as_they_are():
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "tag": ["x", "x", "y", None], "flag": [True, False, True, True]})
    schema = shoal.Schema(quasi={"a": Numeric()}, neutral=["tag", "flag"])
    values, _ = figures(frame, schema, [0, 0, 1, 1])
    assert values["square_error_all"] - values["square_error"] == pytest.approx(0 + 1 + 1)


def test_the_receipt_names_the_columns(tmp_path):
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=3))
    figures = release.receipt.against_input
    assert {figure.measure for figure in figures} == {"sse", "sse_percent", "square_error", "square_error_all"}
    assert {figure.measure: figure.value for figure in figures}.items() <= release.measure().items()
    folder = release.write(tmp_path / "out")
    back = shoal.read_release(folder, tmp_path / "out.receipt.json")
    assert back.receipt.against_input == figures
    assert back.measure() == release.measure()
    public = shoal.read_release(folder).measure()
    assert public == release.manifest.measures
    assert not {figure.measure for figure in figures} & set(public)


class TestClassificationMetric:
    def test_share_of_rows_outside_the_majority_of_their_class(self):
        frame = pl.DataFrame({"age": [1, 1, 1, 9, 9, 9, 9], "disease": ["x", "x", "y", "z", None, None, "y"]})
        schema = shoal.Schema(quasi={"age": Numeric()}, sensitive=["disease"])
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3))
        assert release.measure()["cm:disease"] == pytest.approx(3 / 7)

    def test_another_column_on_request(self):
        release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=6))
        assert "cm:cost" not in release.measure()
        assert release.measure(label="cost")["cm:cost"] == pytest.approx(2 / 6)

    @pytest.mark.parametrize("label", ["age", "disaese"])
    def test_a_column_that_is_not_published_as_it_is(self, label):
        release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=6))
        with pytest.raises(shoal.ParameterError, match=rf"label=: '{label}' is not a column published as it is"):
            release.measure(label=label)
