"""Squared errors within groups, against the input: what the measures of them share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problems
from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.release.receipt import InputFigure
from shoal.table.numbering import CLOSE, Coded
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
    _scaled: dict[str, _Scaled] = field(default_factory=dict)

    def total(self, columns: Iterable[str]) -> float:
        """The sum over columns."""
        return math.fsum(self._error(name) for name in columns)

    @cached_property
    def of_one_group(self) -> GroupErrors:
        """The same with all rows in one group."""
        return GroupErrors(self.table, np.zeros(len(self.labels), dtype=np.int64), _scaled=self._scaled)

    def _error(self, name: str) -> float:
        if name not in self._known:
            if isinstance(self.table.published[name], Numeric):
                if name not in self._scaled:
                    self._scaled[name] = _Scaled.of(self.table.frame[name].cast(pl.Float64))
                self._known[name] = _number_error(self._scaled[name], self.labels)
            else:
                self._known[name] = _mismatches(self._codes[name].codes, self.labels)
        return self._known[name]

    @cached_property
    def _codes(self) -> dict[str, Coded]:
        """The categories of every column that has no numbers, numbered in their order, missing last."""
        return self.table.coded(name for name, kind in self.table.published.items() if not isinstance(kind, Numeric))


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
        found = self.of_groups(given.once(errors_of))
        return {} if found is None else {found.measure: found.value}

    def of_groups(self, errors: GroupErrors) -> InputFigure | None:
        """The figure with the columns that enter, as a receipt has it."""
        columns = self.columns(errors.table)
        if not columns:
            return None
        return InputFigure(measure=self.name, value=self.value(errors, columns), columns=tuple(columns))


def errors_of(given: Given) -> GroupErrors:
    """The errors of the groups of a release, which several measures ask for."""
    assert given.labels is not None  # noqa: S101  seen to before
    return GroupErrors(given.table, given.labels[given.table.kept])


def numbers_of(table: Table) -> list[str]:
    """The numeric quasi-identifiers."""
    return [name for name, kind in table.quasi.items() if isinstance(kind, Numeric)]


class _Scaled(NamedTuple):
    """Standardised numbers; a missing one is as far from any number as two numbers can be."""

    there: npt.NDArray[np.bool_]
    x: Floats
    gap: float

    @classmethod
    def of(cls, series: pl.Series) -> _Scaled:
        """Scale a column."""
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
        return cls(there, np.where(there, (values - (present.mean() if len(present) else 0.0)) / spread, 0.0), gap)


def _number_error(scaled: _Scaled, labels: Labels) -> float:
    """Squared error of standardised numbers; the mean of a group is missing where more than half of its numbers are."""
    there, x, gap = scaled
    inside = labels >= 0
    n_groups = int(labels.max(initial=-1)) + 1
    groups = [(labels, there, x)] if inside.all() else [(labels[inside], there[inside], x[inside])]
    if not inside.all():  # one group more stands for the whole table: suppressed rows are measured against it
        groups.append((np.full(len(labels), n_groups), there, x))
    size, known, total = np.zeros(n_groups + 1), np.zeros(n_groups + 1), np.zeros(n_groups + 1)
    for rows, present, numbers in groups:
        size += np.bincount(rows, minlength=n_groups + 1)
        known += np.bincount(rows, weights=present, minlength=n_groups + 1)
        total += np.bincount(rows, weights=numbers, minlength=n_groups + 1)
    mean = np.divide(total, known, out=np.zeros(n_groups + 1), where=known > 0)
    group = labels if inside.all() else np.where(inside, labels, n_groups)
    if there.all():
        return float(((x - mean.take(group)) ** 2).sum())
    is_missing = 2 * (size - known) > size
    error = np.where(there, (x - mean[group]) ** 2, gap)
    error[is_missing[group]] = np.where(there, gap, 0.0)[is_missing[group]]
    return float(error.sum())


def _mismatches(codes: Labels, labels: Labels) -> float:
    """Rows that differ from the most frequent value of their group; suppressed ones from that of the whole table."""
    inside = labels >= 0
    if inside.all():
        return float(len(labels) - n_leading(labels, codes))
    leading = n_leading(labels[inside], codes[inside])
    mode = np.argmax(np.bincount(codes, minlength=1))  # the smallest value of those that tie, missing last
    return float(len(labels) - leading - (codes[~inside] == mode).sum())


def n_leading(labels: Labels, codes: Labels) -> int:
    """How many rows have the most frequent value of their group; both are numbers from 0."""
    n_values, n_groups = int(codes.max(initial=0)) + 1, int(labels.max(initial=-1)) + 1
    keys = labels * n_values + codes
    if n_values * n_groups <= 2 * CLOSE * len(labels):
        counts = np.bincount(keys, minlength=n_values * n_groups)
        return int(counts.reshape(n_groups, n_values).max(axis=1, initial=0).sum())
    found, counts = np.unique(keys, return_counts=True)
    leading = np.zeros(n_groups, dtype=np.int64)
    np.maximum.at(leading, found // n_values, counts)
    return int(leading.sum())
