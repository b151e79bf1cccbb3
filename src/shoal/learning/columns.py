"""Columns as a decision tree sees them: numbers in their order, or names, each as whole numbers from 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problems

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MISSING = -1
"""The code of a cell that is missing, or that holds a category nobody has seen."""
_NAMES = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)


@dataclass(frozen=True, eq=False)
class Attribute:
    """A column that may be asked about: its name, and the values it had where the tree was trained."""

    name: str
    numeric: bool
    values: pl.Series
    """Each value once, rising: numbers as floats, categories as text."""

    @classmethod
    def of(cls, series: pl.Series) -> Attribute:
        """What a column of the training table is; columns of numbers are numeric, all others nominal."""
        return attributes_of([series])[0]

    @property
    def width(self) -> int:
        """Branches that a split on it has."""
        return 2 if self.numeric else len(self.values)

    def codes(self, series: pl.Series) -> Ints:
        """Cells as whole numbers: where a number stands among the values, which of the categories a text is.

        A number between two values has the code of the upper one, so that it is at most the value with code c exactly
        if its code is at most c.
        """
        found: Ints = coded([self], series.to_frame(self.name))[0]
        return found

    def coding(self, cells: pl.Expr) -> pl.Expr:
        """Codes of categories; of numbers, what they are, for their codes are looked up in one go."""
        if self.numeric:
            return _plain(cells, numeric=True)
        known = pl.Series(range(len(self.values)), dtype=pl.Int64)
        text = cells.cast(pl.String)
        return text.replace_strict(self.values, known, default=None, return_dtype=pl.Int64).fill_null(MISSING)

    def placed(self, cells: pl.Series) -> Ints:
        """The codes of cells in that form."""
        if not self.numeric:
            return cells.to_numpy()
        place = np.searchsorted(self.values.to_numpy(), cells.fill_null(0.0).to_numpy(), side="left")
        return np.where(cells.is_null().to_numpy(), MISSING, place) if cells.null_count() else place


def attributes_of(columns: Sequence[pl.Series]) -> tuple[Attribute, ...]:
    """What columns of the training table are: those of numbers are numeric, all others nominal."""
    numeric = [series.dtype.is_numeric() for series in columns]
    values = _numbered(columns).select(
        _plain(pl.col(str(place)), numeric=one).drop_nulls().unique().sort().implode()
        for place, one in enumerate(numeric)
    )
    return tuple(
        Attribute(series.name, one, values[str(place)][0])
        for place, (series, one) in enumerate(zip(columns, numeric, strict=True))
    )


def _numbered(columns: Sequence[pl.Series]) -> pl.DataFrame:
    """Columns by their numbers: a name may be a pattern. One query asks for all of them, for that is what costs."""
    return pl.DataFrame([series.alias(str(place)) for place, series in enumerate(columns)])


def _plain(cells: pl.Expr, *, numeric: bool) -> pl.Expr:
    """Numbers as floats, everything else as text; what is no number, and an empty text, is missing."""
    if numeric:
        return cells.cast(pl.Float64).fill_nan(None)
    text = cells.cast(pl.String)
    return pl.when(text != "").then(text)


def check_columns(frame: pl.DataFrame, names: Iterable[str], problems: Problems) -> None:
    """Note columns that are neither numbers nor categories."""
    for name in names:
        dtype = frame.schema[name]
        if not dtype.is_numeric() and dtype not in _NAMES:
            problems.add(f"column {name!r}", f"has type {dtype}", "make it a number or a text, or leave it out")


def coded(attributes: Sequence[Attribute], frame: pl.DataFrame) -> Ints:
    """The codes of all attributes, one line per attribute."""
    cells = _numbered([frame[attribute.name] for attribute in attributes]).select(
        attribute.coding(pl.col(str(place))) for place, attribute in enumerate(attributes)
    )
    lines = [attribute.placed(series) for attribute, series in zip(attributes, cells, strict=True)]
    return np.array(lines, dtype=np.int64).reshape(len(lines), frame.height)


def sums(amounts: Floats, group: Ints, n_groups: int) -> Floats:
    """The sum of the amounts of each group."""
    found: Floats = np.bincount(group, amounts, minlength=n_groups)  # type: ignore[assignment]
    return found
