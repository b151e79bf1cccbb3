"""The steps of the path, as executors do them: each a function of its rows, what it is told, and the seed.

So a step that is done again, somewhere else or twice at once, gives the same.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.bins import Binned
from shoal.engines.counting import binned, histograms, sensitive_counts
from shoal.engines.cuts import Cuts, Ints
from shoal.engines.description import Asked
from shoal.engines.grouping import grouped
from shoal.engines.known import Known, PieceFacts
from shoal.engines.ordering import content_order
from shoal.engines.steps import Reading, followed_rows, shown_rows
from shoal.errors import GuaranteeError, Problem, Problems, SchemaError, ShoalWarning
from shoal.machine.extras import load
from shoal.measure.base import Given
from shoal.progress import SILENT
from shoal.release.manifest import Manifest
from shoal.spark.frames import frame_of, packed, stored
from shoal.spark.joining import together
from shoal.spark.remote import ERROR, SUMMARY, Entry, opened
from shoal.table.fingerprint import content_sha256
from shoal.table.markers import Markers, note_unknown
from shoal.table.names import Names
from shoal.table.prepare import Table
from shoal.table.schema import Schema

PIECE_ROWS = 1 << 17
"""Rows that are brought into their canonical types at a time."""
CHUNK_ROWS = 1 << 18
"""Rows of an entry at most: no array of bytes has more than two billion."""
LABEL = "\0label"
MOST_PROBLEMS = 100


def batch_of(entry: Entry) -> pa.RecordBatch:
    """An entry as Spark takes it."""
    return pa.record_batch(
        [
            pa.array([entry.key], pa.int32()), pa.array([entry.place], pa.int32()),
            pa.array([entry.note], pa.binary()), pa.array([entry.rows], pa.binary()),
        ],
        names=["key", "place", "note", "rows"],
    )  # fmt: skip


def entries(batches: Iterable[pa.RecordBatch]) -> Iterator[Entry]:
    """The entries of some batches."""
    for batch in batches:
        for place in range(batch.num_rows):
            entry = Entry(*(batch.column(name)[place].as_py() for name in Entry._fields))
            if entry.place == ERROR:  # it goes on to the driver, whatever steps come between
                kind, problems = opened(entry.note)
                raise kind(problems)
            yield entry


def with_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Entry]:
    """The entries that hold rows."""
    return (entry for entry in entries(batches) if entry.place >= 0)


# -- pieces ------------------------------------------------------------------------------------------------------------


def settle(
    batches: Iterable[pa.RecordBatch], columns: Sequence[str], schema: Schema, missing_values: Markers
) -> Iterator[Entry]:
    """The schema as it fits the columns; some rows tell whether names are names."""
    frames = [frame_of(batch, columns) for batch in batches]
    if not frames or not sum(frame.height for frame in frames):
        return
    rows, found = pl.concat(frames), Problems()
    names = Names.of(rows, schema.roles)
    note_unknown(missing_values, names, found)
    settled = schema.fit(names, found)
    found.raise_if_any(SchemaError)
    yield Entry(0, SUMMARY, pickle.dumps(settled))


def clean(batches: Iterable[pa.RecordBatch], columns: Sequence[str], reading: Reading) -> Iterator[Entry]:
    """Rows of a table in their canonical types, and in the end the facts of the partition and what is wrong."""
    context = load("pyspark", extra="spark", what="shoal.spark").TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    facts: list[PieceFacts] = []
    problems: list[Problem] = []
    for number, raw in enumerate(_pieces(batches, columns)):
        found = Problems()
        rows, _ = followed_rows(raw, reading, found)
        facts = [together([*facts, PieceFacts.of(rows, reading.settled, raw.height)])]
        where = f"partition {partition}, counted from row {number * PIECE_ROWS + 1} of it"
        problems += [Problem(f"{one.where}, {where}", one.what, one.fix) for one in found][:MOST_PROBLEMS]
        yield Entry(partition, number, b"", packed(rows))
    if facts:
        yield Entry(partition, SUMMARY, pickle.dumps((facts[0], problems[:MOST_PROBLEMS])))


def _pieces(batches: Iterable[pa.RecordBatch], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Rows in pieces of one size; the last is smaller."""
    waiting: list[pl.DataFrame] = []
    n_rows = 0
    for batch in batches:
        waiting.append(frame_of(batch, columns))
        n_rows += batch.num_rows
        while n_rows >= PIECE_ROWS:
            rows = pl.concat(waiting)
            yield rows.head(PIECE_ROWS).rechunk()
            waiting, n_rows = [rows.slice(PIECE_ROWS)], n_rows - PIECE_ROWS
    if n_rows:
        yield pl.concat(waiting).rechunk()


