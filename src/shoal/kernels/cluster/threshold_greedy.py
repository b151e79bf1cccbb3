"""Threshold greedy clustering: the growth of one cluster from the free rows, which can be given back."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.cluster.diversity import Cluster, Pool, Terms, empty_for, fill, swap, take_in
from shoal.kernels.cluster.points import sort
from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 1024
"""How many tuples are measured at once: their scores stay in the fastest cache of any processor."""


@jit
def _block_best(pool: Pool, cluster: Cluster, terms: Terms, n_tuples: int, block: int) -> Any:
    """Best of one block: score, lowest row, diversity of the quasi-identifiers; and the least such diversity."""
    first = block * BLOCK
    n = n_tuples - first if n_tuples - first < BLOCK else BLOCK
    quasi, score = np.empty(n), np.empty(n)
    fill(pool, cluster, terms, first, quasi, score)
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
def _join(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> bool:
    """Take the first free row of a tuple into the cluster; say whether the cluster's values changed."""
    changed = take_in(pool, cluster, terms, row)
    position = pool.place[pool.tuple_of[row]]
    if pool.tuples[position].next_row == pool.tuples[position].last_row:
        if position < pool.size[1]:
            pool.size[1] -= 1
            swap(pool, position, pool.size[1])
            position = pool.size[1]
        pool.size[0] -= 1
        swap(pool, position, pool.size[0])
    return changed


@jit
def _begin(pool: Pool, cluster: Cluster, terms: Terms, row: int) -> None:
    """Start a cluster at a free row, whichever of its tuple it is; bring the tuples that fit beside it to the front."""
    empty_for(pool, cluster, row)
    pool.size[1] = 0
    _join(pool, cluster, terms, row)
    quasi, score = np.empty(BLOCK), np.empty(BLOCK)
    for begin in range(0, pool.size[0], BLOCK):
        n = pool.size[0] - begin if pool.size[0] - begin < BLOCK else BLOCK
        fill(pool, cluster, terms, begin, quasi[:n], score[:n])
        for i in range(n):
            if quasi[i] <= terms.bounds[0].delta:
                swap(pool, begin + i, pool.size[1])  # what comes here in exchange was looked at
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
        fill(pool, cluster, terms, first, quasi[:n], scores[:n])
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
            swap(pool, position, pool.size[0])
            pool.size[0] += 1
