"""Whose rows are published: averages and centres are those of the rows that a receipt names, or it is not believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.check.averages import _convex_median, fits_average
from shoal.check.shown_values import ShownValue
from shoal.check.value_ranges import SPAN
from shoal.check.whose import whose_rows
from shoal.measure import measure
from shoal.release.manifest import QuasiColumn
from support.forging import fingerprinted, with_entries

GRADES = ["none", "lo", "mid", "hi", "top"]
PUBLISHERS = [
    shoal.Aggregate(), shoal.Aggregate(numeric="median", ordinal="convex-median"),
    shoal.Aggregate(restore_variance=True, ordinal="mode"), shoal.Aggregate(numeric="median", restore_variance=True),
    shoal.Aggregate(average={"age": "median", "grade": "mode"}), shoal.Centres(), shoal.Centres(standardize=False),
    shoal.Centres(centre="average"), shoal.Centres(centre="average", standardize=False),
]  # fmt: skip


# -- what is honest is accepted --------------------------------------------------------------------------------------


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 9), st.one_of(st.none(), st.integers(0, 5)), st.sampled_from([None, *GRADES]),
            st.sampled_from([None, "x", "y", "z"]),
        ),
        min_size=8, max_size=40,
    ),
    scale=st.sampled_from([(0.0, 1.0), (1e15, 1.0), (0.0, 1e300), (-7.0, 1e-310), (0.1, 0.3)]),
    publish=st.sampled_from(PUBLISHERS),
    method=st.sampled_from([shoal.Mdav(k=2), shoal.RGather(k=2), shoal.KMember(k=3)]),
)  # fmt: skip
def test_honest_releases_are_accepted(rows, scale, publish, method):
    who, ages, grades, names = zip(*rows, strict=True)
    numbers = [None if age is None else scale[0] + scale[1] * age for age in ages]
    frame = pl.DataFrame(
        {"id": who, "age": pl.Series(numbers, dtype=pl.Float64), "grade": grades, "name": names, "s": ["a"] * len(who)},
        schema_overrides={"grade": pl.String, "name": pl.String},
    )
    quasi = {"age": shoal.Numeric(), "grade": shoal.Ordinal(GRADES), "name": shoal.Nominal()}
    schema = shoal.Schema(person="id", quasi=quasi, sensitive=["s"])
    try:  # it is checked before it is returned
        release = shoal.anonymize(frame, schema, method, publish=publish, seed=1)
    except (shoal.InfeasibleError, shoal.SchemaError, shoal.ParameterError):
        return
    assert release.verify(original=frame, schema=schema).k >= 2


@pytest.mark.parametrize("missing", ["keep", "drop"])
@pytest.mark.parametrize("suppress", [0.0, 0.3])
def test_hierarchies_built_of_the_values_of_the_input_are_known_with_it(missing, suppress):
    rng = np.random.default_rng(7)
    ages, n = rng.integers(0, 60, 120).tolist(), 120
    frame = pl.DataFrame({
        "id": rng.integers(0, 70, n), "age": [None if age > 55 else age for age in ages],
        "grade": rng.choice(GRADES, n), "name": rng.choice(list("abcdefgh"), n), "s": rng.choice(["x", "y"], n),
    })  # fmt: skip
    quasi = {
        "age": shoal.Numeric(shoal.Quantiles(parts=(8, 4))), "grade": shoal.Ordinal(GRADES, shoal.Grouping(sizes=(2,))),
        "name": shoal.Nominal(shoal.Grouping(sizes=(2, 2))),
    }  # fmt: skip
    schema = shoal.Schema(person="id", quasi=quasi, sensitive=["s"])
    require = [shoal.LDiversity("s", l=2)]
    release = shoal.anonymize(
        frame, schema, shoal.Mondrian(k=3), seed=1, missing=missing, suppress=suppress, require=require
    )
    assert release.verify(original=frame, schema=schema).k >= 3
    other = frame.with_columns(age=pl.col("age").reverse())
    with pytest.raises((shoal.GuaranteeError, shoal.ParameterError), match=r"cover|hierarchy"):
        release.verify(original=other, schema=schema)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=15))
def test_convex_medians_fill_gaps(ranks):
    times = [ranks.count(rank) for rank in range(7)]
    filled = [min(max(times[: rank + 1]), max(times[rank:])) for rank in range(7)]
    below = [2 * sum(filled[: rank + 1]) >= sum(filled) for rank in range(7)]
    assert _convex_median(np.sort(np.array(ranks))) == below.index(True)


def test_a_class_of_one_group_shows_its_convex_median_and_one_of_several_may_show_what_lies_between():
    """Ranks 0, 0 and 4 count as 0, 0, 1, 2, 3 and 4: nothing but 1 stands for one group; 3 may for two, but not 5."""
    column = QuasiColumn(name="g", kind="ordinal", form="order", columns=("g",), has_missing=False)
    ranks, shown = np.array([0.0, 0.0, 4.0] * 3), np.array([1.0, 3.0, 5.0])
    sort = np.full(3, SPAN, dtype=np.int64)
    one = ShownValue(column, np.repeat(np.arange(3), 3), ranks, shown, sort, n_values=6)
    assert fits_average(one, "convex-median", 2).tolist() == [True, False, False]
    assert fits_average(one, "convex-median", 1).tolist() == [True, True, False]


# -- what is forged is refused ---------------------------------------------------------------------------------------

VISITS = pl.DataFrame([(who, ill) for who in "ABCD" for ill in ("flu", "cold")], schema=["p", "d"], orient="row")
NUMBERS = dict(zip("ABCD", [1.0, 20.5, 50.0, 99.0], strict=True))
RANKS = dict(zip("ABCD", GRADES, strict=False))
BY_PUBLISHER = [
    pytest.param(shoal.Ordinal(GRADES), RANKS, shoal.Aggregate(), id="ordinal"),
    pytest.param(shoal.Ordinal(GRADES), RANKS, shoal.Aggregate(ordinal="convex-median"), id="convex"),
    pytest.param(shoal.Ordinal(GRADES), RANKS, shoal.Centres(), id="ordinal centres"),
    pytest.param(shoal.Numeric(), NUMBERS, shoal.Aggregate(), id="mean"),
    pytest.param(shoal.Numeric(), NUMBERS, shoal.Aggregate(restore_variance=True), id="variance"),
    pytest.param(shoal.Numeric(), NUMBERS, shoal.Centres(), id="centres"),
    pytest.param(shoal.Numeric(), NUMBERS, shoal.Centres(standardize=False), id="raw centres"),
    pytest.param(shoal.Numeric(), NUMBERS, shoal.Centres(centre="average"), id="average centres"),
]


@pytest.mark.parametrize(("kind", "values", "publish"), BY_PUBLISHER)
def test_classes_of_one_person_are_not_those_of_two(kind, values, publish):
    """Two rows of one person are a class; the receipt says that its second row is somebody else's."""
    frame = VISITS.with_columns(g=pl.col("p").replace_strict(values))
    by_rows = shoal.Schema(quasi={"g": kind}, sensitive=["d"], rest="drop")
    rows = shoal.anonymize(frame, by_rows, shoal.Mdav(k=2), publish=publish, seed=1)
    assert frame.group_by(pl.Series("class", rows.labels)).agg(pl.col("p").n_unique())["p"].to_list() == [1] * 4
    counted = with_entries(rows, recipe=rows.manifest.recipe.model_copy(update={"counts": "people"}), achieved={})
    forged = with_entries(counted, measures=measure(counted.frames, counted.manifest))
    places = rows._places.copy()
    cold = np.flatnonzero((frame["d"] == "cold").to_numpy())
    places[cold] = np.roll(places[cold], 1)
    people = shoal.Schema(person="p", quasi={"g": kind}, sensitive=["d"])
    with pytest.raises(shoal.GuaranteeError, match="the original"):
        replace(forged, receipt=None, _places=places).verify(original=frame, schema=people)


