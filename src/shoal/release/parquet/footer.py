"""The footer of a Parquet file: its columns, its row groups, and what it says of their pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.errors import GuaranteeError, Problem
from shoal.release.parquet.thrift import EMPTY, FLAG, I16, I32, I64, TEXT, Habits, Many, Reader, Shape

MAGIC = b"PAR1"
ROWS = 16_384
"""Rows of every row group but the last."""
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2

_WRITER = re.compile(rb"parquet-cpp-arrow version [1-9][0-9]\.[0-9]\.[0-9](-SNAPSHOT)?")
_FORMAT = 2

_UNIT = Shape("unit of time", {2: ("MICROS", EMPTY)})
_TIMESTAMP = Shape("timestamp", {1: ("is_adjusted_to_utc", FLAG), 2: ("unit", _UNIT)})
_LOGICAL = Shape(
    "logical type",
    {1: ("STRING", EMPTY), 6: ("DATE", EMPTY), 8: ("TIMESTAMP", _TIMESTAMP)},
    varying=frozenset({"STRING", "DATE", "TIMESTAMP"}),
    refused=dict.fromkeys([4, 5, 7, *range(10, 20)], "a column of a type that no release has")
    | dict.fromkeys([2, 3], "columns within columns"),
)
_ELEMENT = Shape(
    "schema element",
    {
        1: ("type", I32),
        3: ("repetition_type", I32),
        4: ("name", TEXT),
        5: ("num_children", I32),
        6: ("converted_type", I32),
        10: ("logical_type", _LOGICAL),
    },
    varying=frozenset({"type", "num_children", "converted_type", "logical_type"}),
    refused={2: "a column of a type that no release has", 9: "numbers of fields (field_id)"}
    | dict.fromkeys([7, 8, 11], "a column of a type that no release has"),
)
_ENCODING_STATS = Shape("count of pages", {1: ("page_type", I32), 2: ("encoding", I32), 3: ("count", I32)})
_SIZES = Shape(
    "size statistic",
    {
        1: ("unencoded_byte_array_data_bytes", I64),
        2: ("repetition_level_histogram", Many(I64)),
        3: ("definition_level_histogram", Many(I64)),
    },
    varying=frozenset({"unencoded_byte_array_data_bytes"}),
)
COLUMN = Shape(
    "column chunk",
    {
        1: ("type", I32),
        2: ("encodings", Many(I32)),
        3: ("path_in_schema", Many(TEXT)),
        4: ("codec", I32),
        5: ("num_values", I64),
        6: ("total_uncompressed_size", I64),
        7: ("total_compressed_size", I64),
        9: ("data_page_offset", I64),
        11: ("dictionary_page_offset", I64),
        13: ("encoding_stats", Many(_ENCODING_STATS)),
        16: ("size_statistics", _SIZES),
    },
    varying=frozenset({"dictionary_page_offset"}),
    habits=frozenset({"encoding_stats", "size_statistics"}),
    refused={8: "key-value metadata of a column", 10: "an index page", 12: "statistics", 17: "statistics"}
    | dict.fromkeys([14, 15], "a Bloom filter"),
)
_CHUNK = Shape(
    "place of a column chunk",
    {2: ("file_offset", I64), 3: ("meta_data", COLUMN)},
    refused={1: "the name of another file", 8: "encryption", 9: "encryption"}
    | dict.fromkeys([4, 5, 6, 7], "a page index"),
)
GROUP = Shape(
    "row group",
    {
        1: ("columns", Many(_CHUNK)),
        2: ("total_byte_size", I64),
        3: ("num_rows", I64),
        5: ("file_offset", I64),
        6: ("total_compressed_size", I64),
        7: ("ordinal", I16),
    },
    habits=frozenset({"file_offset", "total_compressed_size", "ordinal"}),
    refused={4: "an order of rows"},
)
_ORDER = Shape("order of values", {1: ("TYPE_ORDER", EMPTY)})
_FILE = Shape(
    "file",
    {
        1: ("version", I32),
        2: ("schema", Many(_ELEMENT)),
        3: ("num_rows", I64),
        4: ("row_groups", Many(GROUP)),
        6: ("created_by", TEXT),
        7: ("column_orders", Many(_ORDER)),
    },
    habits=frozenset({"column_orders"}),
    refused={5: "key-value metadata", 8: "encryption", 9: "encryption"},
)

_MICROS = {"is_adjusted_to_utc": False, "unit": {"MICROS": {}}}
_TYPES: list[tuple[pl.DataType, dict[str, Any]]] = [
    (pl.String(), {"type": 6, "converted_type": 0, "logical_type": {"STRING": {}}}),
    (pl.Int64(), {"type": 2}),
    (pl.Float64(), {"type": 5}),
    (pl.Boolean(), {"type": 0}),
    (pl.Date(), {"type": 1, "converted_type": 6, "logical_type": {"DATE": {}}}),
    (pl.Datetime("us"), {"type": 2, "converted_type": 10, "logical_type": {"TIMESTAMP": _MICROS}}),
]
_OPTIONAL = 1


@dataclass(frozen=True)
class ColumnChunk:
    """A column of the file: its name, its type for us and for Parquet."""

    name: str
    dtype: pl.DataType
    type: int

    @property
    def where(self) -> str:
        """What complaints call it."""
        return f"column {self.name!r}"

    @property
    def has_dictionary(self) -> bool:
        """Whether its cells are numbers of entries of a dictionary; truth values are short enough without."""
        return self.dtype != pl.Boolean()


@dataclass(frozen=True)
class Footer:
    """What a footer says, as far as it can be checked without the pages."""

    start: int
    columns: tuple[ColumnChunk, ...]
    n_rows: int
    groups: list[dict[str, Any]]


def read_footer(data: bytes, habits: Habits) -> Footer:
    """Read the footer and refuse all that no release has in it."""
    end = len(data) - 8
    if end < 4 or data[:4] != MAGIC or data[-4:] != MAGIC:
        raise GuaranteeError(Problem("file", "is no Parquet file, or only a part of one"))
    start = end - int.from_bytes(data[end : end + 4], "little")
    if start < 4:
        raise _refusal("is longer than the file")
    found = _read_all(data, start, end, habits)
    columns = _columns(found["schema"])
    _check_file(found, columns)
    return Footer(start, columns, found["num_rows"], found["row_groups"])


def _read_all(data: bytes, start: int, end: int, habits: Habits) -> dict[str, Any]:
    reader = Reader(data, start, end, "footer", habits)
    try:
        found = reader.read(_FILE)
    except GuaranteeError as error:
        if b"ARROW:schema" not in data[start:end]:
            raise
        arrow = Problem("footer", "holds the schema of Arrow (ARROW:schema)", "write it without (store_schema=False)")
        raise GuaranteeError([*error.problems, arrow]) from None
    if reader.at != end:
        raise _refusal("is followed by bytes that belong to nothing")
    return found


def _columns(schema: list[dict[str, Any]]) -> tuple[ColumnChunk, ...]:
    root = {"repetition_type": 0, "name": b"schema", "num_children": len(schema) - 1}
    if any("num_children" in element for element in schema[1:]):
        raise _refusal("has columns within columns")
    if schema[:1] != [root]:
        raise _refusal("has another first schema element than all releases have")
    columns = tuple(_column(element) for element in schema[1:])
    if len({column.name for column in columns}) < len(columns):
        raise _refusal("names two columns alike")
    return columns


def _column(element: dict[str, Any]) -> ColumnChunk:
    try:
        name = element["name"].decode("utf-8")
    except UnicodeDecodeError:
        raise _refusal("has a column name that is no text") from None
    for dtype, expected in _TYPES:
        if element == {"name": element["name"], "repetition_type": _OPTIONAL, **expected}:
            return ColumnChunk(name, dtype, element["type"])
    raise GuaranteeError(Problem(f"column {name!r}", "has a type that no release has"))


def _check_file(found: dict[str, Any], columns: tuple[ColumnChunk, ...]) -> None:
    n_rows, groups = found["num_rows"], found["row_groups"]
    if found["version"] != _FORMAT:
        raise _refusal("has another version of the format than all releases have")
    if not _WRITER.fullmatch(found["created_by"]):
        raise _refusal("was written by something else than pyarrow, or says more than its version")
    if len(found.get("column_orders", columns)) != len(columns):
        raise _refusal("has more or fewer orders of values than columns")
    if n_rows and not columns:
        raise _refusal("counts rows, but has no column")
    sizes = (
        [ROWS] * (n_rows // ROWS) + [n_rows % ROWS] * (n_rows % ROWS > 0) if 0 <= n_rows <= len(groups) * ROWS else []
    )
    if [group["num_rows"] for group in groups] != sizes:
        raise _refusal(f"has row groups that are not of {ROWS} rows each, the last one of those that remain")
    if any(len(group["columns"]) != len(columns) for group in groups):
        raise _refusal("has a row group with more or fewer columns than the schema")


def _refusal(what: str) -> GuaranteeError:
    return GuaranteeError(Problem("footer", what))
