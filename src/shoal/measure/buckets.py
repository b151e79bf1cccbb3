"""Figures of buckets: quasi-identifiers are shown as they are, and whose a sensitive value is stays open."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.errors import Problems
from shoal.measure.classes import class_figures, class_sizes
from shoal.measure.classification import classification_figures
from shoal.measure.loss import loss_figures
from shoal.measure.risk import risk_figures
from shoal.release.manifest import Manifest


def bucket_figures(tables: Mapping[str, pl.DataFrame], manifest: Manifest, label: str | None) -> dict[str, float]:
    """Loss, bucket sizes, reconstruction error and risk.

    `rce:<column>` is the reconstruction error (Xiao and Tao 2006): for every row, the squared distance between its own
    sensitive value and what the release says of it, a row left out counting 2; `rce_bound:<column>` is the least that
    any buckets with that promise can reach. The risk is that of finding a person's row among the quasi-identifiers,
    which are shown; not that of finding the sensitive value.
    """
    layout = manifest.layout
    rows = layout.laid_out.rows(tables, layout, Problems())
    sizes = class_sizes(rows, manifest)
    purity = classification_figures(rows, manifest, label)
    seen = class_sizes(tables["table"], manifest, layout.cell_columns)
    figures = loss_figures(tables, manifest) | class_figures(sizes, manifest)
    for name in layout.sensitive:
        figures[f"rce:{name}"] = _reconstruction_error(rows, name) + 2.0 * manifest.rows.charged
    for promise in manifest.promise:
        if promise.get("model") == "alpha-k" and promise.get("values") is None:
            figures[f"rce_bound:{promise['column']}"] = rows.height * (1.0 - float(str(promise["alpha"])))
    return figures | purity | risk_figures(seen)


def _reconstruction_error(rows: pl.DataFrame, name: str) -> float:
    """Over buckets of n rows, the sum of n (1 - sum of squared shares of the values)."""
    counts = rows.group_by("bucket", name).len("times")
    by_bucket = counts.group_by("bucket").agg(
        pl.col("times").sum().alias("size"), (pl.col("times").cast(pl.Int64) ** 2).sum().alias("squares")
    )
    size, squares = by_bucket["size"].to_numpy().astype(np.int64), by_bucket["squares"].to_numpy().astype(np.int64)
    # Whole numbers over whole numbers, in one order: the same figure whatever order the rows come in.
    return float(size.sum() - np.sort(squares / size).sum())
