"""Spellings of one value: found, warned of, and merged where that is asked for."""

from __future__ import annotations

import warnings
from unicodedata import normalize

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Nominal, Numeric, Ordinal, ParameterError, Schema, SchemaError, ShoalWarning
from shoal.table.prepare import prepare
from shoal.table.spelling import find_variants, merge_variants, normal_form, spelling_warning
from support.pairwise import examples

CANARY = "Kanarienvogel77"
SPELLINGS = [
    "flu", "Flu", "FLU", " flu", "flu ", "flu\t", "flu\u00a0", "\u2003flu", "flu\u200b", "f\u00adlu", "\ufeffflu",
    "ｆｌｕ", "\u202eflu",
]  # fmt: skip


# -- one form for all spellings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", SPELLINGS, ids=ascii)
def test_spellings_of_one_text(text):
    assert normal_form(text) == "flu"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ü", "u\u0308"), ("Ü", "ü"), ("straße", "STRASSE"), ("type  2", "Type\u00a02"), ("a\nb", "a b"), ("ﬁt", "fit"),
        ("x²", "x2"), ("Å", "\u212b"), ("Ἀθῆναι", normalize("NFD", "Ἀθῆναι")),
    ],
)  # fmt: skip
def test_forms_that_mean_the_same(one, other):
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("flu", "flu2"), ("type 1", "type 2"), ("u", "ü"), ("typeA", "type A"), ("a-b", "a b"), ("", "a")],
)
def test_texts_that_differ(one, other):
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize(
    "blank", [" ", "\t\n", "\u00a0", "\u200b", "\u2060\ufeff", "\u3000", "\x1f", "\u3164"], ids=ascii
)
def test_nothing_to_be_seen(blank):
    assert normal_form(blank) == ""


@given(st.text())
def test_a_normal_form_is_its_own(text):
    form = normal_form(text)
    assert normal_form(form) == form
    for other in (text.upper(), text.lower(), normalize("NFD", text), normalize("NFKC", text), f"\u200b {text}\t"):
        if normalize("NFKC", other.casefold()) == normalize("NFKC", text.casefold()):
            assert normal_form(other) == form


# -- finding and merging -----------------------------------------------------------------------------------------------

cells = st.none() | st.sampled_from([*SPELLINGS, "ulcer", "Ulcer", "ulcer ", " ", "\u200b", "ü", "u\u0308", "NA", "na"])
columns = st.lists(cells, min_size=1, max_size=30)


def merged(values, **options) -> list:
    series = pl.Series("s", values, dtype=pl.String)
    return merge_variants(series, find_variants(series, **options)).to_list()


@given(columns)
def test_merging_twice_is_merging_once(values):
    once = merged(values)
    assert merged(once) == once
    found = find_variants(pl.Series(once, dtype=pl.String))
    assert (found.becomes, found.n_values, found.n_rows) == ({}, 0, 0)


