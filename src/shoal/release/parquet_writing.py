"""Tables written as Parquet files that hold the table and nothing else.

A Parquet file has many places beside its cells: metadata by key, statistics, indexes, filters, checksums, dictionaries
with more than what is used. Here none of them is written, and where the format leaves a choice it is made once for all:
row groups of one size, one dictionary and one page of numbers to a column of a row group, no compression. The bytes
follow from the table and the version of pyarrow.
"""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import Problem, SchemaError

ROWS = 16_384
"""Rows of a row group. So few that their dictionary numbers fill one page in every version of pyarrow."""

_ARROW = {
    pl.String: pa.string(),
    pl.Int64: pa.int64(),
    pl.Float64: pa.float64(),
    pl.Boolean: pa.bool_(),
    pl.Date: pa.date32(),
    pl.Datetime("us"): pa.timestamp("us"),
}
_SMALLER = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)
_LARGER = (pl.UInt64, pl.Int128, pl.UInt128)
_NO_TABLE_TYPES = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary)
_OPTIONS = {
    "version": "2.6",
    "store_schema": False,
    "compression": "NONE",
    "use_dictionary": True,
    "dictionary_pagesize_limit": 2**31 - 1,  # a dictionary is never given up halfway
    "use_byte_stream_split": False,
    "data_page_version": "1.0",
    "write_statistics": False,
    "write_page_index": False,
    "write_page_checksum": False,
    "use_deprecated_int96_timestamps": False,
}


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a table; the same table gives the same bytes, whenever and wherever the same pyarrow writes it.

    Columns are text, whole numbers, numbers, truth values, dates, or dates with time of day; `as_stored` says what
    becomes of others.
    """
    if frame.height and not frame.width:
        raise SchemaError(Problem("table", "has rows, but no column"))
    stored = as_stored(frame)
    schema = pa.schema([pa.field(name, _ARROW[dtype]) for name, dtype in stored.schema.items()])
    with path.open("wb") as file, pq.ParquetWriter(file, schema, **_OPTIONS) as writer:
        for start in range(0, stored.height, ROWS):
            part = stored.slice(start, ROWS).rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
            writer.write_table(part.cast(schema), row_group_size=ROWS)


def as_stored(frame: pl.DataFrame) -> pl.DataFrame:
    """Give the table as it is read back: columns of other types become whole numbers, numbers, or else text.

    A number that is none ("NaN") and a zero have one form only, for the bits behind them could say something.

    >>> as_stored(pl.DataFrame({"n": pl.Series([1, 2], dtype=pl.Int8), "z": [-0.0, 1.5]}))["z"].to_list()
    [0.0, 1.5]
    """
    return pl.DataFrame({column.name: _stored(column.alias("cells"), column.name) for column in frame.iter_columns()})


def _stored(column: pl.Series, name: str) -> pl.Series:
    """The cells do not bear the name of their column: polars reads some names as patterns."""
    dtype = column.dtype
    if dtype in _NO_TABLE_TYPES:
        raise SchemaError(Problem(f"column {name!r}", "holds no single values", "publish it as text"))
    if dtype.is_float():
        return _plain_floats(column.cast(pl.Float64))
    if dtype in _ARROW:
        return column
    if dtype in _SMALLER:
        return column.cast(pl.Int64)
    if dtype in _LARGER:
        narrow = column.cast(pl.Int64, strict=False)
        if narrow.null_count() == column.null_count():
            return narrow
    if dtype == pl.Duration:
        return column.dt.to_string("iso")
    return column.cast(pl.String)


def _plain_floats(column: pl.Series) -> pl.Series:
    cell = pl.col("cells")
    plain = pl.when(cell.is_nan()).then(math.nan).when(cell == 0).then(0.0).otherwise(cell)
    return column.to_frame().select(plain.alias("cells")).to_series()
