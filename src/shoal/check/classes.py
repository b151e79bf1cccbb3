"""A table of classes: each is there once, with the size that its rows have."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.errors import Problems
from shoal.release.manifest import Layout


def check_class_table(tables: Mapping[str, pl.DataFrame], layout: Layout, problems: Problems) -> None:
    """Note classes that are named twice, show the same as another, or have another size than their rows."""
    name = str(layout.class_table)
    classes = tables[name].with_columns(pl.col("class").cast(pl.String))
    rows = tables["table"].select(pl.col("class").cast(pl.String))
    if classes["class"].n_unique() != classes.height or classes["class"].null_count():
        problems.add(f"table {name!r}", "has a class number twice, or a row without one")
    if layout.laid_out.distinct_classes and classes.select(layout.cell_columns).is_duplicated().any():
        problems.add(f"table {name!r}", "has two classes with equal cells; they must be one class")
    counted = rows.group_by("class").agg(pl.len().cast(pl.String).alias("\0counted"))
    both = classes.select("class", "size").join(counted, on="class", how="full", coalesce=True)
    if both.filter(pl.col("size").cast(pl.String).ne_missing(pl.col("\0counted"))).height:
        problems.add(f"table {name!r}", "its sizes differ from the number of rows in each class")
    if "radius" in layout.class_facts:
        radius = classes["radius"].cast(pl.Float64, strict=False)
        if not (radius.is_finite() & (radius >= 0)).fill_null(value=False).all():
            problems.add(f"table {name!r}", "has a radius that is not a number of at least 0")
