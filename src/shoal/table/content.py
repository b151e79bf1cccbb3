"""A fingerprint of what a table says, the same whatever file or frame it came in."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl


def content_sha256(frame: pl.DataFrame) -> str:
    """SHA-256 over column names, types, missing cells and values, column by column.

    Numbers count by value (an integer column and the same numbers as floats agree), everything else by its text.
    """
    digest = hashlib.sha256(f"shoal content 1\n{frame.width} {frame.height}\n".encode())
    for series in frame:
        name = series.name.encode()
        digest.update(f"{len(name)}\n".encode() + name)
        digest.update(series.is_not_null().to_numpy().tobytes())
        if series.dtype.is_numeric():
            numbers = series.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0
            digest.update(b"numbers\n" + np.ascontiguousarray(numbers, dtype="<f8").tobytes())
        else:
            texts = series.cast(pl.String).fill_null("")
            lengths = np.ascontiguousarray(texts.str.len_bytes().to_numpy(), dtype="<i8")
            digest.update(b"texts\n" + lengths.tobytes())
            digest.update("".join(texts.to_list()).encode())
    return digest.hexdigest()
