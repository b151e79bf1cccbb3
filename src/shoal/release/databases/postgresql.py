"""Releases in PostgreSQL: a schema with the tables of the release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import polars as pl
import pyarrow as pa

from shoal.errors import Problem, ShoalError, SourceError
from shoal.release.databases.base import Database, not_as_written, quoted
from shoal.release.databases.catalog import LISTED, ODDITIES, OTHER_OBJECTS
from shoal.release.target import Target
from shoal.table.sources.postgresql import connected, frame_of, meaning
from shoal.table.sources.sql import expanded

TYPES = {pl.Int64: "BIGINT", pl.Float64: "DOUBLE PRECISION", pl.Boolean: "BOOLEAN", pl.Date: "DATE"}
"""Types of columns in PostgreSQL, but for texts and instants."""


class PostgreSQL(Database):
    """A schema, in a transaction."""

    def _run(self, statement: str) -> Any:
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(statement)
            return cursor.fetch_arrow_table() if cursor.description else None

    def only_read(self) -> None:
        """Change nothing in this transaction, whatever is called."""
        self._run("SET TRANSACTION READ ONLY")

    def exists(self) -> bool:
        """Whether there is a schema of that name."""
        schemas = f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{self.target.release}'"  # noqa: S608
        return bool(self._run(schemas).num_rows)

    def tables(self) -> list[str]:
        """All of the schema that holds rows, also what the reader has no right to, views and sequences."""
        kinds = "c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY 1"
        found = self._run(f"SELECT c.relname::text {LISTED} '{self.target.release}' AND {kinds}")
        return [str(name) for name in found.column(0).to_pylist()]

    def has_others(self) -> bool:
        """Functions, types and the like in the schema, or a comment on it; of tables, `pieces` says so."""
        return bool(self._run(OTHER_OBJECTS.format(schema=_text(self.target.release))).num_rows)

    def make(self, name: str, frame: pl.DataFrame) -> None:
        """Make the schema with the first table."""
        if not self.exists():
            self._run(f'CREATE SCHEMA "{self.target.release}"')
        columns = ", ".join(f"{quoted(column)} {_sql_type(dtype)}" for column, dtype in frame.schema.items())
        self._run(f'CREATE TABLE "{self.target.release}".{quoted(name)} ({columns})')

    def add(self, name: str, frame: pl.DataFrame) -> None:
        """Through Arrow."""
        with closing(self.connection.cursor()) as cursor:
            rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
            cursor.adbc_ingest(name, rows, mode="append", db_schema_name=self.target.release)

    def pieces(self, name: str) -> Iterator[pl.DataFrame]:
        """Through Arrow, in any order; a view or a policy could show other rows to the next who asks."""
        self._check_plain(name)
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(f'SELECT * FROM ONLY "{self.target.release}".{quoted(name)}')  # noqa: S608
            found = cursor.fetch_record_batch()
            yield frame_of(found.schema.empty_table())
            for batch in found:
                try:
                    yield frame_of(pa.Table.from_batches([batch]))
                except SourceError:
                    raise not_as_written(name, "it has cells that no release has, such as an infinite day") from None

    def _check_plain(self, name: str) -> None:
        """Refuse what is no table as a release has it, and say why."""
        asked = ", ".join(ODDITIES.values())
        found = self._run(f"SELECT {asked} {LISTED} '{self.target.release}' AND c.relname = {_text(name)}")
        odd = [what for what, column in zip(ODDITIES, found.columns, strict=True) if column.to_pylist() != [False]]
        if odd:
            raise not_as_written(name, "; ".join(odd) if found.num_rows else "it is not there")

    def drop(self) -> None:
        """Remove tables and schema; the server refuses where something else is there, or depends on them."""
        for name in self.tables():
            self._run(f'DROP TABLE "{self.target.release}".{quoted(name)}')
        self._run(f'DROP SCHEMA "{self.target.release}"')


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _sql_type(dtype: pl.DataType) -> str:
    return "TIMESTAMP" if isinstance(dtype, pl.Datetime) else TYPES.get(type(dtype), "TEXT")


@contextmanager
def opened_postgresql(target: Target, *, write: bool) -> Iterator[Database]:
    """A release in a schema of a server."""
    connection = connected(expanded(str(target.uri)))
    with closing(connection):
        try:
            database = PostgreSQL(target, connection)
            if not write:
                database.only_read()
            yield database
            connection.commit()
        except ShoalError:
            _undone(connection)
            raise
        except Exception as error:  # the message may hold cells
            _undone(connection)
            raise SourceError(Problem(target.describe(), *meaning(error, writing=write))) from None


def _undone(connection: Any) -> None:
    """Undo a transaction; where the server is not there any more, it does so itself."""
    with suppress(Exception):
        connection.rollback()
