"""Which part of a release a class or bucket goes to: a function of what it shows, and of nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.table.numbering import coded

PART_ROWS = 250_000
"""Rows of a part on average, unless somebody asks for another number."""
ADDED, FACTORS = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def n_parts(n_rows: int, part_rows: int) -> int:
    """How many parts so many rows have."""
    return max(1, -(-n_rows // part_rows))


def parts_of(cells: pl.DataFrame, parts: int) -> npt.NDArray[np.int64]:
    """The part of each row, from 0, by the texts of the cells that make its class, column after column."""
    return (_marks(cells) % np.uint64(parts)).astype(np.int64)


def parts_of_buckets(
    tables: Sequence[pl.DataFrame], labels: npt.NDArray[np.int64], parts: int
) -> npt.NDArray[np.int64]:
    """The part of each row, from 0, by all that its bucket shows: of each table its rows, in whatever order."""
    total = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.uint64)
    for number, rows in enumerate(tables, 1):  # which rows of the tables belong together, sums do not know
        np.add.at(total, labels, _scrambled(_marks(rows) + np.uint64(number)))
    return (_scrambled(total) % np.uint64(parts)).astype(np.int64)[labels]


def _marks(cells: pl.DataFrame) -> npt.NDArray[np.uint64]:
    """A number that stands for the texts of each row."""
    mixed = np.zeros(cells.height, dtype=np.uint64)
    for values, codes in coded(cells.select(pl.all().cast(pl.String))).values():
        marks = np.array([_mark(text) for text in (*values.to_list(), None)], dtype=np.uint64)
        mixed = _scrambled(mixed + marks[codes])
    return mixed


def _mark(text: str | None) -> int:
    """Eight bytes that stand for a text."""
    told = b"\0" if text is None else b"\1" + text.encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:8], "little")


def _scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mixed = numbers + np.uint64(ADDED)
    for shift, factor in FACTORS:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
