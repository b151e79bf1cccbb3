"""Where tables come from, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.error import URLError

import polars as pl
import pytest

from shoal.errors import SchemaError, SourceError
from shoal.reproduce import data
from support.small_adult import small_adult, small_census


@pytest.fixture
def file(tmp_path):
    def written(frame: pl.DataFrame, name: str = "adult.csv"):
        frame.write_csv(tmp_path / name)
        return tmp_path / name

    return written


def test_the_order_of_the_file_does_not_matter(file):
    frame = small_adult()
    first = data.adult(file(frame))
    assert first.equals(data.adult(file(frame.reverse())))
    assert sorted(first.cast(pl.String).rows()) == sorted(frame.rows())
    assert first.rows() != sorted(first.rows())  # the first rows are no particular ones
    assert first["age"].dtype == pl.Int64


def test_rows_with_a_missing_cell_are_left_out_and_spellings_read(file):
    frame = small_adult(40)
    changed = frame.with_row_index().with_columns(
        pl.when(pl.col("index") < 3).then(pl.lit(" ?")).otherwise(pl.col("workclass")).alias("workclass"),
        (pl.col("income") + ".").alias("income"),
        (" " + pl.col("race") + " ").alias("race"),
    )
    read = data.adult(file(changed.drop("index")))
    assert sorted(read.cast(pl.String).rows()) == sorted(frame.tail(-3).rows())


def test_another_name_of_the_last_column_is_known(file):
    frame = small_adult(40)
    renamed = frame.rename({"income": "class", "marital-status": "marital_status"})
    assert data.adult(file(renamed)).equals(data.adult(file(frame)))


def test_all_missing_columns_are_named_at_once(file):
    frame = small_adult(40).rename({"education": "educations"}).drop("race")
    with pytest.raises(SchemaError, match=r"(?s)'education': not in .*did you mean 'educations'.*'race': not in"):
        data.adult(file(frame))


def test_what_is_no_number_and_what_adult_does_not_have_is_counted_and_not_shown(file):
    frame = small_adult(40)
    with pytest.raises(SchemaError, match="'age': has 40 cells") as caught:
        data.adult(file(frame.with_columns(age=pl.lit("secret-cell"))))
    assert "secret-cell" not in str(caught.value)
    with pytest.raises(SchemaError, match="'race': has 40 cells") as caught:
        data.adult(file(frame.with_columns(race=pl.lit("secret-cell"))))
    assert "secret-cell" not in str(caught.value)
    with pytest.raises(SchemaError, match=r"'fnlwgt': has 40 cells .* no whole number"):
        data.adult(file(frame.with_columns(fnlwgt=pl.lit("1.5"))))
    with pytest.raises(SourceError, match="no row without a missing cell"):
        data.adult(file(frame.with_columns(race=pl.lit("?"))))


def test_the_folder_of_the_environment_is_looked_through(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    (tmp_path / "adult").mkdir()
    small_adult(40).write_csv(tmp_path / "adult" / "adult.csv")
    assert data.adult().height == 40
    small_census(20).write_csv(tmp_path / "census.csv")
    assert data.census().shape == (20, 13)


def test_adult_is_fetched_where_there_is_a_network(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    frame = small_adult(40)
    numbers = frame.with_columns(pl.col(data.NUMBERS).cast(pl.Float64)).rename({"income": "class"}).to_pandas()
    numbers.loc[0, "workclass"] = float("nan")
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *args, **more: SimpleNamespace(frame=numbers))
    assert sorted(data.adult().cast(pl.String).rows()) == sorted(frame.tail(-1).rows())


def test_without_a_network_it_is_said_what_to_do(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)

    def failing(*args, **more):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", failing)
    with pytest.raises(SourceError, match=r"could not be fetched from OpenML \(URLError\); give --data adult.csv"):
        data.adult()
    with pytest.raises(SourceError, match=r"Census: is not at hand.*--census"):
        data.census()


def test_rows_are_drawn_by_seed_and_none_twice():
    frame = small_adult(60).with_row_index()
    one, again, other = (data.drawn_rows(frame, 30, seed)["index"].to_list() for seed in (1, 1, 2))
    assert one == again != other
    assert len(set(one)) == 30
    assert data.drawn_rows(frame, 60, 1) is frame
