"""SQLite takes any bytes for a text: names and cells that are no UTF-8 are named by where they are, never shown."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from shoal.errors import SourceError
from shoal.table.sources import read

CANARY = "Kestrel"


def database(path: Path, table: str, column: str, cells: tuple[bytes, ...], more: str = "") -> Path:
    """A database whose names may hold ``QQ``, which is then made two bytes that are no UTF-8."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f'CREATE TABLE "{table}" (age INTEGER, "{column}" TEXT)')
        for cell in cells:
            connection.execute(f'INSERT INTO "{table}" VALUES (30, CAST(? AS TEXT))', (cell,))
        if more:
            connection.execute(more)
        connection.commit()
    path.write_bytes(path.read_bytes().replace(b"QQ", b"\xff\xfe"))
    return path


def refusal(path: Path, **options: str) -> str:
    """What is said of a database, which names none of its cells, with nothing else hanging on the error."""
    with pytest.raises(SourceError, match=path.name) as caught:
        read(path, **options)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert CANARY not in str(caught.value)
    return str(caught.value)


def test_a_column_name(tmp_path):
    path = database(tmp_path / "t.db", "people", "QQ", (CANARY.encode(),))
    said = refusal(path)
    assert "a column has a name that is not UTF-8 text; rename it" in said
    assert refusal(path, table="people") == said
    assert read(path, query="SELECT age FROM people").rows() == [(30,)]


def test_a_table_name(tmp_path):
    path = database(tmp_path / "t.db", "QQ", "name", (CANARY.encode(),))
    assert "has no table but 1 whose name is not UTF-8 text; rename it in the database" in refusal(path)
    path = database(tmp_path / "two.db", "QQ", "name", (CANARY.encode(),), "CREATE TABLE good AS SELECT 'x' AS a")
    assert read(path).rows() == read(path, table="good").rows() == [("x",)]
    assert "has no table 'goood'; did you mean 'good'?" in refusal(path, table="goood")


def test_cells(tmp_path):
    cells = (b"fine", CANARY.encode() + b"\xff", "Zoë".encode(), b"\xc3\x28")
    path = database(tmp_path / "t.db", "people", "name", cells)
    assert "column 'name': 2 cells are not UTF-8 text, at rows 2, 4; read it in a query as hex(name)" in refusal(path)
    assert read(path, query="SELECT hex(name) AS n FROM people")["n"][0] == b"fine".hex().upper()
    one = database(tmp_path / "one.db", "people", "a.b", cells[:2])
    assert '1 cell is not UTF-8 text, at row 2; read it in a query as hex("a.b")' in refusal(one)
