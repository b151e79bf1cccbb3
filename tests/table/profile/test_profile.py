"""Profiling: every pattern and role rule, uniqueness against brute force, and that no cell value gets out."""

from __future__ import annotations

import os
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.errors import ParameterError, SchemaError, SourceError
from shoal.table.days import Days
from shoal.table.hierarchy.builders import Dates, Prefixes
from shoal.table.prepare import prepare
from shoal.table.profile import profile as profile_module
from shoal.table.profile.described import ColumnProfile, Profile
from shoal.table.profile.profile import profile
from shoal.table.profile.shapes import SHAPES, WITH_LETTERS, look
from shoal.table.profile.words import AGE, MONEY, PERSONS, QUASI, says, words
from shoal.table.schema import Nominal, Numeric, Ordinal
from support.pairwise import examples, pairwise

DATA = Path(os.environ.get("SHOAL_DATA") or Path(__file__).parents[4] / "shared" / "data")


def column(values: list[object], name: str = "x", missing_values: tuple[str, ...] = ()) -> ColumnProfile:
    known = ["north" if row % 2 else "south" for row in range(len(values))]
    return profile(pl.DataFrame({name: values, "quarter": known}), missing_values).columns[0]


def numbered(text: str, n: int = 40) -> list[str]:
    """Values of one shape: each # becomes a digit, different from row to row."""
    filled = []
    for row in range(n):
        digits = iter(f"{(row + 1) * 7919 * 104729 % 10**15:015d}"[::-1])
        filled.append("".join(next(digits) if sign == "#" else sign for sign in text))
    return filled


PATTERNS = [
    ("e-mail", ["ann@example.org", "b.c+d@mail.example.com"] * 20),
    ("phone", numbered("+4479########")),
    ("phone", numbered("(555) ###-####")),
    ("phone", numbered("555-####")),
    ("phone", numbered("020 7### ####")),
    ("national id", numbered("###-##-####")),
    ("national id", numbered("########K")),
    ("national id", numbered("X-#######-K")),
    ("national id", numbered("QQ ## ## ## C")),
    ("national id", numbered("###.###.###-##")),
    ("national id", numbered("1########")),
    ("national id", numbered("2###########")),
    ("date", ["1987-03-21", "2001-12-01"] * 20),
    ("date", ["21/03/1987", "01.12.2001"] * 20),
    ("date", ["21-Mar-1987"] * 3),
    ("date", ["2020-01-01T10:00:00", "2020-01-02 11:00"] * 2),
    ("postcode", ["SW1A 1AA", "M1 1AE"] * 20),
    ("postcode", ["K1A 0B1", "V6B1A1"] * 20),
    ("postcode", ["1012 AB"] * 3),
    ("postcode", numbered("#####-####")),
    ("integer", ["1", "-2", "+3"] * 20),
    ("decimal", ["1.5", "2", "1e3"] * 20),
    (None, ["red", "green"] * 20),
    (None, ["10000-19999", "20000-29999"] * 20),  # a range of amounts is no telephone number
    (None, ["1.000.000", "2.500.000"] * 20),  # nor is an amount with its thousands apart
    ("internet address", ["192.168.10.1", "192.168.10.2"] * 20),
    ("URL", numbered("https://example.org/####")),
    ("hash", numbered("a#########b#####c")),
    ("account number", numbered("ES91 2100 0418 #### #### ####")),
    ("account number", numbered("4000-####-####-####")),
    ("ICD code", ["E11.9", "I10", "J45.9"] * 20),
    ("ATC code", ["A10BA02", "C09AA05"] * 20),
    (None, ["A11", "A12", "A13", "A14"] * 20),  # a status has the shape of an illness, but one letter and no point
]


@pytest.mark.parametrize(("pattern", "values"), PATTERNS)
def test_pattern(pattern, values):
    assert column(values).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("e-mail", "ann@example.org", "ann"),
        ("date", "1987-03-21", "long ago"),
        ("national id", "123-45-6789", "none given"),
        ("phone", "+44 20 7946 0000", "ask"),
        ("postcode", "SW1A 1AA", "abroad"),
        ("integer", "12", "twelve"),
        ("decimal", "1.5", "half"),
    ],
)
def test_pattern_holds_from_95_percent_of_the_present_values(pattern, good, bad):
    assert column([good] * 95 + [bad] * 5).pattern == pattern
    assert column([good] * 94 + [bad] * 6).pattern is None
    assert column([good] * 95 + [bad] * 5 + [None, ""] * 50).pattern == pattern


