"""Published cells as numbers in the order of their texts: worked out once for all who look at them.

What looks different to a reader is different, such as 0.0 and -0.0, so cells count by their text. To tell texts apart
is most of the work of checking a large table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.machine.threads import side_by_side
from shoal.table.numbering import CLOSE, are_few, are_many, coded, few_coded, is_long, long_codes

Ints = npt.NDArray[np.int64]
MOST = 1 << 62
"""How many combinations of texts have numbers of their own before they are numbered anew."""


class Column(NamedTuple):
    """A column as the numbers of its texts."""

    values: pl.Series | None
    """Each text once, in their order, without missing ones; None where texts are too long to be copied."""
    codes: npt.NDArray[np.integer]
    """Which of them each row has; the number after the last where it is missing."""
    n_values: int
    """How many texts there are."""

    @property
    def counts(self) -> Ints:
        """How many rows have each text; those without one last."""
        return np.bincount(self.codes, minlength=self.n_values + 1)


class Texts:
    """The texts of some tables, each looked at when somebody first asks."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[pl.DataFrame, dict[str, Column]]] = {}

    def of(self, frame: pl.DataFrame, names: Iterable[str] | None = None) -> Mapping[str, Column]:
        """The columns of a table, or some of them."""
        _, known = self._known.setdefault(id(frame), (frame, {}))
        wanted = frame.columns if names is None else list(names)
        if new := [name for name in wanted if name not in known]:
            known |= _columns(frame.select(new))
        return {name: known[name] for name in wanted}

    def shown(self, frame: pl.DataFrame, name: str) -> set[str | None]:
        """What a column of a table shows, None for missing cells."""
        values, _, n_values = column = self.of(frame, [name])[name]
        if values is None:
            return set(frame[name].unique())
        return {*values.to_list(), *([None] if column.counts[n_values] else [])}


def _columns(frame: pl.DataFrame) -> dict[str, Column]:
    """Every column as numbers; all in one query where there are few rows, for queries are what those cost."""
    if are_many(frame.height):
        found = side_by_side(_many, frame.get_columns(), frame.height * frame.width)
        return dict(zip(frame.columns, found, strict=True))
    known = {series.name: _long(series) for series in frame if is_long(series)}
    if are_few(frame.height):
        return known | {series.name: _few(series) for series in frame if series.name not in known}
    known |= {series.name: one for series in frame if (one := _whole_numbers(series)) is not None}
    rest = frame.drop(list(known)).select(pl.all().cast(pl.String))
    return known | {name: Column(values, codes, len(values)) for name, (values, codes) in coded(rest).items()}


def _many(series: pl.Series) -> Column:
    """A column of many rows."""
    if is_long(series):
        return _long(series)
    if (found := _whole_numbers(series)) is not None:
        return found
    values, codes = coded(series.cast(pl.String).to_frame())[series.name]
    return Column(values, _small(codes), len(values))


def _small(codes: Ints) -> npt.NDArray[np.integer]:
    """Numbers in half the room, where there are many."""
    return codes.astype(np.int32) if are_many(len(codes)) else codes


def _long(series: pl.Series) -> Column:
    """Texts that are compared where they are."""
    codes = long_codes(series)
    return Column(None, codes, int(codes.max(initial=-1)) + 1 - (series.null_count() > 0))


def _few(series: pl.Series) -> Column:
    """A column of few rows."""
    values, codes = few_coded(series.cast(pl.String))
    return Column(values, codes, len(values))


def _whole_numbers(series: pl.Series) -> Column | None:
    """Whole numbers that lie close together, of which only distinct ones are written as texts; None for others."""
    if series.dtype != pl.Int64:
        return None
    known = series.drop_nulls().unique().sort()
    if not len(known) or int(known[-1]) - int(known[0]) > CLOSE * len(series):
        return None
    low, texts = int(known[0]), known.cast(pl.String)
    order = texts.arg_sort().to_numpy()
    rank = np.zeros(int(known[-1]) - low + 1, dtype=np.int64)
    rank[known.to_numpy()[order] - low] = np.arange(len(known))
    codes = rank.take((series.fill_null(low) - low).to_numpy())
    codes[series.is_null().to_numpy()] = len(known)
    return Column(texts.gather(order), _small(codes), len(known))


def together(columns: Iterable[Column], n_rows: int) -> Ints:
    """Numbers that rise as rows do when they are sorted by these columns, missing last; equal rows share one."""
    found, most = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns:
        if most > MOST // (column.n_values + 1):
            found = np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
            most = n_rows
        found *= column.n_values + 1
        found += column.codes
        most *= column.n_values + 1
    return found
