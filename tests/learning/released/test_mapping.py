"""Held-out rows are mapped as a slow, obvious program maps them, whatever the layout of the release."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.learning.released.cells import as_learnt_from, plausible_rows
from shoal.learning.released.mapping import Classes, Covered, mapped
from support.pairwise import examples
from twins.mapping import distance, loss

TOWNS = {"north": {"a", "b"}, "south": {"c", "d", "e"}}
TREE = shoal.Hierarchy([(leaf, node, "*") for node, leaves in TOWNS.items() for leaf in sorted(leaves)])
GRADES = ("low", "fair", "good", "high")
SCHEMA = shoal.Schema(
    quasi={
        "age": shoal.Numeric(), "town": shoal.Nominal(TREE), "grade": shoal.Ordinal(GRADES), "job": shoal.Nominal(),
    },
    sensitive=["ill"],
)  # fmt: skip
KINDS = {"age": "numeric", "town": "nominal", "grade": "ordinal", "job": "nominal"}


def rows(draw, n_rows, ages, jobs):
    def cells(values):
        return draw(st.lists(st.one_of(values, values, values, st.none()), min_size=n_rows, max_size=n_rows))

    return pl.DataFrame(
        {
            "age": pl.Series(cells(ages), dtype=pl.Int64),
            "town": pl.Series(cells(st.sampled_from("abcde")), dtype=pl.String),
            "grade": pl.Series(cells(st.sampled_from(GRADES)), dtype=pl.String),
            "job": pl.Series(cells(st.sampled_from(jobs)), dtype=pl.String),
            "ill": pl.Series(draw(st.lists(st.sampled_from("pq"), min_size=n_rows, max_size=n_rows))),
        }
    )


@st.composite
def cases(draw):
    table = rows(draw, draw(st.integers(4, 24)), st.integers(0, 9), "xyz")
    held = rows(draw, draw(st.integers(1, 10)), st.integers(-4, 14), "xyzw")
    method = draw(st.sampled_from([shoal.Mondrian(k=2), shoal.KMember(k=2), shoal.Mondrian(k=3, nominal="order")]))
    return table, held, method, draw(st.booleans())


def tree_of(name):
    return {**TOWNS, "*": set("abcde")} if name == "town" else None


@settings(max_examples=examples(60))
@given(cases())
def test_rows_get_the_nearest_class_as_the_slow_way_finds_it(case):
    table, held, method, sets = case
    release = shoal.anonymize(table, SCHEMA, method, publish=shoal.Generalize(sets=sets), seed=3)
    layout = release.manifest.layout
    classes = Classes.of(layout.quasi, release.frames["table"])
    chosen, covering = classes.nearest(held, SCHEMA)
    facts = {column.name: (column.high or 0) - (column.low or 0) for column in layout.quasi if column.kind == "numeric"}
    n_values = {column.name: column.n_values for column in layout.quasi}
    orders = {"grade": GRADES}
    for place, row in enumerate(held.iter_rows(named=True)):
        far = [
            sum(
                distance(row[name], head[name], kind, facts.get(name, 0), tree_of(name), orders.get(name, ()))
                for name, kind in KINDS.items()
            )
            for head in classes.heads.iter_rows(named=True)
        ]
        assert covering[place] == far.count(0)
        assert far[chosen[place]] == pytest.approx(min(far), abs=1e-9)
        open_ = [
            sum(
                loss(head[name], kind, facts.get(name, 0), tree_of(name), orders.get(name, ()), n_values[name])
                for name, kind in KINDS.items()
            )
            for head in classes.heads.iter_rows(named=True)
        ]
        if min(far) == 0:
            assert open_[chosen[place]] == pytest.approx(
                min(one for one, gap in zip(open_, far, strict=True) if not gap)
            )


@settings(max_examples=examples(20))
@given(cases())
def test_every_layout_of_a_release_is_learnt_from_alike(case):
    table, held, method, sets = case
    found = []
    for shape in ("text", "typed", "classes"):
        publish = shoal.Generalize(shape=shape, sets=sets)
        release = shoal.anonymize(table, SCHEMA, method, publish=publish, seed=3)
        layout = release.manifest.layout
        published = plausible_rows(release.frames, layout, 0)
        learnt = as_learnt_from(published, layout)
        shown, counts = mapped(published, layout, held, learnt.schema, schema=SCHEMA)
        columns = [*KINDS, "ill"]
        found.append((learnt.select(columns).sort(columns), shown.select(columns), counts))
    for learnt, shown, counts in found[1:]:
        assert learnt.equals(found[0][0])
        assert shown.equals(found[0][1])
        assert counts == found[0][2]


def test_intervals_are_midpoints_or_both_ends():
    frame = pl.DataFrame({"age": [20, 24, 40, 46, None, None], "ill": list("ppqqpq")})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.KMember(k=2, start=0))
    layout, published = release.manifest.layout, release.frames["table"]
    assert sorted(as_learnt_from(published, layout)["age"].to_list(), key=str) == [22.0, 22.0, 43.0, 43.0, None, None]
    ends = as_learnt_from(published, layout, numbers="ends")
    assert sorted(ends.drop("ill").unique().rows(), key=str) == [(20.0, 24.0), (40.0, 46.0), (None, None)]
    held = pl.DataFrame({"age": [21, 30, 34, 60, None], "ill": list("ppppp")})
    shown, counts = mapped(published, layout, held, ends.schema, numbers="ends")
    assert shown.drop("ill").rows() == [(20.0, 24.0), (20.0, 24.0), (40.0, 46.0), (40.0, 46.0), (None, None)]
    assert counts == Covered(by_one=2, by_none=3)


def test_a_star_is_a_category_and_covers_what_nobody_has_seen():
    frame = pl.DataFrame({"job": ["x", "y", "x", "y"], "ill": list("ppqq")})
    schema = shoal.Schema(quasi={"job": shoal.Nominal()}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4))
    learnt = as_learnt_from(release.frames["table"], release.manifest.layout)
    assert learnt["job"].to_list() == ["*"] * 4
    held = pl.DataFrame({"job": ["x", "never", None], "ill": list("ppp")})
    shown, counts = mapped(release.frames["table"], release.manifest.layout, held, learnt.schema)
    assert (shown["job"].to_list(), counts) == (["*"] * 3, Covered(by_one=3))


def test_without_the_schema_a_value_in_a_tree_may_have_no_place():
    frame = pl.DataFrame({"town": ["a", "a", "c", "d"], "ill": list("ppqq")})
    schema = shoal.Schema(quasi={"town": shoal.Nominal(TREE)}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    layout, published = release.manifest.layout, release.frames["table"]
    assert set(published["town"]) == {"a", "south"}
    learnt = as_learnt_from(published, layout)
    held = pl.DataFrame({"town": ["e", "b"], "ill": list("pp")})
    with pytest.raises(shoal.ParameterError, match="held-out rows: column 'town' has values with no known place"):
        mapped(published, layout, held, learnt.schema)
    shown, counts = mapped(published, layout, held, learnt.schema, schema=schema)
    assert (shown["town"].to_list(), counts) == (["south", "a"], Covered(by_one=1, by_none=1))
    strange = held.with_columns(town=pl.Series(["z", "e"]))
    shown, counts = mapped(published, layout, strange, learnt.schema, schema=schema)
    assert (shown["town"].to_list(), counts) == (["a", "south"], Covered(by_one=1, by_none=1))


def test_the_tightest_class_wins_then_the_largest():
    published = pl.DataFrame({"age": [*["[0, 9]"] * 2, *["[2, 4]"] * 2, *["[3, 5]"] * 3], "ill": list("ppqqppp")})
    frame = pl.DataFrame({"age": [0, 9, 2, 4, 3, 4, 5], "ill": list("ppqqppp")})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["ill"])
    layout = shoal.anonymize(frame, schema, shoal.Mondrian(k=7)).manifest.layout
    classes = Classes.of(layout.quasi, published)
    assert classes.heads["age"].to_list() == ["[3, 5]", "[2, 4]", "[0, 9]"]
    chosen, covering = classes.nearest(pl.DataFrame({"age": [3, 2, 8, 12]}), None)
    assert classes.heads["age"].gather(chosen).to_list() == ["[3, 5]", "[2, 4]", "[0, 9]", "[0, 9]"]
    assert covering.tolist() == [3, 2, 1, 0]


def test_many_rows_are_looked_at_in_parts(monkeypatch):
    import shoal.learning.released.mapping as module

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"age": rng.integers(0, 90, 200), "sex": rng.choice(["f", "m"], 200), "ill": ["p"] * 200})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3))
    classes = Classes.of(release.manifest.layout.quasi, release.frames["table"])
    wanted = classes.nearest(frame, schema)
    monkeypatch.setattr(module, "MOST_PAIRS", 100)
    for one, other in zip(wanted, classes.nearest(frame, schema), strict=True):
        assert (one == other).all()
    assert (wanted[1] > 0).all()  # every row of the input is covered
