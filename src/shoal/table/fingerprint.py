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
    there = frame.select(pl.all().is_not_null())  # all columns in one query: queries are what small tables cost
    texts = frame.select(pl.all().cast(pl.String).fill_null(""))
    lengths = texts.select(pl.all().str.len_bytes())
    joined = texts.select(pl.all().str.join(""))
    for column, name in enumerate(map(str.encode, frame.columns)):
        digest.update(f"{len(name)}\n".encode() + name)
        digest.update(there.to_series(column).to_numpy().tobytes())
        digest.update(np.ascontiguousarray(lengths.to_series(column).to_numpy(), dtype="<i8").tobytes())
        digest.update(joined.to_series(column)[0].encode())
    return digest.hexdigest()
