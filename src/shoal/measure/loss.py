"""Information loss of generalised cells."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from shoal.check.cells import ReadColumn, read_column
from shoal.release.manifest import Manifest


def loss_figures(tables: Mapping[str, pl.DataFrame], manifest: Manifest) -> dict[str, float]:
    """Total information loss and normalised certainty penalty.

    `il_total` sums, over rows and quasi-identifiers, the share of the column a cell leaves open, by tree height
    (Byun et al. 2007); `il` is its mean. `ncp` is the same mean by leaf count (Xu et al. 2006), also known as GCP, and
    `ncp:<column>` that of one column. Sets count (values - 1)/(domain - 1) in both.
    """
    if any(column.form == "value" for column in manifest.layout.quasi):
        return {}  # one value that stands for many does not say how far it is from them
    columns = read_columns(tables, manifest)
    left_out = manifest.rows.charged
    cells = (manifest.rows.shown + left_out) * len(columns)
    height = math.fsum(_total(column, leaves=False) + left_out for column in columns)
    by_column = {column.column.name: _total(column, leaves=True) + left_out for column in columns}
    n_rows = max(cells // max(len(columns), 1), 1)
    figures = {"il_total": height, "il": height / max(cells, 1), "ncp": math.fsum(by_column.values()) / max(cells, 1)}
    return figures | {f"ncp:{name}": total / n_rows for name, total in by_column.items()}


def read_columns(tables: Mapping[str, pl.DataFrame], manifest: Manifest) -> list[ReadColumn]:
    """The quasi-identifier cells of a release, whatever its shape."""
    if name := manifest.layout.class_table:
        return [read_column(column, tables[name], weight="size") for column in manifest.layout.quasi]
    return [read_column(column, tables["table"]) for column in manifest.layout.quasi]


def _total(column: ReadColumn, *, leaves: bool) -> float:
    pairs = zip(column.losses, column.counts, strict=True)
    # fsum: the same figure to the last bit, whatever order the cells come in
    return math.fsum(count * (loss.leaves if leaves else loss.height) for loss, count in pairs)
