"""Another package adds a method, a model, a publisher and a measure: by installing, and by one call."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import Problems, ShoalWarning
from shoal.methods.base import Method
from shoal.methods.groups import Groups
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.publish.base import Publisher
from shoal.registry.declarations import Of, Promised
from shoal.registry.declared import K_ANONYMITY, MEASURE_CLASSES, METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES
from shoal.registry.registry import Registry
from shoal.spec import ColumnName, Real, Whole, param
from support.registered import REPEATED
from support.rivals import installer

REGISTRIES = {
    "methods": METHOD_CLASSES,
    "models": MODEL_CLASSES,
    "publishers": PUBLISHER_CLASSES,
    "measures": MEASURE_CLASSES,
}
PACKAGE = Path(__file__).with_name("plugin_package")
ROWS = "age,town,disease\n" + "".join(
    f"{20 + 3 * row},{('Bo', 'Ada', 'Cy')[row % 3]},{('flu', 'ulcer', 'cold')[row % 3]}\n" for row in range(12)
)
RECIPE = """
seed = 7
[source]
path = "people.csv"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.town]
role = "quasi"
kind = "nominal"
[columns.disease]
role = "sensitive"
kind = "nominal"
[method]
name = "sort-cut"
k = 2
[[require]]
model = "value-spread"
column = "disease"
c = 3
p = 0.5
[publish]
name = "floor"
step = 5.0
"""


# -- installed --------------------------------------------------------------------------------------------------------


class Scratch:
    """An environment that has the package besides all that this one has, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder, environment = folder / "work", folder / "environment"
        self.folder.mkdir()
        venv.create(environment, with_pip=False, symlinks=True)
        self.python = environment / "bin" / "python"
        packages = next((environment / "lib").glob("python*/site-packages"))
        seen = [Path(shoal.__file__).parents[1], Path(pl.__file__).parents[1]]
        (packages / "seen.pth").write_text("".join(f"{path}\n" for path in seen))
        self.package = shutil.copytree(PACKAGE, folder / "package")
        self._install()

    def _install(self) -> None:
        offline = ["--no-index", "--no-deps", "--no-build-isolation", str(self.package)]
        subprocess.run([*installer(self.python), *offline], check=True)

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run Python with some arguments; what it prints."""
        hidden = {"PYTHONPATH", "PYTEST_ADDOPTS"}
        environment = {key: value for key, value in os.environ.items() if key not in hidden}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # half a second of imports, of which no test makes use
        found = subprocess.run(
            [self.python, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        assert found.returncode == status, found.stdout + found.stderr
        return found.stdout + found.stderr

    def shoal(self, *arguments: str, status: int = 0) -> str:
        """Run the command."""
        return self.run("-m", "shoal", *arguments, status=status)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    made = Scratch(tmp_path_factory.mktemp("plugins"))
    (made.folder / "people.csv").write_text(ROWS)
    (made.folder / "recipe.toml").write_text(RECIPE)
    return made


@pytest.fixture(scope="module")
def release(scratch):
    """A release that the package's method, model and publisher made, from a recipe on the command line."""
    scratch.shoal("run", "recipe.toml", "--out", "release", "--quiet")
    return scratch.folder / "release"


COMMANDS = """
import contextlib, io, json, sys
from shoal.cli import main
told = []
for line in json.loads(sys.argv[1]):
    sys.argv = ["shoal", *line]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as end:
            assert not end.code, line
    told.append(json.loads(out.getvalue()))
print(json.dumps(told))
"""
FLAGS = ("--method", "sort-cut", "--k", "3", "--descending", "true", "--publish", "floor", "--step", "10")
ASKED = ("--require", "value-spread column=disease c=2 p=0.7")
LISTED = {
    "methods": "sort-cut",
    "models": "value-spread",
    "publishers": "floor",
    "measures": "class_size_range",
}
LINES = {
    "verify": ("verify", "release", "--json"),
    "run": ("run", "plain.toml", "--out", "flagged", "--json", *FLAGS, *ASKED),
    "measure": ("measure", "release", "--measure", "class_size_range", "--json"),
    **{command: (command, "--json") for command in LISTED},
}


