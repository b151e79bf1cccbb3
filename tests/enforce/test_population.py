"""Promises that speak of a population, kept and re-derived: against plain sets of people."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.enforce.population import PopulationMatch
from shoal.methods.base import Task
from shoal.table.prepare import prepare
from support.pairwise import examples

TREE = shoal.Hierarchy([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
SCHEMA = shoal.Schema(
    quasi={
        "age": shoal.Numeric(),
        "grade": shoal.Ordinal(["low", "middle", "high"]),
        "town": shoal.Nominal(TREE),
        "sex": shoal.Nominal(),
    },
    sensitive=["disease"],
)


def population(n_people: int, seed: int = 0, *, holes: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 40, n_people),
            "grade": rng.choice(["low", "middle", "high"], n_people),
            "town": rng.choice(["a", "b", "c", "d"], n_people),
            "sex": rng.choice(["f", "m"], n_people),
            "disease": rng.choice(["flu", "ulcer", "colic"], n_people),
        }
    )
    hole = pl.Series(rng.random(n_people) < 0.1) if holes else pl.Series([False] * n_people)
    return frame.with_columns(pl.when(hole).then(None).otherwise(pl.col("town")).alias("town"))


def covered(rows: pl.DataFrame, person: tuple, *, sets: bool) -> bool:
    """Whether the cells that cover some rows cover a person, column by column."""
    found = []
    for name, value in zip(["age", "grade", "town", "sex"], person, strict=True):
        values = rows[name].to_list()
        if None in values:
            found.append(value is None or any(one is not None for one in values))
        elif name == "age":
            found.append(value is not None and min(values) <= value <= max(values))
        elif name == "grade":
            ranks = ["low", "middle", "high"].index
            found.append(value is not None and min(map(ranks, values)) <= ranks(value) <= max(map(ranks, values)))
        elif name == "town":
            node = TREE.lowest_common(set(values))
            found.append(node == "*" or (value is not None and node in TREE.path(value)))
        else:
            everything = len(set(values)) > 1 and not sets
            found.append(everything or value in values)
    return all(found)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_people_covered_are_those_that_plain_sets_cover(seed, sets, holes):
    people = population(40, seed, holes=holes)
    table = prepare(people.head(15), SCHEMA)
    require = [shoal.KMap(k=1_000)]
    matching = PopulationMatch(Task.of(table, require, people.select(list(SCHEMA.quasi))), sets=sets)
    rng = np.random.default_rng(seed)
    members = [part for part in np.array_split(rng.permutation(15), 4) if len(part)]
    expected = [
        sum(
            covered(table.frame[np.sort(rows)], person, sets=sets)
            for person in people.select(list(SCHEMA.quasi)).rows()
        )
        for rows in members
    ]
    assert matching.violation(members) == pytest.approx([(1_000 - n) / 1_000 for n in expected])
    assert matching.violation_of(members[0]) == pytest.approx((1_000 - expected[0]) / 1_000)


@pytest.mark.parametrize("publish", [shoal.Generalize(), shoal.Generalize(sets=True), shoal.Generalize(shape="typed")])
@pytest.mark.parametrize("method", [shoal.Mondrian(k=2), shoal.KMember(k=2), shoal.Mdav(k=2), shoal.Oka(k=2)], ids=str)
def test_every_published_class_fits_k_people(method, publish):
    people = population(200, 1, holes=True)
    sample = people[np.arange(0, 200, 4)]
    release = shoal.anonymize(sample, SCHEMA, method, require=[shoal.KMap(k=15)], publish=publish, population=people)
    assert release.receipt.achieved["k_map"] >= 15
    assert release.receipt.population.rows == 200
    again = release.verify(population=people.select(list(SCHEMA.quasi)), schema=SCHEMA)
    assert again.achieved == release.manifest.achieved | release.receipt.achieved
    assert "k_map" not in release.manifest.achieved
    assert release.verify().unchecked == ("k-map: needs the population",)


def test_presence_stays_uncertain():
    people = population(200, 2)
    sample = people[np.arange(0, 200, 4)]
    require = [shoal.DeltaPresence(low=0.0, high=0.6)]
    release = shoal.anonymize(sample, SCHEMA, shoal.Mondrian(k=2), require=require, population=people)
    assert 0 < release.receipt.achieved["presence"] <= 0.6
    again = release.verify(population=people.select(list(SCHEMA.quasi)), schema=SCHEMA)
    assert again.achieved == release.manifest.achieved | release.receipt.achieved
    assert "presence" not in release.manifest.achieved


def test_no_population_is_said_before_work():
    with pytest.raises(shoal.ParameterError, match="needs a population to compare with; give population="):
        shoal.anonymize(population(20), SCHEMA, shoal.Mondrian(k=2), require=[shoal.KMap(k=5)])


def test_all_that_is_wrong_with_a_population_is_said_at_once():
    people = population(3).drop("sex")
    with pytest.raises(
        shoal.SchemaError, match=r"(?s)has no column sex.*population has 3 people; use a k of at most 3"
    ):
        shoal.anonymize(
            population(20), SCHEMA, shoal.Mondrian(k=2), require=[shoal.KMap(k=5)], population=people,
            publish=shoal.Generalize(),
        )  # fmt: skip


def test_averages_cannot_be_compared_with_a_population():
    with pytest.raises(shoal.ParameterError, match="the cells that aggregate publishes cannot be compared"):
        shoal.anonymize(
            population(20), SCHEMA, shoal.Mdav(k=2), require=[shoal.KMap(k=5)], population=population(30)
        )  # fmt: skip


def test_the_columns_of_a_population_are_read_as_those_of_the_table():
    people = population(40).with_columns(pl.lit("old").alias("age"))
    with pytest.raises(shoal.SchemaError, match="population, column 'age'"):
        shoal.anonymize(population(20), SCHEMA, shoal.Mondrian(k=2), require=[shoal.KMap(k=5)], population=people)


def test_a_presence_that_cannot_be_is_refused_with_what_is_reached():
    people = pl.concat([population(40), population(1).with_columns(pl.lit(99, dtype=pl.Int64).alias("age"))])
    require = [shoal.DeltaPresence(low=0.1, high=1.0)]
    with pytest.raises(shoal.InfeasibleError, match=r"presence: joining groups reaches 0 at best"):
        shoal.anonymize(population(20), SCHEMA, shoal.Mondrian(k=2), require=require, population=people)
