"""The types of published columns: what their cells are, whether a file has types or holds texts."""

from __future__ import annotations

import polars as pl

from shoal.errors import GuaranteeError, Problem
from shoal.release.manifest import Layout, QuasiColumn

COUNT, NUMBER, NUMBERS, TRUTH, TEXT, ANY = "count", "number", "numbers", "truth", "text", "any"
TYPES: dict[str, tuple[type[pl.DataType], ...]] = {
    COUNT: (pl.Int64,), NUMBER: (pl.Float64,), NUMBERS: (pl.Int64, pl.Float64), TRUTH: (pl.Boolean,),
    TEXT: (pl.String,),
}  # fmt: skip
"""Types of the columns of a release; from CSV all are text."""


def column_sorts(layout: Layout) -> dict[str, str]:
    """What the cells of every published column are."""
    sorts = {name: COUNT if dtype == pl.Int64 else NUMBER for name, dtype in layout.laid_out.added.items()}
    for column in layout.quasi:
        sorts |= _sorts_of(column)
    for passed in layout.passed:
        sorts[passed.name] = ANY if passed.kind is None else NUMBERS if passed.kind == "numeric" else TEXT
    for one in layout.slices:
        sorts |= {shown: sorts[name] for name, shown in zip(one.attributes, one.columns, strict=False) if name in sorts}
    return sorts


def _sorts_of(column: QuasiColumn) -> dict[str, str]:
    if column.form == "raw":
        return {column.name: NUMBERS if column.kind == "numeric" else TEXT}
    if column.form == "value":
        first = NUMBER if column.kind == "numeric" else TEXT
        return dict(zip(column.columns, (first, TRUTH), strict=False))
    if len(column.columns) == 1:
        return {column.name: TEXT}
    end = TEXT if column.form == "order" else COUNT if column.whole else NUMBER
    return dict(zip(column.columns, (end, end, TRUTH), strict=False))


def typed_table(table: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Cast texts to the numbers and truth values that their columns hold; a cell that is none stops the reader."""
    sorts = column_sorts(layout)
    texts = [series for series in table if series.dtype == pl.String and sorts.get(series.name, ANY) in TYPES]
    try:
        return table.with_columns(_cast(series, sorts[series.name]) for series in texts)
    except pl.exceptions.PolarsError:
        raise GuaranteeError(Problem("table", "a cell does not fit its column")) from None


def _cast(texts: pl.Series, sort: str) -> pl.Series:
    if sort == TRUTH:
        return texts.replace_strict({"true": True, "false": False})
    exact = sort == NUMBERS and texts.cast(pl.Int64, strict=False).null_count() == texts.null_count()
    return texts.cast(pl.Int64 if exact else TYPES[sort][-1])