@pytest.fixture(scope="module")
def told(scratch, release):
    """What commands say where the package is installed, in one process."""
    plain = RECIPE.replace('name = "sort-cut"', 'name = "mondrian"').split("[[require]]")[0]
    (scratch.folder / "plain.toml").write_text(plain)
    said = json.loads(scratch.run("-c", COMMANDS, json.dumps([*LINES.values()])))
    return dict(zip(LINES, said, strict=True))


def test_a_recipe_runs_on_the_command_line(scratch, release):
    manifest = json.loads((release / "manifest.json").read_text())
    assert manifest["recipe"]["method"] == {"name": "sort-cut", "k": 2, "descending": False}
    assert manifest["recipe"]["publish"] == {"name": "floor", "step": 5.0}
    assert [one["model"] for one in manifest["promise"]] == ["k-anonymity", "value-spread"]
    table = pl.read_csv(release / "table.csv")
    assert set(table["age"] % 5) == {0}
    for values in table.group_by("age", "town").agg("disease")["disease"]:  # k = 2 would not hold three values
        assert values.n_unique() == 3
        assert values.value_counts()["count"].max() <= len(values) / 2


def test_the_checker_and_flags_know_what_was_installed(told, release):
    assert told["verify"]["holds"]
    assert told["verify"]["achieved"]["spread(c=3):disease"] <= 0.5
    entries, again = json.loads((release / "manifest.json").read_text()), told["run"]["manifest"]
    assert again["recipe"]["method"] == {"name": "sort-cut", "k": 3, "descending": True}
    assert again["recipe"]["require"] == [{"model": "value-spread", "column": "disease", "c": 2, "p": 0.7}]
    assert again["recipe"]["publish"] == {"name": "floor", "step": 10.0}
    assert entries["shoal"] == again["shoal"]


@pytest.mark.parametrize(("command", "name"), LISTED.items())
def test_listings_have_what_was_installed(told, command, name):
    listed = {one["name"]: one for one in told[command]}
    assert listed[name]["title"]
    assert set(listed) == {*REGISTRIES[command].own, name}


def test_the_measure_is_worked_out_of_a_release(told, release):
    sizes = pl.read_csv(release / "table.csv").group_by("age", "town").len()["len"]
    assert told["measure"] == {"class_size_range": sizes.max() - sizes.min()}


def test_the_package_passes_the_contract(scratch):
    options = ("-p", "no:cacheprovider", "-q", "-W", "error", "--import-mode=importlib", "--assert=plain")
    told = scratch.run("-m", "pytest", *options, "--rootdir", str(scratch.package), str(scratch.package / "tests"))
    assert re.search(r"^20 passed", told, re.MULTILINE), told


def test_without_the_package_a_release_of_it_is_refused_by_name(release):
    with pytest.raises(shoal.GuaranteeError) as refused:
        shoal.read_release(release).verify()
    said = [str(problem) for problem in refused.value.problems]
    fix = "install the package that brings it: without it nothing is checked"
    assert said[:4] == [
        f"recipe.method: the method 'sort-cut' is not known here; {fix}",
        f"recipe.publish: the publisher 'floor' is not known here; {fix}",
        f"recipe.require: the model 'value-spread' is not known here; {fix}",
        f"promise: the model 'value-spread' is not known here; {fix}",
    ]


def test_without_the_package_a_recipe_for_it_is_refused_by_name():
    with pytest.raises(shoal.ShoalError) as refused:
        shoal.Recipe.from_toml(RECIPE)
    assert [problem.where for problem in refused.value.problems] == ["method.name", "publish.name", "require[0].model"]
    assert all("unknown name" in problem.what and problem.fix for problem in refused.value.problems)


# -- registered by a call ---------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_added(monkeypatch):
    """Registries that forget what a test adds."""
    for registry in REGISTRIES.values():
        monkeypatch.setattr(registry, "_loaded", dict(registry._loaded))


