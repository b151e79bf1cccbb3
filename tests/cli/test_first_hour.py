"""Mistakes of the first hour at the command line: what is said, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from shoal.cli import explain
from shoal.registry.declared import (
    ATTACK_CLASSES,
    COLUMN_PUBLISHER_CLASSES,
    METHOD_CLASSES,
    MODEL_CLASSES,
    PUBLISHER_CLASSES,
)
from support.small_recipe import CANARY, RECIPE, TABLE, TOWNS

ALIASED = """
[[publish]]
name = "generalize"

[[publish]]
name = "aliases"
column = "disease"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "town.csv").write_text(TOWNS)
    return tmp_path


# -- a reader that goes away ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["methods", "models --json", "--help", "run nowhere.toml --json"])
def test_a_closed_pipe_is_no_broken_promise(command, call, monkeypatch):
    """Nothing is said, and the status is the one of programs that this ends elsewhere."""
    end, start = os.pipe()
    os.close(end)
    with open(start, "w", encoding="utf-8") as closed:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", closed)
        status, _, err = call(*command.split())
        assert (status, err) == (141, "")
        closed.flush()  # what could not be written does not come up again


def test_head_reads_one_line_and_nothing_is_said():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", "shoal", "methods", "--json"], **pipes) as listing:
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 141


# -- flags ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ["--l", "3"],
            "--l: is a parameter of a privacy model, which is required beside the method; "
            'write --require "l-diversity column=disease l=3"',
        ),
        (["--t=0.2"], 'write --require "t-closeness column=disease t=0.2"'),
        (["--suppress", "5"], "suppress: needs a number in [0, 1], got 5; for 5 % write 0.05"),
        (["--suppress", "5%"], "got '5%'; for 5 % write 0.05"),
        (
            ["--out", "result.csv"],
            "result.csv: is the name of a file (.csv), but a release is a directory with its tables in it; "
            "name a directory, such as result: the table is in result then",
        ),
    ],
)
def test_flags_that_are_meant_otherwise(place, call, flags, said):
    before = sorted(place.iterdir())
    status, out, err = call("run", "recipe.toml", *flags)
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(place.iterdir()) == before


def test_a_method_with_an_l_of_its_own_takes_the_flag(place, call):
    status, _, err = call("run", "recipe.toml", "--method", "anatomy", "--l", "1")
    assert (status, err.strip()) == (2, "ParameterError: method.l: needs a whole number of at least 2, got 1")


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_database_where_a_folder_belongs(place, call):
    """Each says how a release in a database is named."""
    told = {
        ("run", "recipe.toml", "--out", "sqlite:///out.db"): "a database is named under [target] in the recipe",
        ("verify", "sqlite:///out.db"): "give --release NAME for a release in the database, or --schema recipe.toml",
    }
    for arguments, said in told.items():
        status, out, err = call(*arguments)
        assert (status, out) == (2, "")
        assert said in err
    assert not list(place.rglob("out.db"))


def test_a_table_in_place_of_a_recipe(place, call):
    (place / "people.parquet").write_bytes(b"PAR1\xff\xfe")
    for command in (
        ["run", "people.csv"],
        ["compare", "people.parquet"],
        ["verify", "people.csv", "--schema", "people.csv"],
    ):
        status, out, err = call(*command)
        assert (status, out) == (2, "")
        name = command[1]
        flags = "--quasi age,zip --sensitive disease"
        fix = f"write one with: shoal init {name}, or name its columns: shoal run {name} {flags}"
        assert err == f"RecipeError: {name}: is a table by its name, and no recipe; {fix}\n"
        assert CANARY not in err


def test_a_sheet_of_notes_is_named_before_the_error_it_makes(place, call):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(place / "book.xlsx") as book:
        book.add_worksheet("Read me").write_column("A1", ["Title", "Notes"])
        book.add_worksheet("People").write_column("A1", ["age", 5, 7])
    (place / "recipe.toml").write_text(RECIPE.replace("people.csv", "book.xlsx"))
    status, _, err = call("run", "recipe.toml")
    warning, error = err.splitlines()
    assert (status, error.split(":")[0]) == (2, "SchemaError")
    assert warning.startswith("warning: book.xlsx: the first of 2 sheets is read; to read another, name it: sheet =")
    assert warning.endswith("it has 'Read me', 'People'")


# -- packages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "module", "package"),
    [("people.csv", "cryptography.exceptions", "cryptography"), ("people.xlsx", "fastexcel", "fastexcel")],
)
def test_a_missing_package_is_told_before_a_passphrase_is_asked_for(place, call, monkeypatch, path, module, package):
    recipe = RECIPE.replace('role = "sensitive"', 'role = "sensitive"\nkind = "nominal"').replace("people.csv", path)
    (place / "recipe.toml").write_text(recipe + ALIASED)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: pytest.fail("a passphrase was asked for"))
    status, out, err = call("run", "recipe.toml")
    assert (status, out) == (2, "")
    assert f"needs the package {package}; run: " in err