def join_facts(batches: Iterable[pa.RecordBatch]) -> Iterator[Entry]:
    """Facts of several partitions as those of one."""
    found = [opened(entry.note) for entry in entries(batches) if entry.place == SUMMARY]
    if found:
        problems = [one for _, several in found for one in several][:MOST_PROBLEMS]
        yield Entry(0, SUMMARY, pickle.dumps((together([facts for facts, _ in found]), problems)))


# -- blocks ------------------------------------------------------------------------------------------------------------


def find_bins(
    batches: Iterable[pa.RecordBatch], known: Known, columns: Sequence[Binned], required: Sequence[str]
) -> Iterator[Entry]:
    """The bins of the rows, and the numbers of sensitive values that something is required of."""
    for entry in with_rows(batches):
        rows = known.typed(stored(entry.rows))
        table = known.block(rows)
        codes = {name: table.sensitive[name].codes.astype(np.int32) for name in required}
        yield entry._replace(note=pickle.dumps((binned(columns, rows), codes)), rows=packed(rows))


def count_bins(
    batches: Iterable[pa.RecordBatch], cuts: Cuts, nodes: Sequence[int], columns: Sequence[Binned]
) -> Iterator[Entry]:
    """Of each column, how many rows of each node are in each bin."""
    yield from summed(histograms(cuts, nodes, bins, columns) for bins, _ in _notes(batches))


def count_sensitive(
    batches: Iterable[pa.RecordBatch], cuts: Cuts, nodes: Sequence[int], n_values: dict[str, int]
) -> Iterator[Entry]:
    """Of each sensitive column, how often each value is in each node."""
    found = (sensitive_counts(cuts, nodes, bins, codes, n_values) for bins, codes in _notes(batches))
    yield from summed([one[name] for name in n_values] for one in found)


def join_counts(batches: Iterable[pa.RecordBatch]) -> Iterator[Entry]:
    """Counts of several partitions as those of one."""
    yield from summed(counts_of(entry.note) for entry in entries(batches))


