"""A fingerprint of what a table says, the same whatever file or frame it came in."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl


def content_sha256(frame: pl.DataFrame) -> str:
    """SHA-256 over column names, missing cells and the text of all others, column by column.

    A cell counts by its text, so that a column of numbers and the same numbers read from a CSV file agree.
    """
    digest = hashlib.sha256(f"shoal content 1\n{frame.width} {frame.height}\n".encode())
    for series in frame:
        name = series.name.encode()
        digest.update(f"{len(name)}\n".encode() + name)
        digest.update(series.is_not_null().to_numpy().tobytes())
        texts = series.cast(pl.String).fill_null("")
        digest.update(np.ascontiguousarray(texts.str.len_bytes().to_numpy(), dtype="<i8").tobytes())
        digest.update(texts.str.join("")[0].encode())
    return digest.hexdigest()
