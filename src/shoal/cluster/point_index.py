"""A tree of boxes around points, where there are so many that it pays."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.cluster import box_tree
from shoal.cluster.box_tree import MOST_LINES, Scaled, empty_tree, scaled
from shoal.kernels.cluster.points import NAME
from shoal.kernels.index import numbers
from shoal.kernels.index import points as kernel
from shoal.kernels.index.boxes import BLOCK, PATIENCE, WORD, WORDS, BoxTree
from shoal.kernels.index.numbers import NumberIndex
from shoal.kernels.sharing import in_parts
from shoal.machine.threads import side_by_side
from shoal.table.encode import Floats, Ints
from shoal.table.numbering import renumbered

LEAF = 32
"""Most points of a leaf."""
LEAST_CENTRES = 2 * LEAF
"""Fewer centres are looked at one by one."""
FAR_BEYOND = 256.0
"""Where some points are so many times as far from the middle as others, short floats do not tell those apart."""
SEARCH = 1 << 12
"""About how many values a search reads."""


def indexed(axes: Any, columns: Floats, least: int | None = None) -> kernel.PointIndex | None:
    """A tree of boxes around points, if they are many: so many at least as are given."""
    if columns.shape[1] < (box_tree.LEAST if least is None else least) or len(columns) > MOST_LINES:
        return None
    return _tree(axes, columns, columns)


def indexed_twins(axes: Any, columns: Floats) -> kernel.PointIndex | NumberIndex | None:
    """A tree of boxes around points, if they are many, in which of identical ones the lowest stands for all."""
    n_rows = columns.shape[1]
    if n_rows < box_tree.LEAST or len(columns) > MOST_LINES:
        return None
    first, n_same, rows = identical(columns)
    index = _tree_of_numbers(axes, columns, first) or _tree(axes, columns, columns, first)
    positions, twins, following = np.repeat(-1 - first, n_same), np.empty(n_rows, np.int64), np.append(rows[1:], -1)
    ends = np.cumsum(n_same) - 1
    positions[ends + 1 - n_same], following[ends] = index.positions, -1
    twins[rows], positions[rows] = following, positions.copy()
    return index._replace(positions=positions, twins=twins, size=np.array([n_rows, n_rows]))


def _tree_of_numbers(axes: Any, columns: Floats, some: Ints) -> NumberIndex | None:
    """A tree of boxes around some points, if all columns are numbers, none missing and none far beyond all others."""
    if (axes["kind"] == NAME).any() or axes["holes"].any():
        return None
    middle, scales = columns.mean(axis=1), np.sqrt(axes["weight"])
    away = (columns - middle[:, np.newaxis]) * scales[:, np.newaxis]
    farthest = float(np.abs(away).max())
    if not 0.0 < farthest < FAR_BEYOND * float(np.sqrt(np.median((away * away).sum(axis=0)))):
        return None
    short = (away / farthest).astype(np.float32)[:, some]
    layout = _layout(np.ascontiguousarray(short))
    squares = ((short.astype(np.float64) ** 2).sum(axis=0) * numbers.WIDER).astype(np.float32)
    blocks = layout.tree.boxes.shape[0]
    fields = np.zeros((blocks, 2 * len(columns) + 1, BLOCK), np.float32)
    fields[:, 1::2], fields[:, -1] = numbers.EMPTY, numbers.EMPTY
    room = layout.tree.stack.shape
    tree = layout.tree._replace(
        boxes=fields, floats=fields, bound=np.empty(BLOCK, np.float32), bounds=np.empty(room, np.float32)
    )
    asked, opposite = np.empty((2, len(columns)), np.float32)
    index = NumberIndex(
        tree, np.ascontiguousarray(columns.T), axes["weight"].copy(), layout.filled(np.vstack([short, squares])),
        layout.rows(some), layout.positions, some[:0], np.array([len(some)]), middle,
        np.append(scales / farthest, 1.0 / farthest**2), asked, opposite, np.zeros(len(columns), np.float32),
        np.empty(LEAF, np.float32),
    )  # fmt: skip
    numbers.enclose_all(index)
    return index


@dataclass(frozen=True)
class _Layout:
    """Where each of many points stands in an empty tree: leaf by leaf, each with room for as many."""

    tree: BoxTree
    order: Ints
    """The points, one after the other."""
    places: Ints
    """Where each of them stands."""

    def filled(self, columns: Any) -> Any:
        """Values of the points, column by column, leaf by leaf."""
        found = np.empty((len(self.tree.live), len(columns), LEAF), columns.dtype)
        who, nobody = self._in_leaves(self.order), self._in_leaves(np.ones(len(self.order), np.bool_)) == 0

        def part(begin: int, end: int) -> None:
            for j, column in enumerate(columns):
                found[begin:end, j] = np.where(nobody[begin:end], 0, column.take(who[begin:end]))

        in_parts(part, 0, len(self.tree.live), columns.size)
        return found

    def rows(self, rows: Ints) -> Ints:
        """Rows of the points, leaf by leaf."""
        found: Ints = self._in_leaves(rows.take(self.order))
        return found

    @property
    def positions(self) -> Ints:
        """Where each point stands."""
        positions = np.empty(len(self.order), np.int64)
        positions[self.order] = self.places
        return positions

    def _in_leaves(self, values: Any) -> Any:
        """A value of each point, in their order, leaf by leaf; 0 where there is none."""
        found = np.zeros((len(self.tree.live), LEAF), values.dtype)
        found.reshape(-1)[self.places] = values
        return found


def _layout(columns: Scaled, n_lines: int = 0, n_words: int = 0) -> _Layout:
    """Put points into a tree of boxes, those near each other side by side."""
    order, tree = box_tree.order_of(columns, LEAF), empty_tree(columns.shape[1], n_lines, n_words, LEAF)
    return _Layout(tree, order, np.flatnonzero(np.arange(LEAF) < tree.live[:, np.newaxis]))


def identical(columns: Floats) -> tuple[Ints, Ints, Ints]:
    """The first of each set of identical points, how many they are, and all rows, set after set, in their order."""
    frame = pl.DataFrame({str(j): column for j, column in enumerate(columns)}).with_row_index("row")
    members = frame.group_by(frame.columns[1:], maintain_order=True).agg("row")["row"]
    first, n_same, rows = members.list.first(), members.list.len(), members.explode()
    return tuple(found.to_numpy().astype(np.int64) for found in (first, n_same, rows))  # type: ignore[return-value]


def indexed_centres(axes: Any, columns: Floats, centres: Floats) -> kernel.PointIndex | None:
    """A tree of boxes around the centres of many points, which may move."""
    if columns.shape[1] < box_tree.LEAST or len(centres) < LEAST_CENTRES or len(columns) > MOST_LINES:
        return None
    return _tree(axes, np.ascontiguousarray(centres.T), columns)


def _tree(axes: Any, columns: Floats, all_columns: Floats, some: Ints | None = None) -> kernel.PointIndex:
    """A tree of boxes around points, or some of them, that have, or may get, the categories of all."""
    if some is None:
        some = np.arange(columns.shape[1])
    else:
        columns = columns.take(some, axis=1)
    names = axes["kind"] == NAME
    spread = np.stack(list(side_by_side(lambda one: _spread(*one), zip(axes, columns, strict=True), columns.size)))
    layout = _layout(spread, int((~names).sum()), int(names.sum()))
    fields = np.where(names, WORDS + np.cumsum(names) - 1, WORDS + names.sum() + 2 * (np.cumsum(~names) - 1))
    index = kernel.PointIndex(
        layout.tree, axes, layout.filled(columns), layout.rows(some), layout.positions, some[:0], fields,
        _places(axes, all_columns), np.array([len(some)]), np.empty(LEAF),
    )  # fmt: skip
    kernel.enclose_all(index)
    return index


def order_of(index: kernel.PointIndex) -> Ints:
    """Rows of the free points, leaf by leaf."""
    return index.rows[np.arange(LEAF) < index.tree.live[:, np.newaxis]]  # type: ignore[no-any-return]


def with_own_room(index: kernel.PointIndex) -> kernel.PointIndex:
    """The same tree, for one more thread: what a search writes has room of its own."""
    tree = index.tree
    shape = tree.shape.copy()
    shape["searches"] = shape["work"] = shape["scans"] = 0
    room = tree._replace(
        bound=np.empty_like(tree.bound), stack=np.empty_like(tree.stack), bounds=np.empty_like(tree.bounds), shape=shape
    )
    return index._replace(tree=room, distances=np.empty_like(index.distances))


def note_work(index: kernel.PointIndex, parts: Iterable[kernel.PointIndex | None]) -> None:
    """Note what the searches of other threads took; the tree is not used any more once scans are cheaper."""
    shape = index.tree.shape[0]
    for part in parts:
        for name in ("searches", "work", "scans"):
            shape[name] += 0 if part is None else part.tree.shape[0][name]
    pays(index)


def pays(index: kernel.PointIndex) -> bool:
    """Whether searches are cheaper than scans; asked only now and then, and not any more once they were not."""
    shape = index.tree.shape[0]
    if shape["searches"] >= PATIENCE:
        shape["off"] |= shape["work"] > shape["scans"]
        shape["searches"] = shape["work"] = shape["scans"] = 0
    return not bool(shape["off"])


def _spread(axis: Any, column: Floats) -> Scaled:
    """A column for cutting rows in halves: as wide as it counts in a distance."""
    if axis["kind"] == NAME:
        ranks = renumbered(column.astype(np.int64))
        return (ranks / max(int(ranks.max()), 1)).astype(np.float32)
    return scaled(column, 1.0 / math.sqrt(axis["weight"])) if axis["weight"] else np.zeros(len(column), np.float32)


def _places(axes: Any, columns: Floats) -> Ints:
    """A place among the bits of a box for each category that occurs; -1 - place where several share one."""
    places = np.full(max(int(axes["end"][-1]), 1), -1, dtype=np.int64)
    named = [(axis, column) for axis, column in zip(axes, columns, strict=True) if axis["kind"] == NAME]
    found = side_by_side(lambda one: np.flatnonzero(np.bincount(one[1].astype(np.int64))), named, columns.size)
    for (axis, _), codes in zip(named, found, strict=True):
        rank, n = np.arange(len(codes)), len(codes)
        places[axis["first"] + codes] = rank if n <= WORD else -1 - rank * WORD // n
    return places
