"""How diverse a cluster is in its quasi-identifiers and its sensitive values, and how it grows by that."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.cluster import box_tree
from shoal.cluster.box_tree import MOST_LINES, empty_tree, order_of, scaled
from shoal.kernels.cluster import diversity as records
from shoal.kernels.cluster import threshold_greedy as kernel
from shoal.kernels.index import diverse
from shoal.kernels.index.boxes import BLOCK, WORD, pays
from shoal.kernels.sharing import shared
from shoal.methods.base import Task
from shoal.methods.groups import Labels
from shoal.progress import Progress
from shoal.table.encode import Encoded, Floats, Ints, encode

Codes = npt.NDArray[np.uint32]
WORK = 100_000_000
"""How many cells may be looked at before somebody who wants to stop is heard."""


ON = -1
"""In place of a row to start at: the cluster grows on."""
LEAF = 8
"""Most tuples of a leaf of the tree."""
VISITED = 1000
"""How many tuples a search of the tree takes the time of, at most as a rule."""


class Diversity:
    """The free rows of a table, and one cluster at a time that grows from them.

    Parameters
    ----------
    task
        The table.
    weights
        What each quasi-identifier counts.
    w
        Usefulness against protection.
    delta
        Largest diversity of a cluster.
    max_size
        Most rows of a cluster.
    """

    def __init__(self, task: Task, weights: Floats, w: float, delta: float, max_size: int | None) -> None:
        quasi, sensitive = (
            task.encoded,
            encode(task.table, {name: task.table.published[name] for name in task.table.sensitive}),
        )
        codes, n_values = _joined(quasi, sensitive)
        lines = np.concatenate([quasi.lines, sensitive.lines])
        self.pool = _pool(quasi, sensitive, lines, codes)
        n_lines, n_trees, n_rows = len(lines), len(codes), quasi.n_rows
        self.cluster = records.Cluster(
            np.zeros(n_lines, dtype=records.EXTENT), np.zeros(int((n_values + 1).sum()), dtype=records.CATEGORY),
            np.empty(n_trees, dtype=np.int64), np.empty(n_rows, dtype=np.int64), np.zeros(1, dtype=np.int64),
        )  # fmt: skip
        columns, categories = np.zeros(n_lines, dtype=records.COLUMN), np.zeros(n_trees, dtype=records.CATEGORIES)
        columns["span"] = np.concatenate([quasi.spans, sensitive.spans])
        columns["weight"] = np.concatenate([weights[~quasi.is_tree], np.ones(len(sensitive.lines))])
        columns["quasi"] = np.arange(n_lines) < len(quasi.lines)
        categories["last"] = np.cumsum(n_values + 1) - 1
        categories["first"] = categories["last"] - n_values
        categories["weight"] = np.concatenate([weights[quasi.is_tree], np.ones(len(sensitive.codes))])
        categories["quasi"] = np.arange(n_trees) < len(quasi.codes)
        most = n_rows if max_size is None else max_size
        bounds = np.array([(w, delta, most, sensitive.n_columns)], dtype=records.TERMS)
        self._terms = records.Terms(columns, categories, bounds)
        self._share = shared(n_rows * (n_lines + n_trees))
        self.pool, self._index = _indexed(self.pool, self._terms)

    def grow(self, seed: int, k: int, progress: Progress) -> Labels:
        """Grow a cluster from a row as far as it goes; its members, in the order they joined.

        Rows beyond the first k are told to the progress on the way: they will not be given back.
        """
        n_columns = len(self.pool.lines) + len(self.pool.codes)
        told, complete = k, False
        while not complete:
            looked_at = int(self.pool.size[0]) if self._index is None else VISITED
            complete = self._grow(seed, max(1, WORK // max(1, looked_at * n_columns)))
            seed = ON
            count = int(self.cluster.count[0])
            if count > told:
                progress.advance(count - told)
                told = count
        return self.cluster.members[: self.cluster.count[0]].copy()  # type: ignore[no-any-return]

    def _grow(self, seed: int, n_steps: int) -> bool:
        """Let the cluster grow by some steps, with the tree as long as that is cheaper; whether it is complete."""
        if self._index is not None and not pays(self._index.tree):
            diverse.pack(self.pool, self._index.tree)
            self._index = None
            if seed == ON:  # what is near the row that the cluster started at was not needed so far
                self.pool.size[1] = self.pool.size[0]
        if self._index is None:
            return bool(kernel.grow(self.pool, self.cluster, self._terms, seed, n_steps, self._share))
        return bool(diverse.grow(self.pool, self.cluster, self._terms, self._index, seed, n_steps))

    def give_back(self) -> None:
        """Make all members of the cluster but the first free again."""
        if self._index is None:
            kernel.give_back(self.pool, self.cluster)
        else:
            diverse.give_back(self.pool, self.cluster, self._index)


def least_diversity(encoded: Encoded, weights: Floats, k: int) -> float:
    """A bound below the diversity of any k rows: the sum of the least that k rows can have in each column.

    Summed as the kernel sums, so that rounding cannot lift it above what the kernel finds.
    """
    line_weights, tree_weights = weights[~encoded.is_tree], weights[encoded.is_tree]
    total = 0.0
    for line, span, weight in zip(encoded.lines, encoded.spans, line_weights, strict=True):
        total += weight * _least_of_line(np.sort(line[~np.isnan(line)]), int(np.isnan(line).sum()), float(span), k)
    for codes, tree, weight in zip(encoded.codes, encoded.trees, tree_weights, strict=True):
        n_missing = int((codes == tree.missing).sum())
        total += weight * _least_of_tree(np.unique(codes[codes != tree.missing], return_counts=True)[1], n_missing, k)
    return float(total)


def _least_of_line(ordered: Floats, n_missing: int, span: float, k: int) -> float:
    if n_missing >= k:
        return 0.0
    if len(ordered) < k:
        return 1.0  # any k rows mix missing and present values
    return float((ordered[k - 1 :] - ordered[: len(ordered) - k + 1]).min()) / span if span > 0 else 0.0


def _least_of_tree(counts: Ints, n_missing: int, k: int) -> float:
    if n_missing >= k:
        return 0.0
    if counts.sum() < k:
        return 1.0
    fewest = int(np.searchsorted(np.cumsum(np.sort(counts)[::-1]), k)) + 1
    return (fewest - 1) / (len(counts) - 1) if fewest > 1 else 0.0


def _joined(quasi: Encoded, sensitive: Encoded) -> tuple[Codes, Ints]:
    """The categories of all columns, values numbered from 0 and the missing one last, and how many values each has."""
    numbered, n_values = [], []
    for encoded in (quasi, sensitive):
        for codes, tree in zip(encoded.codes, encoded.trees, strict=True):
            values, places = np.unique(codes, return_inverse=True)
            numbered.append(places)
            n_values.append(len(values) - (tree.missing in values))  # no node has a higher number
    empty = np.zeros((0, quasi.n_rows), dtype=np.uint32)
    return np.stack(numbered).astype(np.uint32) if numbered else empty, np.array(n_values, dtype=np.int64)


def _pool(quasi: Encoded, sensitive: Encoded, lines: Floats, codes: Codes) -> records.Pool:
    """All rows, free; those that agree in quasi-identifiers and sensitive values are one tuple."""
    distinct = quasi.collapse(*sensitive.lines, *sensitive.codes)
    n_tuples, heads = distinct.n_tuples, distinct.heads
    places = np.arange(n_tuples, dtype=np.int64)
    tuple_of = np.empty(quasi.n_rows, dtype=np.int64)
    tuple_of[distinct.rows] = np.repeat(places, np.diff(distinct.first))
    tuples = np.zeros(n_tuples, dtype=records.TUPLE)
    tuples["next_row"], tuples["last_row"], tuples["id"] = distinct.first[:-1], distinct.first[1:], places
    return records.Pool(
        np.ascontiguousarray(lines[:, heads]), np.ascontiguousarray(codes[:, heads]), tuples, places,
        distinct.rows.copy(), tuple_of, np.array([n_tuples, 0], dtype=np.int64),
    )  # fmt: skip


def _indexed(pool: records.Pool, terms: records.Terms) -> tuple[records.Pool, diverse.DiverseIndex | None]:
    """The tuples of a pool in the order of a tree of boxes, if they are many: the pool, and the tree."""
    n_tuples, n_lines, n_trees, w = len(pool.tuples), len(pool.lines), len(pool.codes), terms.bounds["w"][0]
    counts = [w > 0 if quasi else w < 1 for quasi in (*terms.lines["quasi"], *terms.trees["quasi"])]
    if n_tuples < box_tree.LEAST or n_lines > MOST_LINES or not any(counts):
        return pool, None
    n_values = terms.trees["last"] - terms.trees["first"] + 1  # with the missing one
    lines = [scaled(line, span) for line, span in zip(pool.lines, terms.lines["span"], strict=True)]
    ranks = [(codes / max(n - 1, 1)).astype(np.float32) for codes, n in zip(pool.codes, n_values, strict=True)]
    order = order_of(np.stack([one for one, cut in zip([*lines, *ranks], counts, strict=True) if cut]), LEAF)
    places = [np.arange(n) if n <= WORD else np.arange(n) * WORD // n for n in n_values]
    place = np.empty(n_tuples, dtype=np.int64)
    place[order] = np.arange(n_tuples)
    pool = pool._replace(
        lines=np.ascontiguousarray(pool.lines[:, order]), codes=np.ascontiguousarray(pool.codes[:, order]),
        tuples=pool.tuples[order], place=place,
    )  # fmt: skip
    index = diverse.DiverseIndex(
        empty_tree(n_tuples, n_lines, n_trees, LEAF), np.ascontiguousarray(terms.trees["first"]),
        np.concatenate([np.zeros(0, dtype=np.int64), *places]), np.zeros(n_trees, dtype=diverse.SORTS),
        np.empty(BLOCK),
    )  # fmt: skip
    diverse.enclose_all(pool, index)
    return pool, index
