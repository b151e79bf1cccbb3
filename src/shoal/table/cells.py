"""Which types of columns hold cells, and what a fingerprint is told of columns that hold anything else."""

from __future__ import annotations

import polars as pl


def are_cells(dtype: pl.DataType) -> bool:
    """Whether values of a type are cells of a table: texts, numbers, truth values, days and times.

    >>> [are_cells(dtype) for dtype in (pl.String(), pl.Int8(), pl.Date(), pl.Binary(), pl.List(pl.Int8))]
    [True, True, True, False, False]
    """
    others = dtype.is_nested() or dtype.is_extension()
    return not others and dtype not in (pl.Object, pl.Binary, pl.Duration)


def type_name(dtype: pl.DataType) -> str:
    """What a message calls a type: the types of its parts may have names of people in them."""
    return dtype.ext_name() if isinstance(dtype, pl.BaseExtension) else str(dtype.base_type())


def as_told(series: pl.Series) -> pl.Series:
    """A column that is not published, as cells: whatever else it holds, as texts that differ where its values do.

    Python's own objects, and bytes inside of lists, have no text that is the same on another day: of these it is only
    told which are missing.

    >>> as_told(pl.Series([[1, 2], None])).to_list(), as_told(pl.Series([b"ab", b""])).to_list()
    (['{"":[1,2]}', None], ['YWI=', ''])
    """
    if are_cells(series.dtype):
        return series
    if isinstance(series.dtype, pl.BaseExtension):
        return as_told(series.ext.storage())
    if series.dtype == pl.Binary:
        return series.bin.encode("base64")
    cells = series.alias("").to_frame()
    text = pl.struct(pl.all()).struct.json_encode() if _has_json(series.dtype) else pl.lit("there")
    return cells.select(pl.when(series.is_not_null()).then(text).alias(series.name)).to_series()


def _has_json(dtype: pl.DataType) -> bool:
    """Whether values of a type, and all inside of them, can be written as JSON."""
    if isinstance(dtype, pl.Struct):
        return all(_has_json(one.dtype) for one in dtype.fields)  # type: ignore[arg-type]
    if isinstance(dtype, (pl.List, pl.Array)):
        return _has_json(dtype.inner)  # type: ignore[arg-type]
    return dtype == pl.Duration or are_cells(dtype)
