"""What the holder knows of the quasi-identifiers, where published cells say less: whole trees, and what `*` hides."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.measure.base import Given
from shoal.publish.covers import published_nodes
from shoal.release.manifest import QuasiColumn
from shoal.table.prepare import Table
from shoal.table.schema import Ordinal, has_days
from shoal.table.shown import only_rows


def whole_columns(given: Given, table: Table, kept: npt.NDArray[np.bool_]) -> tuple[QuasiColumn, ...]:
    """The quasi-identifiers as the published rows of a table have them; those of the layout, where it says all."""
    quasi = given.manifest.layout.quasi
    bounded = {column.name for column in quasi if _is_bounded(table, column)}
    if not bounded:
        return quasi
    shown, cells = only_rows(table, kept), given.cells
    return tuple(
        column.model_copy(update=_whole(column, cells, shown)) if column.name in bounded else column for column in quasi
    )


def _is_bounded(table: Table, column: QuasiColumn) -> bool:
    """Whether the loss of a column can only be bounded: its tree grew over the input, or `*` hides what it spans."""
    if column.form in ("interval", "set"):
        return column.has_missing
    kind = table.quasi[column.name]
    if column.form == "order":
        return has_days(kind) and column.has_missing
    return column.form == "node" and table.is_grown(column.name) and column.nodes[0].height > 1


def _whole(column: QuasiColumn, cells: pl.DataFrame, shown: Table) -> dict[str, Any]:
    """What the published rows say of a column, where its cells say less."""
    values = shown.frame[column.name].drop_nulls()
    if column.form == "interval":
        return {"low": values.min(), "high": values.max()}
    kind = shown.quasi[column.name]
    if column.form == "order" and isinstance(kind, Ordinal):
        return {"n_values": kind.width(values) + 1}
    if column.form == "set":
        return {"n_values": values.n_unique()}
    return {"nodes": published_nodes(cells.select(column.columns), shown.hierarchy(column.name))}


__all__ = ["whole_columns"]
