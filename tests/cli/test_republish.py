"""`shoal republish` and `shoal verify-series` as a holder meets them."""

from __future__ import annotations

import json
import sys

import pytest

import shoal
from shoal.release import sealed

CANARY = "Zyx9Canary"
PASSPHRASE = "correct horse battery"
RECIPE = """
seed = 1
rest = "drop"

[source]
path = "people.csv"

[columns.name]
role = "identifying"

[columns.age]
role = "quasi"
kind = "numeric"

[columns.disease]
role = "sensitive"

[method]
name = "m-invariance"
m = 2
id = "name"
column = "disease"
"""


def people(*rows: str) -> str:
    return "name,age,disease,note\n" + "".join(f"{CANARY}-{row},note\n" for row in rows)


FIRST = people("a,20,flu", "b,21,gastritis", "c,40,flu", "d,41,bronchitis")
SECOND = people("a,20,flu", "c,40,flu", "e,60,bronchitis")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOAL_PASSPHRASE", PASSPHRASE)
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "people.csv").write_text(FIRST)
    return tmp_path


@pytest.fixture
def call(call):
    """Run a command in this process; neither output nor error output holds a cell."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status, out, err = call(*arguments)
        assert CANARY not in out + err
        assert PASSPHRASE not in out + err
        return status, out, err

    return run


def twice(place, call):
    assert call("republish", "recipe.toml", "--state", "s.state", "--out", "one")[0] == 0
    (place / "people.csv").write_text(SECOND)
    return call("republish", "recipe.toml", "--state", "s.state", "--previous", "one", "--out", "two")


def test_two_releases_and_their_check(place, call):
    code, out, err = twice(place, call)
    assert (code, err) == (0, "")
    assert "Release 2 of its series in two" in out
    assert "1 counterfeit added" in out
    assert sorted(path.name for path in place.iterdir()) == [
        "one", "one.receipt.json", "people.csv", "recipe.toml", "s.state", "two", "two.receipt.json",
    ]  # fmt: skip
    for name in ("one", "two"):
        held = place / f"{name}.receipt.json"
        assert held.stat().st_mode & 0o777 == 0o600
        assert CANARY not in held.read_text()
        assert shoal.read_release(place / name, held).receipt.seed == 1
    assert sorted(path.name for path in (place / "two").iterdir()) == ["classes.csv", "manifest.json", "table.csv"]
    assert CANARY not in "".join(path.read_text() for path in (place / "two").iterdir())

    code, out, _ = call("verify-series", "one", "two")
    assert code == 0
    assert "people were not followed; the data holder can use --state FILE" in out
    assert "1 release keeps its promise." in call("verify-series", "one")[1]
    code, out, _ = call("verify-series", "one", "two", "--state", "s.state")
    assert code == 0
    assert "2 releases keep their promise." in out
    assert "5 people keep the same set of sensitive values" in out
    code, out, _ = call("verify-series", "one", "two", "--state", "s.state", "--json")
    assert json.loads(out) == {"holds": True, "releases": 2, "m": 2, "counterfeits": [0, 1], "people": 5}
    for command in ("verify", "measure"):
        assert call(command, "two")[0] == 0


def test_a_state_of_another_day_is_named(place, call):
    twice(place, call)
    status, out, err = call("verify-series", "one", "--state", "s.state")
    assert (status, out) == (2, "")
    assert "s.state: is the state after release 2, but 1 is given; give all releases, from the first on" in err


def test_the_command_gives_the_bytes_of_the_python_call(place, call):
    code, out, _ = call("republish", "recipe.toml", "--state", "s.state", "--out", "one", "--json")
    assert code == 0
    printed = json.loads(out)
    assert list(printed) == ["release", "state", "receipt", "manifest"]
    assert (printed["release"], printed["state"], printed["receipt"]) == ("one", "s.state", "one.receipt.json")
    assert printed["manifest"] == json.loads((place / "one" / "manifest.json").read_text())
    assert printed["manifest"]["series"] == {"number": 1, "previous": None}
    recipe = shoal.Recipe.load("recipe.toml")
    assert shoal.Recipe.from_toml(recipe.to_toml()) == recipe
    made = shoal.republish(shoal.read("people.csv"), recipe.schema, recipe.method, seed=1)
    made.write("again", "t.state", PASSPHRASE)
    for path in (place / "one").iterdir():
        assert path.read_bytes() == (place / "again" / path.name).read_bytes()


def test_flags_go_over_the_recipe(place, call):
    (place / "secret").write_text("another passphrase\n")
    code, _, err = call(
        "republish", "recipe.toml", "--state", "s.state", "--out", "one", "--m", "3", "--passphrase-file", "secret"
    )
    assert code == 2
    assert "MInvariance(m=)" in err
    code, _, _ = call(
        "republish", "recipe.toml", "--state", "s.state", "--out", "one", "--seed", "5", "--format", "parquet",
        "--passphrase-file", "secret",
    )  # fmt: skip
    assert code == 0
    assert (place / "one" / "table.parquet").is_file()
    assert len(shoal.SeriesState.read("s.state", "another passphrase").releases) == 1


REFUSED = [
    (["--state", "new.state", "--previous", "one"], "new.state: there is no state file"),
    (["--state", "s.state"], "s.state: the state exists already, so this is not a first release"),
    (["--state", "s.state", "--previous", "nowhere"], "nowhere: does not exist"),
    (["--state", "s.state", "--previous", "other"], "other: is not the last release of the state"),
    (["--state", "s.state", "--previous", "one", "--m", "3"], "method.m: is 3, but the series began with 2"),
    (["--state", "out/s.state"], "the state is inside the release"),
    (["--state", "one"], "one: the state is a directory"),
    (["--state", "."], ".: the state is a directory"),
    (
        ["--state", "s.state", "--previous", "one", "--out", "one", "--overwrite"],
        "is the previous release, which is not replaced",
    ),
    (["--state", "s.state", "--previous", "one", "--out", "other"], "other: exists already"),
    (["--state", "s.state", "--previous", "one", "--passphrase-file", "wrong"], "the passphrase is wrong"),
    (
        ["--state", "s.state", "--previous", "one", "--passphrase-file", "gone"],
        "gone: the passphrase cannot be read",
    ),
    (["--state", "s.state", "--previous", "one", "--shape", "typed"], "m-invariance lays rows out by class"),
    (["--state", "s.state", "--previous", "one", "--refine"], "refine: cannot be combined with m-invariance"),
]


def test_what_is_refused_before_work_starts(place, call):
    call("republish", "recipe.toml", "--state", "s.state", "--out", "one")
    call("republish", "recipe.toml", "--state", "o.state", "--out", "other", "--seed", "3")
    (place / "wrong").write_text("not the passphrase\n")
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    for arguments, said in REFUSED:
        defaults = [] if "--out" in arguments else ["--out", "out"]
        code, _, err = call("republish", "recipe.toml", *arguments, *defaults)
        assert (code, said in err) == (2, True), (arguments, err)
        assert {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()} == before
        assert not (place / "out").exists()


def test_no_release_of_the_series_is_replaced(place, call):
    """Neither verify-series nor the holder could look at the series any more."""
    twice(place, call)
    call("republish", "recipe.toml", "--state", "o.state", "--out", "other", "--seed", "3")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    following = ["republish", "recipe.toml", "--state", "s.state", "--previous", "two", "--overwrite", "--out"]
    code, _, err = call(*following, "one")
    assert code == 2
    assert "one: is release 1 of this series, which is not replaced; choose another directory" in err
    assert {path: path.read_bytes() for path in before} == before
    assert call(*following, "other")[0] == 0


def test_a_changed_release_ends_with_status_one(place, call):
    twice(place, call)
    (place / "two" / "table.csv").write_text("class,disease\n1,flu\n")
    for arguments in (
        ("verify-series", "one", "two"),
        ("republish", "recipe.toml", "--state", "s.state", "--previous", "two", "--out", "three"),
    ):
        code, _, err = call(*arguments)
        assert code == 1
        assert "its SHA-256 differs" in err
    assert not (place / "three").exists()


def test_run_refuses_m_invariance_and_republish_refuses_others(place, call):
    code, _, err = call("run", "recipe.toml")
    assert code == 2
    assert "use `shoal republish`" in err
    other = RECIPE.split("[method]")[0] + '[method]\nname = "mondrian"\nk = 2\n'
    (place / "other.toml").write_text(other)
    code, _, err = call("republish", "other.toml", "--state", "s.state")
    assert code == 2
    assert 'mondrian is not for repeated releases; use name = "m-invariance"' in err
    assert not (place / "s.state").exists()


def test_another_method_is_refused_before_flags_and_before_a_passphrase_is_asked_for(place, call, monkeypatch):
    monkeypatch.delenv("SHOAL_PASSPHRASE", raising=False)
    (place / "other.toml").write_text(RECIPE.split("[method]")[0] + '[method]\nname = "mondrian"\nk = 2\n')
    for flags in ((), ("--m", "3", "--column", "disease")):
        code, _, err = call("republish", "other.toml", "--state", "s.state", *flags)
        assert code == 2
        assert err.startswith("ParameterError: method.name: mondrian is not for repeated releases; use name =")


def test_requirements_are_refused(place, call):
    (place / "recipe.toml").write_text(RECIPE + '[[require]]\nmodel = "k-anonymity"\nk = 2\n')
    code, _, err = call("republish", "recipe.toml", "--state", "s.state")
    assert code == 2
    assert "require: cannot be combined with m-invariance" in err
    (place / "recipe.toml").write_text("suppress = 0.1\n" + RECIPE + '[population]\npath = "people.csv"\n')
    code, _, err = call("republish", "recipe.toml", "--state", "s.state")
    assert code == 2
    for key in ("suppress", "population"):
        assert f"{key}: cannot be combined with m-invariance" in err
    code, _, err = call("republish", "recipe.toml", "--state", "s.state", "--require", "k-map k=3")
    assert (code, "--require: is not a flag of this command" in err) == (2, True)


def test_without_a_terminal_and_a_passphrase_nothing_starts(place, call, monkeypatch):
    monkeypatch.delenv("SHOAL_PASSPHRASE")
    code, _, err = call("republish", "recipe.toml", "--state", "s.state")
    assert code == 2
    assert "set SHOAL_PASSPHRASE, or give --passphrase-file FILE" in err


def test_an_empty_passphrase_in_the_environment_is_told(place, call, monkeypatch):
    monkeypatch.setenv("SHOAL_PASSPHRASE", "")
    code, _, err = call("republish", "recipe.toml", "--state", "s.state")
    assert code == 2
    assert "SHOAL_PASSPHRASE: is set, but empty; set it to the passphrase, or unset it to be asked" in err


def test_on_a_terminal_the_passphrase_is_asked_for(place, call, monkeypatch):
    import typer

    asked = []

    def prompt(text, **options):
        asked.append((text, options["hide_input"], options["confirmation_prompt"]))
        return PASSPHRASE

    monkeypatch.delenv("SHOAL_PASSPHRASE")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "prompt", prompt)
    assert twice(place, call)[0] == 0
    assert asked == [("Passphrase of the state", True, True), ("Passphrase of the state", True, False)]


def test_no_state_is_written_into_a_release(place, call):
    assert call("republish", "recipe.toml", "--state", "state", "--out", "first")[0] == 0
    before = sorted(path.name for path in (place / "first").iterdir())
    status, _, err = call("republish", "recipe.toml", "--state", "first/state", "--out", "second")
    assert status == 2
    assert "the state would lie inside a release" in " ".join(err.split())
    assert sorted(path.name for path in (place / "first").iterdir()) == before
