"""A table on Spark beside the same in blocks on one machine: the same recipe, the same rows, one after the other.

    python bench/spark.py [ROWS] [TABLE.parquet]

Without a size: 2,000,000 Adult-like rows, k-member, k = 10, blocks of 50,000. Both are the command itself, from its
start to the release on disk, with as many cores (`--master local[2]`); times are wall seconds of one run each, with and
without what each takes for a table of a few rows (starting Java, Python and its packages). The bytes must be the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from data import ROOT, adult, adult_schema
from shoal.table.sources import Source

MOST = 2.5
"""The wanted ratio, at most."""
BLOCK_ROWS, CORES, FEW = 50_000, 2, 1_000
MEMORY = "3g"
"""Of the JVM, which is driver and executor in one here."""


def table(folder: Path, rows: int) -> Path:
    """Adult rows drawn again and again, ages moved by up to three years."""
    base, rng = adult(), np.random.default_rng(1)
    drawn = base[rng.integers(0, base.height, rows)]
    ages = np.clip(drawn["age"].to_numpy() + rng.integers(-3, 4, rows), 17, 90)
    drawn.with_columns(pl.Series("age", ages)).write_parquet(folder / f"adult{rows}.parquet", row_group_size=250_000)
    return folder / f"adult{rows}.parquet"


def recipe(folder: Path, path: Path) -> Path:
    """k-member over the eight usual quasi-identifiers."""
    made = shoal.Recipe(
        adult_schema(trees=True), shoal.KMember(k=10), source=Source(path=str(path)), seed=1, format="parquet"
    )
    target = folder / f"{path.stem}.toml"
    target.write_text(made.to_toml(), encoding="utf-8")
    return target


def seconds(recipe: Path, out: Path, *flags: str) -> float:
    """Wall seconds of a run."""
    settings = f"--driver-memory {MEMORY} --conf spark.ui.enabled=false --conf spark.log.level=OFF pyspark-shell"
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": settings, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-m", "shoal", "run", recipe, "--block-rows", BLOCK_ROWS, "--out", out, "-q", *flags]
    begin = time.perf_counter()
    subprocess.run([*map(str, command), "--no-report"], env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Print a line per engine and size, then the bar."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    engines = {
        "blocks": ("--threads", str(CORES)),
        "spark": ("--engine", "spark", "--master", f"local[{CORES}]"),
    }
    found: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory(dir=ROOT.parent) as name:
        folder = Path(name)
        given = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else table(folder, rows)
        recipes = {FEW: recipe(folder, table(folder, FEW)), rows: recipe(folder, given)}
        for size, made in recipes.items():
            for engine, flags in engines.items():
                found[engine, size] = seconds(made, folder / f"{engine}{size}", *flags)
                print(f"{engine:6}  {size:>10,} rows  {found[engine, size]:8.1f} s", flush=True)
        one, other = folder / f"blocks{rows}", folder / f"spark{rows}"
        names = sorted(path.name for path in one.iterdir())
        same = names == sorted(path.name for path in other.iterdir()) and all(
            (one / name).read_bytes() == (other / name).read_bytes() for name in names
        )
    ratio = found["spark", rows] / found["blocks", rows]
    beyond = (found["spark", rows] - found["spark", FEW]) / (found["blocks", rows] - found["blocks", FEW])
    print(f"the same bytes: {same}")
    print(f"spark / blocks: {ratio:.2f}, without the start of both {beyond:.2f} (wanted: at most {MOST})")
    if not same or ratio > MOST:
        sys.exit(1)


if __name__ == "__main__":
    main()
