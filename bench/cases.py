"""One measurement per call, each in a process of its own so that peak memory is its own: `python cases.py NAME`."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from data import ROOT, adult, adult_schema, census, kdd, kdd_schema

MILLION = 1_000_000
sys.path.insert(0, str(ROOT / "tests"))


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Best wall time of a few runs, without compiling: that is measured by `first_call.py`."""
    from shoal.kernels.compile_time import clock

    best = float("inf")
    for _ in range(times):
        begin = clock()
        work()
        best = min(best, clock() - begin)
    return best


def runs() -> dict[str, object]:
    """Every method as the tables run it, by the name they show."""
    import shoal

    k = 10
    return {
        "caat": shoal.Caat(k=k, start=0),
        "kaca": shoal.Kaca(k=k),
        "k-member": shoal.KMember(k=k, start=0),
        "oka, lca": shoal.Oka(k=k),
        "oka, mode": shoal.Oka(k=k, centroid="mode"),
        "k-means No. 1": shoal.KMeans(k=k, variant=1),
        "k-means No. 2": shoal.KMeans(k=k, variant=2),
        "k-means No. 3": shoal.KMeans(k=k, variant=3),
        "threshold-greedy": shoal.ThresholdGreedy(k=k, delta=1.5, w=1.0, max_size=2 * k - 1),
        "weighted-c-means": shoal.WeightedCMeans(k=k),
        "mdav": shoal.Mdav(k=k),
        "v-mdav": shoal.VMdav(k=k),
        "cbfs": shoal.Cbfs(k=k),
        "dba, 1": shoal.Dba(k=k, variant=1),
        "dba, 2": shoal.Dba(k=k, variant=2),
        "tfrp, 1": shoal.Tfrp(k=k, variant=1),
        "tfrp, 2": shoal.Tfrp(k=k, variant=2),
        "r-gather": shoal.RGather(k=k),
        "r-gather, epsilon 0.05": shoal.RGather(k=k, epsilon=0.05),
        "r-cellular": shoal.RCellular(k=k),
        "mondrian": shoal.Mondrian(k=k),
        "mondrian, relaxed": shoal.Mondrian(k=k, strict=False),
    }


def on_adult(name: str) -> dict[str, float]:
    """One method on the 30,162 Adult rows with their hierarchies, generalised, verified and measured."""
    import shoal

    frame, schema, method = adult(), adult_schema(trees=True), runs()[name]
    shoal.anonymize(frame.head(200), schema, method, publish=shoal.Generalize(), seed=0)  # loads the kernels
    found = {}

    def work() -> None:
        found.update(shoal.anonymize(frame, schema, method, publish=shoal.Generalize(), seed=0).measure())

    taken = seconds(work)
    return {"seconds": taken, **{key: found[key] for key in MEASURED}}


MEASURED = ("il", "ncp", "discernibility", "square_error", "class_size_min", "class_size_max", "classes")


def on_kdd(name: str) -> dict[str, float]:
    """One method on the 299,285 rows of Census-Income (KDD), missing cells included."""
    import shoal

    frame, schema, method = kdd(), kdd_schema(), runs()[name]
    found = {}
    taken = seconds(
        lambda: found.update(shoal.anonymize(frame, schema, method, publish=shoal.Generalize(), seed=0).measure())
    )
    return {"seconds": taken, "ncp": found["ncp"], "class_size_min": found["class_size_min"]}


def against_twin(name: str, rows: int) -> dict[str, float]:
    """The slow twin of the tests on the first Adult rows, and whether its labels are the kernel's."""
    from shoal.table.prepare import prepare
    from slow import twin_of

    table = prepare(adult().head(rows), adult_schema(trees=True))
    slow, fast = twin_of(name, table, runs()[name])
    fast()  # loads the kernels
    labels = {}
    fast_seconds = seconds(lambda: labels.update(fast=fast()))
    slow_seconds = seconds(lambda: labels.update(slow=slow()))
    same = list(labels["slow"]) == list(labels["fast"])
    return {"seconds": slow_seconds, "kernel_seconds": fast_seconds, "same_labels": float(same)}


