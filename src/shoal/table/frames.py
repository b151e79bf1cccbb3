"""Frames at the edge: polars, pandas or pyarrow comes in, and the same type goes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, time
from decimal import Decimal
from numbers import Real
from typing import Any
from uuid import UUID

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import Problem, SourceError, some
from shoal.machine.extras import load
from shoal.table.names import Names


def to_polars(frame: Any) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """Take a frame in, without changing it, and give back how a result becomes that type again.

    An index of a pandas frame is no column and is not read. Lazy frames are collected. What else offers its rows as a
    stream of Arrow, as a relation of DuckDB does, is read, and comes back as a frame of polars.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame, same
    try:
        known = nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        check_names([str(name) for name in frame.columns])  # says which
        raise
    except TypeError:
        if (streamed := _from_stream(frame)) is not None:
            return to_polars(streamed)[0], same
        text = f"needs a polars, pandas or pyarrow frame, got {type(frame).__name__}"
        raise SourceError(Problem("table", text, "read files with shoal.read(path)")) from None
    arrow = known.implementation.is_pyarrow()
    check_names([str(name) for name in (frame.column_names if arrow else frame.columns)])
    if known.implementation.is_pandas():
        return _from_pandas(frame), _to_pandas
    return (from_arrow(frame), _to_arrow) if arrow else (pl.DataFrame(known.to_polars()), same)


def from_arrow(rows: Any, where: str = "table") -> pl.DataFrame:
    """A table of Arrow, or a batch of its rows.

    Times of a zone that polars does not know, such as those at +05:30, are in UTC: each is the same instant. A column
    of a type that polars does not have at all is an error that names it.
    """
    import pyarrow as pa

    strange = [place for place, field in enumerate(rows.schema) if not is_known(field.type)]
    odd = [place for place in strange if not pa.types.is_timestamp(rows.schema.field(place).type)]
    if odd:
        what = "has columns of a type that cannot be read: "
        what += Names(rows.schema.names).listed([rows.schema.names[place] for place in odd])
        raise SourceError(Problem(where, what, "convert them to text"))
    for place in strange:
        field = rows.schema.field(place)
        rows = rows.set_column(place, field.name, rows.column(place).cast(pa.timestamp(field.type.unit, "UTC")))
    return _uuids_as_text(pl.DataFrame(rows), rows.schema)


def is_known(kind: Any) -> bool:
    """Whether polars has a type of Arrow; it is not asked of the one that ends in a panic, which is no Exception."""
    import pyarrow as pa

    if pa.types.is_decimal256(kind):
        return False
    try:
        pl.from_arrow(pa.array([], kind))
    except Exception:
        return False
    return True


def is_uuid(kind: Any) -> bool:
    """Whether a type of Arrow is that of UUIDs."""
    return str(kind) == "extension<arrow.uuid>"


def _uuids_as_text(frame: pl.DataFrame, schema: Any) -> pl.DataFrame:
    """UUIDs of a schema of Arrow as the texts that they are written as; polars has their bytes, which are no cells."""
    names = [field.name for field in schema if is_uuid(field.type)]
    groups, texts = r"(.{8})(.{4})(.{4})(.{4})(.{12})", "${1}-${2}-${3}-${4}-${5}"
    return frame.with_columns(frame[name].bin.encode("hex").str.replace(groups, texts) for name in names)


