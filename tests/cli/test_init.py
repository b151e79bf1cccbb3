"""`shoal init`: what it writes and what it never writes or prints, and that the recipe runs as it is."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
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
    people = shoal.sample.people(150, 3).with_columns(
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
    assert "150 published of 150" in out


def test_no_role_and_no_figure_is_cut_where_names_are_long(place, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    name = "identifying_number_of_the_household"
    pl.DataFrame({name: [f"H{row:05}" for row in range(300)], "age": [20 + row % 50 for row in range(300)]}).write_csv(
        "homes.csv"
    )
    status, out, _ = call("init", "homes.csv")
    assert status == 0
    assert "…" not in out
    line = next(line for line in out.splitlines() if "100.0 %" in line)
    assert "identifying " in line


def test_shares_of_pairs_are_shown_where_names_are_long(place, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"how_satisfied_are_you_with_the_services_of_your_municipality_{part}" for part in ("in_all", "of_late")]
    rows = [(row % 20, row // 20) for row in range(400)]
    pl.DataFrame(rows, names, orient="row").write_csv("asked.csv")
    shown = call("init", "asked.csv")[1].partition("Rows that are unique in two columns")[2]
    assert "100.0 %" in shown.partition("of the rows are unique in all")[0].rpartition("\n")[0]


def test_what_is_to_be_copied_has_no_line_breaks(place, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    texts = ["agree", "don't know", "disagree", "prefer not to say", "refused", "not applicable"]
    pl.DataFrame({"opinion": texts * 50, "age": [20 + row % 60 for row in range(300)]}).write_csv("asked.csv")
    out = call("init", "asked.csv", "-o", "a_rather_long_name_for_a_recipe.toml")[1]
    lines = [line.strip() for line in out.splitlines()]
    anew = next(line for line in lines if line.startswith("--missing-values"))
    flag, markers, overwrite = shlex.split(anew)
    assert (flag, overwrite) == ("--missing-values", "--overwrite")
    assert len(anew) > 60
    assert set(markers.split(",")) < set(texts)
    added = next(line for line in lines if line.startswith("missing_values = "))
    assert tomllib.loads(added)["missing_values"] == markers.split(",")
    assert lines[-1].endswith("shoal run a_rather_long_name_for_a_recipe.toml")


def test_markers_of_missing_cells_are_dealt_with_at_once(place, call):
    years = ["k.A." if row % 20 == 0 else str(1950 + row % 40) for row in range(300)]
    pl.DataFrame({"birth year": years, "opinion": ["agree", "disagree", "weiß nicht"] * 100}).write_csv("asked.csv")
    status, out, _ = call("init", "asked.csv")
    said = " ".join(out.split())
    assert status == 0
    assert "Column 'birth year' may use 'k.A.' (15) for missing. Column 'opinion' may use 'weiß nicht' (100)" in said
    assert "proposed anew with --missing-values 'k.A.,weiß nicht' --overwrite or add under [source]" in said
    assert said.count("[source]: missing_values = ") == 1
    call("init", "asked.csv", "--missing-values", "k.A.,weiß nicht", "--overwrite")
    columns = read_entries("recipe.toml")["columns"]
    assert columns["birth year"]["kind"] == "numeric"
    assert columns["opinion"]["order"] == ["disagree", "agree"]


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


def test_a_place_that_is_taken_and_a_table_that_is_not_there_are_said_at_once(place, call):
    call("init", "people.csv")
    status, _, err = call("init", "missing.csv")
    assert status == 2
    assert "recipe.toml: exists already" in err
    assert "missing.csv: there is no such file" in err


def test_so_they_are_for_a_run(place, call):
    call("init", "people.csv")
    call("run", "recipe.toml", "--out", "made")
    (place / "people.csv").unlink()
    status, _, err = call("run", "recipe.toml", "--out", "made")
    assert status == 2
    assert "made: exists already" in err
    assert "people.csv: there is no such file" in err


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
    pl.concat([numbered, numbered.head(50)]).write_csv("visits.csv")
    assert call("init", "visits.csv")[0] == 0
    assert read_entries("recipe.toml")["columns"]["patient_id"] == {"role": "person"}
    status, out, _ = call("run", "recipe.toml")
    assert status == 0
    assert "200 published of 200" in out


UNFINISHED = {
    "names": ("name,email\n" + "".join(f"n{row},u{row}@x.org\n" for row in range(60)), "no quasi-identifier is found"),
    "nothing": ("a,b\n" + ",\n" * 20, "there is nothing to publish"),
    "same": ("age,x\n" + "30,1\n" * 50, 'give role = "quasi" to every column'),
    "star": ("zip,disease\n" + "".join(f"{'*ab'[row % 3]},{'xy'[row % 2]}\n" for row in range(60)), "has the cell '*'"),
    "one_row": ("age,name\n3,x\n", "has one row"),
    "one_person": (
        "patient_id,seen\n" + "".join(f"P00001,{row % 9}\n" for row in range(60)),
        "rows of one person only",
    ),
}


@pytest.mark.parametrize("name", UNFINISHED)
def test_what_cannot_be_run_is_written_and_says_why(place, call, name):
    table, why = UNFINISHED[name]
    (place / "t.csv").write_text(table)
    status, out, err = call("init", "t.csv", "--out", "t.toml")
    assert (status, why in err) == (2, True)
    assert "It cannot be run yet" in out
    text = (place / "t.toml").read_text()
    assert why in " ".join(line.removeprefix("# ") for line in text.splitlines())
    assert list(read_entries("t.toml")["columns"]) == table.split("\n")[0].split(",")
    assert call("run", "t.toml")[0] == 2
    entries = json.loads(call("init", "t.csv", "--out", "t.toml", "--overwrite", "--json")[1])
    assert why in f"{entries['to_do'][0]['what']}; {entries['to_do'][0]['fix']}"


def test_what_is_to_be_done_makes_it_run(place, call):
    (place / "t.csv").write_text(UNFINISHED["star"][0])
    call("init", "t.csv", "--out", "t.toml")
    text = (place / "t.toml").read_text().replace("# missing_values =", "missing_values =")
    (place / "t.toml").write_text(text)
    assert call("run", "t.toml")[0] == 0


@pytest.mark.parametrize("kind", ["table", "folder", "link", "pipe"])
def test_nothing_but_a_recipe_is_replaced(place, call, kind):
    """Whatever --overwrite allows: the table itself, a folder with all that is in it, a link, a pipe."""
    Path("t.csv").write_text("age,zip\n" + "".join(f"{row},{row % 3}\n" for row in range(9)))
    Path("folder").mkdir()
    Path("folder", "mine").write_text("mine")
    Path("link").symlink_to("nowhere")
    os.mkfifo("pipe")
    before = names(place)
    status, _, err = call("init", "t.csv", "--out", "t.csv" if kind == "table" else kind, "--overwrite")
    assert (status, "so it is not replaced" in err) == (2, True)
    assert names(place) == before
    assert Path("t.csv").read_text().startswith("age,zip")


def test_a_recipe_that_was_cut_off_is_replaced(place, call):
    Path("t.csv").write_text("age,zip\n" + "".join(f"{row},{row % 3}\n" for row in range(9)))
    call("init", "t.csv", "--out", "t.toml")
    whole = Path("t.toml").read_text()
    for cut in (0, 100, len(whole) - 5):
        Path("t.toml").write_text(whole[:cut])
        call("init", "t.csv", "--out", "t.toml", "--overwrite")
        assert Path("t.toml").read_text() == whole


def test_a_name_that_no_recipe_can_hold(place, call):
    Path(os.fsdecode(b"t\xff.csv")).write_text("age,zip\n" + "".join(f"{row},{row % 3}\n" for row in range(9)))
    status, _, err = call("init", os.fsdecode(b"t\xff.csv"), "--out", "t.toml")
    assert (status, "a recipe is UTF-8 text" in err) == (2, True)
    assert not Path("t.toml").exists()


SHEET = 'age,"diagnosis\n(ICD-10)",paid\n' + "".join(f'{30 + row % 9},J1{row % 3},"{row},5"\n' for row in range(60))


def test_a_name_of_two_lines_is_shown_in_one(place, call):
    (place / "t.csv").write_text(SHEET)
    status, out, _ = call("init", "t.csv")
    assert status == 0
    assert r"diagnosis\n(ICD-10) " in out
    assert not any(line.strip().startswith("(ICD-10)") for line in out.splitlines())
    assert r"column = diagnosis\n(ICD-10), l" in call("run", "recipe.toml")[1]


def test_what_to_do_next_is_said_last(place, call):
    (place / "t.csv").write_text(SHEET)
    lines = call("init", "t.csv")[1].splitlines()
    assert lines[-1] == "Wrote recipe.toml. Read it, then: shoal run recipe.toml"
    assert any(line.startswith("Read as numbers such as 1.234,5") for line in lines)
    assert any(line.startswith("Wrote 1 hierarchy to edit") for line in lines)
    assert "Rows that are unique in two columns" not in lines  # no two columns single anybody out
