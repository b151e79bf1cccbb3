"""One measurement per call, each in a process of its own so that peak memory is its own: `python cases.py NAME`."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
MILLION = 1_000_000
sys.path.insert(0, str(ROOT / "tests"))


def adult():
    """The 30,162 complete rows of Adult's training part; age a number, the rest text."""
    import polars as pl

    frame = pl.read_csv(DATA / "adult" / "adult.csv.gz", infer_schema=False, null_values="?")
    return frame.head(32_561).drop_nulls().with_columns(pl.col("age").cast(pl.Int64))


def schema(*, trees: bool):
    import shoal

    folder = DATA / "adult" / "hierarchies"
    kinds = {
        name: shoal.Nominal(shoal.Hierarchy.from_csv(folder / f"{name}.csv") if trees else None) for name in QUASI[1:]
    }
    return shoal.Schema(quasi={"age": shoal.Numeric(), **kinds}, sensitive=["income"], rest="drop")


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Best wall time of a few runs."""
    best = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def caat() -> dict[str, float]:
    import shoal

    frame = adult()
    shoal.anonymize(frame.head(200), schema(trees=True), shoal.Caat(k=10))  # loads the kernels
    taken = seconds(lambda: shoal.anonymize(frame, schema(trees=True), shoal.Caat(k=10, start=0)))
    release = shoal.anonymize(frame, schema(trees=True), shoal.Caat(k=10, start=0))
    return {"seconds": taken, "k": release.verify().k, "ncp": release.measure()["ncp"]}


def caat_twin(rows: int) -> dict[str, float]:
    """The slow twin of the tests on the first rows, and whether its labels are the kernel's."""
    import numpy as np

    import shoal
    from shoal.methods import Task
    from shoal.table.prepare import prepare
    from twins.caat import caat as twin

    frame = adult().head(rows)
    table = prepare(frame, schema(trees=True))
    spans = {"age": float(table.frame["age"].max() - table.frame["age"].min())}
    columns = [("line", spans[name]) if name in spans else ("tree", table.hierarchy(name)) for name in table.quasi]
    cells = [list(row) for row in table.frame.select(list(table.quasi)).rows()]
    labels: list[int] = []
    taken = seconds(lambda: labels.extend(twin(cells, columns, k=10, start=0)))
    kernel = shoal.Caat(k=10, start=0).partition(Task.of(table), np.random.default_rng(0)).labels
    return {"seconds": taken, "same_labels": float(labels == kernel.tolist())}


def k_member(k: int) -> dict[str, float]:
    """No hierarchies, sets published: what the set cost is made for."""
    import shoal

    frame, method, publish = adult(), shoal.KMember(k=k, cost="set", start=0), shoal.Generalize(sets=True)
    shoal.anonymize(frame.head(200), schema(trees=False), method, publish=publish)
    release = shoal.anonymize(frame, schema(trees=False), method, publish=publish)
    taken = seconds(lambda: shoal.anonymize(frame, schema(trees=False), method, publish=publish))
    return {"seconds": taken, "ncp": release.measure()["ncp"], "k": release.verify().k}


def mdav(threads: int) -> dict[str, float]:
    """50,000 points of eight standard normal columns, k = 10; the grouping alone."""
    import numba
    import numpy as np
    import polars as pl

    import shoal
    from shoal.methods import Task
    from shoal.table.prepare import prepare

    values = np.random.default_rng(0).standard_normal((8, 50_000))
    frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(values)})
    quasi = shoal.Schema(quasi={name: shoal.Numeric() for name in frame.columns})
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    method, rng = shoal.Mdav(k=10), np.random.default_rng(0)
    method.partition(Task.of(prepare(frame.head(500), quasi)), rng)
    task = Task.of(prepare(frame, quasi))
    return {"seconds": seconds(lambda: method.partition(task, rng), times=3)}


def mondrian() -> dict[str, float]:
    """The job anonypy does: the same columns, categories cut in halves, sets published; verified and measured too."""
    import shoal

    frame, method = adult(), shoal.Mondrian(k=10, nominal="order")
    publish = shoal.Generalize(sets=True)
    shoal.anonymize(frame.head(200), schema(trees=False), method, publish=publish)
    release = shoal.anonymize(frame, schema(trees=False), method, publish=publish)
    taken = seconds(lambda: shoal.anonymize(frame, schema(trees=False), method, publish=publish), times=3)
    return {"seconds": taken, "ncp": release.measure()["ncp"], "rows": release.table.height}


def mondrian_scaled(rows: int) -> dict[str, float]:
    """Adult drawn with replacement up to a number of rows, ages spread by up to two years; hierarchies."""
    import numpy as np
    import polars as pl

    import shoal

    rng, frame = np.random.default_rng(0), adult()
    if rows > frame.height:
        frame = frame[rng.integers(0, frame.height, rows)]
        frame = frame.with_columns(pl.col("age") + pl.Series(rng.integers(-2, 3, rows)))
    method = shoal.Mondrian(k=10)
    shoal.anonymize(frame.head(200), schema(trees=True), method)
    return {"seconds": seconds(lambda: shoal.anonymize(frame, schema(trees=True), method), times=3)}


def command(line: str) -> dict[str, float]:
    """Wall time of a whole command, the second time."""
    import subprocess
    import tempfile

    shoal = Path(sys.executable).with_name("shoal")
    with tempfile.TemporaryDirectory() as folder:
        run = lambda: subprocess.run([shoal, *line.split()], cwd=folder, check=True, capture_output=True)  # noqa: E731
        run()
        return {"seconds": seconds(run, times=3)}


CASES: dict[str, Callable[..., dict[str, float]]] = {
    "caat": caat,
    "caat_twin": caat_twin,
    "k_member": k_member,
    "mdav": mdav,
    "mondrian": mondrian,
    "mondrian_scaled": mondrian_scaled,
    "command": command,
}

if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    result = CASES[name](*(int(value) if value.isdigit() else value for value in arguments))
    unit = 1024**2 if sys.platform == "darwin" else 1024
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps(result))
