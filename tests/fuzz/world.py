"""Valid files of every sort, small, with canaries in identifying and sensitive cells, to be damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from fuzz.calling import call

NAME, SECRET, PASSWORD = "Qzname", "Qzsecret", "Qzpassword"
"""What no message may hold: of an identifying cell, of a sensitive one, of the address of a database."""
PASSPHRASE = "four unrelated plain words"
COLUMNS = """
[columns.name]
role = "identifying"

[columns.age]
role = "quasi"
kind = "numeric"

[columns.town]
role = "quasi"
kind = "nominal"
hierarchy = "town.csv"

[columns.disease]
role = "sensitive"
kind = "nominal"
hierarchy = "disease.csv"

[columns.visits]
role = "neutral"
"""
METHOD = """
[method]
name = "mondrian"
k = 3

[[require]]
model = "l-diversity"
column = "disease"
l = 2
"""
SERIES = """
[method]
name = "m-invariance"
m = 2
id = "name"
column = "disease"
"""
TOWNS = ("Ada", "Bo", "Cork", "Delft")
DISEASES = ("flu", f"{SECRET}-one", f"{SECRET}-two", "ulcer")
SOURCES = ("people.csv", "people.parquet", "people.xlsx", "people.db")


def people(n_rows: int = 24) -> pl.DataFrame:
    """Invented people."""
    rows = range(n_rows)
    return pl.DataFrame(
        {
            "name": [f"{NAME}{row:02}" for row in rows], "age": [20 + 7 * row % 40 for row in rows],
            "town": [TOWNS[row % 4] for row in rows], "disease": [DISEASES[(row * 3 + row // 5) % 4] for row in rows],
            "visits": [row % 3 + 0.5 for row in rows],
        }
    )  # fmt: skip


def recipe(source: str = "people.csv", rest: str = METHOD) -> str:
    """A recipe for the people of one file."""
    where = f'uri = "postgresql://app:{PASSWORD}@127.0.0.1:9/x"' if source == "address" else f'path = "{source}"'
    return f'seed = 7\n\n[source]\n{where}\nmissing_values = ["?"]\n{COLUMNS}{rest}'


def write_database(path: Path, frame: pl.DataFrame) -> None:
    """A database with one table, its cells of whatever type each has."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE people ({names})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * frame.width)})", frame.rows())
        connection.commit()


def build(folder: Path) -> None:
    """Every file there is, made by the commands that make it."""
    from shoal.release import sealed

    sealed.COST = (4, 8, 1)  # some tenths of a second otherwise, for every file that is opened
    os.environ["SHOAL_PASSPHRASE"] = PASSPHRASE
    folder.mkdir()
    frame = people()
    frame.write_csv(folder / "people.csv")
    frame.write_parquet(folder / "people.parquet")
    frame.write_excel(folder / "people.xlsx")
    write_database(folder / "people.db", frame)
    (folder / "town.csv").write_text("".join(f"{town};{'north' if town < 'C' else 'south'};*\n" for town in TOWNS))
    (folder / "disease.csv").write_text("".join(f"{one};{one[:2]}-group;*\n" for one in DISEASES))
    for source in (*SOURCES, "address"):
        (folder / f"{source}.toml").write_text(recipe(source))
    hidden = (
        METHOD
        + '\n[[publish]]\nname = "generalize"\n\n[[publish]]\nname = "aliases"\ncolumn = "disease"\ndefault = 3\n'
    )
    (folder / "hidden.toml").write_text(recipe(rest=hidden))
    (folder / "series.toml").write_text(recipe(rest=SERIES).replace('role = "neutral"', 'role = "identifying"'))
    before = Path.cwd()
    os.chdir(folder)
    try:
        for line in (
            "run people.csv.toml --out plain --quiet", "run people.csv.toml --out packed --format parquet --quiet",
            "run people.csv.toml --out buckets --method anatomy --l 2 --quiet --no-report",
            "run hidden.toml --out hidden --quiet", "republish series.toml --state s.state --out first --quiet",
            "run people.csv.toml --out averages --method mdav --publish aggregate --quiet --no-report",
        ):  # fmt: skip
            done = call(line.split())
            assert done.status == 0, (line, done)
    finally:
        os.chdir(before)
    for left in folder.glob("*.html"):
        left.unlink()
    shutil.copy(folder / "s.state", folder / "first.state")
