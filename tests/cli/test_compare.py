"""`shoal compare`, as a user calls it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import shoal


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A table, a recipe and two releases of it."""
    folder = tmp_path_factory.mktemp("compare")
    people = shoal.sample.people(120, seed=1).drop("sex", "postcode", "marital_status")
    people.write_csv(folder / "people.csv")
    schema = shoal.sample.schema()
    schema = replace(schema, quasi={name: schema.quasi[name] for name in ("age", "education", "occupation")})
    recipe = shoal.Recipe(schema, shoal.Mondrian(k=4), shoal.Source(path="people.csv"), seed=0)
    (folder / "recipe.toml").write_text(recipe.to_toml())
    for k in (3, 8):
        shoal.anonymize(people, schema, shoal.Mondrian(k=k), seed=0).write(folder / f"k{k}")
    return folder


def test_a_grid_is_shown_and_the_recipe_to_take_is_written(place, call, tmp_path):
    out = tmp_path / "out"
    status, shown, _ = call(
        "compare", str(place / "recipe.toml"), "--method", "mondrian,caat", "--k", "3,8", "--jobs", "1",
        "--recommend", "loss, risk <= 0.2", "--out", str(out),
    )  # fmt: skip
    assert status == 0
    assert "unbeaten" in shown
    figures = json.loads((out / "comparison.json").read_text())
    assert set(figures["releases"]) == {"mondrian k=3", "mondrian k=8", "caat k=3", "caat k=8"}
    best = figures["recommended"]["release"]
    assert best in ("mondrian k=8", "caat k=8")
    recipe = shoal.Recipe.load(out / "recipe.toml")
    assert f"{recipe.method.name} k={recipe.method.k}" == best
    release = shoal.run(recipe)
    assert release.measure()["ncp"] == figures["releases"][best]["ncp"]
    assert {file.suffix for file in out.iterdir() if file.stem == "comparison"} == {".json", ".html", ".svg"}
    for file in out.rglob("*.*"):
        assert file.stat().st_mode & 0o077 == 0, file.name


STANDS_STILL = """
import time
from shoal.cli import main
from shoal.comparison.cache import Cache
keep = Cache.keep
def kept(*given):
    keep(*given)
    print("kept", flush=True)
    time.sleep(60)
Cache.keep = kept
main()
"""


def test_a_comparison_that_was_killed_goes_on(place, call, tmp_path):
    """A real process, killed when the first figures are there."""
    out = tmp_path / "out"
    line = ["compare", str(place / "recipe.toml"), "--method", "mondrian", "--k", "3,4,5", "--jobs", "1"]
    command = [sys.executable, "-c", STANDS_STILL, *line, "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as started:
        while (said := started.stdout.readline()) != "kept\n":
            assert said
        started.kill()
    assert started.returncode == -signal.SIGKILL
    (kept,) = out.glob("figures/*.json")
    times = {kept: kept.stat().st_mtime_ns}
    assert not (out / "comparison.json").exists()
    status, shown, _ = call(*line, "--out", str(out), "--json")
    assert status == 0
    found = json.loads(shown)["releases"]
    assert len(found) == 3
    assert times == {file: file.stat().st_mtime_ns for file in times}  # what was there was not worked out again
    anew = json.loads(call(*line, "--json")[1])["releases"]
    for row in (*found.values(), *anew.values()):
        del row["seconds"]
    assert found == anew


def test_json_has_everything(place, call):
    status, shown, _ = call(
        "compare", str(place / "recipe.toml"), "--method", "mondrian", "--k", "3,500", "--jobs", "1", "--json"
    )
    found = json.loads(shown)
    assert status == 0
    assert found["unbeaten"] == ["mondrian k=3"]
    assert list(found["failed"]) == ["mondrian k=500"]


def test_releases_are_compared(place, call):
    status, shown, _ = call("compare", str(place / "k3"), str(place / "k8"), "--json")
    assert status == 0
    assert json.loads(shown)["releases"][str(place / "k8")]["prosecutor_max"] == 1 / 9
    status, shown, _ = call(
        "compare", str(place / "k3"), str(place / "k8"), "--original", str(place / "recipe.toml"), "--json",
        "--measure", "membership_chance",
    )  # fmt: skip
    assert status == 0
    assert json.loads(shown)["releases"][str(place / "k3")]["membership_chance"] > 0


def test_requirements_are_alternatives(place, call):
    status, shown, _ = call(
        "compare", str(place / "recipe.toml"), "--method", "mondrian", "--jobs", "1", "--json",
        "--require", "none", "--require", "l-diversity column=disease l=2; alpha-k column=disease alpha=0.9",
    )  # fmt: skip
    plain, required = json.loads(shown)["releases"]
    assert status == 0
    assert plain == "mondrian k=4"
    assert "l-diversity(" in required
    assert "alpha-k(" in required


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["recipe.toml", "--k", "three"], "--k: needs whole numbers, separated by commas, got 'three'; write --k 3"),
        (
            ["recipe.toml", "--time", "5 parsecs"],
            "--time: cannot be read, got '5 parsecs'; write a number and one of s, m",
        ),
        (["recipe.toml", "--k", "x", "--time", "soon", "--memory", "lots"], "3 problems:"),
        (["recipe.toml", "--memory", "lots"], "--memory: cannot be read, got 'lots'"),
        (["recipe.toml", "--method", "mondriaan"], "did you mean 'mondrian'?"),
        (["recipe.toml", "--require", "l-diversity l=2"], "--require l-diversity.column: missing"),
        (["recipe.toml", "--measure", "ncpp", "--method", "mondrian"], "'ncpp' is no measure"),
        (["recipe.toml", "--jobs", "0", "--method", "mondrian"], "jobs=: needs a whole number"),
        (["recipe.toml", "--original", "recipe.toml"], "--original: is for releases"),
        (["k3", "recipe.toml"], "recipe.toml: is no release directory"),
        (["recipe.toml", "recipe.toml"], "got 2 files that are no releases"),
        (["k3", "k8", "--k", "3"], "--k: is for a recipe"),
        (["nowhere.toml"], "nowhere.toml"),
        (["recipe.toml", "--method", "mondrian", "--jobs", "1", "--k", "500"], "mondrian k=500: gives no release: "),
        (["recipe.toml", "--method", "mondrian", "--jobs", "1", "--recommend", "beauty"], "'beauty' is no figure"),
        (
            ["recipe.toml", "--method", "mondrian", "--jobs", "1", "--recommend", "loss, risk < 0.01"],
            "the best risk of all",
        ),
    ],
)
def test_bad_input_is_one_clear_error(place, call, monkeypatch, arguments, said):
    monkeypatch.chdir(place)
    status, shown, told = call("compare", *arguments)
    assert status == 2
    assert said in " ".join(told.split())
    assert "Traceback" not in told + shown


