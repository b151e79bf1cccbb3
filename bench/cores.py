"""What two cores gain over one, stage by stage, 300,000 rows: `python cores.py [ROWS]`.

Every number of cores has a process of its own, since libraries read it when they are loaded; the two are asked for each
stage in turns, so that both meet the same neighbours on a busy machine. Wall time, the best of as many runs as fit into
some seconds, for a short stage may find both cores free. `python cores.py ROWS STAGE ...` looks at some stages alone.

Cores that share caches, memory or even a processor are not twice as quick as one, however well work is shared. The last
figure says what is there to be gained: two processes of one core each do the same stage at the same time, in which
nothing is serial, and nobody waits for anybody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

ROWS = 300_000
TIMES, SECONDS = 3, 12.0
"""Turns of a stage at least, and how long it is tried for."""
AT_ONCE = 0.5
"""Seconds of runs one after the other in a turn; what sleeps between turns takes a while to wake up."""
WANTED = 1.6
STAGES = {
    "reading and preparing": "a frame into canonical types",
    "encoding": "canonical columns as numbers",
    "building an index": "rows cut into runs, boxes around them",
    "scanning": "the ten nearest and the farthest of all, 200 times, without an index",
    "assigning": "every row to the nearest of the centroids of k-means",
    "in turn": "a whole iteration of No. 2, whose centroids close one after the other",
    "refining": "moves and swaps without rounds",
    "publishing": "cells of all groups",
    "checking": "the release from its tables alone",
}


def worker(rows: int) -> None:
    """Do the stages that are asked for, and say how long each took."""
    import numpy as np

    import shoal
    from growing import adult_like
    from shoal.check.release import verify
    from shoal.cluster import box_tree
    from shoal.cluster.centroids import Centroids
    from shoal.cluster.point_index import indexed
    from shoal.cluster.points import Free, Space
    from shoal.enforce.refine import Refine
    from shoal.methods.base import Task
    from shoal.table.prepare import prepare

    frame, schema = adult_like(rows)
    method, publish = shoal.KMember(k=10, start=0), shoal.Generalize()
    small, _ = adult_like(20_000)
    made: dict[str, Any] = {}

    def refined(task: Any, groups: Any) -> None:
        Refine().improve(task, groups, k=10, loss="ncp", sets=False, rng=np.random.default_rng(0))

    def scanned(free: Any) -> None:
        for place in range(200):
            free.survey(free.at(place), 10)

    def assigned(centroids: Any) -> None:
        centroids._near[:] = -1  # as in the first iteration
        centroids.nearest()

    work: dict[str, Callable[[], object]] = {
        "reading and preparing": lambda: prepare(frame, schema),
        "encoding": lambda: Task.of(made["table"]),
        "building an index": lambda: indexed(made["space"].axes, made["space"].columns),
        "scanning": lambda: scanned(made["free"]),
        "assigning": lambda: assigned(made["centroids"]),
        "in turn": lambda: shoal.KMeans(k=10, variant=2, max_iter=1).partition(made["task"], np.random.default_rng(0)),
        "refining": lambda: refined(made["task"], made["groups"]),
        "publishing": lambda: publish.show(made["table"], made["groups"]),
        "checking": lambda: verify(made["release"].frames, made["release"].manifest),
    }
    for one, height in ((small, 20_000), (frame, rows)):  # the first compiles
        table = prepare(one, schema)
        task = Task.of(table)
        groups = method.partition(task, np.random.default_rng(0))
        least, box_tree.LEAST = box_tree.LEAST, 1 << 62
        made.update(
            table=table,
            task=task,
            groups=groups,
            space=Space.of(task),
            free=Free(Space.of(task), np.full(one.height, -1)),
        )
        box_tree.LEAST = least
        made["centroids"] = Centroids(task.encoded, height // 10)
        made["centroids"].start_at(np.random.default_rng(0).choice(height, height // 10, replace=False))
        made["release"] = shoal.anonymize(one, schema, method, publish=publish, seed=0)
        if height < rows:
            for stage in work.values():
                stage()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(best_of(work[line.strip()])), flush=True)


def best_of(stage: Callable[[], object]) -> float:
    """The best of as many runs as fit into half a second: in a release, too, a stage follows other work at once."""
    found: list[float] = []
    while sum(found) < AT_ONCE:
        begin = time.perf_counter()
        stage()
        found.append(time.perf_counter() - begin)
    return min(found)


def started(cores: int, rows: int) -> subprocess.Popen[str]:
    """A process with so many cores, once it is ready."""
    limits = {"POLARS_MAX_THREADS": str(cores), "NUMBA_NUM_THREADS": str(cores), "SHOAL_QUIET": "1"}
    line = [sys.executable, __file__, str(rows), "worker"]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | limits)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    return process


def asked(stage: str, *processes: subprocess.Popen[str]) -> float:
    """How long processes take for a stage, at the same time; the slowest of them."""
    for process in processes:
        assert process.stdin is not None
        print(stage, file=process.stdin, flush=True)
    return max(float(json.loads(process.stdout.readline())) for process in processes if process.stdout is not None)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    if sys.argv[2:] == ["worker"]:
        worker(rows)
        return
    one, two, other = started(1, rows), started(2, rows), started(1, rows)
    print(f"{rows:,} Adult-like rows, wall seconds; two cores are to gain {WANTED}")
    print(f"{'':22} {'one':>8} {'two':>8} {'gain':>7} {'at most':>8}")
    for stage in sys.argv[2:] or STAGES:
        what, times, begin = STAGES[stage], [], time.perf_counter()
        while len(times) < TIMES or time.perf_counter() - begin < SECONDS:
            times.append((asked(stage, one), asked(stage, two), asked(stage, one, other)))
        alone, shared, both = (min(found) for found in zip(*times, strict=True))
        gains = f"{alone / shared:7.2f} {2 * alone / both:8.2f}"
        print(f"{stage:22} {alone:8.3f} {shared:8.3f} {gains}   {what}", flush=True)
    for process in (one, two, other):
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
