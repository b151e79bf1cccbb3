"""(epsilon, m)-anonymity: few numbers of a class are close to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.errors import InfeasibleError, Problems
from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.privacy.counts import Ints
from shoal.privacy.letters import number_letter
from shoal.spec import ColumnName, Real, YesNo, param
from shoal.table.numbering import first_of_each
from shoal.table.prepare import Table

ROUNDING = 1e-12
"""By what part of the numbers a difference may exceed epsilon and still count as equal to it."""


@dataclass(frozen=True)
class EpsilonM(ColumnRequirement):
    """Of the rows of a class, at most the share 1/m lies within epsilon of any one of them.

    Near are numbers that differ by at most epsilon, or, with ``relative``, by at most epsilon times the size of the
    row's own number. Missing values are near one another only. Where people have several rows, people are counted:
    somebody with two numbers within epsilon once.

    Guarantee
    ---------
    Against an attacker who knows the quasi-identifiers of a person and that the person is in the table: no interval of
    epsilon around a value of the class holds the person's number with a chance above 1/m. This is proximity, which
    l-diversity does not see: 1000, 1001 and 1002 are three values. It does not say that the class is spread like the
    table, and numbers a little farther apart than epsilon count as strangers.

    >>> import polars as pl
    >>> income = Values(pl.Series([10000, 10020, 10030, 15000, 20000, 22000, 23000]), kind="numeric")
    >>> classes = Classes(np.array([0, 0, 0, 0, 1, 1, 1]), {"income": income})
    >>> EpsilonM("income", epsilon=30, m=2).per_class(classes).round(3).tolist()
    [1.333, 3.0]

    References
    ----------
    Li, Tao, Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", SIGMOD 2008.
    """

    name: ClassVar[str] = "epsilon-m"
    title: ClassVar[str] = "at most 1/m of the numbers of a class lie close to any one of them"
    measures: ClassVar[str] = "m"
    paper: ClassVar[str] = "Li, Tao, Xiao, Preservation of proximity privacy, SIGMOD 2008"
    advice: ClassVar[str] = (
        "for numbers where close values reveal as much as equal ones, such as incomes; not monotone, so it can fail"
    )
    joining: ClassVar[str] = "no"

    column: str = param(ColumnName(), "sensitive column of numbers")
    epsilon: float = param(Real(0), "numbers at most this far apart are close")
    m: float = param(Real(1, open_low=True), "at most 1/m of the rows of a class may be close to any one of them")
    relative: bool = param(YesNo(), "whether epsilon is a share of the number itself", default=False)

    @property
    def monotone(self) -> bool:
        """Two classes can each be spread out and lie close to each other."""
        return False

    @property
    def rising(self) -> bool:
        """A larger m is better."""
        return True

    @property
    def letter(self) -> str:
        """The letter m, with the epsilon it belongs to."""
        return f"m({'relative ' if self.relative else ''}epsilon={number_letter(self.epsilon)})"

    def per_class(self, classes: Classes) -> Floats:
        """Rows of each class over the most of them that are near any one."""
        low, high = near_codes(self.fitting(classes), self.epsilon, relative=self.relative)
        counts = classes.count(self.column)
        near = counts.up_to(counts.owner, high[counts.code]) - counts.up_to(counts.owner, low[counts.code])
        if classes.people is not None:
            near = np.minimum(near - _counted_again(classes, self.column, low, high), classes.sizes[counts.owner])
        return classes.sizes / counts.largest(near.astype(np.float64))

    def check(self, table: Table, problems: Problems) -> None:
        """Note, besides what every model notes, that too many numbers are too close for any grouping."""
        before = len(problems)
        super().check(table, problems)
        if len(problems) > before or not table.n_rows or table.schema.person is not None:
            return
        most = self._most_near(table.sensitive[self.column])
        best = table.n_rows / max(most, 1)
        if not self.holds(best):
            what = f"column {self.column!r}: {most} of {table.n_rows} rows are close to each other in any grouping"
            problems.add(f"require {self.name}", what, self.nearest(best), error=InfeasibleError)

    def _most_near(self, values: Values) -> int:
        """Most rows that are all near each other.

        Wherever they go, at most 1/m of each group is of them, and so at most 1/m of the table.
        """
        numbers, counts = np.array(values.known, dtype=np.float64), values.counts
        before = np.concatenate([[0], np.cumsum(counts[: len(numbers)])])
        # Relative to a negative number, only equal ones are counted: fewer than there are, which is the safe side.
        reach = self.epsilon * np.maximum(numbers, 0.0) if self.relative else float(self.epsilon)
        upward = np.searchsorted(numbers, numbers + reach, side="right")
        together = before[upward] - before[np.arange(len(numbers))]
        missing = int(counts[len(numbers) :].sum())
        return max(int(together.max(initial=0)), missing)

    def enough(self, reached: Floats) -> Bools:
        """Whether m is reached."""
        return reached >= self.m - SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """Share of m that is missing."""
        return (self.m - reached) / self.m

    def misfit(self, values: Values) -> str | None:
        """Say that only numbers are near each other."""
        if values.kind == "numeric":
            return None
        known = f"is {values.kind}" if values.kind else "has no kind in the schema"
        return f"{known}, but the model needs numbers; make it numeric"

    def nearest(self, reached: float) -> str:
        """What is reached; another epsilon gives another m."""
        return f"use an m of at most {rounded(reached, up=False)}, or a smaller epsilon"


def _counted_again(classes: Classes, column: str, low: Ints, high: Ints) -> Ints:
    """Of each pair of a class and a number, how many numbers near it are further ones of people counted already.

    Two numbers of a person, one after the other, are both near all numbers from some lowest to some highest one. Where
    that is not so (relative to numbers, epsilons of 1 and more), none is taken to be a further one: the safe side.
    """
    counts, values = classes.count(column), classes.columns[column]
    again = np.zeros(len(counts.owner) + 1, dtype=np.int64)
    if values.people is None or (np.diff(low) < 0).any() or (np.diff(high) < 0).any():
        return again[:-1]
    rows = first_of_each(classes.labels, values.people, values.codes)
    owner, who, code = classes.labels[rows], values.people[rows], values.codes[rows]
    order = np.lexsort((code, who, owner))
    one, other = order[:-1], order[1:]
    same = (owner[one] == owner[other]) & (who[one] == who[other])
    one, other = one[same], other[same]
    first, end = np.searchsorted(high, code[other], side="right"), np.searchsorted(low, code[one], side="right")
    both = first < end
    np.add.at(again, counts.places(owner[one][both], first[both]), 1)
    np.add.at(again, counts.places(owner[one][both], end[both]), -1)
    return np.cumsum(again)[:-1]


def near_codes(values: Values, epsilon: float, *, relative: bool) -> tuple[Ints, Ints]:
    """First code whose number is near that of each code, and one past the last; missing is near missing alone."""
    numbers = np.array(values.known, dtype=np.float64)
    reach = epsilon * np.abs(numbers) if relative else np.full(len(numbers), float(epsilon))
    # The safe side: what is too far only by rounding is near.
    reach = reach + ROUNDING * (np.abs(numbers) + reach)
    low = np.searchsorted(numbers, numbers - reach, side="left")
    high = np.searchsorted(numbers, numbers + reach, side="right")
    return np.append(low, len(numbers)), np.append(high, len(numbers) + 1)
