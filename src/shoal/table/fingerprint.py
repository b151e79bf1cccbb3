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
    texts = frame.select(pl.all().cast(pl.String))  # all columns in one query: queries are what small tables cost
    filled = pl.all().fill_null("")
    facts = texts.select(
        pl.all().is_not_null().implode().name.prefix("there "),
        filled.str.len_bytes().cast(pl.Int64).implode().name.prefix("lengths "),
        filled.str.join("").name.prefix("joined "),
    )
    for name in frame.columns:
        digest.update(f"{len(name.encode())}\n".encode() + name.encode())
        digest.update(facts[f"there {name}"][0].to_numpy().tobytes())
        digest.update(np.ascontiguousarray(facts[f"lengths {name}"][0].to_numpy(), dtype="<i8").tobytes())
        digest.update(facts[f"joined {name}"][0].encode())
    return digest.hexdigest()
