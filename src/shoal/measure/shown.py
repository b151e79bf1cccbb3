"""A release in the values of its input: which of them every published cell may stand for.

Whatever the shape, a cell is a set of values of the input's column. A generalised cell stands for all that it covers, a
value published as it is for itself, a category that stands for a class for itself, an average for the nearest number of
the input. A cell that says nothing (`*`) stands for every value. Values of a set are as likely, each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cells import Cell, ReadColumn, read_column
from shoal.check.hidden import opened
from shoal.check.value_ranges import ANY, MISSING, SPAN
from shoal.errors import GuaranteeError, Problems
from shoal.measure.base import Given, another_input
from shoal.measure.covered import covered
from shoal.release.manifest import Layout
from shoal.release.shapes import GENERALISED
from shoal.table.numbering import Coded, coded, codes_together, numbered
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Ordinal, Schema

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class InputColumn:
    """A published column as the input has it."""

    name: str
    kind: str
    """`numeric`, `ordinal` or `nominal`; a column without a kind is numeric where it holds numbers."""
    values: pl.Series
    """Its distinct values, numbers and texts sorted; a missing one, if there is any, is the last."""
    code: Ints
    """Which of them each row of the input has."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    """The place of each category of an ordinal column, where the schema is known."""

    @property
    def n_values(self) -> int:
        """How many there are, missing counting as one."""
        return len(self.values)

    @cached_property
    def numbers(self) -> Floats:
        """The values as numbers, NaN for a missing one; all NaN for categories."""
        if self.kind != "numeric":
            return np.full(self.n_values, np.nan)
        return self.values.cast(pl.Float64).to_numpy().astype(np.float64)

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return self.values.null_count() > 0


@dataclass(frozen=True, repr=False, eq=False)
class Cells:
    """A column as a part of a release shows it: the distinct cell of each row, and what values each may stand for."""

    line: Ints
    """Which distinct cell each row shows."""
    start: Ints
    stop: Ints
    """First run of the set of each distinct cell, and one past its last."""
    low: Ints
    high: Ints
    """First and last place of each run."""
    value_at: Ints
    """The value of the input at each place."""
    point: Floats | None = None
    """The number that each cell shows, where it shows one that stands for a class; NaN where it does not."""
    as_they_are: bool = False
    """Whether the cells are those of the input, row by row."""

    @property
    def n_cells(self) -> int:
        """Distinct cells."""
        return len(self.start)

    @cached_property
    def sizes(self) -> Ints:
        """How many values each cell may stand for."""
        before = np.concatenate([[0], np.cumsum(self.high - self.low + 1)]).astype(np.int64)
        return before[self.stop] - before[self.start]

    @cached_property
    def is_plain(self) -> bool:
        """Whether every cell stands for one value, and is that value's own: values as they are."""
        return self.point is None and bool((self.sizes == 1).all()) and len(self.low) == self.n_cells

    @cached_property
    def plain_value(self) -> Ints:
        """The value of each cell that stands for one; of any other, the first it may stand for."""
        return self.value_at[self.low[self.start]]

    def totals(self, features: Floats) -> Floats:
        """The sum, over the values that each cell may stand for, of some features of them."""
        if self.is_plain:
            return features[self.plain_value]
        before = _before(features[self.value_at])
        runs: Floats = before[self.high + 1] - before[self.low]
        if len(runs) == self.n_cells and (self.stop - self.start == 1).all():
            return runs[self.start]
        found: Floats = _before(runs)
        return found[self.stop] - found[self.start]

    def means(self, features: Floats) -> Floats:
        """The same on average: what can be expected of somebody who shows the cell."""
        if self.is_plain:
            return features[self.plain_value]
        found: Floats = self.totals(features) / self.sizes[:, None]
        return found

    def holds(self, cells: Ints, codes: Ints) -> npt.NDArray[np.bool_]:
        """Whether cells, by their numbers, may stand for values, by their codes."""
        place_of = np.empty(len(self.value_at), dtype=np.int64)
        place_of[self.value_at] = np.arange(len(self.value_at))
        wanted, inside = place_of[codes], np.zeros(len(cells), dtype=np.bool_)
        n_runs = (self.stop - self.start)[cells]
        for step in range(int(n_runs.max(initial=0))):  # most cells are one run
            some = np.flatnonzero(n_runs > step)
            run = self.start[cells[some]] + step
            inside[some] |= (self.low[run] <= wanted[some]) & (wanted[some] <= self.high[run])
        return inside

    def drawn(self, rng: np.random.Generator) -> Ints:
        """For each row, one of the values that its cell may stand for, each as likely."""
        if self.is_plain:
            return self.plain_value[self.line]
        rank = rng.integers(0, self.sizes[self.line])
        before = np.concatenate([[0], np.cumsum(self.high - self.low + 1)]).astype(np.int64)
        wanted = before[self.start[self.line]] + rank
        run = np.searchsorted(before, wanted, side="right") - 1
        return self.value_at[self.low[run] + wanted - before[run]]


