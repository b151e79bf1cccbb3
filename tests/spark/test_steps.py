"""What executors do, and what is said of what goes wrong there: no cluster is needed for that."""

from __future__ import annotations

import hashlib
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal._version import __version__
from shoal.engines.cuts import Cut, Cuts
from shoal.engines.known import PieceFacts
from shoal.errors import InfeasibleError, ParameterError, Problem, RecipeError, SourceError
from shoal.spark import parts, people, remote, tasks
from shoal.spark.frames import packed, stored
from shoal.spark.jobs import told
from shoal.spark.joining import together
from shoal.spark.recipes import check_source
from shoal.spark.session import check_frame, check_java, check_spark, open_session
from shoal.spark.writing import TOKEN, write_moved
from shoal.table.sources import Source

SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric(), "zip": shoal.Nominal()}, sensitive=["disease"])
FRAME = pl.DataFrame(
    {
        "age": [20.5, 31.0, None, 44.0, 31.0, 58.0],
        "zip": ["a", "b", "a", None, "c", "a"],
        "disease": ["flu", "gout", "flu", "flu", "ulcer", "gout"],
    }
)


def listed(facts: PieceFacts) -> tuple[object, ...]:
    numbers = {
        name: (one.count, one.low, one.high, round(one.mean, 9), round(one.squares, 9), one.sample.tolist())
        for name, one in facts.numbers.items()
    }
    counts = {name: one.select("value", "count").sort("value").rows() for name, one in facts.counts.items()}
    return facts.n_input, facts.n_rows, facts.types, facts.missing, numbers, counts


@pytest.mark.parametrize("cuts", [(), (2,), (1, 4), (3, 4, 5)])
def test_facts_of_pieces_are_those_of_all_rows(cuts):
    bounds = [0, *cuts, FRAME.height]
    pieces = [FRAME[begin:end] for begin, end in pairwise(bounds)]
    found = together([PieceFacts.of(piece, SCHEMA, piece.height) for piece in pieces])
    assert listed(found) == listed(PieceFacts.of(FRAME, SCHEMA, FRAME.height))


def test_only_counts_that_are_not_0_travel_and_they_add_up():
    rng = np.random.default_rng(0)
    several = [[rng.integers(0, 3, (4, 50)), rng.integers(0, 2, (4, 3))] for _ in range(3)]
    one_by_one = [tasks.batch_of(entry) for counts in several for entry in tasks.summed([counts])]
    (entry,) = tasks.join_counts(one_by_one)
    found = tasks.counts_of(entry.note)
    assert all(np.array_equal(one, sum(lists)) for one, lists in zip(found, zip(*several, strict=True), strict=True))
    assert list(tasks.summed([])) == []


def test_pieces_are_of_one_size(monkeypatch):
    monkeypatch.setattr(tasks, "PIECE_ROWS", 4)
    batches = pa.table({"n": list(range(11))}).to_batches(max_chunksize=3)
    assert [piece["n"].to_list() for piece in tasks._pieces(batches, ["n"])] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]


# -- errors ------------------------------------------------------------------------------------------------------------


def performed(monkeypatch, error: Exception, **changed: str) -> list[remote.Entry]:
    def fails(batches):
        raise error
        yield

    monkeypatch.setattr(tasks, "fails", fails, raising=False)
    monkeypatch.setattr(remote, "ONE_CORE", {})  # this process is no executor
    found = remote.perform("fails", changed.get("version", __version__), pickle.dumps(()), iter([]))
    return list(found)


def test_an_error_of_ours_comes_to_the_driver(monkeypatch):
    (batch,) = performed(monkeypatch, InfeasibleError(Problem("block", "cannot be", "do not")))
    with pytest.raises(InfeasibleError, match="block: cannot be; do not"):
        list(tasks.entries([batch]))


def test_of_another_error_its_kind_alone_is_told(monkeypatch):
    with pytest.raises(RuntimeError, match="ValueError in the step fails") as caught:
        performed(monkeypatch, ValueError("canary"))
    assert "canary" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert str(told(f"PythonException {caught.value} canary")) == (
        "spark: an executor failed in the step fails (ValueError); "
        "look at its memory and disk; smaller blocks need less"
    )


