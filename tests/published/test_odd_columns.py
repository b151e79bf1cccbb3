"""Columns of rare types and names through the whole path: published, written, read back and verified."""

from __future__ import annotations

from datetime import time

import polars as pl
import pytest

import shoal

N = 12


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("role", ["neutral", "sensitive"])
@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (pl.Series([row / 10 for row in range(N)], dtype=pl.Float32), [row / 10 for row in range(N)]),
        (
            pl.Series([time(1, 2, 3, 1000 * row) for row in range(N)]),
            ["01:02:03", *(f"01:02:03.{row:03}" for row in range(1, N))],
        ),
    ],
    ids=["Float32", "Time"],
)
def test_cells_keep_their_digits(cells, shown, role, form, tmp_path):
    frame = pl.DataFrame({"age": range(N), "x": cells})
    release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}, **{role: ["x"]}), shoal.Mondrian(k=3))
    assert sorted(release.table["x"].to_list()) == shown
    again = shoal.read_release(release.write(tmp_path / "release", format=form))
    again.verify()
    assert sorted(again.table["x"].cast(pl.String).to_list()) == sorted(map(str, shown))


def test_a_quasi_identifier_called_radius(tmp_path):
    frame = pl.DataFrame({"radius": ["a", "b"] * 6, "s": ["flu", "cold", "gout"] * 4})
    schema = shoal.Schema(quasi={"radius": shoal.Nominal()}, sensitive=["s"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), publish=shoal.Generalize(shape="classes"))
    shoal.read_release(release.write(tmp_path / "release")).verify()
