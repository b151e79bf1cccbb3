"""The command line as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
import shoal.pipeline
import shoal.release.manifest
from shoal.privacy import MODELS
from shoal.privacy.base import ColumnRequirement
from shoal.recipe.text import read_entries
from shoal.release.receipt import Receipt
from shoal.testing import options_to_try
from support.registered import METHODS, REPEATED
from support.small_recipe import CANARY, RECIPE, TABLE, TOWNS


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "town.csv").write_text(TOWNS)
    return tmp_path


def test_run_verify_measure(place, call):
    status, out, err = call("run", "recipe.toml")
    assert (status, err) == (0, "")
    assert "12 published of 12" in out
    assert "Publish release; keep release.receipt.json to yourself" in out
    assert sorted(path.name for path in (place / "release").iterdir()) == ["manifest.json", "table.csv"]
    assert CANARY not in (place / "release" / "table.csv").read_text()
    held = place / "release.receipt.json"
    assert held.stat().st_mode & 0o777 == 0o600
    assert CANARY not in held.read_text()
    status, out, _ = call("verify", "release")
    assert status == 0
    assert "keeps its promise" in out
    status, out, _ = call("verify", "release", "--json")
    assert json.loads(out)["achieved"] == {"k": 3}
    status, out, _ = call("measure", "release", "--json")
    figures = json.loads(out)
    assert figures["classes"] == 4
    assert call("measure", "release")[1].count("ncp:") == 2


def test_the_receipt_adds_figures_and_is_bound_to_release_and_input(place, call):
    call("run", "recipe.toml")
    status, out, _ = call("measure", "release", "--json")
    alone = json.loads(out)
    assert alone == json.loads((place / "release" / "manifest.json").read_text())["measures"]
    status, out, _ = call("measure", "release", "--receipt", "release.receipt.json", "--json")
    own = {figure.measure: figure.value for figure in Receipt.read("release.receipt.json").against_input}
    assert (status, json.loads(out)) == (0, alone | own)
    moved = pytest.approx(32 / (143 / 12))  # four groups, ages two apart; 143 is the square error of all ages
    assert own == {
        "sse": moved, "sse_percent": pytest.approx(3200 / 143), "square_error": moved, "square_error_all": moved,
    }  # fmt: skip
    shown = call("measure", "release", "--receipt", "release.receipt.json")[1].splitlines()
    assert [line.count("age") for line in shown if "sse_percent" in line] == [1]

    receipt = ("--receipt", "release.receipt.json")
    plain = json.loads(call("verify", "release", "--json")[1])
    for options, input_seen in (((), None), (("--original", "recipe.toml"), True)):
        status, out, _ = call("verify", "release", *receipt, *options, "--json")
        assert (status, json.loads(out)) == (0, plain | {"receipt": True, "input": input_seen})
    status, out, _ = call("verify", "release", *receipt)
    assert (status, "receipt   belongs to this release; compare the input with --original RECIPE" in out) == (0, True)
    status, out, _ = call("verify", "release", *receipt, "--original", "recipe.toml")
    assert (status, "receipt   belongs to this release; and so does the input" in out) == (0, True)

    (place / "release.receipt.json").rename(place / "kept.json")
    status, out, _ = call("verify", "release", "--original", "recipe.toml", "--json")
    assert (status, json.loads(out)) == (0, plain | {"receipt": None, "input": None})
    status, out, _ = call("verify", "release", "--original", "recipe.toml")
    assert (status, "input     is taken for that of the release; only a receipt tells" in out) == (0, True)
    (place / "kept.json").rename(place / "release.receipt.json")

    (place / "people.csv").write_text(TABLE.replace(f"{CANARY}3,", f"{CANARY}33,"))  # not even a published column
    for options in (receipt, ()):  # which is beside the release
        status, out, err = call("verify", "release", *options, "--original", "recipe.toml")
        assert (status, out) == (1, "")
        assert "original: is not the input of the release: its content differs from what the receipt notes" in err
        assert CANARY not in err

    assert call("run", "recipe.toml", "--out", "other", "--k", "4")[0] == 0
    for command in ("verify", "measure"):
        status, out, err = call(command, "other", *receipt)
        assert (status, out) == (1, "")
        assert "release.receipt.json: belongs to another release, or the release was changed since" in err
    for path, said in (("recipe.toml", "is not a receipt of a release"), ("nowhere", "the receipt cannot be read")):
        status, _, err = call("verify", "release", "--receipt", path)
        assert (status, f"{path}: {said}" in err) == (2, True)
    status, _, err = call("verify", "people.csv", "--schema", "recipe.toml", *receipt)
    assert (status, "--receipt: is for a release directory; leave it out" in err) == (2, True)


@pytest.mark.parametrize("options", [(), ("--original", "visits.toml")])
def test_the_receipt_of_another_release_is_the_only_problem(place, call, options):
    """It says nothing of the rows of this release, also where those are to be counted by it."""
    ages = [21, 22, 25, 31, 33, 38, 44, 47]
    for name, order in (("visits", ages), ("later", [age + 1 for age in ages[::-1]])):
        rows = "".join(f"{row // 2},{age}\n" for row, age in enumerate(order))
        (place / f"{name}.csv").write_text(f"who,age\n{rows}")
        (place / f"{name}.toml").write_text(
            f'[source]\npath = "{name}.csv"\n[columns.who]\nrole = "person"\n'
            '[columns.age]\nrole = "quasi"\nkind = "numeric"\n[method]\nname = "mondrian"\nk = 2\n'
        )
        assert call("run", f"{name}.toml", "--out", name)[0] == 0
    assert call("run", "recipe.toml")[0] == 0  # its receipt does not say where rows went
    for other in ("later", "release"):
        status, out, err = call("verify", "visits", "--receipt", f"{other}.receipt.json", *options)
        assert (status, out) == (1, "")
        assert f"{other}.receipt.json: belongs to another release, or the release was changed since" in err
        assert "problems" not in err


def test_a_receipt_in_the_way_is_not_replaced_unasked(place, call):
    (place / "release.receipt.json").write_text("mine")
    before = sorted(place.rglob("*"))
    status, out, err = call("run", "recipe.toml")
    assert (status, out) == (2, "")
    assert "release.receipt.json: already exists: the receipt of another release; move it elsewhere" in err
    assert (sorted(place.rglob("*")), (place / "release.receipt.json").read_text()) == (before, "mine")
    assert call("run", "recipe.toml", "--overwrite")[0] == 0
    assert Receipt.read(place / "release.receipt.json").seed == 1


def test_without_a_seed_one_is_drawn_and_kept_in_the_receipt_alone(place, call):
    (place / "recipe.toml").write_text(replaced(RECIPE, "seed = 1", ""))
    seeds = []
    for out in ("one", "two"):
        assert call("run", "recipe.toml", "--method", "caat", "--out", out)[0] == 0
        seeds.append(Receipt.read(f"{out}.receipt.json").seed)
        assert str(seeds[-1]) not in (place / out / "manifest.json").read_text()
    assert seeds[0] != seeds[1]
    assert call("run", "recipe.toml", "--method", "caat", "--seed", str(seeds[0]), "--out", "again")[0] == 0
    for name in ("manifest.json", "table.csv"):
        assert (place / "again" / name).read_bytes() == (place / "one" / name).read_bytes()


def test_same_release_from_python_and_the_command_line(place, call):
    assert call("run", "recipe.toml", "--out", "cli")[0] == 0
    recipe = shoal.Recipe.load("recipe.toml")
    shoal.run(recipe).write("python")
    frame = shoal.read("people.csv")
    shoal.anonymize(frame, recipe.schema, shoal.Mondrian(k=3), seed=1).write("frame")
    for folder in ("python", "frame"):
        for name in ("manifest.json", "table.csv"):
            assert (place / folder / name).read_bytes() == (place / "cli" / name).read_bytes()


def test_flags_go_over_the_recipe(place, call):
    status, out, _ = call(
        "run", "recipe.toml", "--method", "caat", "--k", "4", "--interval=hull", "--shape", "typed", "--sets", "true",
        "--seed", "9", "--format", "parquet", "--missing", "drop", "--json",
    )  # fmt: skip
    printed = json.loads(out)
    manifest = printed["manifest"]
    assert status == 0
    assert list(printed) == ["release", "receipt", "report", "concerns", "manifest"]
    assert (printed["release"], printed["receipt"]) == ("release", "release.receipt.json")
    assert manifest["recipe"] == {
        "method": {"name": "caat", "k": 4, "interval": "hull", "ties": "one"},
        "require": [],
        "publish": {"name": "generalize", "shape": "typed", "sets": True},
        "refine": None,
        "suppress": 0.0,
        "missing": "drop",
        "normalise": False,
        "left_out": "public",
    }
    receipt = Receipt.read("release.receipt.json")
    assert receipt.seed == 9
    assert receipt.method == {"name": "caat", "k": 4, "interval": "hull", "ties": "one"}
    assert receipt.source == "people.csv"
    assert pl.read_parquet(place / "release" / "table.parquet").columns == ["age_low", "age_high", "town", "disease"]


def test_tampered_release_ends_in_1(place, call):
    call("run", "recipe.toml")
    table = place / "release" / "table.csv"
    table.write_text(table.read_text().replace("Ao", "Bo", 1))
    status, out, err = call("verify", "release")
    assert (status, out) == (1, "")
    assert "GuaranteeError: table.csv: was changed" in err
    status, out, _ = call("verify", "release", "--json")
    assert status == 1
    assert json.loads(out)["error"] == "GuaranteeError"


def test_demo(place, call):
    status, out, _ = call("demo", "--rows", "400", "--k", "4", "--quiet")
    assert status == 0
    assert "400 published of 400" in out
    assert {path.name for path in (place / "shoal-demo").iterdir()} == {
        "people.csv", "hierarchies", "recipe.toml", "release", "release.receipt.json", "release.report.html",
    }  # fmt: skip
    assert call("verify", "shoal-demo/release", "--receipt", "shoal-demo/release.receipt.json")[0] == 0
    seed = str(Receipt.read("shoal-demo/release.receipt.json").seed)
    assert call("run", "shoal-demo/recipe.toml", "--out", "again", "--seed", seed)[0] == 0
    again = (place / "again" / "manifest.json").read_bytes()
    assert again == (place / "shoal-demo" / "release" / "manifest.json").read_bytes()
    status, _, err = call("demo")
    assert status == 2
    assert "exists already" in err
    for method in ("mondrian", "anatomy", "slicing"):
        assert call("demo", "--rows", "100", "--method", method, "--overwrite")[0] == 0
    status, _, err = call("demo", "--rows", "10", "--k", "11", "--out", "other")
    assert (status, (place / "other").exists()) == (2, False)
    assert "use a k of at most 10" in err


def test_another_table_than_that_of_a_release_that_counts_people(place, call):
    for name, first in (("people", 20), ("others", 30)):
        rows = [f"p{row // 2},{first + row},{'flu' if row % 3 else 'gout'}" for row in range(40)]
        (place / f"{name}.csv").write_text("\n".join(["id,age,disease", *rows]))
        (place / f"{name}.toml").write_text(
            f"""[source]\npath = "{name}.csv"\n[columns.id]\nrole = "person"\n[columns.age]\nrole = "quasi"\n"""
            """kind = "numeric"\n[columns.disease]\nrole = "sensitive"\n[method]\nname = "mondrian"\nk = 3\n"""
        )
    assert call("run", "people.toml", "--out", "made")[0] == 0
    assert call("verify", "made", "--original", "people.toml")[0] == 0
    status, _, err = call("verify", "made", "--original", "others.toml")
    assert status == 1
    assert err.count("original: is not the input of the release") == 1
    assert "rows show" not in err


def test_what_is_read_twice_is_warned_of_once(place, call):
    import xlsxwriter

    with xlsxwriter.Workbook(place / "people.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["age", "disease"])
        for row in range(1, 31):
            sheet.write_row(row, 0, [20 + row, "flu" if row % 2 else "gout"])
        sheet.write_formula(3, 0, "=1/0", None, "#DIV/0!")
    (place / "r.toml").write_text(
        """[source]\npath = "people.xlsx"\n[columns.age]\nrole = "quasi"\nkind = "numeric"\n[columns.disease]\n"""
        """role = "sensitive"\n[method]\nname = "mondrian"\nk = 3\n[[require]]\nmodel = "l-diversity"\n"""
        """column = "disease"\nl = 2\n"""
    )
    status, _, err = call("run", "r.toml", "--out", "once")
    assert status == 0
    assert err.count("column 'age' has 1 (#DIV/0!)") == 1


def test_init_then_run(place, call):
    (place / "codes.csv").write_text(
        "e-mail;postcode;income\n" + "".join(f"p{i}@x.org;0{i % 4}1{i % 3}4;{i * 100}\n" for i in range(30))
    )
    status, out, _ = call("init", "codes.csv", "--out", "sub.toml")
    assert status == 0
    assert "identifying" in out
    entries = read_entries("sub.toml")
    assert entries["source"] == {"path": "codes.csv", "delimiter": ";", "encoding": "utf-8"}
    assert entries["columns"]["e-mail"]["role"] == "identifying"
    assert entries["columns"]["postcode"]["hierarchy"] == "sub.hierarchies/postcode.csv"
    assert (place / "sub.hierarchies" / "postcode.csv").read_text().startswith("00104;0010*;001**;00***;0****;*\n")
    assert entries["require"] == [{"model": "l-diversity", "column": "income", "l": 3.0, "variant": "entropy"}]
    assert entries["columns"]["income"]["role"] == "sensitive"
    assert (place / "sub.toml").read_text().count("# ") >= 3
    assert call("run", "sub.toml")[0] == 0
    status, _, err = call("init", "codes.csv", "--out", "sub.toml")
    assert (status, "exists already" in err) == (2, True)
    status, out, _ = call("init", "codes.csv", "--out", "sub.toml", "--overwrite", "--json")
    assert [column["role"] for column in json.loads(out)["profile"]["columns"]] == ["identifying", "quasi", "sensitive"]


def test_listings(call):
    for command, registry in (("methods", {**METHODS, **REPEATED}), ("models", MODELS)):
        listed = json.loads(call(command, "--json")[1])
        assert [entry["name"] for entry in listed] == list(registry)
        out = call(command)[1]
        for name, spec in registry.items():
            assert name in out
            assert spec.title.split()[0] in out
            for parameter in spec.parameters():
                assert parameter.name in out
    assert call("--version")[1].strip() == shoal.__version__


@pytest.mark.parametrize("command", ["", "demo", "init", "run", "verify", "measure", "methods", "models", "measures"])
def test_help(call, command):
    status, out, _ = call(*command.split(), "--help")
    assert status == 0
    assert "Usage: shoal" in out


# -- bad input: one error, all problems, status 2, nothing written, no cell shown -------------------------------------


def replaced(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


BAD = {
    "unknown column": (
        {"recipe.toml": replaced(RECIPE, "[columns.age]", "[columns.agee]")},
        ["'agee'", "did you mean 'age'"],
    ),
    "unnamed column": (
        {"recipe.toml": replaced(RECIPE, '[columns.disease]\nrole = "sensitive"', "")},
        ["without a role: disease"],
    ),
    "two roles": ({"recipe.toml": RECIPE + '\n[columns.age]\nrole = "neutral"\n'}, ["is not TOML"]),
    "k of one": (
        {"recipe.toml": replaced(RECIPE, "k = 3", "k = 1")},
        ["method.k: needs a whole number of at least 2, got 1"],
    ),
    "k above n": (
        {"recipe.toml": replaced(RECIPE, "k = 3", "k = 13")},
        ["k = 13, but the table has 12 rows; use a k of at most 12"],
    ),
    "hierarchy misses values": ({"town.csv": "Ao;north;*\nCo;south;*\n"}, ["column 'town'", "no leaf for 1 of", "Bo"]),
    "hierarchy is no tree": ({"town.csv": "Ao;north;*\nBo;north;south;*\n"}, ["more than one parent: north"]),
    "hierarchy is gone": ({"recipe.toml": replaced(RECIPE, "town.csv", "twon.csv")}, ["'twon.csv'", "cannot be read"]),
    "text among numbers": (
        {"people.csv": TABLE + f"x,{CANARY},Ao,flu\ny,,Ao,flu\nz,1e,Bo,flu\n"},
        ["column 'age'", "2 cells are not numbers, at rows 13, 15"],
    ),
    "empty file": ({"people.csv": ""}, ["people.csv", "empty"]),
    "header only": ({"people.csv": TABLE.splitlines()[0] + "\n"}, ["no rows"]),
    "doubled column": (
        {"people.csv": replaced(TABLE, "name,age", "age,age")},
        ["more than once: columns 1, 2"],
    ),
    "ragged rows": ({"people.csv": TABLE + f"{CANARY},1\n{CANARY},1,Ao,flu,more\n"}, ["rows 13, 14"]),
    "broken quoting": ({"people.csv": TABLE + f'"{CANARY},1,Ao,flu\n'}, ["row 13", "quot"]),
    "wrong encoding": (
        {
            "recipe.toml": replaced(RECIPE, 'people.csv"', 'people.csv"\nencoding = "utf-8"'),
            "people.csv": TABLE.encode() + CANARY.encode() + b"\xff,1,Ao,flu\n",
        },
        ["utf-8", "line 14"],
    ),
    "missing file": ({"recipe.toml": replaced(RECIPE, "people.csv", "peopel.csv")}, ["peopel.csv"]),
    "a folder": ({"recipe.toml": replaced(RECIPE, "people.csv", "")}, ["source.path"]),
    "unknown ending": ({"recipe.toml": replaced(RECIPE, "people.csv", "people.cvs")}, ["unknown ending '.cvs'"]),
    "not TOML": ({"recipe.toml": RECIPE + "\n= 3"}, ["is not TOML"]),
    "misspelt keys": (
        {
            "recipe.toml": replaced(replaced(RECIPE, "seed", "sede"), 'role = "identifying"', 'rol = "identifying"')
            + "\nintervall = 3\n"
        },
        [
            "sede: unknown key; did you mean 'seed'",
            "columns.name.rol: unknown key; did you mean 'role'",
            "method.intervall: unknown key",
            "4 problems",
        ],
    ),
    "unknown method": (
        {"recipe.toml": replaced(RECIPE, "mondrian", "mondrain")},
        ["method.name: unknown name 'mondrain'; did you mean 'mondrian'"],
    ),
    "several at once": (
        {
            "people.csv": replaced(TABLE, "disease", "diseese"),
            "town.csv": "Ao;*\n",
            "recipe.toml": replaced(RECIPE, "k = 3", "k = 30"),
        },
        ["'disease'", "diseese", "no leaf", "k = 30, but the table has 12 rows", "4 problems"],
    ),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input(place, call, bad):
    files, fragments = BAD[bad]
    for name, content in files.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    status, out, err = call("run", "recipe.toml")
    assert status == 2
    assert out == ""
    for fragment in fragments:
        assert fragment in err
    assert CANARY not in err
    assert "Traceback" not in err
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["run", "recipe.toml", "--kk", "4"], "--kk: unknown flag"),
        (
            ["run", "recipe.toml", "--method", "slicing", "--apart"],
            "--apart: was renamed; use --sensitive_apart",
        ),
        (["run", "recipe.toml", "--k", "four"], "method.k: needs a whole number of at least 2, got 'four'"),
        (["run", "recipe.toml", "--k"], "--k: has no value"),
        (["run", "recipe.toml", "stray"], "'stray' is not a flag"),
        (["run", "recipe.toml", "--method", "cat"], "did you mean 'caat'"),
        (
            ["run", "recipe.toml", "--start", "1"],
            "--start: unknown flag; it goes with caat, k-member; method, publisher",
        ),
        (["run", "recipe.toml", "--method", "caat", "--start", "99"], "start = 99, but the table has 12 rows"),
        (["run", "recipe.toml", "--threads", "0"], "threads=: needs a whole number from 1 to"),
        (["run", "recipe.toml", "--threads", "4096"], "threads=: needs a whole number from 1 to"),
        (["run", "nowhere.toml"], "cannot be read (No such file or directory)"),
        (["verify", "nowhere"], "does not exist"),
        (["measure", "."], "is not a release directory"),
        (["init", "nowhere.csv", "--out", "new.toml"], "nowhere.csv"),
        (["demo", "--rows", "0"], "--rows: needs a whole number of at least 1, got 0"),
        (["demo", "--rows", "10", "--k", "50", "--out", "a/b/c"], "use a k of at most 10"),
        (["run", "recipe.toml", "--no-strict"], "--no-strict: unknown flag; did you mean '--strict'?"),
        (["run", "recipe.toml", "--path", "x.csv"], "--path: says how a table is read, which the recipe does"),
        (["run", "recipe.toml", "--missing-values", "NA"], "write missing_values = ... below its [source]"),
        (["run", "recipe.toml", "--out", "x" * 300], "its name is not a valid file name"),
    ],
)
def test_bad_arguments(place, call, arguments, fragment):
    before = sorted(place.rglob("*"))
    status, _, err = call(*arguments)
    assert status == 2
    assert fragment in err
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize("entry", ["method = 3", 'method = "mondrian"', "publish = 3", 'publish = ["a"]'])
def test_entries_of_the_wrong_type(place, call, entry):
    (place / "recipe.toml").write_text(entry + "\n" + RECIPE.split("[method]")[0])
    status, _, err = call("run", "recipe.toml", "--seed", "3")
    assert status == 2
    assert "needs to be a table" in err


def test_errors_as_json(place, call):
    (place / "recipe.toml").write_text(RECIPE.replace("k = 3", "k = 1\nkk = 2"))
    status, out, err = call("run", "recipe.toml", "--json")
    assert (status, err) == (2, "")
    answer = json.loads(out)
    assert answer["error"] == "ParameterError"
    assert [problem["where"] for problem in answer["problems"]] == ["method.kk", "method.k"]


def test_an_exception_of_another_package_shows_no_cell(place, call, monkeypatch):
    def fail(*_, **__):
        raise ValueError(CANARY)

    monkeypatch.setattr(shoal.pipeline, "prepare", fail)
    status, out, err = call("run", "recipe.toml")
    assert status == 3
    assert CANARY not in out + err
    assert f"InternalError: ValueError at {Path(__file__).name}" in err


STOPPED_AT = {
    "grouping": "shoal.methods.mondrian.kernel.split_level = wait",
    "writing": "shoal.published.writing.write_csv = lambda frame, path: (path.write_text('half'), wait())",
}


STOPPING = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
LAUNCHER = """
import json, os, signal, sys, time, traceback
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which it is not under nohup
import numba
import shoal.methods.mondrian, shoal.pipeline, shoal.published.writing, shoal.concerns.trials.other_method
from shoal.cli import app, main
numba.njit(lambda x: x)(1)  # makes ready what every kernel needs
app._commands()
def wait(*_):
    print("ready", os.getpid(), flush=True)
    time.sleep(60)
