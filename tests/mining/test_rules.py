"""Rules over published cells: read and written in words and as JSON, and how well a table bears them out."""

from __future__ import annotations

import json
import math
from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.mining.rules import ORDERED, Condition, Evidence, Rule, as_number, evidence
from support.pairwise import examples

TRICKY = [
    "", " ", "and", "in", "if", "then", "missing", "->", "=>", "a->b", "a-", "-", "<=", "(", ")", ",", '"', "\\", "\\n",
    'say "ah"', "x\ny", "\t", "\u2028", "\x00", "[20, 30]", "{a, b}", "3", "3.0", "1e5", "nan", "*", "Bad Aussee", "ß",
]  # fmt: skip
texts = st.one_of(st.sampled_from(TRICKY), st.text(max_size=8))
numbers = st.floats(allow_nan=False, allow_infinity=False)
names = st.one_of(st.sampled_from(["age", "town", *TRICKY]), st.text(max_size=6))


@st.composite
def sides(draw, columns, cells):
    """What some columns must show: one condition each, or several comparisons."""
    found = []
    for column in columns:
        test = draw(st.sampled_from(["=", "in", "compared"]))
        if test == "=":
            found.append(Condition(column, "=", draw(cells)))
        elif test == "in":
            found.append(Condition(column, "in", tuple(draw(st.lists(cells, min_size=1, max_size=3)))))
        else:
            tests = draw(st.lists(st.sampled_from(ORDERED), min_size=1, max_size=3, unique=True))
            found += [Condition(column, one, draw(numbers)) for one in tests]
    return tuple(found)


@st.composite
def rules(draw, cells):
    columns = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    cut = draw(st.integers(0, len(columns) - 1))
    return Rule(draw(sides(columns[:cut], cells)), draw(sides(columns[cut:], cells)))


# -- read and written --------------------------------------------------------------------------------------------------


@settings(max_examples=examples(300))
@given(rules(st.one_of(texts, st.none())))
def test_words_are_read_back(rule):
    assert Rule.from_text(str(rule)) == rule


@settings(max_examples=examples(150))
@given(rules(st.one_of(texts, st.none(), numbers, st.integers())))
def test_json_is_read_back(rule):
    assert Rule.from_mapping(json.loads(json.dumps(rule.to_mapping()))) == rule


@settings(max_examples=examples(150))
@given(rules(st.one_of(texts, st.none(), numbers, st.integers(-(2**53), 2**53))))
def test_numbers_are_read_back_as_their_text(rule):
    """In words a number is its text, which is the same cell to any column."""
    again = Rule.from_text(str(rule))
    assert str(again) == str(rule)
    for one, other in zip(rule.conditions, again.conditions, strict=True):
        for cell, text in zip(one.cells, other.cells, strict=True):
            if isinstance(cell, float | int):
                assert as_number(text) == cell


@settings(max_examples=examples(300))
@given(st.text(max_size=40))
def test_any_text_is_a_rule_or_an_error(text):
    try:
        rule = Rule.from_text(text)
    except ParameterError:
        return
    assert Rule.from_text(str(rule)) == rule


PIECES = st.sampled_from(
    ["a", "b", "=", "->", "=>", "and", "in", "(", ")", ",", "<=", "<", "3", "if", "then", "missing", '"x y"', '"']
)


@settings(max_examples=examples(400))
@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_any_words_are_a_rule_or_an_error(text):
    try:
        rule = Rule.from_text(text)
    except ParameterError:
        return
    assert Rule.from_text(str(rule)) == rule
    assert rule.then


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.sampled_from(ORDERED)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=examples(300))
@given(st.one_of(JSON, st.fixed_dictionaries({"if": JSON, "then": JSON})))
def test_any_json_is_a_rule_or_an_error(entry):
    try:
        rule = Rule.from_mapping(entry)
    except ParameterError:
        return
    assert Rule.from_mapping(rule.to_mapping()) == rule
    str(rule).encode()


