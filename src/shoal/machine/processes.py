"""Processes that work beside this one: on blocks, on kernels to compile, on recipes that are compared."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, ClassVar

from shoal.errors import Problem, SourceError

CORES = ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
"""Where libraries read how many cores they may use."""
AHEAD = 2
"""How many tasks wait for each process: what they hold is in memory."""
_BEGINNING = threading.Lock()


class ProcessApart(SpawnProcess):
    """A process that does not run the script of this one again, as a spawned one does before it begins.

    A script without ``if __name__ == "__main__"`` would do all of its work once more in every process, and then fail.
    """

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802  its name above
        with _script_hidden():
            return SpawnProcess._Popen(process_obj)


class ContextApart(SpawnContext):
    """Begins processes that know Shoal and what they are sent, and nothing of the script of this one."""

    Process: ClassVar[Any] = ProcessApart


@contextmanager
def _script_hidden() -> Iterator[None]:
    """Let new processes see no script; but for one with a method, a model or so of its own, which only it knows."""
    script = vars(sys.modules["__main__"])
    own = (one for one in list(script.values()) if isinstance(one, type) and one.__module__ == "__main__")
    if any(hasattr(one, "registry") for one in own):
        yield
        return
    with _BEGINNING:
        kept: dict[str, Any] = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
        script["__spec__"] = None
        try:
            yield
        finally:
            script.update(kept)


class ProcessEndedError(SourceError):
    """A process that worked beside this one is gone; what it had finished is there."""


@contextmanager
def ended_told() -> Iterator[None]:
    """Say of a process that was ended what that means, and what to do."""
    try:
        yield
    except BrokenProcessPool:
        what = "one that worked beside this one was ended by the system, or by somebody"
        fix = "run it again, with more memory, fewer processes or smaller blocks: what is done is not done again"
        raise ProcessEndedError(Problem("processes", what, fix)) from None


class Here(Executor):
    """Calls functions in this process, at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function now; what it raises is raised when its result is asked for."""
        found: Future[Any] = Future()
        try:
            found.set_result(fn(*args, **kwargs))
        except Exception as error:
            found.set_exception(error)
        return found


@dataclass(frozen=True)
class Pool:
    """Calls functions in other processes, or in this one, where there is one worker."""

    executor: Executor
    workers: int

    def each(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        done: Callable[[int], None] = lambda place: None,  # noqa: ARG005
    ) -> list[Any]:
        """What a function gives for each of several arguments, in their order; `done` is told as they come."""
        found: list[Any] = [None] * len(arguments)
        waiting: dict[Future[Any], int] = {}
        places = iter(range(len(arguments)))
        try:
            with ended_told():
                while True:
                    while len(waiting) < AHEAD * self.workers and (place := next(places, None)) is not None:
                        waiting[self.executor.submit(function, *arguments[place])] = place
                    if not waiting:
                        return found
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        place = waiting.pop(future)
                        found[place] = future.result()
                        done(place)
        finally:
            for future in waiting:
                future.cancel()


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def processes(workers: int | None, *, cores: int = 1) -> Iterator[Pool]:
    """So many processes, or as many as cores, each of which may use so many of these; they end with the block."""
    n_workers = workers or n_cores()
    if n_workers == 1:
        yield Pool(Here(), 1)
        return
    begin = (os.getpid(), cores)
    executor = ProcessPoolExecutor(n_workers, mp_context=ContextApart(), initializer=_begin, initargs=begin)
    try:
        yield Pool(executor, n_workers)
    except BaseException:
        for process in list((executor._processes or {}).values()):
            process.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _begin(first: int, cores: int) -> None:
    """Work on some cores, and leave it to the first process to stop the work in an orderly way; end with it.

    It may be gone before this one has begun.

    Libraries read how many cores they may use when they are loaded, which is later. The environment of the first
    process stays as it is: Numba refuses one that changes.
    """
    os.environ.update(dict.fromkeys(CORES, str(cores)))
    import signal
    import threading
    import time

    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == first:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