def test_digits_alone_are_an_identity_number_only_when_name_length_and_uniqueness_agree():
    assert column(numbered("1########"), "income").pattern == "integer"
    assert column(numbered("1########"), "weight").pattern == "integer"
    assert column(numbered("1########")[:10] * 4).pattern == "integer"
    assert column([text[: 9 + row % 4] for row, text in enumerate(numbered("1###########"))]).pattern == "integer"


def test_name_decides_what_digits_mean():
    assert column(["60612", "02139"] * 5, "zip").pattern == "postcode"
    assert column(["60612", "20139"] * 5, "x").pattern == "integer"
    assert column(["5551234567", "5551234568"] * 5, "phone").pattern == "phone"


ROLES = [
    ("name", ["a", "b"] * 20, "identifying"),
    ("Surname", ["a", "b"] * 20, "identifying"),
    ("first_name", ["a", "b"] * 20, "identifying"),
    ("e-mail", [f"a{row}" for row in range(40)], "identifying"),
    ("eMail", [f"a{row}" for row in range(20)] * 2, "person"),  # rows of one agree in the other column
    ("eMail", [f"a{row}" for row in range(19)] * 2, "identifying"),
    ("Phone2", [f"ext {row}" for row in range(40)], "identifying"),
    ("telephone", ["yes", "no"] * 20, "quasi"),
    ("ssn", [f"{row}x" for row in range(40)], "identifying"),
    ("ssn", ["a", "b"] * 20, "person"),
    ("passport no", [f"{row}x" for row in range(40)], "identifying"),
    ("patientID", ["1", "2"] * 20, "person"),
    ("patientID", [str(row * 7) for row in range(40)], "identifying"),
    ("id", [str(row * 7) for row in range(40)], "identifying"),
    ("admission_type_id", ["1", "2", "3"] * 20, "quasi"),
    ("discharge_status", ["A11", "A12", "A13"] * 20, "quasi"),
    ("notes", [f"seen {row}" for row in range(40)], "identifying"),
    ("notes", ["a", "b"] * 20, "quasi"),
    ("country_name", ["a", "b"] * 20, "quasi"),
    ("disease_name", ["a", "b"] * 20, "sensitive"),
    ("health_id", [f"h{row}" for row in range(40)], "identifying"),
    ("account_balance", [f"{row}.5" for row in range(40)], "sensitive"),
    ("disease", ["a", "b"] * 20, "sensitive"),
    ("Primary Diagnosis", ["a", "b"] * 20, "sensitive"),
    ("annualIncome", ["100", "200"] * 20, "sensitive"),
    ("wage_per_hour", ["10", "20"] * 20, "sensitive"),
    ("Erlös [€]", [f"{row}.5" for row in range(40)], "sensitive"),
    ("last year, in $", [f"{row}.5" for row in range(40)], "sensitive"),
    ("Gross", [f"{row}.5" for row in range(40)], "sensitive"),
    ("religion", ["a", "b"] * 20, "sensitive"),
    ("DEBTS", ["1", "2"] * 20, "sensitive"),
    ("hiv", ["y", "n"] * 20, "sensitive"),
    ("age", [str(row) for row in range(40)], "quasi"),
    ("city", [f"c{row}" for row in range(40)], "quasi"),
    ("zip", numbered("#####"), "quasi"),
    ("hours-per-week", ["40", "20"] * 20, "quasi"),
    ("marital_status", ["a", "b"] * 20, "quasi"),
    ("package", ["a", "b"] * 20, "quasi"),
    ("x", ["a", "b"] * 20, "quasi"),
    ("x", [f"v{row}" for row in range(21)] + ["w"] * 19, "identifying"),
    ("x", [f"v{row}" for row in range(20)] + ["w"] * 20, "quasi"),
    ("x", [f"00{row}" for row in range(40)], "identifying"),
    ("x", [str(1000 + row) for row in range(40)], "identifying"),
    ("x", [str(row**3) for row in range(40)], "quasi"),
    ("x", [f"{row}.25" for row in range(40)], "quasi"),
    ("x", numbered("9######"), "identifying"),
    ("x", [text[: 13 + row % 4] for row, text in enumerate(numbered("9###############"))], "identifying"),
    ("x", [f"2020-01-{row:02d}" for row in range(1, 31)], "quasi"),
    ("gift", ["ann@example.org", "bob@example.org"] * 20, "identifying"),
    ("disease", ["ann@example.org", "bob@example.org"] * 20, "identifying"),
    ("loan", [str(row) for row in range(1, 41)], "identifying"),
    ("loan", [5_000_000 + 3 * row for row in range(400)], "identifying"),
    ("loan", [100 * row**2 for row in range(40)], "sensitive"),
    ("class", ["5a", "5b", "10a"] * 20, "quasi"),
    ("class", [">50K", "<=50K"] * 20, "sensitive"),
    ("subject", ["Maths", "German", "Art"] * 20, "quasi"),
    ("subject", ["S01", "S02", "S03"] * 20, "person"),
    ("subject", ["1", "2", "3"] * 20, "person"),
    ("lipid", [f"{150 + 7.3 * row % 90:.1f}" for row in range(40)], "quasi"),
    ("thyroid", [row * 7 % 900 for row in range(40)] * 2, "quasi"),
    ("pid", [row * 7 % 900 for row in range(40)] * 2, "person"),
    ("special_needs", ["none", "hearing"] * 20, "sensitive"),
    ("judged on", ["June 03, 2019", "Jan. 3 2020", "May 21, 2018"] * 5, "quasi"),
    ("choice", ["1", "2", "3", ""] * 10, "choice"),
    ("choice", [1, 2, 3, None] * 10, "choice"),
    ("choice", ["1", "2", "3", "4", "5", "6"] * 10, "quasi"),
    ("choice", ["100", "200"] * 10, "quasi"),
    ("choice", ["a", "b"] * 10, "quasi"),
    ("my_choice", ["1", "2"] * 10, "quasi"),
]


