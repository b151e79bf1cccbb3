"""`shoal verify URI --release`: a release in a database is compared with what its holder has, like a directory."""

from __future__ import annotations

import json

import polars as pl
import pytest

from shoal import Target, read_release
from shoal.release.receipt import Receipt, packed_places
from support import postgres

ROWS = 160
VISITS = pl.DataFrame(
    {
        "patient": [f"p{row // 2 * 7 % 80}" for row in range(ROWS)],  # two rows each
        "age": [20 + row * 37 % 50 for row in range(ROWS)],
        "disease": [("flu", "cold", "asthma")[row % 3] for row in range(ROWS)],
    }
)
RECIPE = """
seed = 1
[source]
path = "visits.csv"
[columns.patient]
role = "person"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.disease]
role = "sensitive"
[method]
name = "mondrian"
k = 4
[target]
uri = "{uri}"
release = "visits"
"""


@pytest.fixture(scope="module")
def servers():
    with postgres.databases() as new:
        yield new


@pytest.fixture(params=["sqlite", "postgresql"])
def uri(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/releases.db"
    return request.getfixturevalue("servers")()


@pytest.fixture
def verify(uri, call, tmp_path, monkeypatch):
    """Run the recipe; give a way to check what it published, with options: exit status, output, words of the error."""
    monkeypatch.chdir(tmp_path)
    VISITS.write_csv("visits.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE.format(uri=uri))
    status, _, told = call("run", "recipe.toml", "--out", "visits")
    assert status == 0, told

    def run(*options: str) -> tuple[int, str, str]:
        status, out, told = call("verify", uri, "--release", "visits", *options)
        return status, out, " ".join(told.split())

    return run


HELD = ("--receipt", "visits.receipt.json", "--original", "recipe.toml")


def test_people_are_counted_with_receipt_and_input(verify):
    status, out, _ = verify("--json")
    alone = json.loads(out)
    assert (status, len(alone["unchecked"])) == (0, 1)
    assert "the files alone show rows" in alone["unchecked"][0]
    status, out, told = verify(*HELD, "--json")
    assert status == 0, told
    found = json.loads(out)
    assert (found["unchecked"], found["receipt"], found["input"]) == ([], True, True)
    assert found["achieved"]["k"] >= 4
    status, out, _ = verify(*HELD)
    assert (status, "receipt   belongs to this release; and so does the input" in out) == (0, True)
    status, out, _ = verify(*HELD[:2])
    assert (status, "compare the input with --original RECIPE" in out) == (0, True)


def test_nobody_knows_where_the_receipt_of_a_database_is(verify):
    status, out, told = verify("--original", "recipe.toml")
    assert (status, out) == (2, "")
    assert "--receipt: is needed with --original: whose rows are where is only in the receipt of the release" in told


def test_another_input_and_another_receipt_are_refused(verify, uri, tmp_path, call):
    VISITS.with_columns(pl.col("age") + (pl.int_range(pl.len()) == 7)).write_csv("visits.csv")
    status, out, told = verify(*HELD)
    assert (status, out) == (1, "")
    assert "original: is not the input of the release" in told
    (tmp_path / "other.toml").write_text(RECIPE.format(uri=uri).replace('release = "visits"', 'release = "other"'))
    assert call("run", "other.toml", "--out", "other")[0] == 0
    status, out, told = verify("--receipt", "other.receipt.json", "--original", "other.toml")
    assert (status, out) == (1, "")
    assert "other.receipt.json: belongs to another release" in told


def test_a_receipt_is_not_believed(verify, tmp_path):
    """It belongs to the release, but says of rows that they show what the input does not have there."""
    path = tmp_path / "visits.receipt.json"
    held = Receipt.read(path)
    assert held.place_of is not None
    turned = packed_places(held.place_of[::-1].copy())
    path.write_text(held.model_copy(update={"places": turned}).to_json())
    status, out, told = verify(*HELD)
    assert (status, out) == (1, "")
    assert "than the original has" in told


def test_a_population_is_compared_with(verify, uri, tmp_path, call):
    promised = '[[require]]\nmodel = "k-map"\nk = 4\n'
    text = RECIPE.format(uri=uri).replace('role = "person"', 'role = "identifying"')
    text = text.replace('release = "visits"', 'release = "map"').replace("[target]", f"{promised}[target]")
    (tmp_path / "map.toml").write_text(text)
    VISITS.write_csv("town.csv")
    status, _, told = call("run", "map.toml", "--out", "map", "--population", "town.csv")
    assert status == 0, told
    base = ("verify", uri, "--release", "map", "--json")
    assert len(json.loads(call(*base)[1])["unchecked"]) == 1
    status, out, told = call(*base, "--population", "town.csv", "--schema", "map.toml")
    assert status == 0, told
    assert json.loads(out)["unchecked"] == []
    VISITS.head(3).write_csv("hamlet.csv")
    status, out, told = call(*base, "--population", "hamlet.csv", "--schema", "map.toml")
    assert (status, "k-map" in out + told) == (1, True)


def test_it_is_measured_attacked_and_reported_on_in_its_place(verify, uri, call, tmp_path):
    place = (uri, "--release", "visits")
    figures = json.loads(call("measure", *place, "--json")[1])
    assert figures == read_release(Target(uri, "visits")).measure()
    own = json.loads(call("measure", *place, "--json", *HELD[:2])[1])
    assert len(own) > len(figures)
    status, _, told = call("measure", *place, "--membership", "--original", "recipe.toml")
    assert (status, "--receipt: is needed with --original: whose rows are where" in " ".join(told.split())) == (2, True)
    status, out, _ = call("measure", *place, "--membership", *HELD)
    assert (status, "release visits" in out) == (0, True)
    status, out, told = call("attack", *place, *HELD, "--attack", "linking")
    assert status == 0, told
    assert "Attacks on" in out
    for options, written in (((), "visits.report.html"), (HELD, "visits.holder.html")):
        (tmp_path / written).unlink(missing_ok=True)  # the run wrote the public one
        status, _, told = call("report", *place, *options)
        assert status == 0, told
        assert "<title>" in (tmp_path / written).read_text()


@pytest.mark.parametrize("command", ["measure", "attack", "report", "verify"])
def test_a_database_needs_the_name_of_a_release(call, command):
    status, out, told = call(command, "postgresql://ann:secretword@h/x")
    assert (status, out) == (2, "")
    assert "postgresql://ann:***@h/x: is the address of a database, not a release directory" in " ".join(told.split())
    assert "give --release NAME" in told
    status, _, told = call(command, "release", "--release", "people")
    assert (status, "RELEASE: is not the address of a database" in " ".join(told.split())) == (2, True)


@pytest.mark.parametrize("command", ["measure", "report", "verify"])
@pytest.mark.parametrize("given", ["ann:secretword@h/x", "postgresql:ann:secretword@h/x", "postgresq://a:secretword@h"])
def test_a_password_in_what_is_no_address_is_not_repeated(call, command, given):
    status, out, told = call(command, given, "--release", "visits")
    assert (status, "secretword" in out + told) == (2, False)
    assert "RELEASE: is not the address of a database, which --release is for; begin it" in " ".join(told.split())


def test_what_is_not_for_it_is_said_at_once(call):
    options = ("--schema", "x.toml", "--reading", "cells", "--suppressed", "NA", "--key", "k")
    status, out, told = call("verify", "sqlite:///nowhere.db", "--release", "visits", *options)
    assert (status, out) == (2, "")
    said = " ".join(told.split())
    assert "--schema: is not needed for a release: its manifest describes the columns" in said
    assert said.count("is for a table with --schema; it does not apply to a release") == 2
    assert "--key: is for a release directory: releases with aliases or grades are not written into databases" in said