def k_member(k: int, rounds: str = "") -> dict[str, float]:
    """No hierarchies, sets published: what the set cost is made for; refined by so many rounds where they are given."""
    import shoal

    frame, method, publish = adult(), shoal.KMember(k=k, cost="set", start=0), shoal.Generalize(sets=True)
    refine = shoal.Refine(rounds=int(rounds)) if rounds != "" else None
    shoal.anonymize(frame.head(200), adult_schema(trees=False), method, publish=publish, refine=refine, seed=0)
    found = {}

    def work() -> None:
        release = shoal.anonymize(frame, adult_schema(trees=False), method, publish=publish, refine=refine, seed=0)
        found.update(ncp=release.measure()["ncp"], k=release.verify().k)

    return {"seconds": seconds(work), **found}


def promised(promise: str, k: int) -> dict[str, float]:
    """k-member on Adult with occupation as the sensitive column, with a promise about it or without."""
    import shoal

    usual = adult_schema(trees=True)
    quasi = {name: kind for name, kind in usual.quasi.items() if name != "occupation"}
    schema = shoal.Schema(quasi=quasi, sensitive={"occupation": usual.quasi["occupation"]}, rest="drop")
    require = {
        "nothing": [],
        "entropy": [shoal.LDiversity("occupation", l=3, variant="entropy")],
        "closeness": [shoal.TCloseness("occupation", t=0.2)],
    }[promise]
    frame, method, found = adult(), shoal.KMember(k=k), []
    time_taken = seconds(lambda: found.append(shoal.anonymize(frame, schema, method, require=require, seed=0)))
    manifest = found[-1].manifest
    reached = {f"reached {key}": value for key, value in manifest.achieved.items()}
    return {"seconds": time_taken, "ncp": manifest.measures["ncp"], "suppressed": manifest.rows.left_out} | reached


def census_refined(k: int, rounds: int) -> dict[str, float]:
    """MDAV on CASC Census and a search after it; the loss is worked out here once more."""
    import numpy as np

    import shoal

    frame, schema = census(), shoal.Schema(quasi=dict.fromkeys(census().columns, shoal.Numeric()))
    shoal.anonymize(frame.head(50), schema, shoal.Mdav(k=k), refine=shoal.Refine(rounds=1), seed=0)
    found = {}

    def work() -> None:
        found["labels"] = shoal.anonymize(
            frame, schema, shoal.Mdav(k=k), refine=shoal.Refine(rounds=rounds), seed=0
        ).labels

    taken, labels = seconds(work), found["labels"]
    x = frame.to_numpy().astype(float)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    within = sum(((z[labels == g] - z[labels == g].mean(axis=0)) ** 2).sum() for g in range(labels.max() + 1))
    return {"seconds": taken, "lost": 100 * within / (z**2).sum(), "least": float(np.bincount(labels).min())}


def mdav_plain() -> dict[str, float]:
    """The same points, grouped by plain compiled loops on one core, as a first version would have them."""
    import numpy as np

    from plain_mdav import mdav

    values = np.random.default_rng(0).standard_normal((50_000, 8))
    mdav(values[:500], 10)
    found = {}
    taken = seconds(lambda: found.update(labels=mdav(values, 10)), times=3)
    return {"seconds": taken, "groups": float(found["labels"].max() + 1)}


def mdav(threads: int) -> dict[str, float]:
    """50,000 points of eight standard normal columns, k = 10; the grouping alone."""
    import numba
    import numpy as np
    import polars as pl

    import shoal
    from shoal.methods.base import Task
    from shoal.table.prepare import prepare

    values = np.random.default_rng(0).standard_normal((8, 50_000))
    frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(values)})
    quasi = shoal.Schema(quasi={name: shoal.Numeric() for name in frame.columns})
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    method, rng = shoal.Mdav(k=10), np.random.default_rng(0)
    method.partition(Task.of(prepare(frame.head(500), quasi)), rng)
    task = Task.of(prepare(frame, quasi))
    return {"seconds": seconds(lambda: method.partition(task, rng), times=3)}


