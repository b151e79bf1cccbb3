"""Clusters that may be only so diverse: the free rows, what a cluster has, and what it would have with a row more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

TUPLE = np.dtype([("next_row", np.int64), ("last_row", np.int64), ("id", np.int64)], align=True)
"""A distinct row: the place in `rows` of its first free row, one past that of its last; its number."""
COLUMN = np.dtype([("span", np.float64), ("weight", np.float64), ("quasi", np.int64)], align=True)
"""A column of numbers: its width over the whole table, what it counts, whether it is a quasi-identifier (1 or 0)."""
CATEGORIES = np.dtype(
    [("first", np.int64), ("last", np.int64), ("weight", np.float64), ("quasi", np.int64)], align=True
)
"""A column of categories: where its values begin, where the missing one is, what it counts, whether it is a
quasi-identifier (1 or 0)."""
EXTENT = np.dtype([("low", np.float64), ("high", np.float64), ("holes", np.int64)], align=True)
"""The numbers of a cluster in one column, NaN while only missing ones are in; whether one is missing (1 or 0)."""
CATEGORY = np.dtype([("seen", np.int64), ("cost", np.float64)], align=True)
"""Whether a cluster has a value (1 or 0); the weighted diversity of the column with that value in."""
TERMS = np.dtype([("w", np.float64), ("delta", np.float64), ("most", np.int64), ("n_sensitive", np.int64)], align=True)
"""Usefulness against protection; most diversity of the quasi-identifiers; most members; number of sensitive columns."""


class Pool(NamedTuple):
    """Distinct rows: those with a free row in positions 0 .. size[0] - 1, the others behind them.

    Positions 0 .. size[1] - 1 are the near ones: those that fit beside the row the cluster started at. A cluster only
    gets more diverse, so no other can join it. Quasi-identifiers come first, sensitive values after them.
    """

    lines: Any  # float64[lines, tuples]  INOUT, NaN = missing
    codes: Any  # uint32[trees, tuples]   INOUT, values numbered from 0, the last number = missing
    tuples: Any  # TUPLE[tuples]          INOUT  by position
    place: Any  # int64[tuples]           INOUT  the position of each tuple
    rows: Any  # int64[n]                 INOUT  rows by tuple, the free ones of each in row order
    tuple_of: Any  # int64[n]             IN     the tuple of each row
    size: Any  # int64[2]                 INOUT  how many tuples have a free row; how many of them are near


class Cluster(NamedTuple):
    """The values of one cluster, and its members in the order they joined."""

    extents: Any  # EXTENT[lines]   INOUT
    values: Any  # CATEGORY[values] INOUT  tree after tree, missing ones last
    n_seen: Any  # int64[trees]     INOUT  how many present values are in
    members: Any  # int64[n]        OUT
    count: Any  # int64[1]          INOUT  how many members there are


class Terms(NamedTuple):
    """How diversity is counted and what it may be."""

    lines: Any  # COLUMN[lines]      IN
    trees: Any  # CATEGORIES[trees]  IN
    bounds: Any  # TERMS[1]          IN


@jit
def add_line(line: Any, extent: Any, column: Any, out: Any) -> None:
    """Weighted diversity of a column of numbers with each value in; missing beside present counts as the whole.

    IN  line float64[block];  INOUT  out float64[block]
    """
    low, high, span, weight = extent.low, extent.high, column.span, column.weight
    if extent.holes and not np.isnan(low):
        for i in range(len(out)):
            out[i] += weight
    elif extent.holes:
        for i in range(len(out)):
            out[i] += 0.0 if np.isnan(line[i]) else weight
    else:
        for i in range(len(out)):
            x = line[i]
            wide = (x if x > high else high) - (x if x < low else low)
            share = wide / span if span > 0.0 else 0.0
            out[i] += weight if np.isnan(x) else weight * share


@jit
def fill(pool: Pool, cluster: Cluster, terms: Terms, first: int, quasi: Any, score: Any) -> None:
    """Diversity of the quasi-identifiers with each tuple of a block in the cluster, and the score of the tuple.

    OUT  quasi, score  float64[block]
    """
    n, bounds = len(quasi), terms.bounds[0]
    quasi[:] = 0.0
    score[:] = 0.0  # holds the diversity of the sensitive columns until the end
    for j in range(len(terms.lines)):
        out = quasi if terms.lines[j].quasi else score
        add_line(pool.lines[j, first : first + n], cluster.extents[j], terms.lines[j], out)
    for t in range(len(terms.trees)):
        out = quasi if terms.trees[t].quasi else score
        codes, begin = pool.codes[t], terms.trees[t].first
        for i in range(n):
            out[i] += cluster.values[begin + codes[first + i]].cost
    n_sensitive = bounds.n_sensitive if bounds.n_sensitive > 1 else 1
    for i in range(n):
        score[i] = bounds.w * quasi[i] + (1.0 - bounds.w) * (1.0 - score[i] / n_sensitive)


@jit
def swap(pool: Pool, one: int, other: int) -> None:
    """Let two tuples change places."""
    for j in range(len(pool.lines)):
        pool.lines[j, one], pool.lines[j, other] = pool.lines[j, other], pool.lines[j, one]
    for t in range(len(pool.codes)):
        pool.codes[t, one], pool.codes[t, other] = pool.codes[t, other], pool.codes[t, one]
    left, right = pool.tuples[one], pool.tuples[other]
    left.next_row, right.next_row = right.next_row, left.next_row
    left.last_row, right.last_row = right.last_row, left.last_row
    left.id, right.id = right.id, left.id
    pool.place[left.id], pool.place[right.id] = one, other


@jit
def take_in(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> bool:
    """Take the first free row of a tuple into the cluster; say whether the cluster's values changed."""
    position = pool.place[pool.tuple_of[row]]
    changed = False
    for j in range(len(pool.lines)):
        x, extent = pool.lines[j, position], cluster.extents[j]
        if np.isnan(x):
            changed |= extent.holes == 0
            extent.holes = 1
        elif not x >= extent.low or not x <= extent.high:  # also where nothing is in yet
            extent.low = extent.low if x >= extent.low else x
            extent.high = extent.high if x <= extent.high else x
            changed = True
    for t in range(len(pool.codes)):
        code: Any = np.int64(pool.codes[t, position])
        if not cluster.values[terms.trees[t].first + code].seen:
            changed = True
            _see(cluster, terms, t, code)
    cluster.members[cluster.count[0]] = row
    cluster.count[0] += 1
    pool.tuples[position].next_row += 1
    return changed


