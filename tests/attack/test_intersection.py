"""The intersection attack: two releases together, by hand, at random, and where m-invariance stops it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Background
from support.by_hand import release_of
from support.pairwise import examples
from support.series_example import FIRST, SCHEMA, TWO, table
from twins.attacks import linked_groups, linked_rows

NUMBERS = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])


def intersection(release, original, others, column="s", **given):
    seen = Background(releases=others, **given)
    return release.attack(original, "intersection", background=seen)[f"intersection:{column}"]


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_beliefs_of_two_releases_are_joined(data):
    n_rows = data.draw(st.integers(2, 12))
    frame = pl.DataFrame(
        {"x": data.draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows)),
         "s": data.draw(st.lists(st.sampled_from("abc"), min_size=n_rows, max_size=n_rows))}
    )  # fmt: skip
    cuts = [data.draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)) for _ in range(2)]
    cuts = [[sorted(set(labels)).index(label) for label in labels] for labels in cuts]
    one, other = (release_of(frame, NUMBERS, labels) for labels in cuts)
    found = intersection(one, frame, [other])
    rows, values = frame.select("x").rows(), frame["s"].to_list()
    whole, alone = Counter(values), [[], []]
    for place, person in enumerate(rows):
        beliefs = []
        for labels in cuts:
            some = linked_rows(labels, linked_groups(rows, labels, [shoal.Numeric()], person))
            beliefs.append({v: Fraction(n, len(some)) for v, n in Counter(values[row] for row in some).items()})
        joint = {v: beliefs[0][v] * beliefs[1][v] / Fraction(whole[v], n_rows) for v in beliefs[0] if v in beliefs[1]}
        wanted = joint.get(values[place], Fraction(0)) / sum(joint.values())
        assert found.people["chance"][place] == pytest.approx(float(wanted))
        for known, belief in zip(alone, beliefs, strict=True):
            known.append(float(belief.get(values[place], 0)))
    assert found.baseline == pytest.approx(max(sum(known) / n_rows for known in alone))


def test_publishing_twice_without_care_gives_values_away():
    """a and c have the flu; b, who was beside a, leaves, and so does d: what both releases allow is the flu."""
    later = table(a=(20, "flu"), e=(21, "bronchitis"), c=(40, "flu"), f=(41, "gastritis"))
    first, second = (release_of(frame, SCHEMA, [0, 0, 1, 1]) for frame in (FIRST, later))
    found = intersection(second, later, [first], column="disease")
    assert found.people["chance"].to_list() == [1.0, 0.0, 1.0, 0.0]  # what the newcomers have was not there before
    assert found.figures["certain"] == 0.5


def test_m_invariance_stops_it():
    later = table(a=(20, "flu"), e=(21, "bronchitis"), c=(40, "flu"), f=(41, "gastritis"))
    first = shoal.republish(FIRST, SCHEMA, TWO, seed=1)
    second = shoal.republish(later, SCHEMA, TWO, previous=first.release, state=first.state, seed=1)
    found = intersection(second.release, later, [first.release], column="disease")
    assert max(found.people["chance"][place] for place in (0, 2)) <= 0.5 + 1e-9
    assert found.figures["certain"] == 0.0


def test_somebody_who_is_in_one_alone_is_believed_of_as_that_one_says():
    both = pl.DataFrame({"x": [1, 2, 50, 51], "s": list("abcd")})
    one, other = release_of(both, NUMBERS, [0, 0, 1, 1]), release_of(both.head(2), NUMBERS, [0, 0])
    assert intersection(one, both, [other]).people["chance"].to_list() == [0.5] * 4


def test_a_value_that_the_first_release_does_not_show_is_as_frequent_as_the_next_one_says():
    frame = pl.DataFrame({"x": [1, 2, 50, 51], "s": list("abcd")})
    first, other = (release_of(frame, NUMBERS, labels) for labels in ([0, 0, -1, -1], [0, 0, 1, 1]))
    assert intersection(first, frame, [other, other]).people["chance"].to_list() == [0.5] * 4


def test_releases_with_other_quasi_identifiers():
    """The attacker knows of each release what it shows, or what is said to be known."""
    frame = pl.DataFrame({"x": [1, 2, 3, 4], "y": ["f", "m", "f", "m"], "s": list("abcd")})
    schemas = [shoal.Schema(quasi={name: kind}, sensitive=["s"], rest="drop")
               for name, kind in (("x", shoal.Numeric()), ("y", shoal.Nominal()))]  # fmt: skip
    by_x, by_y = (release_of(frame, schema, labels)
                  for schema, labels in zip(schemas, ([0, 0, 1, 1], [0, 1, 0, 1]), strict=True))  # fmt: skip
    assert intersection(by_x, frame, [by_y]).success == 1.0
    assert intersection(by_x, frame, [by_y], known=["x", "y"]).success == 1.0
    with pytest.raises(shoal.ParameterError, match="no other release shows"):
        intersection(by_x, frame, [by_y], known=["x"])
    with pytest.raises(shoal.ParameterError, match="names no column of this release"):
        intersection(by_x, frame, [by_y], known=["y"])


def test_without_another_release_it_is_not_tried():
    frame = pl.DataFrame({"x": [1, 2], "s": ["a", "b"]})
    with pytest.raises(shoal.ParameterError, match="compares with another release, and none is given"):
        release_of(frame, NUMBERS, [0, 0]).attack(frame, "intersection")
    with pytest.raises(shoal.ParameterError, match="needs a list of releases"):
        Background(releases=["release"])
