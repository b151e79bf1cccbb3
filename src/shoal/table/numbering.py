"""Values as numbers, so that tables of different origin can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.machine.threads import side_by_side

Ints = npt.NDArray[np.int64]
MOST_CODES = 1 << 62
"""How many combinations of numbers have numbers of their own before they are numbered anew."""
LONG = 4096
"""Bytes of a text that is not copied to be looked up."""
BEGINNING = 64
"""Letters of a long text by which most are told apart."""
MANY = 100_000
"""Rows from which on columns are numbered one after the other."""
FEW = 256
"""Cells of a column up to which Python is done with them sooner than a query is asked."""
REPEATED = 8
"""How often a text is shown on average, for it to be looked at once only."""
CLOSE = 4
"""Whole numbers that span at most so many times the rows have a table of their numbers."""


def numbered(columns: Sequence[pl.Series]) -> list[Ints]:
    """Number the values of columns alike; missing is a value of its own, 0.

    Values are compared as what they are: text that reads as numbers, or as instants, equals those of another column
    that holds such.
    """
    if all(series.dtype == pl.String for series in columns) and are_few(sum(len(series) for series in columns)):
        return _few_numbered([series.to_list() for series in columns])
    ranks = pl.concat(_alike([_plain(series) for series in columns])).rank("dense").cast(pl.Int64).fill_null(0)
    ends = np.cumsum([len(series) for series in columns])[:-1]
    return np.split(ranks.to_numpy().astype(np.int64), ends)


def _few_numbered(columns: Sequence[list[str | None]]) -> list[Ints]:
    """The same of few texts."""
    values = _sorted(cell for column in columns for cell in column if cell != "")
    number = {value: place for place, value in enumerate(values, 1)}
    return [np.array([number.get(cell or "", 0) for cell in column], dtype=np.int64) for column in columns]


def sorted_rows(numbers: npt.NDArray[np.integer], *, distinct: bool = False) -> Ints:
    """Rows in the order of their numbers, of which none is negative; those that tie as they stand.

    What a stable `argsort` finds, in a third of the time, where a number and a row fit into one that can be sorted:
    or if only the last places do not, and numbers are distinct, by the places before these. Numbers of 16 bits are
    dealt out, not compared, which takes a third of that.
    """
    most = int(numbers.max(initial=0))
    if most < 1 << 16:
        return np.argsort(numbers.astype(np.uint16), kind="stable")
    bits = len(numbers).bit_length()
    beyond = max(0, most.bit_length() + bits - 63)
    if not beyond or (distinct and beyond <= bits + 1):
        both = (numbers >> beyond).astype(np.int64) << bits | np.arange(len(numbers))
        both.sort()
        if not beyond or (np.diff(both >> bits) > 0).all():
            return both & ((1 << bits) - 1)
    return np.argsort(numbers, kind="stable")


def distinct_values(series: pl.Series) -> pl.Series:
    """The values of a column, each once and in their order, without missing ones."""
    if has_few(series):
        return pl.Series(series.name, _sorted(series.to_list()), dtype=pl.String)
    return series.to_frame().select(pl.all().drop_nulls().unique().sort()).to_series()


def values_of(frame: pl.DataFrame) -> dict[str, pl.Series]:
    """The values of each column, each once and in their order, without missing ones."""
    if are_many(frame.height):
        found = side_by_side(_distinct_of_many, frame.get_columns(), frame.height * frame.width)
        return dict(zip(frame.columns, found, strict=True))
    return _values_of(frame)


def _values_of(frame: pl.DataFrame) -> dict[str, pl.Series]:
    """The same of all columns in one query."""
    few = {one.name: pl.Series(_sorted(one.to_list()), dtype=pl.String) for one in frame if has_few(one)}
    if len(few) == frame.width:
        return few
    others = frame.drop(few) if few else frame
    rest = others.select(pl.all().drop_nulls().unique().sort().implode())  # queries are what small tables cost
    few |= {series.name: series[0] for series in rest}
    return {name: few[name] for name in frame.columns}


def _distinct_of_many(series: pl.Series) -> pl.Series:
    """The same of a column of many rows."""
    shown = distinct_views(series)
    return distinct_values(series if shown is None else shown[0])


def distinct_views(series: pl.Series) -> tuple[pl.Series, npt.NDArray[np.int32]] | None:
    """Texts of which hardly any is there twice, and which of them each row that is not missing has.

    Most columns of many rows show few texts, which are short or lie in few places. None for others.
    """
    if series.dtype != pl.String or is_long(series) or len(series) - series.null_count() < REPEATED:
        return None
    from shoal.kernels.table.texts import number_views  # numba takes its time to load

    present = (series.drop_nulls() if series.null_count() else series).rechunk()
    kept = present.to_arrow(compat_level=pl.CompatLevel.newest())
    views = np.frombuffer(kept.buffers()[1], dtype=np.int64).reshape(-1, 2)[kept.offset : kept.offset + len(kept)]
    room = len(present) // REPEATED
    slots, known = np.full(1 << (2 * room).bit_length(), -1, dtype=np.int32), np.empty((room, 2), dtype=np.int64)
    codes, first = np.empty(len(present), dtype=np.int32), np.empty(room, dtype=np.int64)
    n_views = number_views(views, slots, codes, known, first)
    return None if n_views < 0 else (present.gather(first[:n_views]), codes)


def are_few(n_cells: int) -> bool:
    """Whether a column is so short that Python is done with it sooner than a query is asked."""
    return n_cells <= FEW


def are_many(n_rows: int) -> bool:
    """Whether a table has so many rows that its columns are worked on one by one, side by side on several cores."""
    return n_rows >= MANY


def has_few(series: pl.Series) -> bool:
    """Whether a column has texts, and few enough for Python."""
    return series.dtype == pl.String and are_few(len(series)) and not is_long(series)


def _sorted(cells: Iterable[str | None]) -> list[str]:
    """Texts, each once and in their order: that of letters is that of their bytes."""
    return sorted({cell for cell in cells if cell is not None})


def few_coded(series: pl.Series) -> Coded:
    """A column of few texts as the numbers of its values."""
    cells = series.to_list()
    values = _sorted(cells)
    places: dict[str | None, int] = {value: place for place, value in enumerate(values)}
    codes = np.array([places.get(cell, len(values)) for cell in cells], dtype=np.int64)
    return Coded(pl.Series(values, dtype=pl.String), codes)


def _place_among(name: str, known: pl.Series) -> pl.Expr:
    """Place of each cell of a column among its values, missing cells missing."""
    if known.dtype == pl.String and len(known) <= MANY:
        return pl.col(name).cast(pl.Enum(known)).to_physical().cast(pl.Int64)
    places = pl.Series(range(len(known)), dtype=pl.Int64)
    return pl.col(name).replace_strict(known, places, default=None, return_dtype=pl.Int64)


class Coded(NamedTuple):
    """A column as the numbers of its values."""

    values: pl.Series
    """Each value once, in their order, without missing ones."""
    codes: Ints
    """Which of them each row has; the number after the last where it is missing."""

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Whether each row has none."""
        found: npt.NDArray[np.bool_] = self.codes == len(self.values)
        return found


