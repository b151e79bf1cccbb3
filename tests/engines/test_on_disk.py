"""A table on disk, piece by piece, block by block, part by part: the same rows as from memory, whatever happens."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.disk.locks import locked
from shoal.engines import on_disk, spooling
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.engines.work import folder_beside
from shoal.errors import (
    GuaranteeError,
    InfeasibleError,
    ParameterError,
    SchemaError,
    ShoalWarning,
    SourceError,
)
from shoal.progress import SILENT
from shoal.published.reading import check_directory
from shoal.published.release import read_release
from shoal.release.manifest import Manifest
from support import postgres
from support.in_parts import BLOCKS, people, recipe_for


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of 700 rows, so that a small table has several."""
    from shoal.table.sources import stream

    monkeypatch.setattr(stream, "ROWS", 700)


@pytest.fixture(scope="session")
def in_parts(tmp_path_factory):
    """A release in parts, its recipe and its table."""
    folder = tmp_path_factory.mktemp("parts")
    frame = people()
    frame.write_parquet(folder / "people.parquet")
    recipe = recipe_for(folder / "people.parquet")
    written = publish_in_blocks(recipe, folder / "out", BLOCKS, SILENT)
    assert written is not None
    return written, recipe, frame


def rows_of(table: pl.DataFrame) -> list:
    return sorted(map(repr, table.rows()))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_rows_as_from_memory(in_parts):
    written, recipe, frame = in_parts
    memory = shoal.anonymize(
        frame, recipe.schema, recipe.method, require=recipe.require, seed=1, engine=Blocks(rows=BLOCKS.rows)
    )
    read = read_release(written.folder)
    assert len(written.manifest.tables[0].parts) == 4
    assert rows_of(read.table) == rows_of(memory.table)
    assert written.manifest.achieved == memory.manifest.achieved
    assert written.manifest.measures == memory.manifest.measures
    assert written.manifest.layout == memory.manifest.layout
    assert written.receipt.rows == memory.receipt.rows
    assert not folder_beside(written.folder).exists()


def test_a_release_in_parts_is_checked_measured_and_read(in_parts):
    written, *_ = in_parts
    verdict, manifest = check_directory(written.folder)
    assert verdict.achieved == {"k": 5, "l:disease": 2} == manifest.achieved
    assert verdict.surveyed["k"] == 5
    release = read_release(written.folder)
    again = release.verify()
    assert (again.achieved, again.n_rows, again.n_classes) == (verdict.achieved, 3000, verdict.n_classes)
    assert release.measure() == manifest.measures
    with pytest.raises(ParameterError, match="in parts"):
        release.write(written.folder.parent / "other")


def test_pieces_and_processes_change_nothing(in_parts, tmp_path, small_pieces):
    """Small pieces, and two processes (which have pieces of the usual size, and need none of their own)."""
    written, recipe, _ = in_parts
    for name, workers in (("one", 1), ("two", 2)):
        blocks = Blocks(rows=BLOCKS.rows, part_rows=BLOCKS.part_rows, workers=workers)
        publish_in_blocks(recipe, tmp_path / name, blocks, SILENT)
        assert contents(tmp_path / name) == contents(written.folder)


def test_a_table_of_a_database_server_gives_the_same_release(in_parts, tmp_path, small_pieces):
    import adbc_driver_postgresql.dbapi as adbc

    written, recipe, frame = in_parts
    with postgres.databases() as new:
        uri = new()
        with adbc.connect(uri) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("people", frame.to_arrow(compat_level=pl.CompatLevel.oldest()), mode="create")
            connection.commit()
        source = shoal.table.sources.Source(uri=uri, table="people")
        publish_in_blocks(replace(recipe, source=source), tmp_path / "out", BLOCKS, SILENT)
    assert contents(tmp_path / "out") == contents(written.folder)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "db", "folder"])