def test_words_by_hand():
    rule = Rule.from_text('if town = "Bad Aussee" and age >= 20 and age<30 -> then disease in (K7QZP2MX,"a b")')
    assert rule == Rule(
        (Condition("town", "=", "Bad Aussee"), Condition("age", ">=", 20.0), Condition("age", "<", 30.0)),
        (Condition("disease", "in", ("K7QZP2MX", "a b")),),
    )
    assert rule.to_mapping() == {
        "if": {"town": "Bad Aussee", "age": {">=": 20.0, "<": 30.0}},
        "then": {"disease": ["K7QZP2MX", "a b"]},
    }
    assert str(rule) == 'town = "Bad Aussee" and age >= 20 and age < 30 -> disease in (K7QZP2MX, "a b")'


@pytest.mark.parametrize(
    "text", ["town=Ada->disease=flu", "town = Ada => disease = flu", " town =Ada\n->\ndisease= flu "]
)
def test_spaces_do_not_matter(text):
    assert str(Rule.from_text(text)) == "town = Ada -> disease = flu"


def test_a_column_may_be_called_missing():
    rule = Rule.from_text("missing = missing -> disease = flu")
    assert rule.when == (Condition("missing", "=", None),)
    assert str(rule) == '"missing" = missing -> disease = flu'


def test_numbers_are_written_shortly():
    assert str(Condition("x", "=", 0.1)) == "x = 0.1"
    assert str(Condition("x", "<", 3.0)) == "x < 3"
    assert str(Condition("x", "in", (12345678901234567, 1e300))) == "x in (12345678901234567, 1e+300)"


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("town = Ada", "needs one arrow"),
        ("a = 1 -> b = 2 -> c = 3", "needs one arrow"),
        ('town = "Ada -> disease = flu', "has a quotation mark that is not closed"),
        ("town = Ada ->", "has no conclusion"),
        ("town Ada -> disease = flu", "has a condition that cannot be read"),
        ("town = Bad Aussee -> disease = flu", 'column = "cell with blanks"'),
        ("town = Ada and -> disease = flu", "has a condition that cannot be read"),
        ("town = ( -> disease = flu", "has a condition that cannot be read"),
        ("= = Ada -> disease = flu", "has a condition that cannot be read"),
        ("town in () -> disease = flu", "has a condition that cannot be read"),
        ("town in (a b) -> disease = flu", "has a condition that cannot be read"),
        ("town in (a,,b) -> disease = flu", "has a condition that cannot be read"),
        ("age <= old -> disease = flu", "has a condition that cannot be read"),
        ("age <= 1e999 -> disease = flu", "has a condition that cannot be read"),
        ("age <= 1_0 -> disease = flu", "has a condition that cannot be read"),
        ('town = "\\ud800" -> disease = flu', "has a condition that cannot be read"),
        ("town = Ada -> town = Bo", "has one column on both sides"),
        ("age = 3 and age = 4 -> disease = flu", "asks of one column more than once"),
        ("age = 3 and age <= 4 -> disease = flu", "asks of one column more than once"),
        ("age <= 3 and age <= 4 -> disease = flu", "asks of one column more than once"),
    ],
)
def test_words_that_are_refused(text, fragment):
    with pytest.raises(ParameterError, match="rule 7") as caught:
        Rule.from_text(text, "rule 7")
    assert fragment in str(caught.value)
    assert "Ada" not in str(caught.value), "no cell in a message"


@pytest.mark.parametrize(
    ("entry", "fragment"),
    [
        ([], "must have the keys 'if' and 'then'"),
        ({"if": {}, "then": {"a": 1}, "else": {}}, "must have the keys 'if' and 'then'"),
        ({"if": {"a": 1}}, "has no conclusion"),
        ({"if": [], "then": {"a": 1}}, "rule: if: must be a mapping from columns to cells"),
        ({"then": {"a": True}}, "rule: then: column 'a': has no condition that can be read"),
        ({"then": {"a": []}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": {}}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": {"=": 3}}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": {"<": "3"}}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": {"<": 10**400}}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": 10**400}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": math.nan}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": [math.inf]}}, "column 'a': has no condition that can be read"),
        ({"then": {"a": "\ud800"}}, "column 'a': has no condition that can be read"),
        ({"then": {"\ud800": "a"}}, "rule: then: has no condition that can be read"),
        ({"then": {"a": [], "b": {}}}, "2 problems"),
        ({"if": {"a": 1}, "then": {"a": 2}}, "has one column on both sides"),
    ],
)
def test_json_that_is_refused(entry, fragment):
    with pytest.raises(ParameterError, match="rule") as caught:
        Rule.from_mapping(entry)
    assert fragment in str(caught.value)
    str(caught.value).encode()


