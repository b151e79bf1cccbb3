"""Steps run as jobs of Spark, what is said of their entries, and errors of executors in plain words."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal._version import __version__
from shoal.engines.bins import Binned
from shoal.engines.cuts import Cuts, Ints
from shoal.errors import Problem, ShoalError, SourceError
from shoal.machine.extras import load
from shoal.spark.remote import ENTRY, ERROR, FAILED, LACKING, OTHER, SUMMARY, opened, stepped
from shoal.spark.tasks import counts_of

EXTRA = "spark"
WHAT = "shoal.spark"
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
ENTRIES_AT_ONCE = 4
"""Entries that an executor gets at a time: each may hold a quarter of a million rows."""
BY_ID = "repartitionById"
"""How Spark 4.1 and later put each key in a partition of its own; before, several may share one."""
FEW = 32
"""Partitions whose facts and counts the driver puts together itself."""


@dataclass
class Jobs:
    """Runs steps on the executors of a session."""

    spark: Any
    kept: list[Any] = field(default_factory=list)
    """What executors keep until it is not needed any more."""

    def step(self, frame: Any, name: str, *arguments: Any) -> Any:
        """What a step makes of the rows of a DataFrame; nothing is done yet."""
        return self.mapped(frame, ENTRY, name, *arguments)

    def mapped(self, frame: Any, schema: Any, name: str, *arguments: Any) -> Any:
        """The same with columns of its own."""
        payload = load("pyspark.cloudpickle", extra=EXTRA, what=WHAT).dumps(arguments)
        with quiet():
            return frame.mapInArrow(stepped(name, __version__, payload), schema)

    def keep(self, frame: Any) -> Any:
        """Let executors keep what they find, until `drop`: in memory, or on their disks where that is too little."""
        level = load("pyspark", extra=EXTRA, what=WHAT).StorageLevel.MEMORY_AND_DISK
        self.kept.append(frame.persist(level))
        return self.kept[-1]

    def drop(self, *frames: Any) -> None:
        """Let executors forget."""
        for frame in frames or tuple(self.kept):
            self.kept = [one for one in self.kept if one is not frame]
            try:
                frame.unpersist()
            except Exception:  # noqa: S112  the session is gone, and with it what it kept
                continue

    def said(self, frame: Any) -> list[tuple[int, bytes]]:
        """What is said of entries, by their keys; raises what a step found wrong."""
        rows = ran(lambda: frame.filter("place < 0").select("key", "place", "note").collect())
        for row in rows:
            if row["place"] == ERROR:
                kind, problems = opened(bytes(row["note"]))
                raise kind(problems)
        return sorted((int(row["key"]), bytes(row["note"])) for row in rows if row["place"] == SUMMARY)

    def gathered(self, frame: Any, joining: str, n_partitions: int) -> list[bytes]:
        """What is said of partitions; of many, put together by some executors first."""
        if n_partitions > FEW:
            some = frame.filter("place < 0").repartition(math.isqrt(n_partitions))
            frame = self.step(some, joining)
        return [note for _, note in self.said(frame)]

    def exchanged(self, frame: Any, n_keys: int) -> Any:
        """Entries of one key together, each key in a partition of its own where Spark can do that."""
        exchange = getattr(frame, BY_ID, frame.repartition)
        return exchange(n_keys, "key").sortWithinPartitions("key", "place")

    @contextmanager
    def in_batches(self, n_rows: int = ENTRIES_AT_ONCE) -> Iterator[None]:
        """Let executors get so many rows at a time, for a while."""
        before = self.spark.conf.get(BATCH)
        self.spark.conf.set(BATCH, n_rows)
        try:
            yield
        finally:
            self.spark.conf.set(BATCH, before)


@dataclass(frozen=True)
class OnSpark:
    """Counts the rows of a table on a cluster."""

    jobs: Jobs
    binned: Any
    n_partitions: int
    columns: Sequence[Binned]
    n_values: Mapping[str, int]

    def histograms(self, cuts: Cuts, nodes: Sequence[int]) -> list[Ints]:
        """Of each column, how many rows of each node are in each bin."""
        return self._summed("count_bins", cuts, list(nodes), list(self.columns))

    def sensitive(self, cuts: Cuts, nodes: Sequence[int]) -> Mapping[str, Ints]:
        """Of each sensitive column, how often each value is in each node."""
        found = self._summed("count_sensitive", cuts, list(nodes), dict(self.n_values))
        return dict(zip(self.n_values, found, strict=True))

    def _summed(self, step: str, *arguments: Any) -> list[Ints]:
        bins = self.binned.selectExpr("key", "place", "note", "CAST(NULL AS BINARY) AS rows")
        notes = self.jobs.gathered(self.jobs.step(bins, step, *arguments), "join_counts", self.n_partitions)
        total = counts_of(notes[0])
        for note in notes[1:]:
            for sums, more in zip(total, counts_of(note), strict=True):
                np.add(sums, more, out=sums)
        return total


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning that Spark has not caught up with pandas, which is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def ran(action: Callable[[], Any]) -> Any:
    """What a job gives; what goes wrong in it is told without the words of executors, which may hold cells."""
    try:
        with quiet():
            return action()
    except ShoalError:
        raise
    except Exception as error:
        problem = told(f"{type(error).__name__} {error}")
    raise SourceError(problem)


def told(text: str) -> Problem:
    """What went wrong in a job, by marks in the text of its error."""
    if LACKING in text or re.search(r"No module named '(shoal|polars|numba|numpy|pyarrow)", text):
        what = f"Shoal {__version__} or a package that it needs is not installed on an executor"
        return Problem("spark", what, "ship it: --py-files shoal.whl, or an archived environment (docs/spark.md)")
    if OTHER in text:
        what = f"an executor has another version of Shoal than the driver, which has {__version__}"
        return Problem("spark", what, "install the same version everywhere")
    if "PYTHON_VERSION_MISMATCH" in text:
        what = "executors run another version of Python than the driver"
        return Problem("spark", what, "set PYSPARK_PYTHON, or spark.pyspark.python, to the same version")
    if found := re.search(rf"{re.escape(FAILED)} (\w+) in the step (\w+)", text):
        what = f"an executor failed in the step {found[2]} ({found[1]})"
        return Problem("spark", what, "look at its memory and disk; smaller blocks need less")
    kind = re.search(r"\[([A-Z][A-Z_.0-9]+)\]", text)
    what = f"a job failed ({kind[1] if kind else text.split()[0]})"
    return Problem("spark", what, "look at the logs of the driver and the executors, which may show cells of the table")
