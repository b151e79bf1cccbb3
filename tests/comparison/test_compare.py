"""Comparisons from end to end: budgets, what is left out, what goes on after a kill, samples."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace

import numba
import polars as pl
import pytest

import shoal
from shoal.comparison import compare as comparing
from shoal.comparison import figures as figuring
from shoal.comparison import planning, workers
from shoal.comparison.cache import Cache
from shoal.comparison.compare import compare_recipe, compare_releases
from shoal.comparison.figures import Wanted
from shoal.comparison.variants import grid
from shoal.comparison.workers import Outcome, Table, one_by_one, side_by_side

KINDS = ("age", "education", "occupation")
"""A quasi-identifier of each kind: every release is compared with the input by every pair of its columns."""
SCHEMA = replace(shoal.sample.schema(), quasi={name: shoal.sample.schema().quasi[name] for name in KINDS})


def people_of(n_rows, seed=1):
    return shoal.sample.people(n_rows, seed=seed).drop("sex", "postcode", "marital_status")


PEOPLE = people_of(120)
HERE = shoal.Budget(jobs=1)
METHODS = ["mondrian", "caat"]


def recipes(methods, k=(3,)):
    base = shoal.Recipe(SCHEMA, shoal.Mondrian(k=3), seed=0)
    return {one.name: one.recipe for one in grid(base, methods, k=k).variants}


def untimed(found):
    return {name: {key: value for key, value in row.items() if key != "seconds"} for name, row in found.figures.items()}


def test_no_time_that_compiling_takes(monkeypatch):
    """Kernels that a first run on a few rows did not need are compiled while a release is made."""
    took = []

    def compiling(*_):
        begun = time.perf_counter()
        numba.njit(lambda x: x + 1)(1)
        took.append(time.perf_counter() - begun)
        return release

    (recipe,) = recipes(["mondrian"]).values()
    release = figuring.tried(recipe, PEOPLE, Wanted())
    monkeypatch.setattr(figuring, "tried", compiling)
    assert figuring.figures(recipe, PEOPLE, Wanted())["seconds"] < took[0] / 2


def test_small_tables_have_a_first_run_too(monkeypatch):
    rows = []
    monkeypatch.setattr(workers, "tried", lambda _, frame, *__: rows.append(frame.height))
    (recipe,) = recipes(["mondrian"]).values()
    workers.outcome(recipe, Table(PEOPLE))
    assert rows == [PEOPLE.height]


def test_figures_are_those_of_the_release():
    found = shoal.compare(PEOPLE, SCHEMA, METHODS, k=[3, 6], budget=HERE)
    release = shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=6), seed=0)
    given = {"original": PEOPLE, "schema": SCHEMA}
    pairs = release.pair_errors(**given).values()
    beside = {
        "pair_error": sum(pairs) / len(pairs),
        "linking": release.attack(name="linking", **given)["linking"].success,
    }
    assert untimed(found)["mondrian k=6"] == release.measure() | beside
    assert list(found.figures) == ["mondrian k=3", "mondrian k=6", "caat k=3", "caat k=6"]
    assert found.recipes["caat k=6"].method == shoal.Caat(k=6)
    assert all(row["seconds"] > 0 for row in found.figures.values())


def test_one_size_one_method_and_one_measure_need_no_list():
    found = shoal.compare(PEOPLE, SCHEMA, shoal.Mondrian(k=4), k=3, measures="il", budget=HERE)
    assert list(found.figures) == ["mondrian k=3"]
    assert "il" in found.figures["mondrian k=3"]


def test_any_frame_is_compared():
    given = shoal.compare(PEOPLE.to_pandas(), SCHEMA, ["mondrian"], k=[3], budget=HERE)
    assert untimed(given) == untimed(shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE))


def test_every_shape_has_a_loss_and_a_risk():
    schema = replace(SCHEMA, sensitive={"disease": SCHEMA.sensitive["disease"]}, rest="drop")
    methods = [shoal.Mondrian(k=3), shoal.Mdav(k=3), shoal.Anatomy(l=2), shoal.Slicing(l=2)]
    found = shoal.compare(PEOPLE, schema, methods, budget=HERE)
    assert len(found.figures) == 4
    assert found.axes == {"loss": "pair_error", "risk": "linking", "time": "seconds"}
    risk = found.to_frame("risk")["risk"].to_list()
    assert all(0 <= one <= 1 for one in risk)
    assert risk[0] < 0.5 < risk[2]  # buckets show quasi-identifiers as they are


def test_accuracy_is_that_of_utility():
    target = {"target": "disease"}
    found = shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE, **target)
    wanted = shoal.utility(PEOPLE, SCHEMA, shoal.Mondrian(k=3), learners=["c45"], folds=3, **target)
    assert found.figures["mondrian k=3"]["accuracy"] == wanted.score("c45").accuracy
    assert found.axes["accuracy"] == "accuracy"
    release = shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=3), seed=0)
    inside = release.utility("disease", learners=["c45"], folds=3).score("c45", "release", "release").accuracy
    assert compare_releases({"a": release}, **target).figures["a"]["accuracy"] == inside
    for wrong, why in (("age", "is not published as it is"), ("diseas", "did you mean 'disease'")):
        with pytest.raises(shoal.ParameterError, match=why):
            shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE, target=wrong)


def test_settings_hold_for_all():
    found = shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE, suppress=0.1, missing="drop")
    recipe = found.recipes["mondrian k=3"]
    assert (recipe.suppress, recipe.missing) == (0.1, "drop")


def test_what_fails_says_why_and_the_others_go_on():
    few = PEOPLE.head(12)
    found = shoal.compare(few, SCHEMA, ["mondrian"], k=[3, 20], budget=HERE)
    assert list(found.figures) == ["mondrian k=3"]
    assert "12" in found.failed["mondrian k=20"]


def test_other_measures_can_be_asked_for():
    found = shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], measures=["membership_chance"], budget=HERE)
    assert 0 < found.figures["mondrian k=3"]["membership_chance"] <= 1
    with pytest.raises(shoal.ParameterError, match="'membership_chanse' is no measure; did you mean"):
        shoal.compare(PEOPLE, SCHEMA, ["mondrian"], measures=["membership_chanse"])


def test_a_grid_of_nothing_is_refused():
    with pytest.raises(shoal.InfeasibleError, match="delta: missing"):
        shoal.compare(PEOPLE, SCHEMA, ["threshold-greedy"], budget=HERE)


@pytest.mark.parametrize("bad", [{"seconds": 0}, {"memory": 0}, {"jobs": 0}, {"jobs": 2.5}, {"seconds": "long"}])
def test_budgets_that_cannot_be(bad):
    with pytest.raises(shoal.ParameterError, match=next(iter(bad))):
        shoal.Budget(**bad)


# -- processes -------------------------------------------------------------------------------------------------------


def test_processes_give_the_figures_of_one():
    side = dict(side_by_side(recipes(METHODS, (3, 6)), Table(PEOPLE), 2))
    alone = dict(one_by_one(recipes(METHODS, (3, 6)), Table(PEOPLE)))
    assert list(alone) == ["mondrian k=3", "mondrian k=6", "caat k=3", "caat k=6"]
    for name, one in alone.items():
        assert one.figures.keys() == side[name].figures.keys()
        assert all(one.figures[key] == side[name].figures[key] for key in one.figures if key != "seconds")


def test_who_needs_more_memory_than_there_is_is_ended_and_said():
    found = dict(side_by_side(recipes(["mondrian"]), Table(PEOPLE), 1, memory=2**20))
    assert found["mondrian k=3"] == Outcome(failed="needs more memory than 1 MB")


def test_a_share_that_is_too_small_is_tried_again_alone(monkeypatch):
    asked = []

    class Crew:
        def __init__(self, _, jobs, memory):
            self.jobs, self.memory = jobs, memory

        def work(self, given, _):
            asked.append((self.jobs, self.memory, list(given)))
            yield from (
                (name, None if self.jobs > 1 and name == "caat k=3" else Outcome({"ncp": 1.0})) for name in given
            )

    monkeypatch.setattr(workers, "_Crew", Crew)
    found = dict(side_by_side(recipes(METHODS), Table(PEOPLE), 2, memory=1000))
    assert asked == [(2, 500, ["mondrian k=3", "caat k=3"]), (1, 1000, ["caat k=3"])]
    assert all(one.failed is None for one in found.values())


def test_what_is_not_done_in_time_is_ended():
    begun = time.monotonic()
    found = dict(side_by_side(recipes(METHODS, (2, 3, 4)), Table(PEOPLE), 2, until=time.monotonic() + 0.05))
    assert time.monotonic() - begun < 30
    assert set(found) == set(recipes(METHODS, (2, 3, 4)))
    assert any(one.failed == "the time was over before it ended" for one in found.values())


def test_a_process_that_dies_is_told_and_replaced(monkeypatch):
    every = recipes(METHODS, (3, 6))
    crew = workers._Crew(Table(PEOPLE), 1, None)
    found = {}
    for name, outcome in crew.work(every, None):
        found[name] = outcome
        if len(found) == 1:
            for _, process in crew.idle:
                process.kill()
                process.join()
    assert [one.failed is None for one in found.values()].count(False) <= 1
    assert set(found) == set(every)
    assert any(one.failed is None for one in list(found.values())[1:])


BEGINS_AT_ONCE = """
import polars
import shoal

