"""Grades: a sensitive number as its category and its place within it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems, ShoalWarning, counted, rows_at
from shoal.personal.base import ColumnPublisher, Shown
from shoal.personal.secret import Secret
from shoal.spec import ColumnName, Maybe, OneOf, Ranges, Whole, param
from shoal.table.prepare import Table
from shoal.table.schema import Numeric

Floats = npt.NDArray[np.float64]
HIGHEST = 0.999
"""Grade within a category, at most, so that its whole part is the category."""


@dataclass(frozen=True)
class Grades(ColumnPublisher):
    """Show a sensitive number as the number of its category plus a grade within it, from 0 to 0.999.

    Parameters
    ----------
    column
        The sensitive column, of numbers.
    categories
        Lower and upper end of each category, in rising order. A category holds its lower end; its upper end too, unless
        the next begins there.
    quantiles
        Number of categories with about equally many rows each, in place of `categories`.
    variant
        ``"linear"``, as published: the share of the way from the lower to the upper end. ``"random"``: numbers in the
        order of the values, with random steps.

    Guarantee
    ---------
    None by itself: categories and the order of values are published as they are, and what models require is judged as
    if every grade were known. A linear grade is undone by two people whose value is known. A random grade is a function
    of the order of the values and of the secret alone: known people say between which known values a value lies, and
    nothing more.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [31, 32, 33, 34], "income": [10, 21, 22, 40]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    >>> release = shoal.anonymize(
    ...     frame, schema, shoal.Mdav(k=2), publish=Grades("income", categories=[[10, 40]]), seed=7)
    >>> sorted(round(grade, 5) for grade in release.table["income"])
    [1.0, 1.36667, 1.4, 1.999]

    References
    ----------
    Poovammal, Ponnavaikko, "Categorical grading based personalized privacy preservation against attacks", 2009; the
    listing is corrected: its loop leaves out the last category and assigns nothing at the ends.
    """

    name: ClassVar[str] = "grades"
    title: ClassVar[str] = "sensitive numbers as their category and a grade within it"
    form: ClassVar[Literal["aliases", "grades"]] = "grades"

    column: str = param(ColumnName(), "the sensitive column, of numbers")
    categories: Sequence[Sequence[float]] | None = param(
        Maybe(Ranges()), "lower and upper end of each category, in rising order", default=None
    )
    quantiles: int | None = param(Maybe(Whole(1)), "number of categories with equally many rows each", default=None)
    variant: str = param(OneOf(("linear", "random")), "how the grade within a category is found", default="linear")

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column without numbers, categories that are not given, and values outside all of them."""
        if not self.check_column(table, problems):
            return
        if not isinstance(table.schema.columns[self.column].kind, Numeric):
            fix = "make the column numeric, or show categories by Aliases"
            problems.add(self.where, "the column is not numeric", fix, error=ParameterError)
            return
        if (self.categories is None) == (self.quantiles is None):
            fix = "give categories= or quantiles=, and not both"
            problems.add(self.where, "does not say what the categories are", fix, error=ParameterError)
            return
        numbers = _numbers(table, self.column)
        place = _places(numbers, self._ranges(numbers))
        outside = table.kept[~np.isnan(numbers) & (place < 0)].tolist()
        if outside:
            what = f"{counted(len(outside), 'value is', 'values are')} outside all categories, at {rows_at(outside)}"
            problems.add(
                f"column {self.column!r}", what, f"extend the categories of {self.where}", error=ParameterError
            )

    def show(self, table: Table, secret: Secret) -> Shown:
        """What each row shows, of a table all of whose rows are published; a missing number stays missing."""
        numbers = _numbers(table, self.column)
        ranges = self._ranges(numbers)
        known = np.unique(numbers[~np.isnan(numbers)])
        place = _places(known, ranges)
        if self.variant == "linear":
            what = f"{self.where}: linear grades are undone by two people whose value is known"
            warnings.warn(f'{what}; use variant = "random"', ShoalWarning, stacklevel=2)
        inside = _linear(known, place, ranges) if self.variant == "linear" else _random(place, secret)
        grades = place + 1 + inside
        cells = np.full(len(numbers), np.nan)
        cells[~np.isnan(numbers)] = grades[np.searchsorted(known, numbers[~np.isnan(numbers)])]
        given = table.frame[self.column]
        values = given.drop_nulls().unique().sort()
        places = np.searchsorted(known, values.cast(pl.Float64).to_numpy())  # whole numbers beyond 2^53 may share one
        stands_for: dict[float, tuple[float, ...]] = {}
        for grade, value in zip(grades[places].tolist(), values.to_list(), strict=True):
            stands_for[grade] = (*stands_for.get(grade, ()), value)
        shown = pl.Series(self.column, cells).fill_nan(None)
        if (grades == np.floor(grades)).all():  # as every column of whole numbers is written
            shown = shown.cast(pl.Int64)
        return Shown(shown, Numeric(), stands_for, categories=tuple(map(tuple, ranges.tolist())))

    def judged(self, table: Table) -> pl.Series:
        """The column with the lowest of all values that share a grade in place of each of them."""
        given, numbers = table.frame[self.column], _numbers(table, self.column)
        values = given.drop_nulls().unique().sort()
        grades = values.cast(pl.Float64).to_numpy()  # whole numbers beyond 2^53 may share one
        if self.variant == "linear":
            ranges = self._ranges(numbers)
            place = _places(grades, ranges)
            grades = place + 1 + _linear(grades, place, ranges)
        lowest = np.maximum.accumulate(np.where(np.diff(grades, prepend=-np.inf) > 0, np.arange(len(grades)), 0))
        if (lowest == np.arange(len(grades))).all():
            return given
        return given.replace_strict(values, values[lowest], default=None, return_dtype=given.dtype)

    def _ranges(self, numbers: Floats) -> Floats:
        """Lower and upper end of each category."""
        if self.categories is not None:
            return np.array(self.categories, dtype=np.float64)
        known = np.sort(numbers[~np.isnan(numbers)])
        if not len(known):
            return np.zeros((0, 2))
        n = self.quantiles or 1
        cuts = np.unique([known[0], *(known[len(known) * part // n] for part in range(1, n)), known[-1]])
        return np.stack([cuts[:-1], cuts[1:]], axis=1) if len(cuts) > 1 else np.array([[cuts[0], cuts[0]]])


def _numbers(table: Table, column: str) -> Floats:
    return table.frame[column].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _places(numbers: Floats, ranges: Floats) -> npt.NDArray[np.int64]:
    """Which category each number is in; -1 for one that is in none, or missing."""
    place = np.searchsorted(ranges[:, 0], numbers, side="right").astype(np.int64) - 1
    place[np.isnan(numbers)] = -1
    high = ranges[np.maximum(place, 0), 1] if len(ranges) else numbers
    return np.where((place >= 0) & (numbers <= high), place, -1)


def _linear(known: Floats, place: npt.NDArray[np.int64], ranges: Floats) -> Floats:
    """The share of the way from the lower to the upper end, at most 0.999; 0 where there is no way."""
    low, high = ranges[place, 0], ranges[place, 1]
    width = np.where(high > low, high - low, 1.0)
    shares: Floats = np.minimum((known - low) / width, HIGHEST)
    return shares


def _random(place: npt.NDArray[np.int64], secret: Secret) -> Floats:
    """Rising numbers with random steps in each category: they depend on the order of its values alone."""
    inside = np.empty(len(place))
    steps = -np.log(secret.uniform(2 * len(place) + 1))
    begin = 0
    for category in np.unique(place):
        rows = np.flatnonzero(place == category)
        sums = np.cumsum(steps[begin : begin + len(rows) + 1])
        inside[rows] = HIGHEST * sums[:-1] / sums[-1]
        begin += len(rows) + 1
    return inside
