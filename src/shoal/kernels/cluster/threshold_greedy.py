"""Threshold greedy clustering: a pool of free rows that can be given back, and the growth of one cluster from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import sort
from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 1024
"""How many tuples are measured at once: their scores stay in the fastest cache of any processor."""


class Pool(NamedTuple):
    """Distinct rows: those with a free row in positions 0 .. size[0] - 1, the others behind them.

    Positions 0 .. size[1] - 1 are the near ones: those that fit beside the row the cluster started at. A cluster only
    gets more diverse, so no other can join it. Quasi-identifiers come first, sensitive values after them.
    """

    lines: Any  # float64[lines, tuples]       INOUT, NaN = missing
    codes: Any  # uint32[trees, tuples]        INOUT, values numbered from 0, the last number = missing
    next_row: Any  # int64[tuples]             INOUT  place in `rows` of the first free row, by position
    last_row: Any  # int64[tuples]             INOUT  one past the last, by position
    rows: Any  # int64[n]                      INOUT  rows by tuple, the free ones of each in row order
    size: Any  # int64[2]                      INOUT  how many tuples have a free row; how many of them are near
    ids: Any  # int64[tuples]                  INOUT  the tuple at each position
    place: Any  # int64[tuples]                INOUT  the position of each tuple
    tuple_of: Any  # int64[n]                  IN     the tuple of each row


class Cluster(NamedTuple):
    """The values of one cluster, and its members in the order they joined."""

    low: Any  # float64[lines]   INOUT, NaN while only missing values are in
    high: Any  # float64[lines]  INOUT
    holes: Any  # bool[lines]    INOUT  whether a missing value is in
    seen: Any  # bool[values]    INOUT  which values of each tree are in, missing ones last
    n_seen: Any  # int64[trees]  INOUT  how many present values are in
    costs: Any  # float64[values] INOUT weighted diversity of a tree's column with each value in
    members: Any  # int64[n]     OUT
    count: Any  # int64[1]       INOUT  how many members there are


class Terms(NamedTuple):
    """How diversity is counted and what it may be."""

    spans: Any  # float64[lines]        IN  width of the column over the whole table
    starts: Any  # int64[trees + 1]     IN  where the values of each tree begin
    line_weights: Any  # float64[lines] IN
    tree_weights: Any  # float64[trees] IN
    quasi_lines: Any  # int             IN  how many of the lines are quasi-identifiers
    quasi_trees: Any  # int             IN
    n_sensitive: Any  # int             IN  number of sensitive columns
    w: Any  # float                     IN  usefulness against protection
    delta: Any  # float                 IN  most diversity of the quasi-identifiers
    most: Any  # int                    IN  most members


@jit
def _add_line(line: Any, low: float, high: float, holes: bool, span: float, weight: float, out: Any) -> None:
    """Weighted diversity of a column of numbers with each value in; missing beside present counts as the whole.

    IN  line float64[block];  INOUT  out float64[block]
    """
    if holes and not np.isnan(low):
        for i in range(len(out)):
            out[i] += weight
    elif holes:
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
    n = len(quasi)
    quasi[:] = 0.0
    score[:] = 0.0  # holds the diversity of the sensitive columns until the end
    for j in range(pool.lines.shape[0]):
        out = quasi if j < terms.quasi_lines else score
        line = pool.lines[j, first : first + n]
        _add_line(line, cluster.low[j], cluster.high[j], cluster.holes[j], terms.spans[j], terms.line_weights[j], out)
    for t in range(pool.codes.shape[0]):
        out = quasi if t < terms.quasi_trees else score
        codes, begin = pool.codes[t], terms.starts[t]
        for i in range(n):
            out[i] += cluster.costs[begin + codes[first + i]]
    n_sensitive = terms.n_sensitive if terms.n_sensitive > 1 else 1
    for i in range(n):
        score[i] = terms.w * quasi[i] + (1.0 - terms.w) * (1.0 - score[i] / n_sensitive)


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
            head = pool.rows[pool.next_row[first + i]]
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
        _best_of_all_blocks(pool, cluster, terms, n_tuples, (best, row, diversity, least))
    top, least_of_all = 0, np.inf
    for b in range(n_blocks):
        least_of_all = least[b] if least[b] < least_of_all else least_of_all
        if best[b] < best[top] or (best[b] == best[top] and row[b] < row[top]):
            top = b
    return row[top], best[top], diversity[top], least_of_all


@jit_parallel
def _best_of_all_blocks(pool: Pool, cluster: Cluster, terms: Terms, n_tuples: int, found: Any) -> None:
    """Best of every block.

    OUT  found (float64[blocks], int64[blocks], float64[blocks], float64[blocks])
    """
    best, row, diversity, least = found
    for b in prange(len(best)):
        best[b], row[b], diversity[b], least[b] = _block_best(pool, cluster, terms, n_tuples, b)


@jit
def _floor(cluster: Cluster, terms: Terms) -> float:
    """A bound below the score of every row that is not near: too diverse, however unlike its sensitive values are."""
    protected = np.float64(len(terms.spans) - terms.quasi_lines)
    for t in range(terms.quasi_trees, len(terms.starts) - 1):
        highest = 0.0
        for value in range(terms.starts[t], terms.starts[t + 1]):
            highest = cluster.costs[value] if cluster.costs[value] > highest else highest
        protected += highest
    n_sensitive = terms.n_sensitive if terms.n_sensitive > 1 else 1
    return terms.w * terms.delta + (1.0 - terms.w) * (1.0 - protected / n_sensitive)


@jit
def _swap(pool: Pool, one: int, other: int) -> None:
    """Let two tuples change places."""
    for j in range(pool.lines.shape[0]):
        pool.lines[j, one], pool.lines[j, other] = pool.lines[j, other], pool.lines[j, one]
    for t in range(pool.codes.shape[0]):
        pool.codes[t, one], pool.codes[t, other] = pool.codes[t, other], pool.codes[t, one]
    pool.next_row[one], pool.next_row[other] = pool.next_row[other], pool.next_row[one]
    pool.last_row[one], pool.last_row[other] = pool.last_row[other], pool.last_row[one]
    pool.ids[one], pool.ids[other] = pool.ids[other], pool.ids[one]
    pool.place[pool.ids[one]], pool.place[pool.ids[other]] = one, other


@jit
def _join(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> bool:
    """Take the first free row of a tuple into the cluster; say whether the cluster's values changed."""
    position = pool.place[pool.tuple_of[row]]
    changed = False
    for j in range(pool.lines.shape[0]):
        x = pool.lines[j, position]
        if np.isnan(x):
            changed |= not cluster.holes[j]
            cluster.holes[j] = True
        elif np.isnan(cluster.low[j]):
            cluster.low[j] = cluster.high[j] = x
            changed = True
        elif x < cluster.low[j]:
            cluster.low[j] = x
            changed = True
        elif x > cluster.high[j]:
            cluster.high[j] = x
            changed = True
    for t in range(pool.codes.shape[0]):
        code = pool.codes[t, position]
        if not cluster.seen[terms.starts[t] + code]:
            changed = True
            _see(cluster, terms, t, code)
    cluster.members[cluster.count[0]] = row
    cluster.count[0] += 1
    pool.next_row[position] += 1
    if pool.next_row[position] == pool.last_row[position]:
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
    begin, missing = terms.starts[t], terms.starts[t + 1] - 1
    cluster.seen[begin + code] = True
    cluster.n_seen[t] += begin + code != missing
    n_seen, gone = cluster.n_seen[t], cluster.seen[missing]
    domain = missing - begin
    for value in range(begin, missing):
        n = n_seen + (not cluster.seen[value])
        share = 1.0 if gone else (n - 1) / (domain - 1) if n > 1 else 0.0
        cluster.costs[value] = terms.tree_weights[t] * share
    cluster.costs[missing] = terms.tree_weights[t] if n_seen > 0 else 0.0


