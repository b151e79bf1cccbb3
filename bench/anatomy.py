"""How Anatomy grows with the rows: 1,000,000 against the 30,162 complete ones of Adult, whole path, from one run.

python bench/anatomy.py
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
import polars as pl

import shoal
from data import QUASI, adult, occupation_schema

ROWS = 1_000_000
L = 5
REPEATS = 3
GROWTH = 40.0


def cost(frame: pl.DataFrame, schema: shoal.Schema) -> float:
    """Least processor time of a run."""
    times = []
    for _ in range(REPEATS):
        begun = process_time()
        shoal.anonymize(frame, schema, shoal.Anatomy(l=L), seed=0)
        times.append(process_time() - begun)
    return min(times)


def main() -> int:
    """Print the ratio; 1 where it is missed."""
    frame, schema = adult(), occupation_schema(QUASI, trees=True)
    many = frame[np.random.default_rng(0).integers(0, frame.height, ROWS)]
    few, all_ = cost(frame, schema), cost(many, schema)
    ratio = all_ / few
    print(
        f"anatomy: {frame.height:,} rows {few:.2f} s, {ROWS:,} rows {all_:.1f} s: "
        f"{ratio:.1f} times (wanted: {GROWTH:g})"
    )
    return 0 if ratio <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
