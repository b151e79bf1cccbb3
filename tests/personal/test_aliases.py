"""Aliases: what each choice shows, what aliases look like, and how flat they are."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.hidden import TOKEN
from support.pairwise import examples

TREE = shoal.Hierarchy([["flu", "lung", "*"], ["asthma", "lung", "*"], ["ulcer", "stomach", "*"]])
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)}, choice="show")


def shown(diseases, choices, seed=7, schema=SCHEMA, **options):
    """The release of some diseases, and what each row shows."""
    frame = pl.DataFrame({"age": range(len(diseases)), "disease": diseases, "show": choices})
    aliases = shoal.Aliases("disease", **options)
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=aliases, seed=seed)
    by_age = dict(release.table.select("age", "disease").iter_rows())
    return release, [by_age[age] for age in range(len(diseases))]


def test_every_choice_shows_what_it_says():
    release, cells = shown(["flu", "flu", "flu", "flu", "ulcer"], [1, 2, 3, 2, 3])
    assert cells[0] == "flu"
    assert cells[1] == cells[3] != cells[2]
    assert len(set(cells)) == 4
    assert all(TOKEN.fullmatch(cell) for cell in cells[1:])
    meanings = release.key.by_name["disease"].values
    assert [meanings.get(cell, (cell,)) for cell in cells] == [("flu",)] * 4 + [("ulcer",)]
    assert "show" not in release.table.columns
    assert release.manifest.layout.passed[0].clear == ("flu",)


def test_choice_2_can_generalise():
    _, cells = shown(["flu", "asthma", "ulcer", None], [2, 2, 2, 2], choice2="generalise")
    assert cells == ["lung", "lung", "stomach", "*"]


def test_a_missing_value_has_an_alias_too():
    release, cells = shown(["flu", None, None], [1, 2, 1])
    assert cells[0] == "flu"
    assert cells[2] is None
    assert release.key.by_name["disease"].values[cells[1]] == (None,)


def test_of_a_value_that_too_few_show_none_is_shown():
    _, cells = shown(["flu", "flu", "flu", "ulcer", "ulcer"], [1, 1, 1, 1, 2], min_support=3)
    assert cells[:3] == ["flu"] * 3
    assert TOKEN.fullmatch(cells[3])
    assert cells[3] == cells[4], "treated as choice 2"


def test_where_choices_come_from():
    """The person first, then the rule with the nearest node, then the default."""
    given = ["flu", "asthma", "ulcer", "ulcer"]
    _, cells = shown(given, [None, None, None, 1], rule={"lung": 1, "asthma": 3}, default=2)
    assert cells[0] == "flu"
    assert TOKEN.fullmatch(cells[1])
    assert TOKEN.fullmatch(cells[2])
    assert cells[3] == "ulcer"


def test_same_seed_same_aliases_and_another_seed_others():
    assert shown(["flu", "ulcer"], [2, 2])[1] == shown(["flu", "ulcer"], [2, 2])[1]
    assert not set(shown(["flu", "ulcer"], [2, 2])[1]) & set(shown(["flu", "ulcer"], [2, 2], seed=8)[1])


def test_an_alias_is_no_value_of_any_column():
    """The token that is drawn first is a value already, in another spelling: the next is taken."""
    token = shown(["flu", "ulcer"], [2, 1])[1][0]
    frame = pl.DataFrame({"age": [0, 1], "disease": ["flu", "ulcer"], "show": [2, 1], "note": [token.lower(), "x"]})
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)}, neutral=["note"], choice="show"
    )
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=shoal.Aliases("disease"), seed=7)
    assert token not in release.table["disease"].to_list()


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from(["flu", "asthma", "ulcer"]), min_size=1, max_size=60),
    st.sampled_from([1.0, 1.25, 1.5, 2.0, 5.0]),
)
def test_flat_aliases_are_within_the_bound(diseases, ratio):
    release, cells = shown(diseases, [2 + place % 2 for place in range(len(diseases))], flatten=ratio)
    counts = Counter(cells)
    assert max(counts.values()) <= ratio * min(counts.values())
    meanings = release.key.by_name["disease"].values
    assert [meanings[cell][0] for cell in cells] == diseases


@pytest.mark.parametrize("bad", [0, 4, 1.5, "x", -1])
def test_choices_that_are_none_are_named_by_their_rows(bad):
    with pytest.raises(shoal.SchemaError, match=r"column 'show': 1 cell is no choice, at row 2"):
        shown(["flu", "ulcer"], ["1", str(bad)])


def test_rows_without_a_choice_are_named():
    with pytest.raises(shoal.ParameterError, match=r"2 rows have no choice, at rows 1, 3; give default="):
        shown(["flu", "ulcer", "flu"], [None, 2, None])


def test_a_rule_that_names_nothing_is_refused():
    with pytest.raises(shoal.ShoalError, match="names what the column does not have: heart"):
        shown(["flu"], [1], rule={"heart": 3})


def test_columns_that_have_no_aliases_are_refused():
    frame = pl.DataFrame({"age": [1, 2], "income": [3, 4]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    with pytest.raises(shoal.ParameterError, match="holds numbers, which have no aliases; show numbers by Grades"):
        shoal.anonymize(frame, schema, shoal.Personal(), publish=shoal.Aliases("income", default=2))
    with pytest.raises(shoal.ParameterError, match="has no sensitive column of that name"):
        shoal.anonymize(frame, schema, shoal.Personal(), publish=shoal.Aliases("age", default=2))
    flat = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], choice="show")
    with pytest.raises(shoal.ParameterError, match="choice2: the column has no hierarchy"):
        shown(["flu"], [2], schema=flat, choice2="generalise")
