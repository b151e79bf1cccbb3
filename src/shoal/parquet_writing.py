"""Stub."""

from pathlib import Path

import polars as pl


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path)