def _before(features: Floats) -> Floats:
    """Sums of all lines before each."""
    found: Floats = np.concatenate([np.zeros((1, features.shape[1])), np.cumsum(features, axis=0)])
    return found


class Alike(NamedTuple):
    """Rows that show the same cells of quasi-identifiers."""

    head: Ints
    """The first row of each sort; sorts are numbered as they come."""
    of_row: Ints
    """The sort of each row."""

    @classmethod
    def of(cls, labels: Ints) -> Alike:
        """Number sorts that have any numbers from 0, each at least once, as they come."""
        first = np.empty(int(labels.max(initial=-1)) + 1, dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)  # what is written last stays
        order = np.argsort(first)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        return cls(first[order], number[labels])

    def joined(self, columns: Sequence[Ints]) -> tuple[Ints, Ints]:
        """Sorts that are equal in columns that depend on nothing else, in the order of these: heads, and of each row.

        The same as of all rows, but only one of each sort is looked at.
        """
        number = codes_together([column[self.head] for column in columns])
        _, head, sort = np.unique(number, return_index=True, return_inverse=True)
        return self.head[head], sort.reshape(-1).astype(np.int64)[self.of_row]


@dataclass(frozen=True, repr=False, eq=False)
class Part:
    """Rows of a release whose cells belong together; rows of different parts do by their bucket alone."""

    columns: Mapping[str, Cells]
    bucket: Ints
    weight: Floats
    """How many people a row stands for: less than one where some rows of its class are counterfeits."""
    alike: Alike | None = None
    """Rows that show the same in all columns but those that are as they are, where that is known."""

    @cached_property
    def units(self) -> tuple[Ints, Floats]:
        """Rows that show the same but for values as they are: one row of each sort, and the people in it."""
        vague = [cells for cells in self.columns.values() if not cells.is_plain]
        if not vague:
            head, unit = np.zeros(min(len(self.weight), 1), np.int64), np.zeros(len(self.weight), np.int64)
        else:
            head, unit = self.joined(vague)
        size: Floats = np.bincount(unit, weights=self.weight).astype(np.float64)
        return head, size

    def joined(self, columns: Sequence[Cells]) -> tuple[Ints, Ints]:
        """Rows that show the same in some columns, in the order of these: the first of each sort, and that of a row."""
        lines = [cells.line for cells in columns]
        if self.alike is not None and not any(cells.as_they_are for cells in columns):
            return self.alike.joined(lines)
        _, head, sort = np.unique(codes_together(lines), return_index=True, return_inverse=True)
        return head.astype(np.int64), sort.reshape(-1).astype(np.int64)


@dataclass(frozen=True, repr=False, eq=False)
class Shown:
    """All that a release shows, part by part, beside its input."""

    columns: Mapping[str, InputColumn]
    """The columns that can be compared, in the order of the input; those with aliases or grades only with the key."""
    parts: tuple[Part, ...]
    n_rows: int
    """Rows of the input."""
    n_left_out: int

    @classmethod
    def of(cls, given: Given) -> Shown:
        """Read a release of any shape beside its input."""
        tables, layout = _opened(given)
        rows = given.input
        names = [name for name in rows.columns if name in layout.kinds and name not in layout.hidden]
        schema = given.grown_schema
        columns = _columns(rows.select(names), layout, schema, None if schema is None else given.table)
        read = layout.laid_out.parts(tables, layout)
        buckets = numbered([bucket for _, bucket in read]) if len(read) > 1 else [np.zeros(read[0][0].height, np.int64)]
        known = {} if layout.laid_out.protects != "cells" else {one.column.name: one for one in given.columns}
        parts = []
        for (frame, _), bucket in zip(read, buckets, strict=True):
            alike = Alike.of(given.row_classes) if _shows_classes(given, frame) else None
            cells = {name: _cells(columns[name], layout, frame, schema, known.get(name), alike) for name in names}
            there = {name: found for name, found in cells.items() if found is not None}
            parts.append(Part(there, bucket, _weights(tables, layout, frame.height), alike))
        return cls(columns, tuple(parts), rows.height, given.n_left_out)

    def home(self, *names: str) -> Part | None:
        """A part that has all of some columns; None if they stand apart."""
        return next((part for part in self.parts if all(name in part.columns for name in names)), None)


