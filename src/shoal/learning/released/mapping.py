"""Rows that are not in a release, shown as it would show them: mapped to the class that covers them, or the nearest.

The distance of a row to a class is the sum over quasi-identifiers of how far the row's value is from the cell: 0 where
the cell covers it; for numbers and ranks the gap as a share of the column's range, 1 at most; for categories, and where
one of both is missing, 1. So a class covers a row exactly if the distance is 0. Of several at the same distance the row
gets the tightest class (the one whose cells leave least open), then the largest, then the first in the order of cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cell_forms import CellForm, form_of
from shoal.check.cells import Cell, read_cell
from shoal.check.placing import ranges_of_values
from shoal.check.value_ranges import ANY, MISSING, SPAN, UNREAD, Range, axis_of, distinct_cells
from shoal.errors import ParameterError, Problem
from shoal.learning.columns import Floats, Ints
from shoal.learning.released.cells import cell_texts, features, values_as_learnt_from
from shoal.release.manifest import Layout, QuasiColumn
from shoal.release.shapes import GENERALISED
from shoal.table.numbering import combined, distinct_rows, numbered
from shoal.table.schema import Schema

MOST_PAIRS = 4_000_000
"""Rows times classes whose distances are held at a time."""
NOWHERE = {MISSING: np.nan, UNREAD: np.inf}
"""Values that are no place on a line."""
LINES = ("interval", "order")
"""Forms whose values are places on a line, so that a value can be near a cell."""


@dataclass(frozen=True)
class Covered:
    """How many rows one class covers, several do, or none does; where cells generalise nothing, all are as they are."""

    by_one: int = 0
    by_several: int = 0
    by_none: int = 0
    as_they_are: int = 0

    def __add__(self, other: Covered) -> Covered:
        return Covered(
            self.by_one + other.by_one,
            self.by_several + other.by_several,
            self.by_none + other.by_none,
            self.as_they_are + other.as_they_are,
        )


def mapped(
    published: pl.DataFrame,
    layout: Layout,
    rows: pl.DataFrame,
    like: Mapping[str, pl.DataType],
    *,
    schema: Schema | None = None,
    numbers: str = "midpoint",
) -> tuple[pl.DataFrame, Covered]:
    """Rows as a release would show them, in the columns that are learnt from, and how many were covered.

    Averages, buckets, slices and records show values as the input has them, so rows stay as they are there; columns of
    slices that were generalised are looked at one by one, since cells of different slices do not belong together.

    Parameters
    ----------
    published
        The published rows with their cells, as `plausible_rows` gives them.
    layout
        How they are read.
    rows
        The rows to be mapped, in the types of the input.
    like
        The types of the columns that are learnt from.
    schema
        The hierarchies whole: without it, a value that the release does not show has no known place in a tree.
    numbers
        What an interval is learnt from as, ``"midpoint"`` or ``"ends"``.
    """
    found = values_as_learnt_from(rows, layout, like, numbers=numbers)
    columns = [column for column in layout.quasi if column.form in GENERALISED]
    if not columns:
        return found, Covered(as_they_are=rows.height)
    apart = bool(layout.slices)
    groups = [[one.model_copy(update={"columns": (one.name,)})] for one in columns] if apart else [columns]
    times = np.full(rows.height, np.iinfo(np.int64).max)
    for group in groups:
        classes = Classes.of(group, published)
        chosen, covering = classes.nearest(rows, schema)
        cells = [series for column in group for series in features(column, classes.heads, numbers)]
        found = found.with_columns([series.gather(chosen) for series in cells])
        times = np.minimum(times, covering)
    return found, Covered(int((times == 1).sum()), int((times > 1).sum()), int((times == 0).sum()))


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a release: their cells, the tightest class first, then the largest, then by their cells."""

    columns: Sequence[QuasiColumn]
    heads: pl.DataFrame
    """One row of each class."""

    @classmethod
    def of(cls, columns: Sequence[QuasiColumn], published: pl.DataFrame) -> Classes:
        """Gather published rows with equal cells."""
        labels = combined([numbered([cell_texts(column, published)])[0] for column in columns])
        _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
        heads = published[first].select(name for column in columns for name in column.columns)
        loss = np.sum([_losses(column, heads) for column in columns], axis=0)
        return cls(columns, heads[np.lexsort((-sizes, loss))])

    def nearest(self, rows: pl.DataFrame, schema: Schema | None) -> tuple[Ints, Ints]:
        """The class of each row, and how many cover it."""
        gaps = [_gaps(column, self.heads, rows[column.name], schema) for column in self.columns]
        codes = [gap.code for gap in gaps]
        tuples, place = distinct_rows(codes), combined(codes)
        chosen, covering = np.zeros(len(tuples), dtype=np.int64), np.zeros(len(tuples), dtype=np.int64)
        step = max(1, MOST_PAIRS // max(self.heads.height, 1))
        for begin in range(0, len(tuples), step):
            some = tuples[begin : begin + step]
            distance = np.zeros((len(some), self.heads.height))
            for column, gap in enumerate(gaps):
                distance += gap.to_classes(some[:, column])
            chosen[begin : begin + step] = np.argmin(distance, axis=1)
            covering[begin : begin + step] = (distance == 0).sum(axis=1)
        return chosen[place], covering[place]


def _losses(column: QuasiColumn, heads: pl.DataFrame) -> Floats:
    """How much of a column the cell of each class leaves open."""
    form = form_of(column)
    shown, place = distinct_cells(heads.select(column.columns))
    losses: Floats = np.array([form.loss(read_cell(form, *row).range).leaves for row in shown], dtype=np.float64)[place]
    return losses


@dataclass(frozen=True, eq=False)
class _Gaps(ABC):
    """How far the values of a column are from the cells of classes."""

    code: Ints
    """Which distinct value each row has."""

    @abstractmethod
    def to_classes(self, codes: Ints) -> Floats:
        """The distance of values, by their codes, to the cell of every class."""


@dataclass(frozen=True, eq=False)
class _LineGaps(_Gaps):
    """Numbers and ranks: 0 inside a cell, outside the gap as a share of the whole column."""

    value: Floats
    """NaN for a missing one, infinite for one without a place."""
    low: Floats
    high: Floats
    """Ends of the cell of each class: NaN where it is missing, infinite for `*`."""
    unit: float

    def to_classes(self, codes: Ints) -> Floats:
        value = self.value[codes][:, None]
        with np.errstate(invalid="ignore"):  # a value without a place, and a cell that covers all
            gap = np.maximum(np.maximum(self.low - value, value - self.high), 0.0)
        share = np.minimum(gap / self.unit, 1.0) if self.unit else np.where(gap > 0, 1.0, gap)
        gone = np.isnan(value)
        share = np.where(np.isnan(share), gone != np.isnan(self.low), share)
        found: Floats = np.where(gone & np.isinf(self.low), 0.0, share)  # `*` covers a missing value, too
        return found


@dataclass(frozen=True, eq=False)
class _NameGaps(_Gaps):
    """Categories: 0 where a cell covers them, else 1."""

    covers: npt.NDArray[np.bool_]
    """Whether a value, by line, is covered by a cell, by column."""
    cell: Ints
    """Which distinct cell each class has."""

    def to_classes(self, codes: Ints) -> Floats:
        found: Floats = np.where(self.covers[codes][:, self.cell], 0.0, 1.0)
        return found


def _gaps(column: QuasiColumn, heads: pl.DataFrame, values: pl.Series, schema: Schema | None) -> _Gaps:
    """Lay cells and values of a column out, so that distances can be worked out."""
    form = form_of(column)
    shown, cell_of = distinct_cells(heads.select(column.columns))
    known, code = distinct_cells(pl.DataFrame([values]))
    cells = [read_cell(form, *row) for row in shown]
    placed = _placed(form, [row[0] for row in known], schema)
    if column.form in LINES:
        return _on_a_line(form, cells, placed, cell_of, code)
    axis = axis_of([*(cell.range for cell in cells), *placed], discrete=form.discrete)
    n_cells = len(cells)
    places = axis.low[n_cells:][:, None]
    covers = (axis.low[:n_cells] <= places) & (places <= axis.high[:n_cells])
    for cell in np.flatnonzero(axis.listed[:n_cells] >= 0):
        covers[:, cell] = np.isin(places[:, 0], axis.lists[axis.listed[cell]])
    return _NameGaps(code, covers, cell_of)


def _on_a_line(form: CellForm, cells: Sequence[Cell], placed: Sequence[Range], cell_of: Ints, code: Ints) -> _LineGaps:
    """Ends of cells and places of values as numbers: all numbers for `*`, none for a missing one."""
    ends = np.array([_ends(cell.range) for cell in cells], dtype=np.float64)[cell_of]
    value = np.array([one.low if one.sort == SPAN else NOWHERE.get(one.sort) for one in placed], dtype=np.float64)
    return _LineGaps(code, value, ends[:, 0], ends[:, 1], form.unit)


def _ends(one: Range) -> tuple[float, float]:
    if one.sort == SPAN:
        return one.low, one.high
    return (-np.inf, np.inf) if one.sort == ANY else (np.nan, np.nan)


def _placed(form: CellForm, values: Sequence[object], schema: Schema | None) -> list[Range]:
    """What values are in the terms of cells; with the schema, one that its tree lacks is covered by `*` alone."""
    found = ranges_of_values(form, values, schema)
    if isinstance(found, str):
        if schema is None:
            raise ParameterError(Problem("held-out rows", found))
        each = [ranges_of_values(form, [value], schema) for value in values]
        return [Range(UNREAD) if isinstance(one, str) else one[0] for one in each]
    return found


__all__ = ["Classes", "Covered", "mapped"]
