"""Tables written in other bytes: dialects of CSV, and all that a Parquet file has room for."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from attacks.mutants import Mutant, parquet_bytes, with_file
from attacks.mutants_json import SECRET
from attacks.victims import Victim
from shoal.release.manifest import FILE

Bytes = Callable[[bytes], bytes]
CODECS = ("snappy", "gzip", "zstd", "lz4", "brotli")
VERSION = "the version of pyarrow that wrote a file is free"


# -- CSV -------------------------------------------------------------------------------------------------------------


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Bytes:
    return lambda content: b"\n".join(change(content.split(b"\n")))


def _cell(change: Bytes, line: int = 1, place: int = -1) -> Bytes:
    """Another spelling of one cell; lines with quotes are left alone."""

    def rewrite(content: bytes) -> bytes:
        lines = content.split(b"\n")
        number = next((i for i in range(line, len(lines)) if b'"' not in lines[i] and lines[i]), None)
        if number is None:
            return content
        cells = lines[number].split(b",")
        cells[place] = change(cells[place])
        return b"\n".join([*lines[:number], b",".join(cells), *lines[number + 1 :]])

    return rewrite


def _quoted(line: bytes) -> bytes:
    return b'"' + line.replace(b",", b'","') + b'"' if line and b'"' not in line else line


def _with_column(line: bytes) -> bytes:
    return line + b",Alice" if line else line


DIALECTS: dict[str, Bytes] = {
    "carriage returns": lambda content: content.replace(b"\n", b"\r\n"),
    "one carriage return": lambda content: content.replace(b"\n", b"\r\n", 1),
    "carriage return at the end": lambda content: content[:-1] + b"\r\n",
    "old line ends": lambda content: content.replace(b"\n", b"\r"),
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "no line end": lambda content: content[:-1],
    "two line ends": lambda content: content + b"\n",
    "a space at the end": lambda content: content + b" ",
    "a zero byte at the end": lambda content: content + b"\0",
    "a line of text at the end": lambda content: content + SECRET.encode() + b"\n",
    "a comment": lambda content: b"# Alice\n" + content,
    "an empty line first": lambda content: b"\n" + content,
    "an empty line inside": _lines(lambda lines: [*lines[:2], b"", *lines[2:]]),
    "a line of commas": lambda content: content + b"," * content.split(b"\n")[0].count(b",") + b"\n",
    "semicolons": lambda content: content.replace(b",", b";"),
    "tabs": lambda content: content.replace(b",", b"\t"),
    "the header twice": _lines(lambda lines: [lines[0], *lines]),
    "no header": _lines(lambda lines: lines[1:]),
    "the header in capitals": _lines(lambda lines: [lines[0].upper(), *lines[1:]]),
    "the header quoted": _lines(lambda lines: [b'"' + lines[0].replace(b",", b'","') + b'"', *lines[1:]]),
    "the header with a space": _lines(lambda lines: [lines[0] + b" ", *lines[1:]]),
    "the header with a column more": _lines(lambda lines: [lines[0] + b",note2", *lines[1:]]),
    "a column more": _lines(lambda lines: [lines[0] + b",name", *map(_with_column, lines[1:])]),
    "an empty column more": _lines(lambda lines: [line + b"," if line else line for line in lines]),
    "a cell more in one line": _lines(lambda lines: [*lines[:2], lines[2] + b",Alice", *lines[3:]]),
    "a cell less in one line": _lines(lambda lines: [*lines[:2], lines[2].rsplit(b",", 1)[0], *lines[3:]]),
    "all cells quoted": _lines(lambda lines: [lines[0], *map(_quoted, lines[1:])]),
    "a cell quoted": _cell(lambda cell: b'"' + cell + b'"'),
    "the first cell quoted": _cell(lambda cell: b'"' + cell + b'"', place=0),
    "a cell quoted further down": _cell(lambda cell: b'"' + cell + b'"', line=7),
    "a space after a cell": _cell(lambda cell: cell + b" ", place=0),
    "a space before a cell": _cell(lambda cell: b" " + cell, place=0),
    "a tab in a cell": _cell(lambda cell: cell + b"\t", place=0),
    "a cell with a zero byte": _cell(lambda cell: cell + b"\0", place=0),
    "a cell with bad UTF-8": _cell(lambda cell: cell + b"\xff"),
    "a quote left open": _cell(lambda cell: b'"' + cell),
    "a cell emptied by quotes": _cell(lambda cell: b'""'),
    "the lines backwards": _lines(lambda lines: [lines[0], *lines[-2:0:-1], b""]),
    "two lines swapped": _lines(lambda lines: [lines[0], lines[2], lines[1], *lines[3:]]),
    "the lines sorted": _lines(lambda lines: [lines[0], *sorted(lines[1:-1])[::-1], b""]),
    "a line twice": _lines(lambda lines: [*lines[:2], *lines[1:]]),
    "a line less": _lines(lambda lines: [lines[0], *lines[2:]]),
}  # fmt: skip


def dialect_mutants(victim: Victim) -> Iterator[Mutant]:
    """The same cells in other bytes, or a few bytes more."""
    if victim.form != "csv":
        return
    for name, content in victim.files.items():
        for word, change in DIALECTS.items() if name != FILE else ():
            try:
                other = change(content)
            except IndexError:
                continue
            if other != content:
                yield Mutant(
                    f"dialect of {name} {word}", lambda name=name, other=other: with_file(victim.files, name, other)
                )


# -- Parquet ---------------------------------------------------------------------------------------------------------


def arrow_bytes(
    frame: pl.DataFrame, change: Callable[[pa.Table], pa.Table] = lambda table: table, **options: Any
) -> bytes:
    file = io.BytesIO()
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = pa.schema(
        [pa.field(one.name, pa.string() if pa.types.is_large_string(one.type) else one.type) for one in table.schema]
    )
    kept = {
        "compression": "NONE",
        "store_schema": False,
        "write_statistics": False,
        "version": "2.6",
        "dictionary_pagesize_limit": 2**31 - 1,
        **options,
    }
    pq.write_table(change(table.cast(plain)), file, **kept)
    return file.getvalue()


def _noted(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({"note": SECRET})


def _noted_field(table: pa.Table) -> pa.Table:
    fields = [
        table.schema.field(0).with_metadata({"note": SECRET}),
        *(table.schema.field(i) for i in range(1, table.num_columns)),
    ]
    return table.cast(pa.schema(fields))


def _required(table: pa.Table) -> pa.Table:
    fields = [
        pa.field(one.name, one.type, nullable=bool(column.null_count))
        for one, column in zip(table.schema, table.columns, strict=True)
    ]
    return table.cast(pa.schema(fields))


def _padded_footer(content: bytes) -> bytes:
    size = int.from_bytes(content[-8:-4], "little")
    return content[:-8] + b"\0" + (size + 1).to_bytes(4, "little") + content[-4:]


def _of_version(content: bytes, version: bytes) -> bytes:
    """The file as if another version of the same length had written it."""
    return re.sub(rb"(?<=parquet-cpp-arrow version )[0-9.]+", version, content)


PARQUETS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "of polars": parquet_bytes,
    "of polars, plain": lambda frame: parquet_bytes(frame, compression="uncompressed", statistics=False),
    "of polars with a note": lambda frame: parquet_bytes(frame, metadata={"note": SECRET}),
    "of pyarrow": lambda frame: arrow_bytes(frame, compression="snappy", store_schema=True, write_statistics=True),
    "with a note": lambda frame: arrow_bytes(frame, _noted),
    "with a note, the schema stored": lambda frame: arrow_bytes(frame, _noted, store_schema=True),
    "with a note of a column": lambda frame: arrow_bytes(frame, _noted_field, store_schema=True),
    "with the schema stored": lambda frame: arrow_bytes(frame, store_schema=True),
    "with statistics": lambda frame: arrow_bytes(frame, write_statistics=True),
    "with checksums": lambda frame: arrow_bytes(frame, write_page_checksum=True),
    "with a page index": lambda frame: arrow_bytes(frame, write_statistics=True, write_page_index=True),
    "without dictionaries": lambda frame: arrow_bytes(frame, use_dictionary=False),
    "with newer pages": lambda frame: arrow_bytes(frame, data_page_version="2.0"),
    "of an older version": lambda frame: arrow_bytes(frame, version="1.0"),
    "in small groups": lambda frame: arrow_bytes(frame, row_group_size=5),
    "with sorted columns named": lambda frame: arrow_bytes(frame, sorting_columns=[pq.SortingColumn(0)]),
    **{f"compressed by {name}": lambda frame, name=name: arrow_bytes(frame, compression=name) for name in CODECS},
    "with required columns": lambda frame: arrow_bytes(frame, _required),
}  # fmt: skip


def parquet_mutants(victim: Victim) -> Iterator[Mutant]:
    """The same table written in another way, or with something beside it."""
    if victim.form != "parquet":
        return
    for entry in victim.release.manifest.tables:
        name, frame = f"{entry.name}.parquet", victim.release.frames[entry.name]
        own = victim.files[name]
        others = {word: write(frame) for word, write in PARQUETS.items()} | {
            "with bytes before": bytes(8) + own, "with bytes after": own + b"Alice", "twice": own + own,
            "with bytes before the footer": own[:-8] + b"Alice" + own[-8:], "with a longer footer": _padded_footer(own),
            "encrypted in name": own[:-4] + b"PARE", "without a start": own[4:],
            "of version Alice": _of_version(own, b"Alice!"),
        }  # fmt: skip
        for word, other in others.items():
            if other != own:
                yield Mutant(f"parquet {name} {word}", partial(with_file, victim.files, name, other))
        other = _of_version(own, b"31.4.1")
        yield Mutant(
            f"parquet {name} of version 31.4.1", partial(with_file, victim.files, name, other), VERSION, bound=False
        )
