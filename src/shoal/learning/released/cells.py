"""Published cells as columns that can be learnt from.

An interval is its midpoint, or both its ends. A generalised category is a category of its own, at its level. An average
is a number. A cell that says nothing, missing or `*` in a column of numbers, is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.check.cell_forms import STAR, CellForm, form_of
from shoal.check.cells import Cell, read_cell
from shoal.check.value_ranges import ANY, SPAN, distinct_cells
from shoal.release.manifest import Layout, QuasiColumn
from shoal.release.queries import Answers
from shoal.release.shapes import GENERALISED

NUMBER, TEXT = pl.Float64(), pl.String()


def as_learnt_from(rows: pl.DataFrame, layout: Layout, *, numbers: str = "midpoint") -> pl.DataFrame:
    """Published rows as a table to learn from, its columns named as those of the input are.

    Parameters
    ----------
    rows
        The published rows with their cells, as `plausible_rows` gives them.
    layout
        How they are read.
    numbers
        ``"midpoint"``: an interval is the number in its middle. ``"ends"``: it is two columns, one for each end.
    """
    columns = [feature for column in layout.quasi for feature in features(_named(column, rows), rows, numbers)]
    return pl.DataFrame([*columns, *(plain(rows[column.name]) for column in layout.passed)])


def plausible_rows(tables: Mapping[str, pl.DataFrame], layout: Layout, draw: int) -> pl.DataFrame:
    """Every row with its cells, beside what says the class; drawn, where cells of a row are published apart."""
    if layout.laid_out.protects == "links":
        return Answers.of(tables, layout).plausible_table(draw)
    return layout.laid_out.full_rows(tables, layout)


def _named(column: QuasiColumn, rows: pl.DataFrame) -> QuasiColumn:
    """The column as rows have it: slices that were put together name it as the input does."""
    return column if set(column.columns) <= set(rows.columns) else column.model_copy(update={"columns": (column.name,)})


def features(column: QuasiColumn, rows: pl.DataFrame, numbers: str) -> list[pl.Series]:
    """One quasi-identifier of published rows as it is learnt from."""
    if column.form not in GENERALISED:
        return [plain(rows[column.name], number=column.kind == "numeric")]
    if column.form != "interval":
        return [cell_texts(column, rows)]
    form = form_of(column)
    shown, place = distinct_cells(rows.select(column.columns))
    ranges = [read_cell(form, *row).range for row in shown]
    low, high = (
        pl.Series([getattr(one, end) if one.sort == SPAN else None for one in ranges], dtype=NUMBER).gather(place)
        for end in ("low", "high")
    )
    if numbers == "ends":
        return [low.alias(_end(column.name, "low")), high.alias(_end(column.name, "high"))]
    return [(low / 2 + high / 2).alias(column.name)]


def cell_texts(column: QuasiColumn, rows: pl.DataFrame) -> pl.Series:
    """Generalised cells as texts, whatever the layout: a missing one is missing, one that says nothing is `*`."""
    form = form_of(column)
    shown, place = distinct_cells(rows.select(column.columns))
    texts = [_text(form, read_cell(form, *row), row) for row in shown]
    return pl.Series(column.name, texts, dtype=TEXT).gather(place)


def _text(form: CellForm, cell: Cell, shown: tuple[object, ...]) -> str | None:
    """The text of one cell, also where both ends have columns of their own."""
    if cell.range.sort == ANY:
        return STAR
    if len(shown) > 1 and cell.names:
        return form.written(cell.names)
    return None if shown[0] is None else str(shown[0])


def values_as_learnt_from(
    rows: pl.DataFrame, layout: Layout, like: Mapping[str, pl.DataType], *, numbers: str = "midpoint"
) -> pl.DataFrame:
    """Rows as they were before publishing, in the columns of `as_learnt_from`: each number is its own interval.

    `like` has the types of the columns that were learnt from: what is read from files may be texts there.
    """
    columns = []
    for column in layout.quasi:
        if column.form == "interval" and numbers == "ends":
            own = plain(rows[column.name], number=True)
            columns += [own.alias(_end(column.name, end)) for end in ("low", "high")]
        else:
            columns.append(plain(rows[column.name], number=like[column.name].is_numeric()))
    return pl.DataFrame(
        [*columns, *(plain(rows[one.name], number=like[one.name].is_numeric()) for one in layout.passed)]
    )


def _end(name: str, end: str) -> str:
    """The name of the column that has one end of intervals; no column of a table can have it."""
    return f"{name}\0{end}"


def plain(series: pl.Series, *, number: bool | None = None) -> pl.Series:
    """Numbers as numbers and everything else as text; `number` says which it is, where that is known."""
    is_number = series.dtype.is_numeric() if number is None else number
    return series.cast(NUMBER, strict=False) if is_number else series.cast(TEXT)
