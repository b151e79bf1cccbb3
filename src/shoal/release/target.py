"""`Target`: a database that a release is written to, and read back from; in one transaction, over nothing unasked.

In PostgreSQL a release is a schema with its tables and `manifest`; in SQLite, tables whose names begin with its own.
The manifest is one row with one text. A table of a database has no order: rows are brought into theirs when read.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa

from shoal.errors import GuaranteeError, Problem, Problems, ShoalError, SourceError
from shoal.errors.redaction import with_variables
from shoal.release.catalog import LISTED, ODDITIES, OTHER_OBJECTS, attached
from shoal.release.column_types import ANY, TEXT, TRUTH
from shoal.release.manifest import Manifest
from shoal.spec import Spec, param
from shoal.table.sources.files import found_file
from shoal.table.sources.postgresql import connected, frame_of, meaning
from shoal.table.sources.source import PASSWORD, SCHEMES, Text, kind_of_uri
from shoal.table.sources.sql import expanded
from shoal.table.sources.sqlite import file_of_uri, reading_of, rows_as_frame

MANIFEST = "manifest"
PIECE_ROWS = 1 << 16
"""Rows that are read at a time, of SQLite."""
LONGEST = 40
"""Letters of a name at most."""
TYPES = {pl.Int64: "BIGINT", pl.Float64: "DOUBLE PRECISION", pl.Boolean: "BOOLEAN", pl.Date: "DATE"}
"""Types of columns in PostgreSQL, but for texts and instants."""


@dataclass(frozen=True)
class ReleaseName(Text):
    """A name that both databases take as it is, and that no table of another release begins with."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        fits = isinstance(value, str) and len(value) <= LONGEST and re.fullmatch(r"[a-z](_?[a-z0-9])*", value)
        return None if fits else f"needs {self.what}"

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", "People", "1st", "a-b", "a__b", "a_", "a" * (LONGEST + 1), 'x"; DROP TABLE y', 1]


@dataclass(frozen=True, repr=False)
class Target(Spec):
    """A database, and what a release is called in it.

    ``${NAME}`` in the uri stands for an environment variable, so that no password needs to be written down.

    Examples
    --------
    >>> Target(uri="sqlite:///releases.db", release="people").kind
    'sqlite'
    """

    name: ClassVar[str] = "target"
    uri: str = param(
        Text("a uri"), "database to write to, `sqlite:///...` or `postgresql://...`; `${NAME}` from the environment"
    )
    release: str = param(
        ReleaseName("a name of small letters, digits and single _ between them, at most 40"),
        "what the release is called there: a schema of PostgreSQL, the beginning of table names in SQLite",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in ("sqlite", "postgresql"):
            fix = f"begin it with one of {', '.join(SCHEMES)}"
            raise SourceError(Problem("Target(uri=)", "unknown kind of database", fix))

    def __repr__(self) -> str:
        """Leave the uri out: it may hold a password."""
        return f"Target(uri='...', release={self.release!r})"

    @property
    def kind(self) -> str:
        """``"sqlite"`` or ``"postgresql"``."""
        return str(kind_of_uri(str(self.uri)))

    def describe(self) -> str:
        """The place in one line, without what may hold a password."""
        scheme, _, rest = self.uri.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}, release {self.release}"

    def without_password(self) -> Target:
        """The same, to be written down: with environment variables for its passwords."""
        return Target(with_variables(self.uri, PASSWORD)[0], self.release)


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


