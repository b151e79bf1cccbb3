"""A table that is not the input of a release is refused, whatever is asked of it: never a figure of somebody else."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

import shoal
from shoal.attack import predicates
from shoal.comparison.compare import compare_releases
from shoal.measure import MEASURES, pairing
from support.pairwise import ALL

SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric(), "town": shoal.Nominal()}, sensitive={"disease": shoal.Nominal()}, neutral=["city"]
)
PEOPLE = pl.DataFrame(
    {
        "age": [20, 21, 23, 24, 40, 41, 43, 44, 60, 61, 62, 65],
        "town": list("aabbccddabcd"),
        "disease": ["flu", "ulcer", "cold", "gout"] * 3,
        "city": ["York", "Bath"] * 6,
    }
)
NUMBER = pl.int_range(pl.len())
OTHERS = {
    "other people": PEOPLE.with_columns(pl.col("age") + 5),
    "one cell": PEOPLE.with_columns(age=pl.when(NUMBER == 3).then(99).otherwise(pl.col("age"))),
    "values of others": PEOPLE.with_columns(disease=pl.col("disease").shift(1, fill_value="gout")),
    "one value": PEOPLE.with_columns(disease=pl.when(NUMBER == 3).then(pl.lit("flu")).otherwise(pl.col("disease"))),
    "a row less": PEOPLE.head(11),
    "a row more": pl.concat([PEOPLE, PEOPLE.head(1)]),
}
RELEASES = {
    "classes": (shoal.Mondrian(k=3), {}),
    "rows left out": (shoal.ThresholdGreedy(k=2, delta=0.2), {"suppress": 1.0}),
    "averages": (shoal.Mdav(k=3), {}),
    "averages, rows left out": (shoal.ThresholdGreedy(k=2, delta=0.2), {"suppress": 1.0, "publish": shoal.Aggregate()}),
    "average centres": (shoal.RGather(k=3), {"publish": shoal.Centres(centre="average")}),
    "centres": (shoal.RGather(k=3), {}),
    "buckets": (shoal.Anatomy(l=2), {}),
    "slices": (shoal.Slicing(l=2, k=6, groups={"age": 1, "town": 1, "disease": 2, "city": 2}), {}),
}
CANNOT_BE_TOLD = {
    ("buckets", "values of others"), ("slices", "values of others"),  # which value of a bucket is whose
    ("averages, rows left out", "one value"),  # of a row that may have been left out
    ("centres", "one cell"),  # of somebody who is no centre
}  # fmt: skip
"""What nobody can say: there the receipt alone tells."""
CASES = [(name, other) for name in RELEASES for other in OTHERS if (name, other) not in CANNOT_BE_TOLD]


@cache
def released(name: str) -> shoal.Release:
    method, more = RELEASES[name]
    return shoal.anonymize(PEOPLE, SCHEMA, method, seed=1, **more).public()


@pytest.mark.parametrize(("name", "other"), CASES)
def test_no_measure_of_another_table(name, other):
    """Every pair of release, table and measure: the measures of a release take turns, each release begins elsewhere."""
    release, given = released(name), {"original": OTHERS[other], "schema": SCHEMA}
    shape = release.manifest.layout.shape
    measures = [measure for measure, kind in MEASURES.items() if kind.needs == "original" and shape in kind.shapes]
    others = [one for one in OTHERS if (name, one) in CASES]
    begin, step = (others.index(other) + [*RELEASES].index(name)) % len(others), len(others)
    assert len(measures) >= step
    for measure in measures if ALL else measures[begin::step]:
        with pytest.raises(shoal.ParameterError):
            release.measure(measure, **given)


@pytest.mark.parametrize(("name", "other"), CASES)
def test_nothing_else_is_done_with_another_table(name, other):
    release, given = released(name), {"original": OTHERS[other], "schema": SCHEMA}
    for ask in (
        lambda: release.attack(**given),
        lambda: release.membership(**given),
        lambda: release.pair_errors(**given),
        lambda: release.utility("city", learners=["c45"], folds=2, **given),
        lambda: compare_releases(
            {"one": release}, original=given["original"], recipe=shoal.Recipe(SCHEMA, shoal.Mondrian(k=3))
        ),
        lambda: release.report(**given),
    ):
        with pytest.raises(shoal.ShoalError):
            ask()


@pytest.mark.parametrize("name", RELEASES)
def test_the_input_is_taken_in_any_order(name, monkeypatch):
    release, shuffled = released(name), PEOPLE.sample(fraction=1.0, shuffle=True, seed=3)
    assert release.measure("suda", original=shuffled, schema=SCHEMA)["suda:share"] == 1.0
    monkeypatch.setattr(predicates, "TRIES", 1)  # the table has few predicates, and thousands are drawn to find all
    assert release.attack(shuffled, schema=SCHEMA)["linking"].n == PEOPLE.height


def test_where_rows_cannot_be_put_into_classes_the_rest_is_still_compared(monkeypatch):
    monkeypatch.setattr(pairing, "MOST_PAIRS", 0)
    release = released("classes")
    assert "suda:share" in release.measure("suda", original=PEOPLE, schema=SCHEMA)
    with pytest.raises(shoal.ParameterError, match="has other rows than the release shows"):
        release.measure("suda", original=OTHERS["values of others"], schema=SCHEMA)
    with pytest.raises(shoal.ParameterError, match="give the receipt"):
        release.measure("il1", original=PEOPLE, schema=SCHEMA)


def test_releases_side_by_side_read_missing_cells_as_the_recipe_says(tmp_path):
    people = PEOPLE.with_columns(town=pl.when(NUMBER < 3).then(pl.lit("?")).otherwise(pl.col("town")))
    people.write_csv(tmp_path / "people.csv")
    source = shoal.Source(path=str(tmp_path / "people.csv"), missing_values=("?",))
    recipe = shoal.Recipe(SCHEMA, shoal.Mondrian(k=3), source, seed=1)
    release = shoal.run(recipe)
    found = compare_releases({"one": release.public()}, original=people, recipe=recipe)
    true = shoal.anonymize(people, SCHEMA, shoal.Mondrian(k=3), seed=1, missing_values=("?",))
    errors = list(true.pair_errors(people, schema=SCHEMA, missing_values=("?",)).values())
    assert found.figures["one"]["pair_error"] == sum(errors) / len(errors)