def test_what_was_found_is_there_though_nothing_keeps_the_bounds(place, call, tmp_path):
    arguments = ["--method", "mondrian", "--k", "3", "--jobs", "1", "--recommend", "loss, risk < 0.01"]
    status, shown, told = call("compare", str(place / "recipe.toml"), *arguments, "--out", str(tmp_path / "out"))
    assert status == 2
    assert "the best risk of all" in told
    assert "mondrian k=3" in shown
    assert (tmp_path / "out" / "comparison.json").is_file()
    assert not (tmp_path / "out" / "recipe.toml").exists()


def test_a_folder_that_cannot_be_is_refused_before_the_work(place, call, monkeypatch):
    monkeypatch.setattr("shoal.comparison.compare.run", None)
    before = sorted(place.iterdir())
    for out in (place / "people.csv", place / "people.csv" / "in" / "it", place / ("x" * 300)):
        status, shown, told = call("compare", str(place / "recipe.toml"), "--method", "mondrian", "--out", str(out))
        assert (status, shown) == (2, "")
        assert "is no folder" in told or "cannot be written" in told
    assert sorted(place.iterdir()) == before


def test_a_release_that_does_not_fit_its_manifest_is_refused(place, call, tmp_path):
    import shutil

    broken = shutil.copytree(place / "k3", tmp_path / "broken")
    text = (broken / "table.csv").read_text().splitlines()
    (broken / "table.csv").write_text("\n".join([*text[:-1], ""]) + "\n")
    status, _, told = call("compare", str(place / "k8"), str(broken))
    assert status == 1
    assert "table.csv" in told


def test_no_figure_is_written_into_a_release(place, call):
    before = sorted((place / "k3").rglob("*"))
    for out in (place / "k3", place / "k3" / "figures"):
        for what in ([str(place / "k8")], [str(place / "recipe.toml"), "--method", "mondrian", "--jobs", "1"]):
            status, _, told = call("compare", *what, "--out", str(out))
            assert status == 2
            assert "would lie inside a release" in told
    assert sorted((place / "k3").rglob("*")) == before


def test_a_recipe_of_the_user_is_never_replaced(place, call, tmp_path):
    text = (place / "recipe.toml").read_text()
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "recipe.toml").write_text(text.replace("people.csv", str(place / "people.csv")))
    own = (tmp_path / "here" / "recipe.toml").read_text()
    (tmp_path / "here" / "comparison.json").write_text("{}")  # an earlier comparison of this recipe, in its folder
    for folder in ("here", "there"):
        status, _, told = call(
            "compare", str(tmp_path / "here" / "recipe.toml"), "--method", "mondrian", "--k", "4", "--jobs", "1",
            "--recommend", "loss", "--out", str(tmp_path / folder),
        )  # fmt: skip
        assert status == 2
        assert "recipe.toml: would be replaced by the recommended recipe; choose another folder" in told
        assert (tmp_path / folder / "recipe.toml").read_text() == own
