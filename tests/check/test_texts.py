"""Cells as the numbers of their texts: the same however many rows there are, whatever they hold."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.check.texts import Texts
from shoal.table import numbering

N = 300
LONG = "x" * 2 * numbering.LONG
COLUMNS = {
    "numbers that lie close together": [7, 10, 9, None, 100, 7] * 50,
    "numbers one of which lies far below": [-(1 << 61), *range(5, 4 + N)],
    "one number": [5] * N,
    "one number and nothing": [5, None] * 150,
    "nothing": pl.Series([None] * N, dtype=pl.Int64),
    "fractions": [0.0, -0.0, 2.5, None, 10.0, 9.0] * 50,
    "words": ["b", "a", None, "", "B", "ab"] * 50,
    "long texts": [LONG + "b", LONG + "a", None, LONG, "b", LONG + "c"] * 50,
}


@pytest.mark.parametrize("many", [1, numbering.MANY], ids=["as of many rows", "as of some"])
@pytest.mark.parametrize("name", COLUMNS)
def test_cells_are_numbered_in_the_order_of_their_texts(name, many, monkeypatch):
    monkeypatch.setattr(numbering, "MANY", many)
    frame = pl.DataFrame({"c": COLUMNS[name]})
    assert numbering.FEW < frame.height == N
    texts, known = frame["c"].cast(pl.String).to_list(), Texts()
    values = sorted({text for text in texts if text is not None})
    column = known.of(frame)["c"]
    assert column.n_values == len(values)
    assert column.codes.tolist() == [len(values) if text is None else values.index(text) for text in texts]
    assert (column.values is None) == (name == "long texts")
    assert column.values is None or column.values.to_list() == values


@pytest.mark.parametrize("name", ["words", "long texts", "numbers that lie close together", "one number"])
def test_what_a_column_shows_is_each_text_once_and_whether_cells_are_missing(name):
    texts = pl.DataFrame({"c": COLUMNS[name]}).select(pl.col("c").cast(pl.String))
    assert Texts().shown(texts, "c") == set(texts["c"].to_list())
