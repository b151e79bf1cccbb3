"""Promises beyond k, kept on the way: groups that grow to keep them, repair, suppression, refusal."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import cycle, product

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cluster.points import Space
from shoal.enforce.losses import loss_of
from shoal.enforce.repair import Repair, classes_of, repair
from shoal.methods.base import Task
from shoal.methods.groups import Groups
from shoal.table.prepare import prepare
from shoal.testing import check_contract, requirements, sensitive_tables
from support.pairwise import ALL, examples
from support.realdata import adult, adult_schema
from support.registered import K_METHODS

TREE = shoal.Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "gut", "*"), ("cancer", "gut", "*")])
PEOPLE = shoal.Schema(
    quasi={"age": shoal.Numeric(), "weight": shoal.Numeric(), "town": shoal.Nominal()},
    sensitive={"illness": shoal.Nominal(TREE), "income": shoal.Numeric()},
    choice="guard",
)
DIVERSE = (shoal.LDiversity("illness", l=2.5, variant="entropy"), shoal.LDiversity("income", l=4))
ALIKE = (shoal.TCloseness("illness", t=0.2), shoal.TCloseness("income", t=0.15, distance="ordered"))
SPREAD = (shoal.EpsilonM("income", epsilon=1, m=2), shoal.GuardingNodes("illness", p=0.6))


UNREPAIRED = r"(\d+ of \d+ groups could not be repaired; |not reached in \d+ tries, )"
"""What is said of a requirement that the repair cannot reach."""


def people(n_rows, seed=0):
    """Illness goes with age, so that groups of near people do not keep promises by themselves."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows)
    nearly = np.clip(age // 24 + rng.integers(-1, 2, n_rows), 0, 3)
    return pl.DataFrame(
        {
            "age": age,
            "weight": rng.integers(45, 120, n_rows),
            "town": rng.choice(["Ålesund", "Bo", "Cà Mau"], n_rows),
            "illness": np.array(TREE.leaves)[nearly],
            "income": age // 4 + rng.integers(0, 12, n_rows),
            "guard": rng.choice(np.array(["flu", "lung", None], dtype=object), n_rows).tolist(),
        },
        schema_overrides={"guard": pl.String},
    )


def table_of(**columns):
    """One quasi-identifier `a`, one sensitive column `s`."""
    frame = pl.DataFrame(columns)
    kind = shoal.Numeric() if frame["s"].dtype.is_numeric() else shoal.Nominal()
    return frame, shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive={"s": kind})


def reached(release):
    """What the tables show to be reached, and what the holder noted of promises that rest on people's choices."""
    assert {key.split(":")[0] for key in release.receipt.achieved} <= {"breach"}
    assert not release.receipt.achieved.keys() & release.manifest.achieved.keys()
    return release.manifest.achieved | release.receipt.achieved


# -- same seed, same bytes ----------------------------------------------------------------------------------------


ON_ANY_TABLE = [name for name in K_METHODS if name != "optimal-univariate"]
REQUIRED = [DIVERSE, ALIKE, SPREAD]


@pytest.mark.parametrize(
    ("name", "require"),
    list(product(ON_ANY_TABLE, REQUIRED) if ALL else zip(ON_ANY_TABLE, cycle(REQUIRED), strict=False)),
)
def test_same_bytes_from_any_number_of_threads(name, require, tmp_path):
    options = {"delta": 3.0} if name == "threshold-greedy" else {}
    written = []
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        release = shoal.anonymize(
            people(90), PEOPLE, K_METHODS[name](k=3, **options), require=require, seed=5, threads=threads,
            refine=shoal.Refine(rounds=1),
        )  # fmt: skip
        folder = release.write(tmp_path / str(threads))
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]


def test_many_groups_are_judged_alike_by_one_core_and_by_two():
    """From 256 groups on, cores share the work."""
    frame, require = people(900), (shoal.LDiversity("illness", l=2),)
    labels = [
        shoal.anonymize(frame, PEOPLE, shoal.Mdav(k=2), require=require, threads=threads, seed=0).labels.tolist()
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS))
    ]
    assert labels[0] == labels[1]
    assert max(labels[0]) >= 256