@dataclass(frozen=True)
class InTurn(Method):
    """Rows in groups of k as they come."""

    name: ClassVar[str] = "in-turn"
    title: ClassVar[str] = "as they come"
    paper: ClassVar[str] = "none"
    complexity: ClassVar[str] = "O(n)"
    advice: ClassVar[str] = "none"

    k: int = param(Whole(2), "smallest group size")

    def partition(self, task, rng, progress=None):
        n_rows = task.encoded.n_rows
        return Groups(np.minimum(np.arange(n_rows) // self.k, n_rows // self.k - 1))


@dataclass(frozen=True)
class OddShare(ColumnRequirement):
    """Not monotone: at most p of a class has the value that is named `odd`."""

    name: ClassVar[str] = "odd-share"
    title: ClassVar[str] = "at most p odd ones"
    measures: ClassVar[str] = "odd"
    paper: ClassVar[str] = "none"
    advice: ClassVar[str] = "none"

    column: str = param(ColumnName(), "sensitive column")
    p: float = param(Real(0, 1), "largest share")

    def per_class(self, classes):
        odd = np.array([value == "odd" for value in classes.columns[self.column].series.to_list()])
        return np.bincount(classes.labels, weights=odd) / classes.sizes

    def enough(self, reached):
        return reached <= self.p + 1e-9

    def shortfall(self, reached, classes):
        return reached - self.p

    def nearest(self, reached):
        return f"use a p of at least {reached:g}"


class Leaves(InTurn):
    """Ends the program where it is looked at."""

    name: ClassVar[str] = "leaves"

    @classmethod
    def check_declared(cls, where, problems):
        raise SystemExit("bye")


FRAME = pl.DataFrame({"a": list(range(12)), "s": ["odd", "odd", "even", "even"] + ["even"] * 8})
SCHEMA = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive={"s": shoal.Nominal()})


def test_a_method_of_a_notebook_is_registered_by_one_call(nothing_added):
    with pytest.raises(
        shoal.ParameterError, match=r"method=: InTurn is not registered; call shoal\.register\(InTurn\)"
    ):
        shoal.anonymize(FRAME, SCHEMA, InTurn(k=3))
    assert shoal.register(InTurn) is InTurn
    release = shoal.anonymize(FRAME, SCHEMA, InTurn(k=3))
    assert release.verify().k == 3
    assert release.manifest.recipe.method == {"name": "in-turn", "k": 3}


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "method x: its partition returned NoneType; return Groups(labels), which has a whole number for"),
        (np.zeros(12, dtype=int), "method x: its partition returned ndarray; return Groups(labels), which has a whole"),
        (Groups(np.zeros(12)), "a method returned labels that are not whole numbers"),
    ],
)
def test_what_is_no_grouping_is_told(returned, said, nothing_added):
    shoal.register(bad(InTurn, name="x", partition=lambda self, task, rng, progress=None: returned))
    with pytest.raises(shoal.ShoalError, match=re.escape(said)):
        shoal.anonymize(FRAME, SCHEMA, METHOD_CLASSES["x"](k=3))


def test_a_cell_that_runs_again_registers_the_class_anew(nothing_added):
    def written():
        return dataclass(frozen=True)(type("InTurn", (InTurn,), {"__module__": "cell", "__qualname__": "InTurn"}))

    shoal.register(written())
    newer = written()
    shoal.register(newer)
    assert METHOD_CLASSES["in-turn"] is newer
    with pytest.raises(shoal.ParameterError, match="there is a method called 'in-turn' already"):
        shoal.register(InTurn)


def test_a_class_under_the_name_of_another_is_refused_before_any_work():
    @dataclass(frozen=True)
    class Impostor(InTurn):
        name: ClassVar[str] = "mondrian"

    with pytest.raises(shoal.ParameterError, match="method=: Impostor is called 'mondrian', and so is another"):
        shoal.anonymize(FRAME, SCHEMA, Impostor(k=3))
    with pytest.raises(shoal.ParameterError, match="there is a method called 'mondrian' already"):
        shoal.register(Impostor)