def test_every_source_gives_the_same_release(in_parts, tmp_path, small_pieces, ending):
    written, _, frame = in_parts
    path = tmp_path / f"people.{ending}"
    if ending == "csv":
        frame.write_csv(path)
    elif ending == "csv.gz":
        import gzip

        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif ending == "db":
        import sqlite3

        connection = sqlite3.connect(path)
        connection.execute(f"CREATE TABLE people ({', '.join(frame.columns)})")
        texts = frame.with_columns(pl.col(pl.Date).cast(pl.String))
        connection.executemany(f"INSERT INTO people VALUES ({','.join('?' * frame.width)})", texts.rows())
        connection.commit()
        connection.close()
    else:
        path = tmp_path / "people"
        path.mkdir()
        for place in range(3):
            frame[place * 1000 : (place + 1) * 1000].write_parquet(path / f"{place}.parquet")
    made = publish_in_blocks(recipe_for(path), tmp_path / "out", BLOCKS, SILENT)
    assert made is not None
    assert contents(tmp_path / "out") == contents(written.folder)


def test_averages_missing_cells_and_suppressed_rows(tmp_path, small_pieces):
    """Columns that say what is missing, rows in no class, numbers that are whole in some blocks alone."""
    frame = people(1500).with_columns(
        pl.when(pl.int_range(pl.len()) % 97 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        (pl.int_range(pl.len()) * 0.5).alias("score"),
    )
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "score": shoal.Numeric(), "sex": shoal.Nominal()},
        sensitive=["disease"],
        rest="drop",
    )
    source = shoal.table.sources.Source(path=tmp_path / "people.parquet")
    for publish in (shoal.Generalize(shape="typed"), shoal.Aggregate()):
        for method, suppress in ((shoal.Mondrian(k=5), 0.0), (shoal.Mdav(k=4), 0.05)):
            require = (shoal.LDiversity("disease", l=3),)
            recipe = shoal.Recipe(
                schema, method, source=source, publish=publish, require=require, suppress=suppress, seed=2
            )
            out = tmp_path / f"{publish.name}-{method.name}"
            made = publish_in_blocks(recipe, out, Blocks(rows=300, part_rows=400, workers=1), SILENT)
            assert made is not None
            memory = shoal.anonymize(
                frame, schema, method, require=require, publish=publish, suppress=suppress, seed=2,
                engine=Blocks(rows=300),
            )  # fmt: skip
            assert rows_of(read_release(out).table) == rows_of(memory.table)
            assert made.manifest.layout == memory.manifest.layout
            assert made.manifest.measures == memory.manifest.measures


def test_spellings_are_merged_over_all_pieces(tmp_path, small_pieces):
    frame = people(1500).with_columns(
        pl.when(pl.int_range(pl.len()) % 13 == 0)
        .then(pl.col("disease").str.to_uppercase())
        .otherwise("disease")
        .alias("disease")
    )
    frame.write_parquet(tmp_path / "people.parquet")
    recipe = recipe_for(tmp_path / "people.parquet", require=(), normalise=True)
    made = publish_in_blocks(recipe, tmp_path / "out", Blocks(rows=300, part_rows=400, workers=1), SILENT)
    memory = shoal.anonymize(frame, recipe.schema, recipe.method, seed=1, normalise=True, engine=Blocks(rows=300))
    assert rows_of(read_release(tmp_path / "out").table) == rows_of(memory.table)
    assert made.receipt.merged == memory.receipt.merged


def test_people_with_several_rows_stay_together(tmp_path, small_pieces):
    rng = np.random.default_rng(4)
    frame = people(1500).with_columns(pl.Series("who", rng.integers(0, 600, 1500)).cast(pl.String))
    frame.write_parquet(tmp_path / "people.parquet")
    quasi = {"age": shoal.Numeric(), "sex": shoal.Nominal(), "education": shoal.Nominal()}
    schema = shoal.Schema(quasi=quasi, sensitive=["disease"], person="who", rest="drop")
    close = shoal.TCloseness("disease", t=0.7), shoal.BetaLikeness("disease", beta=5)  # than all people together
    given = {"require": (shoal.LDiversity("disease", l=2), *close), "seed": 1}
    source = shoal.table.sources.Source(path=tmp_path / "people.parquet")
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=4), source=source, **given)
    made = publish_in_blocks(recipe, tmp_path / "out", Blocks(rows=250, part_rows=400, workers=1), SILENT)
    memory = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), engine=Blocks(rows=250), **given)
    assert made is not None
    assert made.receipt.notes["blocks"] == memory.receipt.notes["blocks"] > 2
    assert rows_of(read_release(tmp_path / "out").table) == rows_of(memory.table)
    assert made.receipt.achieved == memory.receipt.achieved  # counted in people
    assert made.receipt.achieved["k"] >= 4
    assert made.manifest.recipe.counts == "people"
    verdict, _ = check_directory(tmp_path / "out")
    assert len(verdict.unchecked) == 4  # whose rows they are, the files do not tell
    assert all("who" not in pl.read_parquet_schema(path) for path in (tmp_path / "out").glob("*.parquet"))