def test_another_version_on_an_executor(monkeypatch):
    with pytest.raises(RuntimeError) as caught:
        performed(monkeypatch, ValueError("canary"), version="0.0.1")
    assert "another version of Shoal" in str(told(str(caught.value)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ModuleNotFoundError: No module named 'shoal'", "is not installed on an executor"),
        ("ModuleNotFoundError: No module named 'polars'", "is not installed on an executor"),
        ("[PYTHON_VERSION_MISMATCH] canary 3.9", "another version of Python"),
        ("SparkNumberFormatException [CAST_INVALID_INPUT] The value 'canary' of", "a job failed (CAST_INVALID_INPUT)"),
        ("Py4JJavaError canary", "a job failed (Py4JJavaError)"),
    ],
)
def test_errors_of_spark_in_plain_words(text, said):
    found = str(told(text))
    assert said in found
    assert "canary" not in found


# -- before work -------------------------------------------------------------------------------------------------------


def test_a_spark_that_is_too_old():
    check_spark("4.0.0")
    with pytest.raises(SourceError, match=r"this is Spark 3\.5\.1, and 4\.0 or later is needed"):
        check_spark("3.5.1")


@pytest.mark.parametrize(
    ("version", "said"), [("11.0.2", "this is Java 11"), ("1.8.0_292", "this is Java 8"), ("", "Java was not found")]
)
def test_a_java_that_does_not_fit(version, said, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755 if version else 0o644)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SourceError, match=f"{said}, and Spark needs Java 17 or later; install a JDK 17"):
        check_java()


def test_without_pyspark_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    for call in (lambda: check_frame(FRAME), lambda: open_session("local[1]")):
        with pytest.raises(SourceError, match=r"shoal.spark: needs the package pyspark; run: .*spark\]"):
            call()