@pytest.mark.parametrize(("name", "values", "role"), ROLES)
def test_role(name, values, role):
    found = column(values, name)
    assert found.role == role, found.reason
    assert (found.kind is None) == (role in ("identifying", "person", "choice", "neutral"))


KINDS = [
    ("x", ["1", "2.5", ""], "numeric", None),
    ("x", [1, 2, None], "numeric", None),
    ("x", [0.5, float("nan"), 1.5], "numeric", None),
    ("x", [Decimal("0.5"), Decimal("1.5")], "numeric", None),
    ("x", [0.5, float("inf"), 0.5], "nominal", None),
    ("x", [" 12", "13 ", " "], "numeric", None),
    ("x", ["1", "2", "two"] * 3, "nominal", None),
    ("x", ["01", "2", "3"] * 3, "nominal", None),
    ("industry_code", ["1", "2", "3"] * 3, "nominal", None),
    ("sex", ["1", "2"] * 3, "nominal", None),
    ("x", [True, False] * 2, "nominal", None),
    ("tax_paid", [str(5 * row**2 + row) for row in range(40)], "numeric", None),
    ("zip", ["60612", "02139"] * 3, "nominal", Prefixes(keep=(4, 3, 2, 1))),
    ("zip", [60612, 2139] * 3, "nominal", Prefixes(keep=(4, 3, 2, 1))),
    ("zip", [600006.0, 600008.0] * 3, "nominal", Prefixes(keep=(4, 2))),
    ("postcode", ["SW1A 1AA", "M1 1AE"] * 3, "nominal", Prefixes(keep=(4, 2))),
    ("zip", ["60612-1234", "02139-4321"] * 3, "nominal", Prefixes(keep=(5, 3, 1))),
    ("dob", ["1987-03-21", "2001-12-01"], "ordinal", Days("1987-01-01", "2001-12-31")),
    ("dob", [date(1987, 3, 21), None], "ordinal", Days("1987-01-01", "1987-12-31")),
    ("dob", [datetime(1987, 3, 21, 4, 5), datetime(2001, 1, 1)], "nominal", Dates()),
    ("dob", ["21.03.1987", "1.12.2001"], "nominal", Dates(form="DD.MM.YYYY")),
    ("dob", ["21/03/1987", "01/12/2001"], "ordinal", Days("1987-01-01", "2001-12-31", "DD/MM/YYYY")),
    ("dob", ["03/21/1987", "01/12/2001"], "ordinal", Days("1987-01-01", "2001-12-31", "MM/DD/YYYY")),
    ("dob", ["3-21-1987", "1-12-2001"], "ordinal", Days("1987-01-01", "2001-12-31", "M-D-YYYY")),
    ("dob", ["1987/03/21", "2001/1/12"], "nominal", Dates(form="YYYY/MM/DD")),
    ("dob", ["21.03.1987 10:30", "01.12.2001"], "nominal", Dates(form="DD.MM.YYYY")),
    ("dob", ["03/04/1987", "01/12/2001"], "nominal", None),
    ("dob", ["03/21/1987", "21/03/1987"], "nominal", None),
    ("dob", ["21.03.87", "01.12.01"], "nominal", None),
    ("dob", ["21.03.1987", "31.02.1987"], "nominal", None),
    ("dob", ["21 Mar 1987", "01 Dec 2001"], "nominal", None),
    ("dob", ["1987-03-21"] * 99 + ["1987-02-31"], "nominal", None),
    ("dob", ["1987-03-21", " 1987-03-22"], "nominal", None),
]


