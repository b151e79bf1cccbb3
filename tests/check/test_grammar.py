"""Cells of tables that others published: what is understood, and what is left alone."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.grammar.columns import UNKNOWN, read_cells
from shoal.check.value_ranges import ANY_VALUE, MISSING_VALUE, SPAN, UNREAD
from support.pairwise import examples

ORDER = shoal.Ordinal(["none", "mild", "pre-severe", "severe", "b, c"])
TREE = shoal.Hierarchy.from_tree(
    {"lung": ["flu", "asthma"], "belly": ["ulcer", "{colic}"], "skin": ["rash"]}, root="any"
)


def ranges(kind, *cells, **options):
    series = cells[0] if isinstance(cells[0], pl.Series) else pl.Series("a", cells, dtype=pl.String)
    read = read_cells(series, kind, **options)
    return [read.ranges[code] for code in read.codes]


def groups(kind, *cells, **options):
    """Which cells mean the same, as numbers in the order they come."""
    read = read_cells(pl.Series("a", cells, dtype=pl.String), kind, **options)
    first = list(dict.fromkeys(read.codes.tolist()))
    return [first.index(code) for code in read.codes]


def contains(kind, outer, inner, *others):
    """Whether one cell contains another, by the places they take."""
    read = read_cells(pl.Series("a", [outer, inner, *others], dtype=pl.String), kind)
    big, small = (read.ranges[code] for code in read.codes[:2])
    assert read.discrete
    return _places(small) <= _places(big)


def _places(one):
    return set(one.values) or set(range(int(one.low), int(one.high) + 1))


# -- numbers -------------------------------------------------------------------------------------------------------


def above(number, steps=2):
    """The number after one that is left out; one step away is an end that is in doubt."""
    return number if not steps else above(math.nextafter(number, math.inf), steps - 1)


def below(number, steps=2):
    return -above(-number, steps)


@pytest.mark.parametrize(
    ("cell", "low", "high"),
    [
        ("20", 20, 20), (" 20.50 ", 20.5, 20.5), ("-3", -3, -3), ("1e3", 1000, 1000), (".5", 0.5, 0.5), ("-0", 0, 0),
        ("[20, 30]", 20, 30), ("[20,30]", 20, 30), ("[20; 30]", 20, 30), ("[ -30 , -20 ]", -30, -20),
        ("[20, 30)", 20, below(30)), ("(20, 30]", above(20), 30), ("(20, 30)", above(20), below(30)),
        ("(20.0, 30.0]", above(20), 30), ("[20, 30[", 20, below(30)), ("]20, 30]", above(20), 30),
        ("(-inf, 20]", -math.inf, 20), ("[65, inf)", 65, math.inf), ("[65, Infinity]", 65, math.inf),
        ("20-30", 20, 30), ("20 - 30", 20, 30), ("-30--20", -30, -20), ("-30 - 20", -30, 20), ("20–30", 20, 30),
        ("20..30", 20, 30), ("20...30", 20, 30), ("1.5..2.5", 1.5, 2.5), ("20~30", 20, 30), ("20 to 30", 20, 30),
        ("<5", -math.inf, below(5)), ("<=5", -math.inf, 5), ("≤ 5", -math.inf, 5), (">5", above(5), math.inf),
        (">=5", 5, math.inf), ("≥5", 5, math.inf), ("65+", 65, math.inf), ("-5+", -5, math.inf),
        ("{7}", 7, 7), ("2*", 20, below(30)), ("130**", 13000, below(13100)), ("4#", 40, below(50)),
        ("0_", 0, below(10)),
    ],
)  # fmt: skip
def test_numbers_and_intervals(cell, low, high):
    (one,) = ranges(shoal.Numeric(), cell)
    assert (one.sort, one.low, one.high) == (SPAN, low, high)


@pytest.mark.parametrize(
    "cell",
    [
        "old", "30-20", "[30, 20]", "(20, 20)", "[20, 30", "20, 30", "20,5", "1_0", "nan", "inf", "[nan, 3]",
        "20-30-40", "9007199254740993", "{1, x}", "{}", "{1", "12 years", "++5", "-2*", "2*#", "2.5*", "",
    ],
)  # fmt: skip
def test_what_is_no_number_equals_only_itself(cell):
    if not cell:
        assert ranges(shoal.Numeric(), cell) == [MISSING_VALUE]
        return
    read = read_cells(pl.Series("a", [cell, cell, "5"]), shoal.Numeric())
    assert read.n_unread == 2
    assert read.ranges[read.codes[0]].sort == UNREAD
    assert read.codes[0] == read.codes[1] != read.codes[2]


def test_sets_of_numbers():
    (one,) = ranges(shoal.Numeric(), "{3, 1, 2}")
    assert one.values == (1, 2, 3)  # there are numbers between them, so it is no interval
    assert groups(shoal.Numeric(), "{1, 2}", "{2, 1}", "[1, 2]") == [0, 0, 1]


def test_nodes_over_numbers():
    tree = shoal.Hierarchy(
        [("10", "teen", "*"), ("15", "teen", "*"), ("20", "odd", "*"), ("30", "even", "*"), ("40", "odd", "*")]
    )
    teen, odd = ranges(shoal.Numeric(tree), "teen", "odd")
    assert teen.values == (10, 15)
    assert odd.values == (20, 40)  # 30 is between them and not in it
    assert groups(shoal.Numeric(tree), "teen", "{10, 15}", "[10, 15]", "10-15") == [0, 0, 1, 1]  # 12 is no teen
    words = shoal.Hierarchy([("10", "few", "*"), ("many", "few", "*")])
    assert ranges(shoal.Numeric(words), "few")[0].sort == UNREAD


def test_ends_in_doubt():
    """Where one range begins at the end of another, nobody knows which of them holds it."""
    kind = shoal.Numeric()
    assert groups(kind, "20-30", "[20, 30]", "20..30", "20 to 30") == [0] * 4
    assert groups(kind, "20-29", "[20, 29]", "30-39") == [0, 0, 1]
    cells = ("20-30", "30..40", "[20, 30]", "[20, 30)", "(20, 30]", "(20, 30)", "20 to 30", "20")
    assert groups(kind, *cells) == [0, 1, 2, 3, 4, 5, 0, 6]
    dash, _, closed, left, right, inner, _, point = ranges(kind, *cells)
    around = lambda one, other: one.low <= other.low and other.high <= one.high  # noqa: E731
    assert around(closed, dash)
    assert around(dash, inner)
    assert not any(around(one, dash) for one in (left, right, inner))
    assert not any(around(dash, one) for one in (closed, left, right, point))
    assert around(dash, ranges(kind, "25-30", "20-25")[0])
    assert groups(kind, "30-30", "30", "20-30", "30-40") == [0, 0, 1, 2]


def test_one_letter_masks_digits():
    kind = shoal.Numeric()
    assert groups(kind, "2*", "[20, 30)", "2*") == [0, 0, 0]
    read = read_cells(pl.Series(["2*", "2#", "2_", "[20, 30)"]), kind)
    assert (read.codes.tolist(), read.n_unread) == ([0, 1, 2, 0], 2)
    assert read_cells(pl.Series(["2#", "2_"]), kind).n_unread == 2
    read = read_cells(pl.Series(["2*", "205", "13**"]), kind)  # 2* may be 2, 25 or 205
    assert (read.n_unread, read.ranges[2].low) == (1, 1300)


@pytest.mark.parametrize(
    ("cell", "like"), [("0.30000000000000001", "0.3"), ("1e-400", "0"), ("2.5000000000000000001", "2.5")]
)
def test_numbers_that_differ_are_not_the_same_float(cell, like):
    assert ranges(shoal.Numeric(), cell)[0].sort == UNREAD
    assert groups(shoal.Numeric(), cell, like, cell) == [0, 1, 0]
    assert groups(shoal.Numeric(), "0.50", "0.5", "5e-1", "+.5") == [0] * 4


def test_numbers_that_come_as_numbers():
    assert [one.low for one in ranges(shoal.Numeric(), pl.Series([1.0, 2.5, 3.0]))] == [1, 2.5, 3]
    assert ranges(shoal.Numeric(), pl.Series([1, None])) == [*ranges(shoal.Numeric(), "1"), MISSING_VALUE]
    assert ranges(shoal.Numeric(), pl.Series([float("nan"), float("inf")])) == [
        MISSING_VALUE,
        *ranges(shoal.Numeric(), "inf"),
    ]


# -- what says nothing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [shoal.Numeric(), ORDER, shoal.Nominal(), shoal.Nominal(TREE)], ids=repr)
def test_full_suppression_and_missing_cells(kind):
    assert ranges(kind, "*", "**", "*****", " *", "? ", "??", "?") == [ANY_VALUE] * 4 + [UNKNOWN] * 3
    assert groups(kind, "*", "?", "**", "??") == [0, 1, 0, 1]  # one may be taken away, the other never known
    assert groups(kind, "*", "?", suppressed=["?"]) == [0, 0]
    assert ranges(kind, None, "", "  ") == [MISSING_VALUE] * 3
    assert ranges(kind, "NA", "?", missing_values=["NA", "?"]) == [MISSING_VALUE] * 2
    assert ranges(kind, "NA", "-", None, suppressed=["NA", "-"]) == [ANY_VALUE, ANY_VALUE, MISSING_VALUE]
    assert ranges(kind, "NA", None, suppressed=["", "NA"]) == [ANY_VALUE] * 2


# -- ordered categories --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "low", "high"),
    [
        ("none", 0, 0), ("[none, mild]", 0, 1), ("none-mild", 0, 1), ("mild - severe", 1, 3), ("none..severe", 0, 3),
        ("mild~pre-severe", 1, 2), ("mild to severe", 1, 3), ("none-pre-severe", 0, 2), ("pre-severe", 2, 2),
        ("[severe, b, c]", 3, 4), ("{mild, none}", 0, 1), ("b, c", 4, 4),
    ],
)  # fmt: skip
def test_runs(cell, low, high):
    (one,) = ranges(ORDER, cell)
    assert (one.sort, one.low, one.high) == (SPAN, low, high)


@pytest.mark.parametrize("cell", ["huge", "severe-mild", "[mild, huge]", "{mild, huge}", "-", "mild-"])
def test_what_is_no_run_equals_only_itself(cell):
    assert ranges(ORDER, cell)[0].sort == UNREAD


def test_a_run_that_can_be_read_in_two_ways_is_not_read():
    order = shoal.Ordinal(["a", "a-b", "b", "b-c", "c"])
    assert ranges(order, "a-b-c")[0].sort == UNREAD
    assert ranges(order, "[a, c]")[0].sort == SPAN


def test_nodes_over_ordered_categories():
    kind = shoal.Ordinal(["a", "b", "c"], shoal.Hierarchy([("a", "ends", "*"), ("c", "ends", "*"), ("b", "*")]))
    assert ranges(kind, "ends", "a")[0].values == (0, 2)


def test_ordered_numbers():
    kind = shoal.Ordinal([1, 2, 3])
    assert [(one.low, one.high) for one in ranges(kind, pl.Series([1.0, 2.0]))] == [(0, 0), (1, 1)]
    assert [(one.low, one.high) for one in ranges(kind, "1-3")] == [(0, 2)]


# -- categories ----------------------------------------------------------------------------------------------------


def test_values_sets_and_nodes():
    kind = shoal.Nominal(TREE)
    assert groups(kind, "flu", "{flu}", "lung", "{flu, asthma}", "{lung}", "any") == [0, 0, 1, 1, 1, 2]
    assert contains(kind, "any", "lung")
    assert contains(kind, "{lung, ulcer}", "asthma")
    assert not contains(kind, "{lung, ulcer}", "belly")
    assert contains(kind, "belly", "{colic}")  # a value of the hierarchy is that value, whatever it looks like
    assert groups(kind, "rash", "skin") == [0, 0]  # the same people are behind both
    read = read_cells(pl.Series(["flu", "cough", "{flu, cough}", "{flu"]), kind)
    assert read.n_unread == 3


def test_categories_without_a_hierarchy():
    kind = shoal.Nominal()
    assert groups(kind, "a", "a", "{a}", "{a, b}", "{b, a}", "a|b", "20-30") == [0, 0, 0, 1, 1, 2, 3]
    assert groups(kind, "{a\\, b, c}", "{c, a\\, b}", "{a, b, c}") == [0, 0, 1]
    assert not contains(kind, "a|b", "a")  # it may as well be a value
    assert read_cells(pl.Series(["{a", "{a}b", "{}"]), kind).n_unread == 3


def test_masks_of_codes_of_one_length():
    kind, codes = shoal.Nominal(), ("13053", "14850")
    for outer, inner, yes in (
        ("130**", "13053", True), ("1305*", "13053", True), ("130**", "1305*", True), ("13***", "130**", True),
        ("1305*", "130**", False), ("130**", "14850", False), ("{13053, 14850}", "1305*", False),
        ("130**", "{13053, 13068}", True), ("130**", "{13053, 14850}", False), ("{130**, 14850}", "1306*", True),
    ):  # fmt: skip
        assert contains(kind, outer, inner, *codes) == yes, (outer, inner)


def test_one_letter_masks():
    """That of the schema, else a star, else the only one there is, behind digits; others equal only themselves."""
    kind = shoal.Nominal()
    read = read_cells(pl.Series(["130**", "130__", "130##", "130__", "13053"]), kind)
    assert (read.codes.tolist(), read.n_unread) == ([0, 1, 2, 1, 3], 3)
    read = read_cells(pl.Series(["130__", "130##", "13053"]), kind)
    assert (read.codes.tolist(), read.n_unread) == ([0, 1, 2], 2)
    for outer, inner, others, yes in (
        ("1305_", "13053", (), True), ("130##", "13053", (), True), ("130##", "1305#", (), True),
        ("{130##, 14850}", "1305#", (), True),
    ):  # fmt: skip
        assert contains(kind, outer, inner, *others) == yes, (outer, inner)
    for outer, inner, other in (
        ("ab_", "abc", ""), ("C#", "C5", ""), ("1305_", "13053", "130**"), ("1305_", "13053", "1305#"),
        ("{1305_, 14850}", "13053", "130**"),
    ):  # fmt: skip
        assert ranges(kind, outer, inner, other)[0].sort == UNREAD
    kind = shoal.Nominal(shoal.Prefixes(keep=(3,), mask="_"))
    assert contains(kind, "ab__", "abcd")
    assert [one.sort for one in ranges(kind, "ab__", "ab**", "ab##")] == [SPAN, UNREAD, UNREAD]


def test_blanks_around_tell_categories_apart_and_numbers_not():
    for kind in (shoal.Nominal(), shoal.Nominal(TREE), ORDER):
        one = "mild" if kind is ORDER else "flu"
        assert groups(kind, one, f" {one}", f"{one} ", one) == [0, 1, 2, 0]
        assert groups(kind, f" {one}", f"{{{one}}}") == [0, 0]  # every one has the blank, so it says nothing
        assert groups(kind, f" {one}", f"{one}\t") == [0, 1]
    assert groups(shoal.Numeric(), "20", " 20", "20-30", " 20 - 30", "old", " old") == [0, 0, 1, 1, 2, 3]
    assert groups(shoal.Nominal(), "a", " a", "*", " *") == [0, 1, 2, 2]
    assert groups(shoal.Nominal(), "a", "A", "ä", "a\u0308") == [0, 1, 2, 3]


def test_masks_of_codes_of_many_lengths():
    """A lone star may be any end; several stand for as many characters."""
    kind = shoal.Nominal()
    for outer, inner, yes in (
        ("C50*", "C50", True), ("C50*", "C509", True), ("C50*", "C50.12", True), ("C*", "C50*", True),
        ("C5**", "C509", True), ("C5**", "C50.12", False), ("C5**", "C50*", False), ("C*", "C5**", True),
    ):  # fmt: skip
        assert contains(kind, outer, inner, "D1", "E22222") == yes, (outer, inner)


def test_the_mask_of_the_schema():
    kind = shoal.Nominal(shoal.Prefixes(keep=(3,), mask="X"))
    assert contains(kind, "130XX", "13053")
    assert not contains(shoal.Nominal(), "130XX", "13053")


def test_masks_beside_a_hierarchy():
    kind = shoal.Nominal(shoal.Hierarchy.prefixes("13053", "13068", "14850", keep=(4, 2)))
    assert groups(kind, "13****", "13***")[0] != groups(kind, "13****", "13***")[1]
    assert contains(kind, "13***", "1305*")
    assert contains(kind, "130**", "13053")  # no node, but a mask all the same


def test_parts_of_dates():
    kind = shoal.Nominal(shoal.Dates())
    for outer, inner, yes in (
        ("1980", "1980-05", True), ("1980-05", "1980-05-21", True), ("1980s", "1987-01-02", True),
        ("1980s", "1987", True), ("1980", "1981-01-01", False), ("1980-05-21", "1980-05-21T10:00", True),
        ("1980-05-21*", "1980-05-21 10:00", True), ("1980-05-21*", "1980-05-21", True), ("1980s", "1980-05-21*", True),
        ("1980-05", "1980-05-21*", True), ("1980-06", "1980-05-21*", False), ("1980-05-21*", "1980-05-22", False),
    ):  # fmt: skip
        assert contains(kind, outer, inner) == yes, (outer, inner)
    assert read_cells(pl.Series(["1980", "May"]), kind).n_unread == 1


def test_dates_of_another_form_below_their_parts():
    kind = shoal.Nominal(shoal.Dates(form="DD.MM.YYYY"))
    for outer, inner, yes in (
        ("1980-05-21*", "21.05.1980 10:00", True), ("1980-05-21*", "21.5.1980", True), ("1980-05", "1980-05-21*", True),
        ("1980-05-22*", "21.05.1980 10:00", False), ("1980-05-21*", "21.05.1980*", True),
        ("1980-05-22*", "21.05.1980*", False),
        ("1980", "21.05.1980", True), ("1980-05", "1.5.1980", True), ("1980s", "02.01.1987", True),
        ("1980-05-21", "21.05.1980 10:00", True), ("1980", "01.01.1981", False), ("1980-05", "05.04.1980", False),
    ):  # fmt: skip
        assert contains(kind, outer, inner) == yes, (outer, inner)
    assert read_cells(pl.Series(["1980", "21/05/1980"]), kind).n_unread == 1


def test_a_flat_root_with_a_name():
    assert contains(shoal.Nominal(shoal.Flat(root="anybody")), "anybody", "m")
    assert not contains(shoal.Nominal(shoal.Flat(root="anybody")), "m", "anybody")


# -- anything ------------------------------------------------------------------------------------------------------

KINDS = [
    shoal.Numeric(), shoal.Numeric(shoal.Hierarchy([("1", "one", "*"), ("2", "two", "*")])), ORDER, shoal.Nominal(),
    shoal.Nominal(TREE), shoal.Nominal(shoal.Dates()), shoal.Nominal(shoal.Prefixes(keep=(2,), mask="x")),
    shoal.Nominal(shoal.Grouping(sizes=(2,))),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@settings(max_examples=examples(60))
@given(
    st.lists(st.none() | st.text(alphabet="0123ab{}[]()*?_#x, -.<>=+~\\" + "é\n", max_size=7), min_size=1, max_size=8)
)
def test_any_text_is_read_or_left_alone(kind, cells):
    read = read_cells(pl.Series("a", cells, dtype=pl.String), kind)
    axis = read.axis()
    assert (axis.low <= axis.high).all()
    for one, code in zip(cells, read.codes, strict=True):
        for other, same in zip(cells, read.codes, strict=True):
            assert one != other or code == same
        assert (read.ranges[code] == MISSING_VALUE) == (one is None or not one.strip())
    assert read.n_unread == sum(read.ranges[code].sort == UNREAD for code in read.codes)
