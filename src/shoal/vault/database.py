"""The database of a vault: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, SQLAlchemyError

from shoal.disk.stopping import held, note_written, under_way
from shoal.errors import Problem, SourceError
from shoal.errors.redaction import redacted

MIGRATIONS = Path(__file__).with_name("migrations")
PASSWORD_FILE = "SHOAL_VAULT_DATABASE_PASSWORD_FILE"  # noqa: S105
WAIT = 30.0
"""Seconds that one waits for another who writes."""


_EXPLAINED = {
    "28P01": (
        "refuses the user or the password",
        f"check both; the password may stand in the file {PASSWORD_FILE} names",
    ),
    "28000": ("refuses the user", "check the name of the user, and from where the server lets it in"),
    "3D000": ("is not there", "check the name of the database, or make an empty one first"),
    "42501": ("gives the user no right to this", "use the user that owns the database, or ask for the right to CREATE"),
    "53300": ("has too many connections", "try again later, or raise max_connections"),
}
"""What PostgreSQL says when nobody may use it, and what to do."""


class DatabaseError(SourceError):
    """The database cannot be reached, or refuses; nothing was changed."""

    def __init__(self, kind: str, state: str = "") -> None:
        what, fix = _EXPLAINED.get(state, ("cannot be used", "check its address, and that it can be written"))
        super().__init__(Problem("database", f"{what} ({f'SQLSTATE {state}' if state in _EXPLAINED else kind})", fix))


def address(given: str) -> URL:
    """Where the database is: a path, or an address of PostgreSQL or SQLite."""
    if "://" not in given:
        return _file(URL.create("sqlite", database=str(Path(given).absolute())))
    try:
        url = make_url(given)
    except ArgumentError:
        raise SourceError(
            Problem("database", "the address cannot be read", "give a path or postgresql://...")
        ) from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+pg8000", password=url.password or _password())
    if url.get_backend_name() != "sqlite":
        raise SourceError(Problem("database", "must be SQLite or PostgreSQL", "give a path or postgresql://..."))
    return _file(url)


def shown(url: URL) -> str:
    """A file by its path, PostgreSQL by its address; without a password."""
    if url.get_backend_name() == "sqlite":
        return redacted(str(url.database or ":memory:"))
    place = url.username, None, url.host, url.port, url.database, url.query
    return redacted(URL.create(url.get_backend_name(), *place).render_as_string())


def _file(url: URL) -> URL:
    """Refuse a place of SQLite where something else stands than a file."""
    place = Path(url.database or ":memory:")
    if place.exists() and not place.is_file():
        what, fix = ("is a folder", "name a file in it") if place.is_dir() else ("is no file", "name another place")
        raise SourceError(Problem(str(place), what, fix))
    return url


def _password() -> str | None:
    """The password of PostgreSQL from a file, so that it stands in no address and no environment."""
    place = os.environ.get(PASSWORD_FILE)
    if place is None:
        return None
    try:
        return Path(place).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise SourceError(Problem(PASSWORD_FILE, f"the password cannot be read ({reason})", "check the path")) from None


class Database:
    """Where everything is kept. Every change is one transaction, and waits for its turn."""

    def __init__(self, given: str) -> None:
        self.url = address(given)
        self.engine = _engine(self.url)

    @property
    def shown(self) -> str:
        """The address without a password."""
        return shown(self.url)

    @contextmanager
    def reading(self, *, at_once: bool = False) -> Iterator[Connection]:
        """A connection that changes nothing; with `at_once`, all it reads is as it was at one moment."""
        with _told(), self.engine.connect() as connection:
            if at_once and self.url.get_backend_name() == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are kept together when the block ends, or not at all."""
        with (
            under_way() as (alone, last),
            _told(),
            self.engine.connect().execution_options(shoal_writes=True) as connection,
            connection.begin() as transaction,
        ):
            yield connection
            with held():
                transaction.commit()
                if alone:
                    note_written([self.shown], last=last)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def migrate(self) -> None:
        """Bring the tables to what this version of Shoal needs."""
        from alembic import command

        with _told(), self.engine.connect().execution_options(shoal_writes=True) as connection, connection.begin():
            command.upgrade(_alembic(connection), "head")

    def revision(self) -> tuple[str | None, str]:
        """The revision of the tables that are there, and the one that is needed."""
        from alembic.runtime.migration import MigrationContext

        with self.reading() as connection:
            return MigrationContext.configure(connection).get_current_revision(), needed_revision()

    def check(self) -> None:
        """Refuse a database that is no vault, or that of another version."""
        there, needed = self.revision()
        if there is None or not self.has_vault():
            fix = "run: shoal vault init" if not self._has_tables() else "give the database of a vault"
            raise SourceError(Problem(self.shown, "is not the database of a vault", fix))
        if there != needed:
            what = "has the tables of another version of Shoal"
            raise SourceError(Problem(self.shown, what, "make a backup, then run: shoal vault init --upgrade"))

    def has_vault(self) -> bool:
        """Whether the tables hold a vault: they are empty if somebody stopped while it was made."""
        from shoal.vault.tables import chain

        with self.reading() as connection:
            if not inspect(connection).has_table(chain.name):
                return False
            return connection.execute(select(chain.c.id)).first() is not None

    def _has_tables(self) -> bool:
        with self.reading() as connection:
            return bool(inspect(connection).get_table_names())


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        engine = create_engine(url, pool_size=8, max_overflow=8, connect_args={"timeout": WAIT})
        event.listen(engine, "checkout", _still_there)
        return engine
    engine = create_engine(url, connect_args={"timeout": WAIT, "check_same_thread": False})

    @event.listens_for(engine, "do_connect")
    def begin_file(*_: Any) -> None:
        _make_private(url.database)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say ourselves when a transaction begins
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("shoal_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _make_private(place: str | None) -> None:
    """Make a new file of SQLite one that its owner alone can read: it holds hashes of passwords and tokens."""
    if place and place != ":memory:":
        with suppress(OSError):
            os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _still_there(connection: Any, _record: Any, _proxy: Any) -> None:
    """Try a connection before it is used: one that broke meanwhile is replaced. The driver says so in its own ways."""
    try:
        connection.cursor().execute("SELECT 1")
        connection.rollback()
    except Exception:
        raise DisconnectionError from None


def needed_revision() -> str:
    """The revision of the tables that this version of Shoal needs."""
    from alembic.script import ScriptDirectory

    return str(ScriptDirectory.from_config(_alembic(None)).get_current_head())


def _alembic(connection: Connection | None) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


@contextmanager
def _told() -> Iterator[None]:
    """Tell of a database that is away or full in words of ours: those of a driver may hold a password or a cell."""
    try:
        yield
    except (DBAPIError, SQLAlchemyError, OSError) as error:
        cause = getattr(error, "orig", None)
        raise DatabaseError(type(cause or error).__name__, _state(cause)) from None


def _state(cause: BaseException | None) -> str:
    """The SQLSTATE of an error, where the driver of PostgreSQL gives one."""
    said = cause.args[0] if cause is not None and cause.args else None
    return str(said.get("C", "")) if isinstance(said, dict) else ""
