"""Parquet files of a release read back, with every byte accounted for.

A Parquet file has room for far more than a table: metadata by key, statistics, filters, fields that no reader knows,
bytes between pages, dictionary entries that no cell uses. A checker that saw only the cells would let all of it pass.
This one is written from the description of the format and shares nothing with the code that writes; no version of a
library comes into it.

Guarantee
---------
A file that is not refused follows from its table, up to the choices below. Pages stand one after the other from the
first four bytes to the footer. Row groups have one size. Each column of a row group is one dictionary, its entries all
used, all different, and in the order of their first use, and one page of cells (truth values: the page only). Runs
within a page are cut by one rule, and what fills them up is zero. The footer says what the pages show. Numbers in
headers and footer are as short as they can be, and no field is there but those listed in `footer` and `pages`.

What remains free is the version of pyarrow that the file names (three numbers, and ``-SNAPSHOT``), and whether the file
as a whole has each of seven fields that only some versions write: sizes of columns, counts of pages, empty statistics
of pages, three numbers of row groups, orders of values. What they say follows from the table.

Names of columns and cells are the table's own: whether those may be published, others check. Not every table can be
told from its file: zero has no sign, and a number that is none ("NaN") has no kinds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from shoal.disk.trouble import is_environment, unreadable
from shoal.errors import GuaranteeError, Problem
from shoal.release.parquet.footer import (
    COLUMN,
    DATA_PAGE,
    DICTIONARY_PAGE,
    GROUP,
    PLAIN,
    RLE,
    RLE_DICTIONARY,
    ColumnChunk,
    Footer,
    read_footer,
)
from shoal.release.parquet.pages import Chunk, ChunkReader
from shoal.release.parquet.thrift import Habits, differing


def read_parquet(path: Path) -> tuple[pl.DataFrame | None, list[str]]:
    """Read a file of a release: its table, or what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        if is_environment(error):
            raise unreadable(path, error) from None
        return None, ["file: cannot be read"]
    return parse_parquet(data)


def parse_parquet(data: bytes) -> tuple[pl.DataFrame | None, list[str]]:
    """Read the bytes of a file: its table, or what is wrong with it; never a cell.

    >>> parse_parquet(b"PAR1")
    (None, ['file: is no Parquet file, or only a part of one'])
    """
    habits: Habits = {}
    try:
        footer = read_footer(data, habits)
        return _read_pages(data, footer, habits), []
    except GuaranteeError as error:
        return None, [str(problem) for problem in error.problems]


def _read_pages(data: bytes, footer: Footer, habits: Habits) -> pl.DataFrame:
    parts: list[list[pl.Series]] = [[pl.Series("cells", [], dtype=column.dtype)] for column in footer.columns]
    at = 4
    for ordinal, group in enumerate(footer.groups):
        start = at
        for column, place, cells in zip(footer.columns, group["columns"], parts, strict=True):
            _check_start(place, column, at)
            chunk = ChunkReader(data, at, footer.start, column, group["num_rows"], habits).read()
            _check_chunk(place["meta_data"], column, chunk)
            cells.append(chunk.cells)
            at = chunk.end
        _check_group(group, ordinal, start, at)
    if at != footer.start:
        raise GuaranteeError(Problem("footer", "does not begin where the last page ends"))
    return pl.DataFrame({column.name: pl.concat(cells) for column, cells in zip(footer.columns, parts, strict=True)})


def _check_start(place: dict[str, Any], column: ColumnChunk, at: int) -> None:
    """Before its pages are read: a wrong place would be complained about as a damaged page."""
    meta = place["meta_data"]
    if meta["codec"]:
        raise _refusal(column, "is compressed")
    if place["file_offset"] or meta.get("dictionary_page_offset", meta["data_page_offset"]) != at:
        raise _refusal(column, "does not begin where the page before it ends")


def _check_chunk(found: dict[str, Any], column: ColumnChunk, chunk: Chunk) -> None:
    size, n_rows = chunk.end - chunk.start, len(chunk.cells)
    sizes: dict[str, Any] = {"repetition_level_histogram": []}
    sizes["definition_level_histogram"] = [n_rows - chunk.n_present, chunk.n_present]
    if column.dtype == pl.String():
        sizes["unencoded_byte_array_data_bytes"] = chunk.n_text_bytes
    pages = [(DICTIONARY_PAGE, PLAIN), (DATA_PAGE, RLE_DICTIONARY)] if column.has_dictionary else [(DATA_PAGE, PLAIN)]
    expected = {
        "type": column.type,
        "encodings": [PLAIN, RLE, RLE_DICTIONARY] if column.has_dictionary else [RLE, PLAIN],
        "path_in_schema": [column.name.encode("utf-8")],
        "codec": 0,
        "num_values": n_rows,
        "total_uncompressed_size": size,
        "total_compressed_size": size,
        "data_page_offset": chunk.data_page,
        "encoding_stats": [{"page_type": page, "encoding": encoding, "count": 1} for page, encoding in pages],
        "size_statistics": sizes,
    }
    if column.has_dictionary:
        expected["dictionary_page_offset"] = chunk.start
    for name in differing(COLUMN, found, expected):
        raise _refusal(column, f"differs from what the footer says in {name}")


def _check_group(found: dict[str, Any], ordinal: int, start: int, end: int) -> None:
    size = end - start
    expected = {"total_byte_size": size, "file_offset": start, "total_compressed_size": size}
    expected |= {"columns": found["columns"], "num_rows": found["num_rows"], "ordinal": ordinal}
    for name in differing(GROUP, found, expected):
        raise GuaranteeError(Problem("footer", f"differs from the pages of a row group in {name}"))


def _refusal(column: ColumnChunk, what: str) -> GuaranteeError:
    return GuaranteeError(Problem(column.where, what))
