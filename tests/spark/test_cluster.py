"""Releases of a cluster: those of one machine, whatever becomes of executors."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.check.release import verify
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import GuaranteeError, ParameterError, SchemaError, SourceError
from shoal.progress import SILENT
from shoal.published.reading import check_directory
from shoal.spark import anonymize, jobs
from shoal.spark.session import open_session
from shoal.table.sources import Source
from support import postgres
from support.spark_cluster import SEVERAL_HOSTS, TESTS, cluster, jdbc, session

BLOCKS = Blocks(rows=600, part_rows=800, workers=1)
N_ROWS = 2_200
ASKED = {"require": (shoal.LDiversity("disease", l=2),), "suppress": 0.05}
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
    """People with missing cells, half of them alike in all quasi-identifiers, and diseases of which some are rare.

    Ages are whole in most blocks, and not in all.
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows)
    age = np.where(rng.random(n_rows) < 0.02, None, np.where(age > 75, age + 0.5, age))
    school = np.where(rng.random(n_rows) < 0.02, None, rng.choice(["low", "mid", "high"], n_rows))
    frame = pl.DataFrame(
        {
            "name": [f"person {place}" for place in range(n_rows)],
            "age": pl.Series(age.tolist(), dtype=pl.Float64),
            "zip": rng.choice(["100", "101", "102", "200", "201"], n_rows),
            "school": pl.Series(school.tolist(), dtype=pl.String),
            "disease": rng.choice(["flu", "ulcer", "gout", "mumps"], n_rows, p=[0.6, 0.2, 0.15, 0.05]),
        }
    )
    alike = pl.int_range(pl.len()) % 2 == 0
    same = {"age": 40.0, "zip": "100", "school": "mid"}
    return frame.with_columns(
        pl.when(alike).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in same.items()
    )


def rows_of_blocks(frame: pl.DataFrame) -> Counter:
    """What blocks on one machine publish."""
    release = shoal.anonymize(frame, SCHEMA, shoal.KMember(k=5), seed=1, engine=BLOCKS, **ASKED)
    return Counter(release.table.rows())


def rows_of(release) -> Counter:
    return Counter(map(tuple, release.table.collect()))


def on_spark(spark, frame: pl.DataFrame, n_partitions: int):
    """The same rows in another order, in so many partitions."""
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=n_partitions)
    return spark.createDataFrame(shuffled.to_arrow()).repartition(n_partitions)


def assert_same(one: Path, other: Path) -> None:
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def tried(folder: Path, own=jobs.stepped):
    """Steps as they are, but when rows are first read: one task waits until it is done a second time, another fails."""
    name, most = str(folder), 600 if SEVERAL_HOSTS else 0

    def stepped(step: str, version: str, payload: bytes):
        run = own(step, version, payload)

        def watched(batches):
            import time
            from pathlib import Path

            from pyspark import TaskContext

            task, came = TaskContext.get().partitionId(), 0
            while (Path(name) / f"{task}-{came}").exists():
                came += 1
            (Path(name) / f"{task}-{came}").touch()  # Spark may give up an attempt before it comes here
            place = (task, came)
            if place == (1, 0):
                raise ValueError("canary of a task")
            until = time.monotonic() + most  # so that nobody waits for ever
            while place == (0, 0) and not (Path(name) / "0-1").exists() and time.monotonic() < until:
                time.sleep(0.05)
            yield from run(batches)

        return watched if step == "clean" else run

    return stepped


@pytest.fixture(scope="session")
def attempts(tmp_path_factory):
    return tmp_path_factory.mktemp("attempts")