def test_a_model_that_no_kernel_knows_is_kept(nothing_added):
    """Groups of two that are near: the first has odd ones only, and must join others until they are few enough."""
    shoal.register(OddShare)
    one = OddShare("s", p=0.25)
    for refine in (None, shoal.Refine()):
        release = shoal.anonymize(FRAME, SCHEMA, shoal.Mdav(k=2), require=[one], refine=refine)
        assert release.verify().achieved["odd:s"] <= 0.25
        classes = release.table.group_by("a").agg(pl.len(), odd=(pl.col("s") == "odd").sum())
        assert (classes["odd"] <= classes["len"] / 4).all()
        assert classes.height > 1
    mixed = shoal.anonymize(
        FRAME, SCHEMA, shoal.Mondrian(k=2), require=[one, shoal.AlphaK("s", alpha=1), shoal.KAnonymity(k=3)]
    )
    assert mixed.verify().k >= 3
    assert mixed.verify().achieved["odd:s"] <= 0.25


def test_a_model_that_cannot_be_kept_is_refused_or_rows_are_suppressed(nothing_added):
    shoal.register(OddShare)
    with pytest.raises(shoal.InfeasibleError, match=r"all rows as one class reach only odd = 0\.166667; use a p of at"):
        shoal.anonymize(FRAME, SCHEMA, shoal.Mdav(k=2), require=[OddShare("s", p=0.1)])
    kept = shoal.anonymize(FRAME, SCHEMA, shoal.Mdav(k=2), require=[OddShare("s", p=0.2)], suppress=0.2)
    assert kept.verify().achieved["odd:s"] <= 0.2


# -- refused ----------------------------------------------------------------------------------------------------------


def bad(base, **attributes):
    return dataclass(frozen=True)(type("Bad", (base,), {"__module__": __name__, "__qualname__": "Bad", **attributes}))


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (5, "needs a method, a model, a publisher, a measure or an attack, got int"),
        (dict, "needs a method, a model, a publisher, a measure or an attack, got dict"),
        (bad(InTurn, name="In Turn"), "has the name 'In Turn'; use small letters, digits"),
        (bad(InTurn, name="x", title=None), "does not say its title"),
        (type("Bad", (InTurn,), {"name": "x"}), "is not a frozen dataclass"),
        (bad(Method, name="x"), "does not say: partition"),
        (bad(InTurn, name="x", __annotations__={"w": int}, w=3), "has parameters without bounds: w"),
        (
            bad(InTurn, name="x", __annotations__={"model": int}, model=param(Whole(1), "", default=2)),
            "has a parameter called model",
        ),
        (bad(InTurn, name="x", declaration=classmethod(lambda cls: cls.declare(()))), "promises nothing"),
        (
            bad(
                InTurn,
                name="x",
                declaration=classmethod(lambda cls: cls.declare((Promised("alpha-k", {"alpha": Of(("k",))}),))),
            ),
            "does not promise k-anonymity",
        ),
        (
            bad(
                InTurn,
                name="x",
                declaration=classmethod(lambda cls: cls.declare((*K_ANONYMITY, Promised("k-map", {"k": Of(("j",))})))),
            ),
            "promises 'k-map' of parameters that this model, or the method, does not have",
        ),
        (bad(OddShare, name="x", needs="luck"), "needs 'luck'; a model can need choices, a population, or nothing"),
        (bad(OddShare, name="x", measures="k"), "reports what it reaches as 'k', as a model of Shoal's own does"),
        (bad(Requirement, name="x"), "does not say: check, enough, per_class, shortfall"),
        (bad(shoal.Generalize, name="x"), "has no shape that the checker can read"),
        (bad(shoal.Generalize, name="x", shapes={None: "invariant"}), "has no shape that the checker can read"),
        (bad(shoal.Generalize, name="x", shapes={None: "buckets"}), "protects cells, and its shape does not"),
        (bad(Publisher, name="x"), "does not say: check, show"),
    ],
)
def test_what_is_not_complete_is_not_registered(thing, said, nothing_added):
    with pytest.raises(shoal.ParameterError, match=re.escape(said)):
        shoal.register(thing)
    assert "x" not in METHOD_CLASSES


