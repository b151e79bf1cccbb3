"""Risk among a population: by hand, against twins that compare row with row, and estimated without one."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric
from shoal.errors import ParameterError
from shoal.measure.reidentification import expected_risk
from shoal.measure.uniques import Frequencies, pitman, slide_negative_binomial, zayatz
from twins import risks as twin

SCHEMA = shoal.Schema(quasi={"age": Numeric(), "sex": Nominal()})
PUBLISH = shoal.Generalize(shape="classes")
JOURNALIST = ("journalist_max", "journalist_mean", "journalist_high_share", "marketer", "population_uniques")


def covers(cell, value):
    """Whether a published cell of these tables covers a value of a person."""
    if cell == "*":
        return True
    if str(cell).startswith("["):
        low, high = (float(end) for end in str(cell)[1:-1].split(", "))
        return value is not None and low <= float(value) <= high
    return str(cell) == str(value)


def cells_of(release):
    """The published cells of people, row by row."""
    rows = release.frames["table"]
    if "class" in rows.columns:
        rows = rows.join(release.frames["classes"], on="class")
    return rows.select("age", "sex").rows()


# -- with a population -------------------------------------------------------------------------------------------------


def test_by_hand():
    frame = pl.DataFrame({"age": [20, 22, 40, 41, 43], "sex": list("mmfff")})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2))
    assert sorted(set(cells_of(release))) == [("[20, 22]", "m"), ("[40, 43]", "f")]
    # the first class fits 4 people, the second 3 women and two more
    people = pl.DataFrame({"age": [20, 21, 22, 22, 23, 40, 41, 43, 42, 43], "sex": list("mmmmmfffff")})
    by_hand = {
        "journalist_max": 1 / 4,
        "journalist_mean": max(2 / 9, (2 / 4 + 3 / 5) / 5),
        "journalist_high_share": 2 / 5,
        "marketer": (2 / 4 + 3 / 5) / 5,
        "population_uniques": 0,
    }
    for name, value in by_hand.items():
        assert release.measure(name, population=people, schema=SCHEMA) == {name: pytest.approx(value)}
    assert release.measure("sample_uniques") == {"sample_uniques": 0}


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("mf")), min_size=2, max_size=12),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("mf")), max_size=20),
    st.sampled_from(["text", "classes"]),
)
def test_figures_are_those_of_row_against_person(rows, others, shape):
    frame = pl.DataFrame(rows, schema=["age", "sex"], orient="row")
    people = pl.DataFrame([*rows, *others], schema=["age", "sex"], orient="row")
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), publish=shoal.Generalize(shape=shape), seed=1)
    expected = twin.journalist(cells_of(release), people.rows(), covers)
    for name in JOURNALIST:
        assert release.measure(name, population=people, schema=SCHEMA)[name] == pytest.approx(float(expected[name]))


def test_a_population_without_the_people_of_the_release():
    """Whoever is in the release is a person of the population, whatever its table says."""
    frame = pl.DataFrame({"age": [20, 22, 40, 41], "sex": list("mmff")})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2))
    found = release.measure("journalist_max", population=pl.DataFrame({"age": [20], "sex": ["m"]}), schema=SCHEMA)
    assert found == {"journalist_max": 1 / 2}


def test_a_population_that_cannot_be_compared():
    frame = pl.DataFrame({"age": [20, 22, 40, 41], "sex": list("mmff")})
    averages = shoal.anonymize(frame, SCHEMA, shoal.Mdav(k=2), publish=shoal.Aggregate(), seed=1)
    with pytest.raises(ParameterError, match=r"population=: only a release that generalises.*fraction="):
        averages.measure("marketer", population=frame, schema=SCHEMA)
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2))
    with pytest.raises(ParameterError, match="population: has no column sex"):
        release.measure("marketer", population=frame.drop("sex"))
    with pytest.raises(ParameterError, match=r"fraction=: cannot be combined with population="):
        release.measure("marketer", population=frame, fraction=0.5)
    with pytest.raises(ParameterError, match=r"fraction: needs a number in \(0, 1\]"):
        release.measure("marketer", fraction=0.0)
    with pytest.raises(ParameterError, match="population"):
        release.measure(population=frame)


# -- without one -------------------------------------------------------------------------------------------------------


def test_nothing_known_is_the_prosecutor():
    frame = pl.DataFrame({"age": [20, 22, 40, 41, 43, 44, 45], "sex": list("mmfffff")})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2))
    for ending in ("max", "mean", "high_share"):
        prosecutor = release.measure(f"prosecutor_{ending}")[f"prosecutor_{ending}"]
        assert release.measure(f"journalist_{ending}")[f"journalist_{ending}"] == pytest.approx(prosecutor)
    assert release.measure("marketer")["marketer"] == release.measure("prosecutor_mean")["prosecutor_mean"]


@pytest.mark.parametrize("fraction", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("f", [1, 2, 5, 40])
def test_the_expected_risk_is_the_sum_over_populations(f, fraction):
    found = float(expected_risk(np.array([f]), fraction)[0])
    assert found == pytest.approx(twin.expected_risk(f, fraction, terms=20_000), rel=1e-6)
    if f == 1:  # the closed form of the literature
        assert found == pytest.approx(fraction / (1 - fraction) * math.log(1 / fraction))


def test_figures_with_a_fraction():
    frame = pl.DataFrame({"age": [20, 22, 40, 41, 43], "sex": list("mmfff")})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2))
    two, three = (twin.expected_risk(f, 0.5) for f in (2, 3))
    assert (two, three) == pytest.approx((1 - math.log(2), math.log(2) - 1 / 2))
    expected = {
        "journalist_max": two,
        "journalist_mean": (2 * two + 3 * three) / 5,
        "journalist_high_share": 2 / 5,
        "marketer": (2 * two + 3 * three) / 5,
    }
    for name, value in expected.items():
        assert release.measure(name, fraction=0.5)[name] == pytest.approx(value)
    assert release.measure("journalist_high_share", fraction=0.1) == {"journalist_high_share": 0}


# -- alone in the population -------------------------------------------------------------------------------------------


def test_zayatz_by_hand():
    """Of 8 people 4 are sampled: two alone, and two alike. One of two people is sampled with the chance 4/7."""
    seen = Frequencies.of(np.array([1, 1, 2]))
    chance = 2 * 0.5 / (2 * 0.5 + 1 * 4 / 7)
    assert zayatz(seen, 0.5) == pytest.approx(2 * chance / 4)


def test_pitman_fits_best():
    sizes = np.array([1] * 30 + [2] * 8 + [3] * 4 + [5, 9, 20])
    seen = Frequencies.of(sizes)
    share = pitman(seen, 0.1)
    grid = [(math.exp(a), 1 / (1 + math.exp(-b))) for a in np.linspace(-4, 6, 21) for b in np.linspace(-4, 4, 17)]
    theta, alpha = min(grid, key=lambda one: twin.pitman_surprise(sizes.tolist(), *one))
    people = sizes.sum() / 0.1
    alone = math.fsum(
        [math.lgamma(theta + 1), math.lgamma(theta + alpha + people - 1), -math.lgamma(theta + alpha),
         -math.lgamma(theta + people)]
    )  # fmt: skip
    assert share == pytest.approx(math.exp(alone), rel=0.1), "the grid is coarse"


@pytest.mark.parametrize("fraction", [0.2, 0.5])
def test_estimates_are_near_the_truth_where_their_model_holds(fraction):
    """Classes of 1 + Y people, Y a negative binomial: nearly half of these have one person, 5 % of the people."""
    rng = np.random.default_rng(5)
    people = 1 + rng.negative_binomial(0.3, 0.03, size=20_000)
    true = int((people == 1).sum()) / int(people.sum())
    seen = rng.binomial(people, fraction)
    found = slide_negative_binomial(Frequencies.of(seen[seen > 0]), fraction)
    assert found == pytest.approx(true, rel=0.15)


def test_everybody_is_sampled():
    seen = Frequencies.of(np.array([1, 1, 1, 2, 3]))
    for model in (zayatz, slide_negative_binomial):
        assert model(seen, 1.0) == pytest.approx(3 / 8, rel=0.35)
    assert zayatz(seen, 1.0) == pytest.approx(3 / 8), "nobody else can be seen alone"


def test_who_is_alone():
    frame = pl.DataFrame({"age": [1, 2, 2, 3], "sex": list("mfff"), "ill": list("abab")})
    schema = shoal.Schema(quasi=SCHEMA.quasi, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), seed=1)
    assert release.measure("sample_uniques") == {"sample_uniques": 1 / 2}
    assert release.measure("population_uniques") == {"population_uniques": 1 / 2}
    small, large = (release.measure("population_uniques", fraction=share) for share in (0.1, 0.5))
    assert small["population_uniques"] == small["population_uniques:pitman"]
    assert large["population_uniques"] == min(large["population_uniques:snb"], large["population_uniques:zayatz"])
    hidden = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    assert set(hidden.measure("population_uniques", fraction=0.1).values()) == {0.0}
