"""One quasi-identifier of classes that show a value for all of their rows, beside what these rows have in the input.

Numbers, categories of an order and names are all read as floats, so that one can be compared with the other: numbers
divided by a power of two to less than 1, ranks, and numbers given to names as they are met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cell_forms import form_of
from shoal.check.cells import read_cell
from shoal.check.value_ranges import SPAN, distinct_cells
from shoal.errors import ParameterError, Problem
from shoal.release.manifest import QuasiColumn
from shoal.table.schema import Ordinal, Schema

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
LEAST_POWER = -996
"""Numbers below 2 to this power are not made larger: they have fewer digits than others."""


@dataclass(frozen=True, eq=False)
class ShownValue:
    """A quasi-identifier, class by class and row by row."""

    column: QuasiColumn
    label: Ints
    """The class of every row."""
    had: Floats
    """What every row has in the input; NaN where it is missing."""
    shown: Floats
    """The value that every class shows; NaN where it shows none, or one that its column could not have."""
    sort: Ints
    """What every class shows: `SPAN` for a value, `MISSING`, or `ANY` where some values are missing."""
    power: int = 0
    """Numbers were divided by 2 to this power."""
    n_values: int = 0
    """Categories of an order."""

    @classmethod
    def of(cls, column: QuasiColumn, cells: pl.DataFrame, had: pl.Series, label: Ints, schema: Schema) -> ShownValue:
        """Read what the rows of classes show and have; all rows of a class show the same."""
        form, first = form_of(column), np.unique(label, return_index=True)[1]
        known, cell_of = distinct_cells(cells[first])
        sort = np.array([read_cell(form, *row).range.sort for row in known], dtype=np.int64)[cell_of]
        shown, power, n_values = cells[column.columns[0]][first], 0, 0
        if column.kind == "numeric":
            own, values = (_floats(one.cast(pl.Float64, strict=False)) for one in (had, shown))
            power = max(int(np.frexp(np.abs(own[~np.isnan(own)]).max(initial=0.0))[1]), LEAST_POWER)
            own, values = np.ldexp(own, -power), np.ldexp(values, -power)
        else:
            texts = _order(column, had, schema)
            n_values, own, values = len(texts), _places(had, texts), _places(shown, texts)
        return cls(column, label, own, np.where(sort == SPAN, values, np.nan), sort, power, n_values)

    @cached_property
    def n_rows(self) -> Ints:
        """Rows of every class."""
        return np.bincount(self.label)

    @cached_property
    def n_missing(self) -> Ints:
        """Rows of every class in which the value is missing."""
        return np.bincount(self.label[np.isnan(self.had)], minlength=len(self.n_rows))

    @cached_property
    def ordered(self) -> tuple[Floats, Ints, Ints]:
        """All values that are there, by class and in rising order; where each class begins, and how many it has."""
        there = np.flatnonzero(~np.isnan(self.had))
        order = there[np.lexsort((self.had[there], self.label[there]))]
        counts = self.n_rows - self.n_missing
        return self.had[order], np.cumsum(counts) - counts, counts


def _order(column: QuasiColumn, had: pl.Series, schema: Schema) -> Sequence[str]:
    """The categories of a column: in their order, where it has one, and else as they come."""
    found: list[str] = had.drop_nulls().cast(pl.String).unique().sort().to_list()
    if column.kind != "ordinal":
        return found
    kind = schema.quasi.get(column.name)
    if not isinstance(kind, Ordinal) or not set(found) <= set(kind.order):
        what = f"its order of {column.name!r} is not the one of the release"
        raise ParameterError(Problem("schema=", what, "give the schema the release was made with"))
    return kind.order


def _places(texts: pl.Series, order: Sequence[str]) -> Floats:
    """The place of every text in an order; NaN where it has none."""
    place = pl.Series(range(len(order)), dtype=pl.Float64)
    known = pl.Series(order, dtype=pl.String)
    return _floats(texts.cast(pl.String).replace_strict(known, place, default=None, return_dtype=pl.Float64))


def _floats(series: pl.Series) -> Floats:
    return series.fill_null(np.nan).to_numpy().astype(np.float64)
