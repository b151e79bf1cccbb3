"""A release as an attacker reads it: parts whose rows belong together by their bucket, and the cells of every part.

A table whose rows carry their own cells is one part with one bucket. Buckets have two parts, slices as many as there
are slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.attack.index import Floats, Ints
from shoal.check.slices import SlicesRead
from shoal.check.value_ranges import distinct_cells
from shoal.errors import GuaranteeError, Problems
from shoal.release.manifest import Layout, Manifest, QuasiColumn
from shoal.table.numbering import combined

MOST_COMBINATIONS = 2**62
"""Up to how many combinations of cells have numbers of their own."""


class Cells(NamedTuple):
    """The distinct cells of a column, and which of them each row shows."""

    shown: list[tuple[object, ...]]
    codes: Ints


class Units(NamedTuple):
    """Rows of a part that show the same cells in the same bucket: an attacker cannot tell them apart."""

    label: Ints
    """Unit of each row."""
    codes: Ints
    """Number of the cell that each combination shows, one column per attribute, one line per combination."""
    combination: Ints
    """Combination of each unit; units are in the order of their combinations."""
    bucket: Ints
    """Bucket of each unit."""
    rows: Floats
    """How many rows a unit stands for."""


@dataclass(frozen=True, repr=False, eq=False)
class Part:
    """Rows whose cells stand side by side."""

    frame: pl.DataFrame
    bucket: Ints | None
    """Bucket of each row, numbered from 0; None where there is one bucket."""
    times: Floats | None
    """How many rows each row stands for; None for one each."""
    columns: Mapping[str, QuasiColumn]
    """How the cells of every attribute are to be read, by its name."""

    @cached_property
    def _cells(self) -> dict[str, Cells]:
        return {}

    @cached_property
    def _units(self) -> dict[tuple[str, ...], Units]:
        return {}

    def cells(self, name: str) -> Cells:
        """The distinct cells of an attribute; looked up once, whoever asks."""
        if name not in self._cells:
            self._cells[name] = Cells(*distinct_cells(self.frame.select(self.columns[name].columns)))
        return self._cells[name]

    def units(self, names: Sequence[str]) -> Units:
        """The rows in units by some attributes, of which there may be none."""
        key = tuple(names)
        if key not in self._units:
            self._units[key] = self._in_units(key)
        return self._units[key]

    def _in_units(self, names: tuple[str, ...]) -> Units:
        n_rows = self.frame.height
        columns = [self.cells(name).codes for name in names]
        number = numbered_rows([*columns, *([] if self.bucket is None else [self.bucket])], n_rows)
        _, heads, label = np.unique(number, return_index=True, return_inverse=True)
        together = numbered_rows([column[heads] for column in columns], len(heads))
        _, firsts, combination = np.unique(together, return_index=True, return_inverse=True)
        codes = np.stack([column[heads[firsts]] for column in columns], axis=1) if columns else np.zeros((1, 0), int)
        rows = np.bincount(label, weights=self.times, minlength=len(heads)).astype(np.float64)
        bucket = np.zeros(len(heads), dtype=np.int64) if self.bucket is None else self.bucket[heads]
        return Units(label.astype(np.int64), codes, combination.astype(np.int64), bucket, rows)


def numbered_rows(columns: Sequence[Ints], n_rows: int) -> Ints:
    """A number for each row, the same where the columns agree, in the order of the columns."""
    if not columns:
        return np.zeros(n_rows, dtype=np.int64)
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if np.prod(np.array(sizes, dtype=np.float64)) >= MOST_COMBINATIONS:
        return combined(columns)
    number = np.zeros(n_rows, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        number = number * size + column
    return number


@dataclass(frozen=True, repr=False, eq=False)
class Published:
    """The published tables, and how they are to be read."""

    manifest: Manifest
    parts: tuple[Part, ...]
    sizes: tuple[Floats, ...]
    """Rows of every bucket, part by part."""

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame], manifest: Manifest) -> Published:
        """Read the tables of a release of any shape."""
        layout = manifest.layout
        if layout.slices:
            parts = _of_slices(tables, layout)
        else:
            found = layout.laid_out.parts(tables, layout)
            one = len(found) == 1
            parts = [part_of(frame, layout, None if one else bucket) for frame, bucket in found]
        return cls(manifest, tuple(parts), tuple(_bucket_sizes(part) for part in parts))

    @property
    def layout(self) -> Layout:
        """How the tables are laid out."""
        return self.manifest.layout

    @property
    def covers(self) -> bool:
        """Whether cells say which values their rows may have had; averages and centres do not."""
        return self.layout.laid_out.covers_values

    @property
    def names(self) -> list[str]:
        """All attributes that are shown."""
        return list(dict.fromkeys(name for part in self.parts for name in part.columns))

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return [column.name for column in self.layout.quasi]

    def column(self, name: str) -> QuasiColumn:
        """How an attribute is shown."""
        return next(part.columns[name] for part in self.parts if name in part.columns)

    def home(self, name: str) -> int:
        """The part that shows an attribute."""
        return next(place for place, part in enumerate(self.parts) if name in part.columns)

    def most_of(self, names: Sequence[str]) -> int:
        """The part that shows most of some attributes; of several the one with a sensitive column, then the first."""
        sensitive = set(self.layout.sensitive)

        def worth(place: int) -> tuple[int, bool, int]:
            there = self.parts[place].columns
            return sum(name in there for name in names), not sensitive.isdisjoint(there), -place

        return max(range(len(self.parts)), key=worth)


def _of_slices(tables: Mapping[str, pl.DataFrame], layout: Layout) -> list[Part]:
    """Slices; those that share an attribute put together, as only cells that agree on it can belong together."""
    problems = Problems()
    read = SlicesRead.of(tables, layout, problems)
    problems.raise_if_any(GuaranteeError)
    read = read.joined()
    return [
        part_of(frame, layout, pl.Series(bucket), times)
        for frame, bucket, times in zip(read.frames, read.buckets, read.times, strict=True)
    ]


def part_of(frame: pl.DataFrame, layout: Layout, bucket: pl.Series | None = None, times: Floats | None = None) -> Part:
    """One part; buckets are named by whole numbers, which all parts share."""
    columns = {}
    for column in layout.quasi:
        names = (column.name,) if layout.slices else column.columns
        if set(names) <= set(frame.columns):
            columns[column.name] = column.model_copy(update={"columns": names})
    for passed in layout.passed:
        if passed.name in frame.columns:
            columns[passed.name] = _as_it_is(passed.name, passed.kind, frame[passed.name])
    numbers = None if bucket is None else bucket.cast(pl.String).cast(pl.Int64).to_numpy()
    return Part(frame, numbers, times, columns)


def _as_it_is(name: str, kind: str | None, series: pl.Series) -> QuasiColumn:
    """How a column is read that shows the values of the input as they are; infinities are values by name."""
    infinite = series.dtype.is_float() and bool(series.is_infinite().any())
    by_content = "numeric" if series.dtype.is_numeric() and not infinite else "nominal"
    return QuasiColumn(name=name, kind=kind or by_content, form="raw", columns=(name,), has_missing=True)  # type: ignore[arg-type]


def _bucket_sizes(part: Part) -> Floats:
    if part.bucket is None:
        return np.array([part.frame.height if part.times is None else part.times.sum()], dtype=np.float64)
    return np.bincount(part.bucket, weights=part.times).astype(np.float64)


__all__ = ["Cells", "Part", "Published", "Units", "part_of"]
