"""Tables, places and settings that were found to break a run over blocks on disk."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.blocks import Blocks
from shoal.engines.facts import NumberFacts
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import GuaranteeError, ParameterError, SchemaError, SourceError
from shoal.progress import SILENT
from shoal.published.release import read_release
from shoal.table.sources import Source
from support.in_parts import people

QUASI = {"age": shoal.Numeric(), "sex": shoal.Nominal()}
BLOCKS = Blocks(rows=150, part_rows=200, workers=1)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    from shoal.table.sources import stream

    monkeypatch.setattr(stream, "ROWS", 150)


def run(frame: pl.DataFrame, tmp_path, schema: shoal.Schema, method=None, **given):
    frame.write_parquet(tmp_path / "people.parquet")
    source = Source(path=tmp_path / "people.parquet")
    memory = given.pop("memory", None)
    recipe = shoal.Recipe(schema, method or shoal.Mondrian(k=4), source=source, seed=1, **given)
    made = publish_in_blocks(recipe, tmp_path / "out", BLOCKS, SILENT, memory=memory)
    assert made is not None
    return read_release(tmp_path / "out")


def rows_of(table: pl.DataFrame) -> list:
    return sorted(map(repr, table.rows()))


def test_rows_that_are_nobodys_and_weights_that_are_none(tmp_path):
    """Counted as one person more, they would be taken for somebody else than whom they are of."""
    place = pl.int_range(pl.len())
    frame = people(400).with_columns(
        pl.when(place % 190 == 180).then(None).otherwise(place // 2).alias("who"), (place - 1).alias("weight")
    )
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], person="who", weight="weight", rest="drop")
    with pytest.raises(SchemaError) as refusal:
        run(frame, tmp_path, schema)
    text = str(refusal.value)
    assert "column 'weight': 2 weights are missing or not above 0, at rows 1, 2" in text
    assert "column 'who', counted from row 151: says whose row each one is, but 1 cell is missing, at row 31" in text
    assert "column 'who', counted from row 301: says whose row each one is, but 1 cell is missing, at row 71" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]


def test_people_who_are_called_otherwise_in_another_piece(tmp_path):
    """Their numbers are whole in the first pieces alone, which have them as whole numbers: still the same people."""
    who = np.random.default_rng(4).integers(0, 200, 500) / 2
    who[:300] = np.floor(who[:300])
    frame = people(500).with_columns(pl.Series("who", who))
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], person="who", rest="drop")
    release = run(frame, tmp_path, schema)
    memory = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), seed=1, engine=Blocks(rows=BLOCKS.rows))
    assert memory.receipt.notes["blocks"] > 1
    assert rows_of(release.table) == rows_of(memory.table)


@pytest.mark.parametrize("role", ["sensitive", "neutral"])
def test_a_star_is_a_value_where_nothing_is_generalised(tmp_path, role):
    starred = pl.when(pl.int_range(pl.len()) % 9 == 0).then(pl.lit("*")).otherwise("disease")
    frame = people(400).with_columns(starred.alias("starred"))
    schema = shoal.Schema(quasi=QUASI, **{role: ["starred"]}, rest="drop")
    release = run(frame, tmp_path, schema)
    memory = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), seed=1, engine=Blocks(rows=BLOCKS.rows))
    assert rows_of(release.table) == rows_of(memory.table)


def test_a_star_in_a_quasi_identifier_is_named_with_its_column(tmp_path):
    frame = people(400).with_columns(
        pl.when(pl.int_range(pl.len()) == 9).then(pl.lit("*")).otherwise("sex").alias("sex")
    )
    with pytest.raises(SchemaError, match="column 'sex': has the cell '\\*'"):
        run(frame, tmp_path, shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop"))


def test_numbers_near_the_largest():
    """Their squares are too large for a number: as infinite as those of a table that is at hand."""
    with np.errstate(over="ignore", invalid="ignore"):
        for numbers in ([1e300, -1e300, 2.0, 1e300], [1e308, 1e308, -1e308, 1e308]):
            pieces = [NumberFacts.of(pl.Series(numbers[:2])), NumberFacts.of(pl.Series(numbers[2:]))]
            found = NumberFacts.together(pieces)
            assert (found.count, found.low, found.high) == (4, min(numbers), max(numbers))
            assert not found.squares < np.inf


@pytest.mark.parametrize("name", ["\1group", "\1whose row it is"])
def test_names_that_the_work_needs(tmp_path, name):
    frame = people(400).with_columns(pl.lit("a").alias(name))
    with pytest.raises(SchemaError, match="column number 12: has a name that work on blocks needs for itself"):
        run(frame, tmp_path, shoal.Schema(quasi=QUASI, sensitive=["disease"], neutral=[name], rest="drop"))


def test_what_looks_at_a_release_with_its_input_takes_one_in_parts(tmp_path):
    """Hashes of tables in parts, and of an input that was read in pieces, are others than those of whole frames."""
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop")
    frame = people(400)
    run(frame, tmp_path, schema)
    release = read_release(tmp_path / "out", tmp_path / "out.receipt.json")
    assert release.attack(frame, "singling-out", schema=schema)
    assert release.measure("sample_uniques", original=frame, schema=schema) is not None
    changed = shoal.Release({"table": release.table.reverse()}, release.manifest)
    with pytest.raises(GuaranteeError, match="does not have the hash that the manifest states"):
        changed.attack(frame, "singling-out", schema=schema)
    with pytest.raises(ParameterError, match="is not the input of the release"):
        release.attack(frame.head(399), "singling-out", schema=schema)


def test_a_limit_that_is_no_size(tmp_path):
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop")
    with pytest.raises(ParameterError, match="memory=: needs a size"):
        run(people(400), tmp_path, schema, memory="lots")


def test_a_private_folder_of_ones_own_stays(tmp_path):
    """It is called as the folder of a run would be, and is readable by its owner alone."""
    own = tmp_path / ".out.blocks"
    own.mkdir(mode=0o700)
    (own / "notes.txt").write_text("mine", encoding="utf-8")
    schema = shoal.Schema(quasi=QUASI, sensitive=["disease"], rest="drop")
    with pytest.raises(SourceError, match="is in the way"):
        run(people(400), tmp_path, schema)
    assert (own / "notes.txt").read_text(encoding="utf-8") == "mine"
    (own / "notes.txt").rename(own / "piece-000001.arrow.77")  # what a run that was killed leaves
    run(people(400), tmp_path, schema)
    assert not own.exists()
