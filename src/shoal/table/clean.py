"""One column in its canonical type, whatever file or frame it came in, missing cells null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problems, cells_are, counted, rows_at
from shoal.table.cells import are_cells, as_told, type_name
from shoal.table.marked_numbers import how_to_read
from shoal.table.markers import Markers, markers_of
from shoal.table.names import Names
from shoal.table.schema import Column, Numeric, Ordinal

FARTHEST_APART = 1e300
"""Numbers whose span comes near the largest float have no distances any more."""

AS_DATES = 'make it nominal with a hierarchy of dates: shoal.Nominal(shoal.Dates()), in a recipe {name = "dates"}'
"""What to do with dates in a column of numbers."""


def clean(
    series: pl.Series,
    column: Column | None,
    missing_values: Markers,
    problems: Problems,
    names: Names | None = None,
) -> pl.Series:
    """Bring a column into its canonical type and make its missing cells null.

    Numeric columns become Int64 when every value is whole, else Float64; ordinal and nominal ones become text. A column
    without a kind stays as it came, but for what a frame's type could not say: pandas has no whole numbers beside
    missing cells and no days without a time. One that is not published (no column, or an identifying one) may hold what
    is no cell: it becomes text.

    Cells with a problem are noted and become missing: checks that still run on the column then meet nothing that its
    kind does not have, and so can say nothing of it either. `names` says how to speak of a column that nobody named.
    """
    cells = canonical(series, column, missing_values, problems, names)
    kind = None if column is None else column.kind
    return in_order(cells, kind, problems) if isinstance(kind, Ordinal) else cells


def canonical(
    series: pl.Series,
    column: Column | None,
    missing_values: Markers,
    problems: Problems,
    names: Names | None = None,
) -> pl.Series:
    """As `clean`, but for categories that their order does not have: these stay as they are."""
    kind = None if column is None else column.kind
    if series.dtype in (pl.Categorical, pl.Enum, pl.Null):
        series = series.cast(pl.String)
    if column is None or column.role == "identifying":
        series = as_told(series)
    if not are_cells(series.dtype):
        what = f"holds {type_name(series.dtype)}, which cannot be a table cell"
        where = f"column {series.name!r}" if names is None else names.where(series.name)
        problems.add(where, what, "convert it to text")
        return _nothing(series, pl.Int64() if isinstance(kind, Numeric) else pl.String())
    if series.dtype.is_float() and series.dtype != pl.Float64:
        series = series.cast(pl.String).cast(pl.Float64)  # by its digits: 0.1 stays 0.1
    series = without_markers(series, missing_values, strip=isinstance(kind, Numeric))
    series = days_or_microseconds(series)
    if series.dtype == pl.Time and not isinstance(kind, Numeric):
        series = series.dt.to_string("%H:%M:%S%.f")  # all digits: as text, polars writes whole seconds alone
    if kind is None:
        return _as_it_came(series)
    if isinstance(kind, Numeric):
        return _numbers(series, problems)
    return category_texts(series)


def _nothing(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """A column of the same name and length without a value."""
    return pl.Series(series.name, [None] * len(series), dtype=dtype)


def _as_it_came(series: pl.Series) -> pl.Series:
    """The column, but for widths and marks of missing that depend on the type of frame."""
    if series.dtype.is_float():
        return _whole(series)
    if isinstance(series.dtype, pl.Decimal):
        series = _shortest(series, series.dtype.scale)
    if series.dtype.is_integer() and (whole := series.cast(pl.Int64, strict=False)).null_count() == series.null_count():
        return whole
    return series


def _shortest(decimals: pl.Series, scale: int) -> pl.Series:
    """Decimals with as many digits after the point as the cells need; whole numbers where they need none."""
    for fewer in range(scale + 1):
        shorter = decimals.cast(pl.Decimal(38, fewer), strict=False)
        if shorter.cast(decimals.dtype, strict=False).equals(decimals):
            whole = shorter.cast(pl.Int64, strict=False)
            return whole if fewer == 0 and whole.null_count() == decimals.null_count() else shorter
    return decimals


def without_markers(series: pl.Series, missing_values: Markers, *, strip: bool) -> pl.Series:
    """Null for every text, number or date that stands for a missing cell of the column."""
    markers = markers_of(missing_values, series.name)
    if series.dtype == pl.String:
        return _without(series.str.strip_chars() if strip else series, ["", *markers])
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype.is_numeric() and markers:
        numbers = pl.Series(markers, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
        return _without(series, numbers.to_list(), pl.Float64()) if len(numbers) else series
    if series.dtype in (pl.Date, pl.Datetime) and markers:
        return series.set(category_texts(series).is_in(markers).fill_null(False), None)
    return series


def _without(series: pl.Series, markers: Sequence[str | float], compared_as: pl.DataType | None = None) -> pl.Series:
    """Null in place of the markers."""
    cells = series if compared_as is None else series.cast(compared_as)
    marked = reduce(or_, (cells == marker for marker in markers))
    return series.set(marked.fill_null(False), None) if marked.any() else series


def days_or_microseconds(series: pl.Series) -> pl.Series:
    """Instants in one unit where that loses nothing, and days where every instant is a midnight; others as they are."""
    dtype = series.dtype
    if not isinstance(dtype, pl.Datetime):
        return series
    micro = series.cast(pl.Datetime("us", dtype.time_zone))
    if not micro.cast(dtype).equals(series):
        return series
    if dtype.time_zone is None and (micro.dt.truncate("1d") == micro).all():
        return micro.cast(pl.Date)
    return micro


def _whole(floats: pl.Series) -> pl.Series:
    """Whole numbers where all are whole, else the floats, without negative zeros."""
    return floats.cast(pl.Int64) if _are_whole(floats.drop_nulls()).all() else floats.set(floats == 0, 0.0)


def _are_whole(floats: pl.Series) -> pl.Series:
    """Which numbers are whole, and are written so."""
    return floats.is_finite() & (floats.floor() == floats) & (floats.abs() < 2**53)


def _numbers(series: pl.Series, problems: Problems) -> pl.Series:
    where = f"column {series.name!r}"
    if series.dtype.is_temporal():
        fix = "make it nominal" if series.dtype == pl.Time else AS_DATES
        problems.add(where, f"is numeric in the schema, but holds {series.dtype.base_type()}", fix)
        return _nothing(series, pl.Int64())
    if series.dtype.is_integer() or series.dtype in (pl.Boolean, pl.String):
        whole = series.cast(pl.Int64, strict=False)
        if whole.null_count() == series.null_count():
            return whole
        if series.dtype.is_integer():
            problems.add(where, "has whole numbers beyond 64 bits", "scale the column, or make it nominal")
            return whole
    floats = series.cast(pl.Float64, strict=False)
    bad = np.flatnonzero((series.is_not_null() & ~floats.is_finite().fill_null(False)).to_numpy())
    if len(bad):
        what = f"is numeric in the schema, but {cells_are(len(bad))} not numbers, at {rows_at(bad.tolist())}"
        problems.add(where, what, _as_numbers(series, bad))
        return _whole(floats.set(~floats.is_finite().fill_null(False), None))
    far = (floats.abs() > FARTHEST_APART).fill_null(False)
    if far.any():
        what = f"has numbers beyond {FARTHEST_APART:g}, too far apart to be compared"
        problems.add(where, what, "scale the column, or make it nominal")
        return _whole(floats.set(far, None))
    return _whole(floats)


def _as_numbers(series: pl.Series, bad: npt.NDArray[np.int64]) -> str:
    """What to do with the cells of a column that are not numbers."""
    odd = series[bad]
    if _are_dates(odd):
        return AS_DATES
    plain = series.filter(series.cast(pl.Float64, strict=False).is_not_null())
    return how_to_read(odd, plain) or "make it nominal, correct the cells, or name their marker in missing_values"


def _are_dates(cells: pl.Series) -> bool:
    """Whether texts are dates that a hierarchy of dates can read."""
    return cells.dtype == pl.String and bool(
        cells.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).is_not_null().all()
    )


def category_texts(series: pl.Series) -> pl.Series:
    """Categories as text, each by itself: whole numbers without a point, midnights as days, no zeros at the end."""
    if series.dtype.is_float() or series.dtype.is_decimal():
        floats = series.cast(pl.Float64)
        floats = floats.set(floats == 0, 0.0)
        whole = _are_whole(floats).fill_null(value=False)
        texts = floats.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole, floats.cast(pl.String))
        if series.dtype.is_float():
            return texts
        exact = floats.cast(series.dtype, strict=False).eq_missing(series)  # else floats would take two for the same
        return texts.zip_with(exact, series.cast(pl.String).str.replace(r"(\.\d*?)0+$", "$1").str.strip_suffix("."))
    if isinstance(series.dtype, pl.Datetime):
        texts = series.cast(pl.String).str.replace(r"(\.\d*?)0+(\+|-|$)", "$1$2").str.replace(r"\.(\+|-|$)", "$1")
        return texts if series.dtype.time_zone else texts.str.strip_suffix(" 00:00:00")
    return series.cast(pl.String)


def retyped(rows: pl.DataFrame, columns: Mapping[str, Column], problems: Problems) -> pl.DataFrame:
    """Some of the rows of a clean table, in the types that they have without the others."""
    return pl.DataFrame([clean(series, columns.get(series.name), (), problems) for series in rows])


def in_order(texts: pl.Series, kind: Ordinal, problems: Problems) -> pl.Series:
    """The categories that the order has, missing in place of the others, which are noted."""
    unknown = [category for category in texts.unique().drop_nulls().to_list() if category not in kind.ranks]
    strange = texts.is_in(unknown).fill_null(False)
    rows = np.flatnonzero(strange.to_numpy())
    if not len(rows):
        return texts
    what = f"{cells_are(len(rows))} not in its order, at {rows_at(rows.tolist())}"
    if (calendar := kind.calendar) is not None:
        fix = f"its order is a calendar: {calendar.remedy(unknown)}"
    else:
        first = rows[np.sort(texts.gather(rows).arg_unique().to_numpy())]
        listed = {category.strip().casefold() for category in kind.order}
        alike = sum(category.strip().casefold() in listed for category in unknown)
        near = f", {alike} but for case or spaces around it" if alike else ""
        add = f"add the missing ones ({len(unknown)}{near}; see {rows_at(first.tolist())})"
        fix = f"its order has {counted(len(kind.order), 'category', 'categories')}: {add}"
    fix = f"{fix}, or correct the cells"
    problems.add(f"column {texts.name!r}", what, fix)
    return texts.set(strange, None)