def coded(frame: pl.DataFrame, values: Mapping[str, pl.Series] | None = None) -> dict[str, Coded]:
    """The values of each column, and every cell as the number of its value; `values` has those that are known."""
    if are_many(frame.height):
        known = values or {}
        columns = ((series, known.get(series.name)) for series in frame)
        found = side_by_side(lambda one: coded_column(*one), columns, frame.height * frame.width)
        return dict(zip(frame.columns, found, strict=True))
    return _coded(frame, values)


def coded_column(series: pl.Series, known: pl.Series | None = None) -> Coded:
    """A column of many rows as the numbers of its values, which may be known."""
    values = None if known is None else {series.name: known}
    if (shown := distinct_views(series)) is None:
        return _coded(series.to_frame(), values)[series.name]
    texts, which = shown
    few = _coded(texts.to_frame(), values)[series.name]
    if not series.null_count():
        return Coded(few.values, few.codes.take(which))  # much quicker than by brackets
    codes = np.full(len(series), len(few.values), dtype=np.int64)
    codes[series.is_not_null().to_numpy()] = few.codes.take(which)
    return Coded(few.values, codes)


def _coded(frame: pl.DataFrame, values: Mapping[str, pl.Series] | None) -> dict[str, Coded]:
    """The same of all columns in one query."""
    few = {one.name: few_coded(one) for one in frame if one.name not in (values or {}) and has_few(one)}
    if len(few) == frame.width:
        return few
    if few:
        few |= _coded(frame.drop(few), values)
        return {name: few[name] for name in frame.columns}
    known = dict(values or {})
    known |= _values_of(frame.drop(known)) if len(known) < frame.width else {}
    known = {name: known[name] for name in frame.columns}
    whole = {name: found for name, values in known.items() if (found := _by_place(frame[name], values)) is not None}
    whole |= {series.name: long_codes(series) for series in frame if is_long(series)}
    places = frame.select(_place_among(name, values) for name, values in known.items() if name not in whole)
    codes = {series.name: filled(series, len(known[series.name])) for series in places}
    return {name: Coded(values, whole[name] if name in whole else codes[name]) for name, values in known.items()}


