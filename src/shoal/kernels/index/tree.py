"""The shape of a tree of boxes, and how rows are put in its order.

The tree is balanced and has no pointers: node 1 is the root, the children of node i are 2i and 2i + 1, and the last
half of the nodes are the leaves. Every node has a run of positions, which is cut in the middle between its children.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit

SAMPLE = 256
"""How many rows of a node are looked at to choose the column by which it is cut."""


@jit
def first_of(leaf: int, n_rows: int, n_leaves: int) -> int:
    """The first position of a leaf, counted from 0; also one past the last of the leaf before."""
    return leaf * n_rows // n_leaves


@jit
def leaf_of(position: int, n_rows: int, n_leaves: int) -> int:
    """The leaf that a position belongs to."""
    return ((position + 1) * n_leaves - 1) // n_rows


@jit
def cut_nodes(columns: Any, order: Any, begin: int, end: int, n_nodes: int) -> None:
    """Cut nodes of one level in the middle: the half that is lower in the column that varies most comes first.

    IN     columns float32[columns, n];  begin, end: which nodes of the level;  n_nodes: how many it has
    INOUT  order int64[n], rows by position
    """
    n = len(order)
    for node in range(begin, end):
        first, middle, last = node * n // n_nodes, (2 * node + 1) * n // (2 * n_nodes), (node + 1) * n // n_nodes
        rows = order[first:last]
        column = columns[_widest(columns, rows)]
        keys = np.empty(len(rows), dtype=np.float32)
        for i in range(len(rows)):
            keys[i] = column[rows[i]]
        _select(keys, rows, middle - first)


@jit
def _widest(columns: Any, rows: Any) -> int:
    """The column that varies most among some rows, the first of those that tie."""
    step = len(rows) // SAMPLE + 1
    widest, most = 0, -1.0
    for j in range(len(columns)):
        n, total, squares = 0, 0.0, 0.0
        for i in range(0, len(rows), step):
            x = columns[j, rows[i]]
            n, total, squares = n + 1, total + x, squares + x * x
        spread = squares - total * total / n
        if spread > most:
            widest, most = j, spread
    return widest


@jit
def _select(keys: Any, rows: Any, middle: int) -> None:
    """Put the lowest keys before a place and the others behind it, rows along (Hoare's way).

    INOUT  keys float32[m];  rows int64[m]
    """
    low, high = 0, len(keys) - 1
    while low < high:
        pivot, i, j = keys[(low + high) // 2], low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                rows[i], rows[j] = rows[j], rows[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return
