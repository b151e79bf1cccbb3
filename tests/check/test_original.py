"""The input of a release, given once more: is it that input, and is it read as it was then?"""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.check.original import input_rows, published_people

SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"illness": shoal.Nominal()})
ROWS = pl.DataFrame({"age": [20, 21, None, 40, 41], "illness": ["flu", "ulcer", "flu", "flu ", "colic"]})


def made(**options):
    return shoal.anonymize(ROWS, SCHEMA, shoal.Mondrian(k=2), missing="drop", **options).manifest


def refused(manifest, rows, message):
    with pytest.raises(shoal.ParameterError, match=message):
        input_rows(manifest, rows)


def test_where_the_number_of_rows_is_public_the_input_has_as_many():
    manifest = made()
    assert (manifest.rows.published, manifest.rows.left_out) == (4, 1)
    assert input_rows(manifest, ROWS).height == 5
    refused(manifest, ROWS.head(4), "has 4 rows, but the release was made from 5")
    refused(manifest, pl.concat([ROWS, ROWS]), "has 10 rows, but the release was made from 5")


def test_where_the_number_of_rows_is_private_the_input_has_no_fewer_than_are_published():
    manifest = made(left_out="private")
    assert (manifest.rows.published, manifest.rows.left_out) == (4, None)
    assert input_rows(manifest, ROWS.head(4)).height == 4
    assert input_rows(manifest, pl.concat([ROWS, ROWS])).height == 10
    refused(manifest, ROWS.head(3), "has 3 rows, but the release was made from at least 4")


def test_rows_that_were_dropped_for_a_missing_cell_are_no_people_of_the_release():
    assert published_people(made(), ROWS)["age"].to_list() == [20, 21, 40, 41]
    kept = shoal.anonymize(ROWS, SCHEMA, shoal.Mondrian(k=2)).manifest
    assert published_people(kept, ROWS)["age"].to_list() == [20, 21, None, 40, 41]


def test_spellings_are_merged_where_the_release_merged_them():
    assert input_rows(made(), ROWS)["illness"].to_list() == ["flu", "ulcer", "flu", "flu ", "colic"]
    assert input_rows(made(normalise=True), ROWS)["illness"].to_list() == ["flu", "ulcer", "flu", "flu", "colic"]


def test_spellings_of_quasi_identifiers_stay_as_they_are():
    schema = shoal.Schema(quasi={"town": shoal.Nominal()}, sensitive={"illness": shoal.Nominal()})
    rows = pl.DataFrame({"town": ["Ulm", "Ulm", "ulm", "ulm"], "illness": ["flu", "ulcer", "flu", "Flu"]})
    manifest = shoal.anonymize(rows, schema, shoal.Mondrian(k=2), normalise=True).manifest
    found = input_rows(manifest, rows)
    assert found["town"].to_list() == ["Ulm", "Ulm", "ulm", "ulm"]
    assert found["illness"].to_list() == ["flu", "ulcer", "flu", "flu"]


def test_columns_that_lack_are_named_together():
    refused(made(), ROWS.select(pl.lit(1).alias("x")), "has no column age, illness")
