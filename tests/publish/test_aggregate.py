"""Aggregation: averages against their definition, variance restored, and cells the checker refuses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Aggregate, Nominal, Numeric, Ordinal
from shoal.publish.averages import average_categories, average_numbers, convex_median_place, median_place
from shoal.release.receipt import check_receipt, receipt_path
from support.forging import fingerprinted, mended, with_entries
from support.mixed_table import MIXED, mixed_frame
from support.realdata import census
from twins.averages import average

EXAMPLE = pl.DataFrame({"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120]})
TWO_NUMBERS = shoal.Schema(quasi={"age": Numeric(), "salary": Numeric()})


def test_means_of_the_worked_example():
    """Centres (27, 70) and (37, 115), 24.56792 % of the squared error."""
    release = shoal.anonymize(EXAMPLE, TWO_NUMBERS, shoal.Mdav(k=2))
    assert release.manifest.recipe.publish["name"] == "aggregate"
    assert sorted(release.table.rows()) == [(27.0, 70.0)] * 3 + [(37.0, 115.0)] * 2
    assert release.measure()["sse_percent"] == pytest.approx(24.56792, abs=5e-6)


def test_variance_of_the_worked_example():
    release = shoal.anonymize(EXAMPLE, TWO_NUMBERS, shoal.Mdav(k=2), publish=Aggregate(restore_variance=True))
    shown = release.table.sort("age")
    assert shown["age"].to_list() == pytest.approx([26.7417] * 3 + [37.3875] * 2, abs=5e-5)
    assert shown["salary"].to_list() == pytest.approx([65.2550] * 3 + [122.1174] * 2, abs=5e-5)
    assert release.verify().k == 2


@pytest.mark.parametrize("k", [3, 10])
def test_mean_and_variance_are_kept_on_census(k):
    frame = census()
    schema = shoal.Schema(quasi=dict.fromkeys(frame.columns, Numeric()))
    plain, restored = (
        shoal.anonymize(frame, schema, shoal.Mdav(k=k), publish=Aggregate(restore_variance=keep)).table
        for keep in (False, True)
    )
    for name in frame.columns:
        assert plain[name].mean() == pytest.approx(frame[name].mean(), rel=1e-12)
        assert plain[name].var() < 0.999 * frame[name].var()
        assert restored[name].mean() == pytest.approx(frame[name].mean(), rel=1e-12)
        assert restored[name].var() == pytest.approx(frame[name].var(), rel=1e-10)


@pytest.mark.parametrize("numbers", [[1, 2, 6], [0, 0, -1], [0.1, 0.2, 0.4], [1e290, 2e290, 2e290]])
def test_a_group_alone_shows_the_mean_when_variance_cannot_be_restored(numbers):
    """Thirds, whose sums are rounded, too: rounding was taken for a variance, and stretched."""
    frame = pl.DataFrame({"a": numbers})
    publish = Aggregate(restore_variance=True)
    release = shoal.anonymize(frame, shoal.Schema(quasi={"a": Numeric()}), shoal.Mdav(k=2), publish=publish)
    assert release.table["a"].to_list() == pytest.approx([sum(numbers) / 3] * 3, rel=1e-12)


def test_variances_of_numbers_of_any_size_are_restored():
    numbers = np.array([1.0, 2, 3, 10, 11, 15])
    schema, publish = shoal.Schema(quasi={"a": Numeric()}), Aggregate(restore_variance=True)
    shown = []
    for unit in (1.0, 2.0**900, 2.0**-900):
        release = shoal.anonymize(pl.DataFrame({"a": numbers * unit}), schema, shoal.Mdav(k=3), publish=publish)
        shown.append((release.table["a"] / unit).sort())
    assert shown[0].var() == pytest.approx(numbers.var(ddof=1))
    assert shown[0].equals(shown[1])
    assert shown[0].equals(shown[2])


@pytest.mark.parametrize(
    ("frequencies", "median", "convex"),
    [((3, 0, 0, 0, 3), 0, 2), ((0, 4, 1, 0, 3), 1, 2), ((2, 1, 0, 0, 4), 4, 2)],
)
def test_convex_median(frequencies, median, convex):
    places = np.flatnonzero(frequencies)
    counts = np.array(frequencies)[places]
    assert median_place(places, counts) == median
    assert convex_median_place(places, counts) == convex


@given(
    values=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    rule=st.sampled_from(["median", "convex-median", "mode"]),
)
def test_averages_of_categories_equal_their_definition(values, rule):
    domain = ["f", "e", "d", "c", "b", "a"]
    texts = [domain[value] for value in values]
    found = average_categories(pl.Series(texts), np.zeros(len(texts), dtype=np.int64), 1, domain, rule)
    assert found == [average(texts, Ordinal(domain), domain, rule)]


@given(
    values=st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=12),
    rule=st.sampled_from(["mean", "median"]),
    shuffle=st.randoms(use_true_random=False),
)
def test_averages_of_numbers_equal_their_definition(values, rule, shuffle):
    def shown(numbers):
        return average_numbers(pl.Series(numbers), np.zeros(len(numbers), dtype=np.int64), 1, rule)[0]

    found = shown(values)
    assert found == pytest.approx(average(values, Numeric(), [], rule), rel=1e-12, abs=1e-9)
    assert min(values) <= found <= max(values)
    other = list(values)
    shuffle.shuffle(other)
    assert shown(other) == found  # to the last bit, whatever the order of the rows


def test_another_average_for_single_columns():
    frame = pl.DataFrame({"age": [1, 2, 2, 9], "grade": ["low", "low", "high", "high"], "town": ["b", "a", "b", "c"]})
    quasi = {"age": Numeric(), "grade": Ordinal(["low", "middle", "high"]), "town": Nominal()}
    publish = Aggregate(average={"age": "median", "grade": "convex-median"})
    release = shoal.anonymize(frame, shoal.Schema(quasi=quasi), shoal.Mdav(k=3), publish=publish)
    assert set(release.table.rows()) == {(2.0, "middle", "b")}
    assert release.manifest.recipe.publish["average"] == {"age": "median", "grade": "convex-median"}


@pytest.mark.parametrize(
    ("average", "message"),
    [
        ({"town": "median"}, "median of column 'town', which is nominal and has no order; use mode"),
        ({"town": "mean"}, "mean of column 'town', which is nominal and has no order; use mode"),
        ({"grade": "mean"}, "which is ordinal and has no mean; use median or convex-median or mode"),
        ({"age": "mode"}, "which is numeric and has no mode; use mean or median"),
        ({"aeg": "mean"}, "'aeg' is not a quasi-identifier of the table; did you mean 'age'"),
        ({"disease": "mode"}, "'disease' is not a quasi-identifier of the table"),
    ],
)
def test_averages_that_a_column_does_not_have(average, message):
    with pytest.raises(shoal.ParameterError, match=rf"Aggregate\(average=\): .*{message}"):
        shoal.anonymize(mixed_frame(20), MIXED, shoal.Mdav(k=2), publish=Aggregate(average=average))


def test_clashing_names():
    frame = pl.DataFrame({"a": [1, None, 3, 4], "a_missing": ["x"] * 4})
    schema = shoal.Schema(quasi={"a": Numeric()}, neutral=["a_missing"])
    with pytest.raises(shoal.SchemaError, match="'a_missing': clashes with a column that aggregation adds"):
        shoal.anonymize(frame, schema, shoal.Mdav(k=2))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_written_and_read_back(tmp_path, form):
    release = shoal.anonymize(mixed_frame(200), MIXED, shoal.Mdav(k=5), seed=1)
    assert release.table.schema["age"] == pl.Float64
    folder = release.write(tmp_path / "out", format=form)
    back = shoal.read_release(folder, receipt_path(folder))
    assert back.table.equals(release.table)
    assert back.measure() == release.measure()
    assert shoal.read_release(folder).measure() == release.manifest.measures


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("grade", "*", "though no value of the column was missing"),
        ("age", float("inf"), "numbers that are not in Shoal's notation"),
        ("weight", None, "empty, though no value was missing"),
        ("age_missing", True, "a value that is said to be missing"),
    ],
)
def test_cells_that_cannot_be_are_refused(column, cell, message):
    release = shoal.anonymize(mixed_frame(200), MIXED, shoal.Mdav(k=5), seed=1)
    dtype = release.table.schema[column]
    table = release.tables["table"].with_columns(pl.lit(cell, dtype=dtype).alias(column))
    with pytest.raises(shoal.GuaranteeError, match=message):
        fingerprinted(release, table=table).verify()


def test_a_category_that_nobody_has_is_noticed_by_who_holds_the_receipt():
    """The order is not told where cells are single categories: it may hold some that nobody shows."""
    release = shoal.anonymize(mixed_frame(200), MIXED, shoal.Mdav(k=5), seed=1)
    grade = next(column for column in release.manifest.layout.quasi if column.name == "grade")
    assert (grade.form, grade.order, grade.ranks, grade.n_values) == ("value", (), (), 0)
    cells = release.frames["table"]
    forged = mended(release, table=cells.with_columns(pl.col("grade").replace(cells["grade"][0], "huge")))
    assert forged.verify().achieved == release.verify().achieved
    check_receipt(release.receipt, release.manifest)
    with pytest.raises(shoal.GuaranteeError, match="belongs to another release, or the release was changed since it"):
        check_receipt(release.receipt, forged.manifest)
    ordered = grade.model_copy(update={"order": ("low", "middle", "high"), "ranks": (0, 1, 2), "n_values": 3})
    quasi = tuple(ordered if column == grade else column for column in release.manifest.layout.quasi)
    with pytest.raises(
        shoal.GuaranteeError, match="column 'grade': has entries in the manifest that its form does not allow"
    ):
        with_entries(release, layout={"quasi": quasi}).verify()


def test_cells_of_another_type_are_refused():
    release = shoal.anonymize(mixed_frame(200), MIXED, shoal.Mdav(k=5), seed=1)
    ones = release.frames["table"].with_columns(pl.lit(1, dtype=pl.Int64).alias("grade"))
    with pytest.raises(
        shoal.GuaranteeError, match="column 'grade': has a data type that Shoal does not write for such cells"
    ):
        fingerprinted(release, table=ones).verify()


def test_a_class_below_k_is_refused():
    release = shoal.anonymize(EXAMPLE, TWO_NUMBERS, shoal.Mdav(k=2))
    table = release.tables["table"].with_columns(pl.Series("age", [1.0, 2.0, 3.0, 4.0, 5.0]))
    with pytest.raises(shoal.GuaranteeError, match="k = 2 was promised, the weakest class reaches 1"):
        mended(release, table=table).verify()


def test_a_value_passed_off_as_lossless_is_refused():
    """A forged manifest that calls means intervals would make the loss look like nothing."""
    release = shoal.anonymize(EXAMPLE, TWO_NUMBERS, shoal.Mdav(k=2))
    assert not {"ncp", "il"} & set(release.measure())
    with pytest.raises(shoal.GuaranteeError, match="is published in a form that its shape does not allow"):
        with_entries(release, layout={"shape": "text"}).verify()


def test_the_extremes_of_the_input_stay_with_the_holder():
    frame = pl.DataFrame({"income": [10, 20, 30, 40, 987654]})
    release = shoal.anonymize(frame, shoal.Schema(quasi={"income": Numeric()}), shoal.Mdav(k=2))
    assert "987654" not in release.manifest.to_json()
