"""Sources read piece by piece, for tables that do not fit in memory; never a whole table at once.

Pieces have one number of rows whatever the source is, so that what is found of them does not depend on it.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import polars as pl

from shoal.errors import Problem, Problems, SourceError, some
from shoal.table.frames import from_arrow
from shoal.table.sources.csv import Detected, parse_piece
from shoal.table.sources.decimals import plain_numbers
from shoal.table.sources.decode import MARKS, check_no_nul
from shoal.table.sources.excel import read_excel
from shoal.table.sources.files import check_header, found_file
from shoal.table.sources.postgresql import postgresql_pieces
from shoal.table.sources.source import Source
from shoal.table.sources.sqlite import sqlite_pieces

ROWS = 1 << 17
"""Rows of a piece; the last has fewer."""
BYTES = 1 << 24
"""Bytes of a CSV file that are read at a time."""


@dataclass(frozen=True)
class Seen:
    """A file as it was when it was first looked at: whoever changes it meanwhile is noticed."""

    path: str
    size: int
    changed: int
    number: int

    @classmethod
    def of(cls, path: Path) -> Seen:
        """The file as it is now."""
        found = path.stat()
        return cls(str(path), found.st_size, found.st_mtime_ns, found.st_ino)


def files_of(source: Source) -> list[Path]:
    """The files of a source, in their order; none for a database."""
    if source.kind == "postgresql" or source.path is None:
        return []
    path = Path(str(source.path))
    if source.kind == "parquet" and path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix.lower() == ".parquet")
        if not found:
            raise SourceError(Problem(str(path), "has no Parquet files", "give the folder with them"))
        return [found_file(one) for one in found]
    return [found_file(path)]


def seen(source: Source) -> list[Seen]:
    """How the files of a source are now."""
    return [Seen.of(path) for path in files_of(source)]


def check_unchanged(source: Source, before: Iterable[Seen]) -> None:
    """Refuse a source whose files are not as they were."""
    now, then = ({one.path: one for one in found} for found in (seen(source), before))
    others = [path for path in {**then, **now} if now.get(path) != then.get(path)]
    problems = Problems()
    for path in others:
        problems.add(path, "was changed while it was read", "wait until nobody writes to it, and run again")
    problems.raise_if_any(SourceError)


def stream(source: Source) -> Iterator[pl.DataFrame]:
    """The rows of a source, so many at a time; at least one row altogether."""
    n_rows, percent = 0, dict[str, bool]()
    for piece in _even(_batches(source)):
        n_rows += piece.height
        yield plain_numbers(piece, source, percent)
    if not n_rows:
        raise SourceError(Problem(source.describe(), "has no rows", "nothing can be published of an empty table"))


def _batches(source: Source) -> Iterator[pl.DataFrame]:
    """Rows as they come, in any number."""
    if source.kind == "parquet":
        return parquet_pieces(files_of(source))
    if source.kind == "csv":
        return _csv(source)
    if source.kind == "postgresql":
        return postgresql_pieces(source, ROWS)
    if source.kind == "sqlite":
        return sqlite_pieces(source, ROWS)
    return iter([read_excel(source)])  # a sheet has a million rows at most


def _even(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in pieces of one size."""
    waiting: list[pl.DataFrame] = []
    n_rows = 0
    for batch in batches:
        waiting.append(batch)
        n_rows += batch.height
        while n_rows >= ROWS:
            rows = pl.concat(waiting, how="vertical_relaxed") if len(waiting) > 1 else waiting[0]
            yield rows.head(ROWS).rechunk()
            waiting, n_rows = [rows.slice(ROWS)], n_rows - ROWS
    if n_rows:
        yield pl.concat(waiting, how="vertical_relaxed").rechunk()


def parquet_pieces(files: list[Path]) -> Iterator[pl.DataFrame]:
    """Files of one table, one after the other; their columns must be the same."""
    import pyarrow.parquet as pq

    opened = []
    for path in files:
        try:
            opened.append(pq.ParquetFile(path))
        except Exception:  # its messages may hold cells
            raise SourceError(Problem(str(path), "is not a readable Parquet file", "write it again")) from None
    columns = [{field.name: str(field.type) for field in one.schema_arrow} for one in opened]
    problems = Problems()
    for path, found in zip(files[1:], columns[1:], strict=True):
        if list(found.items()) != list(columns[0].items()):
            other = [name for name in {**columns[0], **found} if columns[0].get(name) != found.get(name)]
            what = (
                f"has other columns, or other types, than {files[0].name}: {some(other)}"
                if other
                else (f"has its columns in another order than {files[0].name}")
            )
            problems.add(str(path), what, "write all files with the same columns")
    problems.raise_if_any(SourceError)
    check_header(opened[0].schema_arrow.names, str(files[0]))
    for path, file in zip(files, opened, strict=True):
        try:
            for batch in file.iter_batches(batch_size=ROWS):
                yield from_arrow(batch, str(path))
        except SourceError:
            raise
        except Exception:  # its messages may hold cells
            raise SourceError(Problem(str(path), "ends early, or is damaged", "write it again")) from None


# -- CSV ---------------------------------------------------------------------------------------------------------------


def _csv(source: Source) -> Iterator[pl.DataFrame]:
    """Records of a CSV file, some bytes at a time, decoded as they come."""
    path = found_file(source.path)
    names: list[str] | None = None
    detected: Detected | None = None
    n_rows, n_lines, rest = 0, 0, b""
    for more in _texts(path, source.encoding):
        check_no_nul(more, str(path), n_lines)
        n_lines += more.count(b"\n")
        rest += more
        end = _end_of_records(rest)
        if not end:
            continue
        frame, names, detected = parse_piece(rest[:end], source, names, detected, n_rows)
        rest, n_rows = rest[end:], n_rows + frame.height
        yield frame
    if rest.strip(b"\r\n") or names is None:
        yield parse_piece(rest, source, names, detected, n_rows)[0]


def _texts(path: Path, encoding: str | None) -> Iterator[bytes]:
    """A file as UTF-8, some bytes at a time."""
    try:
        with _opened(path) as file:
            first = file.read(BYTES)
            name = encoding or next((name for mark, name in MARKS if first.startswith(mark)), "utf-8")
            decoder = codecs.getincrementaldecoder(name)()
            piece = first
            while piece:
                text = decoder.decode(piece)
                yield text.removeprefix("\ufeff").encode() if piece is first else text.encode()
                piece = file.read(BYTES)
            yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        what = f"is not in the encoding {name!r}"
        raise SourceError(Problem(str(path), what, "give encoding=, or save the file as UTF-8")) from None
    except (OSError, EOFError, zlib.error):
        raise SourceError(Problem(str(path), "cannot be read to its end, or is damaged", "check the file")) from None


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _end_of_records(data: bytes) -> int:
    """Where the last whole record ends: behind a line end with an even number of quotes before it; 0 for none."""
    end = data.rfind(b"\n") + 1
    n_quotes = data.count(b'"', 0, end)
    while n_quotes % 2:
        start = data.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= data.count(b'"', start, end)
        end = start
    return end
