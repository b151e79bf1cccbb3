"""Privacy models: worked values of the literature and cases that can be reckoned by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

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
    Numeric,
    ParameterError,
    Schema,
    TCloseness,
)
from shoal.errors import Problems
from shoal.privacy.base import Classes, Matches, Tree, Values
from shoal.privacy.m_uniqueness import MUniqueness
from shoal.table.prepare import prepare
from twins.classes import classes_of, grouped

TIGHT = 1e-12

SALARIES = list(range(3, 12))
DISEASES = Hierarchy(
    [(leaf, "infection", "respiratory", "*") for leaf in ("flu", "pneumonia", "bronchitis")]
    + [(leaf, "stomach", "digestive", "*") for leaf in ("ulcer", "gastritis", "cancer")]
)
NINE = ["ulcer", "gastritis", "gastritis", "cancer", "cancer", "flu", "bronchitis", "bronchitis", "pneumonia"]


def alone(group, table):
    """A class and all other rows as a second one, so that the table is the given one."""
    rest = list(table)
    for value in group:
        rest.remove(value)
    return [group, rest]


@pytest.mark.parametrize(
    ("group", "t"), [([3, 4, 5], 3 / 8), ([6, 8, 11], 1 / 6), ([3, 5, 9], 1 / 6), ([4, 7, 10], 1 / 12)]
)
def test_salaries_of_the_t_closeness_paper(group, t):
    classes = grouped(alone(group, SALARIES), "numeric")
    assert TCloseness("s", t=1, distance="ordered").per_class(classes)[0] == pytest.approx(t, abs=TIGHT)


@pytest.mark.parametrize(
    ("group", "t"),
    [
        (["ulcer", "cancer", "pneumonia"], 7 / 27),
        (["gastritis", "flu", "bronchitis"], 8 / 27),
        (["gastritis", "bronchitis", "cancer"], 5 / 27),
    ],
)
def test_nine_diseases_in_their_tree(group, t):
    classes = grouped(alone(group, NINE), "nominal", hierarchy=DISEASES)
    assert TCloseness("s", t=1, distance="hierarchical").per_class(classes)[0] == pytest.approx(t, abs=TIGHT)


TABLE_IV = {
    "disease": [["stomach cancer", "bronchitis", "bronchitis", "bronchitis"], ["flu", "gastritis", "flu"]],
    "income": [[15000, 10000, 10020, 10030], [22000, 20000, 23000]],
}
"""Seven patients in two classes: ages 21 to 29 and 31 to 60."""


def test_seven_patients():
    disease, income = grouped(TABLE_IV["disease"]), grouped(TABLE_IV["income"], "numeric")
    assert KAnonymity(k=2).achieved(disease) == 3
    assert LDiversity("s", l=2).achieved(disease) == 2
    entropy = LDiversity("s", l=2, variant="entropy")
    assert entropy.achieved(disease) == pytest.approx(1.7548, abs=5e-5)
    assert np.log(entropy.per_class(disease)) == pytest.approx([0.5623, 0.6365], abs=5e-5)
    assert not entropy.holds(entropy.achieved(disease))
    assert AlphaK("s", alpha=1).achieved(disease) == 3 / 4
    assert TCloseness("s", t=1).per_class(disease) == pytest.approx([3 / 7, 4 / 7], abs=TIGHT)
    ordered = TCloseness("s", t=1, distance="ordered")
    assert ordered.per_class(income) == pytest.approx([1 / 4, 1 / 3], abs=TIGHT)
    assert EpsilonM("s", epsilon=30, m=2).per_class(income) == pytest.approx([4 / 3, 3], abs=TIGHT)


@pytest.mark.parametrize(("c", "kept"), [(3, False), (3.0000001, True)])
def test_recursive_diversity_is_strict(c, kept):
    recursive = LDiversity("s", l=2, variant="recursive", c=c)
    classes = grouped(TABLE_IV["disease"])
    assert recursive.achieved(classes) == 3
    assert recursive.holds(3) == kept
    assert (recursive.violation(classes).max() == 0) == kept


SCORES = """76,42,75,30,30,72,55 56,72,30,73,37,52,71 34,82,60,57,56 59,68,69 73,40,39,58,76 58,64,65,50,40 62,39,74,52
78,64,36,38,51 48,54,67,47 66,67 68,43,39,72 34,33,48 44,67,32,68 32,69,74,80,50,34,54,59,33 36,51,65,77
60,51,87,48,87,95,64,84,53,52,53 47,50,66,74,84 62,80,77,67,95,87,60 55,52 69,45,91,79,57,59 72,65,80,46,48 85,76,65
68,91 82,69,92 49,73,60 72,68 89,79,53,83,61,51,60,95 85,91,48,86,71 65,84 62,71,79,82 57 51,90,47,79,45,75,79
71,59,53,72,94 77,89,93,73,89 85,85,93,56 89,91,58,64,68 62,61,79,66,52,87 61,46,85,48,89,56 70,59,63,68,45 61,58
52,88,76,53,58,68,64,83 82,93,65,82,70,53 78,83,84,83 57,67,57,81,91,57 87,63,83,83,72 65,53"""
"""Scores of the 46 classes of StudentsMath_Score by teacher, gender, ethnic, lunch and school, as pyCANON's tests have
it; its k5 version holds the classes of five and more."""


@pytest.mark.parametrize(
    ("least", "rows", "k", "distinct", "entropy", "alpha", "t", "delta", "beta"),
    [
        (1, 216, 1, 1, 1.0, 1.0, 0.4165919952210274, 4.276666119016055, 71),
        (5, 154, 5, 4, math.sqrt(12), 0.5, 0.31023287057769827, 3.4275146899795286, 29.8),
    ],
)
def test_scores_of_students(least, rows, k, distinct, entropy, alpha, t, delta, beta):
    groups = [[int(score) for score in group.split(",")] for group in SCORES.split()]
    classes = grouped([group for group in groups if len(group) >= least], "numeric")
    assert len(classes.labels) == rows
    assert KAnonymity(k=2).achieved(classes) == k
    assert LDiversity("s", l=2).achieved(classes) == distinct
    assert LDiversity("s", l=2, variant="entropy").achieved(classes) == pytest.approx(entropy, abs=TIGHT)
    assert AlphaK("s", alpha=1).achieved(classes) == alpha
    assert TCloseness("s", t=1, distance="ordered").achieved(classes) == pytest.approx(t, abs=TIGHT)
    assert DeltaDisclosure("s", delta=1, absent="ignored").achieved(classes) == pytest.approx(delta, abs=TIGHT)
    assert BetaLikeness("s", beta=1).achieved(classes) == pytest.approx(beta, abs=TIGHT)


def test_guarding_nodes_by_hand():
    tree = Hierarchy(
        [(leaf, "respiratory infection", "*") for leaf in ("flu", "pneumonia", "bronchitis")] + [("gastritis", "*")]
    )
    shown = ["flu", "pneumonia", "respiratory infection", "gastritis"]
    for guard, chance in (("respiratory infection", 0.75), ("pneumonia", 1 / 3), ("gastritis", 1 / 4), ("*", 1)):
        classes = classes_of([0] * 4, shown, "nominal", hierarchy=tree, guards=[None, guard, None, None])
        assert GuardingNodes("s", p=1).achieved(classes) == pytest.approx(chance, abs=TIGHT)
    nobody = classes_of([0] * 4, shown, "nominal", hierarchy=tree, guards=[None] * 4)
    assert GuardingNodes("s", p=0).achieved(nobody) == 0


def test_a_guard_outside_of_a_pruned_tree():
    """A manifest holds only nodes above what is shown: no shown leaf lies below another, an inner node may."""
    pruned = Tree(("*", "lung", "flu"), (-1, 0, 1), (2, 1, 0), (5, 3, 1))
    for shown, chance in ((["flu", "flu"], 0), (["flu", "lung"], 1 / 2)):
        column = Values(pl.Series(shown), "nominal", tree=pruned)
        classes = Classes(np.zeros(2, dtype=np.int64), {"s": column}, pl.Series(["asthma", None]))
        assert GuardingNodes("s", p=0).achieved(classes) == chance


def test_relative_nearness():
    classes = grouped([[100, 109, 120, -100, 0, 0]], "numeric")
    # A tenth of 109 reaches down to 100, not up to 120; the two zeros are near each other alone.
    assert EpsilonM("s", epsilon=0.1, m=2, relative=True).achieved(classes) == 6 / 2
    assert EpsilonM("s", epsilon=0.2, m=2, relative=True).achieved(classes) == 6 / 3


def test_differences_that_equal_epsilon_but_for_rounding_are_near():
    assert 0.1 + 0.2 > 0.3
    assert EpsilonM("s", epsilon=0.2, m=2).achieved(grouped([[0.1, 0.3]], "numeric")) == 1
    assert EpsilonM("s", epsilon=0.1, m=2).achieved(grouped([[0.3, 0.4]], "numeric")) == 1  # 0.4 - 0.3 > 0.1


def test_a_class_of_one_value_is_not_close_to_a_mixed_table():
    classes = grouped([["flu"] * 5, ["flu", "ulcer"] * 3], "nominal", hierarchy=Hierarchy.flat("flu", "ulcer"))
    for distance in ("equal", "hierarchical"):
        close = TCloseness("s", t=0.01, distance=distance)
        assert not close.holds(close.achieved(classes))
        assert not close.satisfied(classes)[0]
    numbers = grouped([[1] * 5, [1, 2] * 3], "numeric")
    assert not TCloseness("s", t=0.01, distance="ordered").holds(TCloseness("s", t=0.01).achieved(numbers))


@pytest.mark.parametrize(
    ("model", "lacks"),
    [
        (KAnonymity(k=5), [1 / 5, 1 / 5]),
        (LDiversity("s", l=3), [1 / 3, 2 / 3]),
        (LDiversity("s", l=1.5, variant="entropy"), [0, 1 / 3]),
        (
            LDiversity("s", l=2, variant="recursive", c=1.5),
            [0, 1 / 2 + 1],
        ),  # y is absent, x too frequent
        (LDiversity("s", l=2, variant="recursive", c=0.5), [1 / 2, 1 / 2 + 1]),
        (AlphaK("s", alpha=0.6), [0, 0.4]),
        (TCloseness("s", t=0.1), [0.15, 0.15]),
        (DeltaDisclosure("s", delta=0.5), [1 - 0.5 / math.log(2), 1 + 1]),  # y is twice as frequent; y is absent
        (DeltaDisclosure("s", delta=0.5, absent="ignored"), [1 - 0.5 / math.log(2), 0]),
        (BetaLikeness("s", beta=0.2), [1 / 2 - 1.2 / 4, 1 - 1.2 * 3 / 4]),
        (BetaLikeness("s", beta=5, variant="enhanced"), [0, 1 - (1 - math.log(3 / 4)) * 3 / 4]),
        (MUniqueness("s", m=4), [2 / 4 + 2 / 4, 3 / 4 + 3 / 4]),
    ],
    ids=str,
)
def test_how_far_a_class_is_from_enough(model, lacks):
    """Repair takes the step that brings groups nearest to a promise for its price, so the amount counts."""
    classes = grouped([["x", "x", "y", "y"], ["x", "x", "x", "x"]], "nominal")
    assert model.violation(classes) == pytest.approx(lacks)


def test_how_far_near_numbers_are_from_enough():
    classes = grouped([[1, 1, 5, 9], [1, 1, 1, 2]], "numeric")
    assert EpsilonM("s", epsilon=1, m=3).violation(classes) == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (KAnonymity, {"k": 1}), (KMap, {"k": 1}), (LDiversity, {"l": 1}), (LDiversity, {"l": 1, "variant": "entropy"}),
        (LDiversity, {"l": 2, "variant": "recursive", "c": 0}), (AlphaK, {"alpha": 0}), (AlphaK, {"alpha": 1.01}),
        (TCloseness, {"t": -0.01}), (TCloseness, {"t": 1.01}), (BetaLikeness, {"beta": 0}),
        (DeltaDisclosure, {"delta": 0}), (EpsilonM, {"epsilon": -0.01, "m": 2}), (EpsilonM, {"epsilon": 1, "m": 1}),
        (MUniqueness, {"m": 1}), (GuardingNodes, {"p": -0.01}), (GuardingNodes, {"p": 1.01}),
        (DeltaPresence, {"low": -0.01, "high": 1}),
        (DeltaPresence, {"low": 0, "high": 1.01}), (DeltaPresence, {"low": 0.6, "high": 0.5}),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_asked_for(model, given):
    column = {} if model in (KAnonymity, KMap, DeltaPresence) else {"column": "s"}
    with pytest.raises(ParameterError, match=f"{model.__name__}\\("):
        model(**column, **given)


def test_a_table_of_k_rows_can_keep_k():
    table = prepare(pl.DataFrame({"a": [1, 2, 3, 4]}), Schema(quasi={"a": Numeric()}))
    for k, n_problems in ((4, 0), (5, 1)):
        problems = Problems()
        KAnonymity(k=k).check(table, problems)
        assert len(problems) == n_problems


def test_a_population():
    matches = Matches(per_class=np.array([4, 5]), chance=np.array([0.5] * 4 + [0.4] * 4 + [0.0]))
    classes = Classes(np.array([0, 0, 1, 1]), {}, matches=matches)
    assert (KMap(k=4).achieved(classes), KMap(k=4).holds(4), KMap(k=5).holds(4)) == (4, True, False)
    assert KMap(k=5).violation(classes).tolist() == [0.2, 0.0]
    assert DeltaPresence(low=0, high=0.5).achieved(classes) == 0.5
    assert DeltaPresence(low=0.1, high=0.5).achieved(classes) == 0.0  # somebody is certain to be absent
    assert not DeltaPresence(low=0.1, high=0.5).holds(0.0)
    assert DeltaPresence(low=0, high=0.45).violation(classes) == pytest.approx([0.05, 0.0])
    strangers = Classes(np.array([0, 0]), {}, matches=Matches(np.array([0]), np.array([0.0])))
    assert DeltaPresence(low=0, high=1).achieved(strangers) == math.inf
    assert not DeltaPresence(low=0, high=1).satisfied(strangers).any()


@pytest.mark.parametrize(("name", "share"), [(2**53, 1.0), (2**53 + 1, 0.25), (5, 0.25), ("5.0", 0.25)])
def test_a_named_number_is_that_one_and_not_the_next_that_is_the_same_as_a_float(name, share):
    column = Values(pl.Series([2**53, 2**53, 5, 7, 6, 2**53 + 1]), "numeric")
    classes = Classes(np.array([0, 0, 1, 1, 1, 1]), {"s": column})
    assert AlphaK("s", alpha=0.5, values=(str(name),)).achieved(classes) == share


def test_named_numbers_are_written_as_cells_are():
    columns = {"s": Values(pl.Series([2**53, 2**53 + 1, 5]), "numeric")}
    named = AlphaK("s", alpha=0.5, values=("5.0", str(2**53), str(2**53 + 1), "1e3"))
    assert named.spelt(columns).values == ("1000", "5", str(2**53), str(2**53 + 1))