def test_sources_that_a_recipe_cannot_have(tmp_path):
    with pytest.raises(SourceError, match="of the kind sqlite, which a recipe with engine = 'spark' does not read"):
        check_source(Source(path=str(tmp_path / "people.db"), table="people"))
    folder = tmp_path / "people.parquet"
    folder.mkdir()
    FRAME.write_parquet(folder / "1.parquet")
    FRAME.with_columns(pl.col("age").cast(pl.String)).write_parquet(folder / "2.parquet")
    (folder / "3.parquet").write_bytes(b"nothing")
    with pytest.raises(SourceError) as caught:
        check_source(Source(path=str(folder)))
    assert "than 1.parquet: age" in str(caught.value)
    assert "3.parquet: is not a readable Parquet file" in str(caught.value)


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder that is filled, in a hidden one."""
    (tmp_path / "0").mkdir()
    return tmp_path / "0"


def test_a_task_that_is_done_twice_is_done_once(folder):
    (folder.parent / TOKEN).write_text("abc")
    found = {write_moved(folder, "table-00001.parquet", "abc", b"rows") for _ in range(2)}
    assert len(found) == 1
    assert [path.name for path in folder.iterdir()] == ["table-00001.parquet"]
    assert sorted(path.name for path in folder.parent.iterdir()) == [TOKEN, "0"]
    assert (folder / "table-00001.parquet").read_bytes() == b"rows"


def test_a_task_that_is_late_leaves_nothing(folder):
    (folder.parent / TOKEN).write_text("abc")
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        write_moved(folder, "table-00001.parquet", "abc", b"rows")
    assert [path.name for path in folder.parent.iterdir()] == [TOKEN]


@pytest.mark.parametrize("token", [None, "another"])
def test_a_folder_that_is_not_that_of_the_driver(token, folder):
    if token is not None:
        (folder.parent / TOKEN).write_text(token)
    with pytest.raises(SourceError, match="is not the folder of the driver on an executor"):
        write_moved(folder, "table-00001.parquet", "abc", b"rows")
    assert not list(folder.iterdir())


def test_rows_that_are_not_those_that_were_checked(tmp_path):
    FRAME.write_parquet(tmp_path / "part.parquet")
    entry = remote.Entry(0, 0, b"", (tmp_path / "part.parquet").read_bytes())
    digest, types = hashlib.sha256(entry.rows).hexdigest(), FRAME.to_arrow().schema
    (rows,) = parts.read_files([tasks.batch_of(entry)], [digest], types)
    assert pl.DataFrame(rows).equals(FRAME)
    with pytest.raises(SourceError, match="gave other rows when it was read again"):
        list(parts.read_files([tasks.batch_of(entry)], ["0" * 64], types))


# -- recipes -----------------------------------------------------------------------------------------------------------


def recipe(**changed) -> shoal.Recipe:
    return shoal.Recipe(SCHEMA, shoal.KMember(k=2), source=Source(path="people.parquet"), **changed)


def test_the_engine_of_a_recipe():
    assert recipe(engine="spark") != recipe()
    assert 'engine = "spark"' in recipe(engine="spark").to_toml()
    assert "engine" not in recipe().to_toml()
    assert shoal.Recipe.from_toml(recipe(engine="spark").to_toml()) == recipe(engine="spark")
    with pytest.raises(RecipeError, match="engine: "):
        shoal.Recipe.from_toml(recipe(engine="spark").to_toml().replace('"spark"', '"hadoop"', 1))
    with pytest.raises(ParameterError, match=r"engine of one machine; use shoal run, or shoal\.spark\.follow"):
        shoal.run(recipe(engine="spark"))


def test_an_address_is_not_taken_for_a_path_beside_the_recipe():
    text = recipe().to_toml().replace("people.parquet", "s3a://bucket/people.parquet")
    read = shoal.Recipe.from_toml(text, folder=Path("/recipes"))
    assert str(read.require_source().path) == "s3a://bucket/people.parquet"
    beside = shoal.Recipe.from_toml(recipe().to_toml(), folder=Path("/recipes"))
    assert str(beside.require_source().path) == "/recipes/people.parquet"


def test_what_a_cluster_cannot_publish():
    aliases = shoal.Aliases("disease")
    with pytest.raises(ParameterError, match=r"in parts; use shoal\.anonymize on one machine, with engine=") as caught:
        shoal.spark.anonymize(None, SCHEMA, shoal.Mondrian(k=2), publish=[shoal.Generalize(), aliases])
    assert "--block-rows" not in str(caught.value)
    with pytest.raises(ParameterError, match=r"shoal\.spark: slicing in blocks: .*; use shoal\.anonymize"):
        shoal.spark.anonymize(None, SCHEMA, shoal.Slicing(l=2, p=2))


# -- people ------------------------------------------------------------------------------------------------------------


def entry_of(rows: pl.DataFrame, bins: list[int]) -> pa.RecordBatch:
    note = pickle.dumps((np.array([bins], dtype=np.uint16), {}))
    return tasks.batch_of(remote.Entry(0, 0, note, packed(rows)))


def test_all_rows_of_a_person_go_to_the_first_of_their_blocks():
    """Whatever pieces they were in; a missing name is one of its own."""
    cuts = Cuts()
    left, right = cuts.split(0, Cut(0, 0))
    assert cuts.blocks == [left, right]
    one = entry_of(pl.DataFrame({"who": ["a", "b", "c", None], "row": [0, 1, 2, 3]}), [1, 1, 0, 1])
    two = entry_of(pl.DataFrame({"who": ["a", "b", "d", None], "row": [4, 5, 6, 7]}), [0, 1, 1, 0])
    heaped = sorted(people.heap_rows([one, two], "who", 3), key=lambda entry: entry.key)
    assert len({entry.key for entry in heaped}) > 1
    found = {0: set(), 1: set()}
    for entry in people.place_people([tasks.batch_of(one) for one in heaped], "who", cuts):
        found[entry.key] |= set(stored(entry.rows)["row"].to_list())
    assert found == {0: {0, 2, 3, 4, 7}, 1: {1, 5, 6}}
