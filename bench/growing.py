"""One method on one size of one table, in a process of its own: `python growing.py METHOD TABLE ROWS [scan]`.

Prints CPU seconds of the grouping, of the whole path, and the peak of memory. With `scan` no tree of boxes is built:
every search looks at every row, as before there was an index.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import shoal
from cases import runs
from data import adult, adult_schema, kdd, kdd_schema
from shoal.cluster import box_tree

WARM = 1_000
"""Rows of a first call, which loads the kernels."""
AGAIN = 100_000
"""Up to how many rows the second of two runs counts."""


def adult_like(rows: int) -> tuple[pl.DataFrame, shoal.Schema]:
    """Adult: some of its rows, or drawn with replacement up to a number of rows, ages spread by up to two years."""
    rng, frame = np.random.default_rng(0), adult()
    if rows > frame.height:
        frame = frame[rng.integers(0, frame.height, rows)]
        frame = frame.with_columns(pl.col("age") + pl.Series(rng.integers(-2, 3, rows)))
    else:
        frame = frame[np.sort(rng.permutation(frame.height)[:rows])]
    return frame, adult_schema(trees=True)


def census_income(rows: int) -> tuple[pl.DataFrame, shoal.Schema]:
    """Census-Income (KDD), or some of its rows."""
    frame = kdd()
    return frame[np.sort(np.random.default_rng(0).permutation(frame.height)[:rows])], kdd_schema()


TABLES: dict[str, Callable[[int], tuple[pl.DataFrame, shoal.Schema]]] = {"adult": adult_like, "kdd": census_income}


class Stages:
    """When each stage of the work began, by a clock; in CPU seconds of this process when none is given."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self.begun: list[tuple[str, float]] = []
        self._clock = clock

    def stage(self, name: str, total: int | None = None) -> None:  # noqa: ARG002
        """Note when a stage begins."""
        self.begun.append((name, self._clock()))

    def advance(self, steps: int) -> None:
        """How far it is does not matter here."""

    def grouping(self) -> float:
        """Seconds from the end of reading to the beginning of publishing."""
        names = [name for name, _ in self.begun]
        first = len(names) - names[::-1].index("reading")
        return self.begun[names.index("publishing")][1] - self.begun[first][1]


def once(method: shoal.Method, frame: pl.DataFrame, schema: shoal.Schema) -> dict[str, float]:
    """Publish a table on one core."""
    stages, begin = Stages(), time.process_time()
    shoal.anonymize(frame, schema, method, publish=shoal.Generalize(), seed=0, threads=1, progress=stages)
    return {"seconds": stages.grouping(), "whole": time.process_time() - begin}


def main() -> None:
    name, table, rows, *how = sys.argv[1:]
    method, least = runs()[name], box_tree.LEAST
    frame, schema = TABLES[table](int(rows))
    box_tree.LEAST = 1 << 62 if "scan" in how else 2
    once(method, frame.head(WARM), schema)
    box_tree.LEAST = max(box_tree.LEAST, least)
    found = once(method, frame, schema)
    if int(rows) <= AGAIN:  # a kernel that is compiled for tables of that size would count
        found = once(method, frame, schema)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