def test_parts_without_rows_break_no_promise_of_people(tmp_path):
    whose, towns = [row // 2 for row in range(200)], [f"town {row // 20}" for row in range(200)]
    frame = pl.DataFrame({"who": whose, "town": towns, "s": ["x", "y"] * 100})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(quasi={"town": shoal.Nominal()}, sensitive=["s"], person="who")
    source, require = shoal.table.sources.Source(path=tmp_path / "people.parquet"), (shoal.LDiversity("s", l=2),)
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=5), source=source, require=require, seed=1)
    made = publish_in_blocks(recipe, tmp_path / "out", Blocks(rows=40, part_rows=5, workers=1), SILENT)
    assert made is not None
    assert any(part.rows == 0 for part in made.manifest.tables[0].parts)
    assert len(check_directory(tmp_path / "out")[0].unchecked) == 2
    assert read_release(tmp_path / "out").table.height == 200


def test_a_small_table_has_one_part(tmp_path):
    people(300).write_parquet(tmp_path / "people.parquet")
    assert publish_in_blocks(recipe_for(tmp_path / "people.parquet"), tmp_path / "out", BLOCKS, SILENT) is None
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def refused(error, text, recipe, out, blocks=BLOCKS, **given):
    """The run is refused, and leaves nothing behind."""
    before = {path.name for path in out.parent.iterdir()}
    with pytest.raises(error, match=text):
        publish_in_blocks(recipe, out, blocks, SILENT, **given)
    assert {path.name for path in out.parent.iterdir()} == before


def test_bad_input_is_refused_and_leaves_nothing(tmp_path, in_parts, monkeypatch):
    _, recipe, frame = in_parts
    out = tmp_path / "out"
    refused(ParameterError, "too small for groups", recipe, out, Blocks(rows=9))
    refused(InfeasibleError, "cannot be kept", recipe, out, memory="300MB")
    people(300).write_csv(tmp_path / "short.csv")
    text = (tmp_path / "short.csv").read_text(encoding="utf-8")
    (tmp_path / "short.csv").write_text(text.rstrip("\n").rpartition(",")[0], encoding="utf-8")
    refused(SourceError, "another number of fields", recipe_for(tmp_path / "short.csv"), out)
    whole = (tmp_path / "cut.parquet", out.parent / "people.parquet")
    frame.write_parquet(whole[1])
    whole[0].write_bytes(whole[1].read_bytes()[:-500])
    refused(SourceError, "is not a readable Parquet file", recipe_for(whole[0]), out)
    folder = tmp_path / "several"
    folder.mkdir()
    frame.head(100).write_parquet(folder / "a.parquet")
    frame.head(100).drop("income").write_parquet(folder / "b.parquet")
    refused(SourceError, r"has other columns, or other types, than a\.parquet: income", recipe_for(folder), out)
    frame.with_columns(pl.col("age").cast(pl.String).str.replace("^4", "forty ")).write_csv(tmp_path / "odd.csv")
    refused(SchemaError, "cells are not numbers", recipe_for(tmp_path / "odd.csv"), out)
    refused(
        InfeasibleError, "column 'disease'", recipe_for(whole[1], require=(shoal.LDiversity("disease", l=99),)), out
    )
    refused(
        ParameterError,
        "aliases and grades are drawn for a whole table",
        recipe_for(whole[1], sensitive=(shoal.Aliases("disease"),)),
        out,
    )


