"""Tables beyond memory: `shoal run --block-rows` on Adult-like rows, its growth, its memory, its check, its loss.

    python bench/blocks.py [ROWS ...]

Without sizes: 1,000,000 and 10,000,000 rows. Every run is the command itself, with all its processes; memory is the sum
of what they have to themselves and their shares of what they share (PSS), looked at five times a second. Times are wall
and CPU seconds of one run; the growth is that of CPU seconds, for the machine may have other work.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from data import ROOT, adult, adult_schema

LIMIT = "2GB"
MOST_MEMORY = 2200
"""MB that all processes together may take."""
EXPONENT, CHECK_SHARE = 1.05, 1 / 3
"""The wanted growth, at most; and the wanted time of `verify` over that of making a release, at most."""
BLOCK_ROWS = 50_000
CHUNK = 1_000_000


def source(folder: Path, rows: int) -> Path:
    """Adult rows drawn again and again, ages moved by up to three years, as a Parquet file."""
    import numpy as np
    import polars as pl
    import pyarrow.parquet as pq

    path, base, rng = folder / f"adult{rows}.parquet", adult(), np.random.default_rng(1)
    writer = None
    for begin in range(0, rows, CHUNK):
        count = min(CHUNK, rows - begin)
        drawn = base[rng.integers(0, base.height, count)]
        ages = np.clip(drawn["age"].to_numpy() + rng.integers(-3, 4, count), 17, 90)
        table = drawn.with_columns(pl.Series("age", ages)).to_arrow()
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return path


def recipe(folder: Path, path: Path) -> Path:
    """k-member over the eight usual quasi-identifiers."""
    import shoal
    from shoal.table.sources import Source

    made = shoal.Recipe(
        adult_schema(trees=True), shoal.KMember(k=10), source=Source(path=path), seed=1, format="parquet"
    )
    target = folder / f"{path.stem}.toml"
    target.write_text(made.to_toml(), encoding="utf-8")
    return target


class Watch(threading.Thread):
    """Looks at the memory of a process and all below it."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0.0, threading.Event()

    def run(self) -> None:
        """Keep the largest sum."""
        while not self.over.wait(0.2):
            self.peak = max(self.peak, sum(_pss(pid) for pid in _family(self.pid)))


def _family(pid: int) -> list[int]:
    found = [pid]
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    for child in children:
        found += _family(int(child))
    return found


def _pss(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in text.splitlines() if line.startswith("Pss:")), 0.0)


def timed(*command: object) -> tuple[float, float, float]:
    """Wall and CPU seconds of a command, and its peak memory in MB."""
    before, begin = os.times(), time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "shoal", *map(str, command)], stdout=subprocess.DEVNULL)
    watch = Watch(process.pid)
    watch.start()
    if process.wait():
        raise SystemExit(f"{command} failed")
    watch.over.set()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, cpu, watch.peak


def main() -> None:
    """Print a line per size, then the bars."""
    sizes = [int(text) for text in sys.argv[1:]] or [1_000_000, 10_000_000]
    made: dict[int, float] = {}
    with tempfile.TemporaryDirectory(dir=ROOT.parent) as name:
        folder = Path(name)
        for rows in sizes:
            path = source(folder, rows)
            out = folder / f"out{rows}"
            run = ("run", recipe(folder, path), "--block-rows", BLOCK_ROWS, "--memory", LIMIT, "--out", out, "-q")
            wall, cpu, peak = timed(*run)
            check_wall, check_cpu, check_peak = timed("verify", out)
            made[rows] = cpu
            print(
                f"{rows:>11,} rows: made in {wall:6.0f} s ({cpu:6.0f} CPU s), peak {peak:5.0f} MB (bar {MOST_MEMORY})"
            )
            print(
                f"{'':>11} checked in {check_wall:4.0f} s ({check_cpu:5.0f} CPU s), {check_cpu / cpu:.2f} of making it "
                f"(bar {CHECK_SHARE:.2f}), peak {check_peak:5.0f} MB", flush=True,
            )  # fmt: skip
            path.unlink()
    if len(made) > 1:
        low, high = min(made), max(made)
        growth = math.log(made[high] / made[low]) / math.log(high / low)
        print(f"growth from {low:,} to {high:,} rows: exponent {growth:.3f} (bar {EXPONENT})")


if __name__ == "__main__":
    main()
