"""Bounds of large tables, by rows drawn at random: below those of all rows for every seed, and not far below."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import Nominal, Numeric
from shoal.measure.ncp_bound import bound_of
from shoal.measure.neighbours import Line, Points
from shoal.measure.sampled import Sampling
from shoal.measure.sse_bound import bounds_of
from shoal.table.prepare import prepare

N = 3000
ALL = Sampling(above=N)
SEEDS = range(12)


def some(seed: int, draws: int = 4000) -> Sampling:
    return Sampling(above=100, first=500, draws=draws, seed=seed)


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Three thousand rows; a few of them are far away, as incomes are."""
    rng = np.random.default_rng(5)
    numbers = {"x": np.exp(1.5 * rng.normal(size=N)).round(3), "y": rng.integers(0, 400, N).astype(float)}
    return pl.DataFrame({**numbers, "town": rng.choice(list("abcdef"), N), "job": rng.choice(list("pqrst"), N)})


SCHEMA = shoal.Schema(quasi={"x": Numeric(), "y": Numeric(), "town": Nominal(), "job": Nominal()})


def test_no_seed_gives_more_than_all_rows_do(frame):
    table = prepare(frame, SCHEMA)
    quasi = shoal.anonymize(frame[:20], SCHEMA, shoal.Mondrian(k=2), seed=1).manifest.layout.quasi
    exact = bound_of(table, quasi, 5, sampling=ALL)
    found = [bound_of(table, quasi, 5, sampling=some(seed)) for seed in SEEDS]
    assert max(found) <= exact
    assert min(found) > 0.7 * exact
    assert len(set(found)) == len(found)
    assert bound_of(table, quasi, 5, sampling=some(0)) == found[0]


@pytest.mark.parametrize("left_out", [0, 1, 60])
def test_squared_errors_with_rows_left_out(frame, left_out):
    table = prepare(frame, SCHEMA)
    exact = bounds_of(table, ["x", "y"], 5, left_out, 0, ALL).plain
    found = [bounds_of(table, ["x", "y"], 5, left_out, 0, some(seed, 16_000)).plain for seed in SEEDS]
    assert max(found) <= exact
    assert np.mean(found) > 0.7 * exact


def test_the_chance_to_be_too_high_is_what_is_said():
    """Heavy tails, rows drawn unevenly, points of several rows: over many seeds hardly a bound is above the mean."""
    rng = np.random.default_rng(1)
    values, counts = rng.pareto(1.5, 2000), rng.integers(1, 4, 2000)
    guesses = values * rng.uniform(0.2, 3, 2000)
    mean = float((values * counts).sum() / counts.sum())
    asked = [Sampling(first=300, draws=3000, chance=0.05, seed=seed) for seed in range(200)]
    found = np.array([one.drawn(counts, guesses, lambda points: values[points]).mean() for one in asked])
    assert (found > mean).mean() <= 0.05
    assert np.median(found) > 0.9 * mean
    evenly = [one.drawn(counts, np.zeros(2000), lambda points: values[points]).mean() for one in asked]
    assert (np.array(evenly) > mean).mean() <= 0.05
    assert np.median(evenly) < np.median(found), "rows that cost much are worth more draws"


def test_guesses_are_what_the_rows_around_may_differ_by():
    x = np.concatenate([np.arange(64.0), [1000.0, 2000.0]])
    points = Points.of([Line(x, 2000.0)], squared=False)
    guesses = dict(zip(points.places[:, 0].tolist(), points.spreads(4).tolist(), strict=True))
    assert guesses[2000.0] >= 1000
    assert max(guesses[float(value)] for value in range(32)) < 32
    whole = points.spreads(67)
    assert set(whole.tolist()) == {2000.0}


def test_what_is_said_to_be_below_it_is_worked_out_of_all_rows(frame):
    table = prepare(frame, SCHEMA)
    assert bounds_of(table, ["x"], 5, 0, 0) == bounds_of(table, ["x"], 5, 0, 0, ALL)
