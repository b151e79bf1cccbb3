"""Numbers that are written with marks of a country: which columns have them is declared, and never guessed on reading.

``1.234,56`` of a column with a decimal comma, ``$1,234.56`` of one with a decimal point and marks of thousands, and
``56 %`` of either. They become plain numbers when a table is read, so that nothing behind the source has to know.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

import polars as pl

from shoal.errors import Problems, SourceError, counted, did_you_mean
from shoal.table.marked_numbers import bare, number_pattern, percents
from shoal.table.sources.source import Source

Percents = MutableMapping[str, bool]
"""Whether the numbers of a column have percent signs, as far as a table was read."""


def plain_numbers(frame: pl.DataFrame, source: Source, percent: Percents | None = None) -> pl.DataFrame:
    """The table with plain numbers in the columns that the source declares; other cells of these stay as they are.

    A table that is read in pieces gives each the same `percent`.
    """
    problems = Problems()
    found = list(_converted(frame, source, {} if percent is None else percent, problems))
    problems.raise_if_any(SourceError)
    return frame.with_columns(found)


def _converted(frame: pl.DataFrame, source: Source, percent: Percents, problems: Problems) -> Iterator[pl.Series]:
    for key, decimal in (("decimal_comma", ","), ("decimal_point", ".")):
        for name in getattr(source, key):
            if name not in frame.columns:
                near = did_you_mean(name, frame.columns, "check the spelling, or leave it out")
                problems.add(f"{key} of {name!r}", "there is no such column", near)
            elif frame[name].dtype == pl.String:
                yield _plain(frame[name], decimal, percent, problems)


def _plain(texts: pl.Series, decimal: str, percent: Percents, problems: Problems) -> pl.Series:
    """One column; a number that has other marks than declared would be read as another number, and is refused."""
    without = bare(texts)
    fits = without.str.contains(number_pattern(decimal))
    odd = int((~fits & without.cast(pl.Float64, strict=False).is_not_null()).sum())
    if odd:
        mark = "comma" if decimal == "," else "point"
        what = f"{counted(odd, 'cell is a number that is', 'cells are numbers that are')} not written "
        what += f"with a decimal {mark}"
        problems.add(f"decimal_{mark} of {texts.name!r}", what, "write all cells of the column alike, or leave it out")
    _check_percents(texts.filter(fits.fill_null(value=False)), decimal, percent, problems)
    digits = without.str.replace_all(f"[^0-9{decimal}+-]", "").str.replace(decimal, ".", literal=True)
    return digits.zip_with(fits.fill_null(value=False), texts)


def _check_percents(numbers: pl.Series, decimal: str, percent: Percents, problems: Problems) -> None:
    """Percent signs stand at all numbers of a column or at none: beside 0.3, nobody knows what 30 % is."""
    if numbers.is_empty():
        return
    signs = percents(numbers)
    if signs.all() == signs.any() == percent.setdefault(numbers.name, bool(signs.any())):
        return
    mark = "comma" if decimal == "," else "point"
    what = "some numbers have a percent sign, others have none"
    problems.add(f"decimal_{mark} of {numbers.name!r}", what, "write all cells of the column alike")