# -- no group below its size, no row lost -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in K_METHODS if name != "optimal-univariate"])
def test_a_larger_k_may_be_required_of_any_method(name):
    options = {"delta": 3.0} if name == "threshold-greedy" else {}
    method = K_METHODS[name](k=3, **options)
    release = shoal.anonymize(
        people(80), PEOPLE, method, require=[shoal.KAnonymity(k=7)], publish=shoal.Generalize(), seed=0
    )
    assert min(Counter(release.labels[release.labels >= 0].tolist()).values()) >= 7
    assert release.verify().k >= 7
    assert release.manifest.achieved["k"] >= 7


@pytest.mark.parametrize("name", K_METHODS)
def test_groups_that_grew_may_leave_too_few_for_another(name):
    """One group of seven leaves one row, which is no group of two."""
    options = {"delta": 1.0} if name == "threshold-greedy" else {}
    frame, schema = table_of(a=[1] * 8, s=[1, 2, 3, 4, 5, 6, 7, 8])
    release = shoal.anonymize(frame, schema, K_METHODS[name](k=2, **options), require=[shoal.KAnonymity(k=7)], seed=0)
    assert release.labels.tolist() == [0] * 8


@pytest.mark.parametrize("require", [DIVERSE, ALIKE, DIVERSE + ALIKE], ids=["diverse", "alike", "both"])
@pytest.mark.parametrize("name", ["k-member", "mdav", "mondrian", "k-means"])
def test_nothing_is_suppressed_where_joining_helps(name, require):
    release = shoal.anonymize(
        people(200), PEOPLE, K_METHODS[name](k=4), require=require, publish=shoal.Generalize(), seed=0
    )
    assert (release.manifest.rows.left_out, release.receipt.rows.suppressed) == (0, 0)
    assert len(set(release.labels.tolist())) > 2  # all in one group would be no art
    for one in require:
        assert one.holds(reached(release)[one.key])


@cache
def from_mdav(publish, require, rounds=None):
    refine = None if rounds is None else shoal.Refine(rounds=rounds)
    return shoal.anonymize(
        people(150), PEOPLE, shoal.Mdav(k=3), require=require, publish=publish, refine=refine, seed=0
    )


@pytest.mark.parametrize("rounds", [0, 3])
@pytest.mark.parametrize("require", [DIVERSE, ALIKE, SPREAD], ids=["diverse", "alike", "spread"])
@pytest.mark.parametrize("publish", [shoal.Generalize(), shoal.Aggregate()], ids=["generalize", "aggregate"])
def test_refining_keeps_promises_and_loses_no_more(publish, require, rounds):
    figure = {"generalize": "ncp", "aggregate": "sse"}[publish.name]
    plain, refined = from_mdav(publish, require), from_mdav(publish, require, rounds)
    assert refined.measure()[figure] <= plain.measure()[figure] * (1 + 1e-9)
    assert (refined.labels != plain.labels).any()
    for one in require:
        assert one.holds(reached(refined)[one.key])


# -- suppression --------------------------------------------------------------------------------------------------


def guarded():
    """Six of ten have the flu and all six guard it: half is the most that a class may have, so two of them must go."""
    illness = ["flu", "flu", "flu", "ulcer", "flu", "ulcer", "flu", "ulcer", "flu", "cancer"]
    guards = ["flu" if cell == "flu" else None for cell in illness]
    frame = pl.DataFrame({"age": [1, 1, 10, 11, 20, 21, 30, 31, 40, 41], "illness": illness, "guard": guards})
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()}, sensitive={"illness": shoal.Nominal(TREE)}, choice="guard"
    )  # fmt: skip
    return frame, schema


HALF = shoal.GuardingNodes("illness", p=0.5)


