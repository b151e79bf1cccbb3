"""What every publisher of a sensitive column is: a frozen description that says what each row shows of its value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from shoal.errors import ParameterError, Problems, did_you_mean, some
from shoal.personal.secret import Secret
from shoal.registry.declared import COLUMN_PUBLISHER_CLASSES, COLUMN_PUBLISHERS
from shoal.registry.registry import Registry
from shoal.spec import Spec
from shoal.table.prepare import Table
from shoal.table.schema import Kind


@dataclass(frozen=True, repr=False)
class Shown:
    """What rows show of a sensitive column, and what only the holder may know of it."""

    cells: pl.Series
    """One cell per row."""
    kind: Kind
    """What the cells are."""
    stands_for: Mapping[Any, tuple[Any, ...]]
    """The values that each cell stands for which is not shown as it is; None for a missing one."""
    clear: tuple[str, ...] = ()
    """What is shown as it is."""
    categories: tuple[tuple[float, float], ...] = ()
    """Lower and upper end of each category of numbers."""


class ColumnPublisher(Spec, ABC):
    """A way to show a sensitive column."""

    registry: ClassVar[Registry[Any]] = COLUMN_PUBLISHER_CLASSES

    name: ClassVar[str]
    title: ClassVar[str]
    form: ClassVar[Literal["aliases", "grades"]]
    """What its cells are called in a manifest."""

    column: str

    @property
    def where(self) -> str:
        """How errors call it."""
        return f"{type(self).__name__}({self.column!r})"

    def public(self) -> dict[str, Any]:
        """As a manifest writes it: without parameters that speak of the values alone."""
        private = COLUMN_PUBLISHERS[self.name].private
        return {"name": self.name, **{key: value for key, value in self.to_mapping().items() if key not in private}}

    def private(self) -> dict[str, Any]:
        """The parameters that are not published."""
        return {key: value for key, value in self.to_mapping().items() if key in COLUMN_PUBLISHERS[self.name].private}

    def check_column(self, table: Table, problems: Problems) -> bool:
        """Note a column that the table does not have, or has in another role; whether it can be looked at."""
        sensitive = [name for name in table.schema.sensitive if name in table.frame.columns]
        if self.column in sensitive:
            return True
        fix = did_you_mean(self.column, sensitive, otherwise=f"sensitive: {some(sensitive)}")
        problems.add(self.where, "the table has no sensitive column of that name", fix, error=ParameterError)
        return False

    @abstractmethod
    def check(self, table: Table, problems: Problems) -> None:
        """Note why this column cannot be shown this way, before any work starts."""

    @abstractmethod
    def show(self, table: Table, secret: Secret) -> Shown:
        """What each row shows, of a table all of whose rows are published."""

    def judged(self, table: Table) -> pl.Series:
        """The column as whoever knows what every cell stands for can read it: values that share a cell are one."""
        return table.frame[self.column]
