"""Threshold greedy clustering: a pool of free rows that can be given back, and the growth of one cluster from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import sort
from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 1024
"""How many tuples are measured at once: their scores stay in the fastest cache of any processor."""


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
def _add_line(line: Any, extent: Any, column: Any, out: Any) -> None:
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
def _fill(pool: Pool, cluster: Cluster, terms: Terms, first: int, quasi: Any, score: Any) -> None:
    """Diversity of the quasi-identifiers with each tuple of a block in the cluster, and the score of the tuple.

    OUT  quasi, score  float64[block]
    """
    n, bounds = len(quasi), terms.bounds[0]
    quasi[:] = 0.0
    score[:] = 0.0  # holds the diversity of the sensitive columns until the end
    for j in range(len(terms.lines)):
        out = quasi if terms.lines[j].quasi else score
        _add_line(pool.lines[j, first : first + n], cluster.extents[j], terms.lines[j], out)
    for t in range(len(terms.trees)):
        out = quasi if terms.trees[t].quasi else score
        codes, begin = pool.codes[t], terms.trees[t].first
        for i in range(n):
            out[i] += cluster.values[begin + codes[first + i]].cost
    n_sensitive = bounds.n_sensitive if bounds.n_sensitive > 1 else 1
    for i in range(n):
        score[i] = bounds.w * quasi[i] + (1.0 - bounds.w) * (1.0 - score[i] / n_sensitive)


@jit
def _block_best(pool: Pool, cluster: Cluster, terms: Terms, n_tuples: int, block: int) -> Any:
    """Best of one block: score, lowest row, diversity of the quasi-identifiers; and the least such diversity."""
    first = block * BLOCK
    n = n_tuples - first if n_tuples - first < BLOCK else BLOCK
    quasi, score = np.empty(n), np.empty(n)
    _fill(pool, cluster, terms, first, quasi, score)
    best, row, diversity, least = np.inf, -1, 0.0, np.inf
    for i in range(n):
        least = quasi[i] if quasi[i] < least else least
        if score[i] <= best:
            head = pool.rows[pool.tuples[first + i].next_row]
            if score[i] < best or head < row:
                best, row, diversity = score[i], head, quasi[i]
    return best, row, diversity, least


@jit
def best_candidate(pool: Pool, cluster: Cluster, terms: Terms, n_tuples: int, shared: bool | None) -> Any:
    """Among the first tuples, the row with the lowest score: row, score, diversity; and the least diversity of any."""
    n_blocks = (n_tuples + BLOCK - 1) // BLOCK
    best, diversity, least = np.empty(n_blocks), np.empty(n_blocks), np.empty(n_blocks)
    row = np.empty(n_blocks, dtype=np.int64)
    if shared is None:
        for b in range(n_blocks):
            best[b], row[b], diversity[b], least[b] = _block_best(pool, cluster, terms, n_tuples, b)
    else:
        _best_of_all_blocks(pool, cluster, terms, n_tuples, best, row, diversity, least)
    top, least_of_all = 0, np.inf
    for b in range(n_blocks):
        least_of_all = least[b] if least[b] < least_of_all else least_of_all
        if best[b] < best[top] or (best[b] == best[top] and row[b] < row[top]):
            top = b
    return row[top], best[top], diversity[top], least_of_all


@jit_parallel
def _best_of_all_blocks(
    pool: Pool, cluster: Cluster, terms: Terms, n_tuples: int, best: Any, row: Any, diversity: Any, least: Any
) -> None:
    """Best of every block.

    OUT  best, diversity, least float64[blocks];  row int64[blocks]
    """
    for b in prange(len(best)):
        best[b], row[b], diversity[b], least[b] = _block_best(pool, cluster, terms, n_tuples, b)


@jit
def _floor(cluster: Cluster, terms: Terms) -> float:
    """A bound below the score of every row that is not near: too diverse, however unlike its sensitive values are."""
    protected, bounds = 0.0, terms.bounds[0]
    for j in range(len(terms.lines)):
        protected += 0.0 if terms.lines[j].quasi else 1.0
    for t in range(len(terms.trees)):
        if not terms.trees[t].quasi:
            highest = 0.0
            for value in range(terms.trees[t].first, terms.trees[t].last + 1):
                highest = cluster.values[value].cost if cluster.values[value].cost > highest else highest
            protected += highest
    n_sensitive = bounds.n_sensitive if bounds.n_sensitive > 1 else 1
    return bounds.w * bounds.delta + (1.0 - bounds.w) * (1.0 - protected / n_sensitive)


@jit
def _swap(pool: Pool, one: int, other: int) -> None:
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
def _join(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> bool:
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
    if pool.tuples[position].next_row == pool.tuples[position].last_row:
        if position < pool.size[1]:
            pool.size[1] -= 1
            _swap(pool, position, pool.size[1])
            position = pool.size[1]
        pool.size[0] -= 1
        _swap(pool, position, pool.size[0])
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
def _begin(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> None:
    """Start a cluster at a free row, whichever of its tuple it is; bring the tuples that fit beside it to the front."""
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
    pool.size[1] = 0
    _join(pool, cluster, terms, row)
    quasi, score = np.empty(BLOCK), np.empty(BLOCK)
    for begin in range(0, pool.size[0], BLOCK):
        n = pool.size[0] - begin if pool.size[0] - begin < BLOCK else BLOCK
        _fill(pool, cluster, terms, begin, quasi[:n], score[:n])
        for i in range(n):
            if quasi[i] <= terms.bounds[0].delta:
                _swap(pool, begin + i, pool.size[1])  # what comes here in exchange was looked at
                pool.size[1] += 1


@jit
def grow(pool: Pool, cluster: Cluster, terms: Terms, seed: int, n_steps: int, shared: bool | None) -> bool:
    """Let the cluster grow by a number of steps; say whether it is complete.

    A `seed` is the row at which a new cluster starts; -1, and the cluster grows on. Where `shared` is given, cores
    share the scans.
    """
    if seed >= 0:
        _begin(pool, cluster, terms, seed)
    bounds = terms.bounds[0]
    for _ in range(n_steps):
        if pool.size[1] == 0 or cluster.count[0] == bounds.most:
            return True
        n_tuples = pool.size[1]
        row, score, diversity, least = best_candidate(pool, cluster, terms, n_tuples, shared)
        if least > bounds.delta:
            return True
        if not score < _floor(cluster, terms):  # a row that cannot join may have the best score, which ends the growth
            n_tuples = pool.size[0]
            row, score, diversity, _ = best_candidate(pool, cluster, terms, n_tuples, shared)
        if diversity > bounds.delta:
            return True
        if not _join(pool, cluster, terms, row) and _join_equal(pool, cluster, terms, score, n_tuples):
            return True
    return False


@jit
def _join_equal(pool: Pool, cluster: Cluster, terms: Terms, score: float, n_tuples: int) -> bool:
    """Take all rows of the same score in row order, as long as the values of the cluster stay; say if it is complete.

    While they stay, so do all scores: what a scan for each would find is found by one.
    """
    # The row that just joined may have been the last of its tuple.
    n_tuples = n_tuples if n_tuples < pool.size[0] else pool.size[0]
    rows, diversities = _equal(pool, cluster, terms, score, n_tuples)
    sort(rows, diversities)
    for i in range(len(rows)):
        if cluster.count[0] == terms.bounds[0].most or diversities[i] > terms.bounds[0].delta:
            return True
        if _join(pool, cluster, terms, rows[i]):
            break
    return False


@jit
def _equal(pool: Pool, cluster: Cluster, terms: Terms, score: float, n_tuples: int) -> Any:
    """All free rows of one score among the first tuples, and the diversity with each of them."""
    positions, diversities = np.empty(n_tuples, dtype=np.int64), np.empty(n_tuples)
    n_found, n_rows = 0, 0
    quasi, scores = np.empty(BLOCK), np.empty(BLOCK)
    for first in range(0, n_tuples, BLOCK):
        n = n_tuples - first if n_tuples - first < BLOCK else BLOCK
        _fill(pool, cluster, terms, first, quasi[:n], scores[:n])
        for i in range(n):
            if scores[i] == score:
                positions[n_found], diversities[n_found] = first + i, quasi[i]
                n_found += 1
                n_rows += pool.tuples[first + i].last_row - pool.tuples[first + i].next_row
    rows, with_each = np.empty(n_rows, dtype=np.int64), np.empty(n_rows)
    filled = 0
    for u in range(n_found):
        one = pool.tuples[positions[u]]
        for where in range(one.next_row, one.last_row):
            rows[filled], with_each[filled] = pool.rows[where], diversities[u]
            filled += 1
    return rows, with_each


@jit
def give_back(pool: Pool, cluster: Cluster) -> None:
    """Make all members but the first free again; they were taken in row order within their tuples."""
    for i in range(1, cluster.count[0]):
        position = pool.place[pool.tuple_of[cluster.members[i]]]
        pool.tuples[position].next_row -= 1
        if position >= pool.size[0]:
            _swap(pool, position, pool.size[0])
            pool.size[0] += 1
