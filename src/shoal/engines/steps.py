"""What is done with one piece, one block and one part of a table that does not fit in memory; each in any process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.engines.bins import Binned
from shoal.engines.counting import binned
from shoal.engines.cuts import Cuts, Ints
from shoal.engines.grouping import grouped
from shoal.engines.known import Known, PieceFacts
from shoal.engines.ordering import content_order, followed_columns
from shoal.engines.people import PERSON, keeps_as_one, people_counted, whose_rows_shown
from shoal.engines.placing import parts_of
from shoal.engines.work import Work
from shoal.errors import Problem, Problems
from shoal.methods.groups import Groups
from shoal.progress import SILENT
from shoal.publish.base import Published, arrange
from shoal.release.description import Asked
from shoal.release.manifest import FilePart, Layout
from shoal.release.parquet_writing import write_parquet
from shoal.table.fingerprint import content_sha256
from shoal.table.markers import Markers
from shoal.table.names import Names
from shoal.table.prepare import cleaned_columns, rows_that_go_on
from shoal.table.schema import Schema

RAW, PIECE, BINS, CODES, SORTED, LABELS, SHOWN = "raw", "piece", "bins", "codes", "sorted", "labels", "shown"
PEOPLE, SIZES, HOMES, WHOSE = "people", "sizes", "homes", "whose"


@dataclass(frozen=True)
class Reading:
    """How pieces are brought into their canonical types."""

    settled: Schema
    missing: str
    missing_values: Markers


def clean_piece(work: Work, number: int, first: int, reading: Reading) -> tuple[PieceFacts, str, list[Problem]]:
    """Bring a raw piece into canonical types; give its facts, the fingerprint of its rows, and what is wrong."""
    raw, found = work.load(RAW, number), Problems()
    followed, cleaned = followed_rows(raw, reading, found)
    work.save(PIECE, number, followed)
    facts = PieceFacts.of(followed, reading.settled, raw.height, first)
    later = f", counted from row {first + 1}" if first else ""
    problems = [replace(one, where=f"{one.where}{later}") for one in found]
    digest = content_sha256(cleaned)
    work.remove(RAW, number)
    return facts, digest, problems


def followed_rows(raw: pl.DataFrame, reading: Reading, found: Problems) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What a release depends on of the rows that go on, and all rows, in canonical types."""
    names = Names.of(raw, reading.settled.roles)
    cleaned, _ = cleaned_columns(names, raw, reading.settled, reading.missing_values, found)
    kept = rows_that_go_on(cleaned, reading.settled, reading.missing)
    rows = cleaned if len(kept) == cleaned.height else cleaned[kept]
    return rows.select(followed_columns(rows, reading.settled)), cleaned


def facts_of_piece(work: Work, number: int, reading: Reading, n_input: int, first: int) -> PieceFacts:
    """The facts of a piece that was brought into canonical types before."""
    kind = PIECE if work.has(PIECE, number) else SORTED  # the same rows in another order
    return PieceFacts.of(work.load(kind, number), reading.settled, n_input, first)


def bin_piece(work: Work, number: int, known: Known, columns: Sequence[Binned], required: Sequence[str]) -> None:
    """Find the bins of the rows of a piece, and the numbers of sensitive values that something is required of."""
    frame = known.typed(work.load(PIECE, number))
    table = known.block(frame)
    for name in required:
        work.save_array(f"{CODES}-{required.index(name)}", number, table.sensitive[name].codes.astype(np.int32))
    work.save_array(BINS, number, binned(columns, frame))


def note_people(work: Work, number: int, cuts: Cuts, person: str, n_heaps: int) -> None:
    """Write down in which blocks the people of a piece would be, in heaps by a mark of each person."""
    block_of = cuts.blocks_of(np.ascontiguousarray(work.load_array(BINS, number)))
    marks = work.load(PIECE, number)[person].hash().to_numpy()
    heap = (marks % np.uint64(n_heaps)).astype(np.int64)
    order = np.argsort(heap, kind="stable")
    work.save_array(SIZES, number, np.bincount(heap, minlength=n_heaps))
    work.save_array(PEOPLE, number, np.stack([marks[order].view(np.int64), block_of[order]]))


