"""People found in slices: which combination of quasi-identifiers covers whom, and which may cover the same person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.placing import axis_with_values
from shoal.check.value_ranges import SPAN, Axis, Range, axis_of, boxes_of, distinct_cells
from shoal.errors import GuaranteeError, InternalError, ParameterError, Problem
from shoal.kernels.check import fitting as kernel
from shoal.release.manifest import QuasiColumn
from shoal.table.numbering import combined, numbered
from shoal.table.schema import Schema

BLOCK = 1 << 22
"""How many cells are compared with people's values at once."""

Ints = npt.NDArray[np.int64]


def _axis(column: QuasiColumn, cells: Sequence[tuple[object, ...]]) -> Axis:
    """Distinct cells of a column on a line; values that were not generalised stand for themselves alone."""
    if column.form == "raw":
        return axis_of([Range(SPAN, place, place) for place in range(len(cells))], discrete=True)
    axis = axis_with_values(column, cells, [])
    if isinstance(axis, str):
        raise InternalError(axis)
    return axis


def covering_alike(frame: pl.DataFrame, columns: Sequence[QuasiColumn], part: Ints) -> Ints:
    """The combinations of a slice numbered so that those have one number that may cover the same person."""
    heads = np.unique(part, return_index=True)[1]
    if all(column.form == "raw" for column in columns):
        return np.arange(len(heads))
    axes, codes = [], []
    for column in columns:
        cells, code = distinct_cells(frame[heads].select(column.name))
        axes.append(_axis(column, cells))
        codes.append(code)
    boxes = boxes_of(axes, np.stack(codes, axis=1))
    groups = kernel.groups_that_meet(boxes.low, boxes.high, boxes.listed, boxes.first, boxes.places)
    return np.asarray(groups)


def placed(
    frame: pl.DataFrame, columns: Sequence[QuasiColumn], original: pl.DataFrame, schema: Schema | None, name: str
) -> tuple[Ints, Ints]:
    """The combination that each row of a slice shows, and that of everybody in the original; -1 for none."""
    n_shown = frame.height
    if not columns:
        return np.zeros(n_shown, dtype=np.int64), np.zeros(original.height, dtype=np.int64)
    if all(column.form == "raw" for column in columns):
        both = [np.concatenate(numbered([frame[one.name], original[one.name]])) for one in columns]
        ids = combined(both)
        known = np.unique(ids[:n_shown])
        number = np.full(int(ids.max(initial=0)) + 1, -1, dtype=np.int64)
        number[known] = np.arange(len(known))
        return number[ids[:n_shown]], number[ids[n_shown:]]
    return _covering(frame, columns, original, schema, name)


def _covering(
    frame: pl.DataFrame, columns: Sequence[QuasiColumn], original: pl.DataFrame, schema: Schema | None, name: str
) -> tuple[Ints, Ints]:
    """The same where cells were generalised: everybody has the one combination that covers the person's values."""
    shown, part = distinct_cells(frame.select([column.name for column in columns]))
    people, person = distinct_cells(original.select([column.name for column in columns]))
    fits = []
    for j, column in enumerate(columns):
        axis = axis_with_values(column, [(row[j],) for row in shown], [row[j] for row in people], schema)
        if isinstance(axis, str):
            raise ParameterError(Problem("original=", axis))
        n = len(shown)
        fits.append((axis.low[:n], axis.high[:n], axis.low[n:]))
    home, n_homes = np.full(len(people), -1, dtype=np.int64), np.zeros(len(people), dtype=np.int64)
    step = max(BLOCK // max(len(shown), 1), 1)
    for begin in range(0, len(people), step):
        block = slice(begin, begin + step)
        inside = np.ones((len(home[block]), len(shown)), dtype=np.bool_)
        for low, high, at in fits:
            inside &= (low[None, :] <= at[block, None]) & (at[block, None] <= high[None, :])
        home[block], n_homes[block] = inside.argmax(axis=1), inside.sum(axis=1)
    if (n_homes > 1).any():
        raise GuaranteeError(Problem("slices", f"{name} has combinations that cover each other"))
    home[n_homes == 0] = -1
    return part, home[person]
