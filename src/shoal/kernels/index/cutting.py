"""How rows are put in the order of a tree of boxes: cut in halves, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit

SAMPLE = 64
"""How many rows of a run are looked at to choose the column by which it is cut."""


@jit
def cut_runs(columns: Any, order: Any, begin: int, end: int, n_runs: int) -> None:
    """Cut some of the runs of rows of a level in the middle: those lower in the column that varies most come first.

    IN     columns float32[columns, n];  begin, end: which runs;  n_runs: how many the level has
    INOUT  order int64[n], rows by position
    """
    n = len(order)
    for run in range(begin, end):
        first, middle, last = run * n // n_runs, (2 * run + 1) * n // (2 * n_runs), (run + 1) * n // n_runs
        rows = order[first:last]
        column = columns[_widest(columns, rows)]
        keys = np.empty(len(rows), dtype=np.float32)
        for i in range(len(rows)):
            keys[i] = column[rows[i]]
        _select(keys, rows, middle - first)


@jit
def _widest(columns: Any, rows: Any) -> int:
    """The column whose halves vary least beside the whole, the first of those that tie."""
    step = len(rows) // SAMPLE + 1
    n = (len(rows) + step - 1) // step
    keys, along = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.int64)
    widest, most = 0, -1.0
    for j in range(len(columns)):
        for i in range(n):
            keys[i] = columns[j, rows[i * step]]
        _select(keys, along, n // 2)
        gain = _spread(keys) - _spread(keys[: n // 2]) - _spread(keys[n // 2 :])
        if gain > most:
            widest, most = j, gain
    return widest


@jit
def _spread(keys: Any) -> float:
    """Sum of squared differences from the mean."""
    total, squares = 0.0, 0.0
    for x in keys:
        total, squares = total + x, squares + x * x
    return squares - total * total / len(keys) if len(keys) else 0.0


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
