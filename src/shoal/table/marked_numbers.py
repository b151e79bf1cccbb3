"""Numbers that are written with marks of a country: ``1.234,56`` with a decimal comma, ``$1,234.56`` with a point."""

from __future__ import annotations

import polars as pl

SPACES = " '\u00a0\u202f"
"""What may stand between thousands, whatever the decimal mark is."""
_CURRENCY = f"[{SPACES}]*[$€£][{SPACES}]*"
_PERCENT = f"[{SPACES}]*%$"


def number_pattern(decimal: str) -> str:
    """A regular expression of numbers with a decimal mark, and marks between thousands or none."""
    between = f"[{SPACES}{'.' if decimal == ',' else ','}]"
    return rf"^[-+]?(?:[0-9]+|[0-9]{{1,3}}(?:{between}[0-9]{{3}})+)(?:[{decimal}][0-9]+)?$"


def bare(texts: pl.Series) -> pl.Series:
    """Texts without a currency sign at their beginning or end or a percent sign at their end, and spaces around."""
    plain = texts.str.strip_chars().str.replace(_PERCENT, "")
    return plain.str.replace(f"^([-+]?){_CURRENCY}", "${1}").str.replace(f"{_CURRENCY}$", "")


def percents(texts: pl.Series) -> pl.Series:
    """Which texts end in a percent sign: beside numbers without one, 50 % is either 50 or 0.5."""
    return texts.str.strip_chars().str.contains(_PERCENT).fill_null(value=False)


def how_to_read(odd: pl.Series, plain: pl.Series) -> str | None:
    """What to write, so that odd cells of a column are read as numbers beside the plain ones; None if none would be."""
    if odd.dtype != pl.String or (len(plain) and percents(odd).any()):
        return None
    found, rest = [], 0
    for key, mark, shown in (("decimal_comma", ",", "1.234,5"), ("decimal_point", ".", "$1,234.5")):
        fits = int(bare(odd).str.contains(number_pattern(mark)).sum())
        if fits and plain.str.contains(number_pattern(mark)).all():
            found.append(f"{key} ({shown})")
            rest = max(rest, len(odd) - fits)
    others = ", and markers of missing cells in missing_values" if rest else ""
    return f"name it in {' or '.join(found)} under [source], or of shoal.read{others}" if found else None
