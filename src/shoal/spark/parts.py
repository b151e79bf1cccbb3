"""The parts of a release on a cluster: what executors make of rows, and keep as the bytes of files.

An entry has the file of one table; those of a part follow each other.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.check.parts import content_of_parts
from shoal.engines.steps import written_part
from shoal.engines.tables import has_numbers, n_numbered, with_groups_apart
from shoal.errors import InternalError, Problem, SourceError
from shoal.release.manifest import Layout, Manifest, PublishedTable
from shoal.spark.frames import stored
from shoal.spark.remote import SUMMARY, Entry, opened
from shoal.spark.tasks import with_rows
from shoal.spark.writing import write_moved

if TYPE_CHECKING:
    import polars as pl

    from shoal.spark.jobs import Jobs

WHOSE = "whose.npy"
"""Whose row each one of a part is, for who checks it."""


# -- executors ---------------------------------------------------------------------------------------------------------


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of parts, from all blocks."""
    for part, found in groupby(with_rows(batches), lambda entry: entry.key):
        in_order = sorted(found, key=lambda entry: entry.place)
        yield part, with_groups_apart([stored(entry.rows) for entry in in_order])


def count_numbers(batches: Iterable[pa.RecordBatch], layout: Layout) -> Iterator[Entry]:
    """How many classes, or buckets, of parts have numbers."""
    for part, rows in _parts(batches):
        yield Entry(part, SUMMARY, pickle.dumps(n_numbered(rows, layout)))


def make_parts(batches: Iterable[pa.RecordBatch], layout: Layout, firsts: Sequence[int]) -> Iterator[Entry]:
    """The files of parts, and what the manifest says of each; whose rows they are stands beside the first."""
    for part, rows in _parts(batches):
        with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
            made, whose = written_part(rows, part, layout, Path(folder), firsts[part])
            paths = [Path(folder) / file.file for file, _ in made.values()]
            types = [pq.read_schema(path).remove_metadata() for path in paths]
            yield Entry(part, SUMMARY, pickle.dumps((made, types)))
            for place, path in enumerate(paths):
                note = pickle.dumps(whose) if whose is not None and not place else b""
                yield Entry(part, place, note, path.read_bytes())


def _on_disk(
    batches: Iterable[pa.RecordBatch], manifest: Manifest, rest: tuple[Any, ...]
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Parts with their files in a folder, and the arguments of who looks at them there."""
    for part, found in groupby(with_rows(batches), lambda entry: entry.key):
        with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
            for entry in found:
                (Path(folder) / manifest.tables[entry.place].parts[part].file).write_bytes(entry.rows)
                if entry.note:
                    np.save(Path(folder) / WHOSE, opened(entry.note))
            given = tuple(Path(folder) / one if isinstance(one, Path) else one for one in rest)
            yield part, (Path(folder), manifest, part, *given)


def check_files(
    batches: Iterable[pa.RecordBatch], function: Callable[..., Any], manifest: Manifest, rest: tuple[Any, ...]
) -> Iterator[Entry]:
    """What the checker finds in the files of each part."""
    for part, arguments in _on_disk(batches, manifest, rest):
        yield Entry(part, SUMMARY, pickle.dumps(function(*arguments)))


def pool_files(
    batches: Iterable[pa.RecordBatch],
    function: Callable[..., Any],
    manifest: Manifest,
    rest: tuple[Any, ...],
    n_heaps: int,
) -> Iterator[Entry]:
    """What the checker finds in the files of each part heap by heap, for who puts the same heap of all together."""
    for part, arguments in _on_disk(batches, manifest, rest):
        for heap in range(n_heaps):
            yield Entry(heap, part, b"", pickle.dumps(function(*arguments, heap, n_heaps)))


def join_heaps(batches: Iterable[pa.RecordBatch], finish: Callable[[list[Any]], Any]) -> Iterator[Entry]:
    """What was found of a heap in all parts, put together."""
    for heap, found in groupby(with_rows(batches), lambda entry: entry.key):
        yield Entry(heap, SUMMARY, pickle.dumps(finish([opened(entry.rows) for entry in found])))


def write_files(
    batches: Iterable[pa.RecordBatch], folder: str, names: Sequence[Sequence[str]], token: str
) -> Iterator[Entry]:
    """The files of parts written where the driver will look at them; give their names and SHA-256."""
    for entry in with_rows(batches):
        name = names[entry.place][entry.key]
        yield Entry(entry.key, SUMMARY, pickle.dumps((name, write_moved(Path(folder), name, token, entry.rows))))


def read_files(
    batches: Iterable[pa.RecordBatch], digests: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of a table, as the DataFrame of a release has them; they must be those that were checked."""
    for entry in with_rows(batches):
        if hashlib.sha256(entry.rows).hexdigest() != digests[entry.key]:
            what = "gave other rows when it was read again: the release that was checked is lost"
            raise SourceError(Problem("table", what, "publish from a copy that nobody changes"))
        table = pq.read_table(pa.BufferReader(entry.rows)).cast(schema)
        yield from table.to_batches(max_chunksize=10_000)


# -- the driver --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableFiles:
    """The files of a table."""

    name: str
    digests: list[str]
    """The SHA-256 of each."""
    types: pa.Schema
    """Of the columns."""


@dataclass(frozen=True)
class Files:
    """The files of a release, as executors keep them."""

    entries: Any
    tables: list[TableFiles]


def made_parts(jobs: Jobs, published: Any, layout: Layout, parts: int) -> tuple[tuple[PublishedTable, ...], Files]:
    """The files of all parts, kept by executors, and what is said of them; of what blocks show."""
    rows = jobs.exchanged(published.filter("place >= 0"), parts)
    firsts = [1] * parts
    if has_numbers(layout):  # those of a part follow those of the part before
        rows = jobs.keep(rows)
        counts = [opened(note) for _, note in jobs.said(jobs.step(rows, "count_numbers", layout))]
        firsts = [1, *(1 + np.cumsum(counts)[:-1]).tolist()]
    made = jobs.keep(jobs.step(rows, "make_parts", layout, firsts))
    said = [opened(note) for _, note in jobs.said(made)]
    if has_numbers(layout):
        jobs.drop(rows)
    if len(said) != parts or len(firsts) != parts:
        raise InternalError("a part was not made")
    tables, files = [], []
    for place, (name, (_, columns)) in enumerate(said[0][0].items()):
        own = tuple(one[name][0] for one, _ in said)
        table = PublishedTable(
            name=name, rows=sum(one.rows for one in own), columns=columns, content_sha256="", parts=own
        )
        tables.append(table.model_copy(update={"content_sha256": content_of_parts(table)}))
        files.append(TableFiles(name, [one.sha256 for one in own], said[0][1][place]))
    return tuple(tables), Files(made, files)