def is_long(series: pl.Series) -> bool:
    """Whether a column holds texts that are too long to be copied."""
    return series.dtype == pl.String and series.estimated_size() > LONG * (len(series) + 1)


def long_codes(series: pl.Series) -> Ints:
    """Long texts as numbers in their order, missing ones last: texts are not copied, but compared where they are."""
    heads = series.str.head(BEGINNING)
    order = heads.arg_sort(nulls_last=True).to_numpy().copy()
    begins = heads.gather(order)
    new, missing = np.ones(len(series), dtype=np.bool_), begins.is_null().to_numpy()
    new[1:] = begins.slice(1).ne_missing(begins.slice(0, len(series) - 1)).to_numpy()
    for begin, end in pairwise([*np.flatnonzero(new & ~missing), len(series) - missing.sum()]):
        if end - begin > 1:  # those that begin alike
            texts = series.gather(order[begin:end])
            inner = texts.arg_sort()
            texts, order[begin:end] = texts.gather(inner), order[begin:end][inner.to_numpy()]
            new[begin + 1 : end] = (texts.slice(1) != texts.slice(0, end - begin - 1)).to_numpy()
    codes = np.empty(len(series), dtype=np.int64)
    codes[order] = np.cumsum(new) - 1
    return codes


def _by_place(series: pl.Series, values: pl.Series) -> Ints | None:
    """The numbers of whole numbers that lie close together, by a table of all between the least and the largest."""
    if series.dtype != pl.Int64 or series.null_count() or not len(values):
        return None
    low, high = values[0], values[-1]
    if high - low >= CLOSE * len(series):
        return None
    number = np.zeros(high - low + 1, dtype=np.int64)
    number[values.to_numpy() - low] = np.arange(len(values))
    found: Ints = number.take(series.to_numpy() - low)
    return found


def value_codes(frame: pl.DataFrame) -> dict[str, Ints]:
    """Every value of each column as a number from 0, missing ones as a value of their own with the last number."""
    long = {series.name: long_codes(series) for series in frame if is_long(series)}
    short = coded(frame.drop(list(long))) if long else coded(frame)
    return {name: long[name] if name in long else short[name].codes for name in frame.columns}


def filled(codes: pl.Series, missing: int) -> Ints:
    """Numbers, with one more for missing cells."""
    return (codes.fill_null(missing) if codes.null_count() else codes).to_numpy()