def test_a_class_that_calls_itself_one_of_ours_does_not_take_its_place(nothing_added):
    impostor = bad(InTurn, name="mondrian", __module__=shoal.Mondrian.__module__, __qualname__="Mondrian")
    with pytest.raises(shoal.ParameterError, match="there is a method called 'mondrian' already"):
        shoal.register(impostor)
    assert METHOD_CLASSES["mondrian"] is shoal.Mondrian
    assert shoal.register(shoal.Mondrian) is shoal.Mondrian


@pytest.mark.parametrize("word", ["k", "l:s", "share"])
def test_a_model_reports_what_it_reaches_by_its_own_name(word, nothing_added):
    shoal.register(bad(OddShare, name="x", key=property(lambda self: word)))
    with pytest.raises(shoal.GuaranteeError, match=f"x: reports what it reaches as '{word}', and declares 'odd'"):
        shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), require=[MODEL_CLASSES["x"]("s", p=1.0)])


def test_a_model_that_fails_does_not_stand_in_the_way_of_others(nothing_added):
    def probes(cls, columns):
        raise ZeroDivisionError("flu")

    shoal.register(bad(OddShare, name="x", probes=classmethod(probes)))
    with pytest.warns(ShoalWarning, match="model 'x' is passed over: it fails with ZeroDivisionError$"):
        assert shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4)).verify().surveyed["k"] >= 4


# -- packages that are broken -----------------------------------------------------------------------------------------


def brought(monkeypatch, *entries: tuple[str, str]) -> Registry:
    found = [EntryPoint(name, value, "shoal.methods") for name, value in entries]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: found if group == "shoal.methods" else [])
    registry: Registry = Registry("shoal.methods", {"caat": "shoal.methods.caat:Caat"}, "a method")
    monkeypatch.setattr(InTurn, "registry", registry)
    return registry


def test_nothing_is_loaded_before_it_is_asked_for(monkeypatch):
    registry = brought(monkeypatch, ("gone", "no_such_module:Gone"), ("in-turn", f"{__name__}:InTurn"))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[InTurn.__module__])
    assert list(registry) == ["caat", "gone", "in-turn"]
    assert "gone" in registry
    assert "other" not in registry
    assert registry["in-turn"] is InTurn
    with pytest.raises(shoal.ParameterError, match="'gone': a package brings it, and it cannot be loaded: ModuleNotF"):
        registry["gone"]
    with pytest.warns(ShoalWarning, match="'gone': a package brings it"):
        assert dict(registry.loadable()) == {"caat": shoal.Caat, "in-turn": InTurn}
    with pytest.raises(KeyError):
        registry["other"]


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([("in-turn", "a:B"), ("in-turn", "c:D")], "is brought by more than one package"),
        ([("other", f"{__name__}:InTurn")], "has another name: 'in-turn'; write the same name twice"),
        ([("in-turn", f"{__name__}:OddShare")], "is not a method"),
        ([("in-turn", f"{__name__}:no_such_class")], "it cannot be loaded: AttributeError"),
        ([("leaves", f"{__name__}:Leaves")], "it cannot be loaded: SystemExit"),
    ],
)
def test_what_a_package_brings_wrongly_is_refused(monkeypatch, entries, said):
    registry = brought(monkeypatch, *entries)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[InTurn.__module__])
    with pytest.raises(shoal.ParameterError, match=said):
        registry[entries[0][0]]


def test_a_package_cannot_take_a_name_of_ours(monkeypatch):
    registry = brought(monkeypatch, ("caat", f"{__name__}:InTurn"))
    with pytest.warns(ShoalWarning, match="brings a method called 'caat', which Shoal has itself; it is passed over"):
        assert list(registry) == ["caat"]
    assert registry["caat"] is shoal.Caat


@pytest.mark.parametrize("registry", REGISTRIES.values(), ids=REGISTRIES)
def test_what_is_asked_of_other_packages_holds_here_too(registry):
    problems = Problems()
    for name in registry.own:
        if name not in REPEATED:  # which promise no k, and are not for one release alone
            registry._check(name, registry[name], name, problems)
    problems.raise_if_any(shoal.ParameterError)
