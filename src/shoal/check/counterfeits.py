"""Rows that stand for nobody, as a repeated release counts them: whether the counts can be, and who is left."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.errors import Problems, counted
from shoal.release.manifest import Manifest


def check_counterfeits(tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems) -> None:
    """Every class says how many of its rows are counterfeits, fewer than all, and they are as many as stated."""
    stated, layout = manifest.rows.counterfeits, manifest.layout
    if not layout.laid_out.has_counterfeits:
        if stated:
            problems.add("rows", "has counterfeits, but releases of this shape have none")
        return
    if len(layout.passed) != 1 or layout.passed[0].role != "sensitive":
        problems.add("layout", "must publish exactly one column besides the quasi-identifiers, the sensitive one")
    counts = _counts(tables, manifest)
    if not (counts["fakes"].is_not_null() & (counts["fakes"] >= 0) & (counts["people"] >= 1)).fill_null(False).all():
        problems.add("table 'classes'", "has a class without a number of counterfeits, or with counterfeits only")
    elif counts["fakes"].sum() != stated:
        problems.add(
            "table 'classes'",
            f"counts {counted(int(counts['fakes'].sum()), 'counterfeit')}, the manifest says {stated:,}",
        )


def fewest_people(tables: Mapping[str, pl.DataFrame], manifest: Manifest) -> int:
    """Rows of the smallest class that stand for somebody."""
    return int(_counts(tables, manifest)["people"].to_numpy().min(initial=0 if manifest.rows.shown == 0 else 2**62))


def _counts(tables: Mapping[str, pl.DataFrame], manifest: Manifest) -> pl.DataFrame:
    """Counterfeits and people of each class; null where a number is none."""
    numbers = tables[str(manifest.layout.class_table)].select(
        pl.col("size", "counterfeits").cast(pl.Int64, strict=False)
    )
    return numbers.select(
        pl.col("counterfeits").alias("fakes"), (pl.col("size") - pl.col("counterfeits")).alias("people")
    )