def _notes(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    return (opened(entry.note) for entry in with_rows(batches))


def summed(counts: Iterable[Sequence[Any]]) -> Iterator[Entry]:
    """The sums of some counts; nothing for none."""
    total: list[Any] | None = None
    for found in counts:
        total = list(found) if total is None else [one + other for one, other in zip(total, found, strict=True)]
    if total is not None:
        places = [np.flatnonzero(one) for one in total]
        sparse = [(one.shape, place, one.ravel()[place]) for one, place in zip(total, places, strict=True)]
        yield Entry(0, SUMMARY, pickle.dumps(sparse))


def counts_of(note: bytes) -> list[Any]:
    """Counts as they were before they travelled: only those that are not 0 do."""
    found = []
    for shape, places, numbers in opened(note):
        counts = np.zeros(shape, dtype=np.int64)
        counts.ravel()[places] = numbers
        found.append(counts)
    return found


def place_rows(batches: Iterable[pa.RecordBatch], cuts: Cuts) -> Iterator[Entry]:
    """The rows of every piece block by block."""
    for number, entry in enumerate(with_rows(batches)):
        block_of = cuts.blocks_of(np.ascontiguousarray(opened(entry.note)[0]))
        rows = stored(entry.rows)[np.argsort(block_of, kind="stable")]
        begin = 0
        for block, size in enumerate(np.bincount(block_of, minlength=len(cuts.blocks)).tolist()):
            if size:
                yield Entry(block, number, b"", packed(rows.slice(begin, size)))
            begin += size


class GroupedBlock(NamedTuple):
    """What is said of a block that was grouped."""

    n_rows: int
    n_suppressed: int
    sha256: str
    facts: PieceFacts
    """Of the rows that are in a class."""
    has_centres: bool


def table_of(found: Iterable[Entry], known: Known) -> Table:
    """Rows that came in several entries."""
    rows = pl.concat([stored(entry.rows) for entry in found])
    return known.block(rows.cast({name: known.types[name] for name in rows.columns}))


def group_rows(batches: Iterable[pa.RecordBatch], known: Known, asked: Asked, seed: int) -> Iterator[Entry]:
    """The classes of blocks; first of each what is said of it, then its rows with the number of their class."""
    for block, found in groupby(with_rows(batches), lambda entry: entry.key):
        rows = table_of(found, known).frame
        rows = rows[content_order(rows, known.table.schema)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ShoalWarning)
            groups = grouped(known.block(rows), asked, seed, SILENT, block=block)
        kept = groups.labels >= 0
        facts = PieceFacts.of(rows.filter(pl.Series(kept)), known.table.schema, int(kept.sum()))
        said = GroupedBlock(rows.height, int((~kept).sum()), content_sha256(rows), facts, groups.centres is not None)
        yield Entry(block, SUMMARY, pickle.dumps(said))
        labelled = rows.with_columns(pl.Series(LABEL, groups.labels.astype(np.int32)))
        chunks = range(0, labelled.height, CHUNK_ROWS)
        for place, begin in enumerate(chunks):
            last = pickle.dumps(groups.centres) if place + 1 == len(chunks) else b""
            yield Entry(block, place, last, packed(labelled.slice(begin, CHUNK_ROWS)))


# -- what blocks show ------------------------------------------------------------------------------------------------


def _blocks(batches: Iterable[pa.RecordBatch], centred: bool) -> Iterator[tuple[int, pl.DataFrame, Ints, Ints | None]]:
    """Blocks, each with the class of every row, and the row that each class was formed around."""
    waiting: list[pl.DataFrame] = []
    for entry in with_rows(batches):
        waiting.append(stored(entry.rows))
        if entry.note:  # the last of its block
            block = pl.concat(waiting)
            waiting = []
            centres = opened(entry.note) if centred else None
            yield entry.key, block.drop(LABEL), block[LABEL].to_numpy().astype(np.int64), centres


def look_at_blocks(
    batches: Iterable[pa.RecordBatch], look: Callable[..., Any], shown: Known, asked: Asked, centred: bool
) -> Iterator[Entry]:
    """What a function finds in the rows of blocks that were grouped."""
    for number, *block in _blocks(batches, centred):
        yield Entry(number, SUMMARY, pickle.dumps(look(*block, shown, asked)))


def show_rows(
    batches: Iterable[pa.RecordBatch], shown: Known, asked: Asked, parts: int, centred: bool
) -> Iterator[Entry]:
    """What is published of blocks, part by part, and what is said of it."""
    for number, block, labels, centres in _blocks(batches, centred):
        rows, sizes, said = shown_rows(block, labels, shown, asked, parts, centres)
        yield Entry(number, SUMMARY, pickle.dumps(said))
        begin = 0
        for part, size in enumerate(sizes):
            if size or number == 0:  # every part is made, also one without rows
                yield Entry(part, number, b"", packed(rows.slice(begin, size)))
            begin += size


# -- a table of one block ----------------------------------------------------------------------------------------------


def publish_whole(
    batches: Iterable[pa.RecordBatch], columns: Sequence[str], schema: Any, method: Any, options: dict[str, Any]
) -> Iterator[Entry]:
    """A table that is not cut, published in one task; rows in the order that their content gives them."""
    from shoal.pipeline import anonymize
    from shoal.release.parquet_writing import write_parquet

    rows = pl.concat([frame_of(batch, columns) for batch in batches]).rechunk()
    settled = schema.fit(Names.of(rows, schema.roles), Problems())
    rows = rows[content_order(rows, settled)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        release = anonymize(rows, schema, method, **options)
        verdict, seen = release.verify(), release.given()
    given = Given({}, release.manifest)
    counted = {name: getattr(seen, name) for name in ("columns", "class_sizes", "matching_sizes", "leading", "squares")}
    vars(given).update(counted, rows=seen.rows.clear(), cells=seen.cells.clear())
    with tempfile.TemporaryDirectory(prefix="shoal-") as folder:
        paths = {name: Path(folder) / f"{name}.parquet" for name in release.frames}
        for name, path in paths.items():
            write_parquet(release.frames[name], path)
        types = [pq.read_schema(path).remove_metadata() for path in paths.values()]
        contents = [path.read_bytes() for path in paths.values()]
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    receipt = None if release.receipt is None else release.receipt.model_copy(update={"places": None})
    said = (release.manifest, receipt, replace(verdict, classes=None), given, list(zip(digests, types, strict=True)))
    yield Entry(0, SUMMARY, pickle.dumps(said))
    for place, content in enumerate(contents):
        yield Entry(0, place, b"", content)


def check_whole(batches: Iterable[pa.RecordBatch], manifest: Manifest) -> Iterator[Entry]:
    """What the checker finds in the files of a release of one part."""
    from shoal.check.release import verify
    from shoal.release.parquet import parse_parquet

    frames = {}
    for entry in with_rows(batches):
        frame, complaints = parse_parquet(entry.rows)
        name = manifest.tables[entry.place].name
        if frame is None or complaints:
            raise GuaranteeError([Problem(f"{name}.parquet", text) for text in complaints or ["cannot be read"]])
        frames[name] = frame
    if frames:
        yield Entry(0, SUMMARY, pickle.dumps(replace(verify(frames, manifest), classes=None)))
