"""A clock that stands still while a kernel is compiled, or its machine code is read from disk."""

from __future__ import annotations

import threading
import time
from typing import Any

from numba.core import event


class _Compiling(event.Listener):
    """How long the lock was held or waited for under which Numba compiles and loads: by any thread, counted once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth, self._since, self._total = 0, 0.0, 0.0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """Begin to count, with the first of several."""
        with self._lock:
            if self._depth == 0:
                self._since = time.perf_counter()
            self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """Stop counting, with the last of them."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._total += time.perf_counter() - self._since

    def without(self) -> float:
        """Seconds of a clock, but for those that were counted."""
        with self._lock:
            now = time.perf_counter()
            return (self._since if self._depth else now) - self._total


_compiling = _Compiling()
event.register("numba:compiler_lock", _compiling)  # for good: whoever leaves while others are told makes one miss it


def clock() -> float:
    """Seconds since some moment, as `time.perf_counter` has them, without those spent on compiling since it began."""
    return _compiling.without()
