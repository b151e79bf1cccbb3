"""What slices prove by themselves: all tables they may be of, written out, and what is said without writing any."""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check import slices as checker
from shoal.check.slices import SlicesRead
from shoal.errors import Problems
from shoal.release.manifest import Layout, PassedColumn, QuasiColumn, Slice
from support.pairwise import examples
from support.sliced_tables import OVERLAPPING, SLICINGS, layout_of, published, read
from twins import slices as twin

TWO = [
    [["a", "b"], ["c", "s"]],
    [["a", "b", "c"], ["s"]],
    [["a", "s", "t"], ["b", "c"]],
    [["n"], ["a", "b"], ["s", "c"]],
    [["a", "b"], ["c"], ["t", "s"]],
    [["a", "b", "c", "s"]],
]
"""No more than two of them have quasi-identifiers."""
TWO_OVERLAPPING = [
    [["a", "b"], ["a", "s"]],
    [["a", "s"], ["b", "s"]],
    [["a", "b", "n"], ["c", "n", "s"]],
    [["a", "b", "c"], ["a", "b", "s"]],
    [["a", "b"], ["b", "c"], ["s"]],
]
MANY = [one for one in SLICINGS if len(one) > 2]
BOUNDS = st.sampled_from([Fraction(1, 5), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)])


@contextmanager
def at_most(n_ways):
    """Look at so many ways to put slices together."""
    most = checker.MOST_COMBINATIONS
    checker.MOST_COMBINATIONS = n_ways
    try:
        yield
    finally:
        checker.MOST_COMBINATIONS = most


def refuted_and_true(drawn, bound):
    """By sensitive column: what is said, 0 for nothing, and the least that somebody has in every table."""
    table, layout = drawn
    found = read(table, layout).joined().refuted(dict.fromkeys(layout.sensitive, float(bound)))
    assert all(chance > bound for chance in found.values())
    buckets, quasi = twin.buckets_of({"table": table}, layout), [column.name for column in layout.quasi]
    return {name: (found.get(name, 0.0), twin.least_sure(buckets, quasi, name)) for name in layout.sensitive}


# -- all tables ------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(80))
@given(published(max_rows=6, max_bucket=4, slicings=TWO), BOUNDS)
def test_two_slices_are_refuted_if_no_table_keeps_the_promise_and_only_then(drawn, bound):
    for said, least in refuted_and_true(drawn, bound).values():
        assert said == (pytest.approx(float(least), rel=1e-12) if least > bound else 0.0)


@settings(max_examples=examples(80))
@given(published(max_rows=6, max_bucket=4, slicings=TWO_OVERLAPPING), BOUNDS)
def test_two_slices_that_share_an_attribute_too(drawn, bound):
    for said, least in refuted_and_true(drawn, bound).values():
        assert said == (pytest.approx(float(least), rel=1e-12) if least > bound else 0.0)


THREE = pl.DataFrame(
    {name: list(cells) for name, cells in {"a": "xxxx", "b": "uuuv", "c": "1212", "s": "pppp", "t": "gghh"}.items()}
).with_columns(bucket=pl.Series([5, 6, 6, 6]))
"""Who can have what in two of three slices depends on what goes beside it in the third."""


@settings(max_examples=examples(120))
@given(published(max_rows=6, max_bucket=3, slicings=[*MANY, *OVERLAPPING]), BOUNDS)
@example((THREE, layout_of([["a", "b"], ["c", "t"], ["a", "b", "s"]])), Fraction(1, 5))
def test_more_slices_are_never_refuted_where_some_table_keeps_the_promise(drawn, bound):
    for said, least in refuted_and_true(drawn, bound).values():
        assert said <= float(least) * (1 + 1e-12)


@settings(max_examples=examples(60))
@given(published(max_rows=6, max_bucket=4, slicings=[*TWO, *TWO_OVERLAPPING]), BOUNDS, st.integers(0, 12))
def test_with_too_many_ways_nothing_false_is_said(drawn, bound, n_ways):
    with at_most(n_ways):
        for said, least in refuted_and_true(drawn, bound).values():
            assert said <= float(least) * (1 + 1e-12)


