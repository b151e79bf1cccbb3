"""Which part of a release a class or bucket belongs into by what it shows, found from what was published."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.release.manifest import Layout
from shoal.table.numbering import coded

Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint64]
STEP = np.uint64(0x9E3779B97F4A7C15)


def parts_of_classes(cells: pl.DataFrame, n_parts: int) -> Ints:
    """The part of each row by the texts of its cells."""
    return (marks_of(cells) % np.uint64(n_parts)).astype(np.int64)


def parts_of_buckets(tables: Mapping[str, pl.DataFrame], layout: Layout, n_parts: int) -> Ints:
    """The part of each bucket, in the order of their numbers: by the rows of every table or slice."""
    found = np.zeros(0, dtype=np.uint64)
    for number, (bucket, cells, often) in enumerate(_shown(tables, layout), 1):
        place = np.unique(bucket.to_numpy(), return_inverse=True)[1].reshape(-1)
        total = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.uint64)
        np.add.at(total, place, _mixed(marks_of(cells) + np.uint64(number)) * often)
        found = total if number == 1 else found + total
    return (_mixed(found) % np.uint64(n_parts)).astype(np.int64)


def _shown(tables: Mapping[str, pl.DataFrame], layout: Layout) -> Iterator[tuple[pl.Series, pl.DataFrame, Marks]]:
    """What buckets show, slice by slice or table by table: the bucket of every row, its cells, and how often it is."""
    if layout.slices:
        for place, one in enumerate(layout.slices, 1):
            table = tables[f"slice_{place}" if layout.files else "table"]
            yield table["bucket"], table.select(one.columns), np.ones(table.height, dtype=np.uint64)
        return
    rows, values = tables["table"], tables["sensitive"]
    yield rows["bucket"], rows.drop("bucket"), np.ones(rows.height, dtype=np.uint64)
    yield values["bucket"], values.select(layout.sensitive), values["count"].to_numpy().astype(np.uint64)


def marks_of(cells: pl.DataFrame, eighth: int = 0) -> Marks:
    """What stands for the texts of each row: eight bytes of the SHA-256 of each, mixed in turn."""
    mixed = np.zeros(cells.height, dtype=np.uint64)
    for values, codes in coded(cells.select(pl.all().cast(pl.String))).values():
        digests = [hashlib.sha256(b"\1" + text.encode()).digest() for text in values.to_list()]
        digests.append(hashlib.sha256(b"\0").digest())
        marks = np.frombuffer(b"".join(digest[8 * eighth : 8 * eighth + 8] for digest in digests), dtype="<u8")
        mixed = _mixed(mixed + marks[codes])
    return mixed


def alike(cells: pl.DataFrame, heap: int, n_heaps: int) -> pl.DataFrame:
    """How many rows have the same cells, of those rows that are in a heap: each as sixteen bytes that stand for them.

    So rows that are alike are found in parts that are never in memory together, some of them at a time.
    """
    marks = pl.DataFrame({"one": marks_of(cells), "other": marks_of(cells, 1)})
    return marks.filter(pl.col("one") % n_heaps == heap).group_by("one", "other").agg(pl.len().cast(pl.Int64))


def _mixed(numbers: Marks) -> Marks:
    mixed = numbers + STEP
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
