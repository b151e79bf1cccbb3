"""The membership attack, and a control group that is in the release after all."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import sample
from shoal.attack.intervals import difference
from support.by_hand import release_of, unchanged

SCHEMA = sample.schema()
EVERYBODY = sample.people(300, seed=5).drop_nulls()
INSIDE, OUTSIDE = EVERYBODY.head(EVERYBODY.height // 2), EVERYBODY.tail(EVERYBODY.height // 2)


def membership(release, original, control, **given):
    return release.attack(original, "membership", control=control, **given)["membership"]


def test_an_unchanged_table_says_who_is_in_it():
    found = membership(unchanged(INSIDE, SCHEMA), INSIDE, OUTSIDE, schema=SCHEMA)
    assert found.figures["found"] == 1.0
    assert found.figures["control_found"] < 0.1  # whoever has the very same values as somebody inside
    assert found.success > 0.95
    assert found.advantage_interval[0] > 0.3


def test_a_control_group_inside_the_release_is_found_out():
    """Everybody of it is found, as everybody else is: the attack says no more than a coin."""
    with pytest.warns(shoal.ShoalWarning, match="of the control group have the very values of rows of the original"):
        found = membership(unchanged(INSIDE, SCHEMA), INSIDE, INSIDE.tail(40), schema=SCHEMA)
    assert found.control["found"].to_list() == [1.0] * 40
    assert (found.figures["found"], found.figures["control_found"], found.success) == (1.0, 1.0, 0.5)


def test_generalisation_hides_who_is_in_it():
    release = shoal.anonymize(INSIDE, SCHEMA, shoal.Mondrian(k=10), seed=1)
    plain, hidden = (membership(one, INSIDE, OUTSIDE, schema=SCHEMA) for one in (unchanged(INSIDE, SCHEMA), release))
    assert hidden.figures["found"] == 1.0
    assert hidden.figures["control_found"] > plain.figures["control_found"]
    assert hidden.success < plain.success


def test_figures_by_hand():
    frame = pl.DataFrame({"x": [1, 2, 5, 6, 9], "s": list("abcde")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])
    release = release_of(frame, schema, [0, 0, 1, 1, -1])  # the last is not in it, and not asked about
    found = membership(release, frame, pl.DataFrame({"x": [2, 3, 7, 9]}))
    assert found.people["position"].to_list() == [0, 1, 2, 3]
    assert found.control["found"].to_list() == [1, 0, 0, 0]
    assert (found.n, found.success) == (8, (1 + 3 / 4) / 2)
    low, high = difference(1.0, 4, 0.25, 4)
    assert found.interval == ((1 + low) / 2, (1 + high) / 2)


@pytest.mark.parametrize("named", [True, False], ids=["person", "schema"])
def test_people_with_several_rows_are_people_in_the_control_group_too(named):
    """Of the very same rows all attacks find as much in either group, whoever has how many of them."""
    frame = pl.DataFrame(
        {
            "who": list("aabbccdde"),
            "x": [1, 5, 1, 6, 2, 7, 2, 8, 9],
            "y": [3, 1, 3, 2, 3, 5, 4, 1, 2],
            "s": list("pqpqqqppq"),
        }
    )
    schema = shoal.Schema(quasi={"x": shoal.Numeric(), "y": shoal.Numeric()}, sensitive=["s"], person="who")
    release = release_of(frame, schema, [0, 1, 0, 1, 0, 2, 0, 2, 2])
    asked = {"person": "who"} if named else {"schema": schema}
    with pytest.warns(shoal.ShoalWarning, match="of the control group have the very values of rows of the original"):
        found = [
            release.attack(frame, name, control=frame, **asked, **more)
            for name, more in (("membership", {}), ("linkability", {}), ("inference", {"model": "neighbour"}))
        ]
    outcomes = [outcome for one in found for outcome in one.values()]
    assert [outcome.n for outcome in outcomes] == [10, 5, 5]
    assert [outcome.advantage for outcome in outcomes] == [0.0, 0.0, 0.0]
    assert 0 < outcomes[1].success < outcomes[2].success < 1
    rows = release.attack(frame, "linkability", control=pl.DataFrame({"x": [8], "y": [4]}), **asked)["linkability"]
    assert rows.n_baseline == 1  # who does not say whose rows these are has as many people as rows


def test_averages_say_in_of_the_nearer_half():
    frame = pl.DataFrame({"x": [0.0, 0.2, 10.0, 10.2], "s": list("abcd")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])
    release = release_of(frame, schema, [0, 0, 1, 1], publish=shoal.Aggregate())
    far = membership(release, frame, pl.DataFrame({"x": [5.0, 6.0]}))
    assert (far.figures["found"], far.figures["control_found"], far.success) == (1.0, 0.0, 1.0)
    near = membership(release, frame, pl.DataFrame({"x": [0.1, 10.1]}))
    assert (near.figures["control_found"], near.success) == (1.0, 0.0)
    same = membership(release, frame, pl.DataFrame({"x": [0.0, 0.2, 10.0, 10.2]}))
    assert same.success == pytest.approx(0.5)


def test_without_a_control_group_it_is_not_tried():
    release = unchanged(INSIDE, SCHEMA)
    with pytest.raises(shoal.ParameterError, match="compares with people who are not in the release"):
        release.attack(INSIDE, "membership", schema=SCHEMA)
    assert "membership" in release.attack(INSIDE, schema=SCHEMA).skipped


def test_buckets_show_who_is_in_them():
    frame = INSIDE.select("age", "sex", "disease")
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["disease"])
    release = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), suppress=0.5, seed=1)
    found = membership(release, frame, OUTSIDE)
    there = set(frame.filter(np.asarray(release.labels >= 0)).select("age", "sex").rows())
    wanted = [float(row in there) for row in OUTSIDE.select("age", "sex").rows()]
    assert found.control["found"].to_list() == wanted
    assert found.figures["found"] == 1.0
