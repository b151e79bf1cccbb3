"""The classes of mistakes that proposals made before: each must stay right, and the score of labelled columns high."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

from shoal.table.hierarchy.builders import Prefixes
from shoal.table.profile.bands import band, band_order
from shoal.table.profile.described import ColumnProfile
from shoal.table.profile.profile import profile

BENCH = Path(__file__).parents[3] / "bench"


def column(name: str, values: list) -> ColumnProfile:
    known = ["north" if row % 2 else "south" for row in range(len(values))]
    return profile(pl.DataFrame({name: values, "quarter": known}, strict=False)).columns[0]


SKEWED = [str(int(20_000 * 1.01**row)) for row in range(200)]
MISTAKES = [
    # a record number of which half occur once is no quantity, whatever its name
    ("encounter_nbr", [str(1_000_003 * (row % 150 + 7) % 9_999_991) for row in range(200)], "identifying", None),
    ("v17", [str(10_000_019 + 7_654_321 * row % 89_000_017) for row in range(200)], "identifying", None),
    # a handful of codes identifies nobody
    ("admission_type_id", ["1", "2", "3", "6"] * 50, "quasi", "nominal"),
    ("dept_id", ["10", "20", "80"] * 50, "quasi", "nominal"),
    ("telephone", ["yes", "no"] * 50, "quasi", "nominal"),
    ("claim_status", ["PD", "DN"] * 50, "quasi", "nominal"),
    # small codes are no quantities, but counts are
    ("v6", ["1", "2", "4", "7", "9"] * 20, "quasi", "nominal"),
    ("v7", ["0"] * 60 + ["1"] * 30 + ["2"] * 14 + ["3"] * 6 + ["4"] * 2, "quasi", "numeric"),
    ("kinderzahl", ["1", "2", "3", "4", "5", "6"] * 20, "quasi", "numeric"),
    # measured quantities with leading zeros, or with a few texts, are no names
    ("ferritin", [f"{row * 1.37:07.2f}" for row in range(1, 200)], "sensitive", "numeric"),
    ("crp", [f"{row * 0.13:.2f}" for row in range(1, 190)] + ["<0.10"] * 10, "sensitive", "nominal"),
    ("v8", [f"{row * 0.13:.2f}" for row in range(1, 190)] + ["clotted"] * 10, "quasi", "nominal"),
    # bands come in an order
    ("v9", ["[40-50)", "[50-60)", "[60-70)"] * 20, "quasi", "ordinal"),
    ("income", ["<5k", "5k-10k", ">10k"] * 20, "sensitive", "ordinal"),
    # weights, constants and outcomes are no quasi-identifiers
    ("pweight", SKEWED, "weight", "numeric"),
    ("wave", ["3"] * 50, "neutral", None),
    ("diagnosis", ["flu"] * 50, "sensitive", "nominal"),
    ("readmitted", ["0", "1"] * 50, "sensitive", "nominal"),
    ("vital_status", ["Alive", "Dead"] * 50, "sensitive", "nominal"),
    # money is money
    *((name, SKEWED, "sensitive", "numeric") for name in ("wage", "capital_gain", "FEDTAX", "dividends", "WSALVAL")),
    # a weight of bodies is none of a survey
    ("weight", [str(60 + row % 45) for row in range(200)], "quasi", "numeric"),
    # what cells say counts more than what a name does not say
    ("v1", ["male", "female"] * 50, "quasi", "nominal"),
    ("v2", ["positive", "negative"] * 50, "sensitive", "nominal"),
    ("v3", ["katholisch", "evangelisch", "muslimisch", "keine"] * 20, "sensitive", "nominal"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "role", "kind"), MISTAKES)
def test_a_mistake_that_was_made_before(name, values, role, kind):
    found = column(name, values)
    assert (found.role, found.kind) == (role, kind), found.reason


@pytest.mark.parametrize(
    ("name", "values", "keep"),
    [
        ("v1", ["E11.9", "I10", "J45.9", "C50.4"] * 20, (3, 1)),
        ("drug", ["A10BA02", "C09AA05", "N02BE01"] * 20, (5, 4, 3, 1)),
        ("isco88", ["1234", "2310", "5122", "9321", "7110", "4190"] * 20, (3, 2, 1)),
        ("diag_1", ["250.83", "428", "V57", "414", "E885", "786"] * 20, (2, 1)),
    ],
)
def test_codes_are_cut_from_the_right(name, values, keep):
    found = column(name, values)
    assert (found.kind, found.hierarchy) == ("nominal", Prefixes(keep=keep))


@pytest.mark.parametrize("unit", [" km", "mg/dl", " cm", " Stunden"])
@pytest.mark.parametrize("form", ["{:.2f}", "{:.0f}"])
def test_numbers_with_a_unit_are_told_as_such(unit, form):
    found = column("v10", [form.format(101 + row * 1.37) + unit for row in range(200)])
    assert found.role == "identifying"
    assert "are numbers with a unit, which are read as texts" in found.reason
    assert "numbers with a unit" not in column("v11", ["5 mg", "10 mg", "20 mg"] * 30).reason


def test_confidence_says_where_a_role_comes_from():
    assert column("e-mail", [f"a{row}@example.org" for row in range(40)]).confidence == "high"
    assert column("occupation", ["a", "b"] * 40).confidence == "medium"
    assert column("v1", ["a", "b"] * 40).confidence == "low"


@pytest.mark.parametrize("text", ["", "40", "a-b", "2020-01-01", "50-40", "1-2-3", "+", "<", "10 apples"])
def test_what_is_no_band(text):
    assert band(text) is None


def test_bands_in_several_languages():
    assert band_order(["65 ans et plus", "18-24 ans", "25-64 ans"]) == ("18-24 ans", "25-64 ans", "65 ans et plus")
    assert band_order(["3000 et plus", "moins de 1000", "1000-2999"])[0] == "moins de 1000"
    assert band_order(["10+ years", "< 1 year", "2 years", "1 year"]) == ("< 1 year", "1 year", "2 years", "10+ years")
    assert band_order(["> 65", "bis 17", "18 bis 65"]) == ("bis 17", "18 bis 65", "> 65")
    assert band_order(["red", "green", "5-10"]) == ()


@pytest.mark.parametrize("table", ["hospital_stays", "trial", "hes", "assays", "motor_claims"])
def test_labelled_columns_score_well(table, monkeypatch):
    """The whole set is scored by `make bench`; five of its tables here."""
    monkeypatch.syspath_prepend(str(BENCH))
    for name in ("drawn", "invented", "codebooks", "registers", "labels", "roles", "data"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import labels
    import roles

    frame, known = labels.invented(table)
    proposed = {one.name: one for one in profile(frame).columns}
    scored = [roles.Scored(label, proposed[label.column]) for label in known]
    figures = roles.figures(scored)
    assert figures["role, where a wrong one leaks"][0] == figures["role, where a wrong one leaks"][1] > 0
    for asked in ("role, elsewhere", "kind", "hierarchy"):
        right, given = figures[asked]
        assert right >= roles.ELSEWHERE * given, list(roles.misses(scored))
