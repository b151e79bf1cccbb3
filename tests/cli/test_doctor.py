"""What the doctor sees, and when it says that something is broken."""

from __future__ import annotations

import json
import os
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import shoal
from shoal.cli import doctor

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def versions(monkeypatch):
    """A way to have packages of other versions, or none."""
    true = metadata.version

    def pretend(**others: str | None) -> None:
        def version(name: str) -> str:
            found = others.get(name.replace("-", "_"), "as it is")
            if found is None:
                raise metadata.PackageNotFoundError(name)
            return true(name) if found == "as it is" else found

        monkeypatch.setattr(doctor.metadata, "version", version)

    return pretend


def test_where_all_is_well(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = call("doctor", "--json")
    found = json.loads(out)
    assert (status, err, found["problems"]) == (0, "", [])
    assert found["shoal"] == shoal.__version__
    assert [one["name"] for one in found["libraries"]] == [need.split(">")[0] for need in PROJECT["dependencies"]]
    assert all(one["version"] == metadata.version(one["name"]) for one in found["libraries"])
    extras = {one["name"] for one in found["extras"]}
    assert extras == set(PROJECT["optional-dependencies"]) - {"test", "mutants", "all"}
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["memory"] > 2**28
    assert os.path.isdir(found["cache"]["path"])  # noqa: PTH112
    assert found["working_directory"] == {"path": str(tmp_path), "writable": True}
    status, out, err = call("doctor")
    assert (status, err) == (0, "")
    assert out.endswith("All that Shoal needs is there.\n")
    assert str(tmp_path) in out


def test_a_missing_extra_is_no_problem_and_comes_with_its_line(call, versions):
    versions(fastexcel=None, scikit_learn="1.2.3")
    status, out, _ = call("doctor", "--json")
    found = {one["name"]: one for one in json.loads(out)["extras"]}
    assert status == 0
    assert found["excel"]["missing"] == ["fastexcel (is not installed)"]
    assert found["excel"]["install"].endswith("[excel]'")
    assert found["learning"]["missing"] == ["scikit-learn (version 1.2.3 is too old, 1.6 is needed)"]
    assert found["sqlite"] == {"name": "sqlite", "installed": True, "missing": [], "install": None}
    assert "extra excel        needs fastexcel (is not installed); run: " in call("doctor")[1]


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"scipy": None}, "scipy: is not installed"),
        ({"polars": "1.9"}, "polars: version 1.9 is too old, 2.0 is needed"),
    ],
    ids=str,
)
def test_a_library_that_is_needed(call, versions, others, said):
    versions(**others)
    status, out, _ = call("doctor")
    assert status == 2
    assert f"PROBLEM {said}; run: " in out
    assert out.endswith("Something that Shoal needs is broken.\n")


def test_a_library_that_cannot_be_loaded(monkeypatch):
    monkeypatch.setattr(doctor, "import_module", lambda name: 1 / 0)
    assert doctor.library("numpy>=2.0", load=True)["problem"] == "cannot be loaded (ZeroDivisionError)"
    assert doctor.library("numpy>=2.0")["problem"] is None


def test_an_installed_package_says_itself_what_it_needs(monkeypatch):
    lines = ["numpy>=2.0", 'fastexcel>=0.14; extra == "excel"', "shoal[excel]; extra == 'all'"]
    monkeypatch.setattr("shoal.machine.extras.checkout", lambda: None)
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: lines)
    assert doctor.requirements() == (["numpy>=2.0"], {"excel": ["fastexcel>=0.14"], "all": ["shoal[excel]"]})
