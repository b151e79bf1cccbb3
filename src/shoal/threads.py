"""Columns worked on side by side, a thread for each core.

Polars, NumPy and the kernels let other threads run while they work, so threads are enough. What comes out is what a
plain loop gives, in its order: the number of threads changes the time alone.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")
LEAST = 1 << 17
"""Fewer cells are looked at before threads have started."""
_working = threading.local()


def n_threads() -> int:
    """How many threads there are for columns: one inside a thread that works on a column already."""
    return 1 if getattr(_working, "on_column", False) else _cores()


def _cores() -> int:
    """As many as Polars uses, and no more than kernels may use now; one in a process that has one core."""
    import polars as pl

    kernels = getattr(sys.modules.get("numba"), "get_num_threads", pl.thread_pool_size)  # who wants fewer has loaded it
    return min(pl.thread_pool_size(), int(kernels()))


def side_by_side(function: Callable[[S], T], items: Iterable[S], cells: int) -> Iterator[T]:
    """What a function gives for each of several items that have so many cells together, in their order.

    Where cells are many, a few items are worked on ahead of the one that is asked for. The function must change nothing
    that another call looks at. What it raises is raised when that item is asked for, as in a loop.
    """
    n = n_threads() if cells >= LEAST else 1
    if n < 2:
        yield from map(function, items)
        return
    rest = iter(items)
    with ThreadPoolExecutor(n, initializer=_begin) as pool:
        ahead = deque(pool.submit(function, item) for item in islice(rest, n + 1))
        while ahead:
            found = ahead.popleft().result()
            ahead.extend(pool.submit(function, item) for item in islice(rest, 1))
            yield found


def _begin() -> None:
    """Note in a new thread what it is for."""
    _working.on_column = True
