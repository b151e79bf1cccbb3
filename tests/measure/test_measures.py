"""Measures are declared, registered and asked for by name; a manifest has a closed set of them."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Literal

import polars as pl
import pytest

import shoal
from shoal import Nominal, Numeric, sample
from shoal.errors import ParameterError
from shoal.measure import IN_MANIFEST, IN_RECEIPT, MEASURES, measure, written_to
from shoal.measure.base import EVERY_SHAPE, Given, Measure
from shoal.spec import Whole, param

OWN = [name for name in MEASURES.own if MEASURES.home(name)]
SCHEMA = shoal.Schema(quasi={"age": Numeric(), "town": Nominal()}, sensitive=["disease"], neutral={"pay": Numeric()})
FRAME = pl.DataFrame(
    {
        "age": [20, 22, 24, 40, 44, 48, 60, 62],
        "town": ["Ao", "Ao", "Bo", "Bo", "Co", "Co", "Co", "Ao"],
        "disease": ["flu", "cold", "flu", "ulcer", "flu", "cold", "ulcer", "cold"],
        "pay": [1, 2, 1, 3, 3, 2, 1, 5],
    }
)
NOT_OF_FRAME = ("c_avg", "proximity_breach", "il4", "il5")
"""No k is promised, no number is sensitive, one quasi-identifier is a number."""
METHODS = {
    "text": (shoal.Mondrian(k=2), shoal.Generalize()),
    "typed": (shoal.Mondrian(k=2), shoal.Generalize(shape="typed")),
    "classes": (shoal.Mondrian(k=2), shoal.Generalize(shape="classes")),
    "values": (shoal.Mdav(k=2), shoal.Aggregate()),
    "centres": (shoal.Mdav(k=2), shoal.Centres()),
    "buckets": (shoal.Anatomy(l=2), None),
    "slices": (shoal.Slicing(l=2, groups={"age": 1, "town": 1, "disease": 2, "pay": 2}), None),
}


def release_of(shape: str) -> shoal.Release:
    method, publish = METHODS[shape]
    return shoal.anonymize(FRAME, SCHEMA, method, publish=publish, seed=1)


@pytest.fixture(scope="module")
def releases() -> dict[str, shoal.Release]:
    return {shape: release_of(shape) for shape in METHODS}


@pytest.fixture
def scratch(monkeypatch):
    """A registry that forgets what a test adds."""
    monkeypatch.setattr(MEASURES, "_homes", dict(MEASURES._homes))
    monkeypatch.setattr(MEASURES, "_loaded", dict(MEASURES._loaded))
    return MEASURES


# -- declared ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OWN)
def test_everything_is_declared(name):
    one, home = MEASURES[name], MEASURES.home(name)
    assert one.name == name == home.split(":")[0].rpartition(".")[2], "one file per measure, of its name"
    for text in (one.title, one.formula, one.reference):
        assert text == text.strip() != ""
    assert one.needs in ("release", "original")
    assert one.direction in ("lower", "higher", "neither")
    assert one.range[0] < one.range[1]
    assert set(one.shapes) <= set(EVERY_SHAPE)
    assert len(set(one.shapes)) == len(one.shapes) > 0
    assert all(key.partition(":")[0] == name for key in one.figure_names())
    assert one.needs == "release" or name not in IN_MANIFEST


def test_every_file_with_a_measure_is_registered():
    homes = {MEASURES.home(name).partition(":")[0] for name in OWN}
    package = import_module("shoal.measure")
    for file in sorted(Path(package.__path__[0]).glob("*.py")):
        module = import_module(f"shoal.measure.{file.stem}")
        declared = [
            one
            for one in vars(module).values()
            if isinstance(one, type)
            and issubclass(one, Measure)
            and one.__module__ == module.__name__
            and not one.__abstractmethods__
        ]
        assert bool(declared) == (module.__name__ in homes), file.name


def test_where_figures_are_found():
    assert [written_to(name) for name in ("ncp", "sse", "pair_error")] == ["manifest", "receipt", None]
    assert not set(IN_MANIFEST) & set(IN_RECEIPT)


def test_nothing_is_loaded_before_it_is_asked_for():
    code = "import sys, shoal.measure as m; print('shoal.measure.ncp' in sys.modules, 'numba' in sys.modules); "
    code += "m.MEASURES['ncp']; print('shoal.measure.ncp' in sys.modules, 'shoal.measure.il' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False", "True", "False"]


# -- the closed set of a manifest --------------------------------------------------------------------------------------

ORDER = (
    "il_total", "il", "ncp", "classes", "class_size_min", "class_size_median", "class_size_max", "discernibility",
    "c_avg", "rce", "rce_bound", "cm", "prosecutor_max", "prosecutor_mean", "prosecutor_high_share",
)  # fmt: skip
MISSING_FROM = {
    "text": {"rce", "rce_bound"},
    "typed": {"rce", "rce_bound"},
    "classes": {"rce", "rce_bound"},
    "values": {"il_total", "il", "ncp", "rce", "rce_bound"},
    "centres": {"il_total", "il", "ncp", "rce", "rce_bound"},
    "buckets": {"c_avg"},
    "slices": {"c_avg", "rce", "rce_bound", "prosecutor_max", "prosecutor_mean", "prosecutor_high_share"},
}


@pytest.mark.parametrize("shape", METHODS)
def test_a_manifest_has_its_figures_in_one_order(releases, shape):
    assert releases[shape].manifest.layout.shape == shape
    found = list(releases[shape].manifest.measures)
    assert list(dict.fromkeys(key.partition(":")[0] for key in found)) == [
        name for name in ORDER if name not in MISSING_FROM[shape]
    ]


@pytest.mark.parametrize("shape", METHODS)
def test_figures_are_those_of_the_measures_one_by_one(releases, shape):
    release = releases[shape]
    alone = shoal.Release(release.frames, release.manifest)
    found: dict[str, float] = {}
    for name in IN_MANIFEST:
        if shape in MEASURES[name].shapes:
            found |= alone.measure(name)
    assert found == alone.measure() == release.manifest.measures


@pytest.mark.parametrize("shape", METHODS)
def test_figures_are_in_their_range(releases, shape):
    for name in OWN:
        if shape not in MEASURES[name].shapes:
            continue
        low, high = MEASURES[name].range
        found = releases[shape].measure(name, original=FRAME, schema=SCHEMA)
        assert found or name in NOT_OF_FRAME, name
        for key, value in found.items():
            assert low <= value <= high, key
            patterns = [re.escape(one).replace("<column>", r"\w+") for one in MEASURES[name].figure_names()]
            assert any(re.fullmatch(pattern, key) for pattern in patterns), key


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_by_hand():
    frame = pl.DataFrame({"age": [20, 30, 50, 60, 60], "disease": ["a", "b", "a", "a", "b"]})
    schema = shoal.Schema(quasi={"age": Numeric()}, sensitive=["disease"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    assert sorted(release.table["age"]) == ["[20, 30]"] * 2 + ["[50, 60]"] * 3
    by_hand = {
        "il_total": 5 / 4,
        "il": 1 / 4,
        "ncp": 1 / 4,
        "classes": 2,
        "class_size_min": 2,
        "class_size_median": 2.5,
        "class_size_max": 3,
        "discernibility": 4 + 9,
        "c_avg": 5 / 2 / 2,
        "prosecutor_max": 1 / 2,
        "prosecutor_mean": 2 / 5,
        "prosecutor_high_share": 1.0,
        "sse": ((5**2 * 2) + (20 / 3) ** 2 + 2 * (10 / 3) ** 2) / 264,
        "square_error": ((5**2 * 2) + (20 / 3) ** 2 + 2 * (10 / 3) ** 2) / 264,
        "membership_ratio": (2 * 2 + 2 * 2 - 5) / 5,
        "membership_chance": 5 / 8,
    }
    for name, value in by_hand.items():
        assert release.measure(name, original=frame, schema=schema)[name] == pytest.approx(value), name
    assert release.measure("cm") == {"cm:disease": pytest.approx(2 / 5)}
    assert release.measure("ncp")["ncp:age"] == pytest.approx(1 / 4)


def test_of_buckets_by_hand():
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "disease": ["a", "b", "a", "b"]})
    release = shoal.anonymize(
        frame, shoal.Schema(quasi={"age": Numeric()}, sensitive=["disease"]), shoal.Anatomy(l=2), seed=1
    )
    assert release.measure("rce") == {"rce:disease": 2.0}
    assert release.measure("rce_bound") == {"rce_bound:disease": 2.0}
    assert release.measure("prosecutor_max") == {"prosecutor_max": 1.0}, "everybody is seen"


# -- asked for by name -------------------------------------------------------------------------------------------------


def test_the_holder_gets_exact_figures(releases):
    frame = pl.DataFrame({"zip": ["10115", "10117", "10119", "20095", "20097", "20099", "80331", "80333"]})
    schema = shoal.Schema(quasi={"zip": Nominal(shoal.Prefixes(keep=(2,)))})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    assert release.measure("ncp") == {key: release.measure()[key] for key in ("ncp", "ncp:zip")}
    assert release.measure("ncp") != shoal.Release(release.frames, release.manifest).measure("ncp")


@pytest.mark.parametrize("shape", ["text", "values"])
def test_squared_errors_from_the_receipt_or_the_input(releases, shape):
    release = releases[shape]
    for name in IN_RECEIPT:
        held = release.measure(name)
        assert held == {name: release.measure()[name]}
        bare = shoal.Release(release.frames, release.manifest, release.labels)
        assert bare.measure(name, original=FRAME, schema=SCHEMA) == held


def test_squared_errors_of_rows_that_were_dropped():
    frame = pl.DataFrame({"age": [None, 20, 22, 40, 44]})
    schema = shoal.Schema(quasi={"age": Numeric()})
    release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), missing="drop")
    assert release.measure("sse", original=frame, schema=schema) == release.measure("sse")


def test_what_is_not_in_any_document(releases):
    release = releases["slices"]
    found = release.membership(FRAME)
    assert release.measure("membership_ratio", original=FRAME) == {"membership_ratio": found.ratio}
    assert release.measure("membership_chance", original=FRAME) == {"membership_chance": found.chance}
    pairs = {f"pair_error:{one}:{other}": value for (one, other), value in release.pair_errors(FRAME).items()}
    assert release.measure("pair_error", original=FRAME) == pairs
    asked = {"name": "membership_ratio", "original": FRAME, "schema": SCHEMA}
    assert releases["classes"].measure(**asked) == releases["text"].measure(**asked)
    estimate = release.measure("membership_ratio", original=FRAME.to_pandas(), most=0, draws=1000, seed=3)
    assert estimate["membership_ratio"] == pytest.approx(found.ratio, rel=0.2)


def test_a_label_is_a_parameter_of_one_measure(releases):
    assert set(releases["text"].measure("cm", label="pay")) == {"cm:disease", "cm:pay"}
    with pytest.raises(ParameterError, match=r"measure ncp\.label: unknown key"):
        releases["text"].measure("ncp", label="pay")


@pytest.mark.parametrize(
    ("shape", "name", "arguments", "fragments"),
    [
        ("text", "npc", {}, ["measure: unknown name 'npc'; did you mean 'ncp'?"]),
        ("text", "ncp", {"sed": 3}, ["measure ncp.sed: unknown key"]),
        ("text", "membership_ratio", {"original": FRAME, "sed": 3, "draws": 1}, ["sed: unknown key", "draws: needs a"]),
        ("slices", "prosecutor_max", {}, ["measure prosecutor_max", "of the shape 'slices'", "text, typed, classes"]),
        ("values", "ncp", {}, ["of the shape 'values'"]),
        ("text", "pair_error", {}, ["measure pair_error: compares a release with its input, and none is given"]),
        ("text", "sse", {"original": FRAME}, ["schema=: is needed to read the input"]),
        ("text", "sse", {"original": FRAME[:4], "schema": SCHEMA}, ["has 4 rows, the release was made of 8"]),
        ("text", None, {"original": FRAME, "seed": 3}, ["2 problems", "measure(original=): is for one measure"]),
    ],
)
def test_what_cannot_be_measured(releases, shape, name, arguments, fragments):
    with pytest.raises(ParameterError, match=r"measure|schema|original") as caught:
        releases[shape].measure(name, **arguments)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_files_do_not_say_who_was_grouped(tmp_path, releases):
    folder = releases["text"].write(tmp_path / "release")
    with pytest.raises(ParameterError, match="2 problems") as caught:
        shoal.read_release(folder).measure("sse")
    assert "read the release with its receipt" in str(caught.value)
    held = shoal.read_release(folder, tmp_path / "release.receipt.json")
    assert held.measure("sse") == releases["text"].measure("sse")


# -- of other packages -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown(Measure):
    """Share of the rows of the input that are shown, several times."""

    name: ClassVar[str] = "shown"
    title: ClassVar[str] = "rows shown"
    formula: ClassVar[str] = "times * published rows / rows of the input"
    reference: ClassVar[str] = "a test"
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "higher"
    shapes: ClassVar[tuple[str, ...]] = ("text", "slices")

    times: int = param(Whole(1), "how often", default=1)

    def entries(self, given: Given) -> dict[str, float]:
        assert given.original is not None
        return {self.name: self.times * given.rows.height / given.original.height}


def test_a_measure_of_another_package(scratch, tmp_path, releases):
    scratch.register(Shown)
    for shape in ("text", "slices"):
        release = release_of(shape)
        assert release.measure("shown", original=FRAME) == {"shown": 1.0}
        assert release.measure("shown", original=FRAME, times=3) == {"shown": 3.0}
        assert "shown" not in release.manifest.measures
        assert "shown" not in release.measure()
        assert "shown" not in measure(release.frames, release.manifest)
        assert release.manifest == releases[shape].manifest
    folder = release.write(tmp_path / "release")
    for document in (folder / "manifest.json", tmp_path / "release.receipt.json"):
        assert "shown" not in document.read_text(encoding="utf-8")
    assert shoal.read_release(folder).measure("shown", original=FRAME) == {"shown": 1.0}
    with pytest.raises(ParameterError, match="says nothing of a release of the shape 'values'"):
        releases["values"].measure("shown", original=FRAME)


def test_no_other_package_takes_the_place_of_a_measure(scratch):
    taken = dataclass(frozen=True)(type("Taken", (Shown,), {"name": "ncp", "__annotations__": {}}))
    with pytest.raises(ParameterError, match="there is a measure called 'ncp' already"):
        scratch.register(taken)
    assert scratch["ncp"] is not taken


# -- of a crash that was ---------------------------------------------------------------------------------------------


def test_figures_of_slices_in_files_with_trees_that_a_rule_grew():
    people = sample.people(300, seed=5)
    one, other = (
        shoal.anonymize(
            people,
            sample.schema(),
            shoal.Slicing(l=3, sensitive_apart=True, p=3),
            missing="drop",
            seed=5,
            publish=publish,
        )
        for publish in (shoal.Slices(), shoal.Slices(shape="files"))
    )
    assert one.measure() == other.measure()
    assert "ncp" in {figure.measure for figure in other.receipt.against_input}


# -- the command line --------------------------------------------------------------------------------------------------


def shown_by(capsys, *arguments: str) -> str:
    from typer.main import get_command

    from shoal.cli.app import app

    get_command(app).main(list(arguments), standalone_mode=False)
    return capsys.readouterr().out


def test_the_listing(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = shown_by(capsys, "measures")
    entries = json.loads(shown_by(capsys, "measures", "--json"))
    assert [entry["name"] for entry in entries if entry["name"] in OWN] == OWN
    for entry in entries:
        line = next(line for line in text.splitlines() if line.split()[:1] == [entry["name"]])
        assert entry["title"] in line
        assert entry["direction"] in line
        assert entry["needs"] in line
        assert {"written_to", "formula", "reference", "needs", "range", "shapes", "figures", "parameters"} <= set(entry)
    assert next(entry for entry in entries if entry["name"] == "c_avg")["range"] == [1.0, None]


def test_no_name_is_cut_short_on_a_narrow_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = shown_by(capsys, "measures").split()
    assert set(OWN) <= set(words)


def test_one_is_explained(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    text = shown_by(capsys, "measures", "membership_ratio")
    for fact in (MEASURES["membership_ratio"].formula, MEASURES["membership_ratio"].reference, "draws", "on request"):
        assert fact in text
    assert json.loads(shown_by(capsys, "measures", "ncp", "--json"))["figures"] == ["ncp", "ncp:<column>"]
    with pytest.raises(ParameterError, match="did you mean 'ncp'"):
        shown_by(capsys, "measures", "npc")


def test_the_listing_has_those_of_other_packages(capsys, scratch, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    scratch.register(Shown)
    assert "rows shown" in shown_by(capsys, "measures")
    assert json.loads(shown_by(capsys, "measures", "shown", "--json"))["written_to"] is None


def test_one_measure_of_files(capsys, scratch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scratch.register(Shown)
    FRAME.write_csv("people.csv")
    recipe = shoal.Recipe(schema=SCHEMA, method=shoal.Mondrian(k=2), source=shoal.Source(path="people.csv"), seed=1)
    (tmp_path / "recipe.toml").write_text(recipe.to_toml(), encoding="utf-8")
    release = shoal.run(recipe)
    release.write("release")
    asked = ["measure", "release", "--json", "--measure"]
    assert json.loads(shown_by(capsys, *asked, "ncp")) == release.measure("ncp")
    assert json.loads(shown_by(capsys, *asked, "shown", "--original", "recipe.toml")) == {"shown": 1.0}
    assert json.loads(shown_by(capsys, *asked, "cm", "--label", "pay")) == release.measure("cm", label="pay")
    found = json.loads(shown_by(capsys, *asked, "pair_error", "--original", "recipe.toml"))
    assert found == release.measure("pair_error", original=FRAME, schema=SCHEMA)
    assert "50.00 %" in shown_by(capsys, "measure", "release", "-m", "prosecutor_max")


def test_options_that_do_not_go_together(capsys):
    with pytest.raises(ParameterError, match=r"--measure: is for one measure"):
        shown_by(capsys, "measure", "release", "--original", "recipe.toml", "--membership", "-m", "ncp")
    with pytest.raises(ParameterError, match=r"--original: is for --membership, --measure and --by-person"):
        shown_by(capsys, "measure", "release", "--original", "recipe.toml")


def test_all_of_them_are_those_one_by_one():
    people, schema = shoal.sample.people(90, seed=1), shoal.sample.schema()
    release = shoal.anonymize(people, schema, shoal.Mondrian(k=5), seed=0)
    given = {"original": people, "schema": schema}
    found = release.measure("all", **given)
    names = {key.partition(":")[0] for key in found}
    assert {"ncp", "il1", "suda", "ncp_bound", "query_error", "journalist_max", "membership_ratio"} <= names
    assert "pmse" not in names
    assert release.measure("all", **given) == found  # to the last bit
    for name in ("il3", "marketer", "pair_divergence"):
        assert release.measure(name, **given).items() <= found.items()
    alone = release.public().measure("all")
    assert set(alone) < set(found)
    assert "suda:share" not in alone
    with pytest.raises(shoal.ParameterError):
        release.measure("all", **given, epsilon=3)
    with pytest.raises(shoal.ShoalError):  # not its input
        release.measure("all", original=shoal.sample.people(90, seed=2), schema=schema)


def test_what_cannot_be_worked_out_is_named(tmp_path):
    people, schema = shoal.sample.people(90, seed=1), shoal.sample.schema()
    shoal.anonymize(people, schema, shoal.Mdav(k=5), seed=0).write(tmp_path / "r")
    read = shoal.read_release(tmp_path / "r")
    with pytest.warns(
        shoal.ShoalWarning, match=r"not measured: il1, .*averages in files do not say it|not measured: sse"
    ):
        found = read.measure("all", original=people, schema=schema)
    assert "il2" in found
