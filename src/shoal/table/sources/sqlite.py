"""SQLite, opened for reading only; a column whose cells have several types becomes text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import Problem, Problems, SourceError, cells_are, did_you_mean, rows_at, some
from shoal.table.numbers import number_text
from shoal.table.sources.drivers import driver
from shoal.table.sources.files import check_header, found_file
from shoal.table.sources.source import Source
from shoal.table.sources.sql import expanded, statement, written

if TYPE_CHECKING:
    from sqlite3 import Connection

_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"


def read_sqlite(source: Source) -> pl.DataFrame:
    """Read a table or a query of a SQLite database."""
    import sqlite3

    path = found_file(file_of_uri(source.uri) if source.uri is not None else source.path)
    address, where = f"{path.resolve().as_uri()}?mode=ro", str(path)
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _decoded
            tables = [name for (name,) in connection.execute(f"{_TABLES} ORDER BY name")]
            query = _query(source, _nameable(tables, source, where), where)
            check_header(_names(connection, query), where)
            frame = _read_quickly(address, query, connection)
            return frame if frame is not None else _read_surely(connection, query, where)
    except UnicodeError:  # names of columns, which the module decodes itself; the error holds one
        problem = Problem(where, "a column has a name that is not UTF-8 text", "rename it, or name it AS in a query")
    except (sqlite3.Error, sqlite3.Warning) as error:  # its messages hold cells
        problem = Problem(where, *reading_of(error))
    raise SourceError(problem)


def sqlite_pieces(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    """The same table, some rows at a time; whether a column is text is said by all of its cells, beforehand."""
    import sqlite3

    path = found_file(file_of_uri(source.uri) if source.uri is not None else source.path)
    address, where = f"{path.resolve().as_uri()}?mode=ro", str(path)
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = _decoded
            connection.execute("BEGIN")  # one state of the database for all that is asked
            tables = [name for (name,) in connection.execute(f"{_TABLES} ORDER BY name")]
            query = _query(source, _nameable(tables, source, where), where)
            names = _names(connection, query)
            check_header(names, where)
            types, n_before = _types(connection, query, names), 0
            cursor = connection.execute(query)
            while cells := cursor.fetchmany(rows):
                yield rows_as_frame(cells, names, where, types, n_before)
                n_before += len(cells)
    except UnicodeError:  # names of columns, which the module decodes itself; the error holds one
        problem = Problem(where, "a column has a name that is not UTF-8 text", "rename it, or name it AS in a query")
    except (sqlite3.Error, sqlite3.Warning) as error:  # its messages hold cells
        problem = Problem(where, *reading_of(error))
    else:
        return
    raise SourceError(problem)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_KINDS = {"integer": int, "real": float, "text": str, "blob": bytes}
"""Types of cells in SQLite, and how they come."""


def _types(connection: Connection, query: str, names: Sequence[str]) -> list[pl.DataType]:
    """The types of columns, by all of their cells."""
    asked = ", ".join(
        " + ".join(f"{1 << place} * max(typeof({_quoted(name)}) = '{kind}')" for place, kind in enumerate(_KINDS))
        for name in names
    )
    found = connection.execute(f"SELECT {asked} FROM ({query}\n)").fetchone()  # noqa: S608
    return [_type({kind for place, kind in enumerate(_KINDS.values()) if (marks or 0) >> place & 1}) for marks in found]


@dataclass(frozen=True)
class _NoText:
    """In place of a text whose bytes are not UTF-8: SQLite takes any bytes for a text."""


def _decoded(raw: bytes) -> str | _NoText:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _NoText()


def _nameable(tables: Sequence[str | _NoText], source: Source, where: str) -> list[str]:
    """Tables whose names can be written; an error where none can be, and no query was given."""
    known = [name for name in tables if isinstance(name, str)]
    if tables and not known and source.query is None:
        what = f"has no table but {len(tables)} whose name is not UTF-8 text"
        raise SourceError(Problem(where, what, "rename it in the database"))
    return known


def file_of_uri(uri: str) -> str:
    """The file that a uri names."""
    path = expanded(uri)[len("sqlite:///") :]
    if not path:
        raise SourceError(Problem("uri", "names no file", "write sqlite:///folder/file.db"))
    return path


def _query(source: Source, tables: Sequence[str], where: str) -> str:
    known = [written(name) for name in tables]
    if source.table is not None and source.table in tables:  # as the database spells it, even with a dot in it
        known = [written(source.table)]
    elif source.table is not None:
        plain = source.table.removeprefix("main.").lower()
        if plain not in {name.lower() for name in (*tables, *known)}:
            fix = f"{did_you_mean(source.table, known, ' ')} tables: {some(known, 50)}".strip()
            raise SourceError(Problem(where, f"has no table {source.table!r}", fix))
        return statement(source, list, where)
    elif source.query is not None:
        return statement(source, list, where)
    return statement(Source(path="any.db"), lambda: known, where)


def _names(connection: Connection, query: str) -> list[str]:
    return [column[0] for column in connection.execute(query).description]


def _read_quickly(address: str, query: str, connection: Connection) -> pl.DataFrame | None:
    """Through ADBC; None where it cannot, or would write numbers among texts in its own, shorter way."""
    adbc = driver("sqlite")

    try:
        with adbc.connect(address) as fast, fast.cursor() as cursor:
            cursor.execute(query)
            table = cursor.fetch_arrow_table()
        table.validate(full=True)  # SQLite takes any bytes for a text
        if _has_mixed_column(table, query, connection):
            return None
        return pl.DataFrame(table).rechunk()
    except Exception:  # whatever it was, the sure way finds it too, and its messages hold cells
        return None


def _has_mixed_column(table: Any, query: str, connection: Connection) -> bool:
    """Whether a column that came as text or bytes holds cells of another type too."""
    own = {"string": "text", "binary": "blob"}
    asked = []
    for field in table.schema:
        if str(field.type) in own:
            name = field.name.replace('"', '""')
            asked.append(f"max(typeof(\"{name}\") NOT IN ('null', '{own[str(field.type)]}'))")
    if not asked:
        return False
    # The query may end in a comment, hence the line end.
    return any(connection.execute(f"SELECT {', '.join(asked)} FROM ({query}\n)").fetchone())  # noqa: S608


def _read_surely(connection: Connection, query: str, where: str) -> pl.DataFrame:
    """Through the sqlite3 module, cell by cell."""
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    return rows_as_frame(cursor.fetchall(), names, where)


def rows_as_frame(
    rows: Sequence[Sequence[Any]],
    names: Sequence[str],
    where: str,
    types: Sequence[pl.DataType] = (),
    n_before: int = 0,
) -> pl.DataFrame:
    """Rows as columns, each of one type: that of its cells, unless `types` has one; `n_before` rows came before."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    problems = Problems()
    for name, cells in zip(names, columns, strict=True):
        broken = [row for row, cell in enumerate(cells, n_before) if isinstance(cell, _NoText)]
        if broken:
            what = f"{cells_are(len(broken))} not UTF-8 text, at {rows_at(broken)}"
            problems.add(
                f"{where}, column {name!r}", what, f"read it in a query as hex({written(name)}), or correct it"
            )
    problems.raise_if_any(SourceError)
    found = types or [_type({type(cell) for cell in cells} - {type(None)}) for cells in columns]
    return pl.DataFrame([_series(name, cells, dtype) for name, cells, dtype in zip(names, columns, found, strict=True)])