class _PostgreSQL(Database):
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
        columns = ", ".join(f"{_quoted(column)} {_sql_type(dtype)}" for column, dtype in frame.schema.items())
        self._run(f'CREATE TABLE "{self.target.release}".{_quoted(name)} ({columns})')

    def add(self, name: str, frame: pl.DataFrame) -> None:
        """Through Arrow."""
        with closing(self.connection.cursor()) as cursor:
            rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
            cursor.adbc_ingest(name, rows, mode="append", db_schema_name=self.target.release)

    def pieces(self, name: str) -> Iterator[pl.DataFrame]:
        """Through Arrow, in any order; a view or a policy could show other rows to the next who asks."""
        self._check_plain(name)
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(f'SELECT * FROM ONLY "{self.target.release}".{_quoted(name)}')  # noqa: S608
            found = cursor.fetch_record_batch()
            yield frame_of(found.schema.empty_table())
            for batch in found:
                yield frame_of(pa.Table.from_batches([batch]))

    def _check_plain(self, name: str) -> None:
        """Refuse what is no table as a release has it, and say why."""
        asked = ", ".join(ODDITIES.values())
        found = self._run(f"SELECT {asked} {LISTED} '{self.target.release}' AND c.relname = {_text(name)}")
        odd = [what for what, column in zip(ODDITIES, found.columns, strict=True) if column.to_pylist() != [False]]
        if odd:
            raise _not_as_written(name, "; ".join(odd) if found.num_rows else "it is not there")

    def drop(self) -> None:
        """Remove tables and schema; the server refuses where something else is there, or depends on them."""
        for name in self.tables():
            self._run(f'DROP TABLE "{self.target.release}".{_quoted(name)}')
        self._run(f'DROP SCHEMA "{self.target.release}"')


_SQLITE = {"INTEGER": pl.Int64(), "REAL": pl.Float64(), "TEXT": pl.String()}
"""Types of columns in SQLite."""


class _SQLite(Database):
    keeps_order = True
    as_text = (TEXT, ANY, TRUTH)

    def tables(self) -> list[str]:
        """Those whose names begin with that of the release, in small letters or large: SQLite tells no difference."""
        begin = f"{self.target.release}__"
        names = self.connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        return sorted(name[len(begin) :] for (name,) in names if name.lower().startswith(begin))

    def has_others(self) -> bool:
        """Indexes and triggers, of its tables or by their own names."""
        return attached(self.connection, f"{self.target.release}__")

    def _place(self, name: str) -> str:
        return _quoted(f"{self.target.release}__{name}")

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
        columns = ", ".join(f"{_quoted(column)} {kind}" for column, kind in kinds.items())
        return f"CREATE TABLE {self._place(name)} ({columns})"

    def pieces(self, name: str) -> Iterator[pl.DataFrame]:
        """Cell by cell; rows are numbered from 1 in their order."""
        called = (f"{self.target.release}__{name}",)
        kinds = dict(self.connection.execute("SELECT name, type FROM pragma_table_info(?)", called).fetchall())
        made = self.connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", called).fetchall()
        if made != [(self._statement(name, kinds),)] or not set(kinds.values()) <= set(_SQLITE):
            raise _not_as_written(name, "it was made, or changed, by another statement")
        taken = {column.lower() for column in kinds}
        number = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), "NULL")
        cursor = self.connection.execute(f"SELECT {number}, * FROM {self._place(name)} ORDER BY 1")  # noqa: S608
        yield pl.DataFrame(schema={column: _SQLITE[kind] for column, kind in kinds.items()})
        n_before = 0
        while rows := cursor.fetchmany(PIECE_ROWS):
            if any(row[0] not in (place, None) for place, row in enumerate(rows, n_before + 1)):
                what = "has rows with other numbers than a release gives them"
                raise GuaranteeError(Problem(f"table {name!r}", what))
            yield self._typed(
                name, rows_as_frame([row[1:] for row in rows], list(kinds), self.target.describe()), kinds
            )
            n_before += len(rows)

    @staticmethod
    def _typed(name: str, frame: pl.DataFrame, kinds: Mapping[str, str]) -> pl.DataFrame:
        """Cells must be of the types of their columns: SQLite takes any, and bytes for a text."""
        if any(one.dtype != _SQLITE[kinds[one.name]] and one.null_count() < len(one) for one in frame):
            raise GuaranteeError(Problem(f"table {name!r}", "has cells of another type than their columns"))
        return frame.cast({column: _SQLITE[kind] for column, kind in kinds.items()})

    def drop(self) -> None:
        """Remove the tables of the release."""
        for name in self.tables():
            self.connection.execute(f"DROP TABLE {self._place(name)}")


