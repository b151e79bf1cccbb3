"""Threads that last: work is begun in one of them, or done by whoever asks for it first.

A thread that waits for work that nobody has begun does it itself. So work inside work never waits for a thread that
will not come: not where all are busy, not in a process that was forked, which has none, not while Python ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
FEWEST = 4
"""Threads there may be at least; each is started when it is first needed, and waits until Python ends."""


class Task(Generic[T]):
    """Work that is done once, by whoever comes first."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work, self._taken, self._found = work, threading.Lock(), Future[T]()

    @property
    def taken(self) -> bool:
        """Whether somebody has begun, or nobody will."""
        return self._taken.locked()

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self._found.done()

    def run(self) -> None:
        """Do the work here, unless somebody has begun; an error is raised where the result is asked for.

        Who is told to stop (Ctrl-C) stops at once.
        """
        try:
            if self._taken.acquire(blocking=False):
                self._found.set_result(self._work())
        except BaseException as error:  # wherever Ctrl-C came, also just after it was taken: nobody waits for ever
            with suppress(InvalidStateError):
                self._found.set_exception(error)
            if not isinstance(error, Exception):
                raise

    def drop(self) -> None:
        """Leave it undone; where somebody has begun, wait until they are done."""
        if not self._taken.acquire(blocking=False):
            self._found.exception()

    def result(self) -> T:
        """What came of it; it is done here where nobody has begun."""
        self.run()
        return self._found.result()


class _Threads:
    """The threads of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None]) -> None:
        """Have a thread do something when one is free; nobody does where Python is about to end."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max(FEWEST, os.cpu_count() or 1), thread_name_prefix="shoal")
            try:
                self._pool.submit(work)
            except RuntimeError:  # no thread can be started any more
                return


_threads = _Threads()


def _forget() -> None:
    """Begin anew in a forked process: threads stayed with the other one."""
    global _threads
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def begun(work: Callable[[], T]) -> Task[T]:
    """Have a thread begin some work when one is free."""
    task = Task(work)
    _threads.submit(task.run)
    return task