def combined(columns: Sequence[npt.NDArray[np.integer]]) -> Ints:
    """Number the combinations of columns of numbers, in their order."""
    found = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:  # both factors are at most the number of rows, so their product fits
        codes = np.unique(column, return_inverse=True)[1]
        found = np.unique(found * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    return found.astype(np.int64)


def codes_together(columns: Iterable[npt.NDArray[np.integer]]) -> Ints:
    """One number for every combination of columns of numbers from 0, equal ones alike; there may be gaps.

    Quicker than `combined`: numbers are made anew only where they would grow too large.
    """
    found, n_codes = np.zeros(1, dtype=np.int64), 1
    for column in columns:
        n_values = int(column.max(initial=0)) + 1
        if n_codes * n_values >= MOST_CODES:
            found = np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
            n_codes = int(found.max(initial=0)) + 1
        found, n_codes = found * n_values + column, n_codes * n_values
    return found


def number_people(names: pl.Series) -> Ints:
    """One number for each person, from 0, in the order of their first rows: what people are called changes nothing."""
    ranks = names.cast(pl.String).rank("dense").fill_null(0).to_numpy()
    _, first, codes = np.unique(ranks, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int64)[codes.reshape(-1)]


def first_of_each(*columns: Ints) -> Ints:
    """Rows that are the first with their combination of numbers, in rising order."""
    return np.sort(np.unique(codes_together(columns), return_index=True)[1])


def renumbered(codes: Ints) -> Ints:
    """Numbers from 0 without gaps, in the order of the numbers that they stand for."""
    most = int(codes.max(initial=0))
    if most >= CLOSE * len(codes):
        return np.unique(codes, return_inverse=True)[1].reshape(-1)
    there = np.zeros(most + 1, dtype=np.bool_)
    there[codes] = True
    found: Ints = (np.cumsum(there) - 1).take(codes)
    return found


def class_labels(frame: pl.DataFrame) -> Ints:
    """Number rows with equal cells alike, from 0, whatever the order of their texts."""
    codes = pl.all().cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1) + 1
    # One column at a time where there are many rows; queries are what small tables cost.
    parts = [frame] if frame.height < MANY else [frame.select(name) for name in frame.columns]
    numbers = (series.to_numpy() for part in parts for series in part.select(codes))
    return np.unique(codes_together(numbers), return_inverse=True)[1].reshape(-1)


def distinct_rows(columns: Sequence[Ints]) -> Ints:
    """Columns of numbers as lines, each distinct one once."""
    rows = np.unique(combined(columns), return_index=True)[1]
    return np.stack([column[rows] for column in columns], axis=1)


def _plain(series: pl.Series) -> pl.Series:
    """Without types that only say how a value is kept, and with one sort of missing."""
    series = series.alias("value")
    if series.dtype in (pl.Categorical, pl.Enum, pl.Null):
        series = series.cast(pl.String)
    if series.dtype.is_decimal():
        series = series.cast(pl.Float64)
    if series.dtype.is_float():
        return series.cast(pl.Float64).fill_nan(None) + 0.0  # there is one zero
    if series.dtype == pl.String:
        return series.set((series == "").fill_null(value=False), None)
    return series


def _alike(columns: Sequence[pl.Series]) -> list[pl.Series]:
    """In one type that takes them all: whole numbers, numbers, instants, or text."""
    types = [series.dtype for series in columns]
    kept = [dtype for dtype in types if dtype.is_temporal()]
    if any(dtype.is_numeric() for dtype in types):
        kept = [pl.Int64(), pl.Float64()]
    for dtype in kept:
        cast = [series if series.dtype == dtype else _cast(series, dtype) for series in columns]
        if all(one.null_count() == series.null_count() for one, series in zip(cast, columns, strict=True)):
            return cast
    return [series.cast(pl.String) for series in columns]


def _cast(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """A column in another type, with more missing values where it does not fit."""
    if series.dtype.is_float() and dtype.is_integer():
        series = series.set(series != series.floor(), None)
    try:
        return series.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:  # no way from one type to the other; its message may hold cells
        return pl.Series(series.name, [None] * len(series), dtype=dtype)
