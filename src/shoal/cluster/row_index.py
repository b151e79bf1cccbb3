"""A tree of boxes around the free rows of a table, where there are so many that it pays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shoal.cluster import box_tree
from shoal.cluster.box_tree import MOST_LINES, Scaled, empty_tree, order_of, scaled
from shoal.kernels.cluster.store import CostTable, Store
from shoal.kernels.index import rows as kernel
from shoal.kernels.index.boxes import WORD
from shoal.table.encode import Encoded, Ints

LEAF = 8
"""Most tuples of a leaf; 4 to 32 took nearly the same time."""


def indexed(store: Store, encoded: Encoded, cost_table: CostTable) -> tuple[Store, kernel.RowIndex | None]:
    """Put the tuples of a store in the order of a tree of boxes, if they are many: the store, and the tree."""
    n_tuples, n_lines, n_trees = len(store.next_row), len(store.lines), len(store.codes)
    if n_tuples < box_tree.LEAST or n_lines > MOST_LINES:
        return store, None
    places, ranks = _places(store, encoded, cost_table.starts)
    lines = [scaled(line, span) for line, span in zip(store.lines, encoded.spans, strict=True)]
    order = order_of(np.stack([*lines, *ranks]), LEAF)
    store = store._replace(
        lines=np.ascontiguousarray(store.lines[:, order]), codes=np.ascontiguousarray(store.codes[:, order]),
        next_row=store.next_row[order], last_row=store.last_row[order],
    )  # fmt: skip
    index = kernel.RowIndex(
        empty_tree(n_tuples, n_lines, n_trees, LEAF), cost_table.starts, places, np.empty((n_trees, kernel.LEVELS)),
        np.empty((n_trees, kernel.LEVELS), dtype=np.int64), np.zeros(n_lines, dtype=kernel.TARGET),
    )  # fmt: skip
    kernel.enclose_all(store, index)
    return store, index


def _places(store: Store, encoded: Encoded, starts: Ints) -> tuple[Ints, list[Scaled]]:
    """A place among the bits of a box for each category that occurs; and the categories of all tuples, 0 to 1.

    Categories stand in the order of the leaves of their hierarchy. Further keys of a store have places, too, but rows
    are not cut by them.
    """
    places, ranks = np.full(starts[-1], -1, dtype=np.int64), []
    for t, (begin, end) in enumerate(pairwise(starts)):
        occurring, often = np.unique(store.codes[t], return_counts=True)
        occurring = occurring.astype(np.int64)
        if t >= len(encoded.trees):
            places[begin + occurring] = _own_if_frequent(often)
            continue
        occurring = occurring[np.argsort(encoded.trees[t].first_leaf[occurring], kind="stable")]
        rank, n = np.arange(len(occurring)), len(occurring)
        places[begin + occurring] = rank if n <= WORD else rank * WORD // n
        share = np.zeros(end - begin, dtype=np.float32)
        share[occurring] = rank / max(n - 1, 1)
        ranks.append(share[store.codes[t]])
    return places, ranks


def _own_if_frequent(often: Ints) -> Ints:
    """Places of keys that occur so often: the most frequent have one of their own, the others share half of them.

    A key that may not join shuts boxes out only if no other key has its place. The frequent ones are in all boxes.
    """
    n = len(often)
    if n <= WORD:
        return np.arange(n)
    order, places = np.argsort(-often, kind="stable"), np.empty(n, dtype=np.int64)
    own, shared = order[: WORD // 2], np.sort(order[WORD // 2 :])
    places[own] = np.arange(len(own))
    places[shared] = len(own) + np.arange(len(shared)) * (WORD - len(own)) // len(shared)
    return places
