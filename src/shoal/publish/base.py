"""What every publisher is: a frozen description that shows groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.errors import Problems
from shoal.manifest import Layout
from shoal.methods.groups import Groups
from shoal.spec import Spec
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Published:
    """The tables to publish, rows still in the order of the input, and how they are to be read."""

    tables: dict[str, pl.DataFrame]
    layout: Layout


class Publisher(Spec, ABC):
    """A way of showing a group."""

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be shown this way, before any work starts."""

    @abstractmethod
    def publish(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table; suppressed rows are left out."""