@pytest.fixture(scope="session")
def published(spark, attempts):
    """A release with all that may be asked for; one task is done twice at once (speculation), one fails at first."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jobs, "stepped", tried(attempts))
        df = on_spark(spark, table(), 3)
        release = anonymize(df, SCHEMA, shoal.KMember(k=5), seed=1, blocks=BLOCKS, source="a table", **ASKED)
    yield release
    release.close()


def test_the_same_bytes_as_blocks_on_one_machine(published, attempts, tmp_path):
    """Though half of the rows are in one block, a task was done twice at once, and another failed and was retried."""
    seen = {path.name for path in attempts.iterdir()}
    assert {"0-0", "1-0", "1-1", "2-0"} <= seen
    assert "0-1" in seen or not SEVERAL_HOSTS
    table().write_parquet(tmp_path / "table.parquet")
    source = Source(path=str(tmp_path / "table.parquet"))
    recipe = shoal.Recipe(SCHEMA, shoal.KMember(k=5), source=source, seed=1, **ASKED)
    assert publish_in_blocks(recipe, tmp_path / "blocks", BLOCKS, SILENT) is not None
    published.write(tmp_path / "spark")
    assert_same(tmp_path / "blocks", tmp_path / "spark")
    assert check_directory(tmp_path / "spark")[0].k >= 5
    rows = pl.concat([pl.read_parquet(path) for path in sorted((tmp_path / "blocks").glob("*.parquet"))])
    assert rows_of(published) == Counter(rows.rows())


def test_people_with_several_rows_stay_together(spark, tmp_path):
    """Some blocks have too few people once those are together: cuts are taken back, as on one machine.

    Classes are compared with all people, whose rows are in different parts.
    """
    rng = np.random.default_rng(4)
    who = np.where(np.arange(1200) % 3 == 0, rng.integers(0, 30, 1200), rng.integers(30, 200, 1200))
    frame = table(1200).with_columns(pl.Series("who", who).cast(pl.String))
    frame.write_parquet(tmp_path / "table.parquet")
    schema = shoal.Schema(quasi=SCHEMA.quasi, sensitive=["disease"], identifying=["name"], person="who")
    blocks = Blocks(rows=300, part_rows=700, workers=1)
    source = Source(path=str(tmp_path / "table.parquet"))
    require = (*ASKED["require"], shoal.TCloseness("disease", t=0.5))
    given = {"require": require, "seed": 1, "publish": shoal.Generalize(shape="classes")}
    recipe = shoal.Recipe(schema, shoal.KMember(k=5), source=source, **given)
    made = publish_in_blocks(recipe, tmp_path / "blocks", blocks, SILENT)
    release = anonymize(on_spark(spark, frame, 2), schema, shoal.KMember(k=5), blocks=blocks, **given)
    release.write(tmp_path / "spark")
    assert_same(tmp_path / "blocks", tmp_path / "spark")
    assert release.receipt.cuts == made.receipt.cuts
    assert repr(release.receipt.achieved) == repr(made.receipt.achieved)  # counted in people
    assert release.verdict.k >= 5
    assert release.verify() == release.verdict
    release.close()


@pytest.mark.parametrize(
    ("method", "publish", "tables"),
    [
        (shoal.Mdav(k=5), shoal.Centres(centre="average"), ["table", "centres"]),
        (shoal.Slicing(l=2, sensitive_apart=True), shoal.Slices(shape="files"), ["slice_1", "slice_2", "slice_3"]),
    ],
    ids=["centres", "slices"],
)
def test_several_tables(spark, tmp_path, method, publish, tables):
    """Numbers are missing in some blocks; which attributes stay together is found by counts of all partitions."""
    even = pl.int_range(pl.len()) // 2 % 4  # no value is in more than half of the rows
    frame = table(1200).with_columns(disease=even.replace_strict([0, 1, 2, 3], ["flu", "ulcer", "gout", "mumps"]))
    blocks = Blocks(rows=400, part_rows=700, workers=1)
    frame.write_parquet(tmp_path / "table.parquet")
    source = Source(path=str(tmp_path / "table.parquet"))
    recipe = shoal.Recipe(SCHEMA, method, source=source, seed=1, publish=publish)
    assert publish_in_blocks(recipe, tmp_path / "blocks", blocks, SILENT) is not None
    release = anonymize(on_spark(spark, frame, 2), SCHEMA, method, seed=1, publish=publish, blocks=blocks)
    release.write(tmp_path / "spark")
    assert_same(tmp_path / "blocks", tmp_path / "spark")
    assert list(release.tables) == tables
    rows = pl.concat([pl.read_parquet(path) for path in sorted((tmp_path / "blocks").glob(f"{tables[-1]}-*.parquet"))])
    assert Counter(map(tuple, release.tables[tables[-1]].collect())) == Counter(rows.rows())
    release.close()


def test_what_the_holder_keeps(published):
    receipt = published.receipt
    assert (receipt.seed, receipt.source, receipt.input.rows) == (1, "a table", N_ROWS)
    assert receipt.rows.published == published.manifest.rows.published == N_ROWS - receipt.rows.suppressed
    assert len(receipt.cuts) == receipt.notes["blocks"] - 1 > 1


def test_what_was_changed_is_refused(published, monkeypatch):
    assert published.verify() == published.verdict
    true = published.manifest
    monkeypatch.setattr(published, "manifest", true.model_copy(update={"achieved": {**true.achieved, "k": 50.0}}))
    with pytest.raises(GuaranteeError, match="other values than the release reaches"):
        published.verify()
    wrong = {**true.measures, "ncp": 0.0}
    monkeypatch.setattr(published, "manifest", true.model_copy(update={"measures": wrong}))
    with pytest.raises(GuaranteeError, match="other figures"):
        published.verify()


def test_the_example_of_the_page(spark, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "people").mkdir()
    table(300).write_parquet(tmp_path / "people" / "1.parquet")
    found = {"spark": spark, "schema": SCHEMA, "folder": str(tmp_path)}
    exec(compile(code, "docs/spark.md", "exec"), found)
    rows = pl.read_parquet(tmp_path / "published" / "*.parquet")
    assert verify({"table": rows}, shoal.Manifest.model_validate_json(found["told"])).achieved["l:disease"] >= 2


def test_a_database_by_jdbc(spark):
    """Spark reads the table from a real PostgreSQL, and writes the release there."""
    import adbc_driver_postgresql.dbapi as adbc

    jdbc()
    with postgres.databases() as new:
        uri = new()
        with adbc.connect(uri) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("people", table(300).to_arrow(compat_level=pl.CompatLevel.oldest()), mode="create")
            connection.commit()
        place = urlsplit(uri)
        url = f"jdbc:postgresql://{place.hostname}:{place.port}{place.path}"
        known = {"user": str(place.username), "driver": "org.postgresql.Driver"}
        df = spark.read.jdbc(url, "people", properties=known)
        release = anonymize(df, SCHEMA, shoal.KMember(k=5), seed=1)
        release.table.write.jdbc(url, "published", properties=known)
        with adbc.connect(uri) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM published")
            rows = pl.DataFrame(cursor.fetch_arrow_table())
    assert Counter(rows.rows()) == rows_of(release)
    in_order = table(300).sort("age", "zip", "school", "disease", nulls_last=True)
    assert Counter(rows.rows()) == Counter(shoal.anonymize(in_order, SCHEMA, shoal.KMember(k=5), seed=1).table.rows())
    release.close()


def test_a_recipe_from_the_command_line(spark, call, tmp_path):
    """The session of this process is used, as of a notebook. One block: rows are sorted by content."""
    table().write_csv(tmp_path / "people.csv")
    recipe = shoal.Recipe(SCHEMA, shoal.KMember(k=5), source=Source(path="people.csv"), seed=1, engine="spark")
    (tmp_path / "recipe.toml").write_text(recipe.to_toml())
    flags = ["--block-rows", "500", "--out", str(tmp_path / "release"), "--json"]
    status, shown, told = call("run", str(tmp_path / "recipe.toml"), *flags)
    assert status == 0, told
    assert json.loads(shown)["manifest"]["achieved"]["k"] >= 5
    assert call("verify", str(tmp_path / "release"))[0] == 0
    assert "Public edition" in (tmp_path / "release.report.html").read_text(encoding="utf-8")
    in_order = table().sort("age", "zip", "school", "disease", nulls_last=True)
    plain = shoal.anonymize(in_order, SCHEMA, shoal.KMember(k=5), seed=1)
    assert pl.read_parquet(tmp_path / "release" / "table.parquet").equals(plain.table)


def test_another_master_than_that_of_the_session(spark, machines):
    assert open_session(machines.master) == (spark, False)
    with pytest.raises(ParameterError, match="another cluster than that of the session"):
        open_session("local[1]")


def test_what_is_no_frame_of_spark(spark):
    with pytest.raises(ParameterError, match="needs a DataFrame of Spark, got DataFrame"):
        anonymize(table(300), SCHEMA, shoal.KMember(k=5))


@pytest.mark.parametrize("part_rows", [30, 600], ids=["parts", "one block"])
def test_names_that_spark_reads_in_its_own_way(spark, part_rows):
    """A point is a way into a structure to Spark, a backtick quotes, and `age` is `Age`."""
    shown = {"age.2": "age", "`dis`ease.": "disease", "Age": "sex"}
    frame = shoal.sample.people(90, seed=2).select("age", "sex", "disease")
    frame = frame.select(*(pl.col(own).alias(name) for name, own in shown.items()), age=pl.lit("unlike Age"))
    schema = shoal.Schema(
        quasi={"age.2": shoal.Numeric(), "Age": shoal.Nominal()}, sensitive=["`dis`ease."], rest="drop"
    )
    blocks = Blocks(rows=part_rows, part_rows=part_rows, workers=1)
    release = anonymize(on_spark(spark, frame, 2), schema, shoal.Mondrian(k=4), seed=1, blocks=blocks)
    assert release.table.columns == ["age.2", "`dis`ease.", "Age"]
    assert Counter(row[1] for row in release.table.collect()) == Counter(frame["`dis`ease."].to_list())
    assert release.verify().k >= 4
    assert not any("unlike" in str(row) for row in release.table.collect())
    release.close()


def test_cells_that_are_no_single_values(spark):
    nested = on_spark(spark, table(300), 1).selectExpr("* except (zip)", "array(zip) AS zip")
    with pytest.raises(SchemaError, match="column 'zip': holds no single values, but arrays"):
        anonymize(nested, SCHEMA, shoal.KMember(k=5), blocks=BLOCKS)


def test_a_worker_that_is_killed_changes_nothing(machines, spark, monkeypatch):
    """Its executor had blocks that it kept, and rows on the way to others: they are found again, from the table on."""
    killed = []
    monkeypatch.setattr(jobs, "BY_ID", "as in Spark 4.0, which does not know it")
    monkeypatch.setattr(jobs, "FEW", 1)  # what is said of partitions is put together by executors first

    class Killer:
        def stage(self, name: str, total: int | None = None) -> None:
            if name == "publishing":
                machines.stop("two")
                killed.append(name)

        def advance(self, steps: int) -> None:
            pass

    df = on_spark(spark, table(seed=3), 4)
    release = anonymize(df, SCHEMA, shoal.KMember(k=5), seed=1, blocks=BLOCKS, progress=Killer(), **ASKED)
    found = rows_of(release)
    assert killed == ["publishing"]
    assert spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == 2  # the driver and one executor
    assert found == rows_of_blocks(table(seed=3))
    assert release.verify().k >= 5
    release.close()


# Errors end the Python of executors, so these tests come last.


def test_errors_hold_no_cell(spark):
    wrong = table().with_columns(pl.col("age").cast(pl.String).replace("30.0", "canary-1"))
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
    path = os.pathsep.join([str(tmp_path), str(TESTS)])
    spark.sparkContext.environment.update(PYTHONPATH=path, SHOAL_TESTS_LOAD="")
    try:
        with pytest.raises(SourceError, match=r"is not installed on an executor; ship it: --py-files"):
            anonymize(on_spark(spark, table(), 1), SCHEMA, shoal.KMember(k=5), blocks=BLOCKS)
    finally:
        spark.sparkContext.environment.clear()
        spark.sparkContext.environment.update(before)
