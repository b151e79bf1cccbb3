"""Slices on a cluster: which attributes stay together, by counts of executors, and which cuts leave blocks for them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from shoal.engines.attributes import Codes, compared_columns, count_pairs, count_values, counted_together, gathered
from shoal.engines.cuts import Cuts
from shoal.engines.description import Asked
from shoal.engines.known import Known
from shoal.methods.slicing import Slicing
from shoal.spark.frames import stored
from shoal.spark.remote import SUMMARY, Entry, opened
from shoal.spark.tasks import counts_of, entries, summed, table_of, with_rows

if TYPE_CHECKING:
    from shoal.spark.jobs import Jobs


# -- executors ---------------------------------------------------------------------------------------------------------


def _pieces(batches: Iterable[pa.RecordBatch], known: Known) -> Iterator[pl.DataFrame]:
    """The attributes of rows whose bins were found."""
    return (compared_columns(stored(entry.rows), known) for entry in with_rows(batches))


def count_attributes(batches: Iterable[pa.RecordBatch], known: Known) -> Iterator[Entry]:
    """How many rows have each value of every attribute."""
    yield from _joined(count_values(rows) for rows in _pieces(batches, known))


def join_attributes(batches: Iterable[pa.RecordBatch]) -> Iterator[Entry]:
    """Counts of several partitions as those of one."""
    yield from _joined(opened(entry.note) for entry in entries(batches))


def _joined(pieces: Iterable[Any]) -> Iterator[Entry]:
    total: Any = None
    for found in pieces:
        total = counted_together([found] if total is None else [total, found])
    if total is not None:
        yield Entry(0, SUMMARY, pickle.dumps(total))


def count_categories(batches: Iterable[pa.RecordBatch], known: Known, codes: Codes) -> Iterator[Entry]:
    """How many rows have each pair of categories, of any two attributes."""
    yield from summed(count_pairs(rows, codes) for rows in _pieces(batches, known))


def judge_slices(batches: Iterable[pa.RecordBatch], known: Known, method: Slicing) -> Iterator[Entry]:
    """Whether the slices of each block, all rows in one bucket, tell no more than is allowed."""
    for block, found in groupby(with_rows(batches), lambda entry: entry.key):
        yield Entry(block, SUMMARY, pickle.dumps(method.fits(table_of(found, known))))


# -- the driver --------------------------------------------------------------------------------------------------------


def with_attributes(jobs: Jobs, binned: Any, n_partitions: int, known: Known, asked: Asked) -> Known:
    """What is known, with which attributes stay together in slices."""
    if not isinstance(asked.method, Slicing) or asked.method.groups is not None:
        return known

    def look(step: Callable[..., Any], *arguments: Any) -> list[Any]:
        if step is count_values:
            found = jobs.step(binned, "count_attributes", known)
            return [opened(note) for note in jobs.gathered(found, "join_attributes", n_partitions)]
        found = jobs.step(binned, "count_categories", known, *arguments)
        return [counts_of(note) for note in jobs.gathered(found, "join_counts", n_partitions)]

    return known.gathering(gathered(known, asked.method, look))


def placed_for_slices(jobs: Jobs, binned: Any, known: Known, cuts: Cuts, method: Slicing) -> Any:
    """Rows block by block; cuts that leave a block whose slices tell too much are taken back."""
    while True:
        n_blocks = len(cuts.blocks)
        placed = jobs.keep(jobs.exchanged(jobs.step(binned, "place_rows", cuts), n_blocks))
        if n_blocks == 1:
            return placed
        said = {key: opened(note) for key, note in jobs.said(jobs.step(placed, "judge_slices", known, method))}
        bad = next((block for block in range(n_blocks) if not said.get(block, False)), None)
        if bad is None:
            return placed
        jobs.drop(placed)
        cuts.join(cuts.blocks[bad])
