"""The free rows of a table, laid out for the methods that take them one by one."""

from __future__ import annotations

import numpy as np

from shoal.kernels import store as kernel
from shoal.table.encode import Encoded


def free_rows(encoded: Encoded, start_row: int) -> tuple[kernel.Store, int]:
    """All distinct rows, free, and the position of the start row, which comes first in its tuple."""
    distinct = encoded.collapse()
    rows = distinct.rows.copy()
    place = int(np.flatnonzero(rows == start_row)[0])
    seed = int(np.searchsorted(distinct.first, place, side="right")) - 1
    begin = distinct.first[seed]
    rows[begin + 1 : place + 1] = rows[begin:place].copy()
    rows[begin] = start_row
    first, last = distinct.first[:-1].copy(), distinct.first[1:].copy()
    size = np.array([distinct.n_tuples], dtype=np.int64)
    return kernel.Store(distinct.lines, distinct.codes, first, last, rows, size), seed


def empty_group(encoded: Encoded) -> kernel.Group:
    """A group with nobody in it."""
    n_lines, n_trees = len(encoded.lines), len(encoded.codes)
    low, high = np.full(n_lines, np.nan), np.full(n_lines, np.nan)
    return kernel.Group(low, high, np.zeros(n_lines, dtype=bool), np.full(n_trees, -1, dtype=np.int64))


def yard_of(encoded: Encoded, reading: int, *, divisor: float) -> kernel.Yard:
    """A yardstick over the columns of a table, its costs per node still to be filled in."""
    costs = np.zeros(max(len(encoded.forest.parent), 1))
    return kernel.Yard(encoded.spans, encoded.forest.start, costs, reading, float(divisor), kernel.MANY_BLOCKS)