def univariate(rows: int) -> dict[str, float]:
    """The best grouping of normal numbers, k = 10; CPU seconds of the grouping, and its squared error."""
    import numpy as np
    import polars as pl

    import shoal
    from shoal.methods.base import Task
    from shoal.table.prepare import prepare

    numbers = np.random.default_rng(0).standard_normal(rows)
    schema, method = shoal.Schema(quasi={"x": shoal.Numeric()}), shoal.OptimalUnivariate(k=10)
    method.partition(Task.of(prepare(pl.DataFrame({"x": numbers[:1000]}), schema)), np.random.default_rng(0))
    task = Task.of(prepare(pl.DataFrame({"x": numbers}), schema))
    begin = time.process_time()
    labels = method.partition(task, np.random.default_rng(0)).labels
    taken, sizes = time.process_time() - begin, np.bincount(labels)
    means = np.bincount(labels, weights=numbers) / sizes
    return {"seconds": taken, "error": float(((numbers - means[labels]) ** 2).sum())}


def mondrian() -> dict[str, float]:
    """The job anonypy does: the same columns, categories cut in halves, sets published; verified and measured too."""
    import shoal

    frame, method = adult(), shoal.Mondrian(k=10, nominal="order")
    publish = shoal.Generalize(sets=True)
    shoal.anonymize(frame.head(200), adult_schema(trees=False), method, publish=publish, seed=0)
    release = shoal.anonymize(frame, adult_schema(trees=False), method, publish=publish, seed=0)
    taken = seconds(lambda: shoal.anonymize(frame, adult_schema(trees=False), method, publish=publish, seed=0), times=3)
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
    shoal.anonymize(frame.head(200), adult_schema(trees=True), method, seed=0)
    return {"seconds": seconds(lambda: shoal.anonymize(frame, adult_schema(trees=True), method, seed=0), times=3)}


def command(line: str) -> dict[str, float]:
    """Wall time of a whole command, the second time."""
    import subprocess
    import tempfile

    shoal = Path(sys.executable).with_name("shoal")
    with tempfile.TemporaryDirectory() as folder:
        run = lambda: subprocess.run([shoal, *line.split()], cwd=folder, check=True, capture_output=True)  # noqa: E731
        run()
        return {"seconds": seconds(run, times=3)}


def models(rows: int) -> dict[str, float]:
    """Achieved k, alpha, all l and all t of a published table, its rows grouped by their cells first."""
    import polars as pl

    import shoal
    from data import published
    from shoal.check.release import class_numbers
    from shoal.privacy.base import Classes, Tree, Values

    frame = published(rows)
    quasi, order = frame.columns[:-1], tuple(f"v{value:02d}" for value in range(20))
    tree = shoal.Hierarchy([(name, f"g{place // 4}", f"h{place // 8}", "*") for place, name in enumerate(order)])
    n, arrays = len(tree.names), tree.arrays
    shape = Tree(tree.names, tree.parents, tuple(arrays.height[:n].tolist()), tuple(arrays.n_leaves[:n].tolist()))
    found: dict[str, float] = {}

    def work() -> None:
        column = Values(frame["s"].cast(pl.String), "ordinal", order, shape)
        classes = Classes(class_numbers(frame, quasi), {"s": column})
        wanted = (shoal.KAnonymity, shoal.LDiversity, shoal.AlphaK, shoal.TCloseness)
        found.update({one.key: one.achieved(classes) for model in wanted for one in model.probes(classes.columns)})
        found["classes"] = classes.n_classes

    return {"seconds": seconds(work, times=3), **found}


CASES: dict[str, Callable[..., dict[str, float]]] = {
    "on_adult": on_adult,
    "on_kdd": on_kdd,
    "against_twin": against_twin,
    "k_member": k_member,
    "census_refined": census_refined,
    "promised": promised,
    "mdav": mdav,
    "mdav_plain": mdav_plain,
    "models": models,
    "univariate": univariate,
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