def test_rows_are_suppressed_only_within_the_budget():
    frame, schema = guarded()
    with pytest.raises(shoal.InfeasibleError, match=r"6 of 10 people guard one node.*use a p of at least 0\.6$"):
        shoal.anonymize(frame, schema, shoal.Mdav(k=2), require=[HALF])
    for suppress in (0.1, 0.19):
        with pytest.raises(
            shoal.InfeasibleError,
            match=r"require guarding-nodes: breach:illness: \d+ of \d+ groups could not be repaired",
        ):
            shoal.anonymize(frame, schema, shoal.Mdav(k=2), require=[HALF], suppress=suppress)
    release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), require=[HALF], suppress=0.2, seed=0)
    assert frame["illness"].filter(pl.Series(release.labels < 0)).to_list() == ["flu", "flu"]
    assert (release.manifest.rows.left_out, release.receipt.rows.suppressed) == (2, 2)
    assert release.manifest.rows.published == release.frames["table"].height == 8
    assert release.receipt.notes["repair_suppressed"] == 2
    assert release.receipt.achieved == {"breach:illness": 0.5}


@settings(max_examples=examples(10))
@given(data=st.data())
def test_suppressed_rows_are_counted_and_no_more_than_allowed(data):
    case = data.draw(sensitive_tables("numeric", min_rows=10, max_rows=40), "table")
    names = data.draw(
        st.lists(st.sampled_from(["epsilon-m", "guarding-nodes", "delta-disclosure"]), min_size=1, unique=True),
        "models",
    )
    require = [data.draw(requirements(name, case), name) for name in names]
    suppress = data.draw(st.sampled_from([0.0, 0.1, 0.3, 0.6]), "suppress")
    try:
        release = check_contract(case, shoal.Mondrian(k=2), shoal.Generalize(), require=require, suppress=suppress)
    except shoal.InfeasibleError:
        return
    rows = release.receipt.rows
    assert rows.suppressed <= suppress * case.frame.height
    assert rows.suppressed == int((release.labels < 0).sum())
    assert rows.published + rows.suppressed == case.frame.height
    assert (rows.published, rows.suppressed) == (release.manifest.rows.published, release.manifest.rows.left_out)


def test_promises_are_those_of_the_rows_that_are_left():
    """Who is suppressed changes the shares of the table that classes are compared with."""
    frame = people(60)
    odd = frame.head(2).with_columns(
        age=pl.lit(200), weight=pl.lit(300), town=pl.lit("Bo"), illness=pl.lit("flu"), guard=pl.lit("flu")
    )
    everybody = pl.concat([frame, odd], how="vertical_relaxed")
    require = [shoal.GuardingNodes("illness", p=0.5), shoal.BetaLikeness("illness", beta=1.5)]
    release = shoal.anonymize(everybody, PEOPLE, shoal.Mondrian(k=2), require=require, suppress=0.5, seed=0)
    for one in require:
        assert one.holds(reached(release)[one.key])


# -- refusal ------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(14))
@given(data=st.data())
def test_models_that_joining_may_break_are_kept_or_refused_by_name(data):
    case = data.draw(sensitive_tables("numeric", min_rows=6, max_rows=30), "table")
    name = data.draw(st.sampled_from(["epsilon-m", "guarding-nodes"]), "model")
    one = data.draw(requirements(name, case), "require")
    method = data.draw(st.sampled_from([shoal.Mondrian(k=2), shoal.KMember(k=2), shoal.Mdav(k=2)]), "method")
    try:
        check_contract(case, method, shoal.Generalize(), require=[one])
    except shoal.InfeasibleError as error:
        text = str(error)
    else:
        return
    before_work = (
        "require epsilon-m: column 'income': " in text and "rows are close to each other in any grouping" in text
    ) or ("require guarding-nodes: column 'illness': " in text and "people guard one node above their own" in text)
    assert re.search(re.escape(f"require {name}: {one.key}: ") + UNREPAIRED, text) or before_work
    advice = ("use an m of at most ", "use a p of at least ", "1 is reached; use a larger k, require less")
    assert any(words in text for words in advice)  # nobody can ask for an m of 1


