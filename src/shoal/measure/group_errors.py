"""Squared errors within groups, against the input: what the measures of them share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problems
from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.release.receipt import InputFigure
from shoal.table.numbering import value_codes
from shoal.table.prepare import Table
from shoal.table.schema import Numeric

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False, eq=False)
class GroupErrors:
    """Squared errors within groups, column by column, each worked out once."""

    table: Table
    """The input."""
    labels: Labels
    """Group of each row, -1 for a suppressed one: it counts with what it differs from the whole table."""
    _known: dict[str, float] = field(default_factory=dict)

    def total(self, columns: Iterable[str]) -> float:
        """The sum over columns."""
        return math.fsum(self._error(name) for name in columns)

    def of_one_group(self) -> GroupErrors:
        """The same with all rows in one group."""
        return GroupErrors(self.table, np.zeros(len(self.labels), dtype=np.int64))

    def _error(self, name: str) -> float:
        if name not in self._known:
            if isinstance(self.table.published[name], Numeric):
                self._known[name] = _number_error(self.table.frame[name].cast(pl.Float64), self.labels)
            else:
                self._known[name] = _mismatches(self._codes[name], self.labels)
        return self._known[name]

    @cached_property
    def _codes(self) -> dict[str, Labels]:
        """The categories of every column that has no numbers, numbered in their order, missing last."""
        names = [name for name, kind in self.table.published.items() if not isinstance(kind, Numeric)]
        return value_codes(self.table.frame.select(names))


class GroupMeasure(Measure):
    """A measure of how far the values of the input are from what is typical of their group."""

    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES

    @abstractmethod
    def columns(self, table: Table) -> list[str]:
        """The columns that enter; where there are none, there is no figure."""

    def value(self, errors: GroupErrors, columns: list[str]) -> float:
        """The sum of the errors of these columns."""
        return errors.total(columns)

    def check(self, given: Given, problems: Problems) -> None:
        """Note, besides, a release of which nobody says which rows were in one group."""
        super().check(given, problems)
        if given.labels is None:
            what = "needs the groups of the input, and the files of a release do not have them"
            problems.add(f"measure {self.name}", what, "read the release with its receipt, which has the figure")

    def entries(self, given: Given) -> dict[str, float]:
        """The figure, where a column enters."""
        assert given.labels is not None  # noqa: S101  seen to before
        found = self.of_groups(given.once(_errors))
        return {} if found is None else {found.measure: found.value}

    def of_groups(self, errors: GroupErrors) -> InputFigure | None:
        """The figure with the columns that enter, as a receipt has it."""
        columns = self.columns(errors.table)
        if not columns:
            return None
        return InputFigure(measure=self.name, value=self.value(errors, columns), columns=tuple(columns))


def _errors(given: Given) -> GroupErrors:
    """The errors of the groups of a release, which several measures ask for."""
    assert given.labels is not None  # noqa: S101  seen to before
    return GroupErrors(given.table, given.labels[given.table.kept])


def numbers_of(table: Table) -> list[str]:
    """The numeric quasi-identifiers."""
    return [name for name, kind in table.quasi.items() if isinstance(kind, Numeric)]


def _number_error(series: pl.Series, labels: Labels) -> float:
    """Squared error of standardised numbers; a missing one is as far from any number as two numbers can be.

    The mean of a group is missing where more than half of its numbers are.
    """
    values = series.to_numpy()
    there = np.isfinite(values)
    # To less than 1 by a power of two, which is exact: numbers of any size can be squared.
    values = np.ldexp(values, -np.frexp(np.abs(values[there]).max(initial=0.0))[1])
    present = values[there]
    if not len(present) or present.min() == present.max():
        spread, gap = 1.0, float(len(present) > 0)
    else:
        spread = float(np.std(present))
        gap = ((present.max() - present.min()) / spread) ** 2
    x = np.where(there, (values - (present.mean() if len(present) else 0.0)) / spread, 0.0)
    inside = labels >= 0
    n_groups = int(labels.max(initial=-1)) + 1
    # One group more stands for the whole table: suppressed rows are measured against it.
    rows = np.concatenate([labels[inside], np.full(len(labels), n_groups)])
    where = np.concatenate([np.flatnonzero(inside), np.arange(len(labels))])
    size = np.bincount(rows, minlength=n_groups + 1)
    known = np.bincount(rows, weights=there[where], minlength=n_groups + 1)
    total = np.bincount(rows, weights=x[where], minlength=n_groups + 1)
    mean = np.divide(total, known, out=np.zeros(n_groups + 1), where=known > 0)
    is_missing = 2 * (size - known) > size
    group = np.where(inside, labels, n_groups)
    error = np.where(there, (x - mean[group]) ** 2, gap)
    error[is_missing[group]] = np.where(there, gap, 0.0)[is_missing[group]]
    return float(error.sum())


def _mismatches(codes: Labels, labels: Labels) -> float:
    """Rows that differ from the most frequent value of their group; suppressed ones from that of the whole table."""
    inside = labels >= 0
    n_values, n_groups = int(codes.max(initial=0)) + 1, int(labels.max(initial=-1)) + 1
    found, counts = np.unique(labels[inside] * n_values + codes[inside], return_counts=True)
    leading = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(leading, found // n_values, counts)
    mode = np.argmax(np.bincount(codes, minlength=1))  # the smallest value of those that tie, missing last
    return float(len(labels) - leading.sum() - (codes[~inside] == mode).sum())
