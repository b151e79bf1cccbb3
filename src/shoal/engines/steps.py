"""What is done with one piece, one block and one part of a table that does not fit in memory; each in any process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.engines.bins import Binned
from shoal.engines.counting import binned
from shoal.engines.cuts import Cuts, Ints
from shoal.engines.description import Asked
from shoal.engines.grouping import grouped
from shoal.engines.known import Known, PieceFacts
from shoal.engines.ordering import content_order, followed_columns
from shoal.engines.people import PERSON, keeps_as_one, people_counted
from shoal.engines.tables import GROUP, n_numbered, places_of, side_by_side, tables_of, whose_order, with_groups_apart
from shoal.engines.work import (
    BINS,
    CENTRES,
    CODES,
    HOMES,
    LABELS,
    PEOPLE,
    PIECE,
    RAW,
    SHOWN,
    SIZES,
    SORTED,
    WHOSE,
    Work,
)
from shoal.errors import Problem, Problems
from shoal.methods.groups import Groups
from shoal.methods.slicing import Slicing
from shoal.progress import SILENT
from shoal.release.manifest import FilePart, Layout
from shoal.release.parquet_writing import write_parquet
from shoal.table.fingerprint import content_sha256
from shoal.table.markers import Markers
from shoal.table.names import Names
from shoal.table.prepare import Table, check_single_roles, cleaned_columns, rows_that_go_on
from shoal.table.schema import Schema

MadePart = dict[str, tuple[FilePart, tuple[str, ...]]]
"""The file of each table of a part, and its columns."""


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
    cleaned, broken = cleaned_columns(names, raw, reading.settled, reading.missing_values, found)
    kept = rows_that_go_on(cleaned, reading.settled, reading.missing)
    rows = cleaned if len(kept) == cleaned.height else cleaned[kept]
    check_single_roles(reading.settled, rows, broken, found)
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


def note_people(work: Work, number: int, known: Known, cuts: Cuts, person: str, n_heaps: int) -> None:
    """Write down in which blocks the people of a piece would be, in heaps by a mark of each person."""
    block_of = cuts.blocks_of(np.ascontiguousarray(work.load_array(BINS, number)))
    marks = _people(work, number, known, person).hash().to_numpy()
    heap = (marks % np.uint64(n_heaps)).astype(np.int64)
    order = np.argsort(heap, kind="stable")
    work.save_array(SIZES, number, np.bincount(heap, minlength=n_heaps))
    work.save_array(PEOPLE, number, np.stack([marks[order].view(np.int64), block_of[order]]))


def _people(work: Work, number: int, known: Known, person: str) -> pl.Series:
    """Whose each row of a piece is, in the type of the whole table: another piece may have another for a person."""
    return work.load(PIECE, number)[person].cast(known.types[person])


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


def can_be_sliced(work: Work, block: int, n_pieces: int, known: Known, asked: Asked) -> bool:
    """Whether the slices of a block, all rows in one bucket, tell no more than is allowed."""
    assert isinstance(asked.method, Slicing)  # noqa: S101  asked only then
    return asked.method.fits(known.block(_block(work, block, n_pieces, known)))


def sort_piece(work: Work, number: int, known: Known, cuts: Cuts, person: str | None, n_heaps: int) -> list[int]:
    """Write the rows of a piece block by block; give how many go to each."""
    if person is None:
        block_of = cuts.blocks_of(np.ascontiguousarray(work.load_array(BINS, number)))
    else:
        block_of = _homes_of(work, _people(work, number, known, person), n_heaps)
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
    if groups.centres is not None:
        work.save_array(CENTRES, block, groups.centres)
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
    """The different cells of columns that are shown as nodes of a tree, and the values that sets name."""


def _labels(work: Work, block: int) -> tuple[Ints, Ints | None]:
    """The class of each row of a block, and the row that each was formed around, where its method has one."""
    centres = work.load_array(CENTRES, block).astype(np.int64) if work.has(CENTRES, block, "npy") else None
    return work.load_array(LABELS, block).astype(np.int64), centres


def look_at_block(
    look: Callable[..., Any], work: Work, block: int, n_pieces: int, known: Known, shown: Known, asked: Asked
) -> Any:
    """What a function finds in the rows of a block that was grouped."""
    return look(_block(work, block, n_pieces, known), *_labels(work, block), shown, asked)


def published_rows(block: pl.DataFrame, labels: Ints, centres: Ints | None, shown: Known) -> tuple[Table, Groups]:
    """The rows of a block that are published, and their groups."""
    kept = labels >= 0
    frame = block.filter(pl.Series(kept))
    table = shown.block(frame.cast({name: shown.types[name] for name in frame.columns}))
    return table, Groups(labels, centres=centres).only(kept)


def show_block(
    work: Work, block: int, n_pieces: int, known: Known, shown: Known, asked: Asked, parts: int
) -> BlockShown:
    """Publish the classes of a block; write its rows part by part.

    `known` is the table as it came in, `shown` that of the rows that are published: they have its types and trees.
    """
    labels, centres = _labels(work, block)
    rows, sizes, found = shown_rows(_block(work, block, n_pieces, known), labels, shown, asked, parts, centres)
    work.save(SHOWN, block, rows, sizes)
    return found


def shown_rows(
    block: pl.DataFrame,
    labels: npt.NDArray[np.int64],
    shown: Known,
    asked: Asked,
    parts: int,
    centres: npt.NDArray[np.int64] | None = None,
) -> tuple[pl.DataFrame, list[int], BlockShown]:
    """What is published of a block, part by part, how many rows go to each part, and what is said of them."""
    table, groups = published_rows(block, labels, centres, shown)
    if isinstance(asked.method, Slicing):
        groups = replace(groups, slices=asked.method.slices_of(table))
    published = asked.publish.show(table, groups)
    rows, layout = _harmonised(side_by_side(published, table, groups.labels), published.layout, shown)
    place = places_of(rows, layout, parts)
    if (person := table.schema.person) is not None:
        rows = rows.with_columns(table.frame[person].hash().alias(PERSON))
    sizes = np.bincount(place, minlength=parts)
    cells = {
        column.name: tuple(rows[column.columns[0]].unique().to_list())
        for column in layout.quasi
        if column.form == "node"
    }
    sets = [column.name for column in layout.quasi if column.form == "set"]
    cells |= {name: _named_by_sets(table.frame[name], groups.labels) for name in sets}
    names = tuple(name for name in rows.columns if name not in (PERSON, GROUP))
    return rows[np.argsort(place, kind="stable")], sizes.tolist(), BlockShown(layout, names, cells)


def _named_by_sets(series: pl.Series, labels: Ints) -> tuple[str | None, ...]:
    """The values that cells name which are sets: those of groups without a missing one."""
    starred = np.isin(labels, labels[series.is_null().to_numpy()])
    return tuple(series.filter(pl.Series(~starred)).unique().to_list())


def _part(work: Work, part: int, n_blocks: int) -> pl.DataFrame:
    """The rows of a part from all blocks."""
    return with_groups_apart([work.load(SHOWN, block, part) for block in range(n_blocks)])


def count_numbered(work: Work, part: int, n_blocks: int, layout: Layout) -> int:
    """How many classes of a part have numbers."""
    return n_numbered(_part(work, part, n_blocks), layout)


def make_part(work: Work, part: int, n_blocks: int, layout: Layout, folder: Path, first: int = 1) -> MadePart:
    """Put the rows of a part together from all blocks, and write them; classes have numbers from `first` on."""
    made, whose = written_part(_part(work, part, n_blocks), part, layout, folder, first)
    if whose is not None:
        work.save_array(WHOSE, part, whose)
    return made


def written_part(
    rows: pl.DataFrame, part: int, layout: Layout, folder: Path, first: int
) -> tuple[MadePart, npt.NDArray[np.uint64] | None]:
    """Write the tables of a part, each in the order that its content gives it; give whose rows they are, if known."""
    tables, order = tables_of(rows.drop(PERSON, strict=False), layout, first)
    whose = None
    if PERSON in rows.columns:
        whose = rows[PERSON].to_numpy()[whose_order(rows, tables, layout, order)]
    made = {
        name: (_written(table, folder / f"{name}-{part + 1:05d}.parquet"), tuple(table.columns))
        for name, table in tables.items()
    }
    return made, whose


def _written(table: pl.DataFrame, path: Path) -> FilePart:
    """Write a table; say what its file is."""
    write_parquet(table, path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return FilePart(file=path.name, rows=table.height, content_sha256=content_sha256(table), sha256=sha256)


def _harmonised(rows: pl.DataFrame, layout: Layout, shown: Known) -> tuple[pl.DataFrame, Layout]:
    """What a block shows, with a column that says that nothing is missing where other blocks have missing values."""
    quasi = []
    for column in layout.quasi:
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
    return rows, layout.model_copy(update={"quasi": tuple(quasi)})
