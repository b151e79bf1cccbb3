"""A table on disk that is published in parts, made once for all tests that look at it."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.progress import SILENT
from shoal.table.sources import Source

ROWS = 3000
BLOCKS = Blocks(rows=400, part_rows=800, workers=1)


def people(n_rows: int = ROWS, seed: int = 5) -> pl.DataFrame:
    return shoal.sample.people(n_rows, seed=seed)


def recipe_for(path, method=None, **given) -> shoal.Recipe:
    entries = {"require": (shoal.LDiversity("disease", l=2),), "seed": 1, "format": "parquet"} | given
    return shoal.Recipe(shoal.sample.schema(), method or shoal.KMember(k=5), source=Source(path=path), **entries)


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of 700 rows, so that a small table has several."""
    from shoal.table.sources import stream

    monkeypatch.setattr(stream, "ROWS", 700)


@pytest.fixture(scope="session")
def in_parts(tmp_path_factory):
    """A release in parts, its recipe and its table."""
    folder = tmp_path_factory.mktemp("parts")
    frame = people()
    frame.write_parquet(folder / "people.parquet")
    recipe = recipe_for(folder / "people.parquet")
    written = publish_in_blocks(recipe, folder / "out", BLOCKS, SILENT)
    assert written is not None
    return written, recipe, frame
