"""What stands inside the pages of a column: entries of a dictionary, which cells are there, which entry each shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from shoal.errors import GuaranteeError, Problem
from shoal.kernels.check.parquet_runs import (
    CUT_SHORT,
    EMPTY_RUN,
    FINE,
    LEFT_OVER,
    TOO_LONG,
    TOO_WIDE,
    decode_runs,
    encode_runs,
    room_for_runs,
    split_texts,
)
from shoal.release.parquet.footer import ColumnChunk

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_NUMBERS: dict[int, np.dtype[Any]] = {1: np.dtype("<i4"), 2: np.dtype("<i8"), 5: np.dtype("<f8")}
_NAN, _MINUS_ZERO = np.uint64(0x7FF8_0000_0000_0000), np.uint64(1 << 63)
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 and 9999, counted from 1970
_MICROSECONDS = 86_400_000_000
_WRONG_RUNS = {
    CUT_SHORT: "has a page that ends within a run",
    EMPTY_RUN: "has a run of nothing in a page",
    TOO_LONG: "has a page with more cells than rows",
    TOO_WIDE: "has a run of a number with more bits than numbers have there",
    LEFT_OVER: "has bytes after the last run of a page",
}


@dataclass(frozen=True)
class Entries:
    """The entries of a dictionary, each once, and the bytes of each that is a text.

    They do not bear the name of their column: polars reads some names as patterns.
    """

    values: pl.Series
    lengths: Ints


def read_entries(page: Bytes, n: int, column: ColumnChunk) -> Entries:
    """Read the body of a dictionary page."""
    entries = _read_texts(page, n, column) if column.dtype == pl.String() else _read_numbers(page, n, column)
    if entries.values.n_unique() < n:
        raise refusal(column, "has a dictionary with an entry twice")
    return entries


def _read_texts(page: Bytes, n: int, column: ColumnChunk) -> Entries:
    if not 0 <= 4 * n <= len(page):
        raise refusal(column, "has a dictionary with more or fewer bytes than its entries")
    offsets, texts = np.zeros(n + 1, dtype=np.int32), np.zeros(len(page) - 4 * n, dtype=np.uint8)
    if not split_texts(page, offsets, texts):
        raise refusal(column, "has a dictionary with more or fewer bytes than its entries")
    array = pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(texts))
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise refusal(column, "has bytes that are no UTF-8 text") from None
    return Entries(pl.Series("cells", array, dtype=pl.String), np.diff(offsets).astype(np.int64))


def _read_numbers(page: Bytes, n: int, column: ColumnChunk) -> Entries:
    kind = _NUMBERS[column.type]
    if len(page) != n * kind.itemsize:
        raise refusal(column, "has a dictionary with more or fewer bytes than its entries")
    numbers = np.frombuffer(page.tobytes(), dtype=kind)
    if column.dtype == pl.Float64():
        bits = numbers.view(np.uint64)
        if np.any(np.isnan(numbers) & (bits != _NAN)) or np.any(bits == _MINUS_ZERO):
            raise refusal(column, "has a zero or a missing number that is not written the usual way")
    if column.dtype.is_temporal():
        day = 1 if column.dtype == pl.Date() else _MICROSECONDS
        if np.any((numbers < _FIRST_DAY * day) | (numbers >= (_LAST_DAY + 1) * day)):
            raise refusal(column, "has a date outside the years 1 to 9999")
    return Entries(pl.Series("cells", numbers).cast(column.dtype), np.zeros(n, dtype=np.int64))


def read_presence(page: Bytes, n_rows: int, column: ColumnChunk) -> tuple[Flags, Bytes]:
    """Which cells are present, and the rest of a data page."""
    size = int.from_bytes(page[:4].tobytes(), "little")
    if len(page) < 4 + size:
        raise refusal(column, "has a page that ends within a run")
    return _read_runs(page[4 : 4 + size], 1, n_rows, column).astype(np.bool_), page[4 + size :]


def read_flags(page: Bytes, n: int, column: ColumnChunk) -> Flags:
    """Truth values, eight to a byte."""
    flags = np.unpackbits(page, bitorder="little")
    if len(page) != (n + 7) // 8 or flags[n:].any():
        raise refusal(column, "has a page with bits that belong to no cell")
    return flags[:n].astype(np.bool_)


def read_choices(page: Bytes, n: int, n_entries: int, column: ColumnChunk) -> Ints:
    """Which entry of the dictionary each present cell shows; entries stand in the order of their first use."""
    width = max(1, (n_entries - 1).bit_length()) if n_entries else 0
    if not len(page) or page[0] != width:
        raise refusal(column, "has numbers of dictionary entries that are wider or narrower than needed")
    choices = _read_runs(page[1:], width, n, column)
    highest = np.maximum.accumulate(np.concatenate([np.array([-1]), choices]))
    if np.any(np.diff(highest) > 1) or highest[-1] != n_entries - 1:
        raise refusal(column, "has dictionary entries that no cell uses, or not in the order of their first use")
    return choices


def _read_runs(data: Bytes, width: int, n: int, column: ColumnChunk) -> Ints:
    """Read `n` numbers, and refuse them unless they are written as pyarrow writes them."""
    numbers = np.zeros(n, dtype=np.int64)
    result = decode_runs(data, width, numbers)
    if result != FINE:
        raise refusal(column, _WRONG_RUNS[result])
    again = np.zeros(room_for_runs(n, width), dtype=np.uint8)
    if not np.array_equal(again[: encode_runs(numbers, width, again)], data):
        raise refusal(column, "has runs that pyarrow would not cut or fill up this way")
    return numbers


def refusal(column: ColumnChunk, what: str) -> GuaranteeError:
    """Say what is wrong with a column; never with which cell."""
    return GuaranteeError(Problem(column.where, what))
