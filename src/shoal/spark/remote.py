"""What an executor runs: one step over the entries of a partition. Imports nothing heavy before it knows its cores.

Whatever goes wrong in an executor ends up in logs and in the exception of the driver. So no exception of a step travels
on: errors of ours come back as an entry, and are raised by the driver; of any other its kind alone is told.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

ENTRY = "key int, place int, note binary, rows binary"
"""Columns of what steps read and write: rows travel as bytes of Arrow, which the JVM does not look into."""
LACKING, OTHER, FAILED = "[shoal: lacking]", "[shoal: other version]", "[shoal: failed]"
"""Marks by which the driver knows what went wrong."""
ONE_CORE = {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
SUMMARY, ERROR = -1, -2
"""Places of entries that hold no rows, but what is said of them, or what is wrong with them."""

OWN_COLUMNS = ("read_files",)
"""Steps whose rows are no entries: what is wrong cannot be one."""


class Entry(NamedTuple):
    """One row of what steps read and write."""

    key: int
    """The partition, block or part."""
    place: int
    note: bytes = b""
    rows: bytes = b""


def opened(data: bytes) -> Any:
    """An object that came from the driver or an executor: both run the same code, and Spark itself trusts them so."""
    return pickle.loads(data)  # noqa: S301


def stepped(name: str, version: str, payload: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A step as Spark calls it in executors; it travels by its code, so that it can say that the package is lacking."""
    lacking = LACKING

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        try:
            from shoal.spark.remote import perform, take_one_core
        except ImportError:
            raise RuntimeError(lacking) from None
        take_one_core()
        yield from perform(name, version, payload, batches)

    return run


def take_one_core() -> None:
    """Let libraries use one core: they read that when they are loaded. Numba refuses an environment that changes."""
    if "numba" not in sys.modules:
        for setting, value in ONE_CORE.items():
            os.environ.setdefault(setting, value)


def perform(name: str, version: str, payload: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Do a step over some batches."""
    from shoal._version import __version__

    if __version__ != version:
        raise RuntimeError(OTHER)
    first = "shoal.spark.tasks" not in sys.modules
    try:
        from shoal.spark import parts, people, slices, tasks
    except ImportError:
        raise RuntimeError(LACKING) from None
    if first:
        gc.collect()
        gc.freeze()  # Spark collects garbage after every task, and would look through all modules each time
    from shoal.errors import ShoalError

    try:
        step = next(getattr(one, name) for one in (tasks, parts, people, slices) if hasattr(one, name))
        for entry in step(batches, *opened(payload)):
            yield entry if not isinstance(entry, Entry) else tasks.batch_of(entry)
    except ShoalError as error:
        if name in OWN_COLUMNS:
            raise RuntimeError(f"{FAILED} {error}") from None
        yield tasks.batch_of(Entry(0, ERROR, pickle.dumps((type(error), list(error.problems)))))
    except GeneratorExit:
        raise
    except Exception as error:
        raise RuntimeError(f"{FAILED} {type(error).__name__} in the step {name}") from None
