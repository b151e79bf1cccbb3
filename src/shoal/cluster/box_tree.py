"""Trees of boxes around rows, still empty, and the order in which the rows stand in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt

from shoal.kernels.index.boxes import BLOCK, HEAD, NOBODY, SHAPE, WORDS, BoxTree
from shoal.kernels.index.cutting import cut_runs
from shoal.kernels.sharing import in_parts, parts_of
from shoal.table.encode import Floats, Ints

Scaled = npt.NDArray[np.float32]

LEAST = 8192
"""Below so many different rows a scan takes a fraction of a second, less than to compile the kernels of a tree."""
MOST_LINES = 64
"""A box has a bit for each column of numbers."""
CUT = 4
"""How much longer it takes to cut a value off than to read it."""
BEYOND = 1.25
"""Where missing numbers are put when rows are cut in halves; the others lie between 0 and 1."""


@contextmanager
def for_few_rows() -> Iterator[None]:
    """Trees however few rows there are, for a while; not for several threads at once."""
    global LEAST
    before, LEAST = LEAST, 2
    try:
        yield
    finally:
        LEAST = before


def order_of(columns: Scaled, leaf: int) -> Ints:
    """Rows so that those near each other stand side by side: cut in halves until a run has no more than a leaf.

    Once there is a run for each core, cores go on by themselves: the halves of a run lie inside it.
    """
    n_rows, order = columns.shape[1], np.arange(columns.shape[1])
    n_leaves, n_runs = _leaves_of(n_rows, leaf), 1
    cells = CUT * columns.size * n_leaves.bit_length()
    while n_runs < min(parts_of(cells), n_leaves):
        in_parts(partial(_cut, columns, order, n_runs, 2 * n_runs), 0, n_runs, CUT * columns.size)
        n_runs *= 2
    in_parts(partial(_cut, columns, order, n_runs, n_leaves), 0, n_runs, cells)
    return order


def _cut(columns: Scaled, order: Ints, n_runs: int, n_leaves: int, begin: int, end: int) -> None:
    """Cut some of the runs of a level, and what becomes of them, until a level would have so many runs."""
    level = n_runs
    while level < n_leaves:
        cut_runs(columns, order, begin * level // n_runs, end * level // n_runs, level)
        level *= 2


def scaled(line: Floats, span: float) -> Scaled:
    """Numbers from 0 to 1, missing ones beyond."""
    found, present = np.full(len(line), BEYOND, dtype=np.float32), ~np.isnan(line)
    found[present] = (line[present] - line[present].min(initial=np.inf)) / (span or 1.0)
    return found


def empty_tree(n_rows: int, n_lines: int, n_words: int, leaf: int) -> BoxTree:
    """A tree whose boxes are still to be put around rows."""
    n_leaves, depth = _leaves_of(n_rows, leaf), 1
    while BLOCK**depth < n_leaves:
        depth += 1
    first_block = (BLOCK ** (depth - 1) - 1) // (BLOCK - 1)
    boxes = np.zeros((first_block + -(-n_leaves // BLOCK), WORDS + n_words + 2 * n_lines, BLOCK), dtype=np.int64)
    floats = boxes.view(np.float64)
    boxes[:, HEAD] = NOBODY
    floats[:, WORDS + n_words :: 2], floats[:, WORDS + n_words + 1 :: 2] = np.inf, -np.inf
    shape = np.zeros(1, dtype=SHAPE)
    shape["n_rows"], shape["n_leaves"], shape["first_leaf"] = n_rows, n_leaves, first_block * BLOCK
    shape["n_words"] = n_words
    live = np.diff(np.arange(n_leaves + 1) * n_rows // n_leaves)
    room = BLOCK * depth
    return BoxTree(boxes, floats, live, np.empty(BLOCK), np.empty(room, dtype=np.int64), np.empty(room), shape)


def _leaves_of(n_rows: int, leaf: int) -> int:
    """How many leaves a tree has over so many rows: a power of two."""
    return 1 << ((n_rows - 1) // leaf).bit_length()