def _opened(given: Given) -> tuple[Mapping[str, pl.DataFrame], Layout]:
    """The release; with the key, with what aliases and grades stand for."""
    if given.key is None or not given.manifest.layout.hidden:
        return given.tables, given.manifest.layout
    given.key.check_belongs(given.manifest)
    problems = Problems()
    tables, manifest, _ = opened(given.tables, given.manifest, given.key, problems)
    problems.raise_if_any(GuaranteeError)
    return tables, manifest.layout


def _weights(tables: Mapping[str, pl.DataFrame], layout: Layout, n_rows: int) -> Floats:
    """How many people every row stands for."""
    if not layout.laid_out.has_counterfeits:
        return np.ones(n_rows)
    share = pl.col("counterfeits").cast(pl.Int64) / pl.col("size").cast(pl.Int64)
    classes = tables[str(layout.class_table)].select(pl.col("class").cast(pl.String), weight=1.0 - share)
    rows = tables["table"].select(pl.col("class").cast(pl.String))
    return rows.join(classes, on="class", how="left", maintain_order="left")["weight"].to_numpy().astype(np.float64)


def _shows_classes(given: Given, frame: pl.DataFrame) -> bool:
    """Whether rows that are in one class are those that show the same quasi-identifiers."""
    layout = given.manifest.layout
    return frame is given.rows and set(layout.class_columns) == {name for one in layout.quasi for name in one.columns}


def _columns(
    rows: pl.DataFrame, layout: Layout, schema: Schema | None, table: Table | None
) -> dict[str, InputColumn]:  # fmt: skip
    """Number the values of the columns of the input; those of a table that has the same cells have numbers already."""
    same = []
    if table is not None and not table.dropped:
        there = [name for name in rows.columns if name in table.frame.columns]
        same = [name for name in there if rows[name].equals(table.frame[name], check_dtypes=True, null_equal=True)]
    known = coded(rows.drop(same)) | ({} if table is None else table.coded(same))
    kinds = {} if schema is None else {one.name: one.kind for one in schema}
    return {name: _column(rows[name], layout.kinds[name], known[name], kinds.get(name)) for name in rows.columns}


def _column(series: pl.Series, kind: str | None, known: Coded, declared: Kind | None) -> InputColumn:
    """A column of the input, whose values have numbers."""
    values = known.values
    if series.null_count():
        values = pl.concat([values, pl.Series(series.name, [None], dtype=values.dtype)])
    kind = kind or ("numeric" if series.dtype.is_numeric() else "nominal")
    return InputColumn(series.name, kind, values, known.codes, declared.ranks if isinstance(declared, Ordinal) else {})


def _cells(
    column: InputColumn, layout: Layout, frame: pl.DataFrame, schema: Schema | None, known: ReadColumn | None,
    alike: Alike | None,
) -> Cells | None:  # fmt: skip
    """A column as some rows show it; None if they do not. Its cells may have been read before."""
    quasi = next((one for one in layout.quasi if one.name == column.name), None)
    if quasi is None or quasi.form == "raw":
        strange = layout.laid_out.has_counterfeits
        return _as_they_are(column, frame[column.name], strange) if column.name in frame.columns else None
    if column.name in frame.columns and not set(quasi.columns) <= set(frame.columns):
        quasi = quasi.model_copy(update={"columns": (column.name,)})  # slices have the names of the input
    if not set(quasi.columns) <= set(frame.columns):
        return None
    cells = frame.select(quasi.columns)
    read = known or read_column(quasi, cells)
    heads = pl.DataFrame(read.shown, schema=cells.schema, orient="row")
    line = _place(cells, heads) if alike is None else _place(cells[alike.head], heads)[alike.of_row]
    if quasi.form in GENERALISED:
        return _generalised(column, read, line, schema)
    return _standing(column, read, line)


