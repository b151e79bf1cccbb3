"""Numbers with decimal commas, marks of thousands and currencies: read as declared, refused if written otherwise."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.errors import SourceError
from shoal.table.sources import Source, read, stream

COMMA = ["1,75", "75", "43.338,13", "-1.000.000", "12,5 €", "1\u00a0234,5", "n/a", None]
PLAIN = ["1.75", "75", "43338.13", "-1000000", "12.5", "1234.5", "n/a", None]


def written(path, cells, **options):
    pl.DataFrame({"x": cells, "code": ["1,5"] * len(cells)}).write_csv(path, separator=";")
    return Source(path=str(path), delimiter=";", **options)


def test_declared_columns_have_plain_numbers(tmp_path):
    """Other columns, and other cells of the column, stay as they are."""
    found = read(written(tmp_path / "a.csv", COMMA, decimal_comma=["x"]))
    assert found["x"].to_list() == PLAIN
    assert set(found["code"]) == {"1,5"}


def test_a_decimal_point_beside_marks_of_thousands(tmp_path):
    found = read(written(tmp_path / "a.csv", ["$43,338.13", "1,000", "-$5", "$ 0.5", "7"], decimal_point=["x"]))
    assert found["x"].to_list() == ["43338.13", "1000", "-5", "0.5", "7"]


def test_pieces_are_read_alike(tmp_path):
    source = written(tmp_path / "a.csv", COMMA, decimal_comma=["x"])
    assert pl.concat(stream.stream(source)).equals(read(source))


def test_numbers_written_otherwise_are_refused_and_not_shown(tmp_path):
    """They would be read as other numbers: 1.75 is no 175, and 1.750 is 1750 in such a column."""
    text = "decimal_comma of 'x': 2 cells are numbers that are not written with a decimal comma; write all cells"
    with pytest.raises(SourceError, match=text) as caught:
        read(written(tmp_path / "a.csv", ["1,75", "1.75", "98.6"], decimal_comma=["x"]))
    assert "98" not in str(caught.value)


def test_a_column_that_is_not_there(tmp_path):
    with pytest.raises(SourceError, match="decimal_point of 'cody': there is no such column; did you mean 'code'"):
        read(written(tmp_path / "a.csv", ["1"], decimal_point=["cody"]))


def test_a_column_with_both(tmp_path):
    with pytest.raises(SourceError, match=r"Source\(decimal_comma=\): 'x' is in decimal_point, too; keep one"):
        written(tmp_path / "a.csv", ["1"], decimal_point=["x"], decimal_comma=["x"])


def test_a_cluster_does_not_read_them():
    from shoal.spark.recipes import read_table

    with pytest.raises(SourceError, match=r"numbers with other marks \(x\) are not read on a cluster; write them"):
        read_table(None, Source(path="a.csv", decimal_comma=["x"]))


def test_percent_signs_are_marks_as_currencies_are(tmp_path):
    found = read(written(tmp_path / "a.csv", ["56 %", "7,5%", "-3 %", "n/a", None], decimal_comma=["x"]))
    assert found["x"].to_list() == ["56", "7.5", "-3", "n/a", None]


@pytest.mark.parametrize("how", [read, lambda source: list(stream.stream(source))], ids=["whole", "in pieces"])
def test_percents_beside_plain_numbers_are_refused(tmp_path, monkeypatch, how):
    """Of 30 % and 0.3 nobody knows whether they are the same, in one piece or in two."""
    monkeypatch.setattr(stream, "ROWS", 2)
    text = "decimal_point of 'x': some numbers have a percent sign, others have none; write all cells of the column"
    with pytest.raises(SourceError, match=text):
        how(written(tmp_path / "a.csv", ["30 %", "50 %", "0.3", "0.5"], decimal_point=["x"]))
