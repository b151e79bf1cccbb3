"""What a cell may stand for, whatever it is written like, and cells side by side as boxes of whole numbers.

Every column is laid on a line of whole numbers: the ends of its intervals in their order, or its categories. A cell is
a stretch of that line, or some places of it. A missing value and a cell that nobody can read have places of their own
beyond the end, so that "one cell contains another" is the same question for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int32]

ANY, MISSING, SPAN, SET, UNREAD = range(5)
"""Sorts of cells: everything, a missing value, all between two ends, one of some values, what cannot be read."""
FARTHEST = 2**31 - 1
"""Beyond every place of a line."""


class Range(NamedTuple):
    """What a cell may stand for: numbers, or places of categories in an order."""

    sort: int
    low: float = 0.0
    high: float = 0.0
    values: tuple[float, ...] = ()
    text: str = ""
    """The cell itself, where it cannot be read: it equals only itself."""
    complaint: str | None = None
    """Why a column of a release could not hold the cell; the cell itself is not in it."""


ANY_VALUE = Range(ANY)
MISSING_VALUE = Range(MISSING)


def refused(complaint: str) -> Range:
    """What a cell stands for that its column could not hold: nothing that is known."""
    return Range(UNREAD, complaint=complaint)


def span(low: float, high: float, *, open_low: bool = False, open_high: bool = False) -> Range | None:
    """All numbers between two ends, None where there are none; an open end is left out."""
    low = math.nextafter(low, math.inf) if open_low else low
    high = math.nextafter(high, -math.inf) if open_high else high
    return Range(SPAN, low + 0.0, high + 0.0) if low <= high else None  # + 0.0: there is one zero


def one_of(values: Sequence[float], *, discrete: bool) -> Range:
    """One of some values; those that follow one another in an order of categories are a span."""
    places = sorted(set(values))
    if len(places) == 1 or (discrete and places[-1] - places[0] == len(places) - 1):
        return Range(SPAN, places[0], places[-1])
    return Range(SET, places[0], places[-1], tuple(places))


class Axis(NamedTuple):
    """Distinct cells of one column on a line of whole numbers."""

    low: Places
    high: Places
    listed: Places
    """Which list of places a cell is, -1 for a whole stretch."""
    lists: list[Places]
    discrete: bool
    """Whether every place of the line is a value; otherwise there are values between the places."""


def axis_of(ranges: Sequence[Range], *, discrete: bool, numbers: Floats | None = None) -> Axis:
    """Lay the distinct cells of a column on a line; `discrete` says that their values are places of categories.

    `numbers` are more cells, behind the others, that each stand for one number: NaN for a missing value.
    """
    numbers = np.zeros(0) if numbers is None else numbers
    n, gone = len(ranges), np.isnan(numbers)
    sort = np.concatenate([_field(ranges, "sort", np.int64), np.where(gone, MISSING, SPAN)])
    inside, sets = np.flatnonzero((sort == SPAN) | (sort == SET)), np.flatnonzero(sort == SET).tolist()
    ends = np.stack([np.concatenate([_field(ranges, end, np.float64), numbers]) for end in ("low", "high")], axis=1)
    ends = ends[inside]
    known = np.unique(np.concatenate([ends.reshape(-1), *(np.array(ranges[at].values) for at in sets)]))
    top = (int(known[-1]) + 1 if len(known) else 0) if discrete else len(known)
    unread = {text: top + 1 + place for place, text in enumerate(sorted({m.text for m in ranges if m.sort == UNREAD}))}
    low, high = np.full(len(sort), -1, dtype=np.int32), np.full(len(sort), FARTHEST, dtype=np.int32)
    listed = np.full(len(sort), -1, dtype=np.int32)

    def place(numbers: npt.NDArray[np.float64]) -> Places:
        return (numbers if discrete else np.searchsorted(known, numbers)).astype(np.int32)

    low[inside], high[inside] = place(ends[:, 0]), place(ends[:, 1])
    low[sort == MISSING] = high[sort == MISSING] = top
    for at in np.flatnonzero(sort[:n] == UNREAD).tolist():
        low[at] = high[at] = unread[ranges[at].text]
    listed[sets] = np.arange(len(sets))
    return Axis(low, high, listed, [place(np.array(ranges[at].values, dtype=np.float64)) for at in sets], discrete)


def _field(ranges: Sequence[Range], name: str, dtype: type[Any]) -> npt.NDArray[Any]:
    """One field of all ranges."""
    return np.fromiter(map(attrgetter(name), ranges), dtype=dtype, count=len(ranges))


@dataclass(frozen=True, repr=False)
class Boxes:
    """Rows of cells, one stretch or list of places per column; arrays have one line per row."""

    low: Places
    high: Places
    listed: Places
    first: Ints
    """Where each list begins among `places`, and one past the last."""
    places: Places
    discrete: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.low)


def boxes_of(axes: Sequence[Axis], codes: npt.NDArray[np.integer]) -> Boxes:
    """Rows of cells, each cell given by its number on the axis of its column; `codes` has one line per row."""
    n_lists = np.cumsum([0, *(len(axis.lists) for axis in axes)])
    lists = [places for axis in axes for places in axis.lists]
    first = np.cumsum([0, *(len(places) for places in lists)]).astype(np.int64)
    columns = list(zip(axes, codes.T, n_lists, strict=False))
    listed = [np.where(axis.listed[code] < 0, -1, axis.listed[code] + before) for axis, code, before in columns]
    return Boxes(
        np.stack([axis.low[code] for axis, code, _ in columns], axis=1),
        np.stack([axis.high[code] for axis, code, _ in columns], axis=1),
        np.stack(listed, axis=1).astype(np.int32),
        first,
        np.concatenate([*lists, np.zeros(0, dtype=np.int32)]),
        np.array([axis.discrete for axis in axes], dtype=np.bool_),
    )


def distinct_cells(frame: pl.DataFrame) -> tuple[list[tuple[object, ...]], Ints]:
    """The distinct rows of a few columns, in the order they come, and which of them each row is."""
    names = [f"column {place}" for place in range(frame.width)]
    cells = frame.rename(dict(zip(frame.columns, names, strict=True)))
    known = cells.unique(maintain_order=True).with_row_index("number")
    numbers = cells.join(known, on=names, how="left", nulls_equal=True, maintain_order="left")["number"]
    return known.select(names).rows(), numbers.to_numpy().astype(np.int64)
