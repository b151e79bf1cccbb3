"""The picture of a distribution: what it shows, in which order, and that it is the same every time."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import polars as pl
import pytest

import shoal
from shoal.report.distributions import picture

BEFORE = pl.Series("disease", ["flu"] * 6 + ["gout"] * 3 + [None])
AFTER = pl.Series("disease", ["QX7"] * 4 + ["flu"] * 2 + ["<b>&"] * 3 + [None])


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).findall(".//{*}text")]


def test_both_panels_begin_with_what_is_most_frequent():
    files = picture(BEFORE, AFTER, "d")
    assert sorted(files) == ["d.html", "d.svg"]
    shown = texts(files["d.svg"])
    cells = [text for text in shown if text in {"flu", "gout", "missing", "QX7", "<b>&"}]
    assert cells == ["flu", "gout", "missing", "QX7", "<b>&", "flu", "missing"]
    assert "disease, before and after" in shown
    assert any("3 values of 10 rows; published are 4 different cells." in text for text in shown)
    assert {"a value", "an alias", "before", "published"} <= set(shown)


def test_the_order_of_rows_does_not_matter():
    assert picture(BEFORE, AFTER) == picture(BEFORE.reverse(), AFTER.reverse())


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(shoal.InputError, match=r"pip install -e .*\[report\]"):
        picture(BEFORE, AFTER)