@pytest.mark.parametrize(("name", "values", "kind", "shown"), KINDS)
def test_kind_and_how_it_is_shown_are_what_prepare_accepts(name, values, kind, shown):
    frame = pl.DataFrame({name: values, "sex": ["f"] * len(values)} if name != "sex" else {name: values}, strict=False)
    found = profile(frame)
    assert (found.columns[0].kind, found.columns[0].days or found.columns[0].hierarchy) == (kind, shown)
    assert prepare(frame, found.to_schema()).n_rows == len(values)


@pytest.mark.parametrize(
    ("dates", "said"),
    [
        (["03/04/1987", "01/12/2001"], "that may be DD/MM/YYYY or MM/DD/YYYY, and no value decides it: say which"),
        (["21.03.87", "01.12.01"], "that are not all of one form that is read, so they are not shown as month"),
        (["June 3, 2019", "May 12, 2018"], "that are not all of one form that is read, so they are not shown as month"),
    ],
)
def test_dates_that_are_not_read_are_told(dates, said):
    found = profile(pl.DataFrame({"dob": dates, "sex": ["f", "m"]}))
    assert len(found.unread) == 1
    assert found.unread[0].startswith(f"column 'dob' holds dates {said}")
    assert not any(one in found.unread[0] for one in dates)
    assert profile(pl.DataFrame({"dob": ["21.03.1987", "01.12.2001"]})).unread == ()


def test_given_roles_leave_kinds_and_hierarchies_to_the_values():
    """Beside an age, a day of birth would not be published; whoever wants it is not left without its hierarchy."""
    frame = pl.DataFrame({"age": ["31", "45"] * 9, "dob": ["21.03.1987", "01.12.1973"] * 9})
    assert [one.role for one in profile(frame).columns] == ["quasi", "identifying"]
    given = profile(frame, roles={"age": "sensitive", "dob": "quasi"}).columns
    assert [(one.role, one.kind) for one in given] == [("sensitive", "numeric"), ("quasi", "ordinal")]
    assert given[1].days == Days("1973-01-01", "1987-12-31", "DD.MM.YYYY")


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, b"raw", timedelta(1)])
def test_values_that_cannot_be_grouped_are_left_out(value):
    found = column([value, value, None])
    assert (found.role, found.kind, found.n_missing, found.n_distinct) == ("identifying", None, 1, 1)


def test_categories_of_other_types_are_read_as_text():
    frame = pl.DataFrame({"sex": ["f", "m", "f"]}, schema={"sex": pl.Enum(["f", "m"])})
    found = profile(frame.with_columns(pl.col("sex").cast(pl.Categorical).alias("gender"), pl.lit(None).alias("x")))
    assert [(c.role, c.kind, c.n_distinct) for c in found.columns] == [("quasi", "nominal", 2)] * 2 + [
        ("neutral", None, 0)
    ]


def test_counts_with_missing_as_a_value_of_its_own():
    found = column(["a", "a", "b", "c", "", "?"], missing_values=("?",))
    assert (found.n_rows, found.n_missing, found.n_distinct, found.unique_share) == (6, 2, 3, 2 / 6)
    assert column(["a", "a", None]).unique_share == 1 / 3


def test_missing_cells_do_not_hide_a_unique_column():
    assert column([f"v{row}" for row in range(10)] + [None] * 90).role == "identifying"


