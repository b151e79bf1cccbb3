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
def assign(
    ruler: Ruler, leaves: Leaves, tree: BoxTree | None, lines: Any, codes: Any, begin: int, end: int, near: Any
) -> None:  # fmt: skip
    """The nearest centroid of each row of a run, where none moves or closes.

    IN     lines float64[n, lines];  codes int32[n, trees]
    INOUT  near int64[n]: a centroid that may be near, or -1; then the nearest
    """
    c = -1
    for row in range(begin, end):
        c = near[row] = nearest(ruler, leaves, tree, lines[row], codes[row], near[row] if near[row] >= 0 else c)


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
