"""Promises beyond k: re-derived from the release alone, refused when they break, listed when nobody can tell."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.describing import named
from shoal.errors import GuaranteeError
from shoal.manifest import Node
from shoal.methods.groups import Groups
from shoal.privacy import MODELS, AlphaK, DeltaPresence, EpsilonM, GuardingNodes, KMap, LDiversity, TCloseness
from shoal.release import check_directory
from shoal.table.content import content_sha256
from shoal.table.prepare import prepare

TREE = shoal.Hierarchy.from_tree(
    {"lung": ["flu", "asthma"], "belly": {"stomach": ["ulcer", "gastritis"], "gut": ["colic"]}}
)
SCHEMA = shoal.Schema(
    identifying=["name"],
    quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(shoal.Prefixes(keep=(3, 1)))},
    sensitive={
        "disease": shoal.Nominal(TREE),
        "grade": shoal.Ordinal(["none", "mild", "severe", "fatal"]),
        "income": shoal.Numeric(),
    },
    neutral={"note": shoal.Ordinal(["x", "y"])},
)
FRAME = pl.DataFrame(
    {
        "name": [f"p{row}" for row in range(16)],
        "age": [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63, 80, 81, 82, 83],
        "zip": ["13001", "13002", "13003", "13004"] * 4,
        "disease": ["flu", "asthma", "ulcer", "flu"] * 4,
        "grade": ["mild", "severe", "none", "mild"] * 4,
        "income": [10, 20, 30, 45] * 4,
        "note": ["x", "y"] * 8,
    }
)
PROMISED = [
    LDiversity("disease", l=3),
    LDiversity("disease", l=2.5, variant="entropy"),
    LDiversity("disease", l=2, variant="recursive", c=1.5),
    AlphaK("disease", alpha=0.5),
    TCloseness("disease", t=0.05),
    TCloseness("disease", t=0.05, distance="hierarchical"),
    TCloseness("grade", t=0.05, distance="ordered"),
    TCloseness("income", t=0.05, distance="ordered"),
    EpsilonM("income", epsilon=5, m=4),
]
SHOWN = [
    shoal.Generalize(), shoal.Generalize(shape="typed"), shoal.Generalize(shape="classes"), shoal.Aggregate(),
    shoal.Centres(),
]  # fmt: skip


def promising(release, *requirements):
    """The release with further promises, as if they had been asked for."""
    manifest = release.manifest
    more = tuple(named(requirement, "model") for requirement in requirements)
    recipe = manifest.recipe.model_copy(update={"require": (*manifest.recipe.require, *more)})
    update = {"promise": (*manifest.promise, *more), "recipe": recipe, "achieved": {}}
    return replace(release, manifest=manifest.model_copy(update=update))


def with_layout(release, name, **update):
    """The release with other entries for one passed column."""
    layout = release.manifest.layout
    passed = tuple(one.model_copy(update=update) if one.name == name else one for one in layout.passed)
    layout = layout.model_copy(update={"passed": passed})
    return replace(release, manifest=release.manifest.model_copy(update={"layout": layout}))


def with_table(release, table):
    """The release with another table, every trace covered."""
    entry = release.manifest.tables[0].model_copy(update={"content_sha256": content_sha256(table)})
    manifest = release.manifest.model_copy(update={"tables": (entry, *release.manifest.tables[1:]), "achieved": {}})
    return replace(release, frames={**release.frames, "table": table}, manifest=manifest)


def passed(release, name):
    return next(column for column in release.manifest.layout.passed if column.name == name)


@pytest.fixture(params=SHOWN, ids=str)
def release(request):
    return shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), publish=request.param, seed=3)


@pytest.fixture
def plain():
    return promising(shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), seed=3), *PROMISED)


def filled(release):
    """The release with what it reaches in its manifest, as the path leaves it."""
    return replace(release, manifest=release.manifest.model_copy(update={"achieved": release.verify().achieved}))


# -- what is promised is re-derived --------------------------------------------------------------------------------


def test_every_promise_is_re_derived_from_every_shape(release):
    verdict = promising(release, *PROMISED).verify()
    assert set(verdict.achieved) == {"k", *(requirement.key for requirement in PROMISED)}
    assert verdict.achieved["l:disease"] == 3
    assert verdict.achieved["alpha:disease"] == 0.5
    assert math.isclose(verdict.achieved["entropy_l:disease"], 2 * math.sqrt(2))
    assert verdict.achieved["t_ordered:grade"] == pytest.approx(0)
    assert verdict.unchecked == ()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_same_is_found_in_the_files(release, form, tmp_path):
    made = filled(promising(release, *PROMISED))
    folder = made.write(tmp_path / "out", format=form)
    verdict, manifest = check_directory(folder)
    assert verdict == made.verify()
    assert manifest.achieved == verdict.achieved
    assert verdict.surveyed == made.verify().surveyed


def test_what_is_published_of_the_values_is_what_is_shown(release):
    assert passed(release, "grade").order == ("none", "mild", "severe")
    assert [node.name for node in passed(release, "disease").nodes] == [
        "*", "lung", "flu", "asthma", "belly", "stomach", "ulcer",
    ]  # fmt: skip
    assert passed(release, "disease").nodes[0].leaves == 5
    assert passed(release, "note").order == ()
    assert passed(release, "income").nodes == ()


@pytest.mark.parametrize("publish", SHOWN, ids=str)
def test_suppressed_rows_leave_no_trace(publish):
    """Two people nobody is near: whatever they have, what is published of sensitive values is the same."""
    said = []
    for disease, grade, code in (("colic", "fatal", "C7"), ("gastritis", "severe", "A9")):
        odd = FRAME.head(2).with_columns(
            age=pl.Series([900, 901]), disease=pl.lit(disease), grade=pl.lit(grade), zip=pl.lit("99999")
        )
        frame = pl.concat([FRAME, odd]).with_columns(code=pl.Series(["A1", "A2", "B1", "B2"] * 4 + [code] * 2))
        rule = {**SCHEMA.sensitive, "code": shoal.Nominal(shoal.Prefixes(keep=(1,)))}
        schema = replace(SCHEMA, sensitive=rule)
        table = prepare(frame, schema)
        groups = Groups(pl.Series([0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [-1] * 2).to_numpy())
        said.append(publish.publish(table, groups).layout.passed)
    assert said[0] == said[1]
    assert [node.leaves for node in said[0][-1].nodes] == [4, 2, 1, 1, 2, 1, 1]


def test_require_goes_through_the_whole_path(tmp_path):
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), require=PROMISED, seed=3)
    assert check_directory(release.write(tmp_path / "out"))[0].achieved == release.manifest.achieved


# -- what breaks is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("disease", "flu", "l-diversity: column = disease, l = 3, variant = distinct was promised, the weakest class"),
        ("disease", "flu", "alpha-k: column = disease, alpha = 0.5 was promised, the weakest class reaches 1"),
        ("disease", "flu", "t-closeness: column = disease, t = 0.05, distance = equal was promised, the weakest class"),
        ("disease", "flu", "t-closeness: column = disease, t = 0.05, distance = hierarchical was promised"),
        ("grade", "mild", "t-closeness: column = grade, t = 0.05, distance = ordered was promised"),
        ("income", 10, "epsilon-m: column = income"),
    ],
)  # fmt: skip
def test_a_class_made_uniform_is_refused(plain, column, value, message):
    """All hashes fit and k still holds: only the sensitive values of one class are tampered with."""
    table = plain.frames["table"]
    first = table["age"] == table["age"][0]
    changed = table.with_columns(pl.when(first).then(pl.lit(value)).otherwise(pl.col(column)).alias(column))
    changed = changed.cast({column: table.schema[column]})
    with pytest.raises(GuaranteeError) as caught:
        with_table(plain, changed).verify()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "requirement",
    [LDiversity("disease", l=4), LDiversity("disease", l=2, variant="recursive", c=1), AlphaK("disease", alpha=0.4)],
    ids=str,
)
def test_a_promise_that_was_raised_is_refused(plain, requirement):
    with pytest.raises(GuaranteeError, match="was promised, the weakest class reaches"):
        promising(plain, requirement).verify()


def test_a_promise_that_was_left_out_is_refused(plain):
    kept = plain.manifest.promise[:-1]
    with pytest.raises(GuaranteeError, match="does not hold what the recipe asks for: model = epsilon-m"):
        replace(plain, manifest=plain.manifest.model_copy(update={"promise": kept})).verify()


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        (LDiversity("age", l=2), "column 'age' is not published as a sensitive one"),
        (LDiversity("note", l=2), "column 'note' is not published as a sensitive one"),
        (TCloseness("disease", t=0.5, distance="ordered"), "t-closeness: column 'disease'"),
        (TCloseness("grade", t=0.5, distance="hierarchical"), "t-closeness: column 'grade'"),
    ],
    ids=str,
)
def test_a_promise_that_means_nothing_here_is_refused(plain, requirement, message):
    with pytest.raises(GuaranteeError, match=message):
        promising(plain, requirement).verify()


def test_forged_values_are_refused(plain, tmp_path):
    made = filled(plain)
    assert made.verify().achieved == made.manifest.achieved
    for key in made.manifest.achieved:
        claimed = {**made.manifest.achieved, key: made.manifest.achieved[key] + 0.001}
        with pytest.raises(GuaranteeError, match="claims other values than the release reaches"):
            replace(made, manifest=made.manifest.model_copy(update={"achieved": claimed})).verify()
    fewer = {key: value for key, value in made.manifest.achieved.items() if key != "l:disease"}
    with pytest.raises(GuaranteeError, match="claims other values than the release reaches"):
        replace(made, manifest=made.manifest.model_copy(update={"achieved": fewer})).verify()
    folder = made.write(tmp_path / "out")
    entries = json.loads((folder / "manifest.json").read_text())
    entries["achieved"]["t:disease"] = 0.04
    (folder / "manifest.json").write_text(json.dumps(entries))
    with pytest.raises(GuaranteeError, match="claims other values than the release reaches"):
        check_directory(folder)


@pytest.mark.parametrize(
    "order",
    [(), ("none", "mild"), ("none", "mild", "severe", "fatal"), ("none", "mild", "mild", "severe"), ("a", "b", "c")],
    ids=str,
)
def test_an_order_that_is_not_that_of_the_values_is_refused(plain, order):
    with pytest.raises(GuaranteeError, match="column 'grade': the manifest's order is not that of the published"):
        with_layout(plain, "grade", order=order).verify()


def test_an_order_that_was_permuted_shows_in_what_is_reached():
    """Nothing but the claimed value says which of the values is the lowest."""
    frame = pl.DataFrame({"age": [20, 20, 40, 40], "grade": ["none", "mild", "mild", "severe"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"grade": SCHEMA.sensitive["grade"]})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    made = filled(promising(release, TCloseness("grade", t=0.5, distance="ordered")))
    with pytest.raises(GuaranteeError, match="claims other values than the release reaches"):
        with_layout(made, "grade", order=("none", "severe", "mild")).verify()


def changed(nodes, name, **update):
    return [node.model_copy(update=update) if node.name == name else node for node in nodes]


def more(nodes, name, parent):
    above = [node.name for node in nodes].index(parent)
    return [*nodes, Node(name=name, parent=above, height=0, leaves=1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda nodes: (), "the manifest leaves out its hierarchy"),
        (lambda nodes: nodes[::-1], "is not a tree"),
        (lambda nodes: changed(nodes, "flu", parent=None), "is not a tree"),
        (lambda nodes: nodes[:-1], "nodes that the release does not use"),
        (lambda nodes: [n for n in nodes if n.name not in ("belly", "stomach", "ulcer")], "lacks published values"),
        (lambda nodes: more(nodes, "colic", "belly"), "has nodes that the release does not use"),
        (lambda nodes: more(nodes, "flu", "belly"), "names a node more than once"),
        (lambda nodes: changed(nodes, "ulcer", leaves=2), "counts more than itself"),
        (lambda nodes: changed(nodes, "belly", leaves=1), "more leaves below than it counts"),
        (lambda nodes: changed(nodes, "stomach", height=2), "as high as the one above"),
        (lambda nodes: changed(nodes, "*", leaves=6), "another height or number of leaves"),
        (lambda nodes: changed(nodes, "*", height=4), "another height or number of leaves"),
    ],
)
def test_a_tree_that_cannot_be_is_refused(plain, change, message):
    nodes = tuple(change(list(passed(plain, "disease").nodes)))
    with pytest.raises(GuaranteeError, match=f"column 'disease': .*{message}"):
        with_layout(plain, "disease", nodes=nodes).verify()


def test_leaves_that_changed_places_show_in_what_is_reached():
    frame = pl.DataFrame({"age": [20, 20, 40, 40], "disease": ["flu", "asthma", "asthma", "ulcer"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    made = filled(promising(release, TCloseness("disease", t=0.9, distance="hierarchical")))
    other = {"asthma": "ulcer", "ulcer": "asthma"}
    nodes = passed(made, "disease").nodes
    moved = [node.model_copy(update={"name": other.get(node.name, node.name)}) for node in nodes]
    with pytest.raises(GuaranteeError, match="claims other values than the release reaches"):
        with_layout(made, "disease", nodes=tuple(moved)).verify()


@pytest.mark.parametrize("name", ["note", "income", "disease"])
def test_an_order_of_the_wrong_column_is_refused(plain, name):
    with pytest.raises(GuaranteeError, match="has an order or a hierarchy that its role and kind do not have"):
        with_layout(plain, name, order=("x", "y"), nodes=()).verify()


@pytest.mark.parametrize("value", ["many", "nan", "inf"])
def test_a_sensitive_number_that_is_none_is_refused(plain, value):
    texts = pl.Series("income", [value] + ["10"] * 15)
    with pytest.raises(GuaranteeError, match="column 'income': 1 cells are not numbers, at row 1"):
        with_table(plain, plain.frames["table"].with_columns(texts)).verify()


# -- knowledge from outside ----------------------------------------------------------------------------------------


def test_what_needs_knowledge_from_outside_is_listed_and_not_passed(plain, tmp_path):
    made = promising(plain, KMap(k=4), DeltaPresence(low=0, high=1), GuardingNodes("disease", p=0.9))
    verdict = made.verify()
    assert verdict.unchecked == (
        "k-map: needs the population", "delta-presence: needs the population",
        "guarding-nodes: needs the choices of the people",
    )  # fmt: skip
    assert not {"k_map", "presence", "breach:disease"} & set(verdict.achieved)
    claimed = {**verdict.achieved, "k_map": 7, "presence": 0.5, "breach:disease": 0.2}
    folder = replace(made, manifest=made.manifest.model_copy(update={"achieved": claimed})).write(tmp_path / "out")
    assert check_directory(folder)[0].unchecked == verdict.unchecked
    with pytest.raises(GuaranteeError, match="claims other values than the release reaches"):
        check_directory(folder, population=FRAME, schema=SCHEMA)


def test_a_population_is_compared_with(plain):
    made = promising(plain, KMap(k=4), DeltaPresence(low=0, high=1))
    twice = pl.concat([FRAME, FRAME])
    assert made.verify(population=FRAME, schema=SCHEMA).achieved.items() >= {"k_map": 4, "presence": 1}.items()
    assert made.verify(population=twice, schema=SCHEMA).achieved.items() >= {"k_map": 8, "presence": 0.5}.items()
    with pytest.raises(GuaranteeError, match="k-map: k = 9 was promised, the weakest class reaches 8"):
        promising(plain, KMap(k=9)).verify(population=twice, schema=SCHEMA)
    with pytest.raises(GuaranteeError, match=r"delta-presence: low = 0, high = 0.4 was promised, the weakest class"):
        promising(plain, DeltaPresence(low=0, high=0.4)).verify(population=twice, schema=SCHEMA)


def test_guards_are_looked_at(plain):
    table = plain.frames["table"]
    made = promising(plain, GuardingNodes("disease", p=0.8))
    guards = pl.Series([None] * 15 + ["lung"], dtype=pl.String)
    assert made.verify(guards=guards).achieved["breach:disease"] == 0.75
    assert made.verify(guards=pl.Series(["gastritis"] * 16)).achieved["breach:disease"] == 0
    with pytest.raises(GuaranteeError, match=r"guarding-nodes: column = disease, p = 0.5 was promised, the weakest"):
        promising(plain, GuardingNodes("disease", p=0.5)).verify(guards=guards)
    with pytest.raises(shoal.ParameterError, match="guards=: has 3 entries, the published table has 16 rows"):
        made.verify(guards=table["disease"][:3])


# -- every model ---------------------------------------------------------------------------------------------------


def test_every_model_is_surveyed_when_it_is_asked_for(plain):
    verdict = plain.verify()
    assert "surveyed" not in verdict.__dict__
    surveyed = verdict.surveyed
    assert surveyed.items() >= {"k": 4, "l:disease": 3, "l:grade": 3, "l:income": 4, "alpha:income": 0.25}.items()
    assert {key.partition(":")[0] for key in surveyed} >= {
        "k",
        "l",
        "entropy_l",
        "alpha",
        "t",
        "t_ordered",
        "t_hierarchical",
    }
    asked_for_by_hand = {"epsilon-m", "guarding-nodes", "k-map", "delta-presence"}
    for name, model in MODELS.items():
        probes = model.probes(verdict.classes.columns)
        assert bool(probes) == (name not in asked_for_by_hand)
        for probe in probes:
            assert surveyed[probe.key] == probe.achieved(verdict.classes)
