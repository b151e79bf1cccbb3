"""A release in a database of any kind: its tables, and `manifest`, which is one row with one text.

A table of a database has no order: rows are brought into theirs when read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import polars as pl

from shoal.errors import GuaranteeError, Problem, SourceError
from shoal.release.column_types import ANY, TEXT
from shoal.release.manifest import Manifest
from shoal.release.target import Target

MANIFEST = "manifest"


class Database(ABC):
    """A connection in a transaction; what is written is there for all when it is committed, or not at all."""

    keeps_order: ClassVar[bool] = False
    """Whether rows are read in the order in which they were written."""
    as_text: ClassVar[tuple[str, ...]] = (TEXT, ANY)
    """Sorts of cells that are texts there."""

    def __init__(self, target: Target, connection: Any) -> None:
        self.target, self.connection = target, connection

    @abstractmethod
    def tables(self) -> list[str]:
        """The tables of the release that are there, `manifest` among them; in PostgreSQL also those of others."""

    @abstractmethod
    def has_others(self) -> bool:
        """Whether something belongs to the release that is no table, such as an index, a trigger or a function."""

    @abstractmethod
    def make(self, name: str, frame: pl.DataFrame) -> None:
        """Make an empty table with these columns."""

    @abstractmethod
    def add(self, name: str, frame: pl.DataFrame) -> None:
        """Add rows to a table."""

    @abstractmethod
    def pieces(self, name: str) -> Iterator[pl.DataFrame]:
        """The rows of a table, some at a time; what is none, or is made in another way than a release, is refused."""

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Make a table with these rows."""
        self.make(name, frame)
        self.add(name, frame)

    def read(self, name: str) -> pl.DataFrame:
        """All rows of a table."""
        return pl.concat(list(self.pieces(name)), rechunk=True)

    @abstractmethod
    def drop(self) -> None:
        """Remove the release."""

    def exists(self) -> bool:
        """Whether something is in the place of the release."""
        return bool(self.tables())

    def manifest(self) -> Manifest:
        """The manifest, which must be written as one is."""
        if MANIFEST not in self.tables():
            raise SourceError(Problem(self.target.describe(), "there is no such release", "check the name"))
        rows = self.read(MANIFEST)
        if rows.columns != ["json"] or rows.height != 1 or rows.dtypes != [pl.String]:
            raise GuaranteeError(Problem(MANIFEST, "is not the manifest of a release"))
        return Manifest.parsed(str(rows.item()), self.target.describe())


def not_as_written(name: str, why: str) -> GuaranteeError:
    """The error for a table that a release would have made otherwise."""
    what = f"is not a table as a release has it: {why}"
    return GuaranteeError(Problem(f"table {name!r}", what, "undo that, or write the release again"))


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