print("the script runs", flush=True)
rows = range(60)
people = polars.DataFrame({"name": [f"{row:05000}" for row in rows], "age": rows})  # more than a pipe holds
schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()})
asked = {"methods": ["mondrian"], "k": [3], "budget": shoal.Budget(jobs=1, memory=2**50)}  # in a process apart
print(shoal.compare(people, schema, **asked), flush=True)
class Own(shoal.Mondrian): pass
print(shoal.compare(people, schema, **asked))
"""


def test_a_script_may_compare_wherever_it_likes(tmp_path):
    """A process that cannot begin, as it has to read a script that compares, is told; it was waited for, for ever."""
    script = tmp_path / "script.py"
    script.write_text(BEGINS_AT_ONCE, encoding="utf-8")
    ran = subprocess.run([sys.executable, script], check=True, timeout=300, capture_output=True, text=True)
    said = ran.stdout.splitlines()
    assert said[:2] == ["the script runs", "Comparison(1 release, 0 failed, 0 left out)"]
    assert said[-1] == "Comparison(0 releases, 1 failed, 0 left out)"  # which has to read it for a method of its own


def test_memory_is_watched():
    assert workers.memory_used() > 2**20


# -- budgets ---------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_told_before_anything_starts(monkeypatch):
    expected = {"mondrian k=3": 4.0, "caat k=3": 100.0, "mdav k=3": 5.0}
    told, begun = [], []
    monkeypatch.setattr(planning, "expected_seconds", lambda recipe, _: expected[f"{recipe.method.name} k=3"])
    one_after_another = comparing.one_by_one

    def begin(*given):
        begun.append(list(told))
        return one_after_another(*given)

    monkeypatch.setattr(comparing, "one_by_one", begin)
    found = shoal.compare(
        PEOPLE, SCHEMA, ["mondrian", "caat", "mdav"], k=[3], tell=told.append,
        budget=shoal.Budget(seconds=60, jobs=1),
    )  # fmt: skip
    assert begun == [["left out: caat k=3 (would take about 100 s, and the budget is used up without it)"]]
    assert list(found.figures) == ["mondrian k=3", "mdav k=3"]
    assert found.left_out == {"caat k=3": "would take about 100 s"}


def test_expected_times_grow_with_the_rows(monkeypatch):
    took = {planning.SMALL: 0.1, planning.LESS_SMALL: 0.4}  # as long for every row
    monkeypatch.setattr(planning, "_seconds", lambda _recipe, _table, rows, warm=False: took[rows])
    table = Table(pl.DataFrame({"x": range(16_000)}))
    assert planning.expected_seconds(shoal.Recipe(SCHEMA, shoal.Caat(k=3)), table) == pytest.approx(6.0)
    took[planning.LESS_SMALL] = 1.6  # four times as many rows take sixteen times as long
    assert planning.expected_seconds(shoal.Recipe(SCHEMA, shoal.Caat(k=3)), table) == pytest.approx(240.0)


def test_small_tables_are_tried_without_asking_how_long():
    assert planning.expected_seconds(recipes(["mondrian"])["mondrian k=3"], Table(PEOPLE)) == 0.0


# -- what goes on ----------------------------------------------------------------------------------------------------


def test_figures_are_worked_out_once(tmp_path, monkeypatch):
    first = shoal.compare(PEOPLE, SCHEMA, METHODS, k=[3], budget=HERE, cache=tmp_path)
    monkeypatch.setattr(workers, "outcome", lambda *_: pytest.fail("worked out again"))
    again = shoal.compare(PEOPLE, SCHEMA, METHODS, k=[3], budget=HERE, cache=tmp_path)
    assert again.figures == first.figures
    files = list(tmp_path.iterdir())
    assert len(files) == 2
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_another_table_or_other_measures_are_worked_out_anew(tmp_path):
    variant = grid(shoal.Recipe(SCHEMA, shoal.Mondrian(k=3)), ["mondrian"]).variants[0]
    Cache.of(tmp_path, Table(PEOPLE)).keep(variant, Outcome({"ncp": 0.5}))
    assert Cache.of(tmp_path, Table(PEOPLE)).get(variant) == Outcome({"ncp": 0.5})
    assert Cache.of(tmp_path, Table(PEOPLE.head(100))).get(variant) is None
    assert Cache.of(tmp_path, Table(PEOPLE, wanted=Wanted(("sse",)))).get(variant) is None
    assert Cache.of(tmp_path, Table(PEOPLE, PEOPLE)).get(variant) is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"figures": [], "failed": null}', b"\xff", b'{"figures": {"a": "b"}}']
)
def test_torn_files_are_worked_out_anew(tmp_path, content):
    shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    found = shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE, cache=tmp_path)
    assert json.loads(file.read_bytes())["figures"] == found.figures["mondrian k=3"]


def test_what_was_ended_for_time_is_tried_again(tmp_path):
    over = shoal.compare(
        PEOPLE, SCHEMA, METHODS, k=[3], cache=tmp_path, budget=shoal.Budget(seconds=1e-9, jobs=1)
    )  # fmt: skip
    assert over.figures == {}
    assert len(shoal.compare(PEOPLE, SCHEMA, METHODS, k=[3], cache=tmp_path, budget=HERE).figures) == 2


# -- samples ---------------------------------------------------------------------------------------------------------


def test_large_tables_are_compared_on_samples_first(monkeypatch):
    monkeypatch.setattr(comparing, "LARGE", 100)
    told: list[str] = []
    people = people_of(300, seed=4)
    found = shoal.compare(people, SCHEMA, ["mondrian", "k-member"], k=[3, 6], sample=50, budget=HERE, tell=told.append)
    assert told[0] == "300 rows: comparing 5 samples of 50 rows first"
    assert found.certainty.rows == 50
    assert len(found.certainty.by_sample) == 5
    assert set(found.whole.figures) == set(found.frontier("loss", "risk"))
    whole = shoal.compare(people, SCHEMA, ["mondrian", "k-member"], k=[3, 6], sample=None, budget=HERE)
    assert whole.certainty is None
    for name, row in found.whole.figures.items():
        assert row["ncp"] == whole.figures[name]["ncp"]


def test_samples_of_small_tables_are_not_drawn():
    assert shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE).certainty is None


# -- recipes and releases --------------------------------------------------------------------------------------------


def test_a_recipe_is_compared_with_its_own_settings(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    source = shoal.Source(path=str(tmp_path / "people.csv"))
    recipe = shoal.Recipe(SCHEMA, shoal.Caat(k=4, ties="all"), source, suppress=0.05)
    found = compare_recipe(recipe, ["caat", "mondrian"], budget=HERE)
    assert list(found.figures) == ["caat k=4 ties=all", "mondrian k=4"]
    assert found.recipes["mondrian k=4"].suppress == 0.05
    assert found.recipes["mondrian k=4"].seed is None, "a seed that was not asked for is not passed on"


def test_releases_are_put_side_by_side():
    releases = {f"k={k}": shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=k), seed=0) for k in (3, 8)}
    found = shoal.compare_releases(releases)
    assert found.to_frame("risk").rows() == [("k=3", 1 / 3), ("k=8", 1 / 9)]
    assert found.recommend("loss").name == "k=3"


def test_releases_of_different_tables_are_told(recwarn):
    release = shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=3), seed=0)
    private = shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=3), seed=0, left_out="private")
    shoal.compare_releases({"one": release, "private": private})
    assert not recwarn.list
    fewer = shoal.anonymize(PEOPLE.head(PEOPLE.height - 9), SCHEMA, shoal.Mondrian(k=3), seed=0).public()
    with pytest.warns(shoal.errors.ShoalWarning, match="other rows or columns"):
        shoal.compare_releases({"one": release, "fewer": fewer})
    recipe = shoal.Recipe(SCHEMA, shoal.Mondrian(k=3))
    with (
        pytest.warns(shoal.errors.ShoalWarning, match="other rows"),
        pytest.raises(shoal.ParameterError, match="fewer, original: has"),
    ):
        shoal.compare_releases({"one": release, "fewer": fewer}, original=PEOPLE, recipe=recipe)


def test_samples_have_rows():
    with pytest.raises(shoal.ParameterError, match="sample=: needs a whole number of at least 1, got -3"):
        shoal.compare(PEOPLE, SCHEMA, ["mondrian"], k=[3], budget=HERE, sample=-3)
