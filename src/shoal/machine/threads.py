"""Columns worked on side by side, a thread for each core.

Polars, NumPy and the kernels let other threads run while they work, so threads are enough. What comes out is what a
plain loop gives, in its order: the number of threads changes the time alone.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TypeVar

from shoal.kernels.pool import Task, begun

S = TypeVar("S")
T = TypeVar("T")
LEAST = 1 << 17
"""Fewer cells are looked at before threads have started."""
AHEAD = 2
"""How many more items than threads are worked on ahead of the one that is asked for."""
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
    rest, ahead, helpers = iter(items), deque[Task[T]](), deque[Task[None]]()

    def look_ahead() -> None:
        ahead.extend(Task(partial(_alone, function, item)) for item in islice(rest, n + AHEAD - len(ahead)))
        for _ in range(len(helpers)):  # those that found nothing to do any more have ended
            if not (helper := helpers.popleft()).done:
                helpers.append(helper)
        helpers.extend(begun(partial(_work_on, ahead)) for _ in range(min(n - 1, len(ahead)) - len(helpers)))

    try:
        look_ahead()
        while ahead:
            _work_on(ahead, until=ahead[0])
            found = ahead.popleft().result()
            look_ahead()
            yield found
    finally:
        for task in ahead:
            task.drop()
        for helper in helpers:
            helper.drop()


def meanwhile(work: Callable[[], T], cells: int) -> Task[T]:
    """Begin work on so many cells that is done beside what follows; at once, where there is one thread, or little.

    It may share columns between threads itself.
    """
    if n_threads() > 1 and cells >= LEAST:
        return begun(work)
    task = Task(work)
    task.run()
    return task


def _work_on(tasks: deque[Task[T]], until: Task[T] | None = None) -> None:
    """Do tasks that nobody has begun, one after the other, until one of them is done or none is left."""
    while (until is None or not until.done) and (task := next((one for one in tuple(tasks) if not one.taken), None)):
        task.run()


def _alone(function: Callable[[S], T], item: S) -> T:
    """Call a function in a thread that has no other threads for columns."""
    before = getattr(_working, "on_column", False)
    _working.on_column = True
    try:
        return function(item)
    finally:
        _working.on_column = before
