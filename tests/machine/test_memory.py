"""A limit of memory is refused before work starts where it cannot be kept."""

from __future__ import annotations

import re

import polars as pl
import pytest

import shoal
from shoal.machine import memory

SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], identifying=["name"])


def people(n):
    return pl.DataFrame({"name": [f"n{row}" for row in range(n)], "age": range(n), "disease": ["flu"] * n})


@pytest.mark.parametrize(
    ("size", "wanted"),
    [("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("500mb", 5 * 10**8), ("7", 7), (9, 9), ("64 KiB", 2**16)],
)
def test_sizes_are_read(size, wanted):
    assert memory.bytes_of(size) == wanted
    assert memory.complaint(size) is None


@pytest.mark.parametrize("size", ["", "GB", "2XB", "-1GB", "0", 0, -5, True, 1.5, "1e9", "2 GB s"])
def test_what_is_no_size_is_refused(size):
    got = f'memory=: needs a size such as "2GB", or a number of bytes, got {size!r}'
    with pytest.raises(shoal.ParameterError, match=re.escape(got)):
        shoal.anonymize(people(10), SCHEMA, shoal.Mondrian(k=2), memory=size)


def test_a_limit_that_can_be_kept_changes_nothing():
    plain, limited = (
        shoal.anonymize(people(10), SCHEMA, shoal.Mondrian(k=2), seed=1, memory=size) for size in (None, "1TB")
    )
    assert plain.table.equals(limited.table)


def test_a_limit_that_cannot_be_kept_is_refused_before_work(monkeypatch):
    monkeypatch.setattr("shoal.pipeline.prepare", lambda *_, **__: pytest.fail("work began"))
    with pytest.raises(
        shoal.InfeasibleError, match=r"50 MB cannot be kept: 1,000 rows and 2 columns take about"
    ) as caught:
        shoal.anonymize(people(1000), SCHEMA, shoal.Mondrian(k=2), memory="50MB")
    assert "n1" not in str(caught.value)


def test_rows_and_columns_count(monkeypatch):
    monkeypatch.setattr(memory, "_resident", lambda: 0)
    monkeypatch.setattr(memory, "BASE", 0)
    n_bytes = 1000 * (memory.PER_ROW + 2 * memory.PER_CELL)
    memory.check_memory(n_bytes, 1000, 2)
    with pytest.raises(shoal.InfeasibleError):
        memory.check_memory(n_bytes - 1, 1000, 2)
    with pytest.raises(shoal.InfeasibleError):
        memory.check_memory(n_bytes, 1001, 2)


def test_a_command_refuses_it_too(call, tmp_path):
    people(30).write_csv(tmp_path / "people.csv")
    line = ["run", str(tmp_path / "people.csv"), "--quasi", "age", "--sensitive", "disease", "--rest", "drop"]
    status, _, error = call(*line, "--memory", "1MB", "--out", str(tmp_path / "out"))
    assert status == 2
    assert "memory=: 1 MB cannot be kept" in error
    assert not (tmp_path / "out").exists()
