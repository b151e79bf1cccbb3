"""Processes that publish and measure one recipe after the other, each within its memory and its time."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import polars as pl

from shoal.comparison.figures import Figures, Wanted, figures, said, tried
from shoal.errors import ShoalError, ShoalWarning
from shoal.machine.processes import ContextApart
from shoal.recipe.recipe import Recipe

WARM_ROWS = 200
"""Rows of a first run whose time does not count: it loads what a first run needs, also of a table that has no more."""
EVERY = 0.1
"""Seconds between two looks at the memory that is used."""
TOO_MUCH = 86
"""Exit status of a process that used more memory than it may."""


@dataclass(frozen=True)
class Table:
    """What all recipes are tried on."""

    frame: pl.DataFrame
    population: pl.DataFrame | None = None
    wanted: Wanted = field(default_factory=Wanted)


@dataclass(frozen=True)
class Outcome:
    """What came of a recipe: its figures, or why there are none."""

    figures: Figures = field(default_factory=dict)
    failed: str | None = None


def outcome(recipe: Recipe, table: Table) -> Outcome:
    """Publish and measure, after a first run on a few rows whose time does not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)  # nothing is published of these releases
        with suppress(ShoalError):  # a few rows may be too few for what is required
            tried(recipe, table.frame.head(WARM_ROWS), table.wanted, table.population)
        try:
            return Outcome(figures(recipe, table.frame, table.wanted, table.population))
        except ShoalError as error:
            return Outcome(failed=said(error))


def one_by_one(
    recipes: Mapping[str, Recipe], table: Table, until: float | None = None
) -> Iterator[tuple[str, Outcome]]:
    """What came of each recipe, tried in this process; none is begun when the time is over."""
    for name, recipe in recipes.items():
        if until is not None and time.monotonic() > until:
            yield name, Outcome(failed="the time was over before it began")
        else:
            yield name, outcome(recipe, table)


def side_by_side(
    recipes: Mapping[str, Recipe], table: Table, jobs: int, *, memory: int | None = None, until: float | None = None
) -> Iterator[tuple[str, Outcome]]:
    """What came of each recipe, as they end, tried by some processes.

    Parameters
    ----------
    recipes
        What to try, in this order.
    table
        What on.
    jobs
        How many processes.
    memory
        Bytes that all of them may use together; a recipe that needs more than its share is tried again alone.
    until
        When to stop, by `time.monotonic`; what is not done by then is ended.
    """
    share = None if memory is None else memory // jobs
    again: dict[str, Recipe] = {}
    for name, found in _Crew(table, jobs, share).work(recipes, until):
        if found is None and jobs > 1:
            again[name] = recipes[name]
        else:
            yield name, found or _too_large(memory)
    for name, found in _Crew(table, 1, memory).work(again, until) if again else ():
        yield name, found or _too_large(memory)


def _too_large(memory: int | None) -> Outcome:
    return Outcome(failed=f"needs more memory than {(memory or 0) / 2**20:,.0f} MB")


class _Crew:
    """Some processes, and what each is at work on."""

    def __init__(self, table: Table, jobs: int, memory: int | None) -> None:
        self.table, self.jobs, self.memory = table, jobs, memory
        self.at_work: dict[Connection, tuple[Any, str]] = {}
        self.idle: list[tuple[Connection, Any]] = []

    def work(self, recipes: Mapping[str, Recipe], until: float | None) -> Iterator[tuple[str, Outcome | None]]:
        """What came of each recipe; None where a process used too much memory."""
        waiting = list(recipes.items())
        try:
            while waiting or self.at_work:
                if until is not None and time.monotonic() > until:
                    names = [name for _, name in self.at_work.values()] + [name for name, _ in waiting]
                    yield from ((name, Outcome(failed="the time was over before it ended")) for name in names)
                    return
                while waiting and len(self.at_work) < self.jobs:
                    self._give(*waiting.pop(0))
                left = None if until is None else max(until - time.monotonic(), 0.0)
                for ready in wait(list(self.at_work), left):
                    assert isinstance(ready, Connection)  # noqa: S101  only those were given
                    yield self._taken(ready)
        finally:
            self._end()

    def _give(self, name: str, recipe: Recipe) -> None:
        while self.idle:
            pipe, process = self.idle.pop()
            with suppress(ConnectionError):  # it was ended by somebody else
                pipe.send(recipe)
                self.at_work[pipe] = process, name
                return
        pipe, process = self._started()
        with suppress(ConnectionError):  # it ended before it began, which is seen when its answer is taken
            pipe.send(self.table)
            pipe.send(recipe)
        self.at_work[pipe] = process, name

    def _started(self) -> tuple[Connection, Any]:
        context = ContextApart()
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self.memory), daemon=True)
        process.start()
        theirs.close()
        return ours, process

    def _taken(self, pipe: Connection) -> tuple[str, Outcome | None]:
        process, name = self.at_work.pop(pipe)
        try:
            found: Outcome = pipe.recv()
        except (EOFError, ConnectionError):
            process.join()
            pipe.close()
            too_much = process.exitcode == TOO_MUCH
            return name, None if too_much else Outcome(failed=f"its process ended with status {process.exitcode}")
        self.idle.append((pipe, process))
        return name, found

    def _end(self) -> None:
        for pipe, process in [*self.idle, *((pipe, process) for pipe, (process, _) in self.at_work.items())]:
            process.terminate()
            process.join()
            pipe.close()
        self.idle.clear()
        self.at_work.clear()


def _work(pipe: Connection, memory: int | None) -> None:
    """Take a table, and try on it what is sent until nothing more comes."""
    if memory is not None:
        threading.Thread(target=_watch, args=(memory,), daemon=True).start()
    with suppress(EOFError):
        table = pipe.recv()
        while True:
            recipe = pipe.recv()
            try:
                pipe.send(outcome(recipe, table))
            except MemoryError:
                os._exit(TOO_MUCH)


def _watch(memory: int, used: Callable[[], int] | None = None) -> None:
    """End this process when it uses more memory than it may."""
    look = used or memory_used
    while look() <= memory:
        time.sleep(EVERY)
    os._exit(TOO_MUCH)


def memory_used() -> int:
    """Bytes that this process has in memory; where the system does not tell, the most it had."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * os.sysconf("SC_PAGE_SIZE")
