"""Privacy models agree with their definitions, and joining classes does what they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EpsilonM,
    GuardingNodes,
    Hierarchy,
    KAnonymity,
    KMap,
    LDiversity,
    TCloseness,
)
from shoal.privacy import MODELS
from shoal.privacy.base import SLACK, Classes, Tree, Values
from shoal.testing import CATEGORIES, hierarchies
from support.pairwise import examples
from twins import privacy as twin
from twins.classes import classes_of, grouped, in_classes, parents_of

# -- agreement with the definitions -------------------------------------------------------------------------------


TEXTS = st.one_of(st.none(), st.sampled_from("abcdef"))
NUMBERS = st.integers(-6, 12).map(lambda number: number / 4)


def close(model, classes, wanted):
    """Compare the values per class, and what follows from them."""
    reached, wanted = model.per_class(classes), np.array([float(value) for value in wanted])
    assert reached == pytest.approx(wanted, abs=1e-9)
    worst = wanted.min() if model.rising else wanted.max()
    assert model.achieved(classes) == pytest.approx(worst, abs=1e-9)
    check_consistent(model, classes)


def check_consistent(model, classes):
    good = model.satisfied(classes)
    assert good.tolist() == [model.holds(value) for value in model.per_class(classes).tolist()]
    violation = model.violation(classes)
    assert np.isfinite(violation).all()
    assert (violation >= 0).all()
    assert ((violation == 0) == good).all()
    if model.needs != "population":
        assert model.holds(model.achieved(classes)) == good.all()


@given(in_classes(TEXTS), st.integers(2, 4), st.floats(1.01, 4), st.floats(0.2, 4))
def test_diversity_agrees_with_its_definition(case, whole, real, c):
    labels, values = case
    classes, groups = classes_of(labels, values), twin.split(labels, values)
    close(LDiversity("s", l=whole), classes, map(twin.distinct, groups))
    close(LDiversity("s", l=real, variant="entropy"), classes, map(twin.entropy, groups))
    recursive = LDiversity("s", l=whole, variant="recursive", c=c)
    close(recursive, classes, [twin.recursive(group, whole) for group in groups])


@given(in_classes(TEXTS), st.floats(0.1, 1), st.lists(st.sampled_from("abcdef"), min_size=1))
def test_shares_agree_with_their_definition(case, alpha, named):
    labels, values = case
    classes, groups = classes_of(labels, values), twin.split(labels, values)
    close(AlphaK("s", alpha=alpha), classes, map(twin.alpha, groups))
    close(AlphaK("s", alpha=alpha, values=named), classes, [twin.alpha(group, named) for group in groups])


@given(in_classes(TEXTS), st.floats(0.1, 4))
def test_likeness_agrees_with_its_definition(case, bound):
    labels, values = case
    classes, groups = classes_of(labels, values), twin.split(labels, values)
    close(TCloseness("s", t=min(bound, 1)), classes, [twin.t_equal(group, values) for group in groups])
    for absent in ("counts", "ignored"):
        model = DeltaDisclosure("s", delta=bound, absent=absent)
        close(model, classes, [twin.delta(group, values, absent=absent) for group in groups])
    for variant in ("basic", "enhanced"):
        model = BetaLikeness("s", beta=bound, variant=variant)
        close(model, classes, [twin.beta(group, values, enhanced=variant == "enhanced") for group in groups])


@given(in_classes(NUMBERS), st.floats(0, 1))
def test_ordered_closeness_of_numbers_agrees_with_its_definition(case, t):
    labels, values = case
    order = sorted(set(values))
    wanted = [twin.t_ordered(group, values, order) for group in twin.split(labels, values)]
    close(TCloseness("s", t=t, distance="ordered"), classes_of(labels, values, "numeric"), wanted)


@given(in_classes(st.sampled_from("abcdef")), st.permutations("abcdefg"))
def test_ordered_closeness_of_categories_agrees_with_its_definition(case, order):
    labels, values = case
    wanted = [twin.t_ordered(group, values, order) for group in twin.split(labels, values)]
    close(TCloseness("s", t=0.3, distance="ordered"), classes_of(labels, values, "ordinal", order=order), wanted)


@given(in_classes(st.one_of(st.none(), st.sampled_from(CATEGORIES))), hierarchies(), st.floats(0, 1))
def test_hierarchical_closeness_agrees_with_its_definition(case, hierarchy, t):
    labels, values = case
    parents = parents_of(hierarchy)
    wanted = [twin.t_hierarchical(group, values, parents) for group in twin.split(labels, values)]
    classes = classes_of(labels, values, "nominal", hierarchy=hierarchy)
    close(TCloseness("s", t=t, distance="hierarchical"), classes, wanted)
    exact = TCloseness("s", t=t, distance="hierarchical").per_class(classes).tolist()
    assert exact == [float(value) for value in wanted]  # to the last bit: whichever nodes are known, all find the same


@pytest.mark.parametrize("many", [1, 10**6, 10**12])
def test_hierarchical_closeness_is_exact_for_any_number_of_rows(many):
    tree = Tree(("*", "lung", "flu", "asthma", "ulcer"), (-1, 0, 1, 1, 0), (3, 1, 0, 0, 0), (3, 2, 1, 1, 1))
    values = Values(pl.Series([], dtype=pl.String), "nominal", tree=tree)
    whole = Values.counted(values, ["asthma", "flu", "ulcer"], np.array([3, 1, 6], dtype=np.int64) * many)
    model = TCloseness("s", t=1, distance="hierarchical")
    assert model.per_class(Classes.one("s", whole, np.array([3, 1, 6], dtype=np.int64) * many)).tolist() == [0.0]
    # Edges times changes of shares: (1 * 0.05 + 1 * 0.15 + 2 * 0.1 + 3 * 0.1) / (2 * 3).
    reached = model.per_class(Classes.one("s", whole, np.array([1, 1, 2], dtype=np.int64) * many)).tolist()
    assert reached == [float(Fraction(7, 60))]


@given(in_classes(st.one_of(st.none(), st.sampled_from([*CATEGORIES, "*"])), max_rows=8), hierarchies())
def test_hierarchical_closeness_is_the_least_work(case, hierarchy):
    """Also for values that are inner nodes, as tables of other tools may have them."""
    labels, values = case
    parents = parents_of(hierarchy)
    classes = classes_of(labels, values, "nominal", hierarchy=hierarchy)
    wanted = [twin.emd(g, values, lambda a, b: twin.tree_distance(a, b, parents)) for g in twin.split(labels, values)]
    assert TCloseness("s", t=1, distance="hierarchical").per_class(classes) == pytest.approx(wanted, abs=1e-7)


@given(in_classes(st.integers(0, 5), max_rows=8))
def test_ordered_closeness_is_the_least_work(case):
    labels, values = case
    known = sorted(set(values))
    assume(len(known) > 1)
    wanted = [
        twin.emd(group, values, lambda a, b: abs(known.index(a) - known.index(b)) / (len(known) - 1))
        for group in twin.split(labels, values)
    ]
    classes = classes_of(labels, values, "numeric")
    assert TCloseness("s", t=1, distance="ordered").per_class(classes) == pytest.approx(wanted, abs=1e-7)


@given(in_classes(st.one_of(st.none(), NUMBERS)), st.integers(0, 8).map(lambda n: n / 8), st.floats(1.01, 4))
def test_nearness_agrees_with_its_definition(case, epsilon, m):
    labels, values = case
    classes, groups = classes_of(labels, values, "numeric"), twin.split(labels, values)
    for relative in (False, True):
        model = EpsilonM("s", epsilon=epsilon, m=m, relative=relative)
        close(model, classes, [twin.epsilon_m(group, epsilon, relative=relative) for group in groups])


@given(st.data(), hierarchies(), st.floats(0, 1))
def test_guards_agree_with_their_definition(data, hierarchy, p):
    labels, values = data.draw(in_classes(st.one_of(st.none(), st.sampled_from(hierarchy.names))))
    guards = data.draw(
        st.lists(st.one_of(st.none(), st.sampled_from(hierarchy.names)), min_size=len(labels), max_size=len(labels))
    )
    classes = classes_of(labels, values, "nominal", hierarchy=hierarchy, guards=guards)
    groups = zip(twin.split(labels, values), twin.split(labels, guards), strict=True)
    wanted = [twin.breach(group, guard, parents_of(hierarchy)) for group, guard in groups]
    close(GuardingNodes("s", p=p), classes, wanted)


@given(in_classes(st.one_of(st.none(), NUMBERS)), st.data())
def test_some_rows_are_judged_by_the_whole_table(case, data):
    """Rows left out, or taken twice: what is known and how it is shared out stays that of the table."""
    _, values = case
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=12))
    part = Values(pl.Series(values, dtype=pl.Float64), "numeric").take(np.array(rows))
    taken = [values[row] for row in rows]
    assert part.series.to_list() == taken
    classes = Classes(np.zeros(len(rows), dtype=np.int64), {"s": part})
    assert TCloseness("s", t=1).achieved(classes) == pytest.approx(float(twin.t_equal(taken, values)), abs=1e-9)
    assert BetaLikeness("s", beta=1).achieved(classes) == pytest.approx(twin.beta(taken, values), abs=1e-9)
    assert DeltaDisclosure("s", delta=1).achieved(classes) == pytest.approx(twin.delta(taken, values), abs=1e-9)


# -- joining classes ----------------------------------------------------------------------------------------------

MONOTONE = [
    KAnonymity(k=3),
    LDiversity("s", l=2),
    LDiversity("s", l=2.5, variant="entropy"),
    LDiversity("s", l=2, variant="recursive", c=1.5),
    LDiversity("s", l=3, variant="recursive", c=2),
    AlphaK("s", alpha=0.4),
    AlphaK("s", alpha=0.4, values=["1", "2"]),
    TCloseness("s", t=0.3),
    TCloseness("s", t=0.3, distance="ordered"),
    TCloseness("s", t=0.3, distance="hierarchical"),
    DeltaDisclosure("s", delta=1),
    BetaLikeness("s", beta=0.7),
    BetaLikeness("s", beta=0.7, variant="enhanced"),
]
STEPS = Hierarchy([(str(n), "low" if n < 3 else "high", "*") for n in range(6)])


@settings(max_examples=examples(60))
@given(case=in_classes(st.integers(0, 5).map(str)))
def test_joining_two_classes_never_makes_the_weaker_worse(case):
    labels, values = case
    assume(max(labels) > 0)
    joined_labels = [max(label - 1, 0) for label in labels]
    plain, ordered = (
        [classes_of(some, values, kind, order=order, hierarchy=STEPS) for some in (labels, joined_labels)]
        for kind, order in (("nominal", ()), ("ordinal", "012345"))
    )
    for model in MONOTONE:
        assert model.monotone
        before, after = ordered if model.key.startswith("t_ordered") else plain
        weaker = min if model.rising else max
        joined, apart = model.per_class(after)[0], weaker(model.per_class(before)[:2])
        assert joined >= apart - SLACK if model.rising else joined <= apart + SLACK, model
        if model.satisfied(before)[:2].all():
            assert model.satisfied(after)[0], model


NOT_MONOTONE = [
    EpsilonM("s", epsilon=1, m=2),
    DeltaDisclosure("s", delta=1, absent="ignored"),
    GuardingNodes("s", p=0.5),
    DeltaPresence(low=0, high=1),
]


def test_every_model_says_whether_it_is_monotone():
    assert not any(model.monotone for model in NOT_MONOTONE)
    assert KMap(k=2).monotone  # a wider cell fits whoever a narrower one fits
    tried = {type(model) for model in [*MONOTONE, *NOT_MONOTONE]} | {KMap}
    elsewhere = {"m-uniqueness"}  # with the methods that promise it
    assert {name for name, model in MODELS.items() if model not in tried} <= elsewhere


def test_numbers_of_two_spread_classes_can_be_near():
    model = EpsilonM("s", epsilon=1, m=2)
    apart = model.per_class(grouped([[0, 10], [1, 20]], "numeric"))
    assert apart.tolist() == [2, 2]
    joined = EpsilonM("s", epsilon=1, m=3).per_class(grouped([[0, 10, 20], [1, 11, 21]], "numeric"))
    assert joined.tolist() == [3, 3]
    assert EpsilonM("s", epsilon=1, m=3).achieved(grouped([[0, 10, 20, 1, 1, 21]], "numeric")) == 2


def test_a_value_that_was_ignored_is_looked_at_in_a_joined_class():
    model = DeltaDisclosure("s", delta=0.5, absent="ignored")
    apart = [["a"] * 9 + ["b"], ["a"] * 10, ["a"] * 8 + ["b"] * 2]
    joined = [["a"] * 19 + ["b"], ["a"] * 8 + ["b"] * 2]
    assert model.per_class(grouped(apart))[:2].max() < 0.2
    assert model.per_class(grouped(joined))[0] > 0.6


def test_another_class_may_bring_in_what_is_guarded():
    tree = Hierarchy.flat("flu", "ulcer")
    guards = [None, "ulcer", None, None]
    apart = grouped([["flu", "flu"], ["ulcer", "ulcer"]], "nominal", hierarchy=tree, guards=guards)
    joined = grouped([["flu", "flu", "ulcer", "ulcer"]], "nominal", hierarchy=tree, guards=guards)
    model = GuardingNodes("s", p=0.2)
    assert (model.achieved(apart), model.achieved(joined)) == (0, 0.5)