@jit
def begin(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> None:
    """Start a cluster at a free row, whichever of its tuple it is."""
    cluster.low[:] = np.nan
    cluster.high[:] = np.nan
    cluster.holes[:] = False
    cluster.seen[:] = False
    cluster.n_seen[:] = 0
    cluster.count[0] = 0
    first = pool.next_row[pool.place[pool.tuple_of[row]]]
    where = first
    while pool.rows[where] != row:
        where += 1
    for step in range(where, first, -1):
        pool.rows[step] = pool.rows[step - 1]
    pool.rows[first] = row
    pool.size[1] = 0
    _join(pool, cluster, terms, row)
    _bring_near(pool, cluster, terms)


@jit
def _bring_near(pool: Pool, cluster: Cluster, terms: Terms) -> None:
    """Bring the tuples that fit beside the only member of the cluster to the front."""
    quasi, score = np.empty(BLOCK), np.empty(BLOCK)
    for first in range(0, pool.size[0], BLOCK):
        n = pool.size[0] - first if pool.size[0] - first < BLOCK else BLOCK
        _fill(pool, cluster, terms, first, quasi[:n], score[:n])
        for i in range(n):
            if quasi[i] <= terms.delta:
                _swap(pool, first + i, pool.size[1])  # what comes here in exchange was looked at
                pool.size[1] += 1


@jit
def grow(pool: Pool, cluster: Cluster, terms: Terms, n_steps: int, shared: bool | None) -> bool:
    """Let the cluster grow by a number of steps; say whether it is complete.

    Where `shared` is given, cores share the scans.
    """
    for _ in range(n_steps):
        if pool.size[1] == 0 or cluster.count[0] == terms.most:
            return True
        n_tuples = pool.size[1]
        row, score, diversity, least = best_candidate(pool, cluster, terms, n_tuples, shared)
        if least > terms.delta:
            return True
        if not score < _floor(cluster, terms):  # a row that cannot join may have the best score, which ends the growth
            n_tuples = pool.size[0]
            row, score, diversity, _ = best_candidate(pool, cluster, terms, n_tuples, shared)
        if diversity > terms.delta:
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
        if cluster.count[0] == terms.most or diversities[i] > terms.delta:
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
                n_rows += pool.last_row[first + i] - pool.next_row[first + i]
    rows, with_each = np.empty(n_rows, dtype=np.int64), np.empty(n_rows)
    filled = 0
    for u in range(n_found):
        for where in range(pool.next_row[positions[u]], pool.last_row[positions[u]]):
            rows[filled], with_each[filled] = pool.rows[where], diversities[u]
            filled += 1
    return rows, with_each


@jit
def give_back(pool: Pool, cluster: Cluster) -> None:
    """Make all members but the first free again; they were taken in row order within their tuples."""
    for i in range(1, cluster.count[0]):
        position = pool.place[pool.tuple_of[cluster.members[i]]]
        pool.next_row[position] -= 1
        if position >= pool.size[0]:
            _swap(pool, position, pool.size[0])
            pool.size[0] += 1
