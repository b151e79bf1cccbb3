"""Mistakes of the first hour at the command line: what is said, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
        fix = f"run: shoal init {name}, then: shoal run recipe.toml"
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
