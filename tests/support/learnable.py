"""Tables to learn from: those that hypothesis thinks up, and the one of Quinlan's book."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

GOLF = """sunny 75 70 true play
sunny 80 90 true stay
sunny 85 85 false stay
sunny 72 95 false stay
sunny 69 70 false play
overcast 72 90 true play
overcast 83 78 false play
overcast 64 65 true play
overcast 81 75 false play
rain 71 80 true stay
rain 65 70 true stay
rain 75 80 false play
rain 68 80 false play
rain 70 96 false play"""


def golf() -> pl.DataFrame:
    """The training set that C4.5 is explained with (Quinlan 1993, table 2-1)."""
    names = ["outlook", "temperature", "humidity", "windy", "golf"]
    frame = pl.DataFrame([line.split() for line in GOLF.splitlines()], schema=names, orient="row")
    return frame.with_columns(pl.col("temperature", "humidity").cast(pl.Int64))


@st.composite
def learnable(draw, *, missing: bool = True, min_rows: int = 1, max_rows: int = 24) -> pl.DataFrame:
    """A table with columns of names and of numbers, and a target `y` of two to four classes."""
    n_rows = draw(st.integers(min_rows, max_rows))
    columns = {}
    for place in range(draw(st.integers(0, 3))):
        names = "abcd"[: draw(st.integers(1, 4))]
        columns[f"n{place}"] = pl.Series(draw(_cells(names, n_rows, missing=missing)), dtype=pl.String)
    for place in range(draw(st.integers(0, 2))):
        numbers = [number / 2 for number in range(draw(st.integers(1, 12)) + 1)]
        columns[f"x{place}"] = pl.Series(draw(_cells(numbers, n_rows, missing=missing)), dtype=pl.Float64)
    classes = "pqrs"[: draw(st.integers(2, 4))]
    columns["y"] = pl.Series(draw(_cells(classes, n_rows, missing=False)), dtype=pl.String)
    return pl.DataFrame(columns)


def _cells(values, n_rows, *, missing):
    """One byte for each cell, drawn at once; one in five is missing, where any may be."""

    def cell(byte):
        return None if missing and byte % 5 == 4 else values[byte // 5 % len(values)]

    return st.binary(min_size=n_rows, max_size=n_rows).map(lambda drawn: [cell(byte) for byte in drawn])
