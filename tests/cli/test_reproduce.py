"""`shoal reproduce`: pages, JSON, and what is refused before anything is written."""

from __future__ import annotations

import json

import pytest

from shoal.reproduce import s1
from support.small_adult import small_adult


@pytest.fixture
def adult(tmp_path):
    small_adult(80).write_csv(tmp_path / "adult.csv")
    return str(tmp_path / "adult.csv")


def test_a_page_is_written_and_its_claims_shown(adult, tmp_path, call, monkeypatch):
    monkeypatch.setattr(s1, "COUNTS", (2, 3))
    out = tmp_path / "pages"
    line = ("reproduce", "S1", "--data", adult, "--rows", "60", "--runs", "2", "--out", str(out))
    status, shown, _ = call(*line)
    assert status == 0
    assert "CAAT takes less time than KACA" in " ".join(shown.split())
    assert sorted(path.name for path in out.iterdir()) == ["S1-time.svg", "S1.md"]
    status, _, told = call(*line)
    assert (status, "S1.md: is there already" in told) == (2, True)
    status, shown, _ = call(*line, "--overwrite", "--json")
    (entry,) = json.loads(shown)
    assert (status, entry["work"], len(entry["claims"])) == (0, "S1", 3)
    assert len(entry["figures"]["CAAT, k = 3, 2 quasi-identifiers, seconds"]) == 2


def refused(call, out, *line) -> str:
    status, _, told = call("reproduce", *line, "--out", str(out))
    assert status == 2
    assert not out.exists()
    return " ".join(told.split())


def test_bad_input_is_one_clear_error_and_nothing_is_written(adult, tmp_path, call, monkeypatch):
    out = tmp_path / "pages"
    assert "work 'S9': there is none of that name" in refused(call, out, "S9", "--data", adult)
    assert "missing.csv" in refused(call, out, "S1", "--data", str(tmp_path / "missing.csv"))
    small_adult(80).drop("age", "sex").write_csv(tmp_path / "narrow.csv")
    told = refused(call, out, "S1", "S3", "--data", str(tmp_path / "narrow.csv"))
    assert "2 problems" in told
    assert "column 'age': not in" in told
    assert "column 'sex': not in" in told
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "nowhere"))
    small_adult(80).drop("age").write_csv(tmp_path / "narrow.csv")
    told = refused(call, out, "S5", "--data", str(tmp_path / "narrow.csv"))  # both tables are wrong: both are said
    assert "column 'age': not in" in told
    assert "Census: is not at hand" in told
    assert "--runs" in refused(call, out, "S1", "--data", adult, "--runs", "0")
