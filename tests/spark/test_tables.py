"""Releases of several tables, and what blocks must know of each other: the bytes of one machine, without a cluster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.progress import SILENT
from shoal.release import parts
from shoal.release.release import check_directory
from shoal.spark import anonymize, jobs
from shoal.table.sources import Source
from support.here_spark import here, partitioned
from support.in_parts import people

QUASI = {"age": shoal.Numeric(), "score": shoal.Numeric(), "sex": shoal.Nominal(), "education": shoal.Nominal()}
SCHEMA = shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop")
PEOPLE = shoal.Schema(
    quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"], person="who", rest="drop"
)
BLOCKS = Blocks(rows=180, part_rows=250, workers=1)
L = (shoal.LDiversity("disease", l=2),)


@pytest.fixture(scope="module")
def frame():
    """Cells are missing in some blocks, numbers are whole in some, and people have several rows."""
    place = pl.int_range(pl.len())
    who = np.random.default_rng(4).integers(0, 230, 500)
    return people(500).with_columns(
        pl.when(place % 97 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(place % 89 == 0).then(None).otherwise(pl.col("sex")).alias("sex"),
        (place * 0.5).alias("score"),
        pl.Series("who", who).cast(pl.String),
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def slices(**settings) -> tuple[shoal.Slicing, shoal.Slices]:
    return shoal.Slicing(l=2, **settings), shoal.Slices(shape="files" if "sensitive_apart" in settings else "table")


@pytest.mark.parametrize(
    ("schema", "method", "publish", "require", "names"),
    [
        (SCHEMA, shoal.Mondrian(k=5), shoal.Generalize(shape="classes", sets=True), L, ["table", "classes"]),
        (SCHEMA, shoal.Mdav(k=4), shoal.Aggregate(restore_variance=True), L, ["table"]),
        (SCHEMA, *slices(sensitive_apart=True), (), [f"slice_{place}" for place in range(1, 5)]),
        (SCHEMA, *slices(groups={"age": 1, "score": 1, "sex": 2, "education": 2, "disease": 2}), (), ["table"]),
        (PEOPLE, shoal.Anatomy(l=2), shoal.Buckets(), (), ["table", "sensitive"]),
    ],
    ids=["classes", "variance", "gathered slices", "given slices", "buckets of people"],
)
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_same_bytes_as_on_one_machine(frame, tmp_path, monkeypatch, schema, method, publish, require, names):
    monkeypatch.setattr(jobs, "FEW", 1)  # what is said of partitions is put together by executors first
    monkeypatch.setattr(parts, "HEAP", 300)  # the same quasi-identifiers are looked for in two heaps
    frame.write_parquet(tmp_path / "people.parquet")
    given = {"require": require, "publish": publish, "seed": 2, "suppress": 0.05 if require else 0.0}
    recipe = shoal.Recipe(schema, method, source=Source(path=tmp_path / "people.parquet"), **given)
    made = publish_in_blocks(recipe, tmp_path / "blocks", BLOCKS, SILENT)
    assert made is not None
    with here():
        release = anonymize(partitioned(frame, 3), schema, method, blocks=BLOCKS, **given)
        release.write(tmp_path / "spark")
        assert release.verify() == release.verdict
    assert contents(tmp_path / "spark") == contents(tmp_path / "blocks")
    assert release.receipt.cuts == made.receipt.cuts
    assert list(release.tables) == names
    for name, table in release.tables.items():
        files = sorted((tmp_path / "blocks").glob(f"{name}-*.parquet"))
        assert pl.concat(table.parts).equals(pl.concat([pl.read_parquet(path) for path in files]))
    assert release.table is release.tables.get("table")


def test_several_tables_of_one_block(frame, tmp_path):
    with here():
        release = anonymize(partitioned(frame, 2), SCHEMA, shoal.Anatomy(l=2), seed=2)
        release.write(tmp_path / "spark")
        assert release.verify() == release.verdict
    assert set(contents(tmp_path / "spark")) == {"table.parquet", "sensitive.parquet", "manifest.json"}
    assert check_directory(tmp_path / "spark")[0] == release.verdict
