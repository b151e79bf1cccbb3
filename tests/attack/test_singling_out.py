"""The singling-out attack: predicates tried on every row in plain Python, and how often any predicate would do."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import sample
from shoal.attack import predicates
from shoal.attack.singling_out import by_weight
from shoal.testing import tables
from support.by_hand import release_of, unchanged
from support.pairwise import examples

SCHEMA = sample.schema()


def singling_out(release, original, **given):
    return release.attack(original, "singling-out", **given)["singling-out"]


def test_an_unchanged_table_singles_out_with_every_predicate():
    frame = sample.people(100, seed=1)
    for columns in (1, 2, 3):
        found = singling_out(unchanged(frame, SCHEMA), frame, schema=SCHEMA, columns=columns, predicates=100)
        assert found.n > 20
        assert found.success == 1.0
        assert 0 < found.baseline < 0.5  # a predicate of weight 1 / n singles out in 37 % of all tables


def test_few_rows_of_a_k_anonymous_table_look_unique():
    """By quasi-identifiers alone none does; with the sensitive value some do, and are."""
    frame = sample.people(300, seed=1)
    schema = shoal.Schema(quasi=SCHEMA.quasi, rest="drop")
    plain = singling_out(shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=1), frame, schema=schema)
    assert (plain.n, plain.success, plain.at_risk) == (0, 0.0, ())
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=5), seed=1)
    found = singling_out(release, frame, schema=SCHEMA, predicates=50)
    assert found.n == 50
    assert set(found.at_risk) <= set(range(300))


def test_infinite_numbers_are_known_like_any_others(monkeypatch):
    """Infinities as they are link and single out as names in their place would; all of them missing say nothing."""
    monkeypatch.setattr(predicates, "TRIES", 1)  # four rows have few predicates
    frame = pl.DataFrame({"x": [1, 1, 2, 2], "z": pl.Series([None] * 4, dtype=pl.Float64), "s": list("pqrs")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric(), "z": shoal.Numeric()}, neutral=["y"], sensitive=["s"])
    for publish in (shoal.Generalize(), shoal.Aggregate()):
        found = []
        for names in ([float("inf"), -float("inf"), 5.0, -float("inf")], ["inf", "-inf", "5", "-inf"]):
            people = frame.with_columns(y=pl.Series(names))
            release = release_of(people, schema, [0, 0, 1, 1], publish=publish)
            background = shoal.Background(known=["x", "y"])
            outcomes = release.attack(people, background=background)
            found.append({name: (one.n, one.success, one.baseline) for name, one in outcomes.items()})
        assert found[0] == found[1]
        assert found[0]["singling-out"][1] == 1.0
        assert found[0]["linking"][1] == (1.0 if publish.name == "generalize" else 0.5), "averages link by themselves"


def test_averages_say_at_least_and_at_most():
    """By hand: the largest and the least average are 11 and 1; 12 alone is at least 11, 0 and 1 are at most 1."""
    frame = pl.DataFrame({"x": [0, 1, 2, 10, 11, 12]})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()})
    release = release_of(frame, schema, [0, 0, 0, 1, 1, 1], publish=shoal.Aggregate())
    assert singling_out(release, frame, columns=1).n == 0  # three rows show each average
    uneven = release_of(frame, schema, [0, 0, 0, 0, 0, 1], publish=shoal.Aggregate())
    found = singling_out(uneven, frame, columns=1)
    assert (found.n, found.success, found.at_risk) == (2, 1.0, (5,))  # x >= 12, and a cell that only one row shows


@settings(max_examples=examples(20), deadline=None)
@given(tables("mixed", min_rows=2, max_rows=14), st.integers(1, 3))
def test_predicates_of_an_unchanged_table_against_counting(case, columns):
    """Whoever is singled out by combinations of cells has one that nobody else has."""
    names = list(case.schema.quasi)
    schema = shoal.Schema(quasi=case.schema.quasi, rest="drop")
    found = singling_out(unchanged(case.frame, schema), case.frame, schema=schema, columns=columns, predicates=40)
    assert found.success in (0.0, 1.0)  # what is true of one published row is true of one row
    rows = case.frame.select(names).rows()
    for position in found.at_risk:
        assert rows.count(rows[position]) == 1


def test_by_weight_is_the_binomial_chance_of_one():
    rng = np.random.default_rng(0)
    drawn = (rng.binomial(50, 0.03, size=40_000) == 1).mean()
    assert by_weight(np.array([0.03]), 50)[0] == pytest.approx(drawn, abs=0.01)
    assert by_weight(np.array([1 / 1000]), 1000)[0] == pytest.approx(1 / np.e, abs=1e-3)


def test_a_control_group_is_the_baseline():
    frame, control = sample.people(400, seed=1), sample.people(400, seed=2)
    plain = singling_out(unchanged(frame, SCHEMA), frame, schema=SCHEMA, control=control, predicates=200)
    assert plain.n_baseline == plain.n == 200
    assert plain.success == 1.0
    assert plain.baseline < 0.5
    fewer = singling_out(unchanged(frame, SCHEMA), frame, schema=SCHEMA, control=control.head(100), predicates=200)
    assert fewer.baseline == pytest.approx(plain.baseline, abs=0.15)  # corrected for the size of the group


def test_the_same_seed_makes_the_same_predicates():
    frame = sample.people(60, seed=1)
    one, same, other = (
        singling_out(unchanged(frame, SCHEMA), frame, schema=SCHEMA, predicates=5, seed=seed) for seed in (1, 1, 2)
    )
    assert one.people.equals(same.people)
    assert not one.people.equals(other.people)


def test_people_who_are_singled_out_are_counted_once():
    """Every row is unique, and everybody has two of them."""
    frame = pl.DataFrame({"id": list("aabbcc"), "x": [1, 2, 3, 4, 5, 6], "s": list("uvwxyz")})
    schema = shoal.Schema(identifying=["id"], quasi={"x": shoal.Numeric()}, sensitive=["s"])
    release = unchanged(frame, schema)
    rows = release.attack(frame, "singling-out", schema=schema, columns=2)["singling-out"]
    people = release.attack(frame, "singling-out", schema=schema, columns=2, person=["id"])["singling-out"]
    assert (rows.success, rows.figures["singled_out"]) == (1.0, 6.0)
    assert (people.success, people.figures["singled_out"]) == (1.0, 3.0)
