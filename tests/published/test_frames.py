"""The published table as a frame of any package, whatever frame was given."""

from __future__ import annotations

import inspect
import pickle
import sys

import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.pipeline import Options

FRAME = pl.DataFrame({"age": [21, 25, 22, 60, 58, 55], "disease": ["flu", "cold", "ulcer"] * 2})
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
GIVEN = {
    "polars": lambda: FRAME, "lazy": FRAME.lazy, "pandas": lambda: FRAME.to_pandas(), "pyarrow": FRAME.to_arrow
}  # fmt: skip


@pytest.fixture(params=GIVEN)
def release(request):
    return shoal.anonymize(GIVEN[request.param](), SCHEMA, shoal.Mondrian(k=3), seed=1)


def test_every_release_gives_every_frame(release):
    import pandas as pd

    wanted = release.frames["table"].rows()
    assert isinstance(release.to_polars(), pl.DataFrame)
    assert isinstance(release.to_pandas(), pd.DataFrame)
    assert isinstance(release.to_arrow(), pa.Table)
    assert release.to_polars().rows() == wanted
    assert [tuple(row) for row in release.to_pandas().itertuples(index=False)] == wanted
    assert [tuple(row.values()) for row in release.to_arrow().to_pylist()] == wanted


def test_one_of_several_tables():
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Anatomy(l=2))
    assert len(release.frames) == 2
    for name, frame in release.frames.items():
        assert release.to_polars(table=name).equals(frame)
        assert list(release.to_pandas(table=name).columns) == frame.columns
        assert release.to_arrow(table=name).num_rows == frame.height
    with pytest.raises(shoal.ParameterError, match=f"'third'; it has: {', '.join(release.frames)}"):
        release.to_polars(table="third")


def test_slices_in_tables_of_their_own_stand_side_by_side():
    method = shoal.Slicing(l=2, groups={"age": 1, "disease": 2})
    release = shoal.anonymize(FRAME, SCHEMA, method, publish=shoal.Slices(shape="files"))
    assert "table" not in release.frames
    assert release.to_polars().equals(release.table)
    assert release.to_pandas().shape == release.table.shape


def test_a_missing_package_is_named(release, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(shoal.SourceError, match=r"to_pandas\(\): needs the package pandas; run: .*pip install pandas$"):
        release.to_pandas()


def test_editors_are_told_every_option():
    named = inspect.signature(shoal.anonymize).parameters.values()
    assert [one.name for one in named if one.kind is one.KEYWORD_ONLY] == list(Options.__annotations__)


def test_a_release_names_its_frame():
    assert shoal.Release[pl.DataFrame].__origin__ is shoal.Release
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=3), seed=1)
    assert isinstance(release, shoal.Release)
    assert pickle.loads(pickle.dumps(release)).table.equals(release.table)
