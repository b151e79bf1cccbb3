"""Attacks on sensitive values: against plain programs over the rows that fit everybody, and what promises leave."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import sample
from shoal.attack import ATTACKS, Holder
from shoal.attack.setting import situation_of
from shoal.spec import find
from shoal.testing import sensitive_tables
from support.by_hand import release_of, unchanged
from support.pairwise import examples
from twins.attacks import (
    is_certain,
    is_certain_without,
    linked_groups,
    linked_rows,
    share_near,
    share_of,
    share_related,
)

COLUMNS = ("disease", "illness", "stage", "income")


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_every_attack_against_its_twin(data):
    case = data.draw(sensitive_tables("mixed", min_rows=2, max_rows=16))
    n_rows = case.frame.height
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    labels = [sorted(set(labels)).index(label) for label in labels]
    names = data.draw(st.lists(st.sampled_from(list(case.schema.quasi)), min_size=1, unique=True))
    epsilon, ruled_out = data.draw(st.sampled_from([0, 0.1, 0.25])), data.draw(st.integers(0, 3))
    release = release_of(case.frame, case.schema, labels)
    # The release is read once, and attacked five times: to read it takes longer than all attacks on a few rows.
    background = shoal.Background(known=names)
    holder = Holder(
        release.frames, release.manifest, case.frame, background, schema=case.schema, labels=release.labels
    )  # fmt: skip
    situation, found = situation_of(holder), {}
    for name, options in {
        "homogeneity": {"certainty": 0.75},
        "background": {"ruled_out": ruled_out},
        "skewness": {},
        "proximity": {"epsilon": epsilon},
        "divergence": {},
    }.items():
        found |= find(ATTACKS, name, "attack").from_mapping(options, name).run(situation)
    tree = case.schema.sensitive["illness"].hierarchy
    wanted = {f"homogeneity:{name}": lambda v, t: is_certain(v, t, 0.75) for name in COLUMNS}
    wanted |= {f"background:{name}": lambda v, t: is_certain_without(v, t, ruled_out) for name in COLUMNS}
    wanted |= {f"skewness:{name}": share_of for name in COLUMNS}
    wanted |= {"proximity:income": lambda v, t: share_near(v, t, epsilon + 1e-9)}
    wanted |= {"divergence:illness": lambda v, t: share_related(v, t, tree)}
    assert set(found) == set(wanted)
    rows, kinds = case.frame.select(names).rows(), [case.schema.quasi[name] for name in names]
    linked = [linked_rows(labels, linked_groups(rows, labels, kinds, person)) for person in rows]
    for key, chance in wanted.items():
        values = case.frame[key.partition(":")[2]].to_list()
        expected = [float(chance([values[row] for row in some], values[at])) for at, some in enumerate(linked)]
        without = [float(chance(values, values[at])) for at in range(n_rows)]
        assert found[key].people["chance"].to_list() == pytest.approx(expected), key
        assert found[key].people["without"].to_list() == pytest.approx(without), key
        assert found[key].baseline == pytest.approx(sum(without) / n_rows)


def test_an_unchanged_table_gives_everything_away():
    frame, schema = sample.people(40, seed=1), sample.schema()
    unique = frame.filter(pl.struct(list(schema.quasi)).is_unique()).drop_nulls(list(schema.quasi))
    found = unchanged(unique, schema).attack(unique, schema=schema)
    for key in (
        "homogeneity:disease",
        "background:disease",
        "skewness:income",
        "proximity:income",
        "divergence:disease",
    ):
        assert found[key].success == 1.0
        assert found[key].advantage > 0


@pytest.mark.parametrize("l", [2, 3])
def test_promises_leave_no_more_than_they_say(l):  # noqa: E741
    frame, schema = sample.people(400, seed=1), sample.schema()
    require = [shoal.LDiversity("disease", l=l), shoal.AlphaK("disease", alpha=0.5)]
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), require=require, suppress=0.2, seed=1)
    found = release.attack(frame, schema=schema)
    inside = release.labels >= 0
    assert found["homogeneity:disease"].people.filter(inside)["chance"].sum() == 0
    assert release.attack(frame, "background", ruled_out=l - 2, column="disease", schema=schema)[
        "background:disease"
    ].people.filter(inside)["chance"].sum() == 0  # fmt: skip
    assert found["skewness:disease"].people.filter(inside)["chance"].max() <= 0.5 + 1e-9


def test_those_most_at_risk_are_those_whose_value_became_likeliest():
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6], "s": ["rare", "a", "a", "a", "a", "a"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["s"])
    found = release_of(frame, schema, [0, 0, 1, 1, 1, 1]).attack(frame, "skewness")["skewness:s"]
    assert found.at_risk[0] == 0
    assert found.figures == {"largest_gain": 3.0, "doubled": 1 / 6}
    assert found.people["without"].to_list() == pytest.approx([1 / 6] + [5 / 6] * 5)


def test_what_cannot_be_attacked_is_said():
    frame = pl.DataFrame({"age": [1, 2], "s": ["a", "b"], "n": [1, 2]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"s": shoal.Nominal(), "n": shoal.Numeric()})
    release = release_of(frame, schema, [0, 0])
    for name, column, match in (
        ("proximity", "s", "column 's' has no numbers"),
        ("divergence", "n", "column 'n' has no hierarchy"),
        ("skewness", "age", "'age' is not a sensitive column of the release"),
    ):
        with pytest.raises(shoal.ParameterError, match=match):
            release.attack(frame, name, column=column)
    with pytest.raises(shoal.ParameterError, match="2 problems"):
        release.attack(frame, "divergence")
    plain = release_of(frame.select("age"), shoal.Schema(quasi={"age": shoal.Numeric()}), [0, 0])
    with pytest.raises(shoal.ParameterError, match="is after sensitive values, and the release shows none"):
        plain.attack(frame, "skewness")
    found = plain.attack(frame)
    assert "linking" in found
    assert "is after sensitive values, and the release shows none" in found.skipped["skewness"]


def test_aliases_are_attacked_with_the_key_alone():
    tree = shoal.Hierarchy([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "belly", "*"]])
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "d": ["flu", "asthma", "ulcer", "ulcer"], "choice": [1, 2, 3, 3]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"d": shoal.Nominal(tree)}, choice="choice")
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=[shoal.Records(), shoal.Aliases("d")], seed=1)
    sealed = shoal.Release(release.frames, release.manifest)
    with pytest.raises(shoal.ParameterError, match="shows aliases or grades, which are not its values"):
        sealed.attack(frame, "homogeneity", column="d", schema=schema)
    assert "homogeneity" in sealed.attack(frame, schema=schema).skipped
    assert sealed.attack(frame, "linking", schema=schema)["linking"].success == 1.0
    assert release.attack(frame, "homogeneity", schema=schema)["homogeneity:d"].success == 1.0
