"""The linkability attack, against counting rows in plain Python."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.testing import tables
from support.by_hand import release_of, unchanged
from support.pairwise import examples
from twins.attacks import below, linked_groups, linked_rows, says_nothing


def linkability(release, original, **given):
    return release.attack(original, "linkability", **given)["linkability"]


@settings(max_examples=examples(25), deadline=None)
@given(st.data(), st.sampled_from(["row", "class"]))
def test_both_halves_lead_to_the_same(data, same):
    case = data.draw(tables("mixed", min_rows=2, max_rows=14))
    n_rows, names = case.frame.height, list(case.schema.quasi)
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    labels = [sorted(set(labels)).index(label) for label in labels]
    cut = data.draw(st.integers(1, len(names) - 1))
    halves = names[:cut], names[cut:]
    release = release_of(case.frame, case.schema, labels)
    found = linkability(release, case.frame, schema=case.schema, first=halves[0], second=halves[1], same=same)
    sides = []
    for half in halves:
        rows, kinds = case.frame.select(half).rows(), [case.schema.quasi[name] for name in half]
        sides.append([linked_rows(labels, linked_groups(rows, labels, kinds, person)) for person in rows])
    alike = range(n_rows) if same == "row" else shown_by_row(case, labels)

    def chance(first, second):
        meeting = sum(alike[one] == alike[other] for one in first for other in second)
        return float(Fraction(meeting, len(first) * len(second)))

    assert found.people["chance"].to_list() == pytest.approx([chance(*both) for both in zip(*sides, strict=True)])
    assert found.baseline == pytest.approx(chance(range(n_rows), range(n_rows)))


def shown_by_row(case, labels):
    """What each row shows: groups with equal cells are one class."""
    shown = {}
    for label in set(labels):
        rows = [row for row, at in enumerate(labels) if at == label]
        cells = [cell(case.frame[name][rows].to_list(), kind) for name, kind in case.schema.quasi.items()]
        shown |= dict.fromkeys(rows, tuple(cells))
    return shown


def cell(values, kind):
    present = [value for value in values if value is not None]
    if len(present) < len(values) or says_nothing(present, kind, sets=False):
        return "*" if present else None
    if isinstance(kind, shoal.Nominal):
        return below(kind, present)
    ranks = present if isinstance(kind, shoal.Numeric) else [kind.order.index(value) for value in present]
    return min(ranks), max(ranks)


def test_a_row_is_drawn_for_either_half_and_not_a_class():
    frame = pl.DataFrame({"x": [1, 1, 1, 1, 9], "y": [1, 1, 1, 1, 9], "s": list("abcde")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric(), "y": shoal.Numeric()}, sensitive=["s"])
    release = release_of(frame, schema, [0, 0, 0, 0, 1])
    assert linkability(release, frame, same="class").baseline == pytest.approx((4 * 4 + 1) / 5**2)
    wide = pl.DataFrame({"x": [1, 9, 9, 9, 1], "y": [1, 1, 1, 1, 9], "s": list("abcde")})
    found = linkability(release_of(wide, schema, [0, 0, 0, 0, 1]), wide, same="class")
    # x = 1 fits all five rows, four of them of the class that alone fits x = 9 and y = 1; y = 9 fits the fifth.
    assert found.people["chance"].to_list() == pytest.approx([4 / 5, 1.0, 1.0, 1.0, 1 / 5])


def test_an_unchanged_table_of_unique_halves_links_everybody():
    frame = pl.DataFrame({"x": [1, 2, 3], "y": [7, 8, 9], "s": list("abc")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric(), "y": shoal.Numeric()}, sensitive=["s"])
    assert linkability(unchanged(frame, schema), frame).success == 1.0
    hidden = release_of(frame, schema, [0, 0, 0])
    assert linkability(hidden, frame).success == pytest.approx(1 / 3)
    assert linkability(hidden, frame, same="class").success == 1.0
    control = pl.DataFrame({"x": [1, 3], "y": [9, 9]})
    found = linkability(unchanged(frame, schema), frame, control=control)
    assert (found.baseline, found.n_baseline, found.advantage) == (0.5, 2, 0.5)


def test_halves_that_cannot_be():
    frame = pl.DataFrame({"x": [1, 2], "s": list("ab")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])
    with pytest.raises(shoal.ParameterError, match="second: no column is left for it"):
        linkability(unchanged(frame, schema), frame)
    with pytest.raises(shoal.ParameterError, match="'z' is not among the known columns"):
        linkability(unchanged(frame, schema), frame, first=["x"], second=["z"])
    sliced = shoal.anonymize(
        pl.DataFrame({"x": [1, 2, 3, 4], "y": [1, 2, 3, 4], "s": list("abab")}),
        shoal.Schema(quasi={"x": shoal.Numeric(), "y": shoal.Numeric()}, sensitive=["s"]), shoal.Anatomy(l=2),
    )  # fmt: skip
    with pytest.raises(shoal.ParameterError, match="cannot be tried on a release of the shape 'buckets'"):
        linkability(sliced, pl.DataFrame({"x": [1, 2, 3, 4], "y": [1, 2, 3, 4], "s": list("abab")}))
