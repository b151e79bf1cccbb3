"""Releases of a cluster: those of one machine, whatever becomes of executors."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support.spark_cluster import cluster, session

import shoal
from shoal.check.release import verify
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import GuaranteeError, SchemaError, SourceError
from shoal.progress import SILENT
from shoal.release.release import check_directory
from shoal.spark import anonymize
from shoal.table.sources import Source

BLOCKS = Blocks(rows=500, part_rows=700, workers=1)
N_ROWS = 2_200
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(), "school": shoal.Ordinal(("low", "mid", "high"))},
    sensitive=["disease"], identifying=["name"],
)  # fmt: skip


@pytest.fixture(scope="session")
def machines():
    with cluster() as found:
        yield found


@pytest.fixture(scope="session")
def spark(machines):
    with session(machines) as found:
        yield found


def table(n_rows: int = N_ROWS, seed: int = 0) -> pl.DataFrame:
    """People with missing cells, and diseases of which some are rare."""
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n_rows) < 0.02, None, rng.integers(18, 90, n_rows))
    school = np.where(rng.random(n_rows) < 0.02, None, rng.choice(["low", "mid", "high"], n_rows))
    return pl.DataFrame(
        {
            "name": [f"person {place}" for place in range(n_rows)],
            "age": pl.Series(age.tolist(), dtype=pl.Int64),
            "zip": rng.choice(["100", "101", "102", "200", "201"], n_rows),
            "school": pl.Series(school.tolist(), dtype=pl.String),
            "disease": rng.choice(["flu", "ulcer", "gout", "mumps"], n_rows, p=[0.6, 0.2, 0.15, 0.05]),
        }
    )


def one_machine(frame: pl.DataFrame, folder: Path, method=None, **asked) -> Path:
    """The release of blocks on one machine."""
    frame.write_parquet(folder / "table.parquet")
    recipe = shoal.Recipe(
        SCHEMA, method or shoal.KMember(k=5), source=Source(path=str(folder / "table.parquet")), seed=1, **asked
    )
    written = publish_in_blocks(recipe, folder / "blocks", BLOCKS, SILENT)
    assert written is not None
    return folder / "blocks"


def on_spark(spark, frame: pl.DataFrame, n_partitions: int):
    """The same rows in another order, in so many partitions."""
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=n_partitions)
    return spark.createDataFrame(shuffled.to_arrow()).repartition(n_partitions)


def assert_same(one: Path, other: Path) -> None:
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_the_same_bytes_as_blocks_on_one_machine(spark, tmp_path):
    asked = {"require": (shoal.LDiversity("disease", l=2),), "suppress": 0.05}
    expected = one_machine(table(), tmp_path, **asked)
    release = anonymize(
        on_spark(spark, table(), 5), SCHEMA, shoal.KMember(k=5), seed=1, blocks=BLOCKS, source="a table", **asked
    )
    release.write(tmp_path / "spark")
    assert_same(expected, tmp_path / "spark")
    assert check_directory(tmp_path / "spark")[0].k >= 5
    assert release.verify() == release.verdict
    rows = pl.concat([pl.read_parquet(path) for path in sorted(expected.glob("*.parquet"))])
    assert Counter(map(tuple, release.table.collect())) == Counter(rows.rows())
    assert release.receipt.seed == 1
    assert release.receipt.rows.published == rows.height
    assert len(release.receipt.cuts) == release.receipt.notes["blocks"] - 1 > 1
    release.close()


def test_what_was_changed_is_refused(spark):
    release = anonymize(on_spark(spark, table(), 2), SCHEMA, shoal.Mondrian(k=5), seed=1, blocks=BLOCKS)
    true = release.manifest
    release.manifest = true.model_copy(update={"achieved": {"k": 50.0}})
    with pytest.raises(GuaranteeError, match="k"):
        release.verify()
    release.manifest = true.model_copy(update={"measures": {**true.measures, "ncp": 0.0}})
    with pytest.raises(GuaranteeError, match="other figures"):
        release.verify()
    release.close()


def test_a_worker_that_is_killed_changes_nothing(machines, spark, tmp_path):
    """Its executor had pieces, blocks or parts that it kept, and worked on others."""
    expected = one_machine(table(seed=3), tmp_path)
    killed = []

    class Killer:
        def stage(self, name: str, total: int | None = None) -> None:
            if name == "grouping":
                threading.Timer(0.5, lambda: killed.append(machines.stop("two"))).start()

        def advance(self, steps: int) -> None:
            pass

    release = anonymize(
        on_spark(spark, table(seed=3), 6), SCHEMA, shoal.KMember(k=5), seed=1, blocks=BLOCKS, progress=Killer()
    )
    release.write(tmp_path / "spark")
    machines.start_worker("two")
    assert killed == [None]
    assert_same(expected, tmp_path / "spark")
    release.close()


def test_half_of_the_rows_alike(spark, tmp_path):
    frame = table(seed=4).with_columns(
        *(
            pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
            for name, value in {"age": 40, "zip": "100", "school": "mid"}.items()
        )
    )
    expected = one_machine(frame, tmp_path)
    release = anonymize(on_spark(spark, frame, 3), SCHEMA, shoal.KMember(k=5), seed=1, blocks=BLOCKS)
    release.write(tmp_path / "spark")
    assert_same(expected, tmp_path / "spark")
    release.close()


def test_one_block_is_sorted_by_content(spark, tmp_path):
    frame, blocks = table(300), Blocks(rows=1000)
    written = []
    for n_partitions in (1, 3):
        df = on_spark(spark, frame, n_partitions)
        release = anonymize(df, SCHEMA, shoal.KMember(k=5), seed=1, blocks=blocks)
        written.append(release.write(tmp_path / str(n_partitions)))
        assert release.verify().k >= 5
        assert release.table.count() == 300
        release.close()
    assert_same(*written)
    in_order = frame.sort("age", "zip", "school", "disease", nulls_last=True)
    plain = shoal.anonymize(in_order, SCHEMA, shoal.KMember(k=5), seed=1)
    assert pl.read_parquet(written[0] / "table.parquet").equals(plain.table)
    assert verify({"table": plain.table}, plain.manifest).k >= 5


def test_errors_hold_no_cell(spark):
    wrong = table().with_columns(pl.col("age").cast(pl.String).replace("30", "canary-1"))
    with pytest.raises(SchemaError, match=r"column 'age', partition \d") as caught:
        anonymize(on_spark(spark, wrong, 2), SCHEMA, shoal.KMember(k=5), blocks=BLOCKS)
    assert "canary" not in str(caught.value)
    failing = on_spark(spark, wrong, 2).selectExpr("* except (age)", "CAST(age AS INT) AS age")
    with pytest.raises(SourceError, match="CAST_INVALID_INPUT") as caught:
        anonymize(failing, SCHEMA, shoal.KMember(k=5), blocks=BLOCKS)
    assert "canary" not in str(caught.value)
    with pytest.raises(SourceError, match="no rows"):
        anonymize(on_spark(spark, table(), 1).limit(0), SCHEMA, shoal.KMember(k=5))


def test_an_executor_without_the_package(spark, tmp_path):
    (tmp_path / "shoal").mkdir()
    (tmp_path / "shoal" / "__init__.py").write_text("raise ImportError('not this one')")
    before = dict(spark.sparkContext.environment)
    spark.sparkContext.environment["PYTHONPATH"] = str(tmp_path)
    try:
        with pytest.raises(SourceError, match=r"is not installed on an executor; ship it: --py-files"):
            anonymize(on_spark(spark, table(), 1), SCHEMA, shoal.KMember(k=5), blocks=BLOCKS)
    finally:
        spark.sparkContext.environment.clear()
        spark.sparkContext.environment.update(before)
