"""The free rows of a table: which is nearest to a group, which is farthest from it, and who leaves.

Where rows are many, a tree of boxes finds them; else the free rows are packed at the front of the store, and a scan
reads only live memory. Order inside the store means nothing: ties go to the lowest row position, which every tuple
carries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.store import CostTable, Group, Store, fill, move
from shoal.kernels.cluster.trees import Forest
from shoal.kernels.index.rows import RowIndex, leave, search
from shoal.kernels.jit import jit, jit_parallel, prange

BLOCK = 1024
"""How many tuples are measured at once: their distances, 8 KiB, stay in the fastest cache of any processor."""


class FreeRows(NamedTuple):
    """The free rows, and how near they are to a group."""

    store: Store
    cost_table: CostTable
    forest: Forest
    k: Any  # int  IN  smallest group size
    row_index: RowIndex | None = None


@jit
def extreme(free: FreeRows, group: Group, sign: float, shared: bool | None) -> Any:
    """Position of the free tuple nearest to (sign = 1) or farthest from (sign = -1) the group, and its distance."""
    return _find(free, free.row_index, group, sign, shared)


@jit
def take(free: FreeRows, position: int) -> int:
    """Take the first free row of a tuple; a tuple with none left leaves the store."""
    row = free.store.rows[free.store.next_row[position]]
    free.store.next_row[position] += 1
    _leave(free.store, free.row_index, position)
    return row  # type: ignore[no-any-return]


@jit
def _find(free: FreeRows, index: RowIndex | None, group: Group, sign: float, shared: bool | None) -> Any:
    # What is not there is an argument of its own: only so nothing is compiled for it.
    if index is None:
        return _scan(free.store, group, free.cost_table, sign, shared)
    if index.tree.shape[0].off:
        return _scan(free.store, group, free.cost_table, sign, shared)
    return search(free.store, index, group, free.cost_table, sign)


@jit
def _leave(store: Store, index: RowIndex | None, position: int) -> None:
    if index is None:  # noqa: SIM114 - an own branch, see above
        _close_up(store, position)
    elif index.tree.shape[0].off:
        _close_up(store, position)
    else:
        leave(store, index, position)


@jit
def _close_up(store: Store, position: int) -> None:
    """Have the last tuple take the place of one with no free row."""
    if store.next_row[position] == store.last_row[position]:
        store.size[0] -= 1
        move(store, store.size[0], position)


# -- scans ------------------------------------------------------------------------------------------------------------


@jit
def _block_best(store: Store, group: Group, cost_table: CostTable, sign: float, block: int) -> Any:
    """Best of one block: signed distance, position, lowest row."""
    first = block * BLOCK
    n = store.size[0] - first
    out = np.empty(n if n < BLOCK else BLOCK)
    fill(store, group, cost_table, first, out)
    best, where, row = np.inf, -1, -1
    for i in range(len(out)):
        d = sign * out[i]
        if d <= best:
            head = store.rows[store.next_row[first + i]]
            if d < best or head < row:
                best, where, row = d, first + i, head
    return best, where, row


@jit
def _scan(store: Store, group: Group, cost_table: CostTable, sign: float, shared: bool | None) -> Any:
    """Position of the free tuple nearest to (sign = 1) or farthest from (sign = -1) the group, and its distance.

    Where `shared` is given, cores share the scan; the answer is the same.
    """
    n_blocks = (store.size[0] + BLOCK - 1) // BLOCK
    best = np.empty(n_blocks)
    where = np.empty(n_blocks, dtype=np.int64)
    row = np.empty(n_blocks, dtype=np.int64)
    if shared is None:
        for block in range(n_blocks):
            best[block], where[block], row[block] = _block_best(store, group, cost_table, sign, block)
    else:
        _best_of_all_blocks(store, group, cost_table, sign, best, where, row)
    top = 0
    for block in range(1, n_blocks):
        if best[block] < best[top] or (best[block] == best[top] and row[block] < row[top]):
            top = block
    return where[top], sign * best[top]


@jit_parallel
def _best_of_all_blocks(
    store: Store, group: Group, cost_table: CostTable, sign: float, best: Any, where: Any, row: Any
) -> None:
    """Best of every block.

    OUT  best float64[blocks];  where, row int64[blocks]
    """
    for block in prange(len(best)):
        best[block], where[block], row[block] = _block_best(store, group, cost_table, sign, block)