COUNTING = [[["a"], ["c", "s"]], [["a"], ["b"], ["c", "s"]]]
"""Where it counts how many rows there are of those that can make each other less sure."""


@settings(max_examples=examples(80))
@given(published(max_rows=8, max_bucket=5, slicings=COUNTING[:1]), st.sampled_from([Fraction(1, 2), Fraction(2, 3)]))
def test_rows_that_have_partners_each_may_not_have_enough_together(drawn, bound):
    for said, least in refuted_and_true(drawn, bound).values():
        assert said == (pytest.approx(float(least), rel=1e-12) if least > bound else 0.0)


@settings(max_examples=examples(60))
@given(
    published(max_rows=24, max_bucket=8, slicings=[*SLICINGS, *OVERLAPPING, *TWO_OVERLAPPING, *COUNTING]),
    BOUNDS,
    st.sampled_from([0, 50, 10_000]),
)
def test_nobody_is_said_to_be_surer_than_somebody_is_in_a_table_that_was_sliced(drawn, bound, n_ways):
    """Larger tables, all of whose ways nobody would write out: the rows as they stand are one of them."""
    table, layout = drawn
    slices = read(table, layout).joined()
    with at_most(n_ways):
        found = slices.refuted(dict.fromkeys(layout.sensitive, float(bound)))
    true = slices.chances(table)
    assert all(chance <= true[name] * (1 + 1e-12) for name, chance in found.items())


@st.composite
def tables(draw, overlap=False):
    """A table, its schema and how to slice it."""
    n_rows = draw(st.integers(4, 60))
    cells = {"a": range(6), "b": "uvw", "c": range(3), "s": "pqrstu"}
    columns = {
        name: draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))
        for name, values in cells.items()
    }
    kinds = {"a": shoal.Numeric(), "b": shoal.Nominal(), "c": shoal.Numeric()}
    groups = draw(st.fixed_dictionaries({**dict.fromkeys("abc", st.integers(1, 3)), "s": st.integers(1, 6)}))
    more = {"overlap": draw(st.sampled_from("acs"))} if overlap else {"p": draw(st.sampled_from([None, 2, 3, 5]))}
    method = shoal.Slicing(l=draw(st.integers(2, 3)), groups=groups, **more)
    return pl.DataFrame(columns), shoal.Schema(quasi=kinds, sensitive={"s": shoal.Nominal()}), method


@pytest.mark.parametrize("overlap", [False, True])
def test_no_release_of_the_method_is_refuted(overlap):
    # Many tables allow no slices.
    @settings(max_examples=examples(15), suppress_health_check=[HealthCheck.filter_too_much])
    @given(tables(overlap))
    def never(drawn):
        frame, schema, method = drawn
        try:
            release = shoal.anonymize(frame, schema, method)
        except shoal.InfeasibleError:
            return
        found = SlicesRead.of(release.frames, release.manifest.layout, Problems()).joined()
        assert found.refuted({"s": 1 / method.l}) == {}
        chance = found.chances(frame, schema)["s"]
        for l in range(method.l + 1, 8):  # noqa: E741
            assert found.refuted({"s": 1 / l}).get("s", 0.0) <= chance * (1 + 1e-12)

    never()


# -- what must be found ----------------------------------------------------------------------------------------------


def table_of(buckets, **columns):
    return pl.DataFrame({"bucket": buckets, **{name: list(cells) for name, cells in columns.items()}})


