"""Where the real data is: `SHOAL_DATA`, or `shared/data` beside the checkout."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import shoal

ADULT_QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
ADULT_TRAIN = 32_561


def data_folder() -> Path:
    """The folder with the data sets; without it the test is skipped, or fails where nothing may be skipped."""
    folder = Path(os.environ.get("SHOAL_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not (folder / "adult").is_dir():
        message = "real data not found: set SHOAL_DATA to the folder that holds adult/"
        if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return folder


def adult() -> pl.DataFrame:
    """The rows of Adult's training part without missing cells, all columns as text."""
    return _adult()[0]


def adult_test() -> pl.DataFrame:
    """Those of its test part, who are other people."""
    return _adult()[1]


@cache
def _adult() -> tuple[pl.DataFrame, pl.DataFrame]:
    frame = pl.read_csv(data_folder() / "adult" / "adult.csv.gz", infer_schema=False, null_values="?")
    return frame.head(ADULT_TRAIN).drop_nulls(), frame.tail(-ADULT_TRAIN).drop_nulls()


@cache
def census() -> pl.DataFrame:
    """The CASC reference file Census: 1,080 rows of 13 numbers."""
    frame = pl.read_csv(data_folder() / "casc" / "census.csv")
    assert (frame.shape, frame["AGI"].sum(), frame["FICA"].max()) == ((1080, 13), 60720579, 7932)
    return frame


def adult_schema(rest: str = "drop") -> shoal.Schema:
    """The eight usual quasi-identifiers, age a number and the others in their hierarchies."""
    folder = data_folder() / "adult" / "hierarchies"
    trees = {name: shoal.Nominal(shoal.Hierarchy.from_csv(folder / f"{name}.csv")) for name in ADULT_QUASI[1:]}
    return shoal.Schema(quasi={"age": shoal.Numeric(), **trees}, sensitive=["income"], rest=rest)
