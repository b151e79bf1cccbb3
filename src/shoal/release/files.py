"""The files of a release directory, read back only if they are what a release has, byte for byte."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from shoal.disk.trouble import is_environment, unreadable
from shoal.errors import GuaranteeError, Problems, some
from shoal.release.manifest import FILE, FORMATS, Manifest, PublishedTable, check_is_release
from shoal.release.parquet import read_parquet
from shoal.table.fingerprint import LARGE, rows_of_a_piece

PIECE = 1 << 24
"""Bytes of a file that are read at a time."""


def read_directory(
    folder: Path, *, just_written: bool = False, stated: Manifest | None = None
) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """Read a release directory, refusing files that are missing, changed, too many, or written in another way.

    How CSV files are written is known if they were `just_written` by `canonical_csv`, and the manifest has the hashes
    of what it gave. It is `stated` if it was just read from there.
    """
    check_is_release(folder)
    problems = Problems()
    _check_plain(folder, problems)
    problems.raise_if_any(GuaranteeError)
    manifest = Manifest.read(folder) if stated is None else stated
    tables: dict[str, pl.DataFrame] = {}
    if len({Path(str(table.file)).suffix for table in manifest.tables}) > 1:
        problems.add(FILE, "lists files of different formats; a release has one", error=GuaranteeError)
    for table in manifest.tables:
        if _is_whole(folder, table, problems):
            frame = _read_table(folder, table, problems, compared=not just_written)
            tables |= {} if frame is None else {table.name: frame}
    _check_strange(folder, manifest, problems)
    problems.raise_if_any(GuaranteeError)
    return manifest, tables


def check_listed(folder: Path, manifest: Manifest, problems: Problems) -> None:
    """Note links, and files that the manifest does not list."""
    _check_plain(folder, problems)
    _check_strange(folder, manifest, problems)


def _check_strange(folder: Path, manifest: Manifest, problems: Problems) -> None:
    parts = [part.file for table in manifest.tables for part in table.parts]
    known = {FILE, *(table.file for table in manifest.tables), *parts}
    strange = [path.name for path in folder.iterdir() if path.name not in known]
    if strange:
        fix = "move it elsewhere" if len(strange) == 1 else "move them elsewhere"
        problems.add(str(folder), f"has files that the manifest does not list: {some(sorted(strange))}", fix)


def _check_plain(folder: Path, problems: Problems) -> None:
    """Links lead elsewhere: what they point to can change after it was checked."""
    linked = sorted(path.name for path in folder.iterdir() if path.is_symlink())
    if linked:
        problems.add(str(folder), f"has links instead of files: {some(linked)}", "put the files themselves there")


def _is_whole(folder: Path, table: PublishedTable, problems: Problems) -> bool:
    """Whether the file of a table is there, by its own name, and is the one that the manifest names."""
    names = [f"{table.name}.{form}" for form in FORMATS]
    if table.file not in names or not (folder / table.file).is_file():
        problems.add(f"table {table.name!r}", "its file is not in the directory", error=GuaranteeError)
        return False
    with (folder / table.file).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != table.sha256:
        problems.add(table.file, "was changed since it was released: its SHA-256 differs", error=GuaranteeError)
        return False
    return True


def _read_table(
    folder: Path, table: PublishedTable, problems: Problems, *, compared: bool = True
) -> pl.DataFrame | None:
    """A table from its file; `compared` with the one way to write it, if it is CSV."""
    path = folder / str(table.file)
    if path.suffix == ".parquet":
        frame, complaints = read_parquet(path)
        for complaint in complaints:
            problems.add(path.name, complaint)
        return frame
    try:
        frame = _read_csv(path)
        if not compared or _is_canonical(frame, path):
            return frame
        problems.add(path.name, "is not written as Shoal writes CSV: quotes, line ends or a byte order mark differ")
    except (Exception, pl.exceptions.PanicException) as error:  # a damaged file; messages may hold cells
        if isinstance(error, OSError) and is_environment(error):
            raise unreadable(path, error) from None
        problems.add(path.name, "cannot be read as a table")
    return None


def _read_csv(path: Path) -> pl.DataFrame:
    """All cells as text, an empty one missing; the header by the csv module, which knows quotes inside names."""
    with path.open(encoding="utf-8", newline="") as file:
        names = next(csv.reader(file))
    n_lines = 1 + sum(name.count("\n") for name in names)  # a line ends with \n alone, and one inside a name is quoted
    parts = [
        pl.read_csv(piece, has_header=False, new_columns=names, infer_schema=False) for piece in _pieces(path, n_lines)
    ]
    frame = pl.concat(parts, rechunk=False)
    if not any(frame.select((pl.all() == "").any()).row(0)):  # all texts would be copied
        return frame
    return frame.with_columns(pl.all().replace("", None))


def _pieces(path: Path, n_lines: int) -> Iterator[bytes]:
    """The records of a CSV file behind its first lines, some at a time: the file and its table are never both held."""
    with path.open("rb") as file:
        for _ in range(n_lines):
            file.readline()
        rest, found = b"", False
        while more := file.read(PIECE):
            rest += more
            end = _end_of_records(rest)
            if end:
                yield rest[:end]
                rest, found = rest[end:], True
        if rest or not found:
            yield rest


def _end_of_records(data: bytes) -> int:
    """Where the last whole record ends: behind a line end with an even number of quotes before it; 0 for none."""
    end = data.rfind(b"\n") + 1
    n_quotes = int(np.count_nonzero(np.frombuffer(data, np.uint8, end) == ord('"')))  # there may be millions
    while n_quotes % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= data.count(b'"', before, end)
        end = before
    return end


def _is_canonical(frame: pl.DataFrame, path: Path) -> bool:
    """Whether a file has the one way to write its cells, compared piece by piece."""
    rows = rows_of_a_piece(frame.estimated_size(), frame.height, LARGE)
    with path.open("rb") as file:
        for begin in range(0, max(frame.height, 1), rows):
            written = canonical_csv(frame.slice(begin, rows), header=begin == 0)
            if file.read(len(written)) != written:
                return False
        return not file.read(1)


def canonical_csv(frame: pl.DataFrame, *, header: bool = True) -> bytes:
    """The one way to write cells of text: quotes where a cell needs them, a missing one alone on its line quoted."""
    if frame.width == 1:
        frame = frame.with_columns(pl.all().fill_null(""))
    written = io.BytesIO()
    frame.write_csv(written, include_header=header)
    return written.getvalue()
