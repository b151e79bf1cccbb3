"""What every method is: a frozen description that turns arrays into groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.errors import InfeasibleError, Problems
from shoal.methods.groups import Groups, Labels
from shoal.privacy import MODELS, OF_METHODS, promised_requirement
from shoal.privacy.base import Requirement
from shoal.privacy.k_anonymity import KAnonymity
from shoal.progress import SILENT, Progress
from shoal.registry.declarations import Declared, Promised, Protects
from shoal.registry.declared import K_ANONYMITY, METHOD_CLASSES, METHODS
from shoal.registry.registry import Registry
from shoal.spec import Spec
from shoal.table.encode import Encoded, encode
from shoal.table.prepare import Table
from shoal.table.schema import Schema


@dataclass(frozen=True, repr=False)
class Task:
    """What a method works on: a table, its quasi-identifiers as arrays, and what every group must keep besides k."""

    table: Table
    encoded: Encoded
    require: tuple[Requirement, ...] = ()
    population: pl.DataFrame | None = None
    """The quasi-identifiers of the people the release may be compared with."""

    @classmethod
    def of(cls, table: Table, require: Sequence[Requirement] = (), population: pl.DataFrame | None = None) -> Task:
        """Encode a table for a method."""
        return cls(table, encode(table), tuple(require), population)

    @property
    def monotone(self) -> bool:
        """Whether joining two groups never makes the weaker of them worse."""
        return all(self.keeps_joined(one) for one in self.require)

    def keeps_joined(self, one: Requirement) -> bool:
        """Whether two groups that keep a promise keep it when they are joined.

        Where people have several rows, somebody may be in both: values of theirs that were two are one then.
        """
        return one.monotone and (self.table.people is None or isinstance(one, KAnonymity))


class Method(Spec, ABC):
    """An algorithm and its parameters."""

    registry: ClassVar[Registry[Any]] = METHOD_CLASSES
    texts: ClassVar[tuple[str, ...]] = ("title", "paper", "complexity", "advice", "publisher")

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    complexity: ClassVar[str]
    """Time and memory, in n rows and d quasi-identifiers."""
    advice: ClassVar[str]
    """One honest line on when to use it."""
    publisher: ClassVar[str] = "generalize"
    """Name of the way of showing groups that fits."""
    protects: ClassVar[Protects] = "cells"

    k: int

    @property
    def min_group_size(self) -> int:
        """Fewest rows of a group."""
        return self.k

    @classmethod
    def declaration(cls) -> Declared:
        """What the method takes and promises, as data: for Shoal's own, the entry of `shoal.registry.declared`.

        A method of another package that promises something else than its k says so here, by `declare`.
        """
        return METHODS[cls.name] if cls.name in METHODS else cls.declare()

    @classmethod
    def declare(
        cls,
        promises: Sequence[Promised] = K_ANONYMITY,
        *,
        private: Sequence[str] = (),
        publishers: Sequence[str] | None = None,
        leaves_out: str | None = None,
    ) -> Declared:
        """A declaration whose parameters are those of the class.

        Parameters
        ----------
        promises
            What every release keeps: a model, and which parameter of the method gives each of its own.
        private
            Parameters that speak of the input alone, and are not published.
        publishers
            Names of those that can show its groups; every one that protects the same when not given.
        leaves_out
            The parameter that says which share of rows it may leave out by itself; `any` for no bound.
        """
        bounds = {one.name: one.bound for one in cls.parameters()}
        return Declared(
            f"{cls.__module__}:{cls.__qualname__}",
            {name: bound for name, bound in bounds.items() if name not in private},
            tuple(promises),
            private={name: bounds[name] for name in private},
            protects=cls.protects,
            publishers=None if publishers is None else tuple(publishers),
            leaves_out=leaves_out,
        )

    @classmethod
    def check_declared(cls, where: str, problems: Problems) -> None:
        """Note what is wrong with the class itself: promises that cannot be, no size of groups."""
        before = len(problems)
        super().check_declared(where, problems)
        if len(problems) > before:
            return
        declared = cls.declaration()
        names = [one.name for one in cls.parameters()]
        if "k" not in names and cls.min_group_size is Method.min_group_size:
            problems.add(where, "has no parameter k", "give it one, or say its min_group_size")
        promised = [promise.model for promise in declared.promises]
        if cls.protects == "cells" and "k-anonymity" not in promised:
            problems.add(where, "does not promise k-anonymity", "promise it, or protect links")
        if not promised and cls.protects != "values":
            problems.add(where, "promises nothing", "say what every release keeps")
        for promise in declared.promises:
            model = MODELS.get(promise.model) or OF_METHODS.get(promise.model)
            known = [] if model is None else [one.name for one in model.parameters()]
            asked = [name for source in promise.parameters.values() for name in source.names]
            if model is None or set(promise.parameters) - set(known) or set(asked) - set(names):
                what = f"promises {promise.model!r} of parameters that this model, or the method, does not have"
                problems.add(where, what, "name a model of `shoal models`, and parameters that both have")

    def promises(self, schema: Schema) -> tuple[Requirement, ...]:
        """What every release of this method keeps, of a table with such columns, as it is declared."""
        entries = self.declaration().promised(self.to_mapping(), list(schema.sensitive))
        return tuple(promised_requirement(entry) for entry in entries)

    def supports(self, requirement: Requirement) -> bool:  # noqa: ARG002
        """Whether groups can be brought to keep a further promise."""
        return True

    def check_supports(self, require: Sequence[Requirement], problems: Problems) -> None:
        """Note further promises that groups cannot be brought to keep."""
        for one in require:
            if not self.supports(one):
                other = "leave it out, or use a method that promises a k"
                fix = "use another method" if self.protects == "cells" else other
                problems.add("require=", f"{one.name} cannot be kept by {self.name}", fix)

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts; the table may have other problems already."""
        n_people = table.n_people
        if n_people < self.k:
            fix = f"use a k of at most {n_people}" if n_people >= 2 else "the table is too small to be anonymised"
            problems.add(
                f"{type(self).__name__}(k=)",
                f"k = {self.k}, but the table has {table.counted}",
                fix,
                error=InfeasibleError,
            )

    @abstractmethod
    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""


def check_eligible(table: Table, column: str, l: int, where: str, problems: Problems) -> None:  # noqa: E741
    """Note a value that more than 1/l of the rows have, or of the people: no buckets could hide it."""
    if column in table.broken:
        return
    values, before = table.sensitive[column], len(problems)
    check_frequent(np.bincount(values.codes), table.n_rows, "rows", column, l, where, problems)
    if len(problems) == before:
        who = "rows" if table.schema.person is None else "people"  # where no row is at hand, counts are known alone
        check_frequent(values.counts, table.n_people, who, column, l, where, problems)


def check_frequent(
    counts: Labels,
    n: int,
    who: str,
    column: str,
    l: int,  # noqa: E741
    where: str,
    problems: Problems,
) -> None:
    """Note a value that more than 1/l of so many rows or people have."""
    most = int(counts.max(initial=0))
    if most * l > n:
        what = (
            f"column {column!r}: the most frequent value is in {most} of {n} {who} ({most / n:.1%}), "
            f"l = {l} allows {1 / l:.1%}"
        )
        best = n // most
        none = "no l of two or more can be reached; take a method that promises a k, and t-closeness for the column"
        fix = f"use an l of at most {best}" if best >= 2 else none
        problems.add(where, what, fix, error=InfeasibleError)
