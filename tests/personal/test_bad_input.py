"""Bad input of personalised publishing: one error before any work, from Python and from the command line alike.

It names the column and the rows, or the parameter; no cell of the table is in it, and nothing is written.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import polars as pl
import pytest

import shoal

CANARY = "Zyx9Canary"
PASSPHRASE = "several unrelated words"
RECIPE = """
source = {path = "people.csv"}
[columns]
age = {role = "quasi", kind = "numeric"}
disease = {role = "sensitive", kind = "nominal", hierarchy = "diseases.csv"}
income = {role = "sensitive", kind = "numeric"}
show = {role = "choice"}
[method]
name = "mondrian"
k = 2
"""
TREE = "flu;lung;*\nasthma;lung;*\nulcer;stomach;*\n"
GRADES = {"name": "grades", "column": "income", "quantiles": 2}
ALIASES = {"name": "aliases", "column": "disease"}
NO_CHOICE = r"column 'show': {} no choice, at row{}; write 1 \(the value\), 2 \(its first alias\) or 3"


def people(**columns):
    """Six people, with other cells where some are given."""
    known = {
        "age": [21, 22, 23, 41, 42, 43],
        "disease": ["flu", "asthma", "ulcer"] * 2,
        "income": [100, 200, 300, 400, 500, 600],
        "show": [1, 2, 3, 1, 2, 3],
    }
    return pl.DataFrame({**known, **columns}, strict=False)


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {toml(one)}' for key, one in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def recipe(*publish):
    tables = ("\n[[publish]]\n" + "\n".join(f"{key} = {toml(value)}" for key, value in one.items()) for one in publish)
    return RECIPE + "".join(tables)


BAD = {
    "choices outside 1 to 3": (
        {"show": [1, 0, 4, -1, 2, 3]}, [ALIASES, GRADES], NO_CHOICE.format("3 cells are", "s 2, 3, 4"),
    ),
    "half a choice": ({"show": [1, 2.5, 3, 1, 2, 3]}, [ALIASES, GRADES], NO_CHOICE.format("1 cell is", " 2")),
    "choices in words": (
        {"show": ["1", CANARY, "3", "1", "two", "3"]}, [ALIASES, GRADES], NO_CHOICE.format("2 cells are", "s 2, 5"),
    ),
    "choices that are truth values": (
        {"show": [True, False] * 3}, [ALIASES, GRADES], NO_CHOICE.format("6 cells are", "s 1, 2, 3, 4, 5, 6"),
    ),
    "choices that are missing": (
        {"show": [1, None, 3, 1, None, 3]}, [ALIASES, GRADES],
        r"Aliases\('disease'\): 2 rows have no choice, at rows 2, 5; give default=, such as 3",
    ),
    "a rule that does not say all": (
        {"show": [None] * 6}, [{**ALIASES, "rule": {"lung": 2}}, GRADES], "2 rows have no choice, at rows 3, 6",
    ),
    "a rule over values that are not there": (
        {"show": [None] * 6}, [{**ALIASES, "rule": {"heart": 2, "age": 1}, "default": 3}, GRADES],
        "rule: names what the column does not have: age, heart; name values of the column, or nodes of its hierarchy",
    ),
    "a rule with another choice": (
        {}, [{**ALIASES, "rule": {"lung": 4}}, GRADES], "rule.*: needs a whole number from 1 to 3.*, got 4 for 'lung'",
    ),
    "a default that is none": ({}, [{**ALIASES, "default": 0}, GRADES], "default.*: needs a whole number from 1 to 3"),
    "aliases of a column that is not there": (
        {}, [{**ALIASES, "column": "desease"}, GRADES],
        r"Aliases\('desease'\): the table has no sensitive column of that name; did you mean 'disease'",
    ),
    "aliases of a column with another role": (
        {}, [{**ALIASES, "column": "age"}, GRADES], r"Aliases\('age'\): the table has no sensitive column of that name",
    ),
    "aliases of numbers": (
        {}, [{**ALIASES, "column": "income"}], r"Aliases\('income'\): the column holds numbers, which have no aliases",
    ),
    "grades of categories": (
        {}, [{**GRADES, "column": "disease"}], r"Grades\('disease'\): the column is not numeric",
    ),
    "numbers outside all categories": (
        {"income": [100, 700, 300, -1, 500, None]}, [ALIASES, {**GRADES, "quantiles": None, "categories": [[0, 600]]}],
        r"column 'income': 2 values are outside all categories, at rows 2, 4; extend the categories",
    ),
    "numbers in a gap between categories": (
        {}, [ALIASES, {**GRADES, "quantiles": None, "categories": [[0, 250], [350, 600]]}],
        r"column 'income': 1 value is outside all categories, at row 3",
    ),
    "categories that overlap": (
        {}, [ALIASES, {**GRADES, "quantiles": None, "categories": [[0, 300], [200, 600]]}],
        "categories.*: .*; numbers 1 and 2 overlap, or are not in rising order",
    ),
    "categories that end before they begin": (
        {}, [ALIASES, {**GRADES, "quantiles": None, "categories": [[300, 0]]}], "number 1 ends before it begins",
    ),
    "no categories at all": (
        {}, [ALIASES, {**GRADES, "quantiles": None}], r"Grades\('income'\): does not say what the categories are",
    ),
    "a column with two publishers": ({}, [ALIASES, ALIASES, GRADES], "column 'disease' has more than one publisher"),
    "several of these at once": (
        {"show": [9] * 6, "income": [100, 700, 300, 400, 500, 600]},
        [{**ALIASES, "rule": {"heart": 2}}, {**GRADES, "quantiles": None, "categories": [[0, 600]]}],
        r"(?s)3 problems:.*6 cells are no choice.*what the column does not have.*outside all categories, at row 2",
    ),
}  # fmt: skip


def given(columns, publish):
    """A frame, and the text of a recipe, without what is not said."""
    return people(**columns), recipe(*({key: v for key, v in one.items() if v is not None} for one in publish))


def test_nothing_is_wrong_with_the_rest(tmp_path):
    frame, text = given({}, [ALIASES, GRADES])
    (tmp_path / "diseases.csv").write_text(TREE)
    frame.write_csv(tmp_path / "people.csv")
    assert shoal.run(shoal.Recipe.from_toml(text, folder=tmp_path)).verify().k >= 2


@pytest.mark.parametrize("name", BAD)
def test_from_python(name, tmp_path):
    columns, publish, message = BAD[name]
    frame, text = given(columns, publish)
    (tmp_path / "diseases.csv").write_text(TREE)
    with pytest.raises(shoal.ShoalError, match=message) as caught:  # noqa: PT012 - the parts are checked when read
        read = shoal.Recipe.from_toml(text, folder=tmp_path)
        shoal.anonymize(frame, read.schema, read.method, publish=read.sensitive)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", BAD)
def test_from_the_command_line(name, tmp_path, monkeypatch, call):
    columns, publish, message = BAD[name]
    frame, text = given(columns, publish)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOAL_PASSPHRASE", PASSPHRASE)
    (tmp_path / "recipe.toml").write_text(text)
    (tmp_path / "diseases.csv").write_text(TREE)
    frame.write_csv(tmp_path / "people.csv")
    before = sorted(path.name for path in tmp_path.iterdir())
    status, out, err = call("run", "recipe.toml", "--out", "release")
    assert status == 2
    assert re.search(message, err)
    assert CANARY not in out + err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("choices", "dtype"),
    [
        (["1", "2", "3"], pl.String),
        (["1.0", "2.0", "3.0"], pl.String),
        (["1", "2", "3"], pl.Categorical),
        ([1.0, 2.0, 3.0], pl.Float64),
        ([Decimal(1), Decimal(2), Decimal(3)], pl.Decimal(10, 2)),
        ([1, 2, 3], pl.UInt8),
    ],
)
def test_choices_of_any_type_that_are_1_2_and_3(choices, dtype):
    frame = people(show=pl.Series(choices * 2, dtype=dtype)).drop("income")
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], choice="show")
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=shoal.Aliases("disease"))
    assert release.manifest.layout.passed[0].clear == ("flu",)


@pytest.mark.parametrize("cells", [[[1]] * 6, [b"1"] * 6, [date(2020, 1, 1)] * 6, [float("inf")] * 6])
def test_choices_that_can_be_none(cells):
    frame = people(show=cells).drop("income")
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], choice="show")
    with pytest.raises(shoal.SchemaError, match=r"column 'show': (holds [A-Z]|6 cells are no choice, at rows 1, 2)"):
        shoal.anonymize(frame, schema, shoal.Personal(), publish=shoal.Aliases("disease"))
