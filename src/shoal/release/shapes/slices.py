"""Slices read back: attributes that are published side by side, and the bucket of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problems, some
from shoal.registry.declarations import Protects
from shoal.release.shapes.base import GENERALISED, Part, Shape, Tables
from shoal.table.numbering import numbered

if TYPE_CHECKING:
    from shoal.release.manifest import Layout

Ints = npt.NDArray[np.int64]


class SliceTables(Shape):
    """Attributes side by side within slices; which cells of different slices belong together, a bucket leaves open."""

    name: ClassVar[str] = "slices"
    protects: ClassVar[Protects] = "links"
    forms: ClassVar[tuple[str, ...]] = ("raw", *GENERALISED)
    reading: ClassVar[str] = (
        "slices of a bucket can be put together in every way; a person fits a bucket as far as the person's "
        "quasi-identifiers of every slice stand in it"
    )

    added: ClassVar[Mapping[str, type[pl.DataType]]] = {"bucket": pl.Int64}

    def contents(self, layout: Layout) -> dict[str, list[str]]:
        """One wide table, or a table for every slice."""
        return {name: ["bucket", *columns] for name, columns in layout.slice_tables.items()}

    def class_columns(self, layout: Layout) -> list[str]:  # noqa: ARG002
        """The bucket."""
        return ["bucket"]

    def counted(self, layout: Layout) -> Sequence[str]:
        """Every table."""
        return tuple(layout.slice_tables)

    def rows(self, tables: Tables, layout: Layout, problems: Problems) -> pl.DataFrame:
        """One row per published person: the bucket, and values that somebody in it has, slice by slice."""
        frames, buckets, names = read_slices(tables, layout, problems)
        orders = [np.argsort(codes, kind="stable") for codes in buckets]
        cells: dict[str, pl.Series] = {}
        for frame, order in zip(frames, orders, strict=True):
            cells |= {series.name: series[order] for series in frame if series.name not in cells}
        return pl.DataFrame([names[orders[0]], *cells.values()])

    def parts(self, tables: Tables, layout: Layout) -> list[Part]:
        """The slices."""
        frames, buckets, _ = read_slices(tables, layout, Problems())
        return [(frame, pl.Series(bucket)) for frame, bucket in zip(frames, buckets, strict=True)]


def read_slices(tables: Tables, layout: Layout, problems: Problems) -> tuple[list[pl.DataFrame], list[Ints], pl.Series]:
    """The attributes of every slice, by the names of the input, the bucket of each row, from 0, and as it is published.

    Notes slices whose buckets are not the same, or that show other values of an attribute they share.
    """
    frames, series = [], []
    for place, one in enumerate(layout.slices, 1):
        table = tables[f"slice_{place}" if layout.files else "table"]
        named = [table[shown].alias(name) for name, shown in zip(one.attributes, one.columns, strict=True)]
        frames.append(pl.DataFrame(named))
        series.append(table["bucket"].cast(pl.String))
    numbers = [codes - 1 for codes in numbered(series)]
    if any(codes.min(initial=0) < 0 for codes in numbers):
        problems.add("slices", "a row has no bucket")
    sizes = [np.bincount(codes[codes >= 0]) for codes in numbers]
    if any(not np.array_equal(size, sizes[0]) for size in sizes):
        problems.add("slices", "do not all have the same buckets")
    else:
        _check_shared(frames, numbers, problems)
    return frames, numbers, tables["slice_1" if layout.files else "table"]["bucket"]


def _check_shared(frames: Sequence[pl.DataFrame], buckets: Sequence[Ints], problems: Problems) -> None:
    """Slices that show the same attributes show the same values in every bucket: they are those of the same rows."""
    wrong: set[str] = set()
    for one, other in combinations(range(len(frames)), 2):
        shared = [name for name in frames[one].columns if name in frames[other].columns]
        homes = (buckets[one], buckets[other])
        codes = {name: numbered([frames[one][name], frames[other][name]]) for name in shared}
        unlike = {name for name in shared if not _same([homes, codes[name]])}
        wrong |= unlike
        if not unlike and not _same([homes, *codes.values()]):
            problems.add("slices", f"two slices show different combinations of {some(shared)} in a bucket")
    for name in sorted(wrong):
        problems.add(f"column {name!r}", "has different values in two slices of the same bucket")


def _same(columns: Sequence[Sequence[Ints]]) -> bool:
    """Whether two slices show the same lines; of every column, the numbers of both."""
    left, right = (np.stack([column[place] for column in columns]) for place in range(2))
    return np.array_equal(left[:, np.lexsort(left)], right[:, np.lexsort(right)])
