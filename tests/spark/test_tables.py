"""Releases of several tables, and what blocks must know of each other: the bytes of one machine, without a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.progress import SILENT
from shoal.published import parts
from shoal.published.reading import check_directory
from shoal.spark import anonymize, jobs, tasks
from shoal.table.sources import Source
from support.here_spark import here, partitioned
from support.in_parts import people

QUASI = {"age": shoal.Numeric(), "score": shoal.Numeric(), "sex": shoal.Nominal(), "education": shoal.Nominal()}
SCHEMA = shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop")
PEOPLE = shoal.Schema(
    quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"], person="who", rest="drop"
)
BLOCKS = Blocks(rows=180, part_rows=250, workers=1)
APART = shoal.Slicing(l=2, sensitive_apart=True)
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


def both(frame: pl.DataFrame, schema, method, folder: Path, blocks: Blocks, **given):
    """A release of one machine, and the same on Spark; their bytes are the same."""
    frame.write_parquet(folder / "people.parquet")
    recipe = shoal.Recipe(schema, method, source=Source(path=folder / "people.parquet"), **given)
    made = publish_in_blocks(recipe, folder / "blocks", blocks, SILENT)
    assert made is not None
    with here():
        release = anonymize(partitioned(frame, 3), schema, method, blocks=blocks, **given)
        release.write(folder / "spark")
        assert release.verify() == release.verdict
    assert contents(folder / "spark") == contents(folder / "blocks")
    assert release.receipt.cuts == made.receipt.cuts
    return made, release


@pytest.mark.parametrize(
    ("schema", "method", "publish", "require", "names"),
    [
        (SCHEMA, shoal.Mondrian(k=5), shoal.Generalize(shape="classes", sets=True), L, ["table", "classes"]),
        (SCHEMA, shoal.Mdav(k=4), shoal.Aggregate(restore_variance=True), L, ["table"]),
        (SCHEMA, APART, shoal.Slices(shape="files"), (), ["slice_1", "slice_2", "slice_3"]),
        (PEOPLE, shoal.Anatomy(l=2), shoal.Buckets(), (), ["table", "sensitive"]),
    ],
    ids=["classes", "variance", "slices", "buckets of people"],
)
@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_same_bytes_as_on_one_machine(frame, tmp_path, monkeypatch, schema, method, publish, require, names):
    monkeypatch.setattr(jobs, "FEW", 1)  # what is said of partitions is put together by executors first
    monkeypatch.setattr(parts, "HEAP", 300)  # the same quasi-identifiers are looked for in two heaps
    given = {"require": require, "publish": publish, "seed": 2, "suppress": 0.05 if require else 0.0}
    _, release = both(frame, schema, method, tmp_path, BLOCKS, **given)
    assert list(release.tables) == names
    for name, table in release.tables.items():
        files = sorted((tmp_path / "blocks").glob(f"{name}-*.parquet"))
        assert len(files) == 2
        assert pl.concat(table.parts).equals(pl.concat([pl.read_parquet(path) for path in files]))
    assert release.table is release.tables.get("table")


def test_a_block_whose_slices_tell_too_much_is_joined(tmp_path):
    """Beside each letter both values are as frequent in each pair of ages, and one of them is certain at each age."""
    age, letter = (one.ravel() for one in np.meshgrid([0, 20, 1000, 1020], np.arange(100) % 2))
    value = np.where((age % 1000 > 0) == (letter > 0), "flu", "ulcer")
    frame = pl.DataFrame({"age": age, "letter": letter.astype(str), "disease": value})
    order = shoal.Ordinal([str(place) for place in range(400)])  # letters are near, so that ages are cut
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "letter": order}, sensitive=["disease"])
    method = shoal.Slicing(l=2, groups={"age": 1, "letter": 2, "disease": 2})
    _, release = both(frame, schema, method, tmp_path, Blocks(rows=100, part_rows=150, workers=1), seed=1)
    assert release.receipt.notes["blocks"] == 2  # four, if no cut were taken back


def test_rows_in_no_class_may_leave_one_part(frame, monkeypatch):
    """As on one machine, the table is then published whole."""
    own = tasks.grouped

    def leaving_out(*given, **more):
        groups = own(*given, **more)
        return replace(groups, labels=np.where(groups.labels == groups.n_groups - 1, -1, groups.labels))

    monkeypatch.setattr(tasks, "grouped", leaving_out)
    with here():
        release = anonymize(
            partitioned(frame, 2), SCHEMA, shoal.Mondrian(k=5), seed=2, blocks=Blocks(rows=300, part_rows=495)
        )
    assert not release.manifest.in_parts
    assert release.manifest.rows.published == 500


def test_several_tables_of_one_block(frame, tmp_path):
    with here():
        release = anonymize(partitioned(frame, 2), SCHEMA, shoal.Anatomy(l=2), seed=2)
        release.write(tmp_path / "spark")
        assert release.verify() == release.verdict
    assert set(contents(tmp_path / "spark")) == {"table.parquet", "sensitive.parquet", "manifest.json"}
    assert check_directory(tmp_path / "spark")[0] == release.verdict
