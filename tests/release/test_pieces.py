"""Files of a release compared with the one way to write them, piece by piece."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.release import files
from shoal.release.files import _is_canonical, _read_csv, canonical_csv

FRAMES = {
    "texts": pl.DataFrame({"a": ["x", 'q"q', None, "a,b", "é\n"] * 4, "b": ["1", None, "", "3", "4"] * 4}),
    "one column": pl.DataFrame({"a": ["x", None, "y"]}),
    "no rows": pl.DataFrame({"a": [], "b": []}, schema={"a": pl.String, "b": pl.String}),
}


@pytest.mark.parametrize("size", [1, 7, 60, 1 << 24])
@pytest.mark.parametrize("name", FRAMES)
def test_pieces_say_what_the_whole_says(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGE", size)
    frame = FRAMES[name].with_columns(pl.all().replace("", None))
    file = tmp_path / "table.csv"
    whole = canonical_csv(frame)
    file.write_bytes(whole)
    assert _is_canonical(frame, file)
    for other in (whole + b"\n", whole[:-1], whole.replace(b"a", b'"a"', 1), b"\xef\xbb\xbf" + whole, b""):
        file.write_bytes(other)
        assert not _is_canonical(frame, file)


def test_empty_cells_are_missing_whichever_column_has_some(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text('^a$,b,c\n1,"",x\n"",2,y\n')
    frame = _read_csv(file)
    assert frame.columns == ["^a$", "b", "c"]
    assert frame.rows() == [("1", None, "x"), (None, "2", "y")]


@pytest.mark.parametrize("size", [1, 3, 8, 1 << 24])
def test_a_file_is_read_in_pieces_that_end_with_a_record(size, tmp_path, monkeypatch):
    """Line ends and quotes within cells end none."""
    monkeypatch.setattr(files, "PIECE", size)
    frame = pl.DataFrame({"a\nb": ["x\ny", 'q"\n"', None, "a,b", "\n\n"], "b": ["1", '"', "\n", "3", '""\n""']})
    file = tmp_path / "table.csv"
    file.write_bytes(canonical_csv(frame))
    assert _read_csv(file).equals(frame)


def test_a_quote_that_is_never_closed_makes_one_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PIECE", 16)
    file = tmp_path / "table.csv"
    file.write_bytes(b'a\n1\n"' + b"2\n" * 40)
    assert len(list(files._pieces(file, 1))) == 2
