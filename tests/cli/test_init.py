"""`shoal init`: what it writes and what it never writes or prints, and that the recipe runs as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

import shoal.sample
from shoal.recipe.text import read_entries, write_recipe
from support.failing_moves import failing_moves

CANARY = "Xyzzyplugh"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = shoal.sample.people(300, 3).with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(CANARY)).otherwise(pl.col("occupation")).alias("occupation")
    )
    people.write_csv("people.csv")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_init_and_run_of_the_sample_without_edits(place, call):
    status, out, err = call("init", "people.csv")
    assert (status, err) == (0, "")
    assert names(place) == [
        "people.csv", "recipe.hierarchies/marital_status.csv", "recipe.hierarchies/occupation.csv",
        "recipe.hierarchies/postcode.csv", "recipe.toml",
    ]  # fmt: skip
    assert "Required: entropy l-diversity of 'disease', l = 3." in out
    assert "age (quasi, confidence high)" in out
    assert CANARY not in out
    assert CANARY not in (place / "recipe.toml").read_text()
    status, out, _ = call("run", "recipe.toml")
    assert status == 0
    assert "300 published of 300" in out


def test_an_edited_hierarchy_is_what_is_published(place, call):
    call("init", "people.csv")
    file = place / "recipe.hierarchies" / "occupation.csv"
    file.write_text("".join(f"{line.split(';')[0]};Any work;*\n" for line in file.read_text().splitlines()))
    assert call("run", "recipe.toml")[0] == 0
    assert "Any work" in (place / "release" / "table.csv").read_text()


def test_nothing_is_replaced_unasked(place, call):
    call("init", "people.csv")
    (place / "recipe.toml").unlink()
    file = place / "recipe.hierarchies" / "occupation.csv"
    file.write_text("mine")
    status, _, err = call("init", "people.csv")
    assert (status, "recipe.hierarchies: exists already" in err) == (2, True)
    assert (file.read_text(), (place / "recipe.toml").exists()) == ("mine", False)
    assert call("init", "people.csv", "--overwrite")[0] == 0
    assert file.read_text() != "mine"


def test_what_fails_leaves_nothing_behind(place, monkeypatch):
    failing_moves(monkeypatch, "r.toml", OSError(28, os.strerror(28)))
    with pytest.raises(shoal.ShoalError, match="cannot be written"):
        write_recipe(place / "r.toml", "a = 1", {"r.hierarchies/x.csv": "a;*\n"})
    assert names(place) == ["people.csv"]
    assert not (place / "r.hierarchies").exists()


def test_json_has_requirements_confidence_and_warnings(place, call):
    people = pl.read_csv("people.csv", infer_schema=False)
    pl.concat([people, people]).write_csv("twice.csv")
    entries = json.loads(call("init", "twice.csv", "--out", "t.toml", "--json")[1])
    assert entries["hierarchies"] == [
        f"t.hierarchies/{name}.csv" for name in ("postcode", "occupation", "marital_status")
    ]
    assert {one["column"] for one in entries["require"]} == {"income", "disease"}
    columns = {one["name"]: one for one in entries["profile"]["columns"]}
    assert columns["sex"]["confidence"] == "high"
    assert 0 <= columns["age"]["unique_with_others"] <= 1
    assert "Rows seem to repeat people" in entries["profile"]["warnings"][0]
    assert "Warning: Rows seem to repeat people" in (place / "t.toml").read_text()


def test_people_who_repeat_are_counted(place, call):
    people = pl.read_csv("people.csv", infer_schema=False).with_row_index("n")
    numbered = people.select(pl.format("P{}", pl.col("n") * 7919 + 100_000).alias("patient_id"), pl.exclude("n"))
    pl.concat([numbered, numbered.head(100)]).write_csv("visits.csv")
    assert call("init", "visits.csv")[0] == 0
    assert read_entries("recipe.toml")["columns"]["patient_id"] == {"role": "person"}
    status, out, _ = call("run", "recipe.toml")
    assert status == 0
    assert "400 published of 400" in out
