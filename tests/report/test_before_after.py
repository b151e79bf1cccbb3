"""Distributions and links before and after, as the holder's report shows them."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
import scipy

import shoal
from shoal.measure.expected import Expected
from shoal.report.blocks import Chart, Grid
from shoal.report.sections.before_after import cramers_v

PEOPLE, SCHEMA = shoal.sample.people(150, seed=1), shoal.sample.schema()


def blocks_of(release, **given):
    page = release.report(original=PEOPLE, schema=SCHEMA, **given)
    found = [section for section in page.sections if section.name == "before-after"]
    return found[0].blocks if found else None


@pytest.mark.parametrize("seed", range(5))
def test_links_are_those_of_scipy(seed):
    counts = np.random.default_rng(seed).integers(1, 30, (2 + seed, 4))
    wanted = scipy.stats.contingency.association(counts, method="cramer")
    assert cramers_v(counts / counts.sum()) == pytest.approx(wanted)


def test_links_at_their_ends():
    assert cramers_v(np.eye(3)) == 1
    assert cramers_v(np.ones((3, 2))) == 0
    assert cramers_v(np.array([[0.5, 0.5]])) == 0  # a column with one value says nothing
    assert cramers_v(np.array([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])) == 1  # a category that nobody has
    assert cramers_v(np.zeros((2, 2))) == 0


def test_what_changes_most_comes_first_and_what_does_not_change_is_not_drawn():
    blocks = blocks_of(shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=5), seed=0))
    summary = next(one for one in blocks if isinstance(one, Grid))
    names = [name for name, _ in summary.rows]
    assert set(names) == {*SCHEMA.quasi, *SCHEMA.sensitive}
    changed = dict(summary.rows)
    assert changed["disease"] == "0 %"
    charts = [one.caption for one in blocks if isinstance(one, Chart)]
    assert charts[0] == f"Distribution of {names[0]}."
    assert "Distribution of disease." not in charts
    assert charts[-1].startswith("How much one column says of another")
    shares = next(one.grid for one in blocks if isinstance(one, Chart))
    assert shares.heads == (names[0], "before", "after")
    counted = PEOPLE[names[0]].cast(pl.String).value_counts(name="rows").sort("rows").tail(1).row(0)
    assert (counted[0], shoal.report.blocks.percent(counted[1] / 150)) in [row[:2] for row in shares.rows]


def test_a_link_that_grows_is_not_said_to_lose():
    """Averages of both columns say more of each other than the values do."""
    frame = pl.DataFrame({"a": [*range(8), *range(8)], "c": ["x"] * 7 + ["y"] * 9})
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "c": shoal.Nominal()})
    release = shoal.anonymize(frame, schema, shoal.Mdav(k=4), seed=1)
    page = release.report(original=frame, schema=schema)
    blocks = next(section.blocks for section in page.sections if section.name == "before-after")
    links = next(one for one in blocks if isinstance(one, Chart) and one.caption.startswith("How much one column"))
    first, then = links.grid.rows[0][1:]
    assert float(first) < float(then)
    assert links.words == f"The link between a and c changes most: {first} before, {then} after."


def test_days_and_other_orders_are_drawn_in_their_order_and_days_in_runs():
    first = date(1950, 1, 1)
    days = [first + timedelta(days=37 * row) for row in range(300)]
    grades = ["very low", "low", "middle", "high"]
    frame = pl.DataFrame({"born": [None, *days[1:]], "grade": [grades[row % 4] for row in range(300)]})
    calendar = shoal.Days("1950-01-01", "1990-12-31")
    schema = shoal.Schema(quasi={"born": shoal.Ordinal(calendar), "grade": shoal.Ordinal(grades)})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=0)
    expected = Expected.of(release.given(original=frame, schema=schema))
    assert expected.one("grade").categories == tuple(grades)
    *runs, missing = expected.one("born").categories
    assert missing == "(missing)"
    assert len(runs) == 10
    ends = [day for run in runs for day in run.split(" to ")]
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (str(days[1]), str(days[-1]))
    assert expected.one("born").before[:10] == pytest.approx(np.full(10, 299 / 3000), abs=0.01)


def test_a_release_that_loses_nothing_changes_nothing():
    twice = pl.concat([PEOPLE, PEOPLE])
    release = shoal.anonymize(twice, SCHEMA, shoal.Kaca(k=2), seed=0)
    page = release.report(original=twice, schema=SCHEMA)
    blocks = next(section.blocks for section in page.sections if section.name == "before-after")
    summary = next(one for one in blocks if isinstance(one, Grid))
    assert {changed for _, changed in summary.rows} == {"0 %"}
    links = next(one.grid for one in blocks if isinstance(one, Chart))
    assert all(before == after for _, before, after in links.rows)


def test_without_the_input_there_is_nothing_to_compare():
    release = shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=5), seed=0)
    assert "before-after" not in [section.name for section in release.report().sections]


@pytest.mark.parametrize("method", [shoal.Mdav(k=5), shoal.Anatomy(l=2, column="disease"), shoal.Slicing(l=2)])
def test_other_shapes_are_compared_too(method):
    names = [*SCHEMA.quasi, "disease"]
    schema = shoal.Schema(quasi=SCHEMA.quasi, sensitive={"disease": SCHEMA.sensitive["disease"]}, rest="drop")
    release = shoal.anonymize(PEOPLE, schema, method, seed=0)
    page = release.report(original=PEOPLE, schema=schema)
    blocks = next(section.blocks for section in page.sections if section.name == "before-after")
    summary = next(one for one in blocks if isinstance(one, Grid))
    assert {name for name, _ in summary.rows} == set(names)