def test_a_source_that_changes_is_noticed(tmp_path, in_parts, monkeypatch):
    *_, frame = in_parts
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    read = spooling.stream

    def changing(source):
        for piece in read(source):
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")
            yield piece

    monkeypatch.setattr(spooling, "stream", changing)
    refused(SourceError, "was changed while it was read", recipe_for(path), tmp_path / "out")


def test_a_file_that_comes_into_a_folder_meanwhile_is_noticed(tmp_path, in_parts, monkeypatch):
    *_, frame = in_parts
    folder = tmp_path / "several"
    folder.mkdir()
    frame.write_parquet(folder / "a.parquet")
    read = spooling.stream

    def changing(source):
        yield from read(source)
        frame.write_parquet(folder / "b.parquet")

    monkeypatch.setattr(spooling, "stream", changing)
    refused(SourceError, "b.parquet: was changed while it was read", recipe_for(folder), tmp_path / "out")


def test_files_with_columns_in_another_order(tmp_path, in_parts):
    *_, frame = in_parts
    folder = tmp_path / "several"
    folder.mkdir()
    frame.head(100).write_parquet(folder / "a.parquet")
    frame.head(100).select(frame.columns[::-1]).write_parquet(folder / "b.parquet")
    refused(SourceError, "has its columns in another order", recipe_for(folder), tmp_path / "out")


def test_bytes_that_are_no_text_in_a_later_piece(tmp_path, in_parts, monkeypatch):
    from shoal.table.sources import stream

    monkeypatch.setattr(stream, "BYTES", 4000)
    *_, frame = in_parts
    lines = frame.write_csv().split("\n")
    lines[2000] = f"\0{lines[2000]}"
    (tmp_path / "odd.csv").write_text("\n".join(lines), encoding="utf-8")
    text = "has NUL bytes, the first in line 2001"
    refused(SourceError, text, recipe_for(tmp_path / "odd.csv"), tmp_path / "out")


def test_a_place_that_cannot_be_made(tmp_path, in_parts):
    _, recipe, _ = in_parts
    (tmp_path / "letter").write_text("mine", encoding="utf-8")
    with pytest.raises(SourceError, match="cannot be written"):
        publish_in_blocks(recipe, tmp_path / "letter" / "more" / "out", BLOCKS, SILENT)
    refused_below = tmp_path / "new" / "folder" / "out"
    with pytest.raises(InfeasibleError, match="cannot be kept"):
        publish_in_blocks(recipe, refused_below, BLOCKS, SILENT, memory="10MB")
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_so_many_rows_in_no_class_that_one_part_is_left(tmp_path):
    """A few more rows come in than a part has, and fewer go out: the table is published from memory."""
    frame = pl.DataFrame({"age": [row % 50 + (row % 60 == 0) * row * 9 for row in range(420)], "disease": ["a"] * 420})
    frame.write_parquet(tmp_path / "people.parquet")
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    recipe = shoal.Recipe(
        schema, shoal.RGather(k=4, epsilon=0.05), publish=shoal.Generalize(), seed=1,
        source=shoal.table.sources.Source(path=tmp_path / "people.parquet"),
    )  # fmt: skip
    made = publish_in_blocks(recipe, tmp_path / "out", Blocks(rows=200, part_rows=200, workers=1), SILENT)
    assert made is not None
    assert made.receipt.rows.suppressed > 0
    blocks = Blocks(rows=200, part_rows=made.manifest.rows.published, workers=1)
    assert publish_in_blocks(recipe, tmp_path / "other", blocks, SILENT) is None
    assert not folder_beside(tmp_path / "other").exists()


def test_a_place_that_is_taken_stays_as_it_is(tmp_path, in_parts):
    _, recipe, _ = in_parts
    out = tmp_path / "out"
    out.mkdir()
    (out / "letter.txt").write_text("mine", encoding="utf-8")
    refused(SourceError, "is no release, so it is not replaced", recipe, out, overwrite=True)
    assert (out / "letter.txt").read_text(encoding="utf-8") == "mine"


