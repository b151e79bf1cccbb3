"""Reconstruction error of buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.measure.base import Given, Measure, Sizes


@dataclass(frozen=True)
class ReconstructionError(Measure):
    """How far what a bucket says of its rows is from their own sensitive values."""

    name: ClassVar[str] = "rce"
    title: ClassVar[str] = "reconstruction error (RCE)"
    formula: ClassVar[str] = (
        "for every row, the squared distance between its own sensitive value and what its bucket B says of it, (1 "
        "- c/|B|)² + the sum of (c'/|B|)² over the other values, c and c' being how often values are in the "
        "bucket; summed over the rows, a row left out counting 2"
    )
    reference: ClassVar[str] = "Xiao, Tao, Anatomy: simple and effective privacy preservation, VLDB 2006"
    shapes: ClassVar[tuple[str, ...]] = ("buckets",)
    suffixes: ClassVar[tuple[str, ...]] = (":<column>",)

    def entries(self, given: Given) -> dict[str, float]:
        """The sum over rows, for each sensitive column."""
        columns = given.manifest.layout.sensitive
        return {f"{self.name}:{column}": _error(given, column) + 2.0 * given.charged for column in columns}


def _error(given: Given, column: str) -> float:
    """Over buckets of n rows, the sum of n (1 - sum of squared shares of the values)."""
    size, squares = given.squares.get(column) or _squares(given.rows, column)
    # Whole numbers over whole numbers, in one order: the same figure whatever order the rows come in.
    return float(size.sum() - np.sort(squares / size).sum())


def _squares(rows: pl.DataFrame, column: str) -> tuple[Sizes, Sizes]:
    """The size of each bucket, and the sum of the squares of how often each value is in it."""
    counts = rows.group_by("bucket", column).len("times")
    by_bucket = counts.group_by("bucket").agg(
        pl.col("times").sum().alias("size"), (pl.col("times").cast(pl.Int64) ** 2).sum().alias("squares")
    )
    return by_bucket["size"].to_numpy().astype(np.int64), by_bucket["squares"].to_numpy().astype(np.int64)
