"""Generalised cells as sets of values: all those of the input's column that a cell covers."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.check.cells import ReadColumn
from shoal.check.placing import axis_of_read, axis_with_values
from shoal.check.value_ranges import Axis, Places, distinct_cells
from shoal.errors import ParameterError, Problem
from shoal.measure.products import Component, Ints, Products, each
from shoal.release.manifest import Layout, QuasiColumn
from shoal.table.numbering import combined, distinct_rows, numbered
from shoal.table.schema import Schema

MOST_VALUES = 20_000_000
"""Lines that the cells of a slice may be written out as."""


def products_of_cells(
    rows: pl.DataFrame, layout: Layout, original: pl.DataFrame, schema: Schema | None = None
) -> Products:
    """Read generalised classes: each cell may stand for every value of the input's column that it covers.

    Parameters
    ----------
    rows
        The published table, row by row, with the cells of the quasi-identifiers.
    layout
        How it is to be read.
    original
        The rows of the input, in the types that the schema gives them.
    schema
        The hierarchies whole: without it, a value that the release does not show has no known place in a tree.
    """
    labels = combined([numbered([rows[name].cast(pl.String)])[0] for name in layout.class_columns])
    heads = rows[np.unique(labels, return_index=True)[1]]
    components, originals = [], []
    for column in layout.quasi:
        component, numbers = _covered(column, heads, original[column.name], schema)
        components.append(component)
        originals.append(numbers)
    if layout.passed:
        names = [column.name for column in layout.passed]
        ids = combined([np.concatenate(numbered([rows[name], original[name]])) for name in names])
        components.append(Component.of_pairs(labels, ids[: len(labels)], np.arange(heads.height)))
        originals.append(ids[len(labels) :])
    return Products(tuple(components), distinct_rows(originals))


def _covered(
    column: QuasiColumn, heads: pl.DataFrame, original: pl.Series, schema: Schema | None
) -> tuple[Component, Ints]:
    """The values that the cell of each class covers, and the value of each row of the input, in the same numbers."""
    shown, cell_of = distinct_cells(heads.select(column.columns))
    values, value_of = distinct_cells(pl.DataFrame([original]))
    axis = axis_with_values(column, shown, [row[0] for row in values], schema)
    component, number = _on_axis(axis, len(shown), cell_of)
    return component, number[value_of]


def _on_axis(axis: Axis | str, n_cells: int, cell_of: Ints) -> tuple[Component, Ints]:
    """What cells cover of the values behind them on an axis, and the number of each of these."""
    if isinstance(axis, str):
        raise ParameterError(Problem("original", axis))
    places = axis.low[n_cells:]
    order = np.argsort(places, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return _covers(axis, n_cells, places[order], cell_of), number


def covered(read: ReadColumn, values: pl.Series, schema: Schema | None) -> tuple[Component, Ints]:
    """The values that each distinct cell of a column covers, and the number of each; values are distinct."""
    ranges = [cell.range for cell in read.cells]
    axis = axis_of_read(read.form, ranges, values, schema)
    return _on_axis(axis, len(ranges), np.arange(len(ranges)))


def _covers(axis: Axis, n_cells: int, places: Places, cell_of: Ints) -> Component:
    """Stretches of a line as runs of the values that lie in them; a list of places is as many stretches."""
    listed = axis.listed[:n_cells]
    n_runs = np.array([1 if one < 0 else len(axis.lists[one]) for one in listed], dtype=np.int64)
    cells, begin = np.repeat(np.arange(n_cells), n_runs), np.concatenate([[0], np.cumsum(n_runs)])
    ends = [axis.low[:n_cells][cells].astype(np.int64), axis.high[:n_cells][cells].astype(np.int64)]
    for cell in np.flatnonzero(listed >= 0):
        for end in ends:
            end[begin[cell] : begin[cell + 1]] = axis.lists[listed[cell]]
    low, high = np.searchsorted(places, ends[0], side="left"), np.searchsorted(places, ends[1], side="right") - 1
    kept = low <= high
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)[begin]
    low, high = low[kept].astype(np.int64), high[kept].astype(np.int64)
    return Component(before[:-1][cell_of], before[1:][cell_of], low, high)


def written_out(shown: pl.DataFrame, column: QuasiColumn, original: pl.Series, schema: Schema | None) -> pl.DataFrame:
    """Replace each cell of a column by the values it covers, with a line for each of them; equal lines are one."""
    name = column.name
    cells = shown.select(name).unique()
    component, number = _covered(column.model_copy(update={"columns": (name,)}), cells, original, schema)
    sizes = pl.DataFrame([cells[name], pl.Series("\0size", component.sizes)])
    size = shown.join(sizes, on=name, nulls_equal=True)["\0size"].sum()
    if size > MOST_VALUES:
        what = f"the cells of {name!r} cover {size} combinations, more than {MOST_VALUES}"
        raise ParameterError(Problem("membership", what, "generalise less, or put the column into a slice of its own"))
    runs = each(component.start, component.stop)
    numbers = each(component.low[runs], component.high[runs] + 1)
    values = original[np.unique(number, return_index=True)[1]].alias("\0value")
    pairs = pl.DataFrame([cells[name][np.repeat(np.arange(cells.height), component.sizes)], values[numbers]])
    opened = shown.join(pairs, on=name, nulls_equal=True)
    return opened.select(pl.col("\0value").alias(name) if one == name else one for one in shown.columns).unique()
