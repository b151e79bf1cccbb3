"""A tree of boxes around the free rows of a table, where there are so many that it pays."""

from __future__ import annotations

import numpy as np

from shoal.kernels.cluster.store import CostTable, Store
from shoal.kernels.index import rows as kernel
from shoal.kernels.index.tree import cut_nodes
from shoal.kernels.sharing import in_parts
from shoal.table.encode import Encoded, Floats, Ints

LEAST = 4096
"""Below so many different rows a scan is quicker, or nobody notices."""
LEAF = 8
"""Most tuples of a leaf."""
MISSING = 1.25
"""Where missing numbers are put when rows are cut in halves: beyond all others."""


def indexed(store: Store, encoded: Encoded, cost_table: CostTable) -> tuple[Store, kernel.RowIndex | None]:
    """Put the tuples of a store in the order of a tree of boxes, if they are many: the store, and the tree."""
    n_tuples, n_trees = len(store.next_row), len(store.codes)
    if n_tuples < LEAST:
        return store, None
    n_leaves = 1 << ((n_tuples - 1) // LEAF).bit_length()
    places, ranks = [np.full(cost_table.starts[-1], -1, dtype=np.int64)][0], []
    for t, codes in enumerate(store.codes):
        occurring = np.unique(codes).astype(np.int64)
        if t < len(encoded.trees):
            occurring = occurring[np.argsort(encoded.trees[t].first_leaf[occurring], kind="stable")]
        rank, n = np.arange(len(occurring)), len(occurring)
        places[cost_table.starts[t] + occurring] = rank if n <= kernel.WORD else rank * kernel.WORD // n
        if t < len(encoded.trees):
            share = np.zeros(int(occurring.max()) + 1, dtype=np.float32)
            share[occurring] = rank / max(n - 1, 1)
            ranks.append(share[codes])
    order = _order(_scaled(store, encoded, ranks), n_leaves)
    n_lines = len(store.lines)
    depth, blocks, first_block = 1, 1, 0
    while kernel.BLOCK**depth < n_leaves:
        depth += 1
    first_block = (kernel.BLOCK ** (depth - 1) - 1) // (kernel.BLOCK - 1)
    blocks = first_block + -(-n_leaves // kernel.BLOCK)
    shape = np.zeros(1, dtype=kernel.SHAPE)
    shape["n_tuples"], shape["n_leaves"], shape["first_leaf"] = n_tuples, n_leaves, first_block * kernel.BLOCK
    store = store._replace(
        lines=np.ascontiguousarray(store.lines[:, order]), codes=np.ascontiguousarray(store.codes[:, order]),
        next_row=store.next_row[order], last_row=store.last_row[order],
    )  # fmt: skip
    boxes = np.zeros((blocks, kernel.WORDS + n_trees + 2 * n_lines, kernel.BLOCK), dtype=np.int64)
    boxes[:, kernel.HEAD] = kernel.NOBODY
    floats = boxes.view(np.float64)
    floats[:, kernel.WORDS + n_trees :: 2], floats[:, kernel.WORDS + n_trees + 1 :: 2] = np.inf, -np.inf
    index = kernel.RowIndex(
        boxes=boxes, floats=floats, live=np.diff(np.arange(n_leaves + 1) * n_tuples // n_leaves),
        starts=cost_table.starts, place_of=places, costs=np.empty((n_trees, kernel.LEVELS)),
        places=np.empty((n_trees, kernel.LEVELS), dtype=np.int64),
        targets=np.zeros(n_lines, dtype=kernel.TARGET), bound=np.empty(kernel.BLOCK),
        stack=np.empty(kernel.BLOCK * depth, dtype=np.int64),
        bounds=np.empty(kernel.BLOCK * depth), shape=shape,
    )  # fmt: skip
    kernel.enclose_all(store, index)
    return store, index


def _scaled(store: Store, encoded: Encoded, ranks: list[Floats]) -> Floats:
    spans = np.where(encoded.spans > 0.0, encoded.spans, 1.0)[:, np.newaxis]
    lines = store.lines - np.nan_to_num(np.nanmin(store.lines, axis=1, keepdims=True)) if len(store.lines) else store.lines
    scaled = np.nan_to_num(lines / spans, nan=MISSING).astype(np.float32)
    return np.ascontiguousarray(np.concatenate([scaled, np.stack(ranks)]) if ranks else scaled, dtype=np.float32)


def _order(columns: Floats, n_leaves: int) -> Ints:
    """Rows so that those near each other stand side by side, in a balanced tree of cuts."""
    order, n_nodes = np.arange(columns.shape[1]), 1
    while n_nodes < n_leaves:

        def part(begin: int, end: int, n_nodes: int = n_nodes) -> None:
            cut_nodes(columns, order, begin, end, n_nodes)

        in_parts(part, 0, n_nodes, columns.shape[1] * 8)
        n_nodes *= 2
    return order