HOLES = pl.DataFrame(
    {
        "p": [f"p{row // 2}" for row in range(16)], "d": ["flu", "cold"] * 8,
        "age": [1, None, 2, 3, 11, 12, 13, 14, None, None, None, None, 31, 32, 33, 34],
        "grade": [*["lo"] * 4, *["mid"] * 3, None, *["hi"] * 4, *[None] * 4],
    }
)  # fmt: skip
WITH_HOLES = shoal.Schema(
    person="p", quasi={"age": shoal.Numeric(), "grade": shoal.Ordinal(GRADES)}, sensitive=["d"]
)  # fmt: skip


def changed(release, table, column, shown):
    """The release with other cells in one column, hashes and figures made to fit."""
    cells = release.frames[table][column]
    other = pl.Series(column, [shown(cell) for cell in cells], dtype=cells.dtype)
    return fingerprinted(release, **{table: release.frames[table].with_columns(other)})


@pytest.mark.parametrize("publish", [shoal.Aggregate(), shoal.Centres(), shoal.Centres(centre="average")])
def test_cells_that_say_nothing_stand_for_nothing(publish):
    release = shoal.anonymize(HOLES, WITH_HOLES, shoal.Mdav(k=2), publish=publish, seed=1)
    assert release.verify(original=HOLES, schema=WITH_HOLES).k >= 2
    moved = release._places.copy()
    for value in ("flu", "cold"):
        rows = np.flatnonzero((HOLES["d"] == value).to_numpy())
        moved[rows] = moved[np.roll(rows, 1)]
    with pytest.raises(shoal.GuaranteeError, match="the original"):
        replace(release, _places=moved).verify(original=HOLES, schema=WITH_HOLES)
    emptied = HOLES.with_columns(pl.col("age").fill_null(1), pl.col("grade").fill_null("lo"))
    with pytest.raises(shoal.GuaranteeError, match="the original"):
        release.verify(original=emptied, schema=WITH_HOLES)


