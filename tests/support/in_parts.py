"""Recipes whose table is published in parts."""

from __future__ import annotations

import polars as pl

import shoal
from shoal.engines.blocks import Blocks
from shoal.table.sources import Source

ROWS = 3000
BLOCKS = Blocks(rows=400, part_rows=800, workers=1)


def people(n_rows: int = ROWS, seed: int = 5) -> pl.DataFrame:
    return shoal.sample.people(n_rows, seed=seed)


def recipe_for(path, method=None, **given) -> shoal.Recipe:
    entries = {"require": (shoal.LDiversity("disease", l=2),), "seed": 1, "format": "parquet"} | given
    return shoal.Recipe(shoal.sample.schema(), method or shoal.KMember(k=5), source=Source(path=path), **entries)
