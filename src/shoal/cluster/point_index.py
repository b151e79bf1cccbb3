"""A tree of boxes around points, where there are so many that it pays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shoal.cluster import box_tree
from shoal.cluster.box_tree import MOST_LINES, Scaled, empty_tree, order_of, scaled
from shoal.kernels.cluster.points import NAME
from shoal.kernels.index import points as kernel
from shoal.kernels.index.boxes import WORD, WORDS
from shoal.table.encode import Floats, Ints

LEAF = 32
"""Most points of a leaf."""


def indexed(axes: Any, columns: Floats, least: int | None = None) -> kernel.PointIndex | None:
    """A tree of boxes around points, if they are many: so many at least as are given."""
    n_columns, n_rows = columns.shape
    if n_rows < (box_tree.LEAST if least is None else least) or n_columns > MOST_LINES:
        return None
    names = axes["kind"] == NAME
    order = order_of(np.stack([_spread(axis, column) for axis, column in zip(axes, columns, strict=True)]), LEAF)
    fields = np.where(names, WORDS + np.cumsum(names) - 1, WORDS + names.sum() + 2 * (np.cumsum(~names) - 1))
    tree = empty_tree(n_rows, int((~names).sum()), int(names.sum()), LEAF)
    leaves = np.repeat(np.arange(len(tree.live)), tree.live)
    slots = np.arange(n_rows) - np.repeat(np.cumsum(tree.live) - tree.live, tree.live)
    points, rows = np.zeros((len(tree.live), n_columns, LEAF)), np.zeros((len(tree.live), LEAF), dtype=np.int64)
    points[leaves, :, slots], rows[leaves, slots] = columns[:, order].T, order
    positions = np.empty(n_rows, dtype=np.int64)
    positions[order] = leaves * LEAF + slots
    index = kernel.PointIndex(
        tree, axes, points, rows, positions, fields, _places(axes, columns), np.array([n_rows]), np.empty(LEAF)
    )
    kernel.enclose_all(index)
    return index


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
