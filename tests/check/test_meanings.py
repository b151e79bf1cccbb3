"""What aliases and grades stand for, held against the input: with two people exchanged, a release is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check import meanings
from support.pairwise import examples

AGES = [20 + 2 * row for row in range(24)]
FRAME = pl.DataFrame(
    {
        "age": AGES,
        "zip": [f"{10 + row // 3}{row % 3}" for row in range(24)],
        "disease": ["flu", "cold", "gout", "ache"] * 6,
        "income": [1000 + 10 * (row * 7 % 24) for row in range(24)],
    }
)
TREE = shoal.Hierarchy([[f"{10 + row // 3}{row % 3}", str(10 + row // 3), "*"] for row in range(24)])
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(TREE)},
    sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()},
)
HIDING = {"disease": shoal.Aliases("disease", default=2), "income": shoal.Grades("income", quantiles=2)}
METHODS = {
    "text": (shoal.Mondrian(k=4), []),
    "typed": (shoal.Mondrian(k=4), [shoal.Generalize(shape="typed")]),
    "classes": (shoal.KMember(k=4), [shoal.Generalize(shape="classes")]),
    "sets": (shoal.KMember(k=4), [shoal.Generalize(sets=True)]),
    "buckets": (shoal.Anatomy(l=2), []),
    "slices": (shoal.Slicing(l=2, k=4, sensitive_apart=True), []),
    "slices in files": (shoal.Slicing(l=2, k=4, sensitive_apart=True), [shoal.Slices(shape="files")]),
    "records": (shoal.Personal(), []),
    "averages": (shoal.Mdav(k=4), []),
    "centres": (shoal.RGather(k=4), []),
}
COVERS = [name for name in METHODS if name not in ("averages", "centres")]


def released(frame, name, columns=("disease",), schema=SCHEMA, **options):
    """A release with its key, as anybody makes it who has this table."""
    method, publish = METHODS[name]
    known = [HIDING[column] for column in columns]
    sensitive = {column: schema.sensitive[column] for column in columns}
    schema = replace(schema, sensitive=sensitive, rest="drop")
    return shoal.anonymize(frame, schema, method, publish=[*publish, *known], seed=1 << 70, **options)


def with_exchanged(frame, column, one, other):
    """The table with the values of two people exchanged: all counts stay the same."""
    values = frame[column].to_list()
    values[one], values[other] = values[other], values[one]
    return frame.with_columns(pl.Series(column, values))


@cache
def released_exchanged(name, column):
    """A table in which two people have each other's value, and its release."""
    other = with_exchanged(FRAME, column, 0, 23)
    return other, released(other, name, (column,))


def refused(release, frame, **options):
    """Whether a release is refused with an input, and for the one reason."""
    try:
        release.verify(key=release.key, original=frame, **options)
    except shoal.GuaranteeError as error:
        return "that nobody in the original has who can be in them" in str(error) or str(error)
    return False


@pytest.mark.parametrize("name", COVERS)
@pytest.mark.parametrize("column", ["disease", "income"])
def test_two_people_whose_values_are_exchanged(name, column):
    """Release and key fit each other; both are those of another table, in which every value is as frequent."""
    other, release = released_exchanged(name, column)
    assert not refused(release, other, schema=SCHEMA)
    assert refused(release, FRAME, schema=SCHEMA) is True


@pytest.mark.parametrize("name", ["averages", "centres"])
def test_averages_and_centres_cover_nobody(name):
    """What is stated: of them the values alone are compared, with one another too."""
    other = with_exchanged(FRAME, "disease", 0, 23)
    assert not refused(released(other, name), FRAME)
    assert refused(released(other, name, ("disease", "income")), FRAME)
    more = released(FRAME.with_columns(disease=pl.Series(["flu", "flu", *FRAME["disease"][2:]])), name)
    with pytest.raises(shoal.GuaranteeError, match="column 'disease': its cells stand for other values than the orig"):
        more.verify(original=FRAME)


