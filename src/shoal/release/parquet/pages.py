"""The pages of one column of one row group: a dictionary, then one page that says which entry each cell shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.release.parquet.decoding import Bytes, read_choices, read_entries, read_flags, read_presence, refusal
from shoal.release.parquet.footer import DATA_PAGE, DICTIONARY_PAGE, PLAIN, RLE, RLE_DICTIONARY, ColumnChunk
from shoal.release.parquet.thrift import FLAG, I32, Habits, Reader, Shape, differing

_STATISTICS = Shape("statistic", {}, refused=dict.fromkeys(range(1, 10), "statistics"))
_DATA = Shape(
    "data page header",
    {
        1: ("num_values", I32),
        2: ("encoding", I32),
        3: ("definition_level_encoding", I32),
        4: ("repetition_level_encoding", I32),
        5: ("statistics", _STATISTICS),
    },
    habits=frozenset({"statistics"}),
)
_DICTIONARY = Shape("dictionary header", {1: ("num_values", I32), 2: ("encoding", I32), 3: ("is_sorted", FLAG)})
_HEADER = Shape(
    "page header",
    {
        1: ("type", I32),
        2: ("uncompressed_page_size", I32),
        3: ("compressed_page_size", I32),
        5: ("data_page", _DATA),
        7: ("dictionary", _DICTIONARY),
    },
    varying=frozenset({"data_page", "dictionary"}),
    refused={4: "a checksum", 6: "an index page", 8: "a data page of version 2"},
)


@dataclass(frozen=True)
class Chunk:
    """The cells of one column of one row group, and where they stand in the file."""

    cells: pl.Series
    start: int
    data_page: int
    end: int
    n_present: int
    n_text_bytes: int


@dataclass
class ChunkReader:
    """Reads the pages of a column chunk one after the other.

    Parameters
    ----------
    data
        The whole file.
    at
        Where the next page begins.
    end
        Where the pages of the file end.
    """

    data: bytes
    at: int
    end: int
    column: ColumnChunk
    n_rows: int
    habits: Habits

    def read(self) -> Chunk:
        """Read all cells, and refuse every byte that they do not account for."""
        start = self.at
        if not self.column.has_dictionary:
            present, rest = read_presence(self._data_page(PLAIN), self.n_rows, self.column)
            cells = np.zeros(self.n_rows, dtype=np.bool_)
            cells[present] = read_flags(rest, int(present.sum()), self.column)
            values = pl.Series("cells", cells).set(pl.Series(~present), None)
            return Chunk(values, start, start, self.at, int(present.sum()), 0)
        n_entries, page = self._dictionary_page()
        entries = read_entries(page, n_entries, self.column)
        middle = self.at
        present, rest = read_presence(self._data_page(RLE_DICTIONARY), self.n_rows, self.column)
        choices = read_choices(rest, int(present.sum()), n_entries, self.column)
        positions = np.full(self.n_rows, n_entries, dtype=np.int64)  # past the entries stands a missing cell
        positions[present] = choices
        # Not `extend_constant` and `gather`: as expressions they take four times as long, whatever the length.
        missing = pl.Series([None], dtype=self.column.dtype)
        values = entries.values.append(missing)[positions]
        return Chunk(values, start, middle, self.at, len(choices), int(entries.lengths[choices].sum()))

    def _dictionary_page(self) -> tuple[int, Bytes]:
        header, page = self._page(DICTIONARY_PAGE, "dictionary")
        n_entries = int(header["num_values"])
        if not 0 <= n_entries <= self.n_rows:
            raise refusal(self.column, "has a dictionary with more entries than rows")
        if differing(_DICTIONARY, header, {"num_values": n_entries, "encoding": PLAIN, "is_sorted": False}):
            raise refusal(self.column, "has a dictionary that is not written plainly")
        return n_entries, page

    def _data_page(self, encoding: int) -> Bytes:
        header, page = self._page(DATA_PAGE, "data_page")
        if header["num_values"] != self.n_rows:
            raise refusal(self.column, "has a page with more or fewer rows than its row group")
        levels = {"definition_level_encoding": RLE, "repetition_level_encoding": RLE}
        expected = {"num_values": self.n_rows, "encoding": encoding, "statistics": {}, **levels}
        if differing(_DATA, header, expected):
            raise refusal(self.column, "has a page in an encoding that no release has")
        return page

    def _page(self, kind: int, part: str) -> tuple[dict[str, Any], Bytes]:
        """The header of one kind of page, and its body."""
        reader = Reader(self.data, self.at, self.end, self.column.where, self.habits)
        header = reader.read(_HEADER)
        size = header["uncompressed_page_size"]
        if header["compressed_page_size"] != size:
            raise refusal(self.column, "is compressed")
        if not 0 <= size <= self.end - reader.at:
            raise refusal(self.column, "has a page that is longer than the file")
        self.at = reader.at + size
        if header["type"] != kind or header.keys() & {"data_page", "dictionary"} != {part}:
            raise refusal(self.column, "has another page than one dictionary and one page of cells")
        return header[part], np.frombuffer(self.data, dtype=np.uint8, count=size, offset=reader.at)
