"""A table with every kind of quasi-identifier, some cells missing."""

from __future__ import annotations

import numpy as np
import polars as pl

import shoal

MIXED = shoal.Schema(
    quasi={
        "age": shoal.Numeric(),
        "weight": shoal.Numeric(shoal.Intervals(width=(5, 20))),
        "grade": shoal.Ordinal(["low", "middle", "high"]),
        "town": shoal.Nominal(),
        "code": shoal.Nominal(shoal.Prefixes(keep=(2, 1))),
    },
    sensitive={"disease": shoal.Nominal()},
)


def mixed_frame(n_rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows),
            "weight": rng.integers(80, 200, n_rows) / 2,
            "grade": rng.choice(["low", "middle", "high"], n_rows),
            "town": rng.choice(["Ålesund", "Bo", "Cà Mau"], n_rows),
            "code": [f"{number:03d}" for number in rng.integers(0, 400, n_rows)],
            "disease": rng.choice(["flu", "ulcer"], n_rows),
        }
    )
    hole = pl.Series(rng.random(n_rows) < 0.05)
    return frame.with_columns(
        pl.when(hole).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(hole.reverse()).then(None).otherwise(pl.col("town")).alias("town"),
    )