def test_rows_that_were_left_out_are_no_reason_to_refuse():
    frame = FRAME.with_columns(age=pl.Series([None, *AGES[1:]], dtype=pl.Int64))
    release = released(frame, "text", missing="drop")
    assert not refused(release, frame, schema=SCHEMA)
    alike = released(FRAME, "text", require=[shoal.LDiversity("disease", l=3)], suppress=0.5)
    assert not refused(alike, FRAME, schema=SCHEMA)


def test_values_without_a_known_place_are_passed_over():
    """Without the schema nobody knows which values are below a node of a hierarchy; ages are still compared."""
    _, release = released_exchanged("text", "disease")
    assert any(node.height for column in release.manifest.layout.quasi for node in column.nodes)
    assert refused(release, FRAME)


def test_spellings_that_were_merged_are_one():
    frame = FRAME.with_columns(disease=pl.Series(["Flu ", *FRAME["disease"][1:]]))
    tree = shoal.Hierarchy([[name, "*"] for name in ("FLU", "cold", "gout", "ache")])
    schema = replace(SCHEMA, sensitive={"disease": shoal.Nominal(tree)})
    release = released(frame, "text", schema=schema, normalise=True)
    assert ("FLU",) in release.key.by_name["disease"].values.values()
    assert not refused(release, frame, schema=schema)