@pytest.mark.parametrize("method", [shoal.Mdav(k=2), shoal.KMember(k=2), shoal.Mondrian(k=2)], ids=lambda one: one.name)
@pytest.mark.parametrize("publish", [shoal.Generalize(), shoal.Aggregate()], ids=["generalize", "aggregate"])
def test_groups_that_look_alike_are_one_class(method, publish):
    """{1, 10} and {0, 2} are spread out, each on its own; shown with equal cells they are {0, 1, 2, 10}."""
    one = shoal.EpsilonM("s", epsilon=1, m=2)
    frame, schema = table_of(a=[1] * 4, s=[1, 10, 0, 2])
    with pytest.raises(
        shoal.InfeasibleError, match=r"m\(epsilon=1\):s: .* 1.33333 is reached; use an m of at most 1.3"
    ):
        shoal.anonymize(frame, schema, method, require=[one], publish=publish)
    frame, schema = table_of(a=[1] * 4 + [2] * 4, s=[1, 10, 0, 2, 20, 30, 40, 50])
    release = shoal.anonymize(frame, schema, method, require=[one], publish=publish, seed=0)
    assert release.manifest.achieved["m(epsilon=1):s"] >= 2


@pytest.mark.parametrize(
    "one",
    [
        shoal.LDiversity("s", l=2, variant="recursive", c=0.1 + 0.2),  # 3/10 is below it by the last bit
        shoal.DeltaDisclosure("s", delta=5e-9),
        shoal.TCloseness("s", t=0.0),
    ],
    ids=lambda one: one.name,
)
def test_a_bound_that_is_kept_by_a_hair_ends_in_one_group(one):
    """Kernels are stricter than the models by a hair; where nothing else is left to do, the models decide."""
    frame, schema = table_of(a=list(range(13)), s=["x"] * 3 + [f"v{i // 2}" for i in range(10)])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=[one], seed=0)
    assert set(release.labels.tolist()) == {0}


def test_a_refusal_shows_no_cell():
    frame, schema = table_of(a=[1] * 4, s=[777001, 777010, 777000, 777002])
    with pytest.raises(shoal.InfeasibleError, match=rf"m\(epsilon=1\):s: {UNREPAIRED}") as caught:
        shoal.anonymize(frame, schema, shoal.Mdav(k=2), require=[shoal.EpsilonM("s", epsilon=1, m=2)])
    assert "777" not in str(caught.value)


@pytest.mark.parametrize(
    "one",
    [
        shoal.DeltaDisclosure("s", delta=1),
        shoal.BetaLikeness("s", beta=0.5, variant="enhanced"),
        shoal.LDiversity("s", l=2),
        shoal.LDiversity("s", l=2, variant="recursive", c=3),
    ],
    ids=lambda one: one.key,
)
def test_advice_is_what_all_rows_as_one_class_reach_where_groups_reach_less(one):
    """A group of one value reaches an infinite delta, or an l of 1: nobody can ask for that."""
    frame, schema = table_of(a=[1, 1, 9, 9], s=["x", "x", "y", "y"])
    task, apart = Task.of(prepare(frame, schema), [one]), Groups(np.array([0, 0, 1, 1]))
    space = Space.of(task)
    stuck = Repair(task, apart, 2, space, loss_of(task, space, "ncp", False, apart), sets=False)
    whole = one.achieved(classes_of(task, np.zeros(4, dtype=np.int64)))
    assert math.isfinite(whole)
    with pytest.raises(shoal.InfeasibleError, match=f" {whole:.6g} is reached; use a.*, or raise suppress$"):
        stuck._unkept().raise_if_any(shoal.InfeasibleError)


def test_all_rows_become_one_class_where_that_alone_keeps_a_promise():
    """Two groups that lack the same do not help each other by joining step by step, but together they would do."""
    frame, schema = table_of(a=[1, 1, 9, 9], s=["x", "x", "y", "y"])
    one = shoal.LDiversity("s", l=2)
    task, apart = Task.of(prepare(frame, schema), [one]), Groups(np.array([0, 0, 1, 1]))
    space = Space.of(task)
    stuck = Repair(task, apart, 2, space, loss_of(task, space, "ncp", False, apart), sets=False)
    stuck._join_all(stuck._unkept())
    assert stuck._labels.tolist() == [0, 0, 0, 0]


