"""The small table of repeated releases that several tests use."""

from __future__ import annotations

import polars as pl

import shoal

SCHEMA = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
TWO = shoal.MInvariance(m=2, id="name", column="disease")


def table(**people: tuple[int | None, str | None]) -> pl.DataFrame:
    """Name, age and disease of some people."""
    rows = [(name, age, disease) for name, (age, disease) in people.items()]
    return pl.DataFrame(rows, schema={"name": pl.String, "age": pl.Int64, "disease": pl.String}, orient="row")


FIRST = table(a=(20, "flu"), b=(21, "gastritis"), c=(40, "flu"), d=(41, "bronchitis"))
