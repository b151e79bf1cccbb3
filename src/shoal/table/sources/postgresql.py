"""PostgreSQL, in a transaction that only reads, in an order that does not change from run to run."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import polars as pl

from shoal.errors import Problem, Problems, SourceError
from shoal.table.sources.drivers import driver
from shoal.table.sources.files import check_header
from shoal.table.sources.source import Source
from shoal.table.sources.sql import expanded, statement, written

_WHERE = "PostgreSQL"
_SETTINGS = (
    "SET TRANSACTION READ ONLY",
    # A scan may start where another one is, and workers finish in any order: both would shuffle the rows.
    "SET synchronize_seqscans TO off",
    "SET max_parallel_workers_per_gather TO 0",
)
_TABLES = """
    SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
"""
_EXPLAINED = {
    "42P01": (
        "the table, or one of the query, does not exist",
        "check its spelling (upper and lower case too) and its schema",
    ),
    "3F000": ("the schema of the table does not exist", "check its spelling"),
    "42703": ("a column of the query does not exist", "check the query"),
    "42601": ("the query has a syntax error", "check the query; one statement only"),
    "42501": ("the user may not read this", "ask for the right to: USAGE of the schema, SELECT of its tables"),
    "25006": ("the query would change the database", "give a SELECT"),
    "57014": ("the query was stopped by the server", "raise its statement_timeout"),
    "53100": ("the disk of the server is full", "make room there"),
    "55P03": ("somebody else is using this", "try again when they are done"),
    "40001": ("others changed the same at once", "try again"),
    "40P01": ("others changed the same at once", "try again"),
}
_TAKEN = ("somebody else wrote a release of this name at once", "choose another name")
_EXPLAINED_OF_WRITING = _EXPLAINED | {
    "42501": (
        "the user may not write this",
        "ask for the right to: CREATE in the database for a new release, or be the owner of the one to replace",
    ),
    "25006": ("the server or the user only reads", "give the address of a server that can be written, or another user"),
    "2BP01": (
        "something else in the database depends on the release that is there",
        "remove that first, such as a view of it, or choose another name",
    ),
    "42P06": _TAKEN,
    "23505": _TAKEN,
}
_FAILS = ("the query fails", "try it in psql")
_ENDED = ("57P01", "57P02", "57P03")
"""What a server says that ends a connection."""
_LOST = ("closed the connection", "no connection to the server")
_EXACT = 2.0**53
_FARTHEST = 95_000_000
"""Days before and after 1970 that Polars can show, some 260,000 years; PostgreSQL has later ones, and infinity."""


def read_postgresql(source: Source) -> pl.DataFrame:
    """Read a table or a query of a PostgreSQL database."""
    connection = connected(expanded(str(source.uri)))
    with closing(connection):
        try:
            with closing(connection.cursor()) as cursor:
                table = _fetched(cursor, source)
        except SourceError:
            raise
        except Exception as error:  # the message may hold cells
            raise SourceError(Problem(_WHERE, *meaning(error))) from None
    names = list(table.schema.names)
    if not names:
        raise SourceError(Problem(_WHERE, "the query gives no columns", "name some"))
    check_header(names, _WHERE)
    return frame_of(table)


def connected(uri: str) -> Any:
    """A connection in a transaction."""
    adbc = driver("postgresql")
    scheme, mark, rest = uri.partition("://")
    try:
        connection = adbc.connect(f"{scheme.lower()}{mark}{rest}")  # the driver takes no other letters
    except Exception:  # the message may hold the uri
        fix = "check server, port, database, user and password of the uri (reserved characters percent-encoded)"
        raise SourceError(Problem(_WHERE, "cannot connect", fix)) from None
    return connection


def postgresql_pieces(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    """The same table, some rows at a time, in one transaction: what others change meanwhile is not seen."""
    import pyarrow

    connection = connected(expanded(str(source.uri)))
    with closing(connection), closing(connection.cursor()) as cursor:
        try:
            for setting in _SETTINGS:
                cursor.execute(setting)
            cursor.execute(statement(source, lambda: _tables(cursor), _WHERE))
            for batch in cursor.fetch_record_batch():
                table = pyarrow.Table.from_batches([batch])
                check_header(list(table.schema.names), _WHERE)
                for begin in range(0, table.num_rows, rows):
                    yield frame_of(table.slice(begin, rows))
        except (SourceError, GeneratorExit):
            raise
        except Exception as error:  # the message may hold cells
            raise SourceError(Problem(_WHERE, *meaning(error))) from None


def _fetched(cursor: Any, source: Source) -> Any:
    for setting in _SETTINGS:
        cursor.execute(setting)
    cursor.execute(statement(source, lambda: _tables(cursor), _WHERE))
    return cursor.fetch_arrow_table()


def _tables(cursor: Any) -> list[str]:
    cursor.execute(_TABLES)
    return [f"{written(schema)}.{written(table)}" for schema, table in cursor.fetchall()]


def meaning(error: Exception, *, writing: bool = False) -> tuple[str, str]:
    """Say what an error of the server means, without its text; `writing` if more was wanted than to read."""
    state = getattr(error, "sqlstate", None) or ""
    code = f" (SQLSTATE {state})" if state else ""
    otherwise = ("the release cannot be written", "see the log of the server") if writing else _FAILS
    what, fix = (_EXPLAINED_OF_WRITING if writing else _EXPLAINED).get(state, otherwise)
    if state in _ENDED or (not state and any(mark in str(error) for mark in _LOST)):
        what, fix = "the connection was lost", "check that the server runs, and try again"
    if state.startswith("22"):
        what, fix = "a cell cannot be converted as the query asks", "check the conversions of the query"
    return what + code, fix


def frame_of(table: Any) -> pl.DataFrame:
    """Columns as polars types, or one error for all columns that have none."""
    problems = Problems()
    columns = []
    for field in table.schema:
        of_server = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        column = table.column(field.name)
        storage = getattr(field.type, "storage_type", None)
        if (
            of_server == "money"
            or (str(storage) == "binary" and of_server != "citext")
            or "interval" in str(field.type)
        ):
            cast = "numeric" if of_server == "money" else "text"
            fix = f"read it by a query that casts it: {field.name}::{cast}"
            problems.add(f"{_WHERE}, column {field.name!r}", f"has the type {of_server}, which cannot be read", fix)
            continue
        series = pl.Series(field.name, column if storage is None else column.cast(storage))
        if _beyond(series):
            fix = f"read it by a query that casts it: {field.name}::text"
            problems.add(f"{_WHERE}, column {field.name!r}", "has days that cannot be read, such as infinity", fix)
        columns.append(_as_meant(series, of_server))
    problems.raise_if_any(SourceError)
    return pl.DataFrame(columns).rechunk()


def _beyond(series: pl.Series) -> bool:
    """Whether a column has days, or instants, that Polars cannot show."""
    if series.dtype == pl.Date:
        days = series.to_physical()
    elif isinstance(series.dtype, pl.Datetime):
        days = series.dt.cast_time_unit("us").to_physical() // 86_400_000_000
    else:
        return False
    return bool((~days.is_between(-_FARTHEST, _FARTHEST)).any())


def _as_meant(series: pl.Series, of_server: str) -> pl.Series:
    """Make a column what its type on the server means."""
    if of_server == "numeric":
        floats = series.cast(pl.Float64, strict=False)
        # Numbers that a float would round (long codes) stay texts.
        return series if (floats.is_finite() & (floats.abs() >= _EXACT)).any() else floats
    if of_server == "citext":
        return series.cast(pl.String)
    if of_server == "bpchar":  # char(n): to PostgreSQL the padding is no part of the value
        return series.str.strip_chars_end(" ")
    if of_server == "uuid":
        texts = [None if raw is None else str(uuid.UUID(bytes=raw)) for raw in series.to_list()]
        return pl.Series(series.name, texts, dtype=pl.String)
    return series