def _place(cells: pl.DataFrame, heads: pl.DataFrame) -> Ints:
    """Which of some distinct rows each row is."""
    known = heads.with_row_index("\0number")
    found = cells.join(known, on=heads.columns, how="left", nulls_equal=True, maintain_order="left")["\0number"]
    return found.to_numpy().astype(np.int64)


def _as_they_are(column: InputColumn, shown: pl.Series, strange: bool) -> Cells:
    """Values of the input, each its own cell; a counterfeit's that the input does not have says nothing."""
    own, codes = coded(shown.to_frame())[shown.name]
    heads = pl.concat([own, pl.Series(shown.name, [None], dtype=own.dtype)]) if shown.null_count() else own
    seen, known = numbered([heads, column.values])
    code_of = np.full(int(max(seen.max(initial=0), known.max(initial=0))) + 1, -1, dtype=np.int64)
    code_of[known] = np.arange(column.n_values)
    every, ends = np.arange(column.n_values), np.arange(column.n_values)
    if (code_of[seen] < 0).any() and strange:
        code_of[code_of < 0] = column.n_values
        every, ends = np.append(every, 0), np.append(ends, column.n_values - 1)
    elif (code_of[seen] < 0).any():
        raise another_input(f"lacks values of column {column.name!r} that the release shows")
    line, cell = code_of[seen][codes], np.arange(len(every))
    return Cells(line, cell, cell + 1, every, ends, np.arange(column.n_values), as_they_are=True)


def _generalised(column: InputColumn, read: ReadColumn, line: Ints, schema: Schema | None) -> Cells:
    """Cells that cover values of the input."""
    sets, place = covered(read, column.values, schema)
    value_at = np.empty(column.n_values, dtype=np.int64)
    value_at[place] = np.arange(column.n_values)
    found = Cells(line, sets.start, sets.stop, sets.low, sets.high, value_at)
    if (found.sizes == 0).any():
        raise another_input(f"has no value that some cells of column {column.name!r} could stand for")
    return found


def _standing(column: InputColumn, read: ReadColumn, line: Ints) -> Cells:
    """One value that stands for those of a class."""
    cells = read.cells
    last = column.n_values - column.has_missing
    if any(cell.range.sort == MISSING for cell in cells) and not column.has_missing:
        raise another_input(f"has no missing value in column {column.name!r}, and the release shows some")
    if read.column.kind == "numeric":
        point = np.array([cell.range.low if cell.range.sort == SPAN else np.nan for cell in cells])
        places = _nearest(column.numbers[:last], point)
    else:
        point, places = None, _named(column, cells)
    every = np.array([cell.range.sort == ANY for cell in cells]) | (places < 0)
    gone = np.array([cell.range.sort == MISSING for cell in cells])
    low = np.where(every, 0, np.where(gone, last, places))
    high = np.where(every, column.n_values - 1, low)
    order = np.arange(len(cells))
    return Cells(line, order, order + 1, low, high, np.arange(column.n_values), point)


def _nearest(numbers: Floats, wanted: Floats) -> Ints:
    """The place of the number nearest to each wanted one, the lower of two; numbers rise."""
    if not len(numbers):
        return np.zeros(len(wanted), dtype=np.int64)
    above = np.clip(np.searchsorted(numbers, wanted), 0, len(numbers) - 1)
    below = np.maximum(above - 1, 0)
    found: Ints = np.where(wanted - numbers[below] <= numbers[above] - wanted, below, above).astype(np.int64)
    return found


def _named(column: InputColumn, cells: Sequence[Cell]) -> Ints:
    """The value that each cell names, 0 for one that names none; -1 for a category between those that there are."""
    known = {text: code for code, text in enumerate(column.values.cast(pl.String).to_list()) if text is not None}
    found = [known.get(cell.names[0], -1) if cell.names else 0 for cell in cells]
    if min(found, default=0) < 0 and column.kind != "ordinal":
        raise another_input(f"lacks values of column {column.name!r} that the release shows")
    return np.array(found, dtype=np.int64)


__all__ = ["Cells", "InputColumn", "Part", "Shown"]
