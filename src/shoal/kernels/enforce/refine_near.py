"""Which rows are near to a row: members of the groups whose averages are near, so that not all pairs are compared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import before, sort
from shoal.kernels.jit import jit, jit_parallel, prange

SQUARE, ABSOLUTE, UNEQUAL, TREE = 0, 1, 2, 3
MOST_LOOKED_AT = 64
"""Members of one group that are compared; a group of thousands would make near rows as dear as all pairs."""

PIECE = 32
"""Rows that a core takes at a time."""


class Nearness(NamedTuple):
    """How far apart two values of a column are."""

    kind: Any  # int64[d]         IN
    weight: Any  # float64[d]     IN  factor of a squared or absolute difference, or what unequal values count
    gap: Any  # float64[d]        IN  distance of missing and present
    first: Any  # int64[d]        IN  where the nodes of a tree begin in `parent`, `last` and `share`
    size: Any  # int64[d]         IN  how many they are
    parent: Any  # int32[nodes]   IN
    last: Any  # int64[nodes]     IN  one past the last node below each
    share: Any  # float64[nodes]  IN  what two values cost that meet in a node


@jit
def fill_costs(nearness: Nearness, point: Any, costs: Any) -> None:
    """What the lowest node over each node and the point's own costs, for all trees.

    IN  point float64[d];  OUT  costs float64[nodes]
    """
    for j in range(len(point)):
        if nearness.kind[j] == TREE:
            begin = nearness.first[j]
            costs[begin : begin + nearness.size[j]] = 1.0
            path = np.empty(nearness.size[j], dtype=np.int64)
            node, steps = np.int64(point[j]), 0
            while node < nearness.size[j] - 1:  # the last node is `top`, where missing and present meet
                path[steps] = node
                steps += 1
                node = nearness.parent[begin + node]
            for i in range(steps - 1, -1, -1):  # from the root down: what is nearer overwrites
                node = path[i]
                costs[begin + node : begin + nearness.last[begin + node]] = nearness.share[begin + node]


@jit
def distances(nearness: Nearness, columns: Any, point: Any, costs: Any, out: Any) -> None:
    """Distances of points to one point.

    IN   columns float64[d, m];  point float64[d];  costs float64[nodes], of the point
    OUT  out float64[m]
    """
    out[:] = 0.0
    for j in range(len(point)):
        column, c, w, gap, kind = columns[j], point[j], nearness.weight[j], nearness.gap[j], nearness.kind[j]
        if kind == UNEQUAL:
            for i in range(len(out)):
                out[i] += w if column[i] != c else 0.0
        elif kind == TREE:
            begin = nearness.first[j]
            for i in range(len(out)):
                out[i] += costs[begin + np.int64(column[i])]
        elif np.isnan(c):
            for i in range(len(out)):
                out[i] += 0.0 if np.isnan(column[i]) else gap
        else:
            for i in range(len(out)):
                t = column[i] - c
                d = t * t * w if kind == SQUARE else abs(t) * w
                out[i] += gap if np.isnan(t) else d


@jit
def _nearest(out: Any, names: Any, n: int, wanted: int) -> Any:
    """Names of the nearest of n, as many as wanted, by insertion into a short list."""
    distance, name, size = np.empty(wanted), np.empty(wanted, dtype=np.int64), 0
    for i in range(n):
        if size == wanted and not before(out[i], names[i], distance[size - 1], name[size - 1]):
            continue
        at = size if size < wanted else size - 1
        while at > 0 and before(out[i], names[i], distance[at - 1], name[at - 1]):
            distance[at], name[at] = distance[at - 1], name[at - 1]
            at -= 1
        distance[at], name[at] = out[i], names[i]
        size = min(size + 1, wanted)
    return name[:size]


@jit
def look_around(
    nearness: Nearness, columns: Any, averages: Any, members: Any, begin: Any, size: Any, row: int, near: Any
) -> None:
    """The rows near to one row, in row order.

    IN   columns float64[d, n];  averages float64[d, groups]
         members int64[slots];  begin, size int64[>= groups], see `Partition`
    OUT  near int64[m]
    """
    n_groups, wanted = averages.shape[1], len(near)
    point, costs = columns[:, row].copy(), np.empty(len(nearness.share))
    fill_costs(nearness, point, costs)
    out = np.empty(n_groups)
    distances(nearness, averages, point, costs, out)
    groups = _nearest(out, np.arange(n_groups), n_groups, min(wanted, n_groups))
    found, n = np.empty(wanted * MOST_LOOKED_AT, dtype=np.int64), 0
    for group in groups:
        for other in members[begin[group] : begin[group] + min(size[group], MOST_LOOKED_AT)]:
            if other != row:
                found[n] = other
                n += 1
    some = np.empty((len(columns), n))
    for i in range(n):
        some[:, i] = columns[:, found[i]]
    out = np.empty(n)
    distances(nearness, some, point, costs, out)
    chosen = _nearest(out, found, n, wanted)
    sort(chosen, chosen)
    for i in range(wanted):  # from the beginning again where the groups hold too few
        near[i] = chosen[i % len(chosen)]


@jit_parallel
def near_rows(
    nearness: Nearness, columns: Any, averages: Any, members: Any, begin: Any, size: Any, rows: Any, near: Any
) -> None:
    """The rows near to each of some rows; cores share them.

    IN   rows int64[some]
    OUT  near int64[n, m]
    """
    for piece in prange((len(rows) + PIECE - 1) // PIECE):
        for row in rows[piece * PIECE : (piece + 1) * PIECE]:
            look_around(nearness, columns, averages, members, begin, size, row, near[row])
