"""The whole path on real data: Adult from four sources, and the worked figures of the measures."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys

import polars as pl
import pytest

import shoal
from shoal.release.receipt import Receipt
from support.by_hand import PATIENT_SCHEMA, PATIENTS, TABLES, release_of
from support.on_disk import verify_directory
from support.postgres import server
from support.realdata import ADULT_QUASI, adult, adult_schema, data_folder

N_ROWS = 600


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The first rows of Adult, missing cells kept, in a CSV file, a Parquet file, SQLite and PostgreSQL."""
    folder = tmp_path_factory.mktemp("adult")
    frame = pl.read_csv(data_folder() / "adult" / "adult.csv.gz", infer_schema=False).head(N_ROWS)
    numbers = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    typed = frame.with_columns(pl.col(numbers).cast(pl.Int64))
    frame.write_csv(folder / "adult.csv")
    typed.write_parquet(folder / "adult.parquet")
    typed.write_excel(folder / "adult.xlsx")
    columns = ", ".join(f'"{name}" {"INTEGER" if name in numbers else "TEXT"}' for name in typed.columns)
    with sqlite3.connect(folder / "adult.db") as database:
        database.execute(f"CREATE TABLE adult ({columns})")
        database.executemany(f"INSERT INTO adult VALUES ({', '.join('?' * typed.width)})", typed.rows())
    database.close()
    with server() as uri:
        import adbc_driver_postgresql.dbapi as adbc

        with adbc.connect(uri) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("adult", typed.to_arrow(), mode="create")
            connection.commit()
        yield {
            "csv": f'path = "{folder / "adult.csv"}"',
            "parquet": f'path = "{folder / "adult.parquet"}"',
            "excel": f'path = "{folder / "adult.xlsx"}"',
            "sqlite": f'path = "{folder / "adult.db"}"\ntable = "adult"',
            "postgresql": f'uri = "{uri}"\ntable = "adult"',
        }


def recipe_text(source: str) -> str:
    folder = data_folder() / "adult" / "hierarchies"
    columns = "".join(
        f'[columns.{name}]\nrole = "quasi"\nkind = "nominal"\nhierarchy = "{folder / name}.csv"\n'
        for name in ADULT_QUASI[1:]
    )
    return f"""
seed = 4
rest = "neutral"
[source]
{source}
missing_values = ["?"]
[columns.age]
role = "quasi"
kind = "numeric"
{columns}
[columns.income]
role = "sensitive"
[columns.fnlwgt]
role = "identifying"
[method]
name = "caat"
k = 10
"""


def test_the_same_bytes_from_every_source(sources, call, tmp_path):
    written, held = {}, {}
    for kind, source in sources.items():
        (tmp_path / f"{kind}.toml").write_text(recipe_text(source))
        assert shoal.Recipe.load(tmp_path / f"{kind}.toml").source.kind == kind
        folder = tmp_path / kind
        line = ["run", str(tmp_path / f"{kind}.toml"), "--out", str(folder)]
        if kind == "csv":  # one as anybody does it, the others in this process
            subprocess.run([sys.executable, "-m", "shoal", *line], check=True, capture_output=True)
        else:
            assert call(*line)[0] == 0
        written[kind] = {path.name: path.read_bytes() for path in folder.iterdir()}
        held[kind] = Receipt.read(tmp_path / f"{kind}.receipt.json")
    assert set(written) == {"csv", "parquet", "excel", "sqlite", "postgresql"}
    assert all(files == written["csv"] for files in written.values())
    own = {"created": "", "source": None}  # all that a receipt says of a run, and not of the table
    assert all(one.model_copy(update=own) == held["csv"].model_copy(update=own) for one in held.values())
    assert len({one.source for one in held.values()}) == len(held)
    assert (held["csv"].seed, held["csv"].input.rows) == (4, N_ROWS)
    verdict, manifest = verify_directory(tmp_path / "csv")
    assert verdict.k >= 10
    assert manifest.rows.published == N_ROWS


@pytest.mark.parametrize("method", [shoal.Caat(k=10, start=0), shoal.Mondrian(k=10)], ids=lambda method: method.name)
def test_adult_with_hierarchies(method):
    frame = adult().head(6_000)
    release = shoal.anonymize(frame, adult_schema(), method, publish=shoal.Generalize(shape="typed"), seed=0)
    figures = release.manifest.measures
    assert release.verify().k >= 10
    assert 0 < figures["ncp"] < 0.6
    assert figures["prosecutor_max"] <= 0.1
    assert math.isclose(figures["il_total"], figures["il"] * frame.height * len(ADULT_QUASI))


# -- worked figures --------------------------------------------------------------------------------------------------


def test_measures_of_the_patients_table():
    """Table III of Poovammal and Ponnavaikko is what Mondrian makes of the patients: IL 13.8718, IL/(n d) 0.66056."""
    release = shoal.anonymize(PATIENTS, PATIENT_SCHEMA, shoal.Mondrian(k=3))
    assert release.labels.tolist() == TABLES["III"]
    figures = release.measure()
    assert figures["il_total"] == pytest.approx(13.8718, abs=5e-5)
    assert figures["il"] == figures["ncp"] == pytest.approx(0.66056, abs=5e-6)
    assert figures["discernibility"] == 25
    assert figures["c_avg"] == pytest.approx(7 / 6)
    assert figures["prosecutor_max"] == pytest.approx(1 / 3)
    assert figures["prosecutor_mean"] == pytest.approx(2 / 7)
    assert (figures["classes"], figures["class_size_min"], figures["class_size_max"]) == (2, 3, 4)
    assert set(release.table["Age"]) == {"[29, 60]", "[21, 25]"}


def test_measures_of_the_best_partition():
    """Their Table IV, {2,3,5,7},{1,4,6}: IL 9.9744, IL/(n d) 0.47497; here through labels given by hand."""
    figures = release_of(PATIENTS, PATIENT_SCHEMA, TABLES["IV"], k=3).measure()
    assert figures["il_total"] == pytest.approx(9.9744, abs=5e-5)
    assert figures["ncp"] == pytest.approx(0.47497, abs=5e-6)


def test_suppressed_rows_are_charged():
    """Two of six rows suppressed: each costs 1 per cell, and the whole table in discernibility."""
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 9, 5]})
    release = release_of(frame, shoal.Schema(quasi={"a": shoal.Numeric()}), [0, 0, 1, 1, -1, -1], k=2)
    assert release.verify().k == 2
    assert release.manifest.rows.model_dump() == {"published": 4, "left_out": 2, "counterfeits": 0}
    figures = release.measure()
    assert figures["il_total"] == 2
    assert figures["ncp"] == pytest.approx(2 / 6)
    assert figures["discernibility"] == 2 * 2 + 2 * 2 + 2 * 6
