"""Which rows are near to a row: members of the groups whose averages are near, so that not all pairs are compared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import before, sort
from shoal.kernels.enforce.partition import Partition
from shoal.kernels.jit import jit

SQUARE, ABSOLUTE, UNEQUAL, TREE = 0, 1, 2, 3
MOST_LOOKED_AT = 64
"""Members of one group that are compared; a group of thousands would make near rows cost as much as all pairs."""
COLUMN = np.dtype(
    [("kind", np.int64), ("weight", np.float64), ("gap", np.float64), ("first", np.int64), ("n_nodes", np.int64)],
    align=True,
)
"""A column: its kind; the factor of a squared or absolute difference, or what unequal values count; the distance of
missing and present; where the nodes of its tree begin, and how many they are."""
NODE = np.dtype([("parent", np.int64), ("last", np.int64), ("share", np.float64)], align=True)
"""A node of a tree: its parent; one past the last node below it; what two values cost that meet in it."""


class Nearness(NamedTuple):
    """How far apart two values of a column are."""

    column: Any  # COLUMN[d]   IN
    nodes: Any  # NODE[nodes]  IN  tree after tree


class Around(NamedTuple):
    """Where near rows are looked for."""

    nearness: Nearness  #             IN
    columns: Any  # float64[d, n]         IN
    averages: Any  # float64[d, groups]   IN
    partition: Partition  #           IN


@jit
def fill_costs(nearness: Nearness, point: Any, costs: Any) -> None:
    """What the lowest node over each node and the point's own costs, for all trees.

    IN  point float64[d];  OUT  costs float64[nodes]
    """
    nodes = nearness.nodes
    for j in range(len(point)):
        column = nearness.column[j]
        if column.kind == TREE:
            begin, last = column.first, column.n_nodes - 1
            costs[begin : begin + column.n_nodes] = 1.0
            path = np.empty(column.n_nodes, dtype=np.int64)
            node, steps = np.int64(point[j]), 0
            while node < last:  # the last node is `top`, where missing and present meet
                path[steps] = node
                steps += 1
                node = nodes[begin + node].parent
            for i in range(steps - 1, -1, -1):  # from the root down: what is nearer overwrites
                node = path[i]
                costs[begin + node : begin + nodes[begin + node].last] = nodes[begin + node].share


@jit
def distances(nearness: Nearness, columns: Any, point: Any, costs: Any, out: Any) -> None:
    """Distances of points to one point.

    IN   columns float64[d, m];  point float64[d];  costs float64[nodes], of the point
    OUT  out float64[m]
    """
    out[:] = 0.0
    for j in range(len(point)):
        column, c, w, gap = columns[j], point[j], nearness.column[j].weight, nearness.column[j].gap
        kind, begin = nearness.column[j].kind, nearness.column[j].first
        if kind == UNEQUAL:
            for i in range(len(out)):
                out[i] += w if column[i] != c else 0.0
        elif kind == TREE:
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
def _nearest(out: Any, names: Any, wanted: int) -> Any:
    """Names of the nearest, as many as wanted, by insertion into a short list."""
    distance, name, size = np.empty(wanted), np.empty(wanted, dtype=np.int64), 0
    for i in range(len(names)):
        if size == wanted and not before(out[i], names[i], distance[size - 1], name[size - 1]):
            continue
        at = size if size < wanted else size - 1
        size = at + 1
        while at > 0 and before(out[i], names[i], distance[at - 1], name[at - 1]):
            distance[at], name[at] = distance[at - 1], name[at - 1]
            at -= 1
        distance[at], name[at] = out[i], names[i]
    return name[:size]


@jit
def _look_around(around: Around, row: int, near: Any) -> None:
    """The rows near to one row, in row order.

    OUT  near int64[m]
    """
    columns, partition, n_groups, wanted = around.columns, around.partition, around.averages.shape[1], len(near)
    point, costs, out = np.empty(len(columns)), np.empty(len(around.nearness.nodes)), np.empty(n_groups)
    for j in range(len(columns)):
        point[j] = columns[j, row]
    fill_costs(around.nearness, point, costs)
    distances(around.nearness, around.averages, point, costs, out)
    names = np.empty(n_groups, dtype=np.int64)
    for group in range(n_groups):
        names[group] = group
    found, n = np.empty(wanted * MOST_LOOKED_AT, dtype=np.int64), 0
    for group in _nearest(out, names, wanted if wanted < n_groups else n_groups):
        one = partition.groups[group]
        for at in range(one.begin, one.begin + (one.size if one.size < MOST_LOOKED_AT else MOST_LOOKED_AT)):
            if partition.members[at] != row:
                found[n] = partition.members[at]
                n += 1
    some = np.empty((len(columns), n))
    for j in range(len(columns)):
        for i in range(n):
            some[j, i] = columns[j, found[i]]
    out = np.empty(n)
    distances(around.nearness, some, point, costs, out)
    chosen = _nearest(out, found[:n], wanted)
    sort(chosen, chosen)
    for i in range(wanted):  # from the beginning again where the groups hold too few
        near[i] = chosen[i % len(chosen)]


@jit
def near_rows(around: Around, rows: Any, near: Any) -> None:
    """The rows near to each of some rows.

    IN   rows int64[some]
    OUT  near int64[n, m]
    """
    for row in rows:
        _look_around(around, row, near[row])
