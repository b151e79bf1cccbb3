"""Eight processes at once on one destination, and on one state: one wins, the others end with 2 and lose nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import shoal
from support.small_recipe import RECIPE as SMALL
from support.small_recipe import TOWNS

PASSPHRASE = "several unrelated words"
TABLE = "name,age,town,disease\n" + "".join(
    f"p{row},{20 + row},{'Ao' if row % 2 else 'Bo'},{('flu', 'gout')[row % 2]}\n" for row in range(8)
)
RECIPE = SMALL.replace("[source]", "[source]\ndelimiter = ','\nencoding = 'utf-8'")
SERIES = RECIPE.replace('name = "mondrian"\nk = 3', 'name = "m-invariance"\nm = 2\nid = "name"\ncolumn = "disease"')
LAUNCHER = """
import contextlib, importlib, json, os, sys
import numba
from shoal.cli import app, main
import shoal.concerns.trials.other_method as others, shoal.pipeline, shoal.series, shoal.release.sealed as sealed
sealed.COST, others.others_of = (4, 8, 1), lambda *_: []
os.environ["SHOAL_PASSPHRASE"] = "several unrelated words"
def run(arguments, name):
    os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["shoal", *arguments]
    try:
        main()
    except SystemExit as end:
        with open("modules", "a") as file:
            print(*sys.modules, file=file)
        os._exit(end.code or 0)
numba.njit(lambda x: x)(1)  # makes ready what every kernel needs
app._commands()
for batch in json.loads(sys.argv[1]):
    children = []
    for number, arguments in enumerate(batch):
        child = os.fork()
        if not child:
            run(arguments, f"said-{number}")
        children.append(child)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps([statuses, [open(f"said-{number}").read() for number in range(len(batch))]]))
    for number in range(len(batch)):
        os.unlink(f"said-{number}")
    for name in set(open("modules").read().split()):  # so that no process of the next batch has to load it
        with contextlib.suppress(Exception):
            importlib.import_module(name)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("at once")
    for name, text in {"people.csv": TABLE, "town.csv": TOWNS, "recipe.toml": RECIPE, "series.toml": SERIES}.items():
        (place / name).write_text(text)
    return place


@pytest.fixture(scope="module")
def told(place):
    run = ["run", "recipe.toml", "--no-report", "--quiet", "--out", "release"]
    first = ["republish", "series.toml", "--state", "s.state", "--quiet"]
    next_one = [*first, "--previous", "one", "--out"]
    once = [[*run, "--out", "before"], [*first, "--out", "one"]]
    batches = [once, [run] * 8, [[*next_one, f"two-{number}"] for number in range(8)]]
    line = [sys.executable, "-c", LAUNCHER, json.dumps(batches)]
    made = subprocess.run(line, cwd=place, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in made.stdout.splitlines()]


def test_one_destination(place, told):
    statuses, said = told[1]
    assert sorted(statuses) == [0] + [2] * 7
    late = [text for text, status in zip(said, statuses, strict=True) if status]
    assert all("release: exists already" in text or "meanwhile" in text for text in late), late
    shoal.read_release(place / "release", place / "release.receipt.json")


def test_one_state(place, told):
    """Seeds differ, the table is the same: whoever comes second follows a state that is gone, whatever it made."""
    statuses, said = told[2]
    assert sorted(statuses) == [0] + [2] * 7
    late = [text for text, status in zip(said, statuses, strict=True) if status]
    assert all("another release was written since it was read" in text for text in late)
    (winner,) = place.glob("two-?")
    state = shoal.SeriesState.read(place / "s.state", PASSPHRASE)
    assert state.fingerprints()[1:] == [shoal.read_release(winner).manifest.fingerprint()]
    assert [path.name for path in place.iterdir() if path.name.startswith(".")] == []