@given(columns, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    expected = merged(values)
    assert merged([values[row] for row in order]) == [expected[row] for row in order]


@given(st.lists(st.none() | st.text(max_size=5), min_size=1), st.lists(st.text(max_size=3)))
def test_only_what_has_one_normal_form_is_merged(values, known):
    found = find_variants(pl.Series(values, dtype=pl.String), known=known)
    after = merged(values, known=known)
    for before, now in zip(values, after, strict=True):
        assert normal_form(before or "") == normal_form(now or "")
    assert found.n_rows == sum(one != other for one, other in zip(values, after, strict=True))
    forms = [normal_form(value) for value in set(after) - {None}]
    assert len(set(forms)) == len(forms), "one spelling of each is left"


@given(columns)
def test_the_most_frequent_spelling_stays(values):
    for value in set(merged(values)) - {None}:
        rivals = [other for other in values if other is not None and normal_form(other) == normal_form(value)]
        best = max(rivals.count(other) for other in rivals)
        assert value == min(other for other in rivals if rivals.count(other) == best)


def test_a_known_spelling_goes_before_a_frequent_one():
    assert merged(["flu ", "flu ", "Flu"], known=["Flu"]) == ["Flu"] * 3
    assert merged(["flu ", "flu "], known=["Flu"]) == ["Flu"] * 2
    assert merged(["flu", "Flu", "Flu"], known=["Flu", "flu"]) == ["Flu"] * 3
    assert find_variants(pl.Series(["Flu"]), known=["Flu", "flu"]).n_values == 0, "nothing gives way"


def test_spellings_of_missing():
    assert merged([" ", "\u00a0", None, "flu"]) == [None, None, None, "flu"]
    assert merged(["na ", "Na", "NAN"], missing_values=["NA"]) == [None, None, "NAN"]
    assert merged([" ", "x"], known=[" ", "x"]) == [" ", "x"], "the order or hierarchy says that it is a value"
    found = find_variants(pl.Series([" ", "flu", "flu"]))
    assert (found.n_values, found.n_rows) == (1, 1)


def test_rows_that_do_not_go_on_decide_and_count_nothing():
    series = pl.Series(["Flu", "Flu", "flu", " "])
    found = find_variants(series, kept=np.array([2]))
    assert merge_variants(series, found).to_list() == ["flu", "flu", "flu", None]
    assert (found.n_values, found.n_rows) == (0, 0)


def test_counts():
    found = find_variants(pl.Series(["flu", "flu", "Flu", "flu ", "ulcer", "Ulcer", "rash"]))
    assert (found.n_values, found.n_rows) == (5, 3)
    assert find_variants(pl.Series([], dtype=pl.String)).n_rows == 0


def test_a_warning_names_columns_and_counts():
    what = "from another, or from a missing cell, only in spaces, case or Unicode form; they count as different values"
    expected = f"column 'a': 1 value differs {what}; column 'b': 2 values differ {what}"
    assert spelling_warning({"a": 1, "b": 2}, fix="") == expected
    assert spelling_warning({"a": 1, "b": 2}) == f"{expected}; normalise = true merges them"


# -- in a table --------------------------------------------------------------------------------------------------------


def table(values, kind=None, *, quasi=None, **options):
    frame = pl.DataFrame({"q": quasi or list(range(len(values))), "s": values})
    return prepare(frame, Schema(quasi={"q": Numeric()}, sensitive={"s": kind}), **options)


def warned(values, kind=None, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table(values, kind, **options)
    assert all(one.category is ShoalWarning for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("kind", [None, Nominal()], ids=repr)
def test_a_table_warns_once_without_a_value(kind):
    (text,) = warned([CANARY, CANARY + " ", "x", " "], kind)
    assert text == (
        "column 's': 3 values differ from another, or from a missing cell, only in spaces, case or Unicode form; they "
        "count as different values; normalise = true merges them"
    )
    assert warned([CANARY, CANARY + " "], kind, normalise=True) == []
    assert warned(["flu", "ulcer", None]) == []
    assert warned([1, 2, 1]) == []


def test_all_columns_in_one_warning_and_only_sensitive_ones():
    frame = pl.DataFrame({"q": ["a", "A"], "n": ["a", "A"], "s": ["a", "A"], "t": ["a", "a "], "u": ["a", "b"]})
    schema = Schema(quasi={"q": Nominal()}, sensitive=["s", "t", "u"], neutral=["n"])
    with pytest.warns(
        ShoalWarning, match=r"^column 's': 2 values .*; column 't': 2 values .*; normalise = true"
    ) as found:
        prepare(frame, schema)
    assert len(found) == 1
    assert "'u'" not in str(found[0].message)
    done = prepare(frame, schema, normalise=True)
    assert done.frame.rows() == [("a", "a", "A", "a", "a"), ("A", "A", "A", "a", "b")]
    assert done.merged == {"s": 1, "t": 1}


def test_what_was_merged_is_counted_and_the_fingerprint_is_of_the_input():
    values = ["flu", "flu", "Flu ", " ", "ulcer"]
    with pytest.warns(ShoalWarning):
        before = table(values)
    after = table(values, normalise=True)
    assert after.frame["s"].to_list() == ["flu", "flu", "flu", None, "ulcer"]
    assert after.merged == {"s": 2}
    assert before.merged == {}
    assert before.frame["s"].to_list() == values
    assert after.sha256 == before.sha256


def test_dropped_rows_are_not_counted():
    done = table(["flu", "flu", "Flu"], quasi=[1, None, None], missing="drop", normalise=True)
    assert (done.frame["s"].to_list(), done.merged) == (["flu"], {})


def test_a_hierarchy_is_met_after_merging():
    tree = Nominal(Hierarchy.from_tree({"lung": ["flu", "asthma"]}))
    with (
        pytest.warns(ShoalWarning, match="column 's': 1 value "),
        pytest.raises(SchemaError, match="has no leaf for 1"),
    ):
        table(["flu ", "flu ", "asthma"], tree)
    assert table(["FLU ", "FLU ", "asthma"], tree, normalise=True).frame["s"].to_list() == ["flu", "flu", "asthma"]


def test_an_order_is_met_after_merging():
    order = Ordinal(["low", "high"])
    with (
        pytest.warns(ShoalWarning, match="column 's': 1 value "),
        pytest.raises(SchemaError, match="1 cell is not in"),
    ):
        table(["low", "high "], order)
    assert table(["low", "HIGH "], order, normalise=True).frame["s"].to_list() == ["low", "high"]
    with pytest.raises(SchemaError, match=r"^column 's': 1 cell is not in its order, at row 2;"):
        table(["low", CANARY], order, normalise=True)


@pytest.mark.parametrize("wrong", ["yes", 1, None])
def test_another_word_is_refused(wrong):
    with pytest.raises(ParameterError, match="normalise=: needs true or false"):
        table(["flu"], normalise=wrong)


texts = st.lists(cells, min_size=4, max_size=12)


@settings(max_examples=examples(40))
@given(texts, texts, texts)
@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_no_other_column_changes(quasi, neutral, sensitive):
    n_rows = min(map(len, (quasi, neutral, sensitive)))
    frame = pl.DataFrame(
        {"q": quasi[:n_rows], "n": neutral[:n_rows], "s": sensitive[:n_rows], "x": list(range(n_rows))},
        schema={"q": pl.String, "n": pl.String, "s": pl.String, "x": pl.Int64},
    )
    schema = Schema(quasi={"q": Nominal()}, neutral=["n", "x"], sensitive={"s": Nominal()})
    plain, done = prepare(frame, schema), prepare(frame, schema, normalise=True)
    assert done.frame.drop("s").equals(plain.frame.drop("s"))
    assert done.sha256 == plain.sha256
    again = prepare(done.frame, schema, normalise=True)
    assert again.merged == {}
    assert again.frame.equals(done.frame)


def test_numbers_and_dates_have_one_spelling():
    frame = pl.DataFrame({"q": [1, 2], "d": pl.Series(["2020-01-01", "2020-01-02"]).str.to_date(), "n": [1.5, 2.5]})
    schema = Schema(quasi={"q": Numeric()}, sensitive={"d": Nominal(), "n": Numeric()})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert prepare(frame, schema, normalise=True).merged == {}
        prepare(frame, schema)


def test_a_published_table_of_others_is_warned_of_too():
    frame = pl.DataFrame({"q": ["1", "1", "1"], "s": [CANARY, CANARY + " ", "x"]})
    found = shoal.verify_table(frame, Schema(quasi={"q": Numeric()}, sensitive=["s"]))
    (text,) = found.warnings
    assert text.startswith("column 's': 2 values differ from another")
    assert CANARY not in text


def test_many_rows_cost_little_more_than_few():
    """One look at each distinct value, whatever the number of rows."""
    series = pl.Series(["flu", "Flu", "ulcer"]).gather(np.arange(1_000_000) % 3)
    assert find_variants(series).n_rows == 333_333
