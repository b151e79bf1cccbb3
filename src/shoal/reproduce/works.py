"""The five works by name, and how one is run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, ShoalWarning, SourceError, did_you_mean
from shoal.errors.redaction import redacted
from shoal.progress import SILENT, Progress
from shoal.reproduce.page import Page
from shoal.spec import Whole

HOMES = {name: f"shoal.reproduce.{name.lower()}" for name in ("S1", "S2", "S3", "S4", "S5")}
"""Where each work stands."""


@dataclass(frozen=True)
class Setting:
    """What a work is run with."""

    tables: dict[str, pl.DataFrame]
    """Those that it needs: `adult`, `census`."""
    n_rows: int
    """Of every run."""
    n_runs: int
    seed: int = 0
    progress: Progress = SILENT

    @property
    def seeds(self) -> range:
        """One for each run."""
        return range(self.seed, self.seed + self.n_runs)


@dataclass(frozen=True)
class Work:
    """A work: the tables that it needs, how many rows and runs a full page is made of, and what makes it."""

    name: str
    needs: tuple[str, ...]
    n_rows: int
    least_rows: int
    """With fewer there is nothing to be seen."""
    n_runs: int
    make: Callable[[Setting], Page]


@dataclass(frozen=True)
class Asked:
    """What is given for all works alike."""

    data: Path | None = None
    census: Path | None = None
    n_rows: int | None = None
    n_runs: int | None = None
    seed: int = 0
    progress: Progress = SILENT


def works_of(names: Sequence[str]) -> list[Work]:
    """The works that are named, in small letters or large; refuses names that are none, all at once."""
    problems = Problems()
    for name in names:
        if name.upper() not in HOMES:
            problems.add(f"work {redacted(name)[:40]!r}", "there is none of that name", did_you_mean(name, HOMES))
    problems.raise_if_any(ParameterError)
    return [work_of(name) for name in dict.fromkeys(name.upper() for name in names)]


def work_of(name: str) -> Work:
    """A work, loaded when it is asked for."""
    found: Work = import_module(HOMES[name]).WORK
    return found


def reproduced(work: Work, setting: Setting) -> Page:
    """Run a work; what methods warn of is known here, and meant: seeds that can be told, releases without a k."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        return work.make(setting)


def settings_of(works: Sequence[Work], asked: Asked) -> dict[str, Setting]:
    """What each work is run with; everything that is wrong with what is given is said here, before any work starts."""
    from shoal.reproduce import data

    problems = Problems()
    bounds = {"rows": (asked.n_rows, Whole(1)), "runs": (asked.n_runs, Whole(1)), "seed": (asked.seed, Whole(0))}
    for name, (value, bound) in bounds.items():
        if value is not None and (complaint := bound.complaint(value)):
            problems.add(f"--{name}", complaint)
    for work in works:
        if not problems and asked.n_rows is not None and asked.n_rows < work.least_rows:
            problems.add("--rows", f"{work.name} needs at least {work.least_rows}, got {asked.n_rows}", "take more")
    problems.raise_if_any(ParameterError)
    readers = {"adult": lambda: data.adult(asked.data), "census": lambda: data.census(asked.census)}
    tables: dict[str, pl.DataFrame] = {}
    for name in sorted({need for work in works for need in work.needs}):
        try:
            tables[name] = readers[name]()
        except (SourceError, SchemaError) as error:
            problems.take(error)
    problems.raise_if_any(ParameterError)
    return {work.name: _setting(work, asked, tables) for work in works}


def _setting(work: Work, asked: Asked, tables: dict[str, pl.DataFrame]) -> Setting:
    from shoal.reproduce.data import check_rows

    own = {name: tables[name] for name in work.needs}
    for name, table in own.items():
        check_rows(table.height, work.least_rows, name)
    made = Setting(own, asked.n_rows or work.n_rows, asked.n_runs or work.n_runs, asked.seed, asked.progress)
    most = max(table.height for table in own.values())
    return replace(made, n_rows=min(made.n_rows, most))
