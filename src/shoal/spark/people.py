"""Rows of one person brought together on a cluster: what executors do for it, and what the driver decides.

Rows go to heaps by whose they are. In a heap all rows of a person are at hand, so that their one block is found: the
first of those that the rows would be in. The driver gets numbers of people, and of people who have each value.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from shoal.engines.cuts import Cuts, Ints
from shoal.engines.description import Asked
from shoal.engines.known import Known
from shoal.engines.people import keeps_as_one, people_counted
from shoal.errors import InfeasibleError, Problems
from shoal.methods.anatomy import Anatomy
from shoal.methods.base import Method, check_frequent
from shoal.spark.frames import packed, stored
from shoal.spark.remote import SUMMARY, Entry, opened
from shoal.spark.tasks import table_of, with_rows

if TYPE_CHECKING:
    from shoal.spark.jobs import Jobs


# -- executors ---------------------------------------------------------------------------------------------------------


def heap_rows(batches: Iterable[pa.RecordBatch], person: str, n_heaps: int) -> Iterator[Entry]:
    """The rows of every piece heap by heap, with their bins."""
    for number, entry in enumerate(with_rows(batches)):
        rows, bins = stored(entry.rows), opened(entry.note)[0]
        for heap, places in _apart(_heaps(rows[person], n_heaps)):
            yield Entry(heap, number, pickle.dumps(bins[:, places]), packed(rows[places]))


def _heaps(people: pl.Series, n_heaps: int) -> Ints:
    """The heap of each row, the same on every machine: a hash of a library may change with its version."""
    texts = people.cast(pl.String).fill_null("")
    known = texts.unique()
    heaps = [zlib.crc32(text.encode()) % n_heaps for text in known.to_list()]
    return texts.replace_strict(known, pl.Series(heaps, dtype=pl.Int64), return_dtype=pl.Int64).to_numpy()


def _apart(numbers: Ints) -> Iterator[tuple[int, Ints]]:
    """Each number that is there, and where."""
    order = np.argsort(numbers, kind="stable").astype(np.int64)
    found, begins = np.unique(numbers[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, begins[1:]), strict=True)


def count_people(batches: Iterable[pa.RecordBatch], known: Known) -> Iterator[Entry]:
    """How many people of each heap have each sensitive value; none is in two heaps."""
    for heap, found in groupby(with_rows(batches), lambda entry: entry.key):
        yield Entry(heap, SUMMARY, pickle.dumps(people_counted(table_of(found, known))))


def place_people(batches: Iterable[pa.RecordBatch], person: str, cuts: Cuts) -> Iterator[Entry]:
    """The rows of every heap block by block, all of a person in the first of theirs."""
    for heap, found in groupby(with_rows(batches), lambda entry: entry.key):
        several = list(found)
        rows = pl.concat([stored(entry.rows) for entry in several])
        bins = np.concatenate([opened(entry.note) for entry in several], axis=1)
        block = pl.Series("block", cuts.blocks_of(np.ascontiguousarray(bins)))
        homes = pl.DataFrame({"person": rows[person], "block": block}).select(pl.col("block").min().over("person"))
        for home, places in _apart(homes["block"].to_numpy()):
            yield Entry(home, heap, b"", packed(rows[places]))


def judge_people(batches: Iterable[pa.RecordBatch], known: Known, asked: Asked) -> Iterator[Entry]:
    """How many people each block has, and whether they are enough for what is required."""
    for block, found in groupby(with_rows(batches), lambda entry: entry.key):
        table = table_of(found, known)
        yield Entry(block, SUMMARY, pickle.dumps((table.n_people, keeps_as_one(table, asked))))


# -- the driver --------------------------------------------------------------------------------------------------------


def brought_together(jobs: Jobs, binned: Any, known: Known, cuts: Cuts, asked: Asked, person: str) -> tuple[Known, Any]:
    """What is known with people counted, and rows block by block; cuts that leave too few people are taken back."""
    n_heaps = len(cuts.blocks)
    heaped = jobs.keep(jobs.exchanged(jobs.step(binned, "heap_rows", person, n_heaps), n_heaps))
    counted = [opened(note) for _, note in jobs.said(jobs.step(heaped, "count_people", known))]
    having = {name: np.sum([one[name] for _, one in counted], axis=0) for name in counted[0][1]}
    known = known.counted(having, sum(n_people for n_people, _ in counted))
    while True:
        n_blocks = len(cuts.blocks)
        placed = jobs.keep(jobs.exchanged(jobs.step(heaped, "place_people", person, cuts), n_blocks))
        if n_blocks == 1:
            return known, placed
        said = {key: opened(note) for key, note in jobs.said(jobs.step(placed, "judge_people", known, asked))}
        k = asked.method.min_group_size
        judged = [said.get(block, (0, False)) for block in range(n_blocks)]  # people of some may all be elsewhere
        bad = next((block for block, (people, fits) in enumerate(judged) if people < k or not fits), None)
        if bad is None:
            _check_people(known, sum(people for people, _ in judged), asked.method)
            return known, placed
        jobs.drop(placed)
        cuts.join(cuts.blocks[bad])


def _check_people(known: Known, n_people: int, method: Method) -> None:
    """Refuse values that too many people have for buckets: rows alone did not tell when the table was checked."""
    problems = Problems()
    if isinstance(method, Anatomy):
        column = method.column or next(iter(known.whole.sensitive))
        having = known.whole.sensitive[column].counts
        check_frequent(having, n_people, "people", column, method.l, "Anatomy(l=)", problems)
    problems.raise_if_any(InfeasibleError)