def test_suspected_markers_are_reported_and_applied_only_on_request():
    frame = pl.DataFrame({"age": ["31", "?", "45", "?", " NA "], "sex": ["f", "m", "f", "-", "f"]})
    found = profile(frame)
    assert found.suspected_missing == {"age": {"?": 2, " NA ": 1}, "sex": {"-": 1}}
    assert (found.columns[0].n_missing, found.columns[0].kind) == (0, "nominal")
    assert "'?', ' NA '" in found.columns[0].reason
    told = profile(frame, ["?", "NA"])
    assert told.suspected_missing == {"sex": {"-": 1}}
    assert (told.columns[0].n_missing, told.columns[0].kind) == (3, "numeric")


def test_schema_of_a_proposal():
    frame = pl.DataFrame(
        {
            "name": ["Ann", "Bob"],
            "age": ["31", "45"],
            "zip": ["60612", "02139"],
            "disease": ["flu", "flu"],
            "income": [1, 2],
            "choice": [1, 2],
        }
    )
    schema = profile(frame).to_schema()
    assert list(schema.identifying) == ["name"]
    assert schema.quasi == {"age": Numeric(), "zip": Nominal(Prefixes(keep=(4, 3, 2, 1)))}
    assert schema.sensitive == {"disease": Nominal(), "income": Numeric()}
    assert schema.choice == "choice"
    assert set(schema.roles) == set(frame.columns)


def test_where_nothing_else_is_known_sensitive_columns_are_hidden_in_groups():
    found = profile(pl.DataFrame({"name": ["Ann", "Bob"] * 9, "income": range(18), "disease": ["flu", "cold"] * 9}))
    assert [column.role for column in found.columns] == ["identifying", "quasi", "quasi"]
    assert {column.confidence for column in found.columns[1:]} == {"low"}
    assert "No column looks like what others know of a person" in found.warnings[0]


def test_without_a_quasi_identifier_there_is_no_schema():
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        profile(pl.DataFrame({"name": ["Ann", "Bob"]})).to_schema()


def test_bad_input():
    with pytest.raises(SchemaError, match="no rows"):
        profile(pl.DataFrame({"age": []}))
    with pytest.raises(SourceError, match="no name for column number 1"):
        profile(pl.DataFrame({" ": [1]}))
    with pytest.raises(ParameterError, match="missing_values=: needs a list of texts"):
        profile(pl.DataFrame({"age": [1]}), "NA")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("patientID", ("patient", "id")),
        ("ZIPCode", ("zip", "code")),
        ("hours-per week_2", ("hours", "per", "week", "2")),
        ("EDUC1", ("educ", "1")),
        ("Straße.Größe", ("strasse", "grösse")),
    ],
)
def test_words_of_a_name(name, expected):
    assert words(name) == expected


def test_names_are_compared_by_word():
    assert says("age_group", AGE) == "age"
    assert says("ages", AGE) == "age"
    assert says("language", AGE) is None
    assert says("language", QUASI) == "language"
    assert says("stage", QUASI) is None
    assert says("Jahreseinkommen", MONEY) == "jahreseinkommen"
    assert says("Größe", QUASI) is None
    assert says("id", PERSONS) == "id"
    assert says("country_id", PERSONS) is None


CELLS = st.sampled_from(["a", "b", "c", "d", "e", "", "?"])
TABLES = (
    st.integers(1, 12)
    .flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=7))
    .map(lambda rows: pl.DataFrame({f"q{place}": values for place, values in enumerate(rows)}))
)


def share_of_unique_rows(frame: pl.DataFrame, names: list[str]) -> float:
    """Brute force: the rows that nobody shares, the empty cell and the marker being the same missing value."""
    rows = [tuple(None if cell in ("", "?") else cell for cell in row) for row in frame.select(names).rows()]
    times = Counter(rows)
    return sum(times[row] == 1 for row in rows) / len(rows) if names else 0.0


@settings(max_examples=examples(50))
@given(TABLES)
@example(pl.DataFrame({"q0": ["a", "a", "b", "c"], "q1": ["a", "b", "c", "c"]}))  # half of the rows, and no more
def test_uniqueness_agrees_with_brute_force(frame):
    found = profile(frame, ["?"])
    for seen in found.columns:
        assert seen.unique_share == share_of_unique_rows(frame, [seen.name])
    eligible = [c.name for c in found.columns if c.role == "quasi" and c.unique_share <= 0.5]
    expected = [(share_of_unique_rows(frame, list(pair)), pair) for pair in combinations(eligible, 2)]
    expected.sort(key=lambda entry: -entry[0])  # stable: ties stay in the order of the table
    assert [(pair.unique_share, pair.columns) for pair in found.pairs] == expected[:10]
    quasi = [c.name for c in found.columns if c.role == "quasi"]
    assert found.all_quasi_unique_share == share_of_unique_rows(frame, quasi)
    for seen in found.columns:
        others = [name for name in quasi if name != seen.name]
        added = found.all_quasi_unique_share - share_of_unique_rows(frame, others)
        assert seen.unique_with_others == (pytest.approx(added) if seen.role == "quasi" else None)