def test_a_full_disk_leaves_nothing(tmp_path, in_parts, monkeypatch):
    _, recipe, _ = in_parts
    make = on_disk.make_part

    def full(work, part, *rest):
        if part == 2:
            raise OSError(28, os.strerror(28))
        return make(work, part, *rest)

    monkeypatch.setattr(on_disk, "make_part", full)
    refused(SourceError, "No space left on device", recipe, tmp_path / "out")


def test_what_breaks_its_promise_is_not_written(tmp_path, in_parts, monkeypatch):
    """Nothing is written that the checker refuses, even if the blocks were wrong."""
    _, recipe, _ = in_parts
    show = on_disk.show_block

    def careless(work, block, *rest):
        labels = work.load_array("labels", block).copy()
        labels[:2] = labels.max() + 1
        work.save_array("labels", block, labels)
        return show(work, block, *rest)

    monkeypatch.setattr(on_disk, "show_block", careless)
    refused(GuaranteeError, "k = 5 was promised", recipe, tmp_path / "out")


RUN = """
import sys
from pathlib import Path
import shoal
from shoal.engines import on_disk
from shoal.engines.blocks import Blocks
from shoal.progress import SILENT

if __name__ == "__main__":
    recipe = shoal.Recipe.load(sys.argv[1])
    blocks = Blocks(rows=400, part_rows=800, workers=int(sys.argv[3]))
    on_disk.publish_in_blocks(recipe, Path(sys.argv[2]), blocks, SILENT)
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path, in_parts):
    written, _, frame = in_parts
    source = tmp_path / "people.parquet"
    frame.write_parquet(source)
    (tmp_path / "recipe.toml").write_text(recipe_for(source).to_toml(), encoding="utf-8")
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    out = tmp_path / "out"
    call = [sys.executable, str(tmp_path / "run.py"), str(tmp_path / "recipe.toml"), str(out), "2"]
    process = subprocess.Popen(call, stderr=subprocess.DEVNULL)
    work = folder_beside(out)
    while len(list(work.glob("labels-*.npy"))) < 2 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {path: path.stat().st_mtime_ns for path in work.glob("labels-*.npy")}
    assert done
    assert not out.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = publish_in_blocks(shoal.Recipe.load(tmp_path / "recipe.toml"), out, BLOCKS, Kept(done))
    assert made is not None
    assert contents(out) == contents(written.folder)
    assert not work.exists()


def test_a_run_does_not_go_on_with_other_trees(tmp_path):
    """A recipe names the file of a hierarchy, and that may change."""
    path, found = tmp_path / "towns.csv", []
    for above in ("north", "south"):
        path.write_text(f"a;{above};*\nb;south;*\n", encoding="utf-8")
        found.append(on_disk._trees(shoal.Schema(quasi={"town": shoal.Nominal(shoal.Hierarchy.from_csv(path))})))
    assert found[0] != found[1]
    assert found[1] == on_disk._trees(shoal.Schema(quasi={"town": shoal.Nominal(shoal.Hierarchy.from_csv(path))}))


def test_a_run_that_dies_when_all_is_moved_leaves_no_row_of_the_input(tmp_path, in_parts, monkeypatch):
    """What was worked on is beside the release until the next command looks there, and is removed by that."""
    written, recipe, _ = in_parts
    with monkeypatch.context() as dying:
        dying.setattr("shoal.disk.change.remove", lambda staging: None)  # nothing is done after the last move
        dying.setattr("shoal.engines.work.Work.end", lambda work: None)
        publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT)
    assert not folder_beside(tmp_path / "out").exists()
    assert list(tmp_path.glob(".out.shoal-*/.out.blocks/*"))
    with pytest.warns(ShoalWarning, match="what it began was finished"):
        check_directory(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.receipt.json"]
    assert contents(tmp_path / "out") == contents(written.folder)


class Kept:
    """Looks that no finished block is grouped again."""

    def __init__(self, done: dict[Path, int]) -> None:
        self.done = done

    def stage(self, name: str, total: int | None = None) -> None:
        if name == "publishing":
            assert self.done == {path: path.stat().st_mtime_ns for path in self.done}

    def advance(self, steps: int) -> None:
        pass


def test_a_killed_process_of_a_block_is_told(tmp_path, in_parts, monkeypatch):
    _, recipe, _ = in_parts
    blocks = Blocks(rows=400, part_rows=800, workers=2)
    out = tmp_path / "out"

    class Killing:
        def stage(self, name: str, total: int | None = None) -> None:
            if name == "grouping":
                children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii").split()
                for child in children:
                    command = Path(f"/proc/{child}/cmdline").read_bytes()
                    if b"spawn_main" in command:
                        os.kill(int(child), signal.SIGKILL)

        def advance(self, steps: int) -> None:
            pass

    with pytest.raises(SourceError, match="was ended by the system"):
        publish_in_blocks(recipe, out, blocks, Killing())
    assert not out.exists()
    assert folder_beside(out).exists()  # to go on there
    made = publish_in_blocks(recipe, out, BLOCKS, SILENT)
    assert made is not None


def test_a_process_that_is_killed_while_a_piece_is_read(tmp_path, in_parts, small_pieces, monkeypatch):
    _, recipe, _ = in_parts
    out, read = tmp_path / "out", spooling.stream

    def killing(source):
        for piece in read(source):
            yield piece
            for child in multiprocessing.active_children():
                child.kill()
                child.join()

    monkeypatch.setattr(spooling, "stream", killing)
    with pytest.raises(SourceError, match="was ended by the system"):
        publish_in_blocks(recipe, out, Blocks(rows=400, part_rows=800, workers=2), SILENT)
    assert not out.exists()


def test_two_runs_do_not_work_in_one_folder(tmp_path, in_parts):
    _, recipe, _ = in_parts
    with locked((folder_beside(tmp_path / "out"),)):
        refused(SourceError, "is being written by another process", recipe, tmp_path / "out")


def test_a_folder_of_somebody_else_is_not_used(tmp_path, in_parts):
    _, recipe, _ = in_parts
    work = folder_beside(tmp_path / "out")
    work.mkdir(mode=0o777)
    work.chmod(0o777)
    refused(SourceError, "is in the way", recipe, tmp_path / "out")


def test_manifest_and_receipt_say_how_it_was_cut(in_parts):
    written, *_ = in_parts
    manifest = Manifest.read(written.folder)
    assert manifest.recipe.part_rows == BLOCKS.part_rows
    assert written.receipt.notes["blocks"] == len(written.receipt.cuts) + 1
    assert "cuts" not in manifest.model_dump()


def test_the_input_is_compared_with_the_receipt_piece_by_piece(in_parts, call, tmp_path):
    written, recipe, frame = in_parts
    verify = ("verify", str(written.folder), "--json", "--original")

    def told(name: str, changed) -> tuple[int, str]:
        (tmp_path / f"{name}.toml").write_text(changed.to_toml(), encoding="utf-8")
        status, *said = call(*verify, str(tmp_path / f"{name}.toml"))
        return status, " ".join("".join(said).split())

    status, said = told("own", recipe)
    assert (status, '"input": true' in said) == (0, True)
    frame.with_columns(pl.col("income") + (pl.int_range(pl.len()) == 2999)).write_parquet(tmp_path / "other.parquet")
    other = replace(recipe, source=shoal.table.sources.Source(path=tmp_path / "other.parquet"))
    status, said = told("other", other)
    assert (status, "is not the input of the release" in said) == (1, True)
    columns = {name: kind for name, kind in recipe.schema.quasi.items() if name != "age"}
    fewer = shoal.Schema(quasi=columns, sensitive=["disease"], rest="drop")
    status, said = told("fewer", replace(recipe, schema=fewer))
    assert (status, bool(re.search(r"gives another role to .*\bage\b", said))) == (1, True)
    written.folder.with_name("out.receipt.json").rename(tmp_path / "held.json")
    status, said = told("own", recipe)
    assert (status, "what the input was is only in the receipt" in said) == (2, True)
    assert call(*verify, str(tmp_path / "own.toml"), "--receipt", str(tmp_path / "held.json"))[0] == 0
    (tmp_path / "held.json").rename(written.folder.with_name("out.receipt.json"))
