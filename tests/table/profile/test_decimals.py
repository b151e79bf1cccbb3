"""How numbers are written: declared where the values decide it, told where they do not."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.table.profile.decimals import Decimals, decimals_of, with_decimals
from shoal.table.profile.profile import profile
from shoal.table.sources import Source

DECIDED = [
    (["1,75", "1,8", "2"], "decimal_comma"),
    (["43.338,13", "43.338,10"], "decimal_comma"),
    (["1.234.567", "12"], "decimal_comma"),
    (["75,3", "?", "n/a", ""], "decimal_comma"),
    (["75,30 €", "8 €"], "decimal_comma"),
    (["$43,338.13", "$5"], "decimal_point"),
    (["1,234,567", "12"], "decimal_point"),
    (["$5", "$12"], "decimal_point"),
    (["56 %", "7.5%", "n/a"], "decimal_point"),
    (["56,5 %", "7%"], "decimal_comma"),
    (["56 %", "0.5"], None),
    (["1,234", "12,345"], "doubt"),
    (["1,3", "2,7", "4"], "doubt"),
    (["1.75", "12"], None),
    (["1.75", "1,75"], None),
    (["1,2,3", "1,2"], None),
    (["21.03.1987", "21.03.88"], None),
    (["a", "b"], None),
    ([None, ""], None),
]


@pytest.mark.parametrize(("texts", "expected"), DECIDED, ids=str)
def test_what_the_values_decide(texts, expected):
    found = decimals_of(pl.DataFrame({"x": texts}, schema={"x": pl.String}))
    assert found == (Decimals(**{expected: ("x",)}) if expected else Decimals())


def test_points_before_three_digits_are_in_doubt_beside_decimal_commas():
    frame = pl.DataFrame({"pay": ["43.338", "51.200"], "height": ["1,75", "1,8"]})
    assert decimals_of(frame) == Decimals(decimal_comma=("height",), doubt=("pay",))
    assert decimals_of(frame.select("pay")) == Decimals()


def test_declared_and_told():
    frame = pl.DataFrame({"weight": ["75,3", "81,25"], "height": ["1.75", "1.8"], "own": ["3", "4.5"]})
    source, plain, told = with_decimals(Source(path="a.csv", decimal_comma=["own"]), frame)
    assert source.decimal_comma == ("own", "weight")
    assert plain["weight"].to_list() == ["75.3", "81.25"]
    assert plain.drop("weight").equals(frame.drop("weight"))
    assert len(told) == 1
    assert "weight" in told[0]
    assert "75" not in told[0]


def test_only_columns_that_were_asked_for():
    frame = pl.DataFrame({"weight": ["75,3"], "note": ["12,5"]})
    source, plain, _ = with_decimals(Source(path="a.csv"), frame, ["weight"])
    assert (source.decimal_comma, plain["note"].to_list()) == (("weight",), ["12,5"])


def test_a_profile_tells_what_was_not_declared():
    frame = pl.DataFrame({"weight": ["75,3", "81,25"], "pay": ["1,234", "12,345"], "sex": ["f", "m"]})
    weight, pay = profile(frame).unread
    assert weight.startswith("column 'weight' seems to hold numbers")
    assert "name it in decimal_comma under [source]" in weight
    assert "decimal_comma (1.234,5) or decimal_point (1,234.5)" in pay
    assert not any(text in weight + pay for text in ("75,3", "12,345"))
