"""What both measures of breaches share: of every published row, the share of its class that gives something away.

A breach is the same for all rows of a class that show the same value. So it is counted once for every pair of a class
and a value, from sorted pairs, and handed out to the rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.check.hidden import opened
from shoal.check.sensitive_values import sensitive_values
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, did_you_mean
from shoal.measure.base import MATCHING_SHAPES, Given, Measure
from shoal.privacy.base import Classes, Floats, Ints, Values
from shoal.privacy.counts import Counts
from shoal.spec import ColumnName, Maybe, Share, param
from shoal.table.numbering import class_labels

SUMMARIES = ("mean", "max", "share")
"""What is said of the breaches of all rows."""


@dataclass(frozen=True, repr=False, eq=False)
class Breach:
    """The breaches of one column in every class, one entry for each pair of a class and a value."""

    counts: Counts
    """How often each value occurs in each class."""
    rows: Ints
    """Rows of the class that count for somebody with that value."""

    @cached_property
    def shares(self) -> Floats:
        """The breach of every pair."""
        return self.rows / self.counts.sizes[self.counts.owner]

    @property
    def mean(self) -> float:
        """Over all rows; the same whatever order the classes are in."""
        by_class = self.counts.total(self.counts.count * self.rows) / self.counts.sizes
        return math.fsum(by_class.tolist()) / max(int(self.counts.sizes.sum()), 1)

    @property
    def largest(self) -> float:
        """The largest; 0 where there is no row."""
        return float(self.shares.max(initial=0.0))

    def share_above(self, threshold: float) -> float:
        """Share of the rows with a larger breach."""
        above = int(self.counts.count[self.shares > threshold].sum())
        return above / max(int(self.counts.sizes.sum()), 1)

    def by_row(self, labels: Ints, codes: Ints) -> Floats:
        """The breach of every row, by its class and its value."""
        pairs = self.counts.owner * self.counts.n_codes + self.counts.code
        return self.shares[np.searchsorted(pairs, labels * self.counts.n_codes + codes)]


@dataclass(frozen=True)
class BreachMeasure(Measure):
    """A breach of sensitive values: mean and largest one of all rows, and the share of rows above a threshold."""

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = MATCHING_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = tuple(f":{what}:<column>" for what in SUMMARIES)

    column: str | None = param(
        Maybe(ColumnName()), "the one sensitive column to look at; all that fit, if not given", default=None
    )
    threshold: float = param(Share(), "`share` counts the rows whose breach is larger", default=0.5)

    @abstractmethod
    def misfit(self, values: Values) -> str | None:
        """Say why a column cannot be looked at this way, or None."""

    @abstractmethod
    def counted(self, values: Values, counts: Counts) -> Ints:
        """Of each pair of a class and a value, the rows of the class that count for somebody with that value."""

    def entries(self, given: Given) -> dict[str, float]:
        """The three figures of every column."""
        found: dict[str, float] = {}
        for column, breach in self.breaches(given.once(classes_of)):
            values = (breach.mean, breach.largest, breach.share_above(self.threshold))
            found |= {f"{self.name}:{what}:{column}": value for what, value in zip(SUMMARIES, values, strict=True)}
        return found

    def breaches(self, classes: Classes) -> Iterator[tuple[str, Breach]]:
        """The breaches of each column that can be looked at; of the one that was asked for, or why it cannot."""
        if self.column is not None:
            self._check_column(self.column, classes)
        for column, values in classes.columns.items():
            fits = column not in classes.sealed and self.misfit(values) is None
            if fits and self.column in (None, column):
                counts = classes.count(column)
                yield column, Breach(counts, self.counted(values, counts))

    def _check_column(self, column: str, classes: Classes) -> None:
        """Refuse a column that is not sensitive, does not fit, or shows something else than its values."""
        where = f"measure {self.name}"
        if column not in classes.columns:
            fix = did_you_mean(column, classes.columns, "name a sensitive column")
            raise ParameterError(Problem(where, f"{column!r} is not a sensitive column of the release", fix))
        if column in classes.sealed:
            what = f"column {column!r} shows aliases or grades, which are not its values"
            raise ParameterError(Problem(where, what, "give the key of the release, key="))
        if misfit := self.misfit(classes.columns[column]):
            raise ParameterError(Problem(where, f"column {column!r} {misfit}"))


def classes_of(given: Given) -> Classes:
    """The published rows in their classes, or buckets; with the key, with what aliases and grades stand for."""
    tables, manifest, problems = given.tables, given.manifest, Problems()
    if given.key is not None:
        given.key.check_belongs(manifest)
        tables, manifest, _ = opened(tables, manifest, given.key, problems)
    layout = manifest.layout
    given.manifest.layout.laid_out.rows(given.tables, given.manifest.layout, problems)
    problems.raise_if_any(GuaranteeError)  # what cannot be read cannot be looked at further
    rows = layout.laid_out.rows(tables, layout, Problems())  # known aliases of one value are one line twice: no mistake
    columns = sensitive_values(rows, manifest, problems)
    problems.raise_if_any(GuaranteeError)
    labels = given.row_classes if given.key is None else class_labels(rows.select(layout.class_columns))
    return Classes(labels, columns, sealed=frozenset(layout.hidden))


def breaches_by_row(given: Given, measures: Sequence[BreachMeasure]) -> pl.DataFrame:
    """Every published row: what says its class, its sensitive cells, and its breaches by the name of the measure."""
    problems = Problems()
    for one in measures:
        one.check(given, problems)
    problems.raise_if_any(ParameterError)
    classes, layout = given.once(classes_of), given.manifest.layout
    found = [
        pl.Series(f"{one.name}:{column}", breach.by_row(classes.labels, classes.columns[column].codes))
        for one in measures
        for column, breach in one.breaches(classes)
    ]
    return given.rows.select(*layout.class_columns, *layout.sensitive).with_columns(found)
