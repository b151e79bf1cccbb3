"""What every method is: a frozen description that turns arrays into groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.declared import Protects, declared_method
from shoal.errors import InfeasibleError, Problems
from shoal.methods.groups import Groups
from shoal.privacy import promised_requirement
from shoal.privacy.base import Requirement
from shoal.progress import SILENT, Progress
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


class Method(Spec, ABC):
    """An algorithm and its parameters."""

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

    def promises(self, schema: Schema) -> tuple[Requirement, ...]:
        """What every release of this method keeps, of a table with such columns, as it is declared."""
        entries = declared_method(self.name).promised(self.to_mapping(), list(schema.sensitive))
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
        n_rows = table.n_rows
        if n_rows < self.k:
            fix = f"use a k of at most {n_rows}" if n_rows >= 2 else "no group of two can be formed"
            problems.add(
                f"{type(self).__name__}(k=)",
                f"k = {self.k}, but the table has {n_rows} rows",
                fix,
                error=InfeasibleError,
            )

    @abstractmethod
    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
