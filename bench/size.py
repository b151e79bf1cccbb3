"""Large tables: time and peak memory, each case in a process of its own, with what it is compared with beside it.

    python bench/size.py [CASE ...]

Time is a ratio to sorting the same table by (up to twelve of) its quasi-identifiers. Memory is what the process
allocated at its peak, files that are only mapped not counted, beyond the input, which is the caller's, and beyond its
base, what the same case takes with a hundred rows (interpreter, libraries, kernels). The bar: ten times the encoded
quasi-identifiers, eight bytes a cell, and twice the published table as it lies in memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FEW = 100
"""Rows of the process that says what the base is."""
MB = 2**20
Case = tuple[Any, Any, Any]
"""A table, its schema, a method."""


def wide_mondrian(n_rows: int) -> Case:
    """Two million rows, twelve quasi-identifiers, six of them numbers."""
    import numpy as np
    import polars as pl

    import shoal

    rng = np.random.default_rng(1)
    numbers = {f"n{i}": rng.integers(0, 10 ** (1 + i % 4), n_rows) for i in range(6)}
    texts = {f"c{i}": _texts(rng.integers(0, 8 + 8 * i, n_rows)) for i in range(6)}
    frame = pl.DataFrame({**numbers, **texts, "s": _texts(rng.integers(0, 20, n_rows))})
    quasi = {**dict.fromkeys(numbers, shoal.Numeric()), **dict.fromkeys(texts, shoal.Nominal())}
    return frame, shoal.Schema(quasi=quasi, sensitive=["s"]), shoal.Mondrian(k=10)


def many_columns(n_rows: int) -> Case:
    """Five hundred columns, three hundred of them quasi-identifiers."""
    import numpy as np
    import polars as pl

    import shoal

    rng = np.random.default_rng(2)
    quasi = {f"q{i}": rng.integers(0, 50, n_rows) for i in range(300)}
    rest = {f"r{i}": rng.random(n_rows).round(3) for i in range(198)}
    frame = pl.DataFrame({**quasi, **rest, "s": _texts(rng.integers(0, 9, n_rows)), "id": range(n_rows)})
    kinds = dict.fromkeys(quasi, shoal.Numeric())
    schema = shoal.Schema(quasi=kinds, sensitive=["s"], neutral=list(rest), identifying=["id"])
    return frame, schema, shoal.Mondrian(k=10)


def many_categories(n_rows: int) -> Case:
    """A column of a hundred thousand categories beside eleven of numbers."""
    import numpy as np
    import polars as pl

    import shoal

    rng = np.random.default_rng(3)
    codes = _texts(np.arange(n_rows) % 100_000)
    numbers = {f"n{i}": rng.integers(0, 10 ** (2 + i % 3), n_rows) for i in range(11)}
    kinds = {"code": shoal.Nominal(), **dict.fromkeys(numbers, shoal.Numeric())}
    return pl.DataFrame({"code": codes, **numbers}), shoal.Schema(quasi=kinds), shoal.Mondrian(k=10)


def long_texts(n_rows: int) -> Case:
    """Sensitive texts of a megabyte each."""
    import numpy as np
    import polars as pl

    import shoal

    letters = 1000 if n_rows == FEW else MB
    rng = np.random.default_rng(4)
    texts = [chr(97 + row % 26) * letters + str(row) for row in range(n_rows)]
    frame = pl.DataFrame({"a": rng.integers(0, 99, n_rows), "b": rng.integers(0, 99, n_rows), "text": texts})
    kinds = {"a": shoal.Numeric(), "b": shoal.Numeric()}
    return frame, shoal.Schema(quasi=kinds, sensitive=["text"]), shoal.Mondrian(k=5)


def deep_hierarchies(n_rows: int) -> Case:
    """Three hierarchies thirty levels deep, beside nine columns of numbers."""
    import numpy as np
    import polars as pl

    import shoal

    rng = np.random.default_rng(5)
    leaves, levels = 512, range(1, 29)
    paths = [(f"v{at:03}", *(f"l{level}-{at >> min(level, 9)}" for level in levels), "*") for at in range(leaves)]
    tree = shoal.Hierarchy(paths)
    names = np.array([path[0] for path in paths])
    nominal = {f"c{i}": names[rng.integers(0, leaves, n_rows)] for i in range(3)}
    numbers = {f"n{i}": rng.integers(0, 1000, n_rows) for i in range(9)}
    kinds = {**dict.fromkeys(nominal, shoal.Nominal(tree)), **dict.fromkeys(numbers, shoal.Numeric())}
    return pl.DataFrame({**nominal, **numbers}), shoal.Schema(quasi=kinds), shoal.Mondrian(k=10)


CASES: dict[str, tuple[Callable[[int], Case], int]] = {
    "2,000,000 x 12, mondrian": (wide_mondrian, 2_000_000),
    "500 columns": (many_columns, 20_000),
    "100,000 categories": (many_categories, 500_000),
    "texts of 1 MB": (long_texts, 200),
    "hierarchies 30 deep": (deep_hierarchies, 500_000),
}
"""Each case with its number of rows."""


def _texts(codes: Any) -> Any:
    import polars as pl

    return pl.Series(codes).cast(pl.String)


class Allocated:
    """The most memory that this process has allocated while a block runs, looked at every few milliseconds."""

    def __init__(self) -> None:
        self.peak, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Allocated:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.003):
            lines = Path("/proc/self/status").read_text().splitlines()
            (kilobytes,) = (int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
            self.peak = max(self.peak, 1024 * kilobytes)


def built(name: str, n_rows: int, file: str) -> dict[str, float]:
    """Write the table of a case, and say how long it takes to sort it; nothing else is measured in this process."""
    frame, schema, _ = CASES[name][0](n_rows)
    frame.write_parquet(file)
    begin = time.perf_counter()
    frame.sort(list(schema.quasi)[:12])
    return {"beside": time.perf_counter() - begin}


def measured(name: str, n_rows: int, file: str) -> dict[str, float]:
    """One case in this process: from a file to a release on disk."""
    import polars as pl

    import shoal

    _, schema, method = CASES[name][0](FEW)
    begin = time.perf_counter()
    with Allocated() as memory, tempfile.TemporaryDirectory() as folder:
        frame = pl.read_parquet(file)
        release = shoal.anonymize(frame, schema, method, seed=1, progress=False)
        release.write(Path(folder) / "release")
    taken = time.perf_counter() - begin
    peak = memory.peak - frame.estimated_size()
    published = sum(table.estimated_size() for table in release.frames.values())
    encoded = 8.0 * len(schema.quasi) * n_rows
    return {"seconds": taken, "peak": peak, "encoded": encoded, "published": published}


def apart(name: str, n_rows: int) -> dict[str, float]:
    """One case, built in one process and measured in another."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            line = [sys.executable, __file__, step, name, str(n_rows), f"{folder}/table.parquet"]
            found |= json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    return found


STEPS = {"--build": built, "--measure": measured}


def main(names: list[str]) -> int:
    """Print the table; exit status 1 if a bar is missed."""
    missed = 0
    print(f"{'case':26}{'seconds':>9}{'sorts':>7}{'base':>7}{'peak':>7}{'beyond':>8}{'bar':>7}   (MB)")
    for name in names:
        apart(name, FEW)  # kernels that are compiled meanwhile would count
        base, found = apart(name, FEW)["peak"], apart(name, CASES[name][1])
        beyond, bar = found["peak"] - base, 10 * found["encoded"] + 2 * found["published"]
        missed += beyond > bar
        sorts = found["seconds"] / max(found["beside"], 1e-3)
        figures = f"{base / MB:7.0f}{found['peak'] / MB:7.0f}{beyond / MB:8.0f}{bar / MB:7.0f}"
        said = "ok" if beyond <= bar else "MISSED"
        print(f"{name:26}{found['seconds']:9.1f}{sorts:7.0f}{figures}   {said}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in STEPS:
        print(json.dumps(STEPS[sys.argv[1]](sys.argv[2], int(sys.argv[3]), sys.argv[4])))
    else:
        sys.exit(main(sys.argv[1:] or list(CASES)))
