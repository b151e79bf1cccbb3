"""Quasi-identifiers as contiguous arrays, the only form a kernel sees.

Numbers and ranks are *lines*: floats with the span of the whole table, NaN for missing. They are kept unscaled, and
divided by their span only when a distance is formed: differences of whole numbers stay exact, so rows at equal
distance are found equal and the tie rule decides, not the rounding. Categories are *codes*: node numbers of their
tree, in the smallest unsigned type that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.kernels.cluster.trees import Forest
from shoal.machine.threads import side_by_side
from shoal.table.hierarchy.tree import Hierarchy, TreeArrays
from shoal.table.numbering import are_few
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Encoded:
    """The quasi-identifiers of a table as arrays, columns in the order of the table.

    `is_tree[j]` says whether column j is nominal, and `slot[j]` which row of `lines` or of `codes` holds it.
    """

    names: tuple[str, ...]
    is_tree: npt.NDArray[np.bool_]
    slot: Ints
    lines: Floats
    spans: Floats
    codes: npt.NDArray[np.unsignedinteger]
    trees: tuple[TreeArrays, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.lines.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.names)

    @cached_property
    def forest(self) -> Forest:
        """All trees in one set of arrays."""
        sizes = [len(tree.parent) for tree in self.trees]
        empty = np.zeros(0, dtype=np.int32)
        return Forest(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([tree.parent for tree in self.trees] or [empty]),
            np.concatenate([tree.depth for tree in self.trees] or [empty]),
            np.concatenate([tree.n_leaves for tree in self.trees] or [empty]),
        )

    def collapse(self, *keys: npt.NDArray[np.generic]) -> Collapsed:
        """Join rows that are identical, also in the further keys that are given, one value per row each."""
        columns = [*self.lines, *self.codes, *keys]
        counts, rows = (_few_alike if are_few(self.n_rows) else _alike)(columns)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        heads = rows[first[:-1]]
        return Collapsed(
            np.ascontiguousarray(self.lines[:, heads]), np.ascontiguousarray(self.codes[:, heads]), first, rows
        )


def _alike(columns: Sequence[npt.NDArray[np.generic]]) -> tuple[Ints, Ints]:
    """How many rows are alike, for each that is the first such; and all rows, those alike side by side."""
    named = {str(place): column for place, column in enumerate(columns)}
    members = pl.DataFrame(named).with_row_index("row").group_by(list(named), maintain_order=True).agg("row")["row"]
    return members.list.len().to_numpy().astype(np.int64), members.explode().to_numpy().astype(np.int64)


def _few_alike(columns: Sequence[npt.NDArray[np.generic]]) -> tuple[Ints, Ints]:
    """The same of few rows, sooner than a query is asked: there is one zero, and one way to be missing."""
    plain = (_bits(column.astype(np.float64)) if column.dtype.kind == "f" else column for column in columns)
    members: dict[tuple[object, ...], list[int]] = {}
    for row, cells in enumerate(zip(*(column.tolist() for column in plain), strict=True)):
        members.setdefault(cells, []).append(row)
    counts = np.array([len(rows) for rows in members.values()], dtype=np.int64)
    return counts, np.array([row for rows in members.values() for row in rows], dtype=np.int64)


def _bits(line: Floats) -> Ints:
    """Numbers as something that is equal where they are, or where both are missing."""
    return np.where(np.isnan(line), np.nan, line + 0.0).view(np.int64)


@dataclass(frozen=True, repr=False)
class Collapsed:
    """Distinct rows and who they are: the rows of tuple u are `rows[first[u]:first[u + 1]]`, in row order."""

    lines: Floats
    codes: npt.NDArray[np.unsignedinteger]
    first: Ints
    rows: Ints

    @property
    def heads(self) -> Ints:
        """The first row of each tuple."""
        return self.rows[self.first[:-1]]

    @property
    def n_tuples(self) -> int:
        """Number of distinct rows."""
        return len(self.first) - 1


def encode(table: Table, kinds: Mapping[str, Kind] | None = None) -> Encoded:
    """Turn the quasi-identifiers of a table, or the columns given with their kinds, into arrays."""
    kinds = table.quasi if kinds is None else kinds
    trees = {name: _tree_of(table, name) for name, kind in kinds.items() if isinstance(kind, Nominal)}
    straight = [name for name in kinds if name not in trees]
    lines = np.empty((len(straight), table.n_rows))
    codes = np.empty((len(trees), table.n_rows), dtype=np.uint32)
    room: dict[str, npt.NDArray[Any]] = dict(zip([*straight, *trees], [*lines, *codes], strict=True))
    slot = {name: place for names in (straight, trees) for place, name in enumerate(names)}
    numbers = {name: _numbers(kinds[name], trees.get(name)) for name in kinds if not isinstance(kinds[name], Numeric)}
    coded = table.coded(numbers)

    def fill(name: str) -> float:
        """Write a column; what differences in it are divided by, where there are some."""
        if name not in numbers:
            room[name][:] = table.frame[name].cast(pl.Float64).to_numpy()
            return table.span(name)
        number, missing = numbers[name]
        shown = [number[one] for one in coded[name].values.cast(pl.String).to_list()]
        known = np.array([*shown, missing], dtype=room[name].dtype)
        known.take(coded[name].codes, out=room[name], mode="clip")  # all are within; to raise, it would copy them first
        return float(len(number) - 1)  # from the first category of an order to the last

    spans = dict(zip(kinds, side_by_side(fill, kinds, table.n_rows * len(kinds)), strict=True))
    return Encoded(
        tuple(kinds),
        np.array([name in trees for name in kinds], dtype=bool),
        np.array([slot[name] for name in kinds], dtype=np.int64),
        lines,
        np.array([spans[name] for name in straight], dtype=np.float64),
        codes,
        tuple(tree.arrays for tree in trees.values()),
    )


def _tree_of(table: Table, name: str) -> Hierarchy:
    tree = table.hierarchy(name)
    assert tree is not None  # noqa: S101  a nominal column always has a tree
    return tree


def _numbers(kind: Kind, tree: Hierarchy | None) -> tuple[Mapping[str, int], float]:
    """The node of each text of a nominal column, or the rank of each of an ordinal one; and what is missing."""
    if tree is not None:
        return tree.node_of, tree.arrays.missing
    assert isinstance(kind, Ordinal)  # noqa: S101  numbers are what they are
    return kind.ranks, np.nan
