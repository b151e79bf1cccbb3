"""Requirements that make no sense, do not fit a column, or that no grouping can satisfy: refused before any work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EpsilonM,
    GuardingNodes,
    InfeasibleError,
    KMap,
    LDiversity,
    ParameterError,
    TCloseness,
)
from shoal.check.promises import reached
from shoal.errors import Problems
from shoal.privacy import MODELS, promised_requirement
from shoal.privacy.base import SLACK, Classes, ColumnRequirement, Values
from shoal.table.prepare import prepare
from support.forging import with_entries

TREE = shoal.Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "*")])
FRAME = pl.DataFrame(
    {
        "age": [21, 22, 23, 41, 42, 43],
        "disease": ["flu", "flu", "flu", "asthma", "ulcer", "flu"],
        "illness": ["flu", "flu", "asthma", "asthma", "ulcer", "ulcer"],
        "grade": ["low", "mid", "high", "low", "mid", "high"],
        "income": [10.5, 11, 12, 13, 14, 15],
        "gaps": [1, 2, None, 4, 5, 6],
        "same": ["x"] * 6,
        "note": list("abcdef"),
        "guard": ["lung", None, "flu", None, None, "ulcer"],
    }
)
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric()},
    sensitive={
        "disease": shoal.Nominal(TREE), "illness": None, "grade": shoal.Ordinal(["low", "mid", "high"]),
        "income": shoal.Numeric(), "gaps": shoal.Numeric(), "same": shoal.Nominal(),
    },
    neutral=["note"],
    choice="guard",
)  # fmt: skip


def checked(requirement, frame=FRAME, schema=SCHEMA):
    return prepare(frame, schema, extra_check=requirement.check)


# -- parameters that contradict each other ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"l": 2.5}, r"LDiversity\(l=\): needs a whole number of at least 2, got 2.5 for variant 'distinct'"),
        ({"l": 1.5, "variant": "recursive", "c": 2}, r"LDiversity\(l=\): needs a whole number of at least 2, got 1.5"),
        ({"l": 1, "variant": "entropy"}, r"LDiversity\(l=\): needs a number in \(1, inf\), got 1"),
        ({"l": 2, "variant": "recursive"}, r"LDiversity\(c=\): is needed for variant 'recursive'; give"),
        ({"l": 2, "c": 3}, r"LDiversity\(c=\): does not apply to variant 'distinct'; leave it out"),
        ({"l": 2, "variant": "entropy", "c": 3}, r"LDiversity\(c=\): does not apply to variant 'entropy'"),
    ],
)
def test_diversity_says_which_parameters_go_together(settings, match):
    with pytest.raises(ParameterError, match=match):
        LDiversity("disease", **settings)


def test_all_that_is_wrong_with_a_diversity_comes_at_once():
    with pytest.raises(ParameterError, match=r"2 problems(.|\n)*LDiversity\(l=\)(.|\n)*LDiversity\(c=\)"):
        LDiversity("disease", l=2.5, c=1)


@pytest.mark.parametrize("t", [-0.1, 1.1])
def test_a_distance_is_from_0_to_1(t):
    with pytest.raises(ParameterError, match=r"TCloseness\(t=\): needs a number in \[0, 1\], got"):
        TCloseness("disease", t=t)


def test_the_bounds_of_a_chance_are_in_order():
    with pytest.raises(ParameterError, match=r"DeltaPresence\(low=\): low = 0.6 is above high = 0.5; swap them"):
        DeltaPresence(low=0.6, high=0.5)


# -- columns that do not fit --------------------------------------------------------------------------------------

COLUMN_MODELS = [
    LDiversity("s", l=2), AlphaK("s", alpha=0.9), TCloseness("s", t=0.5), EpsilonM("s", epsilon=1, m=2),
    DeltaDisclosure("s", delta=1), BetaLikeness("s", beta=1), GuardingNodes("s", p=0.5),
]  # fmt: skip


@pytest.mark.parametrize("model", COLUMN_MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize(
    ("column", "match"),
    [
        ("diseas", r": the table has no column 'diseas'; did you mean 'disease'\?"),
        ("age", r": column 'age' is quasi, not sensitive; sensitive: disease, illness, grade, inc"),
        ("note", r": column 'note' is neutral, not sensitive"),
        ("guard", r": column 'guard' is choice, not sensitive"),
    ],
)
def test_only_sensitive_columns_can_be_protected(model, column, match):
    moved = type(model)(**{**model.to_mapping(), "column": column})
    with pytest.raises(ParameterError, match=f"require {model.name}{match}"):
        checked(moved)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (TCloseness("disease", t=0.5, distance="ordered"), r"'disease' is nominal, and the ordered distance needs num"),
        (TCloseness("illness", t=0.5, distance="ordered"), r"'illness' has no kind in the schema, and the ordered"),
        (TCloseness("gaps", t=0.5, distance="ordered"), r"'gaps' has missing values, which have no place in an order"),
        (TCloseness("illness", t=0.5, distance="hierarchical"), r"'illness' has no hierarchy, and the hierarchical"),
        (TCloseness("income", t=0.5, distance="hierarchical"), r"'income' has no hierarchy.*; make it nominal with"),
        (EpsilonM("grade", epsilon=1, m=2), r"'grade' is ordinal, but the model needs numbers; make it num"),
        (EpsilonM("illness", epsilon=1, m=2), r"'illness' has no kind in the schema, but the model needs numbers"),
        (GuardingNodes("grade", p=0.5), r"'grade' has no hierarchy; make it nominal"),
        (AlphaK("disease", alpha=0.9, values=["flu", "HIV"]), r"'disease' does not have 1 of the given values: HIV"),
        (AlphaK("income", alpha=0.9, values=["11.0", "eleven"]), r"'income' does not have 1 of the given.*: eleven"),
    ],
    ids=lambda part: part.name if isinstance(part, ColumnRequirement) else "",
)
def test_a_column_that_does_not_fit_is_named_with_the_reason(model, match):
    with pytest.raises(ParameterError, match=match):
        checked(model)


def test_columns_that_fit_are_accepted():
    for model in (
        TCloseness("grade", t=0.5, distance="ordered"), TCloseness("income", t=0, distance="ordered"),
        TCloseness("disease", t=0, distance="hierarchical"), TCloseness("gaps", t=0),
        EpsilonM("gaps", epsilon=1, m=2), AlphaK("income", alpha=0.5, values=["11"]), GuardingNodes("disease", p=0.5),
        LDiversity("disease", l=3), LDiversity("gaps", l=6), DeltaDisclosure("same", delta=0.1), KMap(k=9),
        BetaLikeness("same", beta=0.1, variant="enhanced"), DeltaPresence(low=0.9, high=0.9),
    ):  # fmt: skip
        checked(model)


def test_a_tree_that_could_not_be_built_is_one_problem():
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(shoal.Intervals(width=[5]))}, rest="drop"
    )
    model = TCloseness("disease", t=0.5, distance="hierarchical")
    with pytest.raises(
        shoal.SchemaError, match=r"^column 'disease': intervals needs numbers, but the column is nominal"
    ):
        checked(model, schema=schema)


# -- what no grouping can satisfy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (LDiversity("disease", l=4), r"require l-diversity: .*reach only l = 3; use an l of at most 3$"),
        (LDiversity("same", l=2), r"reach only l = 1; the column has only one value"),
        (
            LDiversity("disease", l=3, variant="entropy"),
            r"'disease': all rows as one class reach only entropy_l = 2.38\d+; use an l of at most 2.38\d+$",
        ),
        (LDiversity("disease", l=2, variant="recursive", c=2), r"reach only c\(l=2\) = 2; use a c above 2$"),
        (
            LDiversity("disease", l=4, variant="recursive", c=2),
            r"has only 3 values, but l = 4 .*; use an l of at most 3$",
        ),
        (AlphaK("disease", alpha=0.5), r"reach only alpha = 0.666667; use an alpha of at least 0.666667$"),
        (AlphaK("disease", alpha=0.1, values=["ulcer"]), r"alpha\(ulcer\) = 0.166667; use an alpha of at least 0.1666"),
    ],
)
def test_the_nearest_value_that_can_be_reached_is_named(model, match):
    with pytest.raises(InfeasibleError, match=match):
        checked(model)


@given(st.lists(st.sampled_from("aabbcd"), min_size=2, max_size=20))
def test_the_nearest_value_that_is_named_can_be_reached(values):
    column = Values(pl.Series(values))
    whole = Classes(np.zeros(len(values), dtype=np.int64), {"s": column})
    for model, name in (
        (LDiversity("s", l=9), "l"),
        (LDiversity("s", l=9, variant="entropy"), "l"),
        (LDiversity("s", l=2, variant="recursive", c=0.01), "c"),
        (AlphaK("s", alpha=0.01), "alpha"),
    ):
        advice = model.nearest(model.achieved(whole))
        if len(set(values)) == 1 and name != "alpha":
            assert "only one value" in advice or advice == "use a smaller l"
            continue
        bound = float(advice.split()[-1]) + (SLACK if " above " in advice else 0)
        bound = int(bound) if model.key == "l:s" else bound
        nearer = type(model)(**{**model.to_mapping(), name: bound})
        assert nearer.holds(nearer.achieved(whole))


def test_guards_must_be_nodes_and_not_the_root():
    frame = FRAME.with_columns(guard=pl.Series(["lung", "*", "liver", None, None, "*"]))
    with pytest.raises(ParameterError, match="guard") as caught:
        checked(GuardingNodes("disease", p=0.5), frame)
    first, second = map(str, caught.value.problems)
    assert first.startswith("column 'guard': 1 cell is not nodes of the hierarchy of 'disease', at row 3; correct them")
    assert second.startswith("column 'guard': 2 people guard the root, which is above every value, at rows 2, 6; on")
    assert "liver" not in str(caught.value)
    checked(GuardingNodes("disease", p=1), frame.with_columns(guard=pl.Series(["*"] * 6)))


def test_guards_are_named_by_their_rows_in_the_input_where_rows_are_dropped():
    frame = FRAME.with_columns(age=pl.Series([None, 2, 3, None, 5, 6]), guard=pl.Series([None, "*", *[None] * 3, "x"]))
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)}, choice="guard", rest="drop"
    )
    with pytest.raises(ParameterError, match=r"(?s)at row 6; .*at row 2; ") as caught:
        shoal.anonymize(
            frame, schema, shoal.Mondrian(k=2), require=[GuardingNodes("disease", p=0.5)], missing="drop", seed=0
        )
    assert len(caught.value.problems) == 2


def test_guards_need_a_choice_column():
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)}, rest="drop")
    with pytest.raises(ParameterError, match=r"require guarding-nodes: the schema has no choice column.*; name it"):
        checked(GuardingNodes("disease", p=0.5), schema=schema)


def test_a_population_can_be_too_small_or_too_well_covered():
    problems = Problems()
    KMap(k=5).check_population(3, 9, problems)
    DeltaPresence(low=0.1, high=0.5).check_population(3, 9, problems)
    assert not len(problems)
    KMap(k=5).check_population(3, 4, problems)
    DeltaPresence(low=0.1, high=0.5).check_population(3, 4, problems)
    with pytest.raises(
        InfeasibleError, match=r"k = 5, but the population has 4 people; use a k of at most 4"
    ) as caught:
        problems.raise_if_any(ParameterError)
    assert "3 of 4 people give a mean probability of 0.75, which is outside the bounds" in str(caught.value)


@pytest.mark.parametrize(
    ("column", "values", "absent"),
    [
        (Values(pl.Series(["flu", "ulcer"])), ["HIV"], ("HIV",)),
        (Values(pl.Series(["flu", "ulcer"])), ["flu", "HIV", "gout"], ("HIV", "gout")),
        (Values(pl.Series(["flu", "ulcer"])), ["flu"], ()),
        (Values(pl.Series(["flu", "flu "])), ["Flu"], ("Flu",)),
        (Values(pl.Series([1, 2]), "numeric"), ["1.0", "3", "one"], ("3", "one")),
        (Values(pl.Series([None, None], dtype=pl.String)), ["flu"], ("flu",)),
        (Values(pl.Series(["secret"])), None, ()),
    ],
)
def test_a_named_value_that_a_published_column_lacks_is_refused(column, values, absent):
    """Anything could be promised of it: a misspelt name would protect nobody, and hold."""
    model = AlphaK("s", alpha=0.5, values=values)
    assert model.lacking(column) == absent
    misfit = model.misfit(column)
    assert (misfit is None) == (not absent)
    if misfit:
        assert misfit.startswith(
            f"does not have {len(absent)} of the given values: {', '.join(absent)}; they are misspelt"
        )


def test_a_part_of_a_column_is_asked_about_the_whole():
    whole = Values(pl.Series(["flu", "HIV"]))
    assert AlphaK("s", alpha=0.5, values=["HIV"]).misfit(whole.take(np.array([0]))) is None


def test_a_published_table_that_lacks_a_named_value_keeps_no_promise_of_it():
    frame = pl.DataFrame({"age": ["20-30"] * 4, "s": ["flu", "ulcer"] * 2})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["s"])
    assert shoal.verify_table(frame, schema, require=[AlphaK("s", alpha=0.5, values=["flu"])]).achieved
    for values in (["HIV"], ["flu", "HIV"]):
        with pytest.raises(ParameterError, match=r"column 's' does not have 1 of the given values: HIV; they are"):
            shoal.verify_table(frame, schema, require=[AlphaK("s", alpha=0.5, values=values)])


def test_a_release_whose_promise_names_a_value_it_lacks_is_refused():
    frame = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62], "s": ["flu", "ulcer", "HIV"] * 2})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["s"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), require=[AlphaK("s", alpha=0.5, values=["HIV"])])
    assert release.verify().achieved["alpha(HIV):s"] == pytest.approx(1 / 3)
    changed = [{**one, "values": ("HIVV",)} if "values" in one else one for one in release.manifest.promise]
    problems = Problems()
    reached([promised_requirement(one) for one in changed], release.verify().classes, problems)
    refused = r"^alpha-k: column 's' does not have 1 of the given values: HIVV;"
    with pytest.raises(shoal.GuaranteeError, match=refused):
        problems.raise_if_any(shoal.GuaranteeError)
    request = release.manifest.recipe.model_copy(update={"require": tuple(changed[1:])})
    with pytest.raises(shoal.GuaranteeError, match=refused):
        with_entries(release, promise=tuple(changed), recipe=request, achieved={}).verify()


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (EpsilonM("s", epsilon=1, m=2), "epsilon-m: column 's' is nominal, but the model needs numbers"),
        (TCloseness("s", t=1, distance="ordered"), "t-closeness: column 's' is nominal, and the ordered"),
        (
            TCloseness("s", t=1, distance="hierarchical"),
            "t-closeness: column 's' has 1 distinct values that are not in",
        ),
        (GuardingNodes("s", p=1), "guarding-nodes: column 's' has 1 distinct values that are not in its hierarchy"),
    ],
)
def test_nobody_meets_a_cell_by_asking_a_column_that_does_not_fit(model, match):
    column = Values(pl.Series(["flu", "secret"]), "nominal", tree=prepare(FRAME, SCHEMA).sensitive["disease"].tree)
    classes = Classes(np.zeros(2, dtype=np.int64), {"s": column}, guards=pl.Series(["flu", None]))
    with pytest.raises(ParameterError, match=match) as caught:
        model.achieved(classes)
    assert "secret" not in str(caught.value)


def test_a_class_without_rows_is_our_mistake():
    classes = Classes(np.array([0, 2]), {"s": Values(pl.Series(["a", "b"]))})
    with pytest.raises(shoal.InternalError, match="a class without rows"):
        AlphaK("s", alpha=1).achieved(classes)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (KMap(k=2), "k-map: needs a population table to compare with, and none is given; give population="),
        (DeltaPresence(low=0, high=1), "delta-presence: needs a population table"),
        (GuardingNodes("s", p=1), "guarding-nodes: needs the guarding nodes that people chose.*; give guards="),
    ],
)
def test_what_only_the_holder_knows_must_be_given(model, match):
    with pytest.raises(ParameterError, match=match):
        model.per_class(Classes(np.zeros(2, dtype=np.int64), {"s": Values(pl.Series(["a", "b"]))}))


# -- names and probes ---------------------------------------------------------------------------------------------


def test_keys_tell_apart_what_differs():
    models = [
        shoal.KAnonymity(k=2), KMap(k=2), DeltaPresence(low=0, high=1), LDiversity("a", l=2), LDiversity("b", l=2),
        LDiversity("a", l=2, variant="entropy"), LDiversity("a", l=2, variant="recursive", c=1),
        LDiversity("a", l=3, variant="recursive", c=1), AlphaK("a", alpha=1), AlphaK("a", alpha=1, values=["x"]),
        AlphaK("a", alpha=1, values=["x", "y"]), TCloseness("a", t=1), TCloseness("a", t=1, distance="ordered"),
        TCloseness("a", t=1, distance="hierarchical"), EpsilonM("a", epsilon=30, m=2), EpsilonM("a", epsilon=31, m=2),
        EpsilonM("a", epsilon=30, m=2, relative=True), DeltaDisclosure("a", delta=1), BetaLikeness("a", beta=1),
        DeltaDisclosure("a", delta=1, absent="ignored"), BetaLikeness("a", beta=1, variant="enhanced"),
        GuardingNodes("a", p=1), EpsilonM("a", epsilon=2000000, m=2), EpsilonM("a", epsilon=2000001, m=2),
        EpsilonM("a", epsilon=0.1, m=2), EpsilonM("a", epsilon=0.1 + 1e-16, m=2),
        AlphaK("a", alpha=1, values=["x, y"]), AlphaK("a", alpha=1, values=['"x', 'y"']),
        AlphaK("a", alpha=1, values=['"x, y"']), AlphaK("a", alpha=1, values=["x):b"]),
        AlphaK("b):a", alpha=1, values=["x"]), AlphaK("a", alpha=1, values=["x)"]),
        AlphaK("a", alpha=1, values=["(x)"]),
    ]  # fmt: skip
    assert len({model.key for model in models}) == len(models)
    assert {"l:a", "entropy_l:a", "c(l=3):a", "alpha:a", "t_ordered:a", "m(epsilon=30):a"} < {m.key for m in models}
    assert {"alpha(x, y):a", "alpha((x)):a", 'alpha("x, y"):a', "m(epsilon=2e+06):a"} < {m.key for m in models}


VALUES = st.lists(st.text(',")( :x\\', min_size=1, max_size=4), min_size=1, max_size=3)


@given(VALUES, VALUES, st.sampled_from(["x", "x):x", ", x):x"]), st.sampled_from(["x", "x):x", ", x):x"]))
def test_keys_of_named_values_are_alike_only_where_all_is_the_same(one, other, column, another):
    models = AlphaK(column, alpha=1, values=one), AlphaK(another, alpha=1, values=other)
    assert (models[0].key == models[1].key) == (models[0] == models[1])


def test_pairs_that_differ_in_what_they_name_can_be_required_together():
    frame = pl.DataFrame({"age": range(6), "s": ["a", "b", "a, b"] * 2, "pay": [0, 5_000_000, 10_000_000] * 2})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"s": shoal.Nominal(), "pay": shoal.Numeric()})
    require = [
        AlphaK("s", alpha=0.5, values=["a", "b"]), AlphaK("s", alpha=0.4, values=["a, b"]),
        EpsilonM("pay", epsilon=2000000, m=2), EpsilonM("pay", epsilon=2000001, m=2.5),
    ]  # fmt: skip
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), require=require, seed=1)
    assert {model.key for model in require} < set(release.verify().achieved)


def test_every_column_is_probed_by_all_that_fits_it():
    table = prepare(FRAME, SCHEMA)
    columns = {name: table.sensitive[name] for name in ("disease", "grade", "gaps")}
    found = {probe.key for model in MODELS.values() for probe in model.probes(columns)}
    for name in columns:
        letters = {"l", "entropy_l", "c(l=2)", "c(l=3)", "alpha", "t", "delta", "delta(ignored)", "beta"}
        assert {f"{letter}:{name}" for letter in [*letters, "beta(enhanced)"]} <= found
    assert {key for key in found if key.startswith("t_")} == {"t_ordered:grade", "t_hierarchical:disease"}
    assert "k" in found


def test_numbers_too_close_for_any_grouping_are_said_before_work():
    frame = pl.DataFrame({"age": list(range(12)), "income": [10] * 5 + [11, 12, 40, 70, 100, 130, 160]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    with pytest.raises(shoal.InfeasibleError, match=r"7 of 12 rows are close to each other.*an m of at most 1\.714"):
        shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=[shoal.EpsilonM("income", epsilon=2, m=2)])


def test_a_node_that_too_many_guard_from_within_is_refused_before_any_work():
    """Whatever the classes are: who guards a node above the own value is in one of them as often as in all."""
    tree = shoal.Hierarchy([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "gut", "*")])
    frame = pl.DataFrame(
        {"age": [1, 2, 3, 4], "s": ["flu", "cold", "ulcer", "ulcer"], "guard": ["lung", "lung", None, "lung"]}
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"s": shoal.Nominal(tree)}, choice="guard")
    require = [shoal.GuardingNodes("s", p=0.4)]
    with pytest.raises(shoal.InfeasibleError, match=r"2 of 4 people guard one node.*use a p of at least 0\.5$"):
        shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=require)
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=[shoal.GuardingNodes("s", p=0.5)])
    assert release.receipt.achieved == {"breach:s": 0.5}
    assert release.manifest.achieved == {"k": 4}


@pytest.mark.parametrize(("letter", "n_problems"), [("size", 0), ("k", 1)])
def test_a_model_of_another_package_reports_by_a_word_of_its_own(letter, n_problems):
    @dataclass(frozen=True)
    class Sized(shoal.KAnonymity):
        name: ClassVar[str] = "sized"
        measures: ClassVar[str] = letter

    problems = Problems()
    Sized.check_declared("Sized", problems)
    assert len(problems) == n_problems