# -- passphrases -------------------------------------------------------------------------------------------------------


def test_a_passphrase_for_nothing_is_refused_before_work(place, call):
    (place / "recipe.toml").write_text(RECIPE)
    status, out, err = call("run", "recipe.toml", "--passphrase-file", "nowhere")
    assert (status, out) == (2, "")
    assert (
        "--passphrase-file: is for the key of a release with aliases or grades, and the recipe asks for neither" in err
    )
    assert call("run", "recipe.toml", "--out", "release", "--quiet")[0] == 0
    for words in (["measure", "release"], ["attack", "release", "--original", "recipe.toml"]):
        status, out, err = call(*words, "--passphrase-file", "nowhere")
        assert (status, out) == (2, "")
        assert "--passphrase-file: is given without the key that it opens; give --key, too" in err


# -- a table without a recipe --------------------------------------------------------------------------------------


EQUIVALENT = """
[source]
path = "patients.csv"
missing_values = ["?"]

[columns.id]
role = "identifying"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.zip]
role = "quasi"
kind = "nominal"
hierarchy = {name = "prefixes", keep = [4, 3, 2, 1]}
[columns.disease]
role = "sensitive"
kind = "nominal"
[columns.note]
role = "neutral"

[method]
name = "mdav"
k = 3
"""
PATIENTS = "id,age,zip,disease,note\n" + "".join(
    f"{CANARY}{row},{'?' if row == 4 else 20 + row},0800{row % 3},{'flu' if row % 2 else 'cold'},n{row % 2}\n"
    for row in range(12)
)
FLAGS = ("--quasi", "age,zip", "--sensitive", "disease", "--identifying", "id", "--missing-values", "?")


@pytest.fixture
def patients(place):
    (place / "patients.csv").write_text(PATIENTS)
    (place / "recipe.toml").write_text(EQUIVALENT)
    return place


def test_flags_alone_give_the_release_of_the_same_recipe(patients, call):
    how = ("--method", "mdav", "--k", "3", "--seed", "7", "--publish", "generalize", "--no-report")
    assert call("run", "recipe.toml", *how, "--out", "one")[::2] == (0, "")
    status, out, err = call("run", "patients.csv", *FLAGS, "--neutral", "note", *how, "--out", "two")
    assert (status, err) == (0, "")
    for name in ("manifest.json", "table.csv"):
        assert (patients / "one" / name).read_bytes() == (patients / "two" / name).read_bytes()
    decided = [line.split()[:3] for line in out.split("Release in")[0].splitlines() if line.startswith("  ")]
    assert ["age", "quasi", "numeric"] in decided
    assert ["zip", "quasi", "nominal"] in decided
    assert "To decide otherwise, write a recipe: shoal init patients.csv" in out
    assert CANARY not in out


