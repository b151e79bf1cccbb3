"""Figures of class sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.release.manifest import Manifest

Sizes = npt.NDArray[np.int64]


def class_sizes(table: pl.DataFrame, manifest: Manifest, columns: Sequence[str] | None = None) -> Sizes:
    """Number of rows of each class, smallest first; of rows with equal cells in some columns, where they are given."""
    columns = manifest.layout.class_columns if columns is None else list(columns)
    texts = table.select(pl.col(columns).cast(pl.String))
    counts = texts.group_by(columns).agg(pl.len().alias("\0count"))["\0count"].to_numpy()
    return np.sort(counts).astype(np.int64)


def people_of_classes(tables: Mapping[str, pl.DataFrame], manifest: Manifest, sizes: Sizes) -> Sizes:
    """Number of rows of each class that stand for somebody, smallest first."""
    if "counterfeits" not in manifest.layout.class_facts:
        return sizes
    classes = tables[str(manifest.layout.class_table)]
    people = classes["size"].cast(pl.Int64) - classes["counterfeits"].cast(pl.Int64)
    return np.sort(people.to_numpy()).astype(np.int64)


def class_figures(sizes: Sizes, manifest: Manifest) -> dict[str, float]:
    """Number and sizes of classes, discernibility and normalised average class size.

    `discernibility` sums the squared class sizes, and charges each row left out the whole table; `c_avg` is the
    average class size over the promised k.
    """
    left_out = manifest.rows.charged
    n_rows = manifest.rows.shown + left_out
    k = max(
        (int(str(promise["k"])) for promise in manifest.promise if promise.get("model") == "k-anonymity"), default=0
    )
    figures: dict[str, float] = {
        "classes": len(sizes),
        "class_size_min": int(sizes.min(initial=np.iinfo(np.int64).max)) if len(sizes) else 0,
        "class_size_median": float(np.median(sizes)) if len(sizes) else 0.0,
        "class_size_max": int(sizes.max(initial=0)),
        "discernibility": int((sizes**2).sum()) + n_rows * left_out,
    }
    if k and len(sizes):
        figures["c_avg"] = int(sizes.sum()) / len(sizes) / k
    return figures
