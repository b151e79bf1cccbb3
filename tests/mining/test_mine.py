"""Rules found in releases: the same as by trying everything, readable, and interpreted by whoever has the key."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric, sample
from shoal.errors import ParameterError, SourceError
from shoal.mining.found import LINES, FoundRule, Rules
from shoal.mining.rules import Evidence, Rule, evidence
from shoal.release import sealed
from support.pairwise import examples
from twins.mining import all_rules, without_redundant

CELLS = {"town": ["Ada", "Bo", None], "sex": ["f", "m"], "rooms": [1, 2, 3, None], "disease": ["flu", "ulcer", "*"]}


@st.composite
def tables(draw):
    n = draw(st.integers(0, 14))
    columns = {name: draw(st.lists(st.sampled_from(cells), min_size=n, max_size=n)) for name, cells in CELLS.items()}
    types = {"town": pl.String, "sex": pl.String, "rooms": pl.Int64, "disease": pl.String}
    return pl.DataFrame(columns, schema=types)


def as_sides(rules):
    """What was found, as the twin says it."""
    found = {}
    for one in rules:
        sides = (frozenset((part.column, part.value) for part in side) for side in (one.rule.when, one.rule.then))
        found[tuple(sides)] = one.evidence.both, one.evidence.when, one.evidence.then
    assert len(found) == len(rules)
    return found


# -- the same as by trying everything ----------------------------------------------------------------------------------


@settings(max_examples=examples(60), deadline=None)
@given(
    tables(),
    st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(7, 100), Fraction(1, 2)]),
    st.sampled_from([Fraction(3, 5), Fraction(1, 3), Fraction(1)]),
    st.sampled_from([2, 3, 4]),
    st.sampled_from([None, "disease", "rooms"]),
)
def test_everything_that_there_is_and_nothing_else(frame, min_support, min_confidence, max_length, target):
    asked = {"min_support": float(min_support), "min_confidence": float(min_confidence), "max_length": max_length}
    expected = all_rules(frame.to_dicts(), min_support, min_confidence, max_length, target)
    assert as_sides(shoal.mine(frame, target=target, redundant=True, **asked)) == expected
    assert as_sides(shoal.mine(frame, target=target, **asked)) == without_redundant(expected)


def test_rules_at_the_very_threshold_are_found():
    """0.07 of 100 rows are 7.000000000000001 of them, and so on."""
    for n in range(1, 100):
        frame = pl.DataFrame({"a": ["x"] * n + ["y"] * (100 - n), "b": ["p"] * n + ["q"] * (100 - n)})
        assert "a = x -> b = p" in [str(one.rule) for one in shoal.mine(frame, min_support=n / 100, target="b")], n


def test_three_of_five_are_sixty_percent():
    for n in range(5, 60):
        frame = pl.DataFrame({"a": ["x"] * 5 + ["y"] * n, "b": ["p"] * 3 + ["q"] * (n + 2)})
        found = shoal.mine(frame, min_support=3 / (n + 5), min_confidence=0.6, target="b")
        assert "a = x -> b = p" in [str(one.rule) for one in found], n


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_evidence_is_that_of_the_table(data):
    """Also where numbers are cut: counted again, condition by condition."""
    n = data.draw(st.integers(1, 30))
    numbers = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(0, 9).map(float))
    frame = pl.DataFrame(
        {
            "grade": data.draw(st.lists(numbers, min_size=n, max_size=n)),
            "age": data.draw(st.lists(st.integers(0, 99), min_size=n, max_size=n)),
            "town": data.draw(st.lists(st.sampled_from(["Ada", "Bo", None]), min_size=n, max_size=n)),
        },
        schema={"grade": pl.Float64, "age": pl.Int64, "town": pl.String},
    )
    rules = shoal.mine(frame, min_support=0.1, min_confidence=0.4)
    for one in rules:
        assert evidence(one.rule, frame) == one.evidence
        assert Rule.from_text(str(one.rule)) == one.rule or any(part.test == "=" for part in one.rule.conditions)
        assert Rule.from_mapping(one.rule.to_mapping()) == one.rule
        assert one.lift > 1
    keys = [(-one.confidence, -one.lift, -one.support, str(one.rule)) for one in rules]
    assert keys == sorted(keys)


@settings(max_examples=examples(20), deadline=None)
@given(tables(), st.randoms())
def test_the_order_of_rows_says_nothing(frame, random):
    places = list(range(frame.height))
    random.shuffle(places)
    assert shoal.mine(frame) == shoal.mine(frame[places])


# -- releases ----------------------------------------------------------------------------------------------------------

PEOPLE = sample.people(400, seed=3)
SCHEMA = sample.schema()


@cache
def of_shape(shape):
    ways = {
        "text": (shoal.Mondrian(k=10), shoal.Generalize()),
        "typed": (shoal.Mondrian(k=10), shoal.Generalize(shape="typed")),
        "classes": (shoal.Mondrian(k=10), shoal.Generalize(shape="classes")),
        "values": (shoal.Mondrian(k=10), shoal.Aggregate()),
        "centres": (shoal.Mondrian(k=10), shoal.Centres()),
        "records": (shoal.Personal(), [shoal.Aliases("disease", default=2), shoal.Grades("income", quantiles=4)]),
    }
    method, publish = ways[shape]
    return shoal.anonymize(PEOPLE, SCHEMA, method, publish=publish, seed=3)


@pytest.mark.parametrize("shape", ["text", "typed", "classes", "values", "centres", "records"])
def test_every_shape_that_shows_rows(shape, tmp_path, monkeypatch):
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))
    release = of_shape(shape)
    found = shoal.mine(release, min_confidence=0.4)
    assert found
    assert {part.column for one in found for part in one.rule.conditions} <= {
        *release.table.columns,
        *release.manifest.layout.cell_columns,
    }
    assert not any(part.column == "class" for one in found for part in one.rule.conditions)
    assert not any(part.value == "*" for one in found for part in one.rule.conditions)
    folder = release.write(tmp_path / "release", passphrase="correct horse battery")
    assert shoal.mine(folder, min_confidence=0.4) == found
    assert shoal.mine(str(folder), min_confidence=0.4) == found


def test_a_table_of_any_type():
    table = of_shape("text").table
    found = shoal.mine(table)
    assert found == shoal.mine(table.to_pandas()) == shoal.mine(table.to_arrow()) == shoal.mine(table.lazy())
    assert found == shoal.mine(of_shape("text"))


def test_the_root_of_a_hierarchy_is_vague_whatever_it_is_called():
    tree = shoal.Hierarchy([["Ada", "all towns"], ["Bo", "all towns"]])
    frame = pl.DataFrame({"town": ["Ada", "Bo"] * 6 + ["Ada"] * 12, "age": [1] * 12 + [50] * 12})
    frame = frame.with_columns(ill=pl.Series(["y"] * 11 + ["n"] * 13))
    schema = shoal.Schema(quasi={"town": Nominal(tree), "age": Numeric()}, sensitive=["ill"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=12))
    assert "all towns" in release.table["town"]
    assert "all towns" not in "".join(shoal.mine(release).to_frame()["rule"])
    assert "all towns" in "".join(shoal.mine(release.table).to_frame()["rule"]), "nothing says so in a table alone"


@pytest.mark.parametrize("method", [shoal.Anatomy(l=2), shoal.Slicing(l=2)], ids=["buckets", "slices"])
def test_links_that_are_cut_bear_no_rule(method):
    frame = PEOPLE.select("age", "sex", "disease")
    schema = shoal.Schema(quasi={"age": Numeric(), "sex": Nominal()}, sensitive=["disease"])
    release = shoal.anonymize(frame, schema, method, seed=3)
    with pytest.raises(ParameterError, match="does not say which cells belong together"):
        shoal.mine(release)
    assert isinstance(shoal.mine(release.plausible_table(), min_confidence=0.3), Rules)


def test_grades_are_cut_into_what_can_be_read():
    release = of_shape("records")
    found = shoal.mine(release, target="income", min_confidence=0.3)
    assert found
    tests = {part.test for one in found for part in one.rule.then}
    assert tests <= {">=", "<"}
    assert max(len(str(part.value)) for one in found for part in one.rule.then) <= 5


# -- what is asked for -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "fragments"),
    [
        ({"min_support": 0}, ["mine(min_support=): needs a number in (0, 1]"]),
        ({"min_support": 2, "min_confidence": -1, "max_length": 1, "bins": 1}, ["4 problems"]),
        ({"redundant": "yes"}, ["mine(redundant=): needs true or false"]),
        ({"target": "diseas"}, ["mine(target=): the table has no column 'diseas'; did you mean 'disease'?"]),
        ({"name": "clinic"}, ["mine(name=): goes with vault="]),
        ({"vault": object()}, ["mine(vault=): goes with name="]),
        (
            {"vault": "https://vault.example.org", "name": "clinic"},
            ["mine(vault=): needs something like shoal.Vault(url, token), got str"],
        ),
    ],
)
def test_what_is_refused(asked, fragments):
    with pytest.raises(ParameterError, match="mine") as caught:
        shoal.mine(PEOPLE, **asked)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_tables_that_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="2 problems") as caught:
        shoal.mine(pl.DataFrame({"a": [[1]], "b": [float("inf")], "c": ["secret"]}))
    assert "secret" not in str(caught.value)
    with pytest.raises(SourceError, match="needs a polars, pandas or pyarrow frame"):
        shoal.mine([1, 2])
    with pytest.raises(SourceError, match="does not exist"):
        shoal.mine(tmp_path / "nothing")


HALVES = {
    "time": ([time(8, 0, 0, 1), time(8, 0, 0, 2)], pl.Time),
    "day": ([date(2020, 1, 1), date(2020, 1, 2)], pl.Date),
    "instant": ([datetime(2020, 1, 1, 3), datetime(2020, 1, 1, 3, 0, 0, 1)], pl.Datetime("us")),
    "instant there": ([datetime(2020, 1, 1, 3), datetime(2020, 1, 1, 4)], pl.Datetime("ns", "UTC")),
    "decimal": ([Decimal("1.10"), Decimal("1.11")], pl.Decimal(10, 2)),
    "categorical": (["x", "y"], pl.Categorical),
    "enum": (["x", "y"], pl.Enum(["y", "x"])),
    "truth": ([True, False], pl.Boolean),
    "short float": ([0.1, 0.2], pl.Float32),
    "short whole": ([1, 2], pl.UInt8),
}


@pytest.mark.parametrize("name", HALVES)
def test_cells_of_every_type(name):
    """Two cells, however little they differ, are two; and what is found is read back from words and from JSON."""
    cells, dtype = HALVES[name]
    frame = pl.DataFrame({"cell": pl.Series(cells * 20, dtype=dtype), "disease": ["flu", "ulcer"] * 20})
    found = shoal.mine(frame, target="disease")
    assert [(one.evidence.both, one.confidence) for one in found] == [(20, 1.0)] * 2
    for one in found:
        for rule in (one.rule, Rule.from_text(str(one.rule)), Rule.from_mapping(one.rule.to_mapping())):
            assert evidence(rule, frame) == one.evidence


def test_short_floats_are_written_by_their_digits():
    frame = pl.DataFrame({"cell": pl.Series([0.1, 0.2] * 20, dtype=pl.Float32), "disease": ["flu", "ulcer"] * 20})
    assert str(shoal.mine(frame, target="disease")[0].rule) == "cell = 0.1 -> disease = flu"


@pytest.mark.parametrize("dtype", [pl.Date, pl.Time, pl.Categorical, pl.Boolean])
def test_only_numbers_are_compared(dtype):
    """A day is not the number of days since 1970, nor a category its number."""
    series = pl.Series("cell", HALVES[{pl.Date: "day", pl.Time: "time"}.get(dtype, "categorical")][0])
    series = series == "x" if dtype == pl.Boolean else series.cast(dtype)
    assert (
        evidence(Rule.from_text("cell >= 0 -> disease = flu"), pl.DataFrame([series, series.alias("disease")])).when
        == 0
    )


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([timedelta(minutes=5)], pl.Duration),
        ([b"secret"], pl.Binary),
        ([["secret"]], pl.List(pl.String)),
        ([[1]], pl.Array(pl.Int64, 1)),
        ([{"a": "secret"}], pl.Struct({"a": pl.String})),
        ([object()], pl.Object),
    ],
)
def test_cells_that_no_rule_can_name(cells, dtype):
    frame = pl.DataFrame({"odd": pl.Series(cells, dtype=dtype), "disease": ["flu"]})
    what = "column 'odd': holds [A-Z][a-z]+, which no rule can name; convert it to text or numbers, or drop it"
    with pytest.raises(ParameterError, match=what) as caught:
        shoal.mine(frame)
    assert "secret" not in str(caught.value)
    with pytest.raises(ParameterError, match=what):
        evidence(Rule.from_text("odd = 1 -> disease = flu"), frame)


def test_too_many_items_are_refused(monkeypatch):
    monkeypatch.setattr("shoal.mining.mine.MOST_CELLS", 100)
    with pytest.raises(ParameterError, match="too many to be combined; ask for a larger support"):
        shoal.mine(PEOPLE)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.frequent_patterns", None)
    with pytest.raises(SourceError, match=r"mine: needs the package mlxtend; run: .*pip install -e '.*\[mining\]'"):
        shoal.mine(PEOPLE)


def test_nothing_to_find():
    for frame in (PEOPLE.clear(), PEOPLE[:1], PEOPLE.select("sex"), pl.DataFrame()):
        found = shoal.mine(frame)
        assert (len(found), str(found)) == (0, f"0 rules in {frame.height} rows")
        assert found.to_frame().columns == ["rule", "count", "support", "confidence", "lift"]


def test_the_input_is_not_changed():
    before = PEOPLE.clone()
    shoal.mine(PEOPLE)
    assert PEOPLE.equals(before)


# -- how they are shown ------------------------------------------------------------------------------------------------


def found_rules(n, **more):
    rule = Rule.from_text('town = "<b>Ada & Bo</b>" -> disease = "a\\nb"')
    return Rules(tuple(FoundRule(rule, Evidence(8, 2, 3, 4), **more) for _ in range(n)), 8)


def test_as_text():
    assert str(found_rules(1)).splitlines() == [
        "1 rule in 8 rows",
        "support  confidence  lift  rule",
        '  0.250       0.667  1.33  town = "<b>Ada & Bo</b>" -> disease = "a\\nb"',
    ]
    many = str(found_rules(LINES + 5)).splitlines()
    assert len(many) == LINES + 3
    assert many[-1] == "... 5 more; see to_frame()"
    long = Rules((FoundRule(Rule.from_text(f"a = {'x' * 500} -> b = y"), Evidence(1, 1, 1, 1)),), 1)
    assert max(map(len, str(long).splitlines())) < 140
    odd = Rules((FoundRule(Rule.from_text('a = "\u2028\u202e" -> b = y'), Evidence(1, 1, 1, 1)),), 1)
    assert len(str(odd).splitlines()) == 3
    assert "\u202e" not in str(odd), "a rule is shown as it is read"


def test_as_html():
    page = found_rules(1, refused="budget")._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;Ada &amp; Bo&lt;/b&gt;" in page
    assert "(refused: budget)" in page
    assert page.count("<tr>") == 2


def test_as_a_frame_and_as_a_sequence():
    found = shoal.mine(PEOPLE.select("sex", "marital_status", "education"), min_confidence=0.5)
    frame = found.to_frame()
    assert frame.height == len(found) > 2
    assert frame["rule"].to_list() == [str(one.rule) for one in found]
    assert frame["count"].to_list() == [one.evidence.both for one in found]
    assert isinstance(found[:2], Rules)
    assert found[:2][1] == found[1]
    assert repr(found[:2]) == "2 rules in 400 rows"


# -- interpreted -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    asked: Rule
    meant: Rule | None
    refused: str | None
    support: float = 0.0
    confidence: float = 0.0


class FakeVault:
    """A server that knows the key, and tells so many rules."""

    def __init__(self, content, budget=10**9):
        self.content, self.budget, self.calls = content, budget, []

    def interpret(self, release, rules):
        self.calls.append((release, len(rules)))
        answers = []
        for rule in rules:
            self.budget -= 1
            answers.append(
                Answer(rule, self.content.interpreted(rule), None) if self.budget >= 0 else Answer(rule, None, "budget")
            )
        return answers


def vault_of(release, **options):
    from shoal.vault.content import Content

    return FakeVault(Content.of(release, release.key), **options)


def test_rules_are_interpreted_in_one_call():
    release = of_shape("records")
    vault = vault_of(release, budget=2)
    plain = shoal.mine(release, target="disease", min_confidence=0.2, min_support=0.02)
    found = shoal.mine(release, target="disease", min_confidence=0.2, min_support=0.02, vault=vault, name="clinic")
    assert len(found) > 3
    assert vault.calls == [("clinic", len(found))]
    assert [one.rule for one in found] == [one.rule for one in plain]
    assert [one.refused for one in found] == [None, None] + ["budget"] * (len(found) - 2)
    meant = release.key.by_name["disease"].values
    for one in found[:2]:
        (shown,), (told,) = one.rule.then, one.meant.then
        assert told.value == meant.get(shown.value, (shown.value,))[0]
    assert str(found[0].meant) in str(found)
    assert "(refused: budget)" in str(found)
    frame = found.to_frame()
    assert frame.columns[-2:] == ["meant", "refused"]
    assert frame["meant"].null_count() == len(found) - 2


def test_many_rules_are_asked_about_in_parts(monkeypatch):
    monkeypatch.setattr("shoal.mining.found.MOST_AT_ONCE", 3)
    release = of_shape("records")
    vault = vault_of(release)
    found = shoal.mine(release, min_confidence=0.3).interpret(vault, "clinic")
    sizes = [n for _, n in vault.calls]
    assert sum(sizes) == len(found)
    assert max(sizes) == 3 < len(found)
    assert found.interpreted
    assert all(one.meant is not None for one in found)


def test_a_server_that_forgets_answers():
    class Forgetful(FakeVault):
        def interpret(self, release, rules):
            return super().interpret(release, rules)[1:]

    release = of_shape("records")
    vault = Forgetful(vault_of(release).content)
    with pytest.raises(SourceError, match=r"vault: gave \d+ answers to \d+ rules"):
        shoal.mine(release, vault=vault, name="clinic", min_confidence=0.3)


def test_no_rules_are_no_question():
    vault = vault_of(of_shape("records"))
    assert not shoal.mine(PEOPLE[:1], vault=vault, name="clinic")
    assert vault.calls == []