def test_what_choice_2_generalises_to_may_stand_for_anything():
    tree = shoal.Hierarchy([["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "foot", "*"], ["ache", "head", "*"]])
    schema = replace(SCHEMA, sensitive={"disease": shoal.Nominal(tree)}, choice="show", rest="drop")
    aliases = shoal.Aliases("disease", choice2="generalise")
    for choices, told in (([3] + [2] * 23, True), ([2] * 24, False)):
        frame = FRAME.with_columns(show=pl.Series(choices))
        other = with_exchanged(frame, "disease", 0, 23)
        release = shoal.anonymize(other, schema, shoal.Personal(), publish=aliases, seed=1 << 70)
        assert not refused(release, other, schema=schema)
        assert bool(refused(release, frame, schema=schema)) is told


# -- choices -----------------------------------------------------------------------------------------------------------

CHOICE = replace(SCHEMA, sensitive={"disease": shoal.Nominal()}, choice="show", rest="drop")
OTHERWISE = r"column 'disease': (1 row shows|\d+ rows show) a value in another way than was chosen for it"


def with_choices(choices, method=None, tree=None, **options):
    """A release of people who chose so."""
    frame = FRAME.with_columns(show=pl.Series(choices, dtype=pl.Int64))
    schema = replace(CHOICE, sensitive={"disease": shoal.Nominal(tree)})
    aliases = shoal.Aliases("disease", **options)
    return frame, schema, shoal.anonymize(frame, schema, method or shoal.Personal(), publish=aliases, seed=1 << 70)


CHOICES = [1, 2, 3, 3, 2, 1] * 4


@pytest.fixture(scope="module", params=METHODS)
def chosen(request):
    """A table with choices, and its release."""
    method, publish = METHODS[request.param]
    frame = FRAME.with_columns(show=pl.Series(CHOICES))
    hiding = [*publish, shoal.Aliases("disease")]
    release = shoal.anonymize(frame, CHOICE, method, publish=hiding, seed=1 << 70)
    release.verify(original=frame, schema=CHOICE)
    return frame, release


@pytest.mark.parametrize(("chose", "shown", "row"), [(3, 1, 5), (2, 3, 3), (1, 2, 4)])
def test_people_whose_choice_was_not_followed(chosen, chose, shown, row):
    """Release and key are those of a table in which one person chose otherwise; all values are theirs."""
    frame, release = chosen
    assert CHOICES[row] == shown
    true = frame.with_columns(show=pl.Series([*CHOICES[:row], chose, *CHOICES[row + 1 :]]))
    with pytest.raises(shoal.GuaranteeError, match=OTHERWISE):
        release.verify(original=true, schema=CHOICE)
    release.verify(original=true)  # without the schema nobody knows which column has the choices


def test_choices_exchanged_between_two_people():
    """As many show it as chose to, but not the same."""
    frame, schema, release = with_choices([1, 2] * 12)
    values = frame["disease"].to_list()
    one, other = 0, next(row for row in range(24) if values[row] == values[0] and row % 2 == 0 and row)
    true = with_exchanged(with_exchanged(frame, "show", one, 1), "show", other, other + 1)
    assert refused(release, true, schema=schema) is not False


@pytest.mark.parametrize(
    ("options", "tree"),
    [
        ({"default": 3}, None),
        ({"rule": {"flu": 1, "gout": 2}, "default": 3}, None),
        ({"rule": {"lung": 1, "cold": 3}, "default": 2}, True),
        ({"rule": {"lung": 1}, "default": 3, "choice2": "generalise"}, True),
        ({"default": 2, "min_support": 3}, None),
        ({"default": 2, "flatten": 1.5}, None),
    ],
)
def test_choices_that_come_from_elsewhere(options, tree):
    nodes = [["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "foot", "*"], ["ache", "head", "*"]]
    choices = [None, None, 3, 1] * 6
    frame, schema, release = with_choices(choices, tree=shoal.Hierarchy(nodes) if tree else None, **options)
    release.verify(original=frame, schema=schema)
    ways = {1: 3, 3: 1, None: 1 if options.get("default") != 1 else 3}
    true = frame.with_columns(show=pl.Series([ways[frame["show"][0]], *frame["show"][1:]]))
    if options.get("rule", {}).get("flu") == 1 or "lung" in options.get("rule", {}):
        true = frame.with_columns(show=pl.Series([3, *frame["show"][1:]]))
    if "min_support" in options:  # with one less who chose to show it, or with one more, they are too few
        true = frame.with_columns(show=pl.Series([1] * 24))
    with pytest.raises(shoal.GuaranteeError, match=OTHERWISE):
        release.verify(original=true, schema=schema)


# -- against a program that tries one after the other ------------------------------------------------------------------


def most_pairs(fits):
    """How many rows find somebody else each: augmenting paths, one row at a time."""
    holder = {}

    def place(row, seen):
        for person in np.flatnonzero(fits[row]).tolist():
            if person not in seen:
                seen.add(person)
                if person not in holder or place(holder[person], seen):
                    holder[person] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(fits)))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_overlapping_cells_against_the_slow_way(data):
    ages = data.draw(st.lists(st.integers(0, 5), min_size=2, max_size=9))
    values = data.draw(st.lists(st.sampled_from("ab"), min_size=len(ages), max_size=len(ages)))
    shown = data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from("ab")), min_size=1))
    shown = [(min(low, high), max(low, high), value) for low, high, value in shown[: len(ages)]]
    fits = np.array(
        [[low <= a <= high and v == w for a, w in zip(ages, values, strict=True)] for low, high, v in shown]
    )
    ranges = [*(meanings.Range(2, low, high) for low, high, _ in shown), *(meanings.Range(2, a, a) for a in ages)]
    axis = meanings.axis_of(ranges, discrete=False)
    codes = np.array([ord(v) - ord("a") for *_, v in shown]), np.array([ord(v) - ord("a") for v in values])
    sides = [
        meanings.Side(axis, np.arange(len(shown)), np.arange(len(ages)) + len(shown)),
        meanings.Side(meanings._points(np.array([1])), *codes),
    ]
    assert meanings._n_unpaired(sides) == len(shown) - most_pairs(fits)


def test_too_many_pairs_are_counted_row_by_row(monkeypatch):
    monkeypatch.setattr(meanings, "MOST_PAIRS", 3)
    for name in COVERS:
        other, release = released_exchanged(name, "disease")
        assert not refused(release, other, schema=SCHEMA)
    assert refused(released_exchanged("text", "disease")[1], FRAME, schema=SCHEMA)