def declared_orders(frame: Any) -> dict[str, tuple[str, ...]]:
    """The order of categories in columns that declare one, lowest first: ordered ones of pandas and of pyarrow."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):  # polars has no such columns
        return {}
    known = nw.from_native(frame, eager_only=True, pass_through=True)
    kind = getattr(known, "implementation", nw.Implementation.UNKNOWN)
    found: dict[str, Any] = {}
    if kind.is_pandas():
        types = zip(frame.columns, frame.dtypes, strict=True)
        found = {str(name): one.categories for name, one in types if getattr(one, "ordered", False) is True}
    elif kind.is_pyarrow():
        columns = zip(frame.column_names, frame.itercolumns(), strict=True)
        ordered = ((name, one) for name, one in columns if getattr(one.type, "ordered", False) and one.num_chunks)
        found = {name: one.unify_dictionaries().chunk(0).dictionary.to_pylist() for name, one in ordered}
    return {name: tuple(map(str, categories)) for name, categories in found.items()}


def check_names(names: list[str]) -> None:
    """Refuse names that are empty, used twice or patterns: which column is meant must never be a guess.

    Columns are named by their number: the first line of a file without a header would be shown otherwise.
    """
    empty = [place + 1 for place, name in enumerate(names) if not name.strip()]
    if empty:
        raise SourceError(Problem("table", f"has no name for column number {some(empty)}", "give every column a name"))
    times = Counter(names)
    doubled = [place + 1 for place, name in enumerate(names) if times[name] > 1]
    if doubled:
        what = f"has column names more than once: columns {some(doubled)}"
        raise SourceError(Problem("table", what, "rename them"))
    odd = [place + 1 for place, name in enumerate(names) if "\0" in name or name.startswith("\ufeff")]
    if odd:
        raise SourceError(
            Problem(
                "table", f"has a character that is not allowed in a name, in column number {some(odd)}", "rename it"
            )
        )
    patterns = [place + 1 for place, name in enumerate(names) if _is_pattern(name)]
    if patterns:
        what = f"has a name that looks like a pattern, in column number {some(patterns)}"
        raise SourceError(Problem("table", what, "rename it"))


def _is_pattern(name: str) -> bool:
    """Whether polars would take a name for all columns, or for those that match."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def _from_stream(frame: Any) -> Any:
    """A table of Arrow from whatever offers its rows so; None for what does not, or offers one column alone."""
    if not hasattr(frame, "__arrow_c_stream__"):
        return None
    import pyarrow as pa

    try:
        return pa.table(frame)
    except Exception:  # a column, or a stream that breaks off: its messages may hold cells
        return None


def _from_pandas(frame: Any) -> pl.DataFrame:
    """Column by column, so that a column of mixed Python objects becomes text instead of failing."""
    if frame.columns.nlevels > 1:
        fix = "flatten them: table.columns = ['_'.join(map(str, one)) for one in table.columns]"
        raise SourceError(Problem("table", f"has column names of {frame.columns.nlevels} levels", fix))
    columns, names = {}, Names(map(str, frame.columns))
    for place, name in enumerate(frame.columns):
        series = frame.iloc[:, place]
        try:
            found = pl.Series(str(name), pl.from_pandas(_in_known_zone(series)))
            # Intervals and periods, as they are or as categories; UUIDs, which would become bytes.
            odd = found.dtype.is_extension() or (found.dtype == pl.Binary and _are_uuids(series))
            columns[str(name)] = _as_texts(str(name), series, names) if odd else found
        except Exception:  # the messages of the conversion hold cell values, so they must not travel on
            columns[str(name)] = _as_texts(str(name), series, names)
    return pl.DataFrame(columns)


def _in_known_zone(series: Any) -> Any:
    """Times of a zone that polars does not know, such as those at +05:30, in UTC; all else as it is."""
    import pyarrow as pa

    zone = getattr(getattr(series, "dt", None), "tz", None)
    return series if zone is None or is_known(pa.timestamp("us", zone)) else series.dt.tz_convert("UTC")


def _are_uuids(series: Any) -> bool:
    return bool(series.dropna().map(lambda value: isinstance(value, UUID)).all())


def _as_texts(name: str, series: Any, names: Names) -> pl.Series:
    """A column of mixed objects as text."""
    try:
        places = None
        if hasattr(series, "cat"):  # taken out of its categories, an interval of whole numbers may have floats
            cells, places = [*series.cat.categories, None], series.cat.codes.tolist()
        else:
            missing = series.isna().tolist()
            cells = [None if gone else value for value, gone in zip(series.tolist(), missing, strict=True)]
        readable = _have_text(cells)
        if readable:
            cells = [None if cell is None else str(cell) for cell in cells]
        values = cells if places is None else [cells[place] for place in places]
        return pl.Series(name, values, dtype=pl.String if readable else pl.Object)  # who publishes an object is told
    except Exception:
        problem = Problem(names.where(name), "has cells that cannot be read as text", "convert the column first")
    raise SourceError(problem)


def _have_text(cells: list[Any]) -> bool:
    """Whether all objects of a column are texts, numbers, truth values, days or times; nothing else has a text."""
    import pandas as pd

    cell = (str, Real, Decimal, np.bool_, np.datetime64, date, time, UUID, pd.Interval, pd.Period, type(None))
    return all(issubclass(kind, cell) for kind in {type(one) for one in cells})


def same(frame: pl.DataFrame) -> pl.DataFrame:
    """Polars in, polars out."""
    return frame


def as_pandas(frame: pl.DataFrame, what: str) -> Any:
    """A frame of pandas, or an error that says how to install it: Shoal does without."""
    load("pandas", what=what)
    return frame.to_pandas()


def _to_pandas(frame: pl.DataFrame) -> Any:
    return frame.to_pandas()


def _to_arrow(frame: pl.DataFrame) -> Any:
    return frame.to_arrow()