@settings(max_examples=examples(50))
@given(TABLES)
def test_the_proposed_schema_fits_the_table(frame):
    found = profile(frame, ["?"])
    if any(seen.role == "quasi" for seen in found.columns):
        assert prepare(frame, found.to_schema(), missing_values=["?"]).n_rows == frame.height


def test_ties_between_pairs_go_to_the_first_columns_however_few_combinations_they_have():
    rows = range(16)
    twos = {f"c{mask}": [f"v{min(row, row ^ mask)}" for row in rows] for mask in range(1, 6)}
    frame = pl.DataFrame({"a": [f"v{row // 4}" for row in rows], "b": [f"v{row % 4}" for row in rows], **twos})
    pairs = profile(frame).pairs
    assert {pair.unique_share for pair in pairs} == {1.0}
    assert pairs[0].columns == ("a", "b")


def test_columns_left_out_of_pairs_are_counted(monkeypatch):
    monkeypatch.setattr(profile_module, "MAX_PAIR_COLUMNS", 2)
    frame = pl.DataFrame(
        {
            "name": ["a", "b"] * 4,
            "age": list("12345678"),
            "sex": list("ffffmmmm"),
            "race": list("aabbccdd"),
            "city": list("aabbccdd"),
        }
    )
    found = profile(frame)
    assert found.pair_columns == ("race", "city")
    assert [pair.columns for pair in found.pairs] == [("race", "city")]
    for text in (
        "2 of 5 columns",
        "1 left out, not published or constant",
        "1 left out, mostly unique",
        "1 left out, beyond 2",
    ):
        assert text in found.pairs_note


def test_the_frame_is_not_changed():
    frame = pl.DataFrame({"age": [" 31", "?"], "x": [0.5, float("nan")]})
    before = frame.clone()
    profile(frame, ["?"])
    assert frame.equals(before)


CANARIES = [
    "Xyzzyplugh",
    "canary@example.org",
    "+44 20 7946 0958",
    "078-05-1120",
    "1931-07-29",
    "SW1A 9ZZ",
    "8675309.25",
]


@pytest.mark.parametrize(
    ("name", "canary", "others"),
    pairwise(
        ["x", "name", "disease", "income", "age", "zip", "patient_id", "choice", "country_id"],
        CANARIES,
        [[], ["1", "2", "3"], ["a", "a", "b"], ["1"] * 99, ["?", "1"]],
    ),
)
def test_no_cell_value_gets_out(name, canary, others):
    found = profile(pl.DataFrame({name: [canary, *others], "sex": ["Qfemale"] * (1 + len(others))}))
    assert canary not in repr(found)
    assert "Qfemale" not in repr(found)
    with pytest.raises(ParameterError) as caught:
        profile(pl.DataFrame({name: [canary]}), canary)
    assert canary not in str(caught.value)


def test_a_stray_text_among_bands_is_not_listed():
    found = column(["18-24", "25-64", "65+"] * 30 + ["Xyzzyplugh"], "age")
    assert (found.kind, found.order) == ("nominal", ())
    often = column(["18-24", "25-64", "65+", "refused"] * 30, "age")
    assert (often.kind, often.order) == ("ordinal", ("18-24", "25-64", "65+", "refused"))


HAVING = [
    "-@-.-", "2020-01-31", "123-45-6789", "12345-6789", "12-3", "0123456789", "+1", "0123456789012", "http://x", "www.",
    "::::", "1.2.3.4", "abcdef0123456789", "0123456789012345", "------a1", "12345678-1234", "GB00AAAAAAAAAAA",
    "1234-1234-1234-1234", "A00", "A00.0", "A00AA00", "A11A", "AAAA", "1-A2", "1:1", "abcdefabcdefabcdef", "10.0", ".5",
    "01.5", "$1", "Ann", "é", "ê", "ǅ", "?", "5.0E1", "12A-3", "12345678A", "123456-123A", "AB1C2DE", "A1B2C3",
    "1234AB", "Éa Bo", "Ann-Marie, O'Neill", "Dr. Ann", "San Ann", "12é, Elm Road", "12a, Elm Road", "Elmé 12b",
    "a b c d", ". . . .", "1 2 3 4", "12 12 1234", "(012) 345", "a1 b", "1234 1234 1234", "1 234 567", "é1", "* *",
    "1µm", "1 km/h", "1°c",
]  # fmt: skip
"""Every shape, and as few digits and letters in each as it may have."""


