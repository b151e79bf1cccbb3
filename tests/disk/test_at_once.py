"""Eight processes at once: exactly one of them wins, and nothing of the others stays."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, os, sys
import numba
import shoal.cli.app, shoal.pipeline, shoal.series
from shoal.cli import main
from shoal.release import sealed
sealed.COST = (4, 8, 1)  # keys that are found at once
numba.njit(lambda one: one)(1)  # what takes numba a second, once for all of them

def begun(line):
    child = os.fork()
    if child:
        return child
    status = 3
    try:
        for stream in (1, 2):
            os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        sys.argv = ["shoal", *line]
        main()
    except SystemExit as end:
        status = end.code
    os._exit(status or 0)

for lines in json.loads(sys.argv[1]):  # those of one list at once
    children = [begun(line) for line in lines]
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]), flush=True)
"""
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
"""
RUN = '\n[method]\nname = "mondrian"\nk = 2\n'
SERIES = '\n[method]\nname = "m-invariance"\nm = 2\nid = "name"\ncolumn = "disease"\n'


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOAL_PASSPHRASE", "correct horse battery")
    (tmp_path / "people.csv").write_text("name,age,disease\na,20,flu\nb,21,cold\nc,40,flu\nd,41,ulcer\n")
    (tmp_path / "run.toml").write_text(RECIPE + RUN)
    (tmp_path / "series.toml").write_text(RECIPE + SERIES)
    return tmp_path


def statuses(*lines):
    """The statuses of commands, those of each list begun at once."""
    line = [sys.executable, "-c", PROGRAM, json.dumps(lines)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return [json.loads(one) for one in done.stdout.splitlines()]


def test_on_one_new_destination(place):
    run = ["run", "run.toml", "--quiet", "--no-report", "--out"]
    first, eight, check = statuses([[*run, "before"]], [[*run, "out"]] * 8, [["verify", "out"]])
    assert (first, sorted(eight), check) == ([0], [0] + [2] * 7, [0]), (place / "said").read_text()
    assert (place / "said").read_text().count("exists already") + (place / "said").read_text().count("meanwhile") >= 7
    assert not [one for one in place.iterdir() if one.name.startswith(".")]


def test_on_one_state(place):
    """Each to a destination of its own: the second release of the series is there once."""
    again = ["republish", "series.toml", "--state", "s.state", "--out"]
    later = [*again[:-1], "--previous", "first", "--out"]
    first, eight = statuses([[*again, "first"]], [[*later, f"second-{number}"] for number in range(8)])
    assert first == [0], (place / "said").read_text()
    assert sorted(eight) == [0] + [2] * 7, (place / "said").read_text()
    (winner,) = [one.name for one in place.iterdir() if one.is_dir() and one.name.startswith("second-")]
    assert winner == f"second-{eight.index(0)}"
    check, third = statuses(
        [["verify-series", "first", winner]], [[*again[:-1], "--previous", winner, "--out", "third"]]
    )
    assert (check, third) == ([0], [0]), (place / "said").read_text()
    assert not [one for one in place.iterdir() if one.name.startswith(".")]
