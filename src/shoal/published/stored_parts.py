"""A release in parts in a database: one table, written and read back part by part, never more than one in memory.

The manifest there names no files. To be checked, the rows are laid out in a folder that is gone afterwards, as files
like those of a directory; the checker of directories then looks at them.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from shoal.check.part_places import parts_of_classes
from shoal.check.parts import check_layout_of_parts
from shoal.check.row_order import in_order
from shoal.disk.trouble import is_environment, unwritable
from shoal.errors import GuaranteeError, Problem, Problems
from shoal.release.column_types import TRUTH, column_sorts
from shoal.release.databases.base import MANIFEST, Database
from shoal.release.manifest import Layout, Manifest
from shoal.release.parquet_writing import write_parquet

TABLE = "table"


def write_parts(database: Database, manifest: Manifest, parts: Iterable[pl.DataFrame]) -> None:
    """Write the rows of all parts, one after the other, and the manifest without names of files."""
    for place, frame in enumerate(parts):
        if place == 0:
            database.make(TABLE, frame)
        database.add(TABLE, frame)
    database.write(MANIFEST, pl.DataFrame({"json": [manifest.without_files().to_json()]}))


@contextmanager
def laid_out(database: Database, manifest: Manifest) -> Iterator[tuple[Path, Manifest]]:
    """The parts as files in a folder, for as long as they are looked at, and a manifest that names them."""
    problems = Problems()
    if len(manifest.tables) != 1:
        raise GuaranteeError(Problem("tables", "are several in parts, which no database of Shoal holds"))
    named = _named(manifest, [""] * len(manifest.tables[0].parts))
    check_layout_of_parts(named, problems)  # before anything is read by what it says
    problems.raise_if_any(GuaranteeError)
    with tempfile.TemporaryDirectory(prefix="shoal-") as name:
        folder = Path(name)
        try:
            spread = _in_turn if database.keeps_order else _by_cells
            digests = [
                _filed(_with_truths(frame, database, manifest.layout), folder / f"table-{place:05d}.parquet")
                for place, frame in enumerate(spread(database, manifest, folder), 1)
            ]
        except OSError as error:
            if is_environment(error):
                raise unwritable(folder, error) from None
            raise
        yield folder, _named(manifest, digests)


def _named(manifest: Manifest, digests: list[str]) -> Manifest:
    """A manifest as it is beside such files."""
    table = manifest.tables[0]
    parts = tuple(
        part.model_copy(update={"file": f"table-{place:05d}.parquet", "sha256": digest})
        for place, (part, digest) in enumerate(zip(table.parts, digests, strict=True), 1)
    )
    return manifest.model_copy(update={"tables": (table.model_copy(update={"parts": parts}), *manifest.tables[1:])})


def _with_truths(frame: pl.DataFrame, database: Database, layout: Layout) -> pl.DataFrame:
    """The rows of a part with truth values, where a database has texts for them."""
    sorts, problems, truths = column_sorts(layout), Problems(), list[pl.Series]()
    for one in frame:
        if TRUTH in database.as_text and one.dtype == pl.String and sorts.get(one.name) == TRUTH:
            truths.append(one == "true")
            if not one.drop_nulls().is_in(["true", "false"]).all():
                problems.add(f"column {one.name!r}", "has cells that are not true or false")
    problems.raise_if_any(GuaranteeError)
    return frame.with_columns(truths)


def _filed(frame: pl.DataFrame, path: Path) -> str:
    """Write the rows of a part; refuse what a file would not show as it is."""
    problems = Problems()
    for one in frame:
        if one.dtype == pl.Float64 and ((one == 0) & (1 / one < 0)).any():
            problems.add(f"column {one.name!r}", "has numbers that are not in Shoal's notation")
    problems.raise_if_any(GuaranteeError)
    write_parquet(frame, path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(pieces: Iterable[pl.DataFrame], manifest: Manifest) -> Iterator[pl.DataFrame]:
    """Pieces of a table that has the columns and as many rows as the manifest says."""
    table, n_rows = manifest.tables[0], 0
    for piece in pieces:
        if tuple(piece.columns) != table.columns:
            raise GuaranteeError(Problem("table 'table'", "has other columns than the manifest says"))
        n_rows += piece.height
        if n_rows > table.rows:
            break
        yield piece
    if n_rows != table.rows:
        what = f"has {'fewer' if n_rows < table.rows else 'more'} rows than the manifest says, {table.rows:,}"
        raise GuaranteeError(Problem("table 'table'", what))


def _in_turn(database: Database, manifest: Manifest, folder: Path) -> Iterator[pl.DataFrame]:  # noqa: ARG001
    """The parts of a table that keeps its order, one after the other."""
    pieces = _checked(database.pieces(TABLE), manifest)
    waiting = next(pieces)
    for part in manifest.tables[0].parts:
        while waiting.height < part.rows and (more := next(pieces, None)) is not None:
            waiting = pl.concat([waiting, more])
        yield waiting.head(part.rows).rechunk()
        waiting = waiting.slice(part.rows)
    for _ in pieces:  # to the end, which says whether there are more
        pass


def _by_cells(database: Database, manifest: Manifest, folder: Path) -> Iterator[pl.DataFrame]:
    """The parts of a table without order: each row goes to that of its cells, and there to its place."""
    parts, empty = manifest.tables[0].parts, pl.DataFrame()
    for piece in _checked(database.pieces(TABLE), manifest):
        empty = piece.clear()
        places = parts_of_classes(piece.select(manifest.layout.class_columns), len(parts))
        for place in np.unique(places).tolist():
            _put_by(piece.filter(pl.Series(places == place)), folder / f"rows-{place}")
    for place in range(len(parts)):
        frame = _taken_up(folder / f"rows-{place}", empty)
        yield in_order({TABLE: frame}, manifest.layout)[TABLE]


def _put_by(frame: pl.DataFrame, path: Path) -> None:
    """Add rows to a file."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    with path.open("ab") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def _taken_up(path: Path, empty: pl.DataFrame) -> pl.DataFrame:
    """All rows of a file, which is removed."""
    if not path.exists():
        return empty
    found, end = [empty], path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < end:
            found.append(pl.DataFrame(pa.ipc.open_stream(file).read_all()))
    path.unlink()
    return pl.concat(found, rechunk=True)
