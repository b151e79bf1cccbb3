"""Published cells read back, once: what each may stand for, or why its column could not hold it.

What is lost, what is wrong, whom a class covers and what contains what all follow from these ranges. This is the
reader's side. It shares nothing with the code that writes cells: a checker that parsed with the writer's own functions
would repeat the writer's mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import polars as pl

from shoal.check.cell_forms import STAR, CellForm, Loss, Names, form_of
from shoal.check.texts import Texts
from shoal.check.value_ranges import ANY_VALUE, MISSING_VALUE, Range, refused
from shoal.release.manifest import QuasiColumn

FLAGS = {"none": None, "true": True, "false": False}
"""What a column says that tells whether values were missing: some, all, none."""


class Cell(NamedTuple):
    """What one published cell may stand for, and the values it names: both ends of an interval, members of a set."""

    range: Range
    names: Names = ()


def read_cell(form: CellForm, *cells: object) -> Cell:
    """Read one cell from the published columns that carry it."""
    column = form.column
    if len(column.columns) > 1 or (column.form == "value" and column.kind == "numeric"):
        n_ends = 1 if column.form == "value" else 2
        return _read_typed(form, cells[:n_ends], *cells[n_ends:])
    text = cells[0]
    if text is None:
        return Cell(MISSING_VALUE if column.has_missing else refused("missing, though no value of the column was"))
    if text == STAR and column.form != "raw":
        allowed = column.has_missing or form.says_star
        return Cell(ANY_VALUE if allowed else refused("'*', though no value of the column was missing"))
    names = form.names(str(text))
    return Cell(refused(names)) if isinstance(names, str) else Cell(form.range(names), names)


def _read_typed(form: CellForm, ends: Sequence[object], missing: object = False) -> Cell:
    """Read a value, or both ends of a range, beside what says whether values were missing."""
    flag = str(missing).lower()
    if flag not in FLAGS:
        return Cell(refused("neither true nor false where it says whether values were missing"))
    gone = FLAGS[flag]
    if all(end is None for end in ends):
        if gone is False or not form.column.has_missing:
            return Cell(refused("empty, though no value was missing"))
        return Cell(MISSING_VALUE if gone else ANY_VALUE)
    if any(end is None for end in ends):
        return Cell(refused("one end without the other"))
    if gone is not False:
        return Cell(refused("a value that is said to be missing"))
    names = tuple(str(end) for end in ends)
    return Cell(form.range(names), names)


@dataclass(frozen=True)
class ReadColumn:
    """One quasi-identifier of a published table: its distinct cells, and how many rows show each."""

    form: CellForm
    shown: tuple[tuple[object, ...], ...]
    """The distinct cells as they are published."""
    cells: tuple[Cell, ...]
    counts: tuple[int, ...]

    @property
    def column(self) -> QuasiColumn:
        """How the manifest says that it is published."""
        return self.form.column

    @cached_property
    def losses(self) -> list[Loss]:
        """How much of the column each distinct cell leaves open."""
        return [self.form.loss(cell.range) for cell in self.cells]

    @property
    def complaints(self) -> dict[str, int]:
        """What is wrong with the cells, and in how many rows."""
        found: dict[str, int] = {}
        for cell, count in zip(self.cells, self.counts, strict=True):
            if complaint := cell.range.complaint:
                found[complaint] = found.get(complaint, 0) + count
        return found


def read_column(
    column: QuasiColumn, frame: pl.DataFrame, weight: str | None = None, texts: Texts | None = None
) -> ReadColumn:
    """Read the cells of one quasi-identifier.

    Parameters
    ----------
    column, frame
        How the manifest says that it is published, and the cells.
    weight
        A column that says how many rows a row stands for.
    texts
        What is known of the texts of the frame already.
    """
    form = form_of(column)
    if (known := _known(column, frame, weight, texts)) is not None:
        shown, counts = known
    else:
        *distinct, counted = _counted(frame, column.columns, weight)
        shown, counts = tuple(zip(*(cells.to_list() for cells in distinct), strict=True)), tuple(counted.to_list())
    return ReadColumn(form, shown, tuple(read_cell(form, *row) for row in shown), counts)


def _known(
    column: QuasiColumn, frame: pl.DataFrame, weight: str | None, texts: Texts | None
) -> tuple[tuple[tuple[object, ...], ...], tuple[int, ...]] | None:
    """The distinct cells of a column of texts and how many rows have each, missing first; None for other columns."""
    name = column.columns[0]
    if texts is None or weight is not None or len(column.columns) > 1 or frame.schema[name] != pl.String:
        return None
    values, _, n_values = found = texts.of(frame, [name])[name]
    if values is None:
        return None
    counts: list[int] = found.counts.tolist()
    rows = [*(((None,), counts[n_values]),) * (counts[n_values] > 0), *zip(zip(values.to_list()), counts, strict=False)]
    return tuple(row for row, _ in rows), tuple(count for _, count in rows)


def _counted(frame: pl.DataFrame, columns: Sequence[str], weight: str | None) -> pl.DataFrame:
    """The distinct rows of some columns in their order, and how many rows each stands for.

    Sums over them are the same to the last bit whenever a release is read.
    """
    if len(columns) == 1 and weight is None:
        found = frame[columns[0]].value_counts(name="\0count")  # quick, and most columns of most releases
    else:
        count = pl.len() if weight is None else pl.col(weight).cast(pl.Int64).sum()
        found = frame.group_by(columns).agg(count.alias("\0count"))
    return found.sort(columns)
