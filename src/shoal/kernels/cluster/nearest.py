"""Rows sent to the nearest centroid: all at once, or one after the other while centroids move and close."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.cluster.centroids import CentroidGroups, Ruler, join
from shoal.kernels.index.boxes import BoxTree
from shoal.kernels.index.centroids import Leaves, close, move, nearest
from shoal.kernels.jit import jit


class Rows(NamedTuple):
    """The rows of a table, of which many may be equal."""

    lines: Any  # float64[n, lines]  IN
    codes: Any  # int32[n, trees]    IN
    tuple_of: Any  # int64[n]        IN     equal rows have one number
    near: Any  # int64[tuples]       INOUT  the centroid that one of them went to last, or -1


@jit
def assign(ruler: Ruler, leaves: Leaves, tree: BoxTree | None, rows: Rows, order: Any, again: bool) -> None:
    """The nearest centroid of some rows, where none moves or closes; several threads may ask for theirs.

    IN     order int64[m];  again: whether it is searched also where one that is open is known
    """
    near, c = rows.near, -1
    for row in order:
        kind = rows.tuple_of[row]
        if again or near[kind] < 0 or leaves.room[near[kind]] == 0:
            hint = near[kind] if near[kind] >= 0 else c
            near[kind] = nearest(ruler, leaves, tree, rows.lines[row], rows.codes[row], hint)
        c = near[kind]


@jit
def place(
    ruler: Ruler, groups: CentroidGroups | None, leaves: Leaves, tree: BoxTree | None, rows: Rows, order: Any,
    moving: bool, labels: Any,
) -> int:  # fmt: skip
    """Send rows, one after the other, to the nearest open group; how many were sent before all were closed.

    IN     order int64[m];  moving: whether a centroid follows who comes in
    INOUT  groups: None where centroids never follow
    OUT    labels int64[n]
    """
    near, room, c, last = rows.near, leaves.room, -1, -1
    for i in range(len(order)):
        row = order[i]
        kind = rows.tuple_of[row]
        hint = near[kind] if near[kind] >= 0 else c
        # Where no centroid moves, the nearest one stays the nearest until it closes. So it does where rows are equal
        # that come one after the other: it alone moved, and towards them.
        known = kind == last if moving else near[kind] >= 0
        if not known or room[hint] == 0:
            hint = nearest(ruler, leaves, tree, rows.lines[row], rows.codes[row], hint)
            if hint < 0:
                return i
        c, last = hint, kind
        labels[row] = near[kind] = c
        if groups is not None and moving:
            join(ruler, groups, rows.lines, rows.codes, row, c)
            move(ruler, groups, leaves, tree, c)
        room[c] -= 1
        if room[c] == 0:
            close(ruler, leaves, tree, c)
    return len(order)
