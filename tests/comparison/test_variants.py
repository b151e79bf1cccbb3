"""Which recipes a grid has, what they are called, and which are left out with what reason."""

from __future__ import annotations

import pytest

import shoal
from shoal.comparison.variants import grid

SCHEMA = shoal.sample.schema()
BASE = shoal.Recipe(SCHEMA, shoal.Caat(k=4, ties="all"), require=(shoal.LDiversity("disease", l=2),))


def names(found):
    return [one.name for one in found.variants]


def test_every_combination_is_there_once():
    found = grid(BASE, ["mondrian", "mdav"], k=[3, 5], publish=["generalize", "aggregate"])
    assert names(found) == [
        "mondrian k=3", "mondrian k=3 aggregate", "mondrian k=5", "mondrian k=5 aggregate",
        "mdav k=3 generalize", "mdav k=3", "mdav k=5 generalize", "mdav k=5",
    ]  # fmt: skip
    assert found.left_out == ()


def test_one_of_a_kind_needs_no_list():
    found = grid(BASE, "mondrian", k=3, publish="generalize")
    assert names(found) == names(grid(BASE, ["mondrian"], k=[3], publish=["generalize"])) == ["mondrian k=3"]
    plain = shoal.Recipe(SCHEMA, shoal.Caat(k=4))
    assert names(grid(plain, shoal.Anatomy(l=3, column="disease"), l=2)) == ["anatomy l=2 column=disease"]


@pytest.mark.parametrize("require", [[shoal.LDiversity("disease", l=2)], shoal.LDiversity("disease", l=2), ["entropy"]])
def test_alternatives_of_requirements_are_lists(require):
    with pytest.raises(shoal.ParameterError, match="require=: needs a list of requirements for each alternative"):
        grid(BASE, ["mondrian"], require=require)


def test_a_reason_that_several_requirements_have_is_given_once():
    twice = (shoal.LDiversity("disease", l=2), shoal.LDiversity("disease", l=2, variant="entropy"))
    found = grid(shoal.Recipe(SCHEMA, shoal.Caat(k=4), require=twice), ["slicing"])
    assert dict(found.left_out)["slicing l=2"].count("l-diversity cannot be kept by slicing") == 1


def test_the_method_of_the_recipe_keeps_its_parameters():
    assert names(grid(BASE, ["caat"])) == ["caat k=4 ties=all"]
    assert names(grid(BASE, ["caat", "mondrian"], k=[7])) == ["caat k=7 ties=all", "mondrian k=7"]
    assert names(grid(BASE, ["mondrian"])) == ["mondrian k=4"]


def test_a_method_that_is_given_whole_is_tried_as_it_is():
    given = [shoal.Mondrian(k=6, strict=False), shoal.Anatomy(l=3, column="disease")]
    plain = shoal.Recipe(SCHEMA, shoal.Caat(k=4))
    assert names(grid(plain, given)) == ["mondrian k=6 strict=False", "anatomy l=3 column=disease"]
    assert names(grid(plain, given, k=[2], l=[2, 4])) == [
        "mondrian k=2 strict=False", "anatomy l=2 column=disease", "anatomy l=4 column=disease",
    ]  # fmt: skip


def test_requirements_of_the_recipe_stay_and_alternatives_are_named():
    close = shoal.TCloseness("disease", t=0.4)
    found = grid(BASE, ["mondrian"], require=[[], [close]])
    assert [one.recipe.require for one in found.variants] == [BASE.require, (*BASE.require, close)]
    first, second = names(found)
    assert first == "mondrian k=4"
    assert second.startswith("mondrian k=4 t-closeness(column=disease, t=0.4")


def test_what_cannot_be_is_left_out_with_the_reason():
    found = grid(BASE, ["threshold-greedy", "slicing", "mondrian"], publish=["generalize", "slices"])
    left_out = dict(found.left_out)
    assert names(found) == ["mondrian k=4"]
    assert left_out["threshold-greedy k=4"] == "threshold-greedy.delta: missing"
    assert "cannot be shown by slices" in left_out["mondrian k=4 slices"] or "slices" in left_out["mondrian k=4 slices"]
    assert any(name.startswith("slicing") and "l-diversity cannot be kept" in why for name, why in found.left_out)


def test_all_methods_are_tried_when_none_is_named():
    tried = {one.recipe.method.name for one in grid(BASE).variants}
    assert {"caat", "mondrian", "mdav", "k-means"} <= tried


def test_unknown_names_are_all_in_one_error():
    with pytest.raises(shoal.ParameterError) as refused:
        grid(BASE, ["mondriaan", "mdav", "kaka"], publish=["generalise"])
    assert len(refused.value.problems) == 3
    assert "did you mean 'mondrian'?" in str(refused.value)


def test_the_key_depends_on_what_figures_depend_on_and_on_nothing_else():
    one, other = grid(BASE, ["mondrian"], k=[3, 5]).variants
    same = grid(BASE, ["mondrian"], k=[3]).variants[0]
    assert one.key("table") == same.key("table")
    assert one.key("table") != other.key("table")
    assert one.key("table") != one.key("another table")
    placed = grid(shoal.Recipe(SCHEMA, BASE.method, shoal.Source(path="x.csv"), BASE.require), ["mondrian"], k=[3])
    assert placed.variants[0].key("table") == one.key("table")
