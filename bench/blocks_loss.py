"""What blocks lose: a table grouped in blocks of 50,000 rows beside the same grouped at once, in one run.

    python bench/blocks_loss.py

Adult-like rows (300,000) and Census-Income; k = 10, eight quasi-identifiers. The bar: 3 % more loss at most.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

import shoal
from data import adult, adult_schema, kdd, kdd_schema

MOST = 1.03
ROWS = 50_000
METHODS = {
    "k-member": (shoal.KMember(k=10), "ncp"),
    "caat": (shoal.Caat(k=10), "ncp"),
    "mdav": (shoal.Mdav(k=10), "sse"),
}


def tables():
    """Adult drawn again and again with ages moved by up to three years, and Census-Income."""
    base, rng = adult(), np.random.default_rng(1)
    drawn = base[rng.integers(0, base.height, 300_000)]
    ages = np.clip(drawn["age"].to_numpy() + rng.integers(-3, 4, drawn.height), 17, 90)
    yield "adult", drawn.with_columns(pl.Series("age", ages)), adult_schema(trees=True)
    yield "kdd", kdd(), kdd_schema()


def main() -> None:
    missed = []
    for table, frame, schema in tables():
        for name, (method, loss) in METHODS.items():
            whole, blocks = (
                shoal.anonymize(frame, schema, method, seed=1, engine=engine).measure()[loss]
                for engine in (None, shoal.Blocks(rows=ROWS))
            )
            print(
                f"{table:6} {name:9} {loss}: {whole:.6g} at once, {blocks:.6g} in blocks, {blocks / whole:.4f}",
                flush=True,
            )
            missed += [f"{table} {name}"] if blocks > MOST * whole else []
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