def test_shapes_are_asked_of_all_columns_that_may_have_them():
    """Columns without digits, or without letters, are not asked for shapes that need some."""
    every = pl.DataFrame({"value": HAVING}).with_columns(**WITH_LETTERS).select(**SHAPES)
    assert [name for name in SHAPES if not every[name].any()] == []
    for place, text in enumerate(HAVING):
        seen = look(pl.DataFrame({"value": [text], "n": [1]}))
        assert seen.shares == every.row(place, named=True), text


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Éva Ĉapek", {"name of a person", "capitalised words"}),
        ("Éva von Ĉapek", {"name of a person", "capitalised words"}),
        ("Éva VON Ĉapek", {"name of a person", "capitalised words"}),
        ("Éva中 中中 Ĉ", {"name of a person"}),
        ("Éǅ Ĉʰ", {"name of a person", "capitalised words"}),
        ("éva ĉapek", set()),
        ("Dra. éva Ĉapek", {"titled name", "name of a person", "capitalised words"}),
        ("Drá. éva Ĉapek", {"name of a person", "capitalised words"}),
        ("12a, Ĉa éb", {"street address"}),
        ("12é, Ĉa éb", set()),
        ("Ĉa éb 12a", {"street address"}),
        ("Ĉa éb 12é", set()),
    ],
)
def test_letters_of_any_alphabet_are_letters(text, shapes):
    asked = {"name of a person", "titled name", "capitalised words", "street address"}
    shares = look(pl.DataFrame({"value": [text], "n": [1]})).shares
    assert {name for name in asked if shares[name]} == shapes & asked


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_a_yes_or_no_for_every_text(shape):
    texts = pl.DataFrame({"value": ["", " ", "*", "é", "١٢٣", "1", "nan", "\n", "2020-13-45", "9" * 400]})
    answers = texts.with_columns(**WITH_LETTERS).select(answer=SHAPES[shape])["answer"]
    assert answers.dtype == pl.Boolean
    assert answers.null_count() == 0


@pytest.fixture(scope="module")
def adult() -> Profile:
    path = DATA / "adult" / "adult.csv.gz"
    if not path.exists():
        (pytest.fail if os.environ.get("SHOAL_REQUIRE_ALL") == "1" else pytest.skip)(f"no Adult data at {path}")
    return profile(pl.read_csv(path, infer_schema=False))


def test_adult_roles(adult):
    roles = {seen.name: seen.role for seen in adult.columns}
    assert {roles.pop(name) for name in ("income", "capital-gain", "capital-loss")} == {"sensitive"}
    assert roles.pop("fnlwgt") == "weight"
    assert len(roles) == 11
    assert set(roles.values()) == {"quasi"}
    assert "round the weights first" in adult.warnings[0]


