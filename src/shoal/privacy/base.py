"""What every privacy model is: a frozen description of what each class of a release must satisfy."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import InfeasibleError, ParameterError, Problem, Problems, did_you_mean, some
from shoal.privacy.counts import Counts, Floats, Ints
from shoal.registry.declared import MODEL_CLASSES
from shoal.registry.registry import Registry
from shoal.spec import Spec
from shoal.table.hierarchy.builders import Rule
from shoal.table.numbering import first_of_each
from shoal.table.prepare import Table
from shoal.table.sensitive import Tree, Values

Bools = npt.NDArray[np.bool_]

SLACK = 1e-9
"""By how much a real number may miss its bound: far more than rounding, and nothing that anybody could use."""


@dataclass(frozen=True, repr=False)
class Matches:
    """How a population fits the classes of a release.

    `per_class` holds, for each class, how many people of the population its cells cover; `chance`, for each person,
    the sum over the classes that cover the person of (rows of the class / people it covers): how likely the person is
    in the release, at most.
    """

    per_class: Ints
    chance: Floats


@dataclass(frozen=True, repr=False)
class Classes:
    """Rows in classes, with all that a model may look at.

    `labels` holds one number per row, 0 .. n_classes - 1; `columns` the sensitive columns, row by row. `guards` are the
    guarding nodes that people chose, row by row, and `matches` is how a population fits: both only where they are at
    hand.
    """

    labels: Ints
    columns: Mapping[str, Values]
    guards: pl.Series | None = None
    matches: Matches | None = None
    chances: Mapping[str, float] | None = None
    """How sure anybody can be of a value of each sensitive column who matches a person of the table with slices."""
    sealed: frozenset[str] = frozenset()
    """Columns that show something in place of their values, which nobody can tell who has not the key."""
    people: Ints | None = None
    """Whose row each one is, where people may have several; the sensitive columns know it too."""

    @classmethod
    def one(cls, column: str, values: Values, counts: Ints) -> Classes:
        """One class that has each value of a column so many times, whichever rows these are."""
        codes = np.flatnonzero(counts)
        made = cls(np.zeros(0, dtype=np.int64), {column: values})
        size = np.array([counts.sum()], dtype=np.int64)
        found = Counts(np.zeros(len(codes), dtype=np.int64), codes, counts[codes], size, max(len(counts), 1))
        vars(made).update(sizes=size, _counts={column: found})
        return made

    @cached_property
    def sizes(self) -> Ints:
        """People of each class: as many as rows, unless it is known whose row each one is."""
        labels = self.labels if self.people is None else self.labels[first_of_each(self.labels, self.people)]
        return np.bincount(labels).astype(np.int64)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    def count(self, column: str) -> Counts:
        """How often each value of a column occurs in each class; worked out once, whoever asks.

        Whoever has several rows of a class counts once for each value in them.
        """
        if column not in self._counts:
            values = self.columns[column]
            labels, codes, sizes = self.labels, values.codes, self.sizes
            if values.people is not None:
                rows = first_of_each(labels, values.people, codes)
                labels, codes = labels[rows], codes[rows]
                sizes = np.bincount(labels).astype(np.int64)
            self._counts[column] = Counts.of(labels, codes, sizes, len(values.counts))
        return self._counts[column]

    def count_of_people(self, column: str) -> Counts:
        """The same as parts of the people of each class, who may have several values: parts of more than one then."""
        counts = self.count(column)
        return counts if self.people is None else replace(counts, sizes=self.sizes)

    @cached_property
    def _counts(self) -> dict[str, Counts]:
        return {}

    def matched(self, model: str) -> Matches:
        """How a population fits, for a model that cannot do without."""
        if self.matches is None:
            what = "needs a population table to compare with, and none is given"
            raise ParameterError(Problem(model, what, "give population="))
        return self.matches

    def fitted(self, model: str) -> Mapping[str, float]:
        """How people fit slices, for a model that cannot do without."""
        if self.chances is None:
            what = "needs the original table to compare with, and none is given"
            raise ParameterError(Problem(model, what, "give original="))
        return self.chances

    def guarded(self, model: str) -> pl.Series:
        """The guarding nodes that people chose, for a model that cannot do without."""
        if self.guards is None:
            what = "needs the guarding nodes that people chose, and none are given"
            raise ParameterError(Problem(model, what, "give guards="))
        return self.guards


class Requirement(Spec, ABC):
    """A privacy model and its parameters."""

    registry: ClassVar[Registry[Any]] = MODEL_CLASSES
    texts: ClassVar[tuple[str, ...]] = ("title", "measures", "paper", "advice", "joining")

    name: ClassVar[str]
    title: ClassVar[str]
    measures: ClassVar[str]
    """The letter the achieved value goes by, such as `k`."""
    paper: ClassVar[str]
    advice: ClassVar[str]
    """One honest line on what it is good for."""
    joining: ClassVar[str] = "yes"
    """Whether it is monotone, in words, for a listing."""
    needs: ClassVar[str | None] = None
    """What the checker must be given besides the release: `choices`, `population`, `original`, or nothing."""

    @classmethod
    def check_declared(cls, where: str, problems: Problems) -> None:
        """Note what is wrong with the class itself: something that it needs and nobody can give."""
        super().check_declared(where, problems)
        if cls.needs not in (None, "choices", "population"):
            problems.add(where, f"needs {cls.needs!r}", "a model can need choices, a population, or nothing")
        own = cls.registry.own
        if cls.name not in own and getattr(cls, "measures", "") in {cls.registry[name].measures for name in own}:
            what = f"reports what it reaches as {cls.measures!r}, as a model of Shoal's own does"
            problems.add(where, what, "choose another word for `measures`")

    @property
    def monotone(self) -> bool:
        """Whether joining two classes never makes the weaker of them worse."""
        return True

    @property
    def rising(self) -> bool:
        """Whether a larger value is the better one, as of k; otherwise a smaller one is, as of t."""
        return False

    @property
    def letter(self) -> str:
        """What the value is called that these parameters lead to."""
        return self.measures

    @property
    def key(self) -> str:
        """What the achieved value is called in a verdict and a manifest."""
        return self.letter

    def spelt(self, columns: Mapping[str, Values]) -> Requirement:  # noqa: ARG002
        """The same, written in the one way that a release writes it, given its sensitive columns."""
        return self

    @abstractmethod
    def per_class(self, classes: Classes) -> Floats:
        """The value that each class reaches."""

    def achieved(self, classes: Classes) -> float:
        """The value that the weakest class reaches; 0 when there is no class."""
        reached = self.per_class(classes)
        if not len(reached):
            return 0.0
        return float(reached.min() if self.rising else reached.max())

    @abstractmethod
    def enough(self, reached: Floats) -> Bools:
        """Whether each of several values is good enough."""

    def holds(self, achieved: float) -> bool:
        """Whether an achieved value is good enough."""
        return bool(self.enough(np.array([achieved], dtype=np.float64))[0])

    def satisfied(self, classes: Classes) -> Bools:
        """Whether each class is good enough."""
        return self.enough(self.per_class(classes))

    def violation(self, classes: Classes) -> Floats:
        """How far each class is from being good enough: 0 if it is, otherwise above."""
        reached = self.per_class(classes)
        return np.where(self.enough(reached), 0.0, np.maximum(self.shortfall(reached, classes), SLACK))

    @abstractmethod
    def shortfall(self, reached: Floats, classes: Classes) -> Floats:
        """By how much each class misses the bound, as a finite share of it; of satisfied classes anything."""

    @abstractmethod
    def check(self, table: Table, problems: Problems) -> None:
        """Note why no grouping of this table can satisfy the requirement, with the nearest value that one can."""

    def check_unsuppressed(self, table: Table, problems: Problems) -> None:
        """Note why no grouping of all rows can satisfy the requirement, where some of them may do without the others.

        Asked only of a table that has no other problem.
        """

    def check_population(self, n_published: int, n_people: int, problems: Problems) -> None:
        """Note why no grouping of so many who are published is enough against a population of so many people."""

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:  # noqa: ARG003
        """Instances whose achieved value is worth reporting of any table with these sensitive columns."""
        return ()


class ColumnRequirement(Requirement):
    """A privacy model that looks at one sensitive column."""

    column: str

    @property
    def key(self) -> str:
        """What the achieved value is called in a verdict and a manifest."""
        return f"{self.letter}:{self.column}"

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column that is not sensitive or does not fit, and a value that no grouping reaches."""
        where, roles, sensitive = f"require {self.name}", table.schema.roles, list(table.sensitive)
        known = f"sensitive: {some(sensitive)}" if sensitive else "give a column the role sensitive"
        if self.column not in table.frame.columns:
            fix = did_you_mean(self.column, sensitive, otherwise=known)
            problems.add(where, f"the table has no column {self.column!r}", fix, error=ParameterError)
            return
        if self.column not in sensitive:
            what = f"column {self.column!r} is {roles.get(self.column, 'not named in the schema')}, not sensitive"
            problems.add(where, what, did_you_mean(self.column, sensitive, otherwise=known), error=ParameterError)
            return
        kind = table.schema.columns[self.column].kind
        if self.column in table.broken or (kind is not None and isinstance(kind.hierarchy, Rule)):
            return  # its cells or its tree have a problem of their own, which is noted already
        values = table.sensitive[self.column]
        if misfit := self.misfit(values):
            problems.add(where, f"column {self.column!r} {misfit}", error=ParameterError)
        elif self.monotone and table.n_rows and table.people is None:
            self._check_whole(values, problems)

    def _check_whole(self, values: Values, problems: Problems) -> None:
        """Note a value that the whole table as one class misses: no other grouping does better."""
        if len(values.series):  # a model of another package may look at rows
            whole = self.achieved(Classes(np.zeros(len(values.series), dtype=np.int64), {self.column: values}))
        else:
            whole = self.achieved(Classes.one(self.column, values, values.counts))
        if not self.holds(whole):
            what = f"column {self.column!r}: all rows as one class reach only {self.letter} = {whole:.6g}"
            problems.add(f"require {self.name}", what, self.nearest(whole), error=InfeasibleError)

    def fitting(self, classes: Classes) -> Values:
        """The column, for a model that cannot look at every one: who did not ask `misfit` before is told here."""
        values = classes.columns[self.column]
        if misfit := self.misfit(values):
            raise ParameterError(Problem(self.name, f"column {self.column!r} {misfit}"))
        return values

    def misfit(self, values: Values) -> str | None:  # noqa: ARG002
        """Say why this column cannot be looked at this way, or None."""
        return None

    @abstractmethod
    def nearest(self, reached: float) -> str:
        """Say which parameter a table can satisfy that reaches a value at best."""


def rounded(value: float, *, up: bool) -> str:
    """A number with six decimals at most, never on the other side of the value."""
    cut = (math.ceil if up else math.floor)(round(value * 1e6, 3)) / 1e6
    return f"{cut:.6f}".rstrip("0").rstrip(".")


__all__ = [
    "SLACK", "Bools", "Classes", "ColumnRequirement", "Counts", "Floats", "Ints", "Matches", "Requirement", "Tree",
    "Values", "rounded",
]  # fmt: skip
