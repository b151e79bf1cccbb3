"""Tables with the columns of Adult and Census, drawn: for tests that need no real people."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.reproduce.data import ADULT, CENSUS, NUMBERS
from shoal.reproduce.trees import paths_of


def small_adult(n_rows: int = 120, seed: int = 0) -> pl.DataFrame:
    """Rows whose columns have something to do with each other; every cell a text."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_rows)
    columns = {}
    for name in ADULT:
        near = np.clip(hidden + rng.normal(0, 0.15, n_rows), 0, 0.999)
        if name in NUMBERS:
            columns[name] = [str(int(20 + 60 * value)) for value in near]
        else:
            values = [path[0] for path in paths_of(name)]
            columns[name] = [values[int(value * len(values))] for value in near]
    return pl.DataFrame(columns)


def small_census(n_rows: int = 60, seed: int = 0) -> pl.DataFrame:
    """Thirteen columns of whole numbers above 0."""
    rng = np.random.default_rng(seed)
    common = rng.lognormal(7, 0.5, n_rows)
    return pl.DataFrame({name: (common * rng.lognormal(0, 0.4, n_rows)).astype(np.int64) + 1 for name in CENSUS})