def find_homes(work: Work, heap: int, n_pieces: int) -> None:
    """Find the one block of every person of a heap: the first of those that their rows would be in."""
    found = []
    for piece in range(n_pieces):
        sizes, people = work.load_array(SIZES, piece), work.load_array(PEOPLE, piece)
        begin = int(sizes[:heap].sum())
        found.append(people[:, begin : begin + int(sizes[heap])])
    marks, blocks = np.concatenate(found, axis=1)
    first = pl.DataFrame({"mark": marks, "block": blocks}).group_by("mark").agg(pl.col("block").min()).sort("mark")
    work.save_array(HOMES, heap, first.to_numpy().T.copy())


def _homes_of(work: Work, people: pl.Series, n_heaps: int) -> Ints:
    """The block of every row of a piece, by whose it is."""
    marks, found = people.hash().to_numpy(), np.empty(len(people), dtype=np.int64)
    heap = (marks % np.uint64(n_heaps)).astype(np.int64)
    for one in range(n_heaps):
        rows = np.flatnonzero(heap == one)
        known, blocks = work.load_array(HOMES, one)
        found[rows] = blocks[np.searchsorted(known, marks[rows].view(np.int64))]
    return found


def count_people(work: Work, block: int, n_pieces: int, known: Known) -> tuple[int, dict[str, Ints]]:
    """How many people a block has, and how many of them have each sensitive value."""
    return people_counted(known.block(_block(work, block, n_pieces, known)))


def is_feasible(work: Work, block: int, n_pieces: int, known: Known, asked: Asked) -> bool:
    """Whether a block as one class keeps what is required, counted in people."""
    if not sum(len(work.load(SORTED, piece, block)) for piece in range(n_pieces)):
        return False  # its people are all elsewhere
    return keeps_as_one(known.block(_block(work, block, n_pieces, known)), asked)


def sort_piece(work: Work, number: int, known: Known, cuts: Cuts, person: str | None, n_heaps: int) -> list[int]:
    """Write the rows of a piece block by block; give how many go to each."""
    if person is None:
        block_of = cuts.blocks_of(np.ascontiguousarray(work.load_array(BINS, number)))
    else:
        block_of = _homes_of(work, work.load(PIECE, number)[person], n_heaps)
    sizes = np.bincount(block_of, minlength=len(cuts.blocks))
    rows = known.typed(work.load(PIECE, number))[np.argsort(block_of, kind="stable")]
    work.save(SORTED, number, rows, sizes.tolist())
    return [int(size) for size in sizes]


def _block(work: Work, block: int, n_pieces: int, known: Known) -> pl.DataFrame:
    """The rows of a block, in the order that their content gives them."""
    rows = pl.concat([work.load(SORTED, piece, block) for piece in range(n_pieces)])
    rows = rows.cast({name: known.types[name] for name in rows.columns})
    return rows[content_order(rows, known.table.schema)]


def group_block(
    work: Work, block: int, n_pieces: int, known: Known, asked: Asked, seed: int
) -> tuple[int, PieceFacts | None, dict[str, Any]]:
    """Form the classes of a block; give how many rows are in none, facts of the others if so, and notes."""
    frame = _block(work, block, n_pieces, known)
    groups = grouped(known.block(frame), asked, seed, SILENT, block=block)
    labels = groups.labels.astype(np.int32)
    kept = groups.labels >= 0
    facts = None if kept.all() else PieceFacts.of(frame.filter(pl.Series(kept)), known.table.schema, int(kept.sum()))
    work.save_array(LABELS, block, labels)
    return groups.n_suppressed, facts, groups.notes


