"""Centres: centre, size and radius of every group, against distances worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import Centres, Nominal, Numeric, Ordinal
from support.forging import mended
from support.mixed_table import MIXED, mixed_frame

EXAMPLE = pl.DataFrame(
    {"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120], "disease": ["a", "b", "c", "d", "e"]}
)
SCHEMA = shoal.Schema(quasi={"age": Numeric(), "salary": Numeric()}, sensitive=["disease"])


def published(frame, schema, k=2, **options):
    return shoal.anonymize(frame, schema, shoal.Mdav(k=k), publish=Centres(**options))


def test_worked_example():
    release = published(EXAMPLE, SCHEMA, centre="average", standardize=False)
    centres = release.tables["centres"]
    assert centres.select("class", "size", "age", "salary").rows() == [(1, 3, 27.0, 70.0), (2, 2, 37.0, 115.0)]
    assert centres["radius"].to_list() == pytest.approx([math.hypot(2, 30), math.hypot(2, 5)])
    rows = release.table.group_by("class").agg(pl.col("disease").sort()).sort("class")
    assert rows.rows() == [(1, ["a", "b", "c"]), (2, ["d", "e"])]


def test_radius_in_standard_deviations():
    release = published(EXAMPLE, SCHEMA, centre="average")
    age, salary = EXAMPLE["age"].std(ddof=0), EXAMPLE["salary"].std(ddof=0)
    expected = [math.hypot(2 / age, 30 / salary), math.hypot(2 / age, 5 / salary)]
    assert release.tables["centres"]["radius"].to_list() == pytest.approx(expected)


def test_centre_of_a_binary_ball():
    """Rows that each differ in one coordinate from (1, 1, 1, 1): the radius is 1."""
    ones = np.ones((5, 4), dtype=int)
    ones[np.arange(1, 5), np.arange(4)] = 0
    frame = pl.DataFrame(ones, schema=["a", "b", "c", "d"])
    schema = shoal.Schema(quasi=dict.fromkeys("abcd", Numeric()))
    release = published(frame, schema, k=5, standardize=False)
    assert release.tables["centres"].rows() == [(1, 5, 1.0, 1.0, 1.0, 1.0, 1.0)]


def test_a_record_nearest_to_the_average_stands_for_its_group():
    release = published(EXAMPLE, SCHEMA, standardize=False)
    centres = release.tables["centres"].select("age", "salary").rows()
    assert centres == [(27.0, 60.0), (35.0, 110.0)]  # of two at equal distance the first


def test_radius_covers_every_row_of_mixed_columns():
    """Numbers raw, ranks over the number of categories, names equal or not, missing at the largest distance."""
    frame = mixed_frame(60).select("age", "grade", "town")
    order = ["low", "middle", "high"]
    quasi = {"age": Numeric(), "grade": Ordinal(order), "town": Nominal()}
    release = published(frame, shoal.Schema(quasi=quasi), k=4, standardize=False)
    span = frame["age"].max() - frame["age"].min()

    def squared(row, centre):
        age, grade, town = row
        other, *said, rank, name = centre  # whether the age is missing, where one is
        is_missing = said == [True]
        gap = age is None or is_missing
        total = (0 if age is None and is_missing else span**2) if gap else (age - other) ** 2
        return total + ((order.index(grade) - order.index(rank)) / 3) ** 2 + (town != name)

    centres = release.tables["centres"]
    by_cells = {row[2:]: row[1:3] for row in centres.select("class", "size", "radius", *centres.columns[3:]).rows()}
    assert by_cells
    for label in range(release.labels.max() + 1):
        rows = frame.filter(pl.Series(release.labels == label)).rows()
        fitting = [
            row
            for row in centres.rows()
            if row[1] == len(rows)
            and math.sqrt(max(squared(one, row[3:]) for one in rows)) == pytest.approx(row[2], abs=1e-9)
        ]
        assert fitting, "no published centre has this group's size and radius"


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("centre", ["record", "average"])
def test_written_and_read_back(tmp_path, form, centre):
    release = shoal.anonymize(mixed_frame(200), MIXED, shoal.Mdav(k=5), publish=Centres(centre=centre), seed=1)
    folder = release.write(tmp_path / "out", format=form)
    assert {path.name for path in folder.iterdir()} == {f"table.{form}", f"centres.{form}", "manifest.json"}
    back = shoal.read_release(folder)
    for name, table in release.frames.items():
        assert back.frames[name].equals(table)
    assert back.verify().k >= 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.lit(-1.0).alias("radius"), "a radius that is not a number of at least 0"),
        (pl.lit(None, dtype=pl.Float64).alias("radius"), "a radius that is not a number of at least 0"),
        ((pl.col("size") + 1).alias("size"), "its sizes differ from the number of rows in each class"),
        (pl.lit(1, dtype=pl.Int64).alias("class"), "has a class number twice"),
    ],
)
def test_a_tampered_table_of_centres_is_refused(change, message):
    release = published(EXAMPLE, SCHEMA)
    with pytest.raises(shoal.GuaranteeError, match=message):
        mended(release, centres=release.frames["centres"].with_columns(change)).verify()


def test_a_class_below_k_is_refused():
    release = published(EXAMPLE, SCHEMA)
    table = release.frames["table"].with_columns(pl.Series("class", [1, 1, 1, 1, 2]))
    centres = release.frames["centres"].with_columns(pl.Series("size", [4, 1]))
    with pytest.raises(shoal.GuaranteeError, match="k = 2 was promised, the weakest class reaches 1"):
        mended(release, table=table, centres=centres).verify()


def test_clashing_names():
    frame = pl.DataFrame({"a": [1, 2, 3], "radius": [1, 2, 3]})
    schema = shoal.Schema(quasi={"a": Numeric()}, neutral=["radius"])
    with pytest.raises(shoal.SchemaError, match="'radius': clashes with a column that publishing centres adds"):
        published(frame, schema)