def test_columns_named_nowhere_are_listed_unless_something_is_said_of_them(patients, call):
    status, out, err = call("run", "patients.csv", *FLAGS, "--no-report")
    assert (status, out) == (2, "")
    assert "run: columns of the table without a role: note; give each a role (--quasi, " in err
    assert not (patients / "release").exists()
    for rest, heads in (("drop", "age,zip,disease"), ("neutral", "age,zip,disease,note")):
        assert call("run", "patients.csv", *FLAGS, "--rest", rest, "--out", rest, "--quiet", "--no-report")[0] == 0
        assert (patients / rest / "table.csv").read_text().splitlines()[0] == heads
    assert '"name": "k-member"' in (patients / "drop" / "manifest.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["recipe.toml", "--quasi", "age"], "--quasi: is for a table; a recipe says itself what its columns are"),
        (["patients.csv", "--sensitive", "disease"], "--quasi: names no column; name those that an attacker may know"),
        (["patients.csv", "--quasi", "agee"], "--quasi agee: there is no such column; did you mean 'age'?"),
        (["patients.csv", "--quasi", "age", "--rest", "dorp"], '--rest: needs one of "neutral", "drop", got \'dorp\''),
        (["patients.csv", "--quasi", "age,zip", "--neutral", "zip", "--rest", "drop"], "column 'zip': has two roles"),
        (
            ["patients.csv", "--quasi", "age,zip", "--sensitive", "disease,zip", "--rest", "drop"],
            "column 'zip': has two roles: quasi and sensitive; keep one",
        ),
        (
            ["patients.csv", "--quasi", "age", "--rest", "drop", "--method", "mondrian", "--l", "3"],
            '--require "l-diversity column=COLUMN l=3"',
        ),
        (["patients.csv", "--quasi", "age", "--rest", "drop", "--sheet", "a"], "run(sheet=): is only for excel"),
        (["patients.csv", "--quasi", "age", "--rest", "drop", "--k", "1"], "method.k: needs a whole number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_flags_that_describe_no_table(patients, call, arguments, said):
    status, out, err = call("run", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert CANARY not in err


# -- one of a listing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "registry"),
    [("methods", METHOD_CLASSES), ("models", MODEL_CLASSES), ("publishers", PUBLISHER_CLASSES),
     ("publishers", COLUMN_PUBLISHER_CLASSES), ("attacks", ATTACK_CLASSES)],
    ids=["methods", "models", "publishers", "column publishers", "attacks"],
)  # fmt: skip
def test_everything_is_explained_by_its_name(call, command, registry):
    for name in registry.own:
        told = explain.facts(registry[name])
        assert told["what it does"]
        assert ("guarantee" in told) == (command != "attacks")
        assert not [text for text in told.values() if ">>>" in text or "---" in text]
    status, out, err = call(command, name, "--json")
    told = json.loads(out)
    assert (status, err, told["name"], told["title"]) == (0, "", name, registry[name].title)
    assert told["what_it_does"] == explain.facts(registry[name])["what it does"]
    assert [one["name"] for one in told["parameters"]] == [one.name for one in registry[name].parameters()]


def test_one_method_in_full(call):
    status, out, _ = call("methods", "mondrian")
    words = " ".join(out.split())
    assert status == 0
    assert "mondrian: " in words
    assert "Nothing is promised about sensitive values." in words
    assert 'LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.' in words
    assert "shoal.Mondrian(k=...)" in words
    assert "k a whole number of at required smallest group size least 2" in words


@pytest.mark.parametrize(
    ("command", "meant"),
    [("methods modrian", "mondrian"), ("models l-diversty", "l-diversity"), ("publishers generalise", "generalize"),
     ("measures npc", "ncp"), ("attacks linkin", "linking"), ("methods Mondrian", "mondrian")],
)  # fmt: skip
def test_an_unknown_name_gets_the_near_one(call, command, meant):
    status, out, err = call(*command.split())
    assert (status, out) == (2, "")
    assert f"unknown name {command.split()[1]!r}; did you mean {meant!r}?" in err


# -- dates ---------------------------------------------------------------------------------------------------------

BORN = [(1 + row % 28, 1 + row % 12, 1950 + row % 40) for row in range(60)]
ILL = [("Grippe", "Asthma", "HIV")[row % 3] for row in range(60)]


def born(place, write, days=BORN):
    """A table of days of birth, each as `write` writes it."""
    lines = [f"{write(*day)};{40 + row % 9};{ill}" for row, (day, ill) in enumerate(zip(days, ILL, strict=True))]
    (place / "born.csv").write_text("\n".join(["Geburtsdatum;Alter;Diagnose", *lines]) + "\n")


def cells(place, call, *more):
    """The cells of the day of birth in a run without a recipe, and what it said of errors."""
    line = ("born.csv", "--quasi", "Geburtsdatum", "--sensitive", "Diagnose", "--rest", "drop", "--seed", "1")
    status, out, err = call("run", *line, "--no-report", "--out", "born", "--overwrite", "--json", *more)
    assert status == 0, err
    shown = [line.rsplit(",", 1)[0] for line in (place / "born" / "table.csv").read_text().splitlines()[1:]]
    return shown, json.loads(out), err


def test_german_dates_lose_what_iso_dates_lose(place, call):
    """They were published as sets of exact days, and nothing was said."""
    born(place, lambda day, month, year: f"{year}-{month:02d}-{day:02d}")
    iso, _, _ = cells(place, call)
    born(place, lambda day, month, year: f"{day:02d}.{month:02d}.{year}")
    german, said, err = cells(place, call)
    in_iso = [re.sub(r"(\d\d)\.(\d\d)\.(\d{4})", r"\3-\2-\1", cell) for cell in german]
    assert sorted(in_iso) == sorted(iso)
    days = {"name": "days", "first": "1950-01-01", "last": "1989-12-31", "form": "DD.MM.YYYY"}
    assert said["columns"]["Geburtsdatum"]["order"] == days
    assert err == ""


def test_the_days_of_a_calendar_are_shown_as_decided(place, call):
    """It said "4 in order"."""
    born(place, lambda day, month, year: f"{year}-{month:02d}-{day:02d}")
    status, out, _ = call("run", "born.csv", "--quasi", "Geburtsdatum", "--rest", "drop", "--out", "decided")
    assert status == 0
    assert "days 1950-01-01 to 1989-12-31" in out


def test_a_day_of_birth_beside_an_age_keeps_its_order(place, call):
    born(place, lambda day, month, year: f"{day:02d}.{month:02d}.{year}")
    shown, said, _ = cells(place, call, "--quasi", "Alter")
    assert said["columns"]["Geburtsdatum"]["order"]["name"] == "days"
    assert not any(cell.startswith(("{", '"{')) for cell in shown)


def test_dates_in_doubt_are_not_guessed_and_not_shown_as_sets(place, call):
    born(place, lambda day, month, year: f"{1 + day % 12:02d}/{month:02d}/{year}")
    shown, _, err = cells(place, call)
    assert set(shown) == {"*"}
    assert err.startswith("warning: column 'Geburtsdatum' holds dates that may be DD/MM/YYYY or MM/DD/YYYY")


def test_init_writes_the_calendar_of_german_dates(place, call):
    born(place, lambda day, month, year: f"{day}.{month}.{year}")
    table = (place / "born.csv").read_text()
    (place / "born.csv").write_text(table.replace("Alter", "Zimmer"))  # beside an age it would be left out
    assert call("init", "born.csv", "--out", "born.toml")[0] == 0
    recipe = (place / "born.toml").read_text()
    assert 'order = {name = "days", first = "1950-01-01", last = "1989-12-31", form = "D.M.YYYY"}' in recipe
    assert "dates of the form D.M.YYYY are shown as runs of days" in " ".join(recipe.split("\n# "))


def test_init_writes_the_tree_of_german_dates_with_times(place, call):
    born(place, lambda day, month, year: f"{day}.{month}.{year} 08:00")
    table = (place / "born.csv").read_text()
    (place / "born.csv").write_text(table.replace("Alter", "Zimmer"))  # beside an age it would be left out
    assert call("init", "born.csv", "--out", "born.toml")[0] == 0
    tree = (place / "born.hierarchies" / "Geburtsdatum.csv").read_text().splitlines()
    assert tree[0] == "1.1.1950 08:00;1950-01-01*;1950-01;1950;1950s;*"
    assert "dates of the form DD.MM.YYYY" in (place / "born.toml").read_text()


# -- decimal commas ------------------------------------------------------------------------------------------------

BODIES = "Alter;Groesse;Gewicht;Gehalt;Note\n" + "".join(
    f"{20 + row % 50};1,{50 + row % 45};{50 + row},{row % 10};${30 + row},{100 + 7 * row}.50;{1 + row % 4},{row % 3}\n"
    for row in range(60)
)


def test_init_declares_decimal_commas_and_says_so(place, call):
    """Weights were numbers of people, heights and salaries categories."""
    (place / "bodies.csv").write_text(BODIES)
    status, out, _ = call("init", "bodies.csv", "--out", "bodies.toml")
    assert status == 0
    read = tomllib.loads((place / "bodies.toml").read_text())
    assert read["source"]["decimal_comma"] == ["Groesse", "Gewicht"]
    assert read["source"]["decimal_point"] == ["Gehalt"]
    assert {name: read["columns"][name].get("kind") for name in ("Groesse", "Gewicht", "Gehalt", "Note")} == {
        "Groesse": "numeric", "Gewicht": "numeric", "Gehalt": "numeric", "Note": "nominal",
    }  # fmt: skip
    said = " ".join(out.split())
    assert "Read as numbers such as 1.234,5 or 5,6 %, as all their cells are written so: Groesse, Gewicht." in said
    assert "Warning: column 'Note' seems to hold numbers" in said
    assert call("run", "bodies.toml", "--quiet", "--no-report", "--out", "bodies")[0] == 0
    assert call("verify", "bodies", "--original", "bodies.toml")[0] == 0, "the input is read in the same way again"


def test_a_run_without_a_recipe_reads_them_too_and_says_so(place, call):
    (place / "bodies.csv").write_text(BODIES)
    roles = ("--quasi", "Groesse,Note", "--neutral", "Gewicht", "--rest", "drop", "--decimal-comma", "Note")
    status, out, err = call("run", "bodies.csv", *roles, "--no-report", "--out", "bodies", "--json")
    assert status == 0, err
    columns = json.loads(out)["columns"]
    assert (columns["Groesse"]["kind"], columns["Note"]["kind"]) == ("numeric", "numeric")
    assert err.startswith("Read as numbers such as 1.234,5 or 5,6 %, as all their cells are written so: Groesse. If")
    assert "59,9" in (place / "bodies" / "table.csv").read_text(), "what is published as it is stays as it is"