def _not_as_written(name: str, why: str) -> GuaranteeError:
    what = f"is not a table as a release has it: {why}"
    return GuaranteeError(Problem(f"table {name!r}", what, "undo that, or write the release again"))


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_type(dtype: pl.DataType) -> str:
    return "TIMESTAMP" if isinstance(dtype, pl.Datetime) else TYPES.get(type(dtype), "TEXT")


@contextmanager
def opened(target: Target, *, write: bool = True) -> Iterator[Database]:
    """The database in a transaction, committed when the block ends well; no message of a driver travels on.

    Who only reads needs no right to write, and waits for nobody.
    """
    opening = _opened_postgresql if target.kind == "postgresql" else _opened_sqlite
    with opening(target, write=write) as database:
        yield database


@contextmanager
def _opened_postgresql(target: Target, *, write: bool) -> Iterator[Database]:
    connection = connected(expanded(str(target.uri)))
    with closing(connection):
        try:
            database = _PostgreSQL(target, connection)
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


@contextmanager
def _opened_sqlite(target: Target, *, write: bool) -> Iterator[Database]:
    import sqlite3

    path = Path(file_of_uri(str(target.uri)))
    if not write:
        found_file(path)
    made = write and not path.exists()
    connection = None
    try:
        address = str(path) if write else f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(address, isolation_level=None, timeout=5, uri=not write)
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        yield _SQLite(target, connection)
        looked = made and not connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        connection.execute("ROLLBACK" if looked else "COMMIT")
    except ShoalError:
        raise
    except sqlite3.Error as error:  # its messages hold cells
        raise SourceError(Problem(str(path), *(_unwritten(error) if write else reading_of(error)))) from None
    finally:
        if connection is not None:
            connection.close()
        if made and path.is_file() and not path.stat().st_size:
            path.unlink()


def _unwritten(error: Exception) -> tuple[str, str]:
    """Say why a database of SQLite could not be written, without the text of the error."""
    if "full" in str(error):
        return "the disk is full; nothing was written", "make room"
    fix = "check that the file can be written, and that nobody else writes to it"
    return "the database cannot be written; nothing was", fix


def check_free(database: Database, *, overwrite: bool) -> None:
    """Refuse a place that is taken; with `overwrite`, one that holds anything but a release."""
    if not database.exists():
        return
    where = database.target.describe()
    if not overwrite:
        fix = "choose another name, or overwrite it (overwrite=True, --overwrite)"
        raise SourceError(Problem(where, "is there already", fix))
    problems = Problems()
    try:
        known = {MANIFEST, *(table.name for table in database.manifest().tables)}
    except (SourceError, GuaranteeError):
        known = set()
    if set(database.tables()) != known:
        problems.add(where, "is no release, so it is not replaced", "choose another name")
    problems.raise_if_any(SourceError)


def write_tables(database: Database, manifest: Manifest, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write tables and manifest."""
    for name, frame in tables.items():
        database.write(name, frame)
    database.write(MANIFEST, pl.DataFrame({"json": [manifest.to_json()]}))


def listed_manifest(database: Database) -> Manifest:
    """The manifest; refuses tables that it does not list, and names of files, which nobody could compare."""
    manifest = database.manifest()
    listed = {MANIFEST, *(table.name for table in manifest.tables)}
    problems, where = Problems(), database.target.describe()
    if set(database.tables()) != listed:
        problems.add(where, "has other tables than the manifest lists")
    if database.has_others():
        problems.add(where, "has more than tables: indexes, triggers, functions, types or a comment", "remove them")
    if manifest.names_files():
        problems.add(MANIFEST, "names files, which a release in a database does not have")
    problems.raise_if_any(GuaranteeError)
    return manifest
