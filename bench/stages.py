"""All stages but the grouping, a million rows: `python stages.py [ROWS [THREADS]]`.

Reading, preparing, encoding, publishing, verifying, measuring and writing one CSV file, beside reading and writing the
same file with polars, in CPU seconds of all threads. Groups are given: rows in the order of their cells, ten at a time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

import shoal
from growing import Stages, adult_like
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Whole, param

MILLION = 1_000_000
WANTED = 5.0
"""Times reading and writing by polars, at the most."""


@dataclass(frozen=True)
class InOrder(Method):
    """Rows in the order of their cells, k at a time: as little grouping as there can be.

    Guarantee
    ---------
    Every group has at least k rows.
    """

    name: ClassVar[str] = "in-order"
    title: ClassVar[str] = "rows in the order of their cells"
    paper: ClassVar[str] = "none"
    complexity: ClassVar[str] = "time O(n log n), memory O(n)"
    advice: ClassVar[str] = "Only to measure the other stages."

    k: int = param(Whole(2), "smallest group size")

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        progress.stage("grouping")
        encoded = task.encoded
        order = np.lexsort((*encoded.codes, *encoded.lines))
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = np.minimum(np.arange(len(order)) // self.k, len(order) // self.k - 1)
        return Groups(labels)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else MILLION
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else None
    frame, schema = adult_like(rows)
    frame = frame.select(*schema.quasi, "income")
    shoal.register(InOrder)
    with tempfile.TemporaryDirectory() as folder:
        file, copy = Path(folder) / "people.csv", Path(folder) / "copy.csv"
        frame.write_csv(file)
        shoal.anonymize(frame.head(1000), schema, InOrder(k=10), publish=shoal.Generalize(), seed=0)
        begin = time.process_time()
        pl.read_csv(file).write_csv(copy)
        theirs = time.process_time() - begin
        stages, begin = Stages(time.process_time), time.process_time()
        given = shoal.read_csv(file) if hasattr(shoal, "read_csv") else pl.read_csv(file)
        release = shoal.anonymize(
            given, schema, InOrder(k=10), publish=shoal.Generalize(), seed=0, threads=threads, progress=stages
        )
        stages.stage("writing")
        release.write(Path(folder) / "release")
        ours = time.process_time() - begin - stages.grouping()
        stages.stage("end")
    pairs = zip(stages.begun, stages.begun[1:], strict=False)
    each = {name: round(end - start, 3) for (name, start), (_, end) in pairs}
    print(json.dumps({"polars": round(theirs, 3), "shoal": round(ours, 3), "ratio": round(ours / theirs, 2), **each}))


if __name__ == "__main__":
    main()
