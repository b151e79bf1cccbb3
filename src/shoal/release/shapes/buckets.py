"""Buckets read back: which sensitive values each holds, and whether that fits the rows that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from shoal.errors import Problems
from shoal.registry.declarations import Protects
from shoal.release.shapes.base import Part, Shape, Tables

if TYPE_CHECKING:
    from shoal.release.manifest import Layout


class BucketTables(Shape):
    """Quasi-identifiers as they are, and the sensitive values of every bucket in a table of their own."""

    name: ClassVar[str] = "buckets"
    protects: ClassVar[Protects] = "links"
    forms: ClassVar[tuple[str, ...]] = ("raw",)
    reading: ClassVar[str] = (
        "rows with the same bucket number form one bucket; their quasi-identifiers are published unchanged"
    )
    sensitive_table: ClassVar[str | None] = "sensitive"
    added: ClassVar[Mapping[str, type[pl.DataType]]] = {"bucket": pl.Int64, "count": pl.Int64}

    def contents(self, layout: Layout) -> dict[str, list[str]]:
        """The rows without their sensitive values, and the values of every bucket, counted."""
        others = [column.name for column in layout.passed if column.role != "sensitive"]
        return {"table": ["bucket", *layout.cell_columns, *others], "sensitive": ["bucket", *layout.sensitive, "count"]}

    def class_columns(self, layout: Layout) -> list[str]:  # noqa: ARG002
        """The bucket."""
        return ["bucket"]

    def cells(self, tables: Tables, layout: Layout, problems: Problems) -> pl.DataFrame:  # noqa: ARG002
        """The rows as they are shown."""
        return tables["table"]

    def rows(self, tables: Tables, layout: Layout, problems: Problems) -> pl.DataFrame:
        """One row per published person: the bucket, and sensitive values that somebody in it has."""
        return rows_of_buckets(tables, layout, problems)

    def parts(self, tables: Tables, layout: Layout) -> list[Part]:
        """The rows, and the sensitive values."""
        values, rows = rows_of_buckets(tables, layout, Problems()), tables["table"]
        return [(rows.drop("bucket"), rows["bucket"]), (values.select(layout.sensitive), values["bucket"])]


def rows_of_buckets(tables: Tables, layout: Layout, problems: Problems) -> pl.DataFrame:
    """One row per published person: the bucket, and sensitive values that somebody in it has.

    Neutral columns stand beside them, of somebody in the table. Which quasi-identifiers belong to a row, nothing says.
    """
    table, values = tables["table"], tables["sensitive"]
    counts = values["count"].cast(pl.String).cast(pl.Int64, strict=False)
    if not (counts > 0).fill_null(value=False).all():
        problems.add("table 'sensitive'", "has a count that is not a positive whole number")
        return table.clear()
    whole = table["bucket"].dtype == values["bucket"].dtype == pl.Int64  # quicker than texts
    bucket = pl.col("bucket").cast(pl.Int64 if whole else pl.String)
    spread = values.with_columns(bucket, counts.alias("count"))
    if spread.select(pl.struct("bucket", *layout.sensitive).is_duplicated().any()).item():
        problems.add("table 'sensitive'", "lists the same values of a bucket more than once")
    shown = table.select(bucket).group_by("bucket").len()
    counted = spread.group_by("bucket").agg(pl.col("count").sum())
    both = shown.join(counted, on="bucket", how="full", coalesce=True, nulls_equal=True)
    if both.filter(pl.col("len").cast(pl.Int64).ne_missing(pl.col("count"))).height:
        problems.add("table 'sensitive'", "its counts do not add up to the rows of each bucket")
        return table.clear()
    rows = spread.drop("count")[np.repeat(np.arange(spread.height), counts.to_numpy())]
    rows = rows.with_columns(pl.col("bucket").cast(pl.String))
    others = [column.name for column in layout.passed if column.role != "sensitive"]
    return pl.concat([rows, table.select(others)], how="horizontal")