for line in sys.stdin:
    folder, change = json.loads(line)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    status = 1
    try:
        os.chdir(folder)
        os.dup2(os.open("../said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        exec(change)
        sys.argv = ["shoal", "run", "recipe.toml"]
        main()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)
"""
"""Runs the command as often as it is asked to, each time in a process of its own; what it imports is imported once."""


@pytest.fixture(scope="module")
def launcher():
    line = [sys.executable, "-c", LAUNCHER]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.stdin.close()


def stopped(launcher, place, number, change):
    """Start a run that stands still in its middle, send it a signal; its exit status and what it says."""
    launcher.stdin.write(json.dumps([str(place), change]) + "\n")
    launcher.stdin.flush()
    word, process = launcher.stdout.readline().split()
    assert word == "ready"
    os.kill(int(process), number)
    return int(launcher.stdout.readline()), (place.parent / "said").read_text()


@pytest.fixture
def inner_place(place, monkeypatch):
    """The same place one folder further down, so that there is one beside it."""
    inner = place / "inner"
    inner.mkdir()
    for path in [path for path in place.iterdir() if path.is_file()]:
        path.rename(inner / path.name)
    monkeypatch.chdir(inner)
    return inner


@pytest.mark.parametrize("stage", STOPPED_AT)
@pytest.mark.parametrize("number", [*STOPPING, signal.SIGKILL], ids=lambda number: number.name)
def test_a_killed_run_leaves_no_release(launcher, inner_place, number, stage):
    """A real process that stands still in the middle of a stage when the signal comes."""
    place = inner_place
    status, err = stopped(launcher, place, number, STOPPED_AT[stage])
    seen = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    assert seen == ["people.csv", "recipe.toml", "town.csv"]
    if number == signal.SIGKILL:  # nobody can tidy up then; what is left is hidden and no release
        assert status == -number
        assert not list(place.glob(".release.shoal-*/journal.json"))
        return
    assert status == 128 + number
    assert err == "stopped; nothing was written\n"
    assert not list(place.glob(".release*"))


@pytest.mark.parametrize("number", STOPPING, ids=lambda number: number.name)
def test_a_run_stopped_while_its_receipt_is_written_leaves_neither(launcher, inner_place, number):
    said = stopped(launcher, inner_place, number, "os.fsync = wait")
    assert said == (128 + number, "stopped; nothing was written\n")
    assert sorted(path.name for path in inner_place.iterdir()) == ["people.csv", "recipe.toml", "town.csv"]


def test_progress_is_shown_where_somebody_looks(place):
    """On a terminal a bar names the stages; with --quiet, there is none."""
    pty = pytest.importorskip("pty")
    program = """
import contextlib, sys
from shoal.cli import main
for flags in (["--quiet"], []):
    sys.argv = ["shoal", "run", "recipe.toml", "--overwrite", *flags]
    with contextlib.suppress(SystemExit):
        main()
    print("|", file=sys.stderr, end="", flush=True)
"""
    ours, theirs = pty.openpty()
    environment, shown = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}, b""
    line = [sys.executable, "-c", program]
    run = subprocess.Popen(line, cwd=place, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    with contextlib.suppress(OSError):  # how a terminal says that its other end is gone
        while chunk := os.read(ours, 1024):
            shown += chunk
    os.close(ours)
    assert run.wait(timeout=60) == 0
    run.stdout.close()
    quiet, _, told = shown.partition(b"|")
    assert quiet == b""
    assert b"grouping" in told or b"writing" in told
    assert told.endswith(b"|")
    assert (place / "release" / "manifest.json").exists()


def test_module_and_script_are_the_same_command(place):
    run = subprocess.run([sys.executable, "-m", "shoal", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == shoal.__version__
    script = Path(sys.executable).with_name("shoal")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout == run.stdout


def test_flags_choose_publisher_and_refinement(place, call):
    status, out, _ = call("run", "recipe.toml", "--publish", "aggregate", "--numeric", "median", "--refine", "--json")
    assert status == 0
    asked = json.loads(out)["manifest"]["recipe"]
    assert asked["publish"] == {
        "name": "aggregate", "numeric": "median", "ordinal": "median", "restore_variance": False,
    }  # fmt: skip
    assert asked["refine"] == {"loss": "sse", "rounds": 0}
    status, out, _ = call("run", "recipe.toml", "--rounds", "2", "--overwrite", "--json")
    assert json.loads(out)["manifest"]["recipe"]["refine"] == {"loss": "ncp", "rounds": 2}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--refine", "much"], "--refine: takes no value; write --refine, and --rounds N to search longer"),
        (["--rounds", "-1"], "refine.rounds: needs a whole number of at least 0"),
        (["--publish", "agregate"], "--publish: unknown name 'agregate'; did you mean 'aggregate'"),
        (["--publish", "aggregate", "--shape", "typed"], "--shape: unknown flag"),
    ],
)
def test_wrong_flags_of_publisher_and_refinement(place, call, flags, message):
    status, _, err = call("run", "recipe.toml", *flags)
    assert status == 2
    assert message in err
    assert not (place / "release").exists()


def test_measure_takes_a_label(place, call):
    call("run", "recipe.toml")
    status, out, _ = call("measure", "release", "--label", "disease", "--json")
    assert status == 0
    assert "cm:disease" in json.loads(out)
    status, _, err = call("measure", "release", "--label", "age")
    assert status == 2
    assert "label=: 'age' is not a column published as it is" in err


# -- promises on the command line ----------------------------------------------------------------------------------

MIXED = "name,age,town,marital status,disease\n" + "".join(
    f"{CANARY}{row},{20 + row},{'Ao' if row % 2 else 'Bo'},{'single' if row % 3 else 'married'},{disease}\n"
    for row, disease in enumerate(["flu", "flu", "flu", "ulcer", "asthma", "flu", "flu", "flu", "ulcer", "asthma"] * 3)
)
PROMISED = (
    RECIPE
    + """
[columns."marital status"]
role = "sensitive"
kind = "nominal"

[[require]]
model = "alpha-k"
column = "disease"
alpha = 0.75
"""
)


@pytest.fixture
def mixed(place):
    (place / "people.csv").write_text(MIXED)
    (place / "recipe.toml").write_text(PROMISED)
    (place / "all.csv").write_text("town,age\n" + "".join(f"{'AB'[row % 2]}o,{row}\n" for row in range(15, 70)))
    return place


def test_promises_are_added_to_those_of_the_recipe(mixed, call):
    status, out, err = call(
        "run", "recipe.toml", "--require", "l-diversity column=disease l=2", "--require",
        "t-closeness column='marital status' t=0.5", "--suppress", "0.1", "--json",
    )  # fmt: skip
    assert (status, err) == (0, "")
    manifest = json.loads(out)["manifest"]
    assert manifest["recipe"]["suppress"] == 0.1
    assert manifest["recipe"]["require"] == [
        {"model": "alpha-k", "column": "disease", "alpha": 0.75},
        {"model": "l-diversity", "column": "disease", "l": 2, "variant": "distinct"},
        {"model": "t-closeness", "column": "marital status", "t": 0.5, "distance": "equal"},
    ]
    assert manifest["achieved"]["alpha:disease"] <= 0.75
    assert manifest["achieved"]["l:disease"] >= 2
    assert manifest["achieved"]["t:marital status"] <= 0.5
    status, out, _ = call("verify", "release")
    assert (status, "keeps its promise" in out) == (0, True)


def test_a_promise_by_flag_gives_the_bytes_of_one_in_the_recipe(mixed, call):
    flags = ("--require", "l-diversity column=disease l=2 variant=entropy", "--suppress", "0")
    assert call("run", "recipe.toml", "--out", "flag", *flags)[0] == 0
    entry = '\n[[require]]\nmodel = "l-diversity"\ncolumn = "disease"\nl = 2\nvariant = "entropy"\n'
    (mixed / "recipe.toml").write_text(PROMISED + entry)
    assert call("run", "recipe.toml", "--out", "recipe")[0] == 0
    for name in ("manifest.json", "table.csv"):
        assert (mixed / "flag" / name).read_bytes() == (mixed / "recipe" / name).read_bytes()


def test_a_population_by_flag_and_by_recipe(mixed, call, monkeypatch):
    assert call("run", "recipe.toml", "--require", "k-map k=4", "--population", "all.csv", "--out", "flag")[0] == 0
    (mixed / "recipe.toml").write_text(
        PROMISED + '\n[[require]]\nmodel = "k-map"\nk = 4\n[population]\npath = "all.csv"\n'
    )
    assert call("run", "recipe.toml", "--out", "recipe")[0] == 0
    manifest = (mixed / "recipe" / "manifest.json").read_bytes()
    assert manifest == (mixed / "flag" / "manifest.json").read_bytes()
    assert "population" not in json.loads(manifest)
    held = [Receipt.read(f"{name}.receipt.json") for name in ("flag", "recipe")]
    assert held[0].population == held[1].population
    assert held[0].population.rows == 55
    assert (held[0].achieved["k_map"] >= 4, json.loads(manifest)["achieved"].keys()) == (True, {"k", "alpha:disease"})
    (mixed / "below").mkdir()
    monkeypatch.chdir(mixed / "below")  # a flag is read from here, an entry from where the recipe is
    assert call("run", "../recipe.toml", "--population", "../all.csv", "--out", "again")[0] == 0
    assert (mixed / "below" / "again" / "manifest.json").read_bytes() == manifest
    status, _, err = call("run", "../recipe.toml", "--population", "all.csv", "--out", "never")
    assert (status, "all.csv" in err) == (2, True)


@pytest.mark.parametrize(
    ("require", "message"),
    [
        ("l-diversty column=disease l=2", "--require: unknown name 'l-diversty'; did you mean 'l-diversity'?"),
        ("", "--require: needs a model and its parameters"),
        ("l-diversity column='disease l=2", "--require: needs a model and its parameters, with all quotes closed"),
        ("l-diversity disease l=2", "--require l-diversity.disease: has no value"),
        ("l-diversity column=disease l=2 l=3", "--require l-diversity.l: is given twice"),
        ("l-diversity column=disease", "--require l-diversity.l: missing"),
        ("l-diversity colum=disease l=2", "--require l-diversity.colum: unknown key; did you mean 'column'?"),
        ("l-diversity column=disease l=two", "--require l-diversity.l: needs a number in (1, inf), got 'two'"),
        ("l-diversity column=disease l=2.5", "needs a whole number of at least 2, got 2.5"),
        ("t-closeness column=disease t=2", "--require t-closeness.t: needs a number in [0, 1], got 2"),
        ("l-diversity column=age l=2", "column 'age' is quasi, not sensitive"),
        ("l-diversity column=diseese l=2", "the table has no column 'diseese'; did you mean 'disease'?"),
        ("l-diversity column=disease l=4", "all rows as one class reach only l = 3; use an l of at most 3"),
        ("t-closeness column=disease t=0.2 distance=ordered", "the ordered distance needs numbers or an ordinal"),
        ("t-closeness column=disease t=0.2 distance=hierarchical", "has no hierarchy"),
        ("k-map k=4", "needs a population"),
    ],
)  # fmt: skip
def test_promises_that_make_no_sense(mixed, call, require, message):
    status, out, err = call("run", "recipe.toml", "--require", require)
    assert (status, out) == (2, "")
    assert message in err
    assert CANARY not in err
    assert not (mixed / "release").exists()


def test_all_wrong_flags_come_at_once(mixed, call):
    wrong = ("--require", "t-closeness column=disease t=2", "--require", "l-diversity l=2", "--kk", "3", "stray")
    status, _, err = call("run", "recipe.toml", *wrong)
    assert status == 2
    for text in ("t-closeness.t: needs", "l-diversity.column: missing", "--kk: unknown flag", "'stray' is not a flag"):
        assert text in err
    status, _, err = call("run", "recipe.toml", "--suppress", "2")
    assert (status, "suppress: needs a number in [0, 1], got 2" in err) == (2, True)


def test_the_listing_of_models_says_what_they_are(call):
    listed = {entry["name"]: entry for entry in json.loads(call("models", "--json")[1])}
    columns = {name: {"column": "a"} if issubclass(one, ColumnRequirement) else {} for name, one in MODELS.items()}
    made = {name: one(**options_to_try(one, [*columns[name]])[0], **columns[name]) for name, one in MODELS.items()}
    assert set(listed) == set(made)
    for name, entry in listed.items():
        assert entry["advice"]
        assert entry["monotone"].startswith("yes" if made[name].monotone else "no")
        assert (entry["needs"] is None) == (made[name].needs is None)


def test_what_is_missing_and_what_is_taken_is_said_at_once_before_anything_is_read(place, call, monkeypatch):
    """A driver, the package that encrypts keys, and the places of release and report."""
    recipe = replaced(RECIPE, 'path = "people.csv"', 'path = "people.xlsx"')
    recipe += '\n[population]\npath = "everybody.db"\n\n[[publish]]\nname = "aliases"\ncolumn = "disease"\n'
    recipe = recipe.replace("[publish]\n", "[[publish]]\n")
    (place / "recipe.toml").write_text(recipe)
    (place / "release").write_text("taken")
    (place / "release.report.html").write_text("taken")
    for module in ("fastexcel", "adbc_driver_sqlite.dbapi", "cryptography.hazmat.primitives.ciphers.aead"):
        monkeypatch.setitem(sys.modules, module, None)
    status, _, err = call("run", "recipe.toml")
    assert status == 2
    assert "5 problems" in err
    for text in ("package fastexcel", "package adbc_driver_sqlite", "package cryptography", "release.report.html: is"):
        assert text in err
    assert sorted(one.name for one in place.iterdir()) == [
        "people.csv", "recipe.toml", "release", "release.report.html", "town.csv"
    ]  # fmt: skip


def test_places_that_no_release_can_take_are_said_before_anything_is_read(place, call, monkeypatch):
    Path("real").mkdir()
    Path("empty").symlink_to("real")
    Path("nowhere").symlink_to("not there")
    Path("mounted").mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "mounted")
    monkeypatch.setattr("shoal.pipeline.run", lambda *_, **__: pytest.fail("the work began"))
    told = {"empty": "is a link, and to no release", "nowhere": "is a link, and to no release"}
    told |= {"mounted": "is where a disk is mounted", "x" * 250: "File name too long"}
    for name, said in told.items():
        status, _, err = call("run", "recipe.toml", "--no-report", "--out", name)
        assert (status, said in err) == (2, True), err


def test_pipes_beside_a_release_and_in_it_hold_nobody_up(place, call):
    os.mkfifo("other.receipt.json")
    os.mkfifo("manifest.json")
    assert call("run", "recipe.toml")[0] == 0
    os.mkfifo("release/pipe")
    assert call("run", "recipe.toml", "--overwrite")[0] == 2
    os.mkfifo("page.html")
    assert call("report", "release", "--out", "page.html", "--overwrite")[0] == 2


def test_a_release_whose_name_is_no_utf_8(place, call):
    name = os.fsdecode(b"r\xff")
    assert call("run", "recipe.toml", "--out", name)[0] == 0
    assert call("verify", name)[0] == 0


@pytest.mark.parametrize("command", [["measure", "--membership"], ["report"]], ids=str)
def test_a_release_that_is_not_there_beside_its_recipe(place, call, command):
    status, _, err = call(command[0], "rlease", *command[1:], "--original", "recipe.toml")
    assert (status, "rlease: does not exist" in err) == (2, True)


def test_a_working_directory_that_is_gone(place, call, monkeypatch):
    Path("gone").mkdir()
    monkeypatch.chdir(place / "gone")
    (place / "gone").rmdir()
    status, _, err = call("init", str(place / "people.csv"))
    assert (status, "the working directory: is not there any more" in err) == (2, True)


def test_only_a_release_is_replaced_and_nothing_beside_its_files(place, call):
    """Others have a manifest.json, too; and who keeps notes in a release keeps them."""
    assert call("run", "recipe.toml", "--no-report")[0] == 0
    Path("release", "notes.txt").write_text("mine")
    status, _, err = call("run", "recipe.toml", "--no-report", "--overwrite")
    assert (status, "no part of the release, and would be lost: notes.txt" in err) == (2, True)
    Path("site").mkdir()
    Path("site", "manifest.json").write_text('{"name": "my page"}')
    status, _, err = call("run", "recipe.toml", "--no-report", "--overwrite", "--out", "site")
    assert (status, "site: is no release, so it is not replaced" in err) == (2, True)


def test_a_demo_replaces_a_demo_only(place, call):
    """A folder with a recipe is the work of somebody."""
    project = Path("project")
    project.mkdir()
    for name in ("recipe.toml", "people.csv"):
        (project / name).write_bytes(Path(name).read_bytes())
    status, _, err = call("demo", "--rows", "40", "--k", "3", "--out", "project", "--overwrite")
    assert (status, "is no demo, so it is not replaced" in err) == (2, True)
    assert call("demo", "--rows", "40", "--k", "3")[0] == 0
    Path("shoal-demo", "mine.csv").write_text("mine")
    status, _, err = call("demo", "--rows", "40", "--k", "3", "--overwrite")
    assert (status, "would be lost: mine.csv" in err) == (2, True)
