"""A tree of boxes around points, where there are so many that it pays."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from shoal.cluster import box_tree
from shoal.cluster.box_tree import MOST_LINES, Scaled, empty_tree, scaled
from shoal.kernels.cluster.points import NAME, fill
from shoal.kernels.index import points as kernel
from shoal.kernels.index.boxes import PATIENCE, WORD, WORDS
from shoal.table.encode import Floats, Ints

LEAF = 32
"""Most points of a leaf."""
LEAST_CENTRES = 2 * LEAF
"""Fewer centres are looked at one by one."""
SEARCH = 1 << 12
"""About how many values a search reads."""


def indexed(axes: Any, columns: Floats, least: int | None = None) -> kernel.PointIndex | None:
    """A tree of boxes around points, if they are many: so many at least as are given."""
    if columns.shape[1] < (box_tree.LEAST if least is None else least) or len(columns) > MOST_LINES:
        return None
    return _tree(axes, columns, columns)


def indexed_twins(axes: Any, columns: Floats) -> kernel.PointIndex | None:
    """A tree of boxes around points, if they are many, in which of identical ones the lowest stands for all."""
    n_rows = columns.shape[1]
    if n_rows < box_tree.LEAST or len(columns) > MOST_LINES:
        return None
    first, n_same, rows = identical(columns)
    axes, columns, middle = _with_distances(axes, columns)
    index = _tree(axes, columns, columns, first)
    positions, twins, following = np.repeat(-1 - first, n_same), np.empty(n_rows, np.int64), np.append(rows[1:], -1)
    ends = np.cumsum(n_same) - 1
    positions[ends + 1 - n_same], following[ends] = index.positions, -1
    twins[rows], positions[rows] = following, positions.copy()
    return index._replace(positions=positions, twins=twins, middle=middle, size=np.array([n_rows]))


def _with_distances(axes: Any, columns: Floats) -> tuple[Any, Floats, Floats]:
    """One more column that counts nothing: squared distances from the middle of all; and the middle.

    Only where all columns are numbers, and none is missing.
    """
    if (axes["kind"] == NAME).any() or axes["holes"].any() or not 1 < len(columns) < MOST_LINES:
        return axes, columns, np.empty(0)
    middle, away = columns.mean(axis=1), np.empty(columns.shape[1])
    fill(axes, columns, middle, 0, away)
    axes = axes[np.append(np.arange(len(axes)), -1)]
    axes["weight"][-1], axes["first"][-1] = 0.0, axes["end"][-1]
    return axes, np.vstack([columns, away]), middle


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
    columns = columns if some is None else columns[:, some]
    n_columns, n_rows = columns.shape
    names = axes["kind"] == NAME
    order = box_tree.order_of(
        np.stack([_spread(axis, column) for axis, column in zip(axes, columns, strict=True)]), LEAF
    )
    fields = np.where(names, WORDS + np.cumsum(names) - 1, WORDS + names.sum() + 2 * (np.cumsum(~names) - 1))
    tree = empty_tree(n_rows, int((~names).sum()), int(names.sum()), LEAF)
    leaves = np.repeat(np.arange(len(tree.live)), tree.live)
    slots = np.arange(n_rows) - np.repeat(np.cumsum(tree.live) - tree.live, tree.live)
    points, rows = np.zeros((len(tree.live), n_columns, LEAF)), np.zeros((len(tree.live), LEAF), dtype=np.int64)
    points[leaves, :, slots], rows[leaves, slots] = columns[:, order].T, order if some is None else some[order]
    positions = np.empty(n_rows, dtype=np.int64)
    positions[order] = leaves * LEAF + slots
    index = kernel.PointIndex(
        tree, axes, points, rows, positions, np.empty(0, dtype=np.int64), fields, _places(axes, all_columns),
        np.array([n_rows]), np.empty(0), np.empty(LEAF),
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
        _, ranks = np.unique(column, return_inverse=True)
        return (ranks / max(int(ranks.max()), 1)).astype(np.float32)
    return scaled(column, 1.0 / math.sqrt(axis["weight"])) if axis["weight"] else np.zeros(len(column), np.float32)


def _places(axes: Any, columns: Floats) -> Ints:
    """A place among the bits of a box for each category that occurs; -1 - place where several share one."""
    places = np.full(max(int(axes["end"][-1]), 1), -1, dtype=np.int64)
    for axis, column in zip(axes, columns, strict=True):
        if axis["kind"] == NAME:
            codes = np.unique(column).astype(np.int64)
            rank, n = np.arange(len(codes)), len(codes)
            places[axis["first"] + codes] = rank if n <= WORD else -1 - rank * WORD // n
    return places
