"""A tree of boxes around the free rows of a table, where there are so many that it pays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from shoal.kernels.cluster.store import CostTable, Store
from shoal.kernels.index import rows as kernel
from shoal.kernels.index.tree import BLOCK, cut_nodes
from shoal.kernels.sharing import in_parts
from shoal.table.encode import Encoded, Ints

Scaled = npt.NDArray[np.float32]

LEAST = 2048
"""Below so many different rows a scan is as quick: the kernels of the tree would be compiled for nothing."""
LEAF = 8
"""Most rows of a leaf; 4 to 32 took nearly the same time."""
MOST_LINES = 64
"""A box has a bit for each column of numbers."""
BEYOND = 1.25
"""Where missing numbers are put when rows are cut in halves, the others lie between 0 and 1."""


def indexed(store: Store, encoded: Encoded, cost_table: CostTable) -> tuple[Store, kernel.RowIndex | None]:
    """Put the tuples of a store in the order of a tree of boxes, if they are many: the store, and the tree."""
    n_tuples = len(store.next_row)
    if n_tuples < LEAST or len(store.lines) > MOST_LINES:
        return store, None
    n_leaves = leaves_of(n_tuples)
    places, ranks = _places(store, encoded, cost_table.starts)
    order = order_of(np.concatenate([_scaled(store, encoded), ranks]), n_leaves)
    store = store._replace(
        lines=np.ascontiguousarray(store.lines[:, order]), codes=np.ascontiguousarray(store.codes[:, order]),
        next_row=store.next_row[order], last_row=store.last_row[order],
    )  # fmt: skip
    index = _empty(store, n_leaves, cost_table.starts, places)
    kernel.enclose_all(store, index)
    return store, index


def leaves_of(n_rows: int) -> int:
    """How many leaves a tree has over so many rows: a power of two."""
    return 1 << ((n_rows - 1) // LEAF).bit_length()


def order_of(columns: Scaled, n_leaves: int) -> Ints:
    """Rows so that those near each other stand side by side: cut in halves until there are as many runs as leaves."""
    order, n_runs = np.arange(columns.shape[1]), 1
    while n_runs < n_leaves:

        def part(begin: int, end: int, n_runs: int = n_runs) -> None:
            cut_nodes(columns, order, begin, end, n_runs)

        in_parts(part, 0, n_runs, columns.size)
        n_runs *= 2
    return order


def blocks_of(n_leaves: int) -> tuple[int, int, int]:
    """How deep a tree is, how many blocks its boxes fill, and the first block of those with boxes of leaves."""
    depth = 1
    while BLOCK**depth < n_leaves:
        depth += 1
    first = (BLOCK ** (depth - 1) - 1) // (BLOCK - 1)
    return depth, first + -(-n_leaves // BLOCK), first


def _places(store: Store, encoded: Encoded, starts: Ints) -> tuple[Ints, Scaled]:
    """A place among the bits of a box for each category that occurs; and the categories of all tuples, 0 to 1.

    Categories stand in the order of the leaves of their hierarchy. Further keys of a store have places, too, but rows
    are not cut by them.
    """
    places, ranks = np.full(starts[-1], -1, dtype=np.int64), []
    for t, (begin, end) in enumerate(pairwise(starts)):
        occurring = np.unique(store.codes[t]).astype(np.int64)
        if t < len(encoded.trees):
            occurring = occurring[np.argsort(encoded.trees[t].first_leaf[occurring], kind="stable")]
        rank, n = np.arange(len(occurring)), len(occurring)
        places[begin + occurring] = rank if n <= kernel.WORD else rank * kernel.WORD // n
        if t < len(encoded.trees):
            share = np.zeros(end - begin, dtype=np.float32)
            share[occurring] = rank / max(n - 1, 1)
            ranks.append(share[store.codes[t]])
    return places, np.stack(ranks) if ranks else np.zeros((0, len(store.next_row)), dtype=np.float32)


def _scaled(store: Store, encoded: Encoded) -> Scaled:
    """The numbers of all tuples from 0 to 1, missing ones beyond."""
    scaled = np.full(store.lines.shape, BEYOND, dtype=np.float32)
    for j, line in enumerate(store.lines):
        present = ~np.isnan(line)
        lowest = line[present].min(initial=np.inf)
        scaled[j, present] = (line[present] - lowest) / (encoded.spans[j] or 1.0)
    return scaled


def _empty(store: Store, n_leaves: int, starts: Ints, places: Ints) -> kernel.RowIndex:
    """A tree whose boxes are still to be put around the tuples."""
    n_tuples, n_lines, n_trees = len(store.next_row), len(store.lines), len(store.codes)
    depth, n_blocks, first_block = blocks_of(n_leaves)
    boxes = np.zeros((n_blocks, kernel.WORDS + n_trees + 2 * n_lines, BLOCK), dtype=np.int64)
    boxes[:, kernel.HEAD] = kernel.NOBODY
    floats = boxes.view(np.float64)
    floats[:, kernel.WORDS + n_trees :: 2], floats[:, kernel.WORDS + n_trees + 1 :: 2] = np.inf, -np.inf
    shape = np.zeros(1, dtype=kernel.SHAPE)
    shape["n_tuples"], shape["n_leaves"], shape["first_leaf"] = n_tuples, n_leaves, first_block * BLOCK
    return kernel.RowIndex(
        boxes=boxes, floats=floats, live=np.diff(np.arange(n_leaves + 1) * n_tuples // n_leaves), starts=starts,
        place_of=places, costs=np.empty((n_trees, kernel.LEVELS)),
        places=np.empty((n_trees, kernel.LEVELS), dtype=np.int64), targets=np.zeros(n_lines, dtype=kernel.TARGET),
        bound=np.empty(BLOCK), stack=np.empty(BLOCK * depth, dtype=np.int64), bounds=np.empty(BLOCK * depth),
        shape=shape,
    )  # fmt: skip
