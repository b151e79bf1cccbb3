"""Whose row each published one is: what only the holder knows, who has the input and where its rows went.

The receipt says which published row shows which row of the input. It is not believed: every row must show what its
input row has, so that people are counted who are in the classes, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.original import input_rows
from shoal.check.placing import axis_with_values
from shoal.check.value_ranges import Axis, distinct_cells
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems
from shoal.release.manifest import Manifest, QuasiColumn
from shoal.release.shapes import GENERALISED
from shoal.table.clean import clean
from shoal.table.markers import Markers
from shoal.table.numbering import number_people
from shoal.table.schema import Column, Schema

Ints = npt.NDArray[np.int64]


def whose_rows(
    tables: Mapping[str, pl.DataFrame],
    manifest: Manifest,
    original: pl.DataFrame,
    places: Ints,
    schema: Schema,
    missing_values: Markers = (),
) -> Ints:
    """The person of each published row, as numbers; an error where rows do not show what the input has.

    Parameters
    ----------
    tables, manifest
        The release.
    original
        Its input, whole.
    places
        The published row of each row of the input; -1 where it is not published.
    schema
        The schema that the release was made with; it names the column that says whose row each one is.
    missing_values
        Texts that stand for a missing cell of the input, besides the empty text.
    """
    person = schema.person
    if person is None or person not in original.columns:
        what = "names no person" if person is None else f"names the person {person!r}, a column that the original lacks"
        raise ParameterError(Problem("schema=", what, "give the schema that the release was made with"))
    rows = input_rows(manifest, original, missing_values)
    row_of = _row_of(places, rows.height, manifest.rows.published)
    aligned, shape = rows[row_of], manifest.layout.laid_out
    shown = shape.rows(tables, manifest.layout, Problems())
    problems = Problems()
    for passed in manifest.layout.passed:
        if passed.name not in manifest.layout.hidden:
            _compare(shown[passed.name], aligned[passed.name], problems)
    for column in manifest.layout.quasi:
        if column.form in GENERALISED:
            _check_covered(column, shown.select(column.columns), aligned[column.name], schema, problems)
    problems.raise_if_any(GuaranteeError)
    names = clean(original[person], Column(person, "person"), missing_values, problems)
    if names.null_count():
        what = f"{names.null_count()} cells are missing, so that nobody can say whose rows they are"
        raise ParameterError(Problem(f"column {person!r}", what, "fill them, or leave these rows out of the table"))
    return number_people(names)[row_of]


def _row_of(places: Ints, n_input: int, n_published: int) -> Ints:
    """The row of the input that each published row shows."""
    rows = np.flatnonzero(places >= 0)
    row_of = np.full(n_published, -1, dtype=np.int64)
    if len(places) == n_input and len(rows) == n_published and places.max(initial=-1) < n_published:
        row_of[places[rows]] = rows
    if (row_of < 0).any():
        what = "does not say of every published row which row of the input it shows"
        raise GuaranteeError(Problem("receipt", what, "give the receipt that was written beside the release"))
    return row_of


def _compare(shown: pl.Series, had: pl.Series, problems: Problems) -> None:
    """Note rows that show something else than they had, in a column that is published as it is."""
    as_numbers = had.dtype.is_numeric()
    seen = shown.cast(pl.Float64, strict=False) if as_numbers else shown.cast(pl.String)
    known = had.cast(pl.Float64) if as_numbers else had.cast(pl.String)
    if other := int((~seen.eq_missing(known)).sum()):
        problems.add(f"column {shown.name!r}", f"{other} rows show another value than the original has")


def _check_covered(
    column: QuasiColumn, cells: pl.DataFrame, had: pl.Series, schema: Schema, problems: Problems
) -> None:
    """Note rows whose cell does not cover what they had."""
    known, cell_of = distinct_cells(cells)
    values, value_of = distinct_cells(had.to_frame())
    axis = axis_with_values(column, known, [row[0] for row in values], schema)
    if isinstance(axis, str):
        problems.add("original", axis)
        return
    pairs, times = np.unique(np.stack([cell_of, value_of + len(known)]), axis=1, return_counts=True)
    if outside := int(times[~_covers(axis, *pairs)].sum()):
        what = f"{outside} rows show cells that do not cover what the original has"
        problems.add(f"column {column.name!r}", what)


def _covers(axis: Axis, cell: Ints, value: Ints) -> npt.NDArray[np.bool_]:
    """Whether each cell covers the value beside it."""
    covered = (axis.low[cell] <= axis.low[value]) & (axis.high[value] <= axis.high[cell])
    for at in np.flatnonzero(covered & (axis.listed[cell] >= 0)).tolist():
        covered[at] = axis.low[value[at]] in axis.lists[axis.listed[cell[at]]]
    return covered