def facts_of_block(work: Work, block: int, n_pieces: int, known: Known) -> tuple[int, PieceFacts]:
    """How many rows of a block that was grouped before are in no class, and the facts of the others."""
    kept = work.load_array(LABELS, block) >= 0
    frame = _block(work, block, n_pieces, known).filter(pl.Series(kept))
    return int((~kept).sum()), PieceFacts.of(frame, known.table.schema, int(kept.sum()))


@dataclass(frozen=True)
class BlockShown:
    """What was published of a block."""

    layout: Layout
    columns: tuple[str, ...]
    cells: dict[str, tuple[str | None, ...]]
    """The different cells of columns that are shown as nodes of a tree."""


def show_block(
    work: Work, block: int, n_pieces: int, known: Known, shown: Known, asked: Asked, parts: int
) -> BlockShown:
    """Publish the classes of a block; write its rows part by part.

    `known` is the table as it came in, `shown` that of the rows that are published: they have its types and trees.
    """
    labels = work.load_array(LABELS, block).astype(np.int64)
    rows, sizes, found = shown_rows(_block(work, block, n_pieces, known), labels, shown, asked, parts)
    work.save(SHOWN, block, rows, sizes)
    return found


def shown_rows(
    block: pl.DataFrame, labels: npt.NDArray[np.int64], shown: Known, asked: Asked, parts: int
) -> tuple[pl.DataFrame, list[int], BlockShown]:
    """What is published of a block, part by part, how many rows go to each part, and what is said of them."""
    kept = labels >= 0
    frame = block.filter(pl.Series(kept))
    table = shown.block(frame.cast({name: shown.types[name] for name in frame.columns}))
    published = asked.publish.show(table, Groups(labels[kept]))
    rows, layout = _harmonised(published, shown)
    place = parts_of(rows.select(layout.class_columns), parts)
    if (person := table.schema.person) is not None:
        rows = rows.with_columns(table.frame[person].hash().alias(PERSON))
    sizes = np.bincount(place, minlength=parts)
    nodes = {
        column.name: tuple(rows[column.columns[0]].unique().to_list())
        for column in layout.quasi
        if column.form == "node"
    }
    names = tuple(name for name in rows.columns if name != PERSON)
    return rows[np.argsort(place, kind="stable")], sizes.tolist(), BlockShown(layout, names, nodes)


def make_part(work: Work, part: int, n_blocks: int, layout: Layout, folder: Path) -> FilePart:
    """Put the rows of a part together from all blocks, in the order that their content gives them, and write them."""
    rows = pl.concat([work.load(SHOWN, block, part) for block in range(n_blocks)], how="vertical_relaxed")
    if PERSON in rows.columns:
        work.save_array(WHOSE, part, whose_rows_shown(rows, layout))
    return write_part(rows.drop(PERSON, strict=False), layout, folder / f"table-{part + 1:05d}.parquet")


def write_part(rows: pl.DataFrame, layout: Layout, path: Path) -> FilePart:
    """Write the rows of a part in the order that their content gives them."""
    table = arrange(Published({"table": rows}, layout))[0].tables["table"]
    write_parquet(table, path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return FilePart(file=path.name, rows=table.height, content_sha256=content_sha256(table), sha256=sha256)


def _harmonised(published: Published, shown: Known) -> tuple[pl.DataFrame, Layout]:
    """What a block shows, with a column that says that nothing is missing where other blocks have missing values."""
    rows, quasi = published.tables["table"], []
    for column in published.layout.quasi:
        marks, carriers = f"{column.name}_missing", column.columns
        bare = len(carriers) == 2 if column.form in ("interval", "order") else column.form == "value"
        if shown.missing[column.name] and bare and column.kind != "nominal" and marks not in carriers:
            at = rows.columns.index(carriers[-1]) + 1
            if column.form == "value" and column.kind != "numeric":
                quasi.append(column)
                continue
            rows = rows.insert_column(at, pl.repeat(False, rows.height, eager=True).alias(marks))
            column = column.model_copy(update={"columns": (*carriers, marks), "has_missing": True})
        quasi.append(column)
    return rows, published.layout.model_copy(update={"quasi": tuple(quasi)})