def _type(kinds: set[type]) -> pl.DataType:
    """The type of a column that has such cells; one that has none is what ADBC takes it for."""
    if kinds <= {int, float}:
        return pl.Float64() if float in kinds else pl.Int64()
    return pl.Binary() if kinds == {bytes} else pl.String()


def _series(name: str, cells: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    if dtype == pl.Float64:
        cells = [None if cell is None else float(cell) for cell in cells]
    elif dtype == pl.String:
        cells = [_text(cell) for cell in cells]
    return pl.Series(name, cells, dtype=dtype)


def _text(cell: Any) -> str | None:
    if isinstance(cell, float):
        return number_text(cell) if abs(cell) < float("inf") else str(cell)
    if isinstance(cell, bytes):
        return cell.hex()
    return None if cell is None else str(cell)


def reading_of(error: Exception) -> tuple[str, str]:
    """Say what an error of SQLite means, without its text."""
    code = getattr(error, "sqlite_errorname", "") or ""
    if code.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return "is not an SQLite database, or is damaged", "check the file"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "is locked by another program", "try again later"
    if code.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR", "SQLITE_AUTH")):
        return "cannot be opened", "check its permissions"
    if code in ("SQLITE_READONLY_ROLLBACK", "SQLITE_READONLY_RECOVERY"):
        fix = "open it once with a program that may write there, which undoes what was not finished"
        return "a program stopped while it was writing there", fix
    if code.startswith("SQLITE_READONLY"):
        return "the query would change the database, which is opened for reading only", "give a SELECT"
    if code.startswith("SQLITE_ERROR"):
        return "refuses the query", "check its syntax, tables and columns; one statement only"
    return "the query fails", "check the query"