@pytest.mark.parametrize("change", [lambda one: one * 1.01 + 0.001, lambda _: 0.0])
def test_another_radius_is_refused(change):
    release = shoal.anonymize(HOLES, WITH_HOLES, shoal.Mdav(k=3), publish=shoal.Centres(), seed=1)
    with pytest.raises(shoal.GuaranteeError, match=r"classes have another radius than the original gives"):
        changed(release, "centres", "radius", change).verify(original=HOLES, schema=WITH_HOLES)


def test_another_order_is_not_that_of_the_release():
    release = shoal.anonymize(HOLES, WITH_HOLES, shoal.Mdav(k=2), publish=shoal.Aggregate(), seed=1)
    other = replace(WITH_HOLES, quasi={"age": shoal.Numeric(), "grade": shoal.Ordinal(["lo", "hi"])})
    with pytest.raises(shoal.ParameterError, match="its order of 'grade' is not the one of the release"):
        release.verify(original=HOLES, schema=other)


def test_quasi_identifiers_as_they_are_must_be_those_of_their_rows():
    schema = replace(WITH_HOLES, quasi={"age": shoal.Numeric()}, rest="drop")
    publish = [shoal.Records(), shoal.Aliases("d", default=2)]
    release = shoal.anonymize(HOLES, schema, shoal.Personal(), publish=publish, seed=1)
    assert release.manifest.recipe.counts == "people"
    with pytest.raises(shoal.GuaranteeError, match="rows show another value than the original has"):
        replace(release, _places=np.roll(release._places, 1)).verify(original=HOLES, schema=schema)


def test_sets_must_list_what_their_rows_had():
    """Those of Bonn and Ulm are one class. Köln, whose place is between theirs, is not listed."""
    towns = ["Bonn", "Bonn", "Köln", "Köln", "Ulm", "Ulm", "Bonn", "Ulm"]
    frame = pl.DataFrame({"p": list("ABCDEFGH"), "age": [9, 9, 7, 7, 5, 5, 1, 1], "town": towns, "d": ["x"] * 8})
    schema = shoal.Schema(person="p", quasi={"age": shoal.Numeric(), "town": shoal.Nominal()}, sensitive=["d"])
    release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), publish=shoal.Generalize(sets=True), seed=1)
    met = release.frames["table"]["town"].unique(maintain_order=True).to_list()
    assert met == ["Ulm", "Köln", "Bonn", "{Bonn, Ulm}"]  # categories have their places as they are met
    assert release.verify(original=frame, schema=schema).k == 2
    other = frame.with_columns(town=pl.Series([*towns[:7], "Köln"]))
    with pytest.raises(shoal.GuaranteeError, match="'town': 1 row shows cells that do not cover what the original has"):
        release.verify(original=other, schema=schema)


@pytest.mark.parametrize("n_rows", [1, 2])
def test_however_few_rows_there_are_a_receipt_names_each_of_them(n_rows):
    frame, schema = HOLES[:n_rows], replace(WITH_HOLES, quasi={"age": shoal.Numeric()}, rest="drop")
    publish = [shoal.Records(), shoal.Aliases("d", default=2)]
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=publish, seed=1)
    assert release.verify(original=frame, schema=schema).n_rows == n_rows
    for places in (release._places[1:], release._places - 1, release._places + 1):
        with pytest.raises(shoal.GuaranteeError, match="receipt: does not say of every published row which row of the"):
            replace(release, _places=places).verify(original=frame, schema=schema)


def test_whose_rows_they_are_is_said_by_a_column_of_the_original():
    release = shoal.anonymize(HOLES, WITH_HOLES, shoal.Mdav(k=2), seed=1)
    with pytest.raises(shoal.ParameterError, match=r"^schema=: names no person; give the schema that the release"):
        whose_rows(release.frames, release.manifest, HOLES, release._places, replace(WITH_HOLES, person=None))
    what = r"^schema=: names the person 'p', a column that the original lacks; give"
    with pytest.raises(shoal.ParameterError, match=what):
        whose_rows(release.frames, release.manifest, HOLES.drop("p"), release._places, WITH_HOLES)
