"""How well the classes of a release keep the values of a column apart."""

from __future__ import annotations

import polars as pl

from shoal.errors import ParameterError, Problem, did_you_mean
from shoal.release.manifest import Manifest


def classification_figures(table: pl.DataFrame, manifest: Manifest, label: str | None = None) -> dict[str, float]:
    """Classification metric (Iyengar 2002) of sensitive categories, and of one further column.

    `cm:<column>` is the share of rows that are left out or do not carry the most frequent value of their class: the
    mean, where some authors report the sum. A missing value is a value of its own.
    """
    passed = {column.name: column for column in manifest.layout.passed}
    if label is not None and label not in passed:
        fix = did_you_mean(label, passed, "name a sensitive or neutral column")
        raise ParameterError(Problem("label=", f"{label!r} is not a column published as it is", fix))
    sensitive = [name for name, column in passed.items() if column.role == "sensitive" and column.kind != "numeric"]
    names = dict.fromkeys([*sensitive, *([] if label is None else [label])])
    return {f"cm:{name}": _penalised(table, manifest, name) for name in names}


def _penalised(table: pl.DataFrame, manifest: Manifest, name: str) -> float:
    """Share of rows whose value is not the most frequent one of their class."""
    keys = manifest.layout.class_columns
    texts = table.select(pl.col(keys).cast(pl.String), pl.col(name).alias("\0label"))
    counts = texts.group_by(*keys, "\0label").agg(pl.len().alias("\0count"))
    leading = counts.group_by(keys).agg(pl.col("\0count").max())["\0count"].to_numpy().sum()
    n_rows = manifest.rows.shown + manifest.rows.charged
    return float(n_rows - leading) / max(n_rows, 1)