def test_adult_kinds(adult):
    numeric = {seen.name for seen in adult.columns if seen.kind == "numeric"}
    assert numeric == {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


def test_adult_markers_and_uniqueness(adult):
    assert adult.suspected_missing == {
        "workclass": {"?": 2799},
        "occupation": {"?": 2809},
        "native-country": {"?": 857},
    }
    assert adult.n_rows == 48842
    assert next(seen.n_distinct for seen in adult.columns if seen.name == "fnlwgt") == 28523
    assert 0.72 < adult.all_quasi_unique_share < 0.73
    assert len(adult.pairs) == 10
    assert [pair.unique_share for pair in adult.pairs] == sorted((p.unique_share for p in adult.pairs), reverse=True)


def test_a_day_of_birth_beside_an_age_is_left_out():
    days = [f"19{year}-03-0{day}" for year in range(50, 80) for day in range(1, 5)]
    frame = pl.DataFrame({"birth_date": days, "age": [2026 - int(day[:4]) for day in days]})
    roles = {column.name: column for column in profile(frame).columns}
    assert roles["birth_date"].role == "identifying"
    assert "'age' has the same information" in roles["birth_date"].reason
    assert {column.role for column in profile(frame.drop("age")).columns} == {"quasi"}


def test_any_frame_will_do():
    frame = pl.DataFrame({"age": [1, 2, 3], "sex": ["f", "m", None]})
    assert profile(frame.to_pandas()) == profile(frame) == profile(frame.to_arrow())


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["High", "low", "Medium"], ("low", "Medium", "High")),
        (["severe", "mild", None, "moderate"], ("mild", "moderate", "severe")),
        (["Sunday", "Monday"], ("Monday", "Sunday")),
        (["Agree", "Neither", "Strongly disagree"], ("Strongly disagree", "Neither", "Agree")),
        (["Trifft zu", "teils/teils", "Trifft nicht zu"], ("Trifft nicht zu", "teils/teils", "Trifft zu")),
        (["low", "blue"], ()),
        (["low", "LOW"], ()),
        (["sehr gut", "gut", "ausreichend"], ("ausreichend", "gut", "sehr gut")),
        (["Pass", "Fail", "Distinction"], ("Fail", "Pass", "Distinction")),
    ],
)
def test_words_that_come_in_an_order_are_ordinal(values, order):
    proposed = profile(pl.DataFrame({"level": values * 3, "age": range(3 * len(values))}))
    column = proposed.columns[0]
    assert (column.kind, column.order) == (("ordinal", order) if order else ("nominal", ()))
    kind = proposed.to_schema().quasi["level"]
    assert kind == (Ordinal(order) if order else Nominal())


@pytest.mark.parametrize("to", ["pandas", "pyarrow"])
def test_categories_that_the_table_puts_in_order_are_ordinal(to):
    import pandas as pd
    import pyarrow as pa

    cells = ["mid", "low", "top", "mid", None] * 8
    frame = pd.DataFrame({"x": pd.Categorical(cells, ["low", "mid", "top", "rare"], ordered=True), "y": cells})
    frame["z"] = pd.Categorical(cells, ["low", "mid", "top"])
    one, text, unordered = profile(frame if to == "pandas" else pa.Table.from_pandas(frame)).columns
    assert (one.kind, one.order) == ("ordinal", ("low", "mid", "top", "rare"))
    assert one.reason.endswith("3 categories, in the order of the table.")
    assert text.kind == unordered.kind == "nominal"


def test_an_order_that_does_not_hold_all_cells_is_none():
    import pandas as pd

    cells = pd.Series(pd.Categorical(["mid", "low", "top", "?"] * 8, ["low", "mid", "top", "?"], ordered=True))
    assert profile(pd.DataFrame({"x": cells}), ["?"]).columns[0].order == ("low", "mid", "top", "?")
    numbers = pd.DataFrame({"x": pd.Categorical([1, 2, 5] * 8, ordered=True), "y": ["a", "b"] * 12})
    assert profile(numbers).columns[0].order == ()


@pytest.mark.parametrize("other", ["don't know", "Prefer not to say", "weiß nicht", "k.A.", "ne sait pas", "NS/NC"])
def test_answers_in_an_order_keep_it_beside_a_missing_answer(other):
    found = column(["agree", "disagree", "neutral", "strongly agree", other] * 8)
    assert (found.kind, found.order) == ("ordinal", ("disagree", "neutral", "agree", "strongly agree", other))
    years = column([str(1950 + row % 40) for row in range(95)] + [other] * 5, "birth year")
    assert f"all values but {other!r} are numbers: name these in missing_values" in years.reason


def test_one_category_is_counted_as_one():
    assert "; one category." in column(["f"], "sex").reason


def test_spellings_of_what_others_know_are_warned_of():
    """They are different values, and generalised for it; nothing of a cell is said."""
    towns = ["Bergen", "bergen ", "Oslo", "OSLO", "Moss"]
    frame = pl.DataFrame({"town": towns * 20, "age": range(100), "disease": ["flu", "Flu", "gout", "cold"] * 25})
    [warning] = [one for one in profile(frame).warnings if "spaces, case" in one]
    assert warning.startswith("column 'town': 4 values differ from another")
    assert not any(town.strip().lower() in warning.lower() for town in towns)
    clean = frame.with_columns(pl.col("town").str.strip_chars().str.to_titlecase())
    assert not any("spaces, case" in one for one in profile(clean).warnings)
