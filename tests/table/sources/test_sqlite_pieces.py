"""A SQLite table read piece by piece has the types that it has as a whole, whatever the pieces hold."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from shoal.errors import SourceError
from shoal.table.sources import Source, read
from shoal.table.sources.sqlite import sqlite_pieces

CELLS = {
    "numbers-after-nothing": [None, None, None, 4, 5, 6],
    "real-after-whole": [1, 2, 3, 4, 5, 6.5],
    "text-after-whole": [1, 2, 3, 4, 5, "x"],
    "bytes-among-texts": ["a", "b", "c", b"\x00\xff", b"\x41", b"\xfe"],
    "bytes-after-whole": [1, 2, 3, b"\x00\xff", b"\x41", b"\xfe"],
    "bytes": [b"\x00"] * 6,
    "nothing": [None] * 6,
}


def database(path, cells) -> Source:
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE people ("a""{0}")')
    connection.executemany("INSERT INTO people VALUES (?)", [(cell,) for cell in cells])
    connection.commit()
    connection.close()
    return Source(path=path)


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("rows", [1, 3, 6])
def test_the_same_types_as_of_the_whole(tmp_path, cells, rows):
    source = database(tmp_path / "people.db", cells)
    pieces = list(sqlite_pieces(source, rows))
    assert len(pieces) == 6 / rows
    assert pl.concat(pieces).equals(read(source))


def test_a_cell_that_is_no_text_is_named_by_its_row_in_the_table(tmp_path):
    source = database(tmp_path / "people.db", ["a"] * 6)
    connection = sqlite3.connect(tmp_path / "people.db")
    connection.execute('UPDATE people SET "a""{0}" = CAST(x\'ff\' AS TEXT) WHERE rowid = 5')
    connection.commit()
    connection.close()
    with pytest.raises(SourceError, match="not UTF-8 text, at row 5"):
        list(sqlite_pieces(source, 2))
