"""Files are checked by their bytes: whole, or as a copy of tables that were checked when they were made."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import polars as pl
import pytest

import shoal
from shoal.published import release as release_module
from shoal.published import writing

FRAME = pl.DataFrame({"age": [20, 21, 22, 40, 41, 42], "disease": ["flu", "cold", "ulcer"] * 2})
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})


@pytest.fixture
def release():
    return shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=3), seed=1)


@pytest.fixture
def whole(monkeypatch):
    """How often a directory was checked as if nothing were known of it."""
    calls, check = [], release_module.check_directory
    monkeypatch.setattr(release_module, "check_directory", lambda *given: (calls.append(given), check(*given)))
    return calls


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_as_it_was_made_is_compared(release, whole, form, tmp_path):
    release.write(tmp_path / "out", format=form)
    assert not whole
    assert shoal.read_release(tmp_path / "out").verify().k == 3


def test_with_another_manifest_everything_is_checked(release, whole, tmp_path):
    claimed = release.manifest.model_copy(update={"achieved": {"k": 4}})
    with pytest.raises(shoal.GuaranteeError, match="states other values"):
        replace(release, manifest=claimed).write(tmp_path / "out")
    assert whole
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_with_other_tables_it_is_refused(release, form, tmp_path):
    frames = {"table": release.frames["table"].with_columns(age=pl.Series(["[20, 42]"] * 6))}
    with pytest.raises(shoal.GuaranteeError, match="its content differs"):
        replace(release, frames=frames).write(tmp_path / "out", format=form)
    assert not (tmp_path / "out").exists()


def test_a_table_that_is_written_wrong_is_refused(release, monkeypatch, tmp_path):
    write = writing.write_csv
    monkeypatch.setattr(writing, "write_csv", lambda frame, path: write(frame.reverse(), path))
    with pytest.raises(shoal.GuaranteeError, match="its content differs"):
        release.write(tmp_path / "out")


def test_a_file_that_the_disk_keeps_in_another_notation_is_refused(release, monkeypatch, tmp_path):
    write = writing.write_csv

    def quoted(frame, path):
        sha256 = write(frame, path)
        frame.write_csv(path, quote_style="always")
        return sha256

    monkeypatch.setattr(writing, "write_csv", quoted)
    with pytest.raises(shoal.GuaranteeError, match="its SHA-256 differs"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "cells",
    [
        [1.0, 2.5, 1e16, 1e-7, 0.1, 3.25], [True, False, None, True, False, True], [None, "a", "b,c", '"', "d\ne", "f"],
        [datetime(2020, 1, day, 7, 30) for day in range(1, 7)], [date(2020, 1, day) for day in range(1, 7)],
    ],
)  # fmt: skip
def test_files_are_written_as_the_checker_writes_them(cells, tmp_path):
    frame = pl.DataFrame({"age": [20, 21, 22, 40, 41, 42], "cells": cells})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["cells"])
    shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=1).write(tmp_path / "out")
    assert shoal.read_release(tmp_path / "out").verify().k == 3  # which compares every byte


def test_promises_that_need_more_than_the_tables_are_checked_without_it(whole, tmp_path):
    aliased = shoal.anonymize(
        FRAME, SCHEMA, shoal.Mondrian(k=3), publish=[shoal.Generalize(), shoal.Aliases("disease", default=3)], seed=1
    )
    aliased.write(tmp_path / "out", passphrase="correct horse battery")
    assert whole
