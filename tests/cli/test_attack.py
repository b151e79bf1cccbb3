"""`shoal attack` and `shoal attacks`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.attack import ATTACKS
from shoal.cli.place import receipt_beside
from support.failing_moves import dies_at

RECIPE = """
[source]
path = "people.csv"

[columns.name]
role = "identifying"

[columns.age]
role = "quasi"
kind = "numeric"

[columns.zip]
role = "quasi"
kind = "nominal"
hierarchy = { name = "prefixes", keep = [2] }

[columns.disease]
role = "sensitive"
kind = "nominal"

[columns.income]
role = "sensitive"
kind = "numeric"

[method]
name = "mondrian"
k = 2
"""
PEOPLE = pl.DataFrame(
    {
        "name": list("abcdef"),
        "age": [21, 22, 23, 61, 62, 63],
        "zip": ["1011", "1012", "1011", "2022", "2021", "2022"],
        "disease": ["flu", "flu", "flu", "ulcer", "flu", "cold"],
        "income": [100, 110, 105, 200, 900, 205],
    }
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    shoal.run(shoal.Recipe.load("recipe.toml")).write("release")
    return tmp_path


def outcomes(out):
    return {(one["attack"], one["column"]): one for one in json.loads(out)["outcomes"]}


def test_all_that_can_be_tried(place, call):
    status, out, _ = call("attack", "release", "--original", "recipe.toml", "--json")
    assert status == 0
    found = outcomes(out)
    wanted = shoal.read_release("release").attack(
        shoal.read("people.csv"), schema=shoal.Recipe.load("recipe.toml").schema
    )  # fmt: skip
    assert {tuple((*key.split(":"), None)[:2]) for key in wanted} == set(found)
    assert found["linking", None]["success"] == wanted["linking"].success
    assert set(json.loads(out)["skipped"]) == {"membership", "intersection", "inference", "divergence"}
    status, out, _ = call("attack", "release", "--original", "recipe.toml")
    assert status == 0
    assert "homogeneity:disease" in out
    said = " ".join(out.split())
    assert "membership was not tried: compares with people who are not in the release, and none are given" in said
    assert "divergence was not tried: column" in said
    assert "and none are given; give control= (--control TABLE)" in said
    assert "and none is given; give Background(releases=[...]) (--other RELEASE)" in said
    assert "gain: the difference, which is what the release adds" in said


def test_one_attack_with_its_parameters_and_a_background(place, call):
    arguments = ["--original", "recipe.toml", "-a", "proximity", "--epsilon", "10", "--known", "age,zip"]
    arguments += ["--tolerance", "age=2", "--level", "zip=1", "--people", "4", "--seed", "3", "--json"]
    status, out, err = call("attack", "release", *arguments)
    assert status == 0, err
    (one,) = outcomes(out).values()
    assert (one["attack"], one["column"], one["n"]) == ("proximity", "income", 4)


def test_tables_from_outside(place, call):
    PEOPLE.select("name", "age", "zip").with_columns(pl.col("age") + 1).write_csv("voters.csv")
    PEOPLE.drop("name").with_columns(pl.col("age") + 30).write_csv("others.csv")
    status, out, err = call("attack", "release", "--original", "recipe.toml", "--outside", "voters.csv", "--json")
    assert status == 0, err
    assert outcomes(out)["linking", None]["n"] == 6
    arguments = ["--original", "recipe.toml", "--control", "others.csv", "--other", "release"]
    arguments += ["--receipt", "release.receipt.json", "--person", "name", "--json"]
    status, out, err = call("attack", "release", *arguments)
    assert status == 0, err
    assert {"membership", "inference", "intersection"} <= {attack for attack, _ in outcomes(out)}


def test_the_receipt_beside_a_release_tells_another_input(place, call):
    PEOPLE.with_columns(name=pl.Series(["a", "b", "x", "d", "e", "f"])).write_csv("people.csv")  # not published
    status, out, told = call("attack", "release", "--original", "recipe.toml")
    assert (status, out) == (1, "")
    assert "original: is not the input of the release: its content differs from what the receipt notes" in told
    (place / "release.receipt.json").unlink()
    status, _, told = call("attack", "release", "--original", "recipe.toml")
    assert status == 0, told


@pytest.mark.parametrize("n_moved", [0, 1])
def test_the_receipt_of_a_run_that_died_is_there_too(place, monkeypatch, n_moved):
    """What it began is finished before anybody looks for the receipt."""
    with dies_at(monkeypatch, n_moved):
        shoal.run(shoal.Recipe.load("recipe.toml")).write("later")
    assert not (place / "later.receipt.json").exists()
    with pytest.warns(shoal.ShoalWarning, match="what it began was finished"):
        assert receipt_beside(Path("later")) == Path("later.receipt.json")
    assert (place / "later.receipt.json").is_file()


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "--original: is needed"),
    (["--original", "recipe.toml", "-a", "linkin"], "did you mean 'linking'"),
    (["--original", "recipe.toml", "--epsilon", "3"], "--epsilon: unknown flag"),
    (["--original", "recipe.toml", "--people", "none"], "background.people: needs a whole number"),
    (["--original", "recipe.toml", "--known", "agee"], "'agee' is not published; did you mean 'age'?"),
    (["--original", "recipe.toml", "--outside", "nowhere.csv"], "nowhere.csv"),
])  # fmt: skip
def test_bad_flags(place, call, arguments, message):
    status, out, err = call("attack", "release", *arguments)
    assert status == 2
    assert message in err
    assert not out


def test_a_release_that_was_changed_is_not_attacked(place, call):
    table = place / "release" / "table.csv"
    table.write_text(table.read_text().replace("flu", "flo"))
    status, _, err = call("attack", "release", "--original", "recipe.toml")
    assert status == 1
    assert "flo" not in err


def test_another_input_is_refused_without_a_cell(place, call):
    PEOPLE.with_columns(pl.lit("quinsy").alias("disease")).write_csv("people.csv")
    status, _, err = call("attack", "release", "--original", "recipe.toml")
    assert status == 2
    assert "published values of column 'disease' are not in it" in err
    assert not [cell for cell in ("quinsy", "ulcer", "flu") if cell in err]


def test_the_list_of_attacks(call):
    status, out, _ = call("attacks", "--json")
    assert status == 0
    listed = json.loads(out)
    assert [one["name"] for one in listed] == list(ATTACKS.own)
    for one in listed:
        assert {"title", "knows", "succeeds", "against", "needs", "reference", "parameters"} <= set(one)
    assert "knows" in call("attacks")[1]


def test_an_attack_without_parameters_has_no_table_of_them(call):
    linking = call("attacks")[1].split("\nhomogeneity:")[0]
    assert "linking: pointing" in linking
    assert "parameter" not in linking


@pytest.mark.parametrize("command", ["attack", "verify"])
@pytest.mark.parametrize("table", ["people.csv", "people.parquet"])
def test_the_table_in_the_place_of_its_recipe_is_told_from_a_recipe(place, call, command, table):
    PEOPLE.write_parquet("people.parquet")
    status, out, err = call(command, "release", "--original", table)
    assert (status, out) == (2, "")
    assert "is a table by its name, and no recipe; give the recipe that the release was made with" in err
    assert "shoal init" not in err
    gone = call(command, "release", "--original", "gone.csv")
    assert "cannot be read (No such file or directory)" in gone[2]


def test_in_a_terminal_of_80_columns_every_attack_has_one_line(place, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = call("attack", "release", "--original", "recipe.toml")
    lines = out.splitlines()
    (line,) = [line.split() for line in lines if line.strip().startswith("homogeneity:disease")]
    assert (len(line), line[1], len(line[3].split("-"))) == (6, "6", 2)
    at_risk = out[out.index("Rows of the input most at risk") :]
    assert "linking" in at_risk
    assert max(map(len, lines)) <= 80
