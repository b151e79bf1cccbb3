r"""Cells of tables that somebody else published, read by the kind of their column.

| kind | understood |
|---|---|
| any | missing; `*`, `**`, `?`, `??` and the texts named as suppressed: any value; `{a, b}`: one of some values |
| numeric | numbers; `[a, b]`, `[a, b)`, `(a, b]`, `(a, b)`, `[a, b[`, `]a, b]`; `a-b`, `a..b`, `a~b`, `a to b`; `<a`, |
|         | `<=a`, `>a`, `>=a`, `a+`; `2*` (20 up to 30), `13##`; nodes of a hierarchy |
| ordinal | categories; runs `[low, high]`, `low-high`, `low..high`, `low~high`, `low to high`; nodes of a hierarchy |
| nominal | values; nodes of a hierarchy; masks `130**`, `130*`, `1305_`, `130##`; with `Dates`, parts of dates |

Whatever else a cell holds, it equals only itself. That is safe: it is never taken for more than it is. The same goes
for a cell that could mean more than one thing. What others in its column look like decides on that:

- One letter masks: that of the schema, else `*`, else `_` or `#` where only one of them is used, behind digits.
- `a-b` and its like hold both ends, unless another such range of the column begins where one of them ends. Whether ends
  are inside is open then: such a range holds what is between its ends for sure, and equals only another one like it.
- Texts that differ in blanks around them are different values; numbers are not.
- `*` and `?` both stand for any value, and may do so for different reasons: they are not equal.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import polars as pl

from shoal.check.grammar.categories import Atoms, Runs
from shoal.check.grammar.numbers import BRACKETS, Stretches
from shoal.check.grammar.texts import mask_letter, members
from shoal.check.value_ranges import (
    ANY,
    ANY_VALUE,
    MISSING_VALUE,
    SPAN,
    UNREAD,
    Axis,
    Ints,
    Range,
    axis_of,
    distinct_cells,
)
from shoal.table.clean import without_markers
from shoal.table.markers import Markers
from shoal.table.numbers import number_text
from shoal.table.schema import Kind, Numeric, Ordinal

Reader = Callable[[str], Range | None]
UNKNOWN = Range(ANY, text="?")
"""Any value, by another sign than `*`."""


class ReadCells(NamedTuple):
    """The cells of one column: what distinct ones may stand for, which of them each row has, how many are unread."""

    ranges: list[Range]
    codes: Ints
    discrete: bool
    """Whether the values of the column are categories."""
    n_unread: int

    def axis(self) -> Axis:
        """The cells on a line."""
        return axis_of(self.ranges, discrete=self.discrete)


def stands_for_any(series: pl.Series, *, missing_values: Markers = (), suppressed: Sequence[str] = ()) -> pl.Series:
    """Which cells of a column stand for any value, by the same rules as those of a quasi-identifier."""
    texts = _texts(without_markers(_plain(series), missing_values, strip=True))
    vague = [text for text in texts.drop_nulls().unique().to_list() if _says_nothing(text, suppressed) is not None]
    return texts.is_in(vague).fill_null(value="" in suppressed)


def names_several(series: pl.Series, mask: str = "") -> pl.Series:
    """Which cells of a column of categories name several values, by the rules of a quasi-identifier.

    A set does, a code whose masked end covers another cell, and an interval in brackets that meets another cell:
    intervals that are apart are categories like any others. `mask` is the letter that masks, where it is known.
    """
    texts = _texts(_plain(series))
    known = texts.drop_nulls().unique().sort().to_list()
    sets = {text for text in known if members(text) is not None}
    single = [text for text in known if text not in sets]
    letter = mask if len(mask) == 1 else mask_letter(single)
    masked = {text for text in single if text[-1] == letter and text.strip(letter) and _covers(text, single)}
    return texts.is_in([*sets, *masked, *_meeting(known)]).fill_null(value=False)


def _covers(masked: str, texts: Sequence[str]) -> bool:
    """Whether another of some sorted texts begins like one whose end is masked."""
    prefix = masked.rstrip(masked[-1])
    first = bisect_left(texts, prefix)
    return any(text != masked and text.startswith(prefix) for text in texts[first : first + 2])


def _meeting(texts: Sequence[str]) -> set[str]:
    """Intervals in brackets that have a number in common with another text."""
    brackets = {text for text in texts if BRACKETS.fullmatch(text)}
    if not brackets:
        return brackets
    read, met = Stretches(Numeric(), texts).read, set[str]()
    spans = sorted((one.low, one.high, text) for text in texts if (one := read(text)) is not None and one.sort == SPAN)
    _, reach, farthest = spans[0] if spans else (0.0, 0.0, "")
    for low, high, text in spans[1:]:
        if low <= reach:
            met |= {text, farthest}
        if high > reach:
            reach, farthest = high, text
    return met & brackets


def read_cells(
    series: pl.Series, kind: Kind, *, missing_values: Markers = (), suppressed: Sequence[str] = ()
) -> ReadCells:
    """Read a quasi-identifier; equal ranges get equal numbers, whatever they are written like."""
    series = _plain(series)
    texts = _as_they_differ(series, _texts(without_markers(series, missing_values, strip=True)))
    rows, codes = distinct_cells(pl.DataFrame([texts]))
    shown = [None if row[0] is None else str(row[0]) for row in rows]
    said = {text: _says_nothing(text.strip(), suppressed) for text in shown if text is not None}
    read = _reader(kind, [text for text, nothing in said.items() if nothing is None])
    empty = ANY_VALUE if "" in suppressed else MISSING_VALUE
    number: dict[Range, int] = {}
    unread, codes_of = set(), []
    for place, text in enumerate(shown):
        one = empty if text is None else said[text] or read(text)
        if one is None:
            unread.add(place)
            one = Range(UNREAD, text=str(text))
        codes_of.append(number.setdefault(one, len(number)))
    n_unread = int(pl.Series(codes).is_in(list(unread)).sum()) if unread else 0
    row_codes = pl.Series(codes_of, dtype=pl.Int64).gather(codes).to_numpy()
    return ReadCells(list(number), row_codes, not isinstance(kind, Numeric), n_unread)


def _plain(series: pl.Series) -> pl.Series:
    return series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum, pl.Null) else series


def _texts(series: pl.Series) -> pl.Series:
    """Every cell as text without spaces around it; whole numbers without a point, times with all their digits."""
    if series.dtype.is_float() or series.dtype.is_decimal():
        numbers = series.cast(pl.Float64)
        cells = [
            None if value is None else number_text(value) if math.isfinite(value) else str(value) for value in numbers
        ]
        texts = pl.Series(series.name, cells, dtype=pl.String)
        if series.dtype.is_float():
            return texts
        kept = numbers.cast(series.dtype, strict=False).eq_missing(series)  # else floats would take two for the same
        return texts.zip_with(kept, series.cast(pl.String))
    if series.dtype == pl.Time:
        return series.dt.to_string("%H:%M:%S%.f")  # a cast drops parts of seconds
    texts = series.cast(pl.String).str.strip_chars()
    return texts.set((texts == "").fill_null(value=False), None)


def _as_they_differ(series: pl.Series, texts: pl.Series) -> pl.Series:
    """The texts without blanks around them, but with them where nothing else tells two apart."""
    if series.dtype != pl.String:
        return texts
    raw = series.alias("raw")
    pairs = pl.DataFrame([raw, texts.alias("text")]).drop_nulls().unique()
    alike = pairs.filter(pl.col("text").is_duplicated())
    return texts.zip_with(~raw.is_in(alike["raw"].to_list()).fill_null(value=False) | texts.is_null(), raw)


def _says_nothing(text: str, suppressed: Collection[str]) -> Range | None:
    """What a cell stands for that stands for any value, or None."""
    if text in suppressed or set(text) == {"*"}:
        return ANY_VALUE
    return UNKNOWN if set(text) == {"?"} else None


def _reader(kind: Kind, texts: Sequence[str]) -> Reader:
    if isinstance(kind, Numeric):
        return Stretches(kind, texts).read
    if isinstance(kind, Ordinal):
        return Runs(kind).read
    return Atoms(kind, texts).read
