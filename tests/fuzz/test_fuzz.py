"""Damaged files of every sort: no mistake of ours, no canary in what is said, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import damage
from fuzz.calling import Done, call
from fuzz.cases import SORTS, Fuzzer
from fuzz.world import NAME, SECRET

# The library that writes workbooks leaves files open where a cell cannot be written.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
N_CASES = 154
"""A slice of what `make fuzz` tries: fourteen of every sort."""


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory) -> Fuzzer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_PASSPHRASE", "")
        patch.setattr("shoal.release.sealed.COST", (4, 8, 1))
        yield Fuzzer(tmp_path_factory.mktemp("fuzz"), seed=20)


def test_damaged_files_are_refused_in_words(fuzzer):
    tried, broken = set(), []
    for name, found in fuzzer.cases(range(N_CASES)):
        tried.add(name)
        broken += found
    assert broken == []
    assert tried == set(SORTS)


def test_the_same_seed_damages_alike(fuzzer):
    import random

    for change in (damage.bytes_damaged, damage.cells_damaged):
        data = (fuzzer.world / "people.csv").read_bytes()
        made = [[change(data, random.Random(f"3 {case}")) for case in range(50)] for _ in range(2)]
        assert made[0] == made[1]
        assert len(set(made[0])) > 25


@pytest.mark.parametrize(
    ("done", "left", "what"),
    [
        (Done(3, "InternalError: KeyError at x.py:1"), None, "status 3"),
        (Done(2, "Traceback (most recent call last):"), None, "a traceback"),
        (Done(2, f"column 'name': {NAME[:3]}\n│ {NAME[3:]}07"), None, f"{NAME} is said"),
        (Done(2, f"cannot read {SECRET}-one"), None, f"{SECRET} is said"),
        (Done(2, "refused"), "out/table.csv", "left behind: out/table.csv"),
        (Done(0, "done"), ".out.partial-00", "left behind: .out.partial-00"),
    ],
)
def test_the_fuzzer_notices(fuzzer, done, left, what):
    """Each sort of mistake, made on purpose."""
    before = fuzzer._there()
    if left is not None:
        (fuzzer.place / left).parent.mkdir(exist_ok=True)
        (fuzzer.place / left).write_text("x")
    assert what in list(fuzzer._broken(done, before))
    fuzzer._restore()
    assert fuzzer._there() == before
    assert list(fuzzer._broken(Done(2, "refused"), before)) == []


def test_output_is_caught_where_the_system_writes_it(tmp_path):
    done = call(["verify", str(tmp_path / "nowhere")])
    assert done.status == 2
    assert "nowhere" in done.said
    assert Path.cwd().exists()
