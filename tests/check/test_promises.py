"""Promises beyond k: re-derived from the release alone, refused when they break, listed when nobody can tell."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.check.sensitive_values import sensitive_values
from shoal.engines.description import named
from shoal.errors import GuaranteeError, Problems
from shoal.methods.groups import Groups
from shoal.privacy import MODELS
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.epsilon_m import EpsilonM
from shoal.privacy.guarding_nodes import GuardingNodes
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.published.compared import ComparedWith
from shoal.published.reading import check_directory
from shoal.release.manifest import Manifest, Node
from shoal.release.receipt import check_receipt
from shoal.table.prepare import prepare
from support.forging import fingerprinted, mended, with_entries

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
    return with_entries(release, promise=(*manifest.promise, *more), recipe=recipe, achieved={})


def with_layout(release, name, **update):
    """The release with other entries for one passed column."""
    layout = release.manifest.layout
    passed = tuple(one.model_copy(update=update) if one.name == name else one for one in layout.passed)
    return with_entries(release, layout={"passed": passed})


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
    return with_entries(release, achieved=release.verify().public)


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
    nodes = passed(release, "disease").nodes
    assert [node.name for node in nodes] == [None, None, "asthma", "flu", "ulcer"]
    assert [node.parent for node in nodes] == [None, 0, 1, 1, 0]
    assert [node.leaves for node in nodes] == [5, 2, 1, 1, 1]
    assert [node.height for node in nodes] == [3, 1, 0, 0, 0]
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
        said.append(publish.arrange(publish.publish(table, groups))[0])
    assert said[0].layout == said[1].layout
    assert said[0].tables.keys() == said[1].tables.keys()
    assert all(shown.equals(said[1].tables[name]) for name, shown in said[0].tables.items())
    assert [node.leaves for node in said[0].layout.passed[-1].nodes] == [4, 2, 1, 1, 2, 1, 1]


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
        mended(plain, table=changed).verify()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "requirement",
    [LDiversity("disease", l=4), LDiversity("disease", l=2, variant="recursive", c=1), AlphaK("disease", alpha=0.4)],
    ids=str,
)
def test_a_promise_that_was_raised_is_refused(requirement):
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), seed=3)
    others = [one for one in PROMISED if one.key != requirement.key]
    with pytest.raises(GuaranteeError, match="was promised, the weakest class reaches"):
        promising(release, *others, requirement).verify()


def test_a_promise_that_was_left_out_is_refused(plain):
    kept = plain.manifest.promise[:-1]
    with pytest.raises(GuaranteeError, match="does not contain what the recipe requires: model = epsilon-m"):
        with_entries(plain, promise=kept).verify()


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
        with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
            with_entries(made, achieved=claimed).verify()
    fewer = {key: value for key, value in made.manifest.achieved.items() if key != "l:disease"}
    with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
        with_entries(made, achieved=fewer).verify()
    folder = made.write(tmp_path / "out")
    manifest = Manifest.read(folder)
    claimed = manifest.model_copy(update={"achieved": manifest.achieved | {"t:disease": 0.04}})
    (folder / "manifest.json").write_bytes(claimed.to_json().encode())
    with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
        check_directory(folder)


@pytest.mark.parametrize(
    "order",
    [(), ("none", "mild"), ("none", "mild", "severe", "fatal"), ("none", "mild", "mild", "severe"), ("a", "b", "c")],
    ids=str,
)
def test_an_order_that_is_not_that_of_the_values_is_refused(plain, order):
    with pytest.raises(GuaranteeError, match="column 'grade': the manifest lists other categories than are published"):
        with_layout(plain, "grade", order=order).verify()


def test_an_order_that_was_permuted_shows_in_what_is_reached():
    """Nothing but the claimed value says which of the values is the lowest."""
    frame = pl.DataFrame({"age": [20, 20, 40, 40], "grade": ["none", "mild", "mild", "severe"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"grade": SCHEMA.sensitive["grade"]})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    made = filled(promising(release, TCloseness("grade", t=0.5, distance="ordered")))
    with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
        with_layout(made, "grade", order=("none", "severe", "mild")).verify()


ROOT, LUNG, ASTHMA, FLU, ULCER = range(5)
"""Places of the nodes that stand in the manifest; those that no cell shows have no name there."""


def changed(nodes, place, **update):
    return [node.model_copy(update=update) if at == place else node for at, node in enumerate(nodes)]


def more(nodes, name, above):
    return [*nodes, Node(name=name, parent=above, height=0, leaves=1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda nodes: nodes[::-1], "is not a tree"),
        (lambda nodes: changed(nodes, FLU, parent=None), "is not a tree"),
        (lambda nodes: nodes[:ULCER], "does not contain all published values"),
        (
            lambda nodes: [*nodes[:FLU], nodes[ULCER]],
            "has nodes in another order than Shoal writes, or more than .*",
        ),
        (lambda nodes: [*nodes[:ASTHMA], nodes[FLU], nodes[ASTHMA], nodes[ULCER]], "has nodes in another order .*"),
        (lambda nodes: changed(nodes, FLU, name=None), "has nodes that the release does not use"),
        (lambda nodes: changed(nodes, LUNG, name="lung"), "names a node that no cell shows"),
        (lambda nodes: changed(nodes, ROOT, name="*"), "names a node that no cell shows"),
        (lambda nodes: more(nodes, "colic", ROOT), "names a node that no cell shows"),
        (lambda nodes: more(nodes, None, ROOT), "has nodes that the release does not use"),
        (lambda nodes: more(nodes, "flu", ROOT), "names a node more than once"),
        (lambda nodes: changed(nodes, ULCER, leaves=2), "has a leaf that states more than one leaf"),
        (lambda nodes: changed(nodes, LUNG, leaves=1), "has a node with more leaves below it than it states"),
        (lambda nodes: changed(nodes, LUNG, height=3), "has a node that is as high as its parent"),
    ],
)
def test_a_tree_that_cannot_be_is_refused(plain, change, message):
    nodes = tuple(change(list(passed(plain, "disease").nodes)))
    with pytest.raises(GuaranteeError, match=f"^column 'disease': the manifest's hierarchy {message}$"):
        with_layout(plain, "disease", nodes=nodes).verify()


def test_a_tree_that_is_left_out_is_missed_by_the_promise_that_needs_it(plain):
    with pytest.raises(GuaranteeError, match="t-closeness: column 'disease' has no hierarchy, and the hierarchical"):
        with_layout(plain, "disease", nodes=()).verify()


@pytest.mark.parametrize("update", [{"leaves": 6}, {"height": 4}], ids=str)
def test_a_larger_tree_is_noticed_by_who_holds_the_receipt(update):
    """How large the whole tree is, the tables do not tell; the receipt marks the tree that the holder gave."""
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), require=PROMISED, seed=3)
    mark = next(column.hierarchy for column in release.receipt.columns if column.name == "disease")
    assert (mark.leaves, mark.height) == (5, 3)
    nodes = tuple(changed(passed(release, "disease").nodes, ROOT, **update))
    check_receipt(release.receipt, release.manifest)
    with pytest.raises(GuaranteeError, match="belongs to another release, or the release was changed since it was"):
        check_receipt(release.receipt, with_layout(release, "disease", nodes=nodes).manifest)


@pytest.mark.parametrize("update", [{"leaves": 6}, {"height": 4}], ids=str)
def test_a_larger_tree_shows_in_what_is_reached(update):
    made = close_by_tree("flu", "flu", "asthma", "ulcer")
    nodes = tuple(changed(passed(made, "disease").nodes, ROOT, **update))
    forged = with_layout(made, "disease", nodes=nodes)
    if "height" in update:
        with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
            forged.verify()
    else:  # leaves do not enter the distance
        assert forged.verify().achieved == made.verify().achieved


def close_by_tree(*diseases):
    """A release of two classes that differ, with what it reaches by the distance in the tree."""
    frame = pl.DataFrame({"age": [20, 20, 40, 40], "disease": diseases})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    return filled(promising(release, TCloseness("disease", t=0.9, distance="hierarchical")))


def test_leaves_that_changed_places_show_in_what_is_reached():
    made = close_by_tree("flu", "asthma", "asthma", "ulcer")
    nodes = passed(made, "disease").nodes
    assert [node.name for node in nodes] == [None, None, "asthma", "flu", "ulcer"]
    moved = [
        nodes[ROOT], nodes[ULCER].model_copy(update={"name": "asthma"}), nodes[LUNG],
        nodes[FLU].model_copy(update={"parent": 2}), nodes[ASTHMA].model_copy(update={"name": "ulcer", "parent": 2}),
    ]  # fmt: skip
    with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
        with_layout(made, "disease", nodes=tuple(moved)).verify()


@pytest.mark.parametrize("name", ["note", "income", "disease"])
def test_an_order_of_the_wrong_column_is_refused(plain, name):
    with pytest.raises(
        GuaranteeError,
        match="has an order or a hierarchy in the manifest that a column of its role and kind cannot have",
    ):
        with_layout(plain, name, order=("x", "y"), nodes=()).verify()


@pytest.mark.parametrize("value", ["many", "nan", "inf"])
def test_a_sensitive_number_that_is_none_is_refused(plain, value):
    texts = pl.Series("income", [value] + ["10"] * 15)
    with pytest.raises(GuaranteeError, match="column 'income': 1 cell is not numbers, at row 1"):
        fingerprinted(plain, table=plain.frames["table"].with_columns(texts)).verify()


# -- knowledge from outside ----------------------------------------------------------------------------------------


def test_what_needs_knowledge_from_outside_is_listed_and_not_passed(plain, tmp_path):
    made = promising(plain, KMap(k=4), DeltaPresence(low=0, high=1), GuardingNodes("disease", p=0.9))
    verdict = made.verify()
    assert verdict.unchecked == (
        "k-map: needs the population", "delta-presence: needs the population",
        "guarding-nodes of 'disease': needs the schema and the guarding nodes that people chose",
    )  # fmt: skip
    assert not {"k_map", "presence", "breach:disease"} & set(verdict.achieved)
    folder = filled(made).write(tmp_path / "out")
    assert check_directory(folder)[0].unchecked == verdict.unchecked
    known, manifest = check_directory(folder, ComparedWith(population=FRAME, schema=SCHEMA))
    assert known.unchecked == verdict.unchecked[2:]
    assert known.achieved == verdict.achieved | {"k_map": 4, "presence": 1}
    assert known.outside == {"k_map", "presence"}
    assert known.public == verdict.achieved == manifest.achieved


@pytest.mark.parametrize("key", ["k_map", "presence", "breach:disease"])
def test_what_was_reached_with_knowledge_from_outside_is_not_for_the_manifest(plain, key, tmp_path):
    """How many people of a population fit, or what people chose, is not a function of the tables."""
    made = filled(promising(plain, KMap(k=4), DeltaPresence(low=0, high=1), GuardingNodes("disease", p=0.9)))
    telling = with_entries(made, achieved={**made.manifest.achieved, key: 1.0})
    guards = pl.Series(["lung"] * 16)
    for known in ({}, {"population": FRAME, "schema": SCHEMA}, {"guards": guards, "schema": SCHEMA}):
        with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
            telling.verify(**known)
    with pytest.raises(GuaranteeError, match="states other values than the release reaches"):
        telling.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_population_is_compared_with(plain):
    made = promising(plain, KMap(k=4), DeltaPresence(low=0, high=1))
    twice = pl.concat([FRAME, FRAME])
    assert made.verify(population=FRAME, schema=SCHEMA).achieved.items() >= {"k_map": 4, "presence": 1}.items()
    assert made.verify(population=twice, schema=SCHEMA).achieved.items() >= {"k_map": 8, "presence": 0.5}.items()
    with pytest.raises(GuaranteeError, match="k-map: k = 9 was promised, the weakest class reaches 8"):
        promising(plain, KMap(k=9)).verify(population=twice, schema=SCHEMA)
    with pytest.raises(GuaranteeError, match=r"delta-presence: low = 0, high = 0.4 was promised, the weakest class"):
        promising(plain, DeltaPresence(low=0, high=0.4)).verify(population=twice, schema=SCHEMA)


def test_only_the_schema_knows_all_nodes_above_a_value(plain):
    """Of a node that the manifest leaves out, nobody could tell from the manifest what lies below it."""
    table, manifest = plain.frames["table"], plain.manifest
    alone = sensitive_values(table, manifest, Problems(), None)["disease"].tree
    known = sensitive_values(table, manifest, Problems(), SCHEMA)["disease"].tree
    assert not alone.complete
    assert known.complete
    assert set(known.names) == {"*", "lung", "flu", "asthma", "belly", "stomach", "ulcer"}


def test_guards_are_looked_at(plain):
    table = plain.frames["table"]
    made = promising(plain, GuardingNodes("disease", p=0.8))
    guards = pl.Series([None] * 15 + ["lung"], dtype=pl.String)
    assert made.verify(guards=guards, schema=SCHEMA).achieved["breach:disease"] == 0.75
    unguarded = pl.Series(["gastritis"] * 16)
    assert made.verify(guards=unguarded, schema=SCHEMA).achieved["breach:disease"] == 0
    for known in ({"guards": guards}, {"schema": SCHEMA}):  # who does not know the nodes cannot tell what is guarded
        verdict = made.verify(**known)
        assert verdict.unchecked == (
            "guarding-nodes of 'disease': needs the schema and the guarding nodes that people chose",
        )
        assert "breach:disease" not in verdict.achieved
    with pytest.raises(GuaranteeError, match=r"guarding-nodes: column = disease, p = 0.5 was promised, the weakest"):
        promising(plain, GuardingNodes("disease", p=0.5)).verify(guards=guards, schema=SCHEMA)
    with pytest.raises(shoal.ParameterError, match="guards=: has 3 entries, the published table has 16 rows"):
        made.verify(guards=table["disease"][:3], schema=SCHEMA)


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


def test_what_a_tree_gives_is_found_again_without_nodes_that_no_cell_shows(tmp_path):
    """The holder knows more of a tree than a release shows; rounding once told the two apart, and refused the files."""
    path = tmp_path / "tree.csv"
    path.write_text("flu;lung;*\nasthma;lung;*\nulcer;gut;*\ncolitis;gut;*\npolio;nerve;*\nplague;*\n")
    tree = shoal.Hierarchy.from_csv(path)
    times = {"ulcer": 2, "polio": 2, "plague": 1, "flu": 1, "colitis": 1, "asthma": 3}
    diseases = [disease for disease, n in times.items() for _ in range(n)]
    frame = pl.DataFrame({"age": range(10), "disease": diseases})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(tree)})
    closeness = TCloseness("disease", t=0.5, distance="hierarchical")
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=10), require=[closeness])
    assert release.manifest.achieved["t_hierarchical:disease"] == 0
    check_directory(release.write(tmp_path / "release"))
