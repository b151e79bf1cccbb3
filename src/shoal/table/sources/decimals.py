"""Numbers that are written with marks of a country: which columns have them is declared, and never guessed on reading.

``1.234,56`` of a column with a decimal comma, ``$1,234.56`` of one with a decimal point and marks of thousands. They
become plain numbers when a table is read, so that nothing behind the source has to know.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from shoal.errors import Problems, SourceError, did_you_mean
from shoal.table.marked_numbers import bare, number_pattern
from shoal.table.sources.source import Source


def plain_numbers(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """The table with plain numbers in the columns that the source declares; other cells of these stay as they are."""
    problems = Problems()
    found = list(_converted(frame, source, problems))
    problems.raise_if_any(SourceError)
    return frame.with_columns(found)


def _converted(frame: pl.DataFrame, source: Source, problems: Problems) -> Iterator[pl.Series]:
    for key, decimal in (("decimal_comma", ","), ("decimal_point", ".")):
        for name in getattr(source, key):
            if name not in frame.columns:
                near = did_you_mean(name, frame.columns, "check the spelling, or leave it out")
                problems.add(f"{key} of {name!r}", "there is no such column", near)
            elif frame[name].dtype == pl.String:
                yield _plain(frame[name], decimal, problems)


def _plain(texts: pl.Series, decimal: str, problems: Problems) -> pl.Series:
    """One column; a number that has other marks than declared would be read as another number, and is refused."""
    without = bare(texts)
    fits = without.str.contains(number_pattern(decimal))
    odd = int((~fits & without.cast(pl.Float64, strict=False).is_not_null()).sum())
    if odd:
        mark = "comma" if decimal == "," else "point"
        what = f"{odd:,} cells are numbers that are not written with a decimal {mark}"
        problems.add(f"decimal_{mark} of {texts.name!r}", what, "write all cells of the column alike, or leave it out")
    digits = without.str.replace_all(f"[^0-9{decimal}+-]", "").str.replace(decimal, ".", literal=True)
    return digits.zip_with(fits.fill_null(value=False), texts)
