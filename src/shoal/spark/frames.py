"""Rows as bytes of Arrow, and back."""

from __future__ import annotations

import io
from collections.abc import Sequence

import polars as pl
import pyarrow as pa


def frame_of(batch: pa.RecordBatch, names: Sequence[str]) -> pl.DataFrame:
    """Rows as they come from Spark by their names, times as a file has them: in no zone of a session."""
    found = pl.DataFrame(batch.rename_columns(list(names)))
    zoned = [name for name, dtype in found.schema.items() if isinstance(dtype, pl.Datetime) and dtype.time_zone]
    return found.with_columns(pl.col(name).dt.convert_time_zone("UTC") for name in zoned)


def packed(frame: pl.DataFrame) -> bytes:
    """Rows as bytes."""
    found = io.BytesIO()
    frame.rechunk().write_ipc(found, compat_level=pl.CompatLevel.oldest())
    return found.getvalue()


def stored(data: bytes) -> pl.DataFrame:
    """Rows from bytes."""
    return pl.read_ipc(io.BytesIO(data))
