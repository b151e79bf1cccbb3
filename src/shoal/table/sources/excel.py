"""Workbooks: the sheet as it is typed, the header as it is written."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from datetime import date
from typing import Any

import polars as pl

from shoal.errors import Problem, ShoalWarning, SourceError, did_you_mean, some
from shoal.table.sources.drivers import driver
from shoal.table.sources.files import check_header, found_file
from shoal.table.sources.panics import without_panics
from shoal.table.sources.source import Source

NO_DAYS = date(1899, 12, 31), date(1904, 1, 1)
"""The days of times without one: that before the first of a workbook, or the first itself if it counts from 1904."""

ERRORS = {
    "Div0": "#DIV/0!", "NA": "#N/A", "Name": "#NAME?", "Null": "#NULL!", "Num": "#NUM!", "Ref": "#REF!",
    "Value": "#VALUE!", "GettingData": "#GETTING_DATA",
}  # fmt: skip
"""Errors that cells can be, by what the library calls them, as a workbook shows them."""


def read_excel(source: Source) -> pl.DataFrame:
    """Read a sheet; texts stay texts, a column of mixed cells becomes text, wholly blank rows are no rows.

    Cells that only *look* like they had leading zeros (numbers with a format) are numbers.
    """
    fastexcel = driver("excel")
    # It reports every column without a value as a warning.
    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)
    path = found_file(source.path)
    try:
        with without_panics():
            book = fastexcel.read_excel(path)
            sheets = book.sheet_names
    except Exception:  # messages of the library may hold cells
        fix = "save it again as .xlsx, without a password"
        raise SourceError(Problem(str(path), "is not a readable workbook", fix)) from None
    if source.sheet is not None and source.sheet not in sheets:
        fix = did_you_mean(source.sheet, sheets, f"it has {', '.join(map(repr, sheets))}")
        fix = fix if "it has" in fix else f"{fix} It has {', '.join(map(repr, sheets))}"
        raise SourceError(Problem(str(path), f"has no sheet {source.sheet!r}", fix))
    if not sheets:
        raise SourceError(Problem(str(path), "has no sheet", "save it again as .xlsx"))
    sheet = source.sheet or sheets[0]
    where = f"{path}, sheet {sheet!r}"
    choice = _choice(source, sheets)
    if choice:
        warnings.warn(f"{path}: the first of {len(sheets)} sheets is read; {choice}", ShoalWarning, stacklevel=3)
    try:
        with without_panics():
            names, frame, lost = _loaded(book, sheet)
    except fastexcel.CalamineCellError:  # #NAME? alone: it takes all other errors for missing cells
        raise SourceError(Problem(where, "has a formula with an error (#NAME?)", "correct or delete it")) from None
    except Exception:
        raise SourceError(Problem(where, "cannot be read", choice or "save the workbook again")) from None
    if not names:
        raise SourceError(Problem(where, "is empty", choice or "a header and at least one row are needed"))
    check_header(names, where, first_line=True)
    frame.columns = names
    if lost:
        each = [
            f"{names[place]!r} has {len(codes):,} ({', '.join(dict.fromkeys(codes))})" for place, codes in lost.items()
        ]
        told = f"{where}: errors in the place of values are read as missing: column {some(each)}"
        warnings.warn(f"{told}; correct the workbook if they stand for values", ShoalWarning, stacklevel=3)
    if len(names) > 1:
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame.with_columns(map(_as_meant, frame))


def _choice(source: Source, sheets: Sequence[str]) -> str:
    """How to name another sheet, where the first of several is read unasked."""
    if source.sheet is not None or len(sheets) < 2:
        return ""
    listed = ", ".join(map(repr, sheets))
    return f'to read another, name it: sheet = "{sheets[1]}" in the recipe, --sheet, or sheet=; it has {listed}'


def _as_meant(column: pl.Series) -> pl.Series:
    """Integers where all numbers are whole, times of day where no cell has a day: a workbook knows floats only."""
    if column.dtype == pl.Float64 and ((column.floor() == column) & (column.abs() < 2**53)).all():
        return column.cast(pl.Int64)
    return column.dt.time() if column.dtype == pl.Datetime and _has_no_days(column) else column


def _has_no_days(column: pl.Series) -> bool:
    days = column.dt.date().unique().drop_nulls()
    return len(days) == 1 and days[0] in NO_DAYS


def _loaded(book: Any, sheet: str) -> tuple[list[str], pl.DataFrame, dict[int, list[str]]]:
    """Names as written, the columns, and cells that are errors by column; one with neither name nor cell is none."""
    # The library renames doubled and empty names silently, so the first row is read as a row of its own.
    top = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
    if not top.height:
        return [], pl.DataFrame(), {}
    names = [cell or "" for cell in top.row(0)]
    # All rows decide on the type: cells that do not fit a type guessed from a sample would be lost.
    cells, errors = book.load_sheet(sheet, header_row=0, schema_sample_rows=None).to_arrow_with_errors()
    frame = pl.DataFrame(cells)
    if frame.width != len(names):
        raise ValueError("header and rows differ in width")
    lost: dict[int, list[str]] = {}
    for one in () if errors is None else errors.errors:
        code = next((shown for name, shown in ERRORS.items() if one.detail.endswith(f"'Error({name})'")), "no value")
        lost.setdefault(one.offset_position[1], []).append(code)
    kept = [
        place for place, name in enumerate(names)
        if name or place in lost or frame[:, place].null_count() < frame.height
    ]  # fmt: skip
    return [names[place] for place in kept], frame[:, kept], {kept.index(place): codes for place, codes in lost.items()}
