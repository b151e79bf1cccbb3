"""The free rows of a table, laid out for the methods that take them one by one."""

from __future__ import annotations

import numpy as np

from shoal.errors import ParameterError, Problems
from shoal.kernels.cluster import store as kernel
from shoal.methods.base import Method
from shoal.table.encode import Encoded, Floats, Ints
from shoal.table.prepare import Table


def free_rows(encoded: Encoded, *keys: Ints) -> kernel.Store:
    """All distinct rows, free; what else is to tell rows apart, numbered from 0, stands behind their codes."""
    distinct = encoded.collapse(*keys)
    first, last = distinct.first[:-1].copy(), distinct.first[1:].copy()
    size = np.array([distinct.n_tuples], dtype=np.int64)
    codes = distinct.codes
    if keys:
        codes = np.concatenate([codes, np.stack(keys)[:, distinct.heads]]).astype(np.uint32, order="C")
    return kernel.Store(distinct.lines, codes, first, last, distinct.rows.copy(), size)


def bring_forward(store: kernel.Store, row: int) -> int:
    """Make a row the first of its tuple, to be taken before the others; the position of the tuple."""
    place = int(np.flatnonzero(store.rows == row)[0])
    seed = int(np.flatnonzero((store.next_row <= place) & (place < store.last_row))[0])
    begin = store.next_row[seed]
    store.rows[begin + 1 : place + 1] = store.rows[begin:place].copy()
    store.rows[begin] = row
    return seed


def check_start(method: Method, start: int | None, table: Table, problems: Problems) -> None:
    """Note a start row that the table does not have."""
    if start is not None and start >= table.n_rows:
        what = f"start = {start}, but the table has {table.n_rows} rows"
        fix = f"use a position from 0 to {table.n_rows - 1}"
        problems.add(f"{type(method).__name__}(start=)", what, fix, error=ParameterError)


def empty_group(encoded: Encoded) -> kernel.Group:
    """A group with nobody in it."""
    n_lines, n_trees = len(encoded.lines), len(encoded.codes)
    low, high = np.full(n_lines, np.nan), np.full(n_lines, np.nan)
    return kernel.Group(low, high, np.zeros(n_lines, dtype=bool), np.full(n_trees, -1, dtype=np.int64))


def with_keys(cost_table: kernel.CostTable, *sizes: int) -> kernel.CostTable:
    """A cost table with room for further columns of a store, behind those of the trees."""
    added = np.cumsum([size for size in sizes if size])
    if not len(added):
        return cost_table
    starts = np.concatenate([cost_table.starts, cost_table.starts[-1] + added]).astype(np.int64)
    return cost_table._replace(starts=starts, costs=np.zeros(starts[-1]))


def cost_table_of(encoded: Encoded, reading: int, *, divisor: float, heights: Floats | None = None) -> kernel.CostTable:
    """A cost table over the columns of a table, its costs per node still to be filled in."""
    costs = np.zeros(max(len(encoded.forest.parent), 1))
    given = np.zeros(len(costs)) if heights is None else heights
    return kernel.CostTable(encoded.spans, encoded.forest.start, costs, given, reading, float(divisor))


def summaries(groups: list[kernel.Group]) -> kernel.Summaries:
    """The generalised tuples of all groups."""
    return kernel.Summaries(*(np.stack([group[part] for group in groups]) for part in range(4)))
