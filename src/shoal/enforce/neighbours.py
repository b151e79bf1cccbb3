"""Which rows are near to each row, as far as a loss minds."""

from __future__ import annotations

import numpy as np

from shoal.cluster import box_tree
from shoal.cluster.averages import Members, averages_of
from shoal.cluster.box_tree import MOST_LINES
from shoal.cluster.point_index import indexed, with_own_room
from shoal.cluster.points import Space
from shoal.kernels.enforce import refine_index as kernel
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.enforce.refine_near import Around, Nearness, near_rows
from shoal.kernels.sharing import in_parts, pieces
from shoal.methods.groups import Labels
from shoal.table.encode import Encoded

NEAR = 10
"""How many near rows a row looks at, where rows are few."""
NEAREST = 6
"""And where they are many: those are the nearest then, to which ten add little but time."""
FILLING = 8
"""About how many values are read to fill in one of them."""
TWINS = 3
"""How many of these are identical to it, at most."""


def near_lists(space: Space, encoded: Encoded, rows: Labels, nearness: Nearness, partition: Partition) -> Labels:
    """Rows near to each of some rows; -1 for all others.

    Of few rows, the averages of all groups are looked at, and then the members of the nearest groups. Of many, a tree
    of boxes has each different row once: rows without number that are identical would hide all others.
    """
    if len(rows) >= box_tree.LEAST and len(space.columns) <= MOST_LINES:
        return _by_index(space, encoded, nearness, partition.label, NEAREST)
    averages = averages_of(space, Members.of_labels(partition.label))
    around = Around(nearness, space.columns, np.ascontiguousarray(averages.T), partition)
    near = np.full((len(partition.label), max(min(NEAR, len(rows) - 1), 0)), -1, dtype=np.int64)

    def look(begin: int, end: int) -> None:
        near_rows(around, rows[begin:end], near)

    for first, last in pieces(len(rows), around.averages.size):
        in_parts(look, first, last, (last - first) * around.averages.size)
    return near


def _by_index(space: Space, encoded: Encoded, nearness: Nearness, labels: Labels, n_near: int) -> Labels:
    """Rows of the tuples nearest to each row's, and one that is identical to it, if there is one."""
    distinct = encoded.collapse((labels < 0).astype(np.int64))
    counts, heads = np.diff(distinct.first), distinct.heads
    shown = np.flatnonzero(labels[heads] >= 0)
    tuples = np.full((len(heads), n_near), -1, dtype=np.int64)
    tuples[shown] = shown[_near_tuples(space.part(heads[shown]), nearness, n_near)]
    near = np.full((len(labels), n_near), -1, dtype=np.int64)

    def fill(begin: int, end: int) -> None:
        """Note the rows near to those of some tuples."""
        owner = np.repeat(np.arange(begin, end), counts[begin:end])
        rows, twins = distinct.rows[distinct.first[begin] : distinct.first[end]], np.minimum(counts - 1, TWINS)[owner]
        places = np.arange(distinct.first[begin], distinct.first[end]) - distinct.first[owner]
        for j in range(n_near):
            # Rows that are identical see each other in a ring, and different rows of another tuple.
            other = np.where(j < twins, owner, tuples[owner, np.maximum(j - twins, 0)])
            place = places + np.where(j < twins, j + 1, 0)
            near[rows, j] = distinct.rows[distinct.first[other] + place % counts[other]]

    in_parts(fill, 0, len(heads), near.size * FILLING)
    near[labels < 0] = -1
    return near


def _near_tuples(space: Space, nearness: Nearness, n_near: int) -> Labels:
    """Points near to each point, in a tree of boxes."""
    n_columns, n_points = space.columns.shape
    near = np.empty((n_points, n_near), dtype=np.int64)
    index = indexed(space.axes, space.columns, least=1)
    if index is None:
        raise AssertionError("too many columns for an index")

    def look(begin: int, end: int) -> None:
        costs, found = np.empty(len(nearness.nodes)), np.empty(n_near + 1, dtype=np.int64)
        around = kernel.Neighbourhood(
            with_own_room(index), nearness, np.empty(n_columns), costs, np.empty(n_near + 1), found
        )
        kernel.near_points(around, begin, end, near)

    n_leaves = len(index.tree.live)
    cells = kernel.MOST_LEAVES * index.columns[0].size * n_points // n_leaves  # of one leaf
    for first, last in pieces(n_leaves, cells):
        in_parts(look, first, last, (last - first) * cells)
    return near