@jit
def _see(cluster: Cluster, terms: Terms, t: int, code: int) -> None:
    """Note a new value of a tree's column, and what the column then costs with each value in."""
    begin, missing, weight = terms.trees[t].first, terms.trees[t].last, terms.trees[t].weight
    cluster.values[begin + code].seen = 1
    cluster.n_seen[t] += begin + code != missing
    n_seen, gone = cluster.n_seen[t], cluster.values[missing].seen
    for value in range(begin, missing):
        n = n_seen + 1 - cluster.values[value].seen
        share = 1.0 if gone else (n - 1) / (missing - begin - 1) if n > 1 else 0.0
        cluster.values[value].cost = weight * share
    cluster.values[missing].cost = weight if n_seen > 0 else 0.0


@jit
def empty_for(pool: Pool, cluster: Cluster, row: int) -> None:
    """Let the cluster have nothing, and a free row, whichever of its tuple it is, be the first that leaves it."""
    for j in range(len(cluster.extents)):
        extent = cluster.extents[j]
        extent.low, extent.high, extent.holes = np.nan, np.nan, 0
    for value in range(len(cluster.values)):
        cluster.values[value].seen = 0
    cluster.n_seen[:] = 0
    cluster.count[0] = 0
    first = pool.tuples[pool.place[pool.tuple_of[row]]].next_row
    where = first
    while pool.rows[where] != row:
        where += 1
    for step in range(where, first, -1):
        pool.rows[step] = pool.rows[step - 1]
    pool.rows[first] = row