def test_groups_exchange_rows_where_that_costs_less_than_joining():
    """Each half of the four has one illness; one row of each changes places, and nobody has to join anybody."""
    frame, schema = table_of(a=[1, 2, 3, 4, 91, 92, 93, 94], s=["x", "x", "y", "y", "x", "x", "y", "y"])
    task = Task.of(prepare(frame, schema), [shoal.LDiversity("s", l=2)])
    found = repair(task, Groups(np.arange(8) // 2), 2, "ncp", False)
    assert found.sizes.tolist() == [2, 2, 2, 2]
    assert found.notes["repair_merges"] == 0
    assert found.notes["repair_exchanges"] > 0
    assert task.require[0].satisfied(classes_of(task, found.labels)).all()


def test_suppressed_rows_stay_suppressed_where_all_others_form_groups_anew():
    """Every group has one value alone, so none is like the table."""
    values = [*"xxxyyy" * 6]
    frame, schema = table_of(a=list(range(36)), s=values)
    labels = np.arange(36) // 3
    labels[[0, 35]] = -1
    close = shoal.TCloseness("s", t=0.2)
    task = Task.of(prepare(frame, schema), [close])
    found = repair(task, Groups(labels), 2, "ncp", False)
    assert found.notes["repair_regrouped"] == 34
    assert np.flatnonzero(found.labels < 0).tolist() == [0, 35]
    assert found.n_groups > 1
    assert close.satisfied(classes_of(task, found.labels)).all()


def test_a_suppressed_row_stays_suppressed_when_all_others_become_one_class():
    frame, schema = table_of(a=[1, 1, 5, 9, 9], s=["x", "x", "x", "y", "y"])
    task, apart = Task.of(prepare(frame, schema), [shoal.LDiversity("s", l=2)]), Groups(np.array([0, 0, -1, 1, 1]))
    space = Space.of(task)
    stuck = Repair(task, apart, 2, space, loss_of(task, space, "ncp", False, apart), sets=False)
    stuck._join_all(stuck._unkept())
    assert stuck._labels.tolist() == [0, 0, -1, 0, 0]


def test_every_requirement_that_blocks_is_named_at_once():
    frame = pl.DataFrame({"a": [1] * 4, "s": [1, 10, 0, 2], "u": [31, 40, 30, 32]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive={"s": shoal.Numeric(), "u": shoal.Numeric()})
    require = [shoal.EpsilonM(column, epsilon=1, m=2) for column in ("s", "u")]
    with pytest.raises(shoal.InfeasibleError, match="2 problems") as caught:
        shoal.anonymize(frame, schema, shoal.Mdav(k=2), require=require)
    first, second = map(str, caught.value.problems)
    assert re.match(rf"require epsilon-m: m\(epsilon=1\):s: {UNREPAIRED}", first)
    assert re.match(rf"require epsilon-m: m\(epsilon=1\):u: {UNREPAIRED}", second)


# -- real data --------------------------------------------------------------------------------------------------------


def adult_by_occupation(n_rows):
    schema = adult_schema()
    quasi = {name: kind for name, kind in schema.quasi.items() if name != "occupation"}
    occupation = {"occupation": schema.quasi["occupation"]}
    return adult().head(n_rows), shoal.Schema(quasi=quasi, sensitive=occupation, rest="drop")


def test_diversity_costs_little_on_adult():
    frame, schema = adult_by_occupation(3000)
    require = [shoal.LDiversity("occupation", l=3, variant="entropy")]
    plain, diverse = (
        shoal.anonymize(frame, schema, shoal.KMember(k=10), require=some, seed=0) for some in ([], require)
    )
    assert diverse.manifest.achieved["entropy_l:occupation"] >= 3
    assert (diverse.manifest.rows.left_out, diverse.receipt.rows.suppressed) == (0, 0)
    assert diverse.measure()["ncp"] <= 1.5 * plain.measure()["ncp"]


def test_closeness_suppresses_nobody_on_adult():
    frame, schema = adult_by_occupation(3000)
    release = shoal.anonymize(
        frame, schema, shoal.KMember(k=5), require=[shoal.TCloseness("occupation", t=0.2)], seed=0
    )
    assert release.receipt.rows.suppressed == 0
    assert release.manifest.achieved["t:occupation"] <= 0.2 + 1e-9
    assert release.manifest.achieved["k"] >= 5
