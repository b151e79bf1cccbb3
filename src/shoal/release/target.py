"""`Target`: a database that a release is written to, and read back from; in one transaction, over nothing unasked.

In PostgreSQL a release is a schema with its tables and `manifest`; in SQLite, tables whose names begin with its own.
The manifest is one row with one text. A table of a database has no order: rows are brought into theirs when read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from shoal.errors import GuaranteeError, Problem, Problems, ShoalError, SourceError
from shoal.redaction import with_variables
from shoal.release.manifest import Manifest
from shoal.spec import Spec, param
from shoal.table.sources.postgresql import connected, frame_of, meaning
from shoal.table.sources.source import PASSWORD, SCHEMES, Text, kind_of_uri
from shoal.table.sources.sql import expanded
from shoal.table.sources.sqlite import file_of_uri, rows_as_frame

MANIFEST = "manifest"
TYPES = {pl.Int64: "BIGINT", pl.Float64: "DOUBLE PRECISION", pl.Boolean: "BOOLEAN", pl.Date: "DATE"}
"""Types of columns in PostgreSQL, but for texts and instants."""


@dataclass(frozen=True)
class ReleaseName(Text):
    """A name that both databases take as it is."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        fits = isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]{0,39}", value)
        return None if fits else f"needs {self.what}"

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", "People", "1st", "a-b", 'x"; DROP TABLE y', 1]


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
        ReleaseName("a name of small letters, digits and _, at most 40"),
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


class Database:
    """A connection in a transaction; what is written is there for all when it is committed, or not at all."""

    def __init__(self, target: Target, connection: Any) -> None:
        self.target, self.connection = target, connection

    def tables(self) -> list[str]:
        """The tables of the release that are there, `manifest` among them; in PostgreSQL also those of others."""
        raise NotImplementedError

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Make a table with these rows."""
        raise NotImplementedError

    def read(self, name: str) -> pl.DataFrame:
        """The rows of a table, in any order."""
        raise NotImplementedError

    def drop(self) -> None:
        """Remove the release."""
        raise NotImplementedError

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

    def exists(self) -> bool:
        """Whether there is a schema of that name."""
        schemas = f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{self.target.release}'"  # noqa: S608
        return bool(self._run(schemas).num_rows)

    def tables(self) -> list[str]:
        """All tables of the schema."""
        named = f"WHERE table_schema = '{self.target.release}' ORDER BY 1"
        found = self._run(f"SELECT table_name::text FROM information_schema.tables {named}")  # noqa: S608
        return [str(name) for name in found.column(0).to_pylist()]

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Make the schema with the first table."""
        if not self.exists():
            self._run(f'CREATE SCHEMA "{self.target.release}"')
        columns = ", ".join(f"{_quoted(column)} {_sql_type(dtype)}" for column, dtype in frame.schema.items())
        self._run(f'CREATE TABLE "{self.target.release}".{_quoted(name)} ({columns})')
        with closing(self.connection.cursor()) as cursor:
            rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
            cursor.adbc_ingest(name, rows, mode="append", db_schema_name=self.target.release)

    def read(self, name: str) -> pl.DataFrame:
        """Through Arrow."""
        return frame_of(self._run(f'SELECT * FROM "{self.target.release}".{_quoted(name)}'))  # noqa: S608

    def drop(self) -> None:
        """Remove the schema, which holds nothing but the release."""
        self._run(f'DROP SCHEMA "{self.target.release}" CASCADE')


class _SQLite(Database):
    def tables(self) -> list[str]:
        """Those whose names begin with that of the release."""
        begin = f"{self.target.release}__"
        names = self.connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        return sorted(name[len(begin) :] for (name,) in names if name.startswith(begin))

    def _place(self, name: str) -> str:
        return _quoted(f"{self.target.release}__{name}")

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Whole and real numbers as such, all else as text."""
        kinds: dict[type[pl.DataType], str] = {pl.Int64: "INTEGER", pl.Float64: "REAL"}
        typed = ((column, kinds.get(type(dtype), "TEXT")) for column, dtype in frame.schema.items())
        columns = ", ".join(f"{_quoted(column)} {kind}" for column, kind in typed)
        self.connection.execute(f"CREATE TABLE {self._place(name)} ({columns})")
        others = [column for column, dtype in frame.schema.items() if type(dtype) not in kinds]
        marks = ", ".join("?" * frame.width)
        rows = frame.with_columns(pl.col(others).cast(pl.String)).iter_rows()
        self.connection.executemany(f"INSERT INTO {self._place(name)} VALUES ({marks})", rows)  # noqa: S608

    def read(self, name: str) -> pl.DataFrame:
        """Cell by cell."""
        cursor = self.connection.execute(f"SELECT * FROM {self._place(name)}")  # noqa: S608
        names = [column[0] for column in cursor.description]
        asked = "SELECT name, type FROM pragma_table_info(?)"
        kinds = dict(self.connection.execute(asked, (f"{self.target.release}__{name}",)).fetchall())
        frame = rows_as_frame(cursor.fetchall(), names, self.target.describe())
        types = {"INTEGER": pl.Int64, "REAL": pl.Float64}
        return frame.cast({one: types.get(kinds[one], pl.String) for one in names})

    def drop(self) -> None:
        """Remove the tables of the release."""
        for name in self.tables():
            self.connection.execute(f"DROP TABLE {self._place(name)}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_type(dtype: pl.DataType) -> str:
    return "TIMESTAMP" if isinstance(dtype, pl.Datetime) else TYPES.get(type(dtype), "TEXT")


@contextmanager
def opened(target: Target) -> Iterator[Database]:
    """The database in a transaction, committed when the block ends well; no message of a driver travels on."""
    opening = _opened_postgresql if target.kind == "postgresql" else _opened_sqlite
    with opening(target) as database:
        yield database


@contextmanager
def _opened_postgresql(target: Target) -> Iterator[Database]:
    connection = connected(expanded(str(target.uri)))
    with closing(connection):
        try:
            yield _PostgreSQL(target, connection)
            connection.commit()
        except ShoalError:
            connection.rollback()
            raise
        except Exception as error:  # the message may hold cells
            connection.rollback()
            raise SourceError(Problem(target.describe(), *meaning(error))) from None


@contextmanager
def _opened_sqlite(target: Target) -> Iterator[Database]:
    import sqlite3

    path = Path(file_of_uri(str(target.uri)))
    fix = "check that the file can be written, and that nobody else writes to it"
    made = not path.exists()
    connection = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=5)
        connection.execute("BEGIN IMMEDIATE")
        yield _SQLite(target, connection)
        connection.execute("COMMIT")
        made = False
    except ShoalError:
        raise
    except sqlite3.Error as error:  # its messages hold cells
        full = isinstance(error, sqlite3.OperationalError) and "full" in str(error)
        what = "the disk is full; nothing was written" if full else "the database cannot be written; nothing was"
        raise SourceError(Problem(str(path), what, "make room" if full else fix)) from None
    finally:
        if connection is not None:
            connection.close()
        if made and path.is_file() and not path.stat().st_size:
            path.unlink()


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


def read_tables(database: Database) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """A release as it is in a database, rows in any order; refuses tables that the manifest does not list."""
    manifest = database.manifest()
    listed = {MANIFEST, *(table.name for table in manifest.tables)}
    if set(database.tables()) != listed:
        raise GuaranteeError(Problem(database.target.describe(), "has other tables than the manifest lists"))
    return manifest, {table.name: database.read(table.name) for table in manifest.tables}