DISCLOSING = {
    "one disease in a bucket": (
        table_of([1] * 4 + [2] * 4, a="xyzwijkl", c="12121212", s="ppppqrst"),
        [["a", "c"], ["s"]],
    ),
    "one disease beside each of its values": (
        table_of([1] * 4 + [2] * 4, a="xyzwijkl", c="12123434", s="pqpqqrst"),
        [["a"], ["c", "s"]],
    ),
    "the same, where the values stand in other buckets too": (
        table_of([1] * 4 + [2] * 4, a="xyzwijkl", c="12121212", s="pqpqrrtt"),
        [["a"], ["c", "s"]],
    ),
    "the input as it is": (
        table_of([1] * 6, a="xyzwvu", c="121212", s="pqrpqr"),
        [["a", "c", "s"]],
    ),
    "an overlap that puts the disease beside everybody": (
        table_of([1] * 4, a="wxyz", c="1122", s="pqrt"),
        [["a", "c"], ["a", "s"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("n_ways", [0, 10_000])
@pytest.mark.parametrize("case", DISCLOSING)
def test_what_discloses_openly_is_refuted_whatever_the_size(case, n_ways):
    table, slices = DISCLOSING[case]
    with at_most(n_ways):
        assert read(table, layout_of(slices)).joined().refuted({"s": 0.5}) == {"s": 1.0}


def test_a_disease_that_all_of_a_bucket_have_is_not_certain_of_people_who_fit_others_too():
    """Everybody in bucket 1 has p; but everybody fits bucket 2 as well, where nobody has."""
    table = table_of([1] * 2 + [2] * 4, a="xxxxxx", s="ppqrst")
    assert read(table, layout_of([["a"], ["s"]])).refuted({"s": 0.4}) == {"s": 0.5}
    assert read(table, layout_of([["a"], ["s"]])).refuted({"s": 0.5}) == {}


def test_a_value_that_is_everywhere_is_certain_in_however_many_buckets():
    """Whoever is x fits two buckets, and has p in both: no way need be looked at to know."""
    table = table_of([1] * 3 + [2] * 3, a="xyyxzz", s="ppqppr")
    with at_most(0):
        assert read(table, layout_of([["a"], ["s"]])).refuted({"s": 0.5}) == {"s": pytest.approx(2 / 3, rel=1e-14)}


def test_too_few_rows_that_make_others_less_sure():
    """Whoever is 1 in bucket 1 has p, but for those who are x: they fit bucket 2, too. Two are 1, and one is x."""
    table = table_of([1] * 4 + [2] * 2, a="xyzwxx", c="112211", s="ppqrqr")
    found = read(table, layout_of([["a"], ["c", "s"]]))
    assert found.refuted({"s": 0.5}) == {"s": 1.0}
    enough = table.with_columns(pl.Series("a", list("xxzwxx")))
    assert read(enough, layout_of([["a"], ["c", "s"]])).refuted({"s": 0.5}) == {}


def test_a_promise_that_nobody_asks_for_is_not_looked_at():
    table, slices = DISCLOSING["the input as it is"]
    assert read(table, layout_of(slices)).refuted({}) == {}
    assert read(table, layout_of(slices)).refuted({"t": 0.1}) == {}


def test_every_sensitive_column_is_looked_at_for_itself():
    table = table_of([1] * 4, a="wxyz", b="uuuu", s="pqrt", t="gggh")
    found = read(table, layout_of([["a"], ["b", "s"], ["t"]]))
    assert found.refuted({"s": 0.25, "t": 0.5}) == {"t": 0.75}


def test_equality_is_no_breach():
    table = table_of([1] * 6, a="uvwxyz", s="pqrpqr")
    found = read(table, layout_of([["a"], ["s"]]))
    assert found.refuted({"s": 1 / 3}) == {}
    assert found.refuted({"s": 0.33}) == {"s": pytest.approx(1 / 3, rel=1e-14)}


def test_a_number_is_the_same_however_it_is_written():
    """Whoever is 30 fits both buckets, where the one says 30 and the other 30.0."""
    table = table_of([1, 1, 2, 2, 2, 2], a=["30", "30", *["30.0"] * 4], s="ppqrst")
    layout = layout_of([["a"], ["s"]])
    number = layout.quasi[0].model_copy(update={"kind": "numeric"})
    assert read(table, layout).refuted({"s": 0.5}) == {"s": 1.0}
    assert read(table, layout.model_copy(update={"quasi": (number,)})).refuted({"s": 0.5}) == {}


# -- cells that were generalised -------------------------------------------------------------------------------------


def ranges_of(slices):
    """Attributes a and b are ranges of whole numbers."""
    quasi = tuple(
        QuasiColumn(
            name=name, kind="numeric", form="interval", columns=(name,), has_missing=False, low=1, high=5, whole=True
        )
        for name in "ab" if any(name in one for one in slices)
    )  # fmt: skip
    shown = tuple(Slice(attributes=tuple(one), columns=tuple(one)) for one in slices)
    passed = (PassedColumn(name="s", role="sensitive", kind="nominal"),)
    return Layout(shape="slices", quasi=quasi, passed=passed, slices=shown)


APART = [(1, 1), (2, 3), (4, 5)]


@st.composite
def generalised(draw):
    """Cells that may cover each other, or may not."""
    slices = draw(st.sampled_from([[["a"], ["b", "s"]], [["a", "b"], ["s"]], [["a", "b", "s"]]]))
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    n_rows = sum(sizes)
    cells = draw(st.sampled_from([APART, [(1, 2), (2, 3), (3, 3), (4, 5)], [(1, 5), (2, 2)]]))
    table = {"bucket": [bucket for bucket, size in enumerate(sizes) for _ in range(size)]}
    for name, choice in {"a": cells, "b": cells, "s": "pqr"}.items():
        table[name] = draw(st.lists(st.sampled_from(choice), min_size=n_rows, max_size=n_rows))
    return table, ranges_of(slices), cells is APART


def written(cells):
    return [str(low) if low == high else f"[{low}, {high}]" for low, high in cells]


@settings(max_examples=examples(80))
@given(generalised(), BOUNDS)
def test_cells_that_cover_each_other_leave_open_who_fits_what(drawn, bound):
    """Never refuted where values within the cells would do; where no cells cover each other, exactly then."""
    table, layout, exact = drawn
    shown = pl.DataFrame({**table, "a": written(table["a"]), "b": written(table["b"])})
    found = read(shown, layout).refuted({"s": float(bound)})
    ends = pl.DataFrame({name: pl.Series(name, cells, dtype=pl.Object) for name, cells in table.items()})
    buckets = twin.buckets_of({"table": ends}, layout)
    least = twin.least_sure_within(buckets, [column.name for column in layout.quasi], "s")
    assert found.get("s", 0.0) <= float(least) * (1 + 1e-12)
    if exact:
        assert found == ({"s": pytest.approx(float(least), rel=1e-12)} if least > bound else {})


def test_one_disease_in_a_bucket_of_cells():
    table = table_of([1, 1, 2, 2], a=["[1, 2]", "[1, 2]", "[3, 4]", "5"], s="ppqr")
    assert read(table, ranges_of([["a"], ["s"]])).refuted({"s": 0.5}) == {"s": 1.0}
    # Who is 2 fits both buckets; whether anybody is 1, nothing tells.
    wider = table.with_columns(pl.Series("a", ["[1, 2]", "[1, 2]", "[2, 4]", "5"]))
    assert read(wider, ranges_of([["a"], ["s"]])).refuted({"s": 0.5}) == {}


@pytest.mark.parametrize(
    ("cells", "others", "refuted"),
    [
        (["{x, z}"] * 2, ["{y, w}"] * 2, True),
        (["{x, z}", "x"], ["{y, w}"] * 2, True),
        (["{x, z}"] * 2, ["{z, w}", "y"], False),
        (["{x, z}"] * 2, ["*", "y"], False),
    ],
)
def test_sets_that_share_a_value_leave_it_open(cells, others, refuted):
    column = QuasiColumn(name="a", kind="nominal", form="set", columns=("a",), n_values=4, has_missing=True)
    layout = ranges_of([["a"], ["s"]]).model_copy(update={"quasi": (column,)})
    table = table_of([1, 1, 2, 2], a=[*cells, *others], s="ppqr")
    assert read(table, layout).refuted({"s": 0.5}) == ({"s": 1.0} if refuted else {})


def test_values_beside_cells_stand_for_themselves():
    """Who is 2 and u fits bucket 1 alone, though a cell of bucket 2 covers 2 as well."""
    ranges = ranges_of([["a", "b"], ["s"]])
    plain = QuasiColumn(name="b", kind="nominal", form="raw", columns=("b",), has_missing=False)
    layout = ranges.model_copy(update={"quasi": (ranges.quasi[0], plain)})
    table = table_of([1, 1, 2, 2], a=["[1, 2]", "[1, 2]", "[2, 4]", "5"], b="uuvv", s="ppqr")
    assert read(table, layout).refuted({"s": 0.5}) == {"s": 1.0}
    assert read(table.with_columns(b=pl.lit("u")), layout).refuted({"s": 0.5}) == {}