# -- what a table shows ------------------------------------------------------------------------------------------------

FRAME = pl.DataFrame(
    {
        "town": ["Ada", "Ada", "Bo", None, "Bo"],
        "age": [20, 30, None, 40, 30],
        "grade": [1.366, 2.0, math.nan, None, 1.5],
        "code": ["007", "7", "7.0", "1.366", None],
        "born": [date(2001, 2, 3)] * 4 + [None],
        "well": [True, False, True, None, True],
    }
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("town = Ada", [1, 1, 0, 0, 0]),
        ("town = missing", [0, 0, 0, 1, 0]),
        ('town = "missing"', [0, 0, 0, 0, 0]),
        ("town in (Bo, missing)", [0, 0, 1, 1, 1]),
        ("age = 30", [0, 1, 0, 0, 1]),
        ("age = 30.0", [0, 1, 0, 0, 1]),
        ("age = Ada", [0, 0, 0, 0, 0]),
        ("age <= 30", [1, 1, 0, 0, 1]),
        ("age < 30", [1, 0, 0, 0, 0]),
        ("age >= 30", [0, 1, 0, 1, 1]),
        ("age > 30", [0, 0, 0, 1, 0]),
        ("age = missing", [0, 0, 1, 0, 0]),
        ("grade = 1.366", [1, 0, 0, 0, 0]),
        ("grade = missing", [0, 0, 1, 1, 0]),
        ("grade < 2", [1, 0, 0, 0, 1]),
        ("code = 7", [0, 1, 0, 0, 0]),
        ("code = 007", [1, 0, 0, 0, 0]),
        ("born = 2001-02-03", [1, 1, 1, 1, 0]),
        ("well = true", [1, 0, 1, 0, 1]),
    ],
)
def test_what_cells_show(condition, expected):
    (one,) = Rule.from_text(f"-> {condition}").then
    assert one.holds(FRAME[one.column]).astype(int).tolist() == expected


def test_a_number_is_its_shortest_text_to_a_column_of_texts():
    assert Condition("code", "=", 1.366).holds(FRAME["code"]).tolist() == [False, False, False, True, False]
    assert Condition("code", "=", 7.0).holds(FRAME["code"]).tolist() == [False, True, False, False, False]


def test_evidence_by_hand():
    found = evidence(Rule.from_text("town = Ada -> well = true and age <= 20"), FRAME)
    assert found == Evidence(rows=5, both=1, when=2, then=1)
    assert (found.support, found.confidence, found.lift) == (1 / 5, 1 / 2, 5 / 2)
    assert evidence(Rule.from_text("-> town = Ada"), FRAME) == Evidence(5, 2, 5, 2)
    nothing = evidence(Rule.from_text("town = Cu -> age = 99"), FRAME)
    assert (nothing.support, nothing.confidence, nothing.lift) == (0, 0, 0)
    assert evidence(Rule.from_text("-> town = Ada"), FRAME.clear()).support == 0


def test_a_lift_of_1_is_1():
    """Confidence times rows over rows is above 1 by rounding for some of these."""
    for rows in range(1, 60):
        for when in range(1, rows + 1):
            assert Evidence(rows, when, when, rows).lift == 1.0
            for both in range(1, when + 1):
                exact = both * rows > when * both
                assert (Evidence(rows, both, when, both).lift > 1) == exact


def test_a_column_that_is_not_there():
    with pytest.raises(ParameterError, match=r"column 'twon': is not in the table; did you mean 'town'\?"):
        evidence(Rule.from_text("twon = Ada -> age = 20"), FRAME)


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(["a", "b", None]), max_size=12), st.data())
def test_evidence_is_what_rows_show(towns, data):
    ages = data.draw(st.lists(st.sampled_from([1, 2, 3, None]), min_size=len(towns), max_size=len(towns)))
    frame = pl.DataFrame({"town": towns, "age": ages}, schema={"town": pl.String, "age": pl.Int64})
    found = evidence(Rule.from_text("town in (a, missing) -> age >= 2"), frame)
    when = [town in ("a", None) for town in towns]
    then = [age is not None and age >= 2 for age in ages]
    both = sum(one and other for one, other in zip(when, then, strict=True))
    assert found == Evidence(len(towns), both, sum(when), sum(then))
