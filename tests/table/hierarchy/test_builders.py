"""Rules that build a hierarchy: worked examples, the same tree in any order of values, and no value in an error."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import Dates, Flat, Grouping, Hierarchy, Intervals, ParameterError, Prefixes, Quantiles, SchemaError
from shoal.table.hierarchy.builders import RULES
from shoal.table.numbers import number_text
from support.pairwise import examples

CODES = st.text("0123456789", min_size=1, max_size=6)
NUMBERS = st.one_of(
    st.integers(-500, 500),
    st.integers(-5000, 5000).map(lambda tenths: tenths / 10),
    st.floats(-1e6, 1e6, allow_nan=False),
)
DAYS = st.dates(date(1, 1, 1), date(2999, 12, 31)).map(date.isoformat)
TIMES = st.builds(
    "{}{}".format, st.sampled_from(["1987-03-21", "1987-03-22"]), st.sampled_from(["", " 08:00", "T09:30"])
)
WIDTHS = st.builds(
    lambda base, times: tuple(float(base * math.prod(times[:level])) for level in range(len(times) + 1)),
    st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1), Fraction(5), Fraction(7, 100)]),
    st.lists(st.integers(2, 5), max_size=3),
)
TRIED = {
    "flat": (st.just(Flat()), st.text(st.characters(blacklist_characters="*"), min_size=1, max_size=4)),
    "prefixes": (st.sampled_from([Prefixes(keep=(4, 2)), Prefixes(keep=(3,), mask="#"), Prefixes(keep=(2, 1))]), CODES),
    "intervals": (st.builds(Intervals, width=WIDTHS, start=st.sampled_from([0, -3, 0.5])), NUMBERS),
    "quantiles": (
        st.sampled_from([Quantiles(parts=(8, 4, 2)), Quantiles(parts=(3,)), Quantiles(parts=(6, 2))]),
        NUMBERS,
    ),
    "dates": (
        st.sampled_from([Dates(), Dates(levels=("year",)), Dates(levels=("month", "decade")), Dates(levels=("day",))]),
        DAYS | TIMES,
    ),
    "grouping": (st.sampled_from([Grouping(sizes=(2, 2)), Grouping(sizes=(3,))]), CODES),
}


def test_every_rule_is_tried():
    assert set(TRIED) == set(RULES)


@pytest.mark.parametrize("name", TRIED)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_every_rule_covers_every_value_whatever_their_order(name, data):
    rules, values = TRIED[name]
    rule = data.draw(rules)
    given_values = data.draw(st.lists(values, min_size=1, max_size=20))
    tree = Hierarchy.grow(rule, given_values)  # a node with two parents would have been refused
    texts = {number_text(value) if rule.numeric else str(value) for value in given_values}
    assert set(tree.leaves) == texts
    assert len(tree.leaves) == len(texts)
    assert tree.root == "*"
    if name != "grouping":  # there the order is the point
        assert Hierarchy.grow(rule, data.draw(st.permutations(given_values))) == tree
    assert Hierarchy.grow(rule, [*given_values, *given_values]) == tree


@pytest.mark.parametrize("rule", [rule for rule, _ in TRIED.values()], ids=TRIED)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_no_value_is_a_lone_root(rule, data):
    assert Hierarchy.grow(data.draw(rule), []).names == ("*",)


class TestFlat:
    def test_worked_example(self):
        assert Flat(root="any").paths(["m", "f", "m"]) == [("f", "any"), ("m", "any")]
        assert Hierarchy.flat("m", "f") == Hierarchy.grow(Flat(), ["f", "m"])

    def test_a_value_that_is_the_root(self):
        with pytest.raises(SchemaError, match="both leaf and group: any"):
            Hierarchy.grow(Flat(root="any"), ["any", "f"])


class TestPrefixes:
    def test_worked_example(self):
        """The postcodes of running example P."""
        tree = Hierarchy.grow(Prefixes(keep=(5, 4)), ["600018", "600008", "600006"])
        assert tree.path("600018") == ("600018", "60001*", "6000**", "*")
        assert tree.lowest_common(["600006", "600008"]) == "60000*"
        assert Hierarchy.prefixes("600018", keep=[5, 4]).paths() == [("600018", "60001*", "6000**", "*")]

    def test_codes_of_different_lengths_are_kept_apart(self):
        tree = Hierarchy.grow(Prefixes(keep=(2,)), ["1234", "123", "12", "1"])
        assert [tree.path(code) for code in ("1234", "123", "12", "1")] == [
            ("1234", "12**", "*"),
            ("123", "12*", "*"),
            ("12", "*"),
            ("1", "*"),
        ]

    def test_a_code_shorter_than_what_is_kept_has_fewer_levels(self):
        assert Prefixes(keep=(4, 2)).paths(["123"]) == [("123", "12*", "*")]

    def test_leading_zeros_and_other_letters(self):
        assert Prefixes(keep=(1,), mask="·").paths(["007", "ÅÄÖ"]) == [("007", "0··", "*"), ("ÅÄÖ", "Å··", "*")]

    @pytest.mark.parametrize("keep", [(2, 4), (2, 2), (3, 2, 2)])
    def test_levels_must_fall(self, keep):
        with pytest.raises(ParameterError, match=r"Prefixes\(keep=\): needs numbers that decrease from level to level"):
            Prefixes(keep=keep)

    def test_a_group_that_would_hide_a_value(self):
        with pytest.raises(SchemaError, match=r"both leaf and group: 1\*; "):
            Hierarchy.grow(Prefixes(keep=(1,)), ["1*", "12"])


class TestIntervals:
    def test_worked_example(self):
        tree = Hierarchy.grow(Intervals(width=(10, 30), start=5), [17, 23, 60])
        assert tree.paths() == [
            ("17", "[15, 25[", "[5, 35[", "*"),
            ("23", "[15, 25[", "[5, 35[", "*"),
            ("60", "[55, 65[", "[35, 65[", "*"),
        ]
        assert Hierarchy.intervals(17, 23, 60, width=[10, 30], start=5) == tree

    def test_negative_numbers_fall_downwards(self):
        tree = Hierarchy.grow(Intervals(width=(10,)), [-10, -0.5, -0.0, 0, 9.5])
        assert tree.paths() == [
            ("-10", "[-10, 0[", "*"),
            ("-0.5", "[-10, 0[", "*"),
            ("0", "[0, 10[", "*"),
            ("9.5", "[0, 10[", "*"),
        ]

    def test_tenths_are_tenths(self):
        """0.3 / 0.1 is 2.9999999999999996 in floats, and 0.1 * 3 is 0.30000000000000004."""
        tree = Hierarchy.grow(Intervals(width=(0.1, 0.3)), [tenth / 10 for tenth in range(10)])
        assert tree.path("0.3") == ("0.3", "[0.3, 0.4[", "[0.3, 0.6[", "*")
        assert tree.path("0.7") == ("0.7", "[0.7, 0.8[", "[0.6, 0.9[", "*")

    @settings(max_examples=examples(60), deadline=None)
    @given(width=WIDTHS, start=st.sampled_from([0, -3, 0.5, 0.1]), values=st.lists(NUMBERS, min_size=1, max_size=12))
    def test_every_interval_holds_its_values(self, width, start, values):
        tree = Hierarchy.grow(Intervals(width=width, start=start), values)
        for leaf in tree.leaves:
            _, *above, root = tree.path(leaf)
            assert (len(above), root) == (len(width), "*")
            for node, wide in zip(above, width, strict=True):
                low, high = (float(end) for end in node[1:-1].split(", "))
                assert low <= float(leaf) <= high
                assert math.isclose(high - low, wide, rel_tol=1e-6)

    @pytest.mark.parametrize("width", [(10, 15), (10, 10), (10, 5), (0.1, 0.25)])
    def test_levels_must_nest(self, width):
        text = rf"Intervals\(width=\): needs each width to be a multiple .* got {width[1]:g} over {width[0]:g}"
        with pytest.raises(ParameterError, match=text):
            Intervals(width=width)

    @pytest.mark.parametrize("rule", [Intervals(width=(1,)), Quantiles(parts=(2,))], ids=str)
    @pytest.mark.parametrize("bad", ["Kanarienvogel", math.nan, math.inf, None, 10**400], ids=lambda bad: str(bad)[:15])
    def test_what_is_no_number_is_counted_and_not_shown(self, rule, bad):
        with pytest.raises(SchemaError, match=r"^hierarchy of numbers: 2 values are not finite numbers; convert"):
            Hierarchy.grow(rule, [1, bad, 2, bad])


class TestQuantiles:
    def test_worked_example(self):
        tree = Hierarchy.grow(Quantiles(parts=(4, 2)), [10, 20, 30, 40, 50, 60, 70, 80])
        assert tree.path("10") == ("10", "[10, 20]", "[10, 40]", "*")
        assert tree.path("80") == ("80", "[70, 80]", "[50, 80]", "*")
        assert Hierarchy.quantiles(*range(10, 90, 10), parts=[4, 2]) == tree

    def test_values_weigh_as_often_as_they_come(self):
        """Ninety of ninety-three rows hold the 1: it fills a part alone."""
        assert Quantiles(parts=(2,)).paths([1] * 90 + [2, 3, 4]) == [
            ("1", "*"),
            ("2", "[2, 4]", "*"),
            ("3", "[2, 4]", "*"),
            ("4", "[2, 4]", "*"),
        ]

    def test_fewer_values_than_parts(self):
        assert Quantiles(parts=(8, 2)).paths([1, 2, 3]) == [
            ("1", "*"),
            ("2", "[2, 3]", "*"),
            ("3", "[2, 3]", "*"),
        ]
        assert Quantiles(parts=(4,)).paths([7.5]) == [("7.5", "*")]

    @settings(max_examples=examples(40), deadline=None)
    @given(values=st.sets(st.integers(-99, 99), min_size=8, max_size=40))
    def test_parts_are_about_equal(self, values):
        tree = Hierarchy.grow(Quantiles(parts=(4,)), values)
        sizes = [tree.arrays.n_leaves[tree.node_of[name]] for name in tree.names if tree.parent(name) == "*"]
        assert len(sizes) == 4
        assert max(sizes) - min(sizes) <= 1

    @pytest.mark.parametrize(
        ("parts", "text"),
        [((2, 4), "decrease from level"), ((4, 4), "decrease from level"), ((4, 3), "to divide the one before")],
    )
    def test_levels_must_nest(self, parts, text):
        with pytest.raises(ParameterError, match=rf"Quantiles\(parts=\): needs .*{text}"):
            Quantiles(parts=parts)


class TestDates:
    def test_worked_example(self):
        assert Dates().paths([date(1987, 3, 21), "0805-12-31"]) == [
            ("0805-12-31", "0805-12", "0805", "800s", "*"),
            ("1987-03-21", "1987-03", "1987", "1980s", "*"),
        ]
        assert Hierarchy.dates("1987-03-21", levels=["year"]).paths() == [("1987-03-21", "1987", "*")]

    def test_a_time_of_day_hangs_under_its_day(self):
        assert Dates(levels=("day", "year")).paths(["1987-03-21 10:00:00", "1987-03-22"]) == [
            ("1987-03-21 10:00:00", "1987-03-21*", "1987", "*"),
            ("1987-03-22", "1987", "*"),
        ]

    def test_a_midnight_hangs_under_its_day_beside_other_times(self):
        """It is written as a day alone, which no group of times may be called."""
        tree = Hierarchy.dates("1987-03-21", "1987-03-21 10:00:00", "1987-03-22", levels=("day", "month"))
        assert tree.lowest_common(["1987-03-21", "1987-03-21 10:00:00"]) == "1987-03-21*"
        assert tree.lowest_common(["1987-03-21", "1987-03-22"]) == "1987-03"

    def test_what_is_no_date_is_counted_and_not_shown(self):
        text = (
            "^hierarchy of dates: 3 distinct values are not dates of the form YYYY-MM-DD; "
            "give another form, or convert the column first$"
        )
        with pytest.raises(SchemaError, match=text):
            Hierarchy.grow(Dates(), ["1987-03-21", "Kanarienvogel", "1987-02-30", "21.03.1987", "21.03.1987"])

    @pytest.mark.parametrize(
        ("form", "text"),
        [
            ("YYYY/MM/DD", "1987/3/4"),
            ("DD.MM.YYYY", "04.03.1987"),
            ("DD.MM.YYYY", "4.3.1987"),
            ("DD/MM/YYYY", "04/03/1987"),
            ("DD-MM-YYYY", "04-03-1987"),
            ("MM/DD/YYYY", "03/04/1987"),
            ("MM-DD-YYYY", "3-4-1987"),
        ],
    )
    def test_other_forms_that_are_declared(self, form, text):
        """Levels are those of ISO dates, so that no more and no less is lost."""
        assert Dates(form=form).paths([text]) == [(text, "1987-03", "1987", "1980s", "*")]
        assert Dates(form=form).paths([f"{text} 10:30"])[0][:2] == (f"{text} 10:30", "1987-03-04*")

    @pytest.mark.parametrize(
        "text", ["31.02.1987", "4.3.87", "1987-03-04", "4/3/1987", "4.13.1987", "4.3.0000", "٤.3.1987"]
    )
    def test_no_other_form_than_the_declared_one(self, text):
        with pytest.raises(SchemaError, match=r"1 distinct values are not dates of the form DD\.MM\.YYYY"):
            Dates(form="DD.MM.YYYY").paths([text])

    def test_a_form_that_is_none(self):
        with pytest.raises(ParameterError, match=r"Dates\(form=\): needs one of .*, got 'DD\.MM\.YY'"):
            Dates(form="DD.MM.YY")

    @pytest.mark.parametrize("levels", [("year", "month"), ("month", "month")])
    def test_levels_must_rise(self, levels):
        with pytest.raises(
            ParameterError, match=r"Dates\(levels=\): needs the levels once each, in the order day, month"
        ):
            Dates(levels=levels)

    def test_a_misspelt_level(self):
        with pytest.raises(ParameterError, match=r"Dates\(levels=\): .*got 'years' \(did you mean 'year'\?\)"):
            Dates(levels=("years",))


class TestGrouping:
    def test_worked_example(self):
        tree = Hierarchy.grow(Grouping(sizes=(2, 2)), ["low", "mid", "high", "top", "over"])
        assert tree.paths() == [
            ("low", "low..mid", "low..top", "*"),
            ("mid", "low..mid", "low..top", "*"),
            ("high", "high..top", "low..top", "*"),
            ("top", "high..top", "low..top", "*"),
            ("over", "*"),
        ]
        assert Hierarchy.grouping("low", "mid", "high", "top", "over", sizes=[2, 2]) == tree

    def test_the_order_given_is_the_order(self):
        assert Hierarchy.grow(Grouping(sizes=(2,)), ["b", "a", "c", "b"]).leaves == ("b", "a", "c")

    @settings(max_examples=examples(40), deadline=None)
    @given(n_values=st.integers(1, 30), sizes=st.lists(st.integers(2, 4), min_size=1, max_size=3))
    def test_runs_have_their_size(self, n_values, sizes):
        values = [f"v{n:02}" for n in range(n_values)]
        tree = Hierarchy.grow(Grouping(sizes=sizes), values)
        assert tree.leaves == tuple(values)
        assume(n_values > sizes[0])
        runs = {}
        for value in values:
            runs.setdefault(tree.path(value)[1], []).append(value)
        assert len(next(iter(runs.values()))) == sizes[0]
