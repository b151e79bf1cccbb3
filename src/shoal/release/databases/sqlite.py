"""Releases in SQLite: tables whose names begin with that of the release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import GuaranteeError, Problem, ShoalError, SourceError
from shoal.release.column_types import ANY, TEXT, TRUTH
from shoal.release.databases.base import Database, not_as_written, quoted
from shoal.release.target import Target
from shoal.table.sources.files import found_file
from shoal.table.sources.sqlite import file_of_uri, reading_of

PIECE_ROWS = 1 << 16
"""Rows that are read at a time."""
_SQLITE = {"INTEGER": pl.Int64(), "REAL": pl.Float64(), "TEXT": pl.String()}
"""Types of columns in SQLite."""
_CELLS = {"INTEGER": int, "REAL": float, "TEXT": str}
"""How cells of such columns come, if none is missing."""


class SQLite(Database):
    """Tables of a file, in a transaction."""

    keeps_order = True
    as_text = (TEXT, ANY, TRUTH)

    def tables(self) -> list[str]:
        """Those whose names begin with that of the release, in small letters or large: SQLite tells no difference."""
        begin = f"{self.target.release}__"
        names = self._names("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return sorted(name[len(begin) :] for name in names if name.lower().startswith(begin))

    def has_others(self) -> bool:
        """Indexes and triggers, of its tables or by their own names; statistics, which hold any text, of its tables."""
        begin = f"{self.target.release}__"
        found = self._names("SELECT name, tbl_name FROM sqlite_master WHERE type NOT IN ('table', 'view')")
        for name in self._names("SELECT name FROM sqlite_master WHERE type = 'table'"):
            if re.fullmatch("sqlite_stat[0-9]", name, re.IGNORECASE):
                found += self._names(f"SELECT tbl FROM {quoted(name)}")  # noqa: S608
        return any(name.lower().startswith(begin) for name in found)

    def _names(self, query: str) -> list[str]:
        """All that a query names."""
        return [
            name.decode(errors="replace") if isinstance(name, bytes) else str(name)
            for row in self.connection.execute(query).fetchall()
            for name in row
        ]

    def _place(self, name: str) -> str:
        return quoted(f"{self.target.release}__{name}")

    def make(self, name: str, frame: pl.DataFrame) -> None:
        """Whole and real numbers as such, all else as text."""
        kinds = {
            column: next((kind for kind in _SQLITE if _SQLITE[kind] == dtype), "TEXT")
            for column, dtype in frame.schema.items()
        }
        self.connection.execute(self._statement(name, kinds))

    def add(self, name: str, frame: pl.DataFrame) -> None:
        """Cell by cell."""
        others = [column for column, dtype in frame.schema.items() if dtype not in _SQLITE.values()]
        marks = ", ".join("?" * frame.width)
        rows = frame.with_columns(pl.col(others).cast(pl.String)).iter_rows()
        self.connection.executemany(f"INSERT INTO {self._place(name)} VALUES ({marks})", rows)  # noqa: S608

    def _statement(self, name: str, kinds: Mapping[str, str]) -> str:
        """What makes a table, in the one way."""
        columns = ", ".join(f"{quoted(column)} {kind}" for column, kind in kinds.items())
        return f"CREATE TABLE {self._place(name)} ({columns})"

    def pieces(self, name: str) -> Iterator[pl.DataFrame]:
        """Cell by cell; rows are numbered from 1 in their order."""
        called = (f"{self.target.release}__{name}",)
        kinds = dict(self.connection.execute("SELECT name, type FROM pragma_table_info(?)", called).fetchall())
        made = self.connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", called).fetchall()
        are_texts = all(isinstance(column, str) for column in kinds) and set(kinds.values()) <= set(_SQLITE)
        if not are_texts or made != [(self._statement(name, kinds),)]:
            raise not_as_written(name, "it was made, or changed, by another statement")
        taken = {column.lower() for column in kinds}
        number = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), "NULL")
        cursor = self.connection.execute(f"SELECT {number}, * FROM {self._place(name)} ORDER BY 1")  # noqa: S608
        yield pl.DataFrame(schema={column: _SQLITE[kind] for column, kind in kinds.items()})
        n_before = 0
        while rows := cursor.fetchmany(PIECE_ROWS):
            if any(row[0] not in (place, None) for place, row in enumerate(rows, n_before + 1)):
                what = "has rows with other numbers than a release gives them"
                raise GuaranteeError(Problem(f"table {name!r}", what))
            yield self._typed(name, rows, kinds)
            n_before += len(rows)

    @staticmethod
    def _typed(name: str, rows: Sequence[Sequence[Any]], kinds: Mapping[str, str]) -> pl.DataFrame:
        """Rows, after their numbers: each cell must be of the type of its column, since SQLite takes any."""
        columns = []
        for (column, kind), cells in zip(kinds.items(), list(zip(*rows, strict=True))[1:], strict=True):
            if not {type(cell) for cell in cells} <= {_CELLS[kind], type(None)}:
                raise GuaranteeError(Problem(f"table {name!r}", "has cells of another type than their columns"))
            columns.append(pl.Series(column, cells, dtype=_SQLITE[kind]))
        return pl.DataFrame(columns)

    def drop(self) -> None:
        """Remove the tables of the release."""
        for name in self.tables():
            self.connection.execute(f"DROP TABLE {self._place(name)}")


@contextmanager
def opened_sqlite(target: Target, *, write: bool) -> Iterator[Database]:
    """A release in a file; one that is made for it and stays empty is removed again."""
    import sqlite3

    path = Path(file_of_uri(str(target.uri)))
    if not write:
        found_file(path)
    made = write and not path.exists()
    connection = None
    try:
        address = str(path) if write else f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(address, isolation_level=None, timeout=5, uri=not write)
        connection.text_factory = _decoded
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        yield SQLite(target, connection)
        looked = made and not connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        connection.execute("ROLLBACK" if looked else "COMMIT")
    except ShoalError:
        raise
    except sqlite3.Error as error:  # its messages hold cells
        raise SourceError(Problem(str(path), *(_unwritten(error) if write else reading_of(error)))) from None
    except UnicodeError:  # the text of an error, which the module decodes; it may hold cells
        raise SourceError(Problem(str(path), "is not an SQLite database, or is damaged", "check the file")) from None
    finally:
        if connection is not None:
            connection.close()
        if made and path.is_file() and not path.stat().st_size:
            path.unlink()


def _decoded(raw: bytes) -> str | bytes:
    """A text, or its bytes where they are none: SQLite takes any."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _unwritten(error: Exception) -> tuple[str, str]:
    """Say why a database of SQLite could not be written, without the text of the error."""
    if "full" in str(error):
        return "the disk is full; nothing was written", "make room"
    fix = "check that the file can be written, and that nobody else writes to it"
    return "the database cannot be written; nothing was", fix
