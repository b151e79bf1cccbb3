"""Columns of numbers with a decimal comma or marks of thousands: what their values decide, and what they leave open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import polars as pl

from shoal.table.clean import without_markers
from shoal.table.marked_numbers import bare, number_pattern, percents
from shoal.table.markers import Markers
from shoal.table.profile.shapes import MARKERS
from shoal.table.sources.decimals import plain_numbers
from shoal.table.sources.source import Source

COMMA, POINT, DOUBT = "decimal_comma", "decimal_point", "doubt"
_ONE_DIGIT = "^[0-9](?:,[0-9])?$"
"""Marks of one digit and a half, or two answers in one cell."""
_THOUSANDS = r"^[-+]?[0-9]{1,3}\.[0-9]{3}$"


@dataclass(frozen=True)
class Decimals:
    """How the numbers of a table are written, where it is not as plain numbers."""

    decimal_comma: tuple[str, ...] = ()
    decimal_point: tuple[str, ...] = ()
    doubt: tuple[str, ...] = ()
    """Columns whose marks may be either."""

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """What is declared of the source."""
        found = {COMMA: self.decimal_comma, POINT: self.decimal_point}
        return {key: columns for key, columns in found.items() if columns}

    @property
    def told(self) -> tuple[str, ...]:
        """Each decision in a sentence."""
        shown = {COMMA: "1.234,5 or 5,6 %", POINT: "1,234.5 or 5.6 %"}
        return tuple(
            f"Read as numbers such as {shown[key]}, as all their cells are written so: {', '.join(columns)}. "
            f"If they are not, take them out of {key} under [source]."
            for key, columns in self.options.items()
        )


def decimals_of(frame: pl.DataFrame, missing_values: Markers = ()) -> Decimals:
    """Look at every column of texts; one that holds plain numbers, or anything else, is in no list."""
    found: dict[str, list[str]] = {COMMA: [], POINT: [], DOUBT: []}
    grouped = []
    for series in frame:
        if series.dtype != pl.String:
            continue
        texts = without_markers(series, missing_values, strip=True).drop_nulls().unique()
        texts = texts.filter(~texts.str.to_lowercase().is_in(list(MARKERS)))
        if key := _written(texts):
            found[key].append(series.name)
        elif len(texts) and texts.str.contains(_THOUSANDS).all():
            grouped.append(series.name)
    # 43.338 is a plain number, unless other columns of the table have decimal commas.
    doubt = (*found[DOUBT], *(grouped if found[COMMA] else ()))
    return Decimals(tuple(found[COMMA]), tuple(found[POINT]), doubt)


def _written(given: pl.Series) -> str | None:
    """What the distinct texts of a column decide; None where they are plain numbers or no numbers."""
    if given.cast(pl.Float64, strict=False).is_not_null().all():  # also where there are none
        return None
    signs = percents(given)
    if signs.any() and not signs.all():
        return None
    texts = bare(given)
    comma, point = (bool(texts.str.contains(number_pattern(mark)).all()) for mark in ",.")
    if comma and point:  # without any mark, both say the same
        return DOUBT if texts.str.contains("[.,]").any() else POINT
    if comma:
        return DOUBT if texts.str.contains(_ONE_DIGIT).all() else COMMA
    return POINT if point else None


def with_decimals(
    source: Source, frame: pl.DataFrame, columns: Collection[str] | None = None
) -> tuple[Source, pl.DataFrame, tuple[str, ...]]:
    """A source that declares how its numbers are written, its table with plain numbers, and what was decided.

    Only `columns` are looked at, where they are given. Those that somebody has declared hold plain numbers already.
    """
    some = frame if columns is None else frame.select(name for name in frame.columns if name in columns)
    found = decimals_of(some, source.missing_values)
    comma, point = found.decimal_comma, found.decimal_point
    plain = plain_numbers(frame, replace(source, decimal_comma=comma, decimal_point=point))
    declared = replace(
        source, decimal_comma=(*source.decimal_comma, *comma), decimal_point=(*source.decimal_point, *point)
    )
    return declared, plain, found.told
