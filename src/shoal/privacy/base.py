"""What every privacy model is: a frozen description of what each class of a release must satisfy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import InfeasibleError, ParameterError, Problems, did_you_mean
from shoal.spec import Spec
from shoal.table.prepare import Table
from shoal.table.schema import Nominal, Ordinal, kind_name

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SLACK = 1e-9
"""By how much a real number may miss its bound: far more than rounding, and nothing that anybody could use."""


@dataclass(frozen=True)
class Tree:
    """A hierarchy over the values of a column: nodes with parents before children, the root first.

    It may hold fewer nodes than the hierarchy it comes from, but every height is that of the whole one.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    """Place of each node's parent; -1 for the root."""
    heights: tuple[int, ...]
    """Edges from each node down to the deepest leaf below it."""
    leaves: tuple[int, ...]
    """Number of leaves below each node; 1 for a leaf."""


@dataclass(frozen=True, repr=False)
class Values:
    """One sensitive column, row by row, and what is known of its values.

    A missing value is a value of its own.
    """

    series: pl.Series
    kind: str | None = None
    """`numeric`, `ordinal`, `nominal`, or None where nobody said."""
    order: tuple[str, ...] = ()
    """Categories of an ordinal column, lowest first."""
    tree: Tree | None = None
    """Hierarchy of a nominal column, where the holder gave one."""

    @classmethod
    def of(cls, table: Table, name: str) -> Values:
        """A column of a table that fits its schema."""
        kind = table.schema.columns[name].kind
        order = kind.order if isinstance(kind, Ordinal) else ()
        hierarchy = table.hierarchy(name) if isinstance(kind, Nominal) and kind.hierarchy is not None else None
        tree = None
        if hierarchy is not None:
            n, arrays = len(hierarchy.names), hierarchy.arrays
            tree = Tree(
                tuple(hierarchy.names), (-1, *arrays.parent[1:n].tolist()),
                tuple(arrays.height[:n].tolist()), tuple(arrays.n_leaves[:n].tolist()),
            )  # fmt: skip
        return cls(table.frame[name], kind_name(kind), order, tree)

    @cached_property
    def _sorted(self) -> tuple[list[object], Ints]:
        series = self.series
        if self.kind == "numeric":
            series = series.cast(pl.Float64) if not series.dtype.is_integer() else series
        else:
            series = series.cast(pl.String)
        known = series.drop_nulls().unique().sort().to_list()
        if self.order:
            rank = {category: place for place, category in enumerate(self.order)}
            known.sort(key=lambda category: rank.get(category, len(rank)))
        places = pl.Series(range(len(known)), dtype=pl.Int64)
        coded = series.replace_strict(pl.Series(known, dtype=series.dtype), places, default=None, return_dtype=pl.Int64)
        return known, coded.fill_null(len(known)).to_numpy()

    @property
    def known(self) -> list[object]:
        """The distinct values that are not missing: numbers and ordered categories from the lowest, texts sorted."""
        return self._sorted[0]

    @property
    def codes(self) -> Ints:
        """Place of each row's value among `known`; one past the last for a missing value."""
        return self._sorted[1]

    @cached_property
    def counts(self) -> Ints:
        """How often each value occurs, missing last if there is one."""
        return np.bincount(self.codes).astype(np.int64)

    @property
    def shares(self) -> Floats:
        """Distribution over the whole table, missing last if there is one."""
        return self.counts / max(len(self.series), 1)

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return len(self.counts) > len(self.known)


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

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return np.bincount(self.labels).astype(np.int64)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)


class Requirement(Spec, ABC):
    """A privacy model and its parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    measures: ClassVar[str]
    """The letter the achieved value goes by, such as `k`."""
    paper: ClassVar[str]
    monotone: ClassVar[bool] = True
    """Whether joining two classes never makes the weaker of them worse."""
    needs: ClassVar[str | None] = None
    """What the checker must be given besides the release: `choices`, `population`, or nothing."""

    @property
    def key(self) -> str:
        """What the achieved value is called in a verdict and a manifest."""
        return self.measures

    @abstractmethod
    def per_class(self, classes: Classes) -> Floats:
        """The value that each class reaches."""

    @abstractmethod
    def achieved(self, classes: Classes) -> float:
        """The value that the weakest class reaches."""

    @abstractmethod
    def holds(self, achieved: float) -> bool:
        """Whether an achieved value is good enough."""

    def satisfied(self, classes: Classes) -> npt.NDArray[np.bool_]:
        """Whether each class is good enough."""
        return np.array([self.holds(value) for value in self.per_class(classes).tolist()], dtype=np.bool_)

    @abstractmethod
    def lacks(self, classes: Classes) -> Floats:
        """How far each class is from being good enough: 0 if it is, otherwise above."""

    @abstractmethod
    def check(self, table: Table, problems: Problems) -> None:
        """Note why no grouping of this table can satisfy the requirement, with the nearest value that one can."""

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
        return f"{self.measures}:{self.column}"

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column that is not sensitive or does not fit, and a value that no grouping reaches."""
        where = f"{type(self).__name__}(column=)"
        roles = table.schema.roles
        sensitive = [name for name in table.frame.columns if roles.get(name) == "sensitive"]
        if self.column not in table.frame.columns:
            fix = did_you_mean(self.column, sensitive)
            problems.add(where, f"the table has no column {self.column!r}", fix, error=ParameterError)
            return
        if self.column not in sensitive:
            what = f"column {self.column!r} is {roles.get(self.column, 'not named in the schema')}, not sensitive"
            problems.add(where, what, did_you_mean(self.column, sensitive), error=ParameterError)
            return
        values = Values.of(table, self.column)
        if misfit := self.misfit(values):
            problems.add(where, f"column {self.column!r} {misfit}", error=ParameterError)
        elif self.monotone and table.n_rows:
            self._check_whole(values, problems)

    def _check_whole(self, values: Values, problems: Problems) -> None:
        """Note a value that the whole table as one class misses: no other grouping does better."""
        everyone = np.zeros(len(values.series), dtype=np.int64)
        whole = self.achieved(Classes(everyone, {self.column: values}))
        if not self.holds(whole):
            what = f"column {self.column!r}: all rows as one class reach only {self.measures} = {whole:.6g}"
            problems.add(f"require {self.name}", what, self.nearest(whole), error=InfeasibleError)

    def misfit(self, values: Values) -> str | None:  # noqa: ARG002
        """Say why this column cannot be looked at this way, or None."""
        return None

    @abstractmethod
    def nearest(self, reached: float) -> str:
        """Say which parameter a table can satisfy that reaches a value at best."""
