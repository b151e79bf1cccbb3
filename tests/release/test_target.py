"""Releases in databases: a real PostgreSQL and SQLite, one transaction, over nothing unasked, read back and checked."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import GuaranteeError, ParameterError, SourceError
from shoal.published.stored import check_database
from shoal.release.manifest import FilePart
from support import postgres

PEOPLE, SCHEMA = shoal.sample.people(200, seed=3), shoal.sample.schema()


@pytest.fixture(scope="module")
def servers():
    with postgres.databases() as new:
        yield new


@pytest.fixture(params=["sqlite", "postgresql"])
def uri(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/releases.db"
    return request.getfixturevalue("servers")()


@cache
def release_of(method=None, **given):
    """Made once: no test changes it."""
    return shoal.anonymize(PEOPLE, SCHEMA, method or shoal.Mondrian(k=4), seed=1, **given)


MADE = {
    "text": {},
    "typed": {"publish": shoal.Generalize(shape="typed")},
    "classes": {"publish": shoal.Generalize(shape="classes")},
    "values": {"method": shoal.Mdav(k=4)},
    "buckets": {"method": shoal.Anatomy(l=3, column="disease")},
    "slices": {"method": shoal.Slicing(l=2, columns=3, sensitive_apart=True)},
}


@pytest.mark.parametrize("shape", MADE)
def test_every_shape_comes_back_as_it_was(uri, shape):
    release = release_of(**MADE[shape])
    release.write_database(uri, "people")
    back = shoal.read_release(shoal.Target(uri, "people"))
    assert back.manifest == release.manifest
    assert check_database(shoal.Target(uri, "people"))[0].achieved == release.manifest.achieved
    for name, frame in release.frames.items():
        assert back.frames[name].cast(pl.String).equals(frame.cast(pl.String)), name


def test_odd_cells_and_names_come_back(uri):
    frame = pl.DataFrame(
        {
            'a"ge': [1, 2, 3, 4],
            "when": pl.Series(["2020-01-01", "2021-02-03", None, "2020-01-01"]).str.to_date(),
            "it's": ["x,y", 'say "hi"', "ü\n", None],
            "score": [0.1, 1e-9, 2.5, None],
            "yes": [True, False, None, True],
        }
    )
    schema = shoal.Schema(quasi={'a"ge': shoal.Numeric()}, neutral=["when", "it's", "score", "yes"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    release.write_database(uri, "odd")
    back = shoal.read_release(shoal.Target(uri, "odd"))
    assert back.to_polars().cast(pl.String).equals(release.to_polars().cast(pl.String))


def test_an_earlier_release_is_replaced_only_if_told(uri):
    release_of().write_database(uri, "people")
    other = release_of(shoal.Mondrian(k=7), publish=shoal.Generalize(shape="classes"))
    with pytest.raises(SourceError, match="is there already"):
        other.write_database(uri, "people")
    assert check_database(shoal.Target(uri, "people"))[0].k == 4
    other.write_database(uri, "people", overwrite=True)
    assert check_database(shoal.Target(uri, "people"))[0].k == 7
    release_of().write_database(uri, "people_2")  # beside it
    assert check_database(shoal.Target(uri, "people"))[0].k == 7


def execute(uri: str, *statements: str) -> None:
    if uri.startswith("sqlite"):
        connection = sqlite3.connect(uri.removeprefix("sqlite:///"))
        for statement in statements:
            connection.execute(statement.replace('people."table"', "people__table").replace("people.", "people__"))
        connection.commit()
        connection.close()
        return
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(uri) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        connection.commit()


def test_what_is_no_release_is_never_replaced(uri):
    if not uri.startswith("sqlite"):
        execute(uri, "CREATE SCHEMA people")
    execute(uri, "CREATE TABLE people.notes (text TEXT)")
    with pytest.raises(SourceError, match="is no release, so it is not replaced"):
        release_of().write_database(uri, "people", overwrite=True)
    release_of().write_database(uri, "other")
    with pytest.raises(SourceError, match="there is no such release"):
        check_database(shoal.Target(uri, "people"))


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            'UPDATE people."table" SET disease = \'Flu\' WHERE disease = (SELECT min(disease) FROM people."table")',
            "was changed",
        ),
        ('DELETE FROM people."table" WHERE income = (SELECT min(income) FROM people."table")', "rows"),
        ("CREATE TABLE people.more (a TEXT)", "other tables than the manifest lists"),
        ("UPDATE people.manifest SET json = replace(json, '\"k\": 4', '\"k\": 3')", "."),
        ("UPDATE people.manifest SET json = 'x'", "manifest|JSON"),
    ],
    ids=["cell", "row", "table", "promise", "no-manifest"],
)
def test_what_was_changed_in_the_database_is_refused(uri, statement, text):
    release_of().write_database(uri, "people")
    execute(uri, statement)
    with pytest.raises(GuaranteeError, match=text):
        check_database(shoal.Target(uri, "people"))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"file": "a message.csv", "sha256": "another"}, "names files"),
        ({"parts": (FilePart(file="a message", rows=1, content_sha256="", sha256=""),)}, "names files"),
    ],
    ids=["file", "parts"],
)
def test_a_manifest_in_a_database_names_no_files(uri, entry, text):
    release_of().write_database(uri, "people")
    manifest = release_of().manifest
    tables = tuple(table.model_copy(update=entry) for table in manifest.tables)
    said = manifest.model_copy(update={"tables": tables}).to_json().replace("'", "''")
    execute(uri, f"UPDATE people.manifest SET json = '{said}'")
    with pytest.raises(GuaranteeError, match=text):
        check_database(shoal.Target(uri, "people"))


MOVE = 'ALTER TABLE people."table" RENAME TO held'


def test_a_view_in_place_of_a_table_is_refused(uri):
    """It could show other rows to the next who asks."""
    release_of().write_database(uri, "people")
    if uri.startswith("sqlite"):
        execute(uri, MOVE, 'CREATE VIEW people."table" AS SELECT * FROM held')
    else:
        execute(uri, MOVE, "ALTER TABLE people.held SET SCHEMA public")
        execute(uri, 'CREATE VIEW people."table" AS SELECT * FROM public.held')
    with pytest.raises(GuaranteeError, match="is not a table as a release has it"):
        check_database(shoal.Target(uri, "people"))


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        (["UPDATE people__table SET income = 'a secret' WHERE rowid = 1"], "cells of another type"),
        (["UPDATE people__table SET income = x'00ff' WHERE rowid = 1"], "cells of another type"),
        (["UPDATE people__table SET disease = CAST(x'ff' AS TEXT) WHERE rowid = 1"], "cells of another type"),
        (["UPDATE people__table SET rowid = 900 WHERE rowid = 200"], "rows with other numbers"),
        (
            [
                "CREATE TABLE held AS SELECT * FROM people__table ORDER BY income, age",
                "DELETE FROM people__table",
                "INSERT INTO people__table SELECT * FROM held",
            ],
            "content differs",
        ),
        (["ALTER TABLE people__table ADD COLUMN more TEXT DEFAULT 'a message'"], "not a table as a release"),
        (["ALTER TABLE people__table ADD COLUMN more TEXT AS ('a message') VIRTUAL"], "not a table as a release"),
    ],
    ids=["text", "bytes", "no-text", "numbers", "order", "column", "generated"],
)
def test_what_sqlite_holds_beside_the_cells_is_refused(tmp_path, statements, text):
    refused_once_changed(tmp_path, statements, text)


def refused_once_changed(tmp_path, statements, text) -> str:
    """Write a release, change the database, and see it refused without a word of what was added; where it is."""
    uri = f"sqlite:///{tmp_path}/releases.db"
    release_of().write_database(uri, "people")
    execute(uri, *statements)
    with pytest.raises(GuaranteeError, match=text) as caught:
        check_database(shoal.Target(uri, "people"))
    assert "secret" not in str(caught.value)
    return uri


@pytest.mark.parametrize("cell", ["x'31'", "31"], ids=["bytes", "number"])
def test_cells_that_only_read_like_texts_are_refused(tmp_path, cell):
    """One bit each: a text of digits, bytes that are shown so, or a number that came before the type of its column."""
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "ward": ["31", "31", "7b", "7b"]})
    path, schema = tmp_path / "wards.db", shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["ward"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    release.write_database(f"sqlite:///{path}", "people")
    for before, after in (('"ward" TEXT', '"ward" BLOB'), ('"ward" BLOB', '"ward" TEXT')):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if before.endswith("BLOB"):
                connection.execute(f"UPDATE people__table SET ward = {cell} WHERE ward = '31'")
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (before, after))
    with pytest.raises(GuaranteeError, match="cells of another type than their columns"):
        check_database(shoal.Target(f"sqlite:///{path}", "people"))


def test_names_in_sqlite_that_are_no_text_are_told_as_damage(tmp_path):
    uri = f"sqlite:///{tmp_path}/releases.db"
    release_of().write_database(uri, "people")
    renamed = "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'people__manifest'"
    execute(uri, "PRAGMA writable_schema = ON", renamed)
    with pytest.raises(SourceError, match="is not an SQLite database, or is damaged"):
        check_database(shoal.Target(uri, "people"))


def test_a_writer_of_sqlite_that_stopped_is_told(tmp_path):
    """Its journal undoes what it began, which takes the right to write."""
    path = tmp_path / "releases.db"
    release_of().write_database(f"sqlite:///{path}", "people")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE other (a TEXT)")
        connection.executemany("INSERT INTO other VALUES (?)", [("x" * 900,)] * 100)
        left = {one: one.read_bytes() for one in tmp_path.iterdir()}
        connection.execute("ROLLBACK")
    for one, content in left.items():
        one.write_bytes(content)
    with pytest.raises(SourceError, match="a program stopped while it was writing there; open it once with a program"):
        check_database(shoal.Target(f"sqlite:///{path}", "people"))


MORE = "has more than tables"


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        (["CREATE INDEX message ON people__table (age) WHERE age = 'a secret'"], MORE),
        (["CREATE INDEX message ON People__Table (age)"], MORE),
        (["CREATE TRIGGER message AFTER INSERT ON people__table BEGIN SELECT 'a secret'; END"], MORE),
        (
            [
                "CREATE TABLE other (a TEXT)",
                "CREATE TRIGGER people__note AFTER INSERT ON other BEGIN SELECT 'a secret'; END",
            ],
            MORE,
        ),
        (["ANALYZE people__table", "UPDATE sqlite_stat1 SET stat = 'a secret'"], MORE),
        (["CREATE TABLE People__extra (a TEXT)"], "other tables than the manifest lists"),
    ],
    ids=["index", "index-in-capitals", "trigger", "trigger-by-name", "statistics", "table-in-capitals"],
)
def test_what_belongs_to_tables_of_sqlite_is_refused(tmp_path, statements, text):
    uri = refused_once_changed(tmp_path, statements, text)
    with pytest.raises(GuaranteeError, match=text):
        shoal.read_release(shoal.Target(uri, "people"))
    assert CliRunner().invoke(app, ["verify", uri, "--release", "people"]).exit_code == 1


NO_TABLE = "'table': is not a table as a release has it: {}; undo that"
FUNCTION = "CREATE FUNCTION {}.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
HELD = 'people."table"'
ADDED = f"ALTER TABLE {HELD} ADD COLUMN more text DEFAULT 'a secret'"
OTHERWISE = "a column is stored in another way"
SOME_ROWS = "a publication shows some of its rows or columns"


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        ([f"COMMENT ON TABLE {HELD} IS 'a secret'"], NO_TABLE.format("it has comments")),
        ([f"COMMENT ON COLUMN {HELD}.age IS 'a secret'"], NO_TABLE.format("it has comments")),
        (["COMMENT ON SCHEMA people IS 'a secret'"], MORE),
        ([f"CREATE INDEX message ON {HELD} (age) WHERE age = 'a secret'"], NO_TABLE.format("it has indexes")),
        (
            [
                FUNCTION.format("public"),
                f"CREATE TRIGGER m BEFORE INSERT ON {HELD} FOR EACH ROW EXECUTE FUNCTION public.f('a secret')",
            ],
            NO_TABLE.format("it has triggers"),
        ),
        ([FUNCTION.format("people")], MORE),
        (["CREATE TYPE people.message AS ENUM ('a secret')"], MORE),
        (["CREATE DOMAIN people.message AS text CHECK (value <> 'a secret')"], MORE),
        (["CREATE TYPE people.message AS (secret text)"], MORE),
        ([f"CREATE STATISTICS public.message ON age, income FROM {HELD}"], NO_TABLE.format("it has statistics")),
        (
            [
                "CREATE COLLATION public.lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
                f"ALTER TABLE {HELD} ALTER COLUMN disease TYPE text COLLATE public.lax",
            ],
            NO_TABLE.format("a column has another collation"),
        ),
        ([f"ALTER TABLE {HELD} SET (fillfactor = 77)"], NO_TABLE.format("it has options")),
        ([f"ALTER TABLE {HELD} ALTER COLUMN age SET (n_distinct = 12345)"], NO_TABLE.format("a column has options")),
        (
            [ADDED, f"ALTER TABLE {HELD} DROP COLUMN more"],
            NO_TABLE.format("a column was dropped"),
        ),
        (
            [ADDED, f"ALTER TABLE {HELD} ALTER COLUMN more DROP DEFAULT"],
            NO_TABLE.format("a column was added with a default"),
        ),
        ([f"CREATE POLICY message ON {HELD} USING (age = 'a secret')"], NO_TABLE.format("it has policies")),
        ([f"CREATE PUBLICATION message FOR TABLE {HELD} WHERE (age = 'a secret')"], NO_TABLE.format(SOME_ROWS)),
        ([f"CREATE PUBLICATION message FOR TABLE {HELD} (age)"], NO_TABLE.format(SOME_ROWS)),
        ([f"ALTER TABLE {HELD} SET UNLOGGED"], NO_TABLE.format("it is not logged")),
        ([f"ALTER TABLE {HELD} FORCE ROW LEVEL SECURITY"], NO_TABLE.format("it has policies")),
        ([f"ALTER TABLE {HELD} REPLICA IDENTITY FULL"], NO_TABLE.format("it is replicated in another way")),
        ([f"ALTER TABLE {HELD} SET (toast.autovacuum_vacuum_threshold = 77)"], NO_TABLE.format("it has options")),
        ([f"ALTER TABLE {HELD} ALTER COLUMN age SET STORAGE EXTERNAL"], NO_TABLE.format(OTHERWISE)),
        ([f"ALTER TABLE {HELD} ALTER COLUMN age SET COMPRESSION pglz"], NO_TABLE.format(OTHERWISE)),
        (
            [f"ALTER TABLE {HELD} ALTER COLUMN age SET STATISTICS 7777"],
            NO_TABLE.format("a column has a statistics target"),
        ),
        ([f"COMMENT ON TYPE {HELD} IS 'a secret'"], NO_TABLE.format("the type of its rows has comments")),
        (["COMMENT ON TYPE people._table IS 'a secret'"], NO_TABLE.format("the type of its rows has comments")),
    ],
    ids=[
        "comment", "comment-of-column", "comment-of-schema", "index", "trigger", "function", "enum", "domain",
        "composite", "statistics", "collation", "option", "option-of-column", "dropped-column", "column-default",
        "policy", "publication-of-rows", "publication-of-columns", "unlogged", "forced-policy", "identity",
        "option-of-long-texts", "storage", "compression", "target", "comment-of-rows", "comment-of-arrays",
    ],
)  # fmt: skip
def test_what_postgresql_holds_beside_the_cells_is_refused(servers, statements, text):
    uri = servers()
    release_of().write_database(uri, "people")
    execute(uri, *statements)
    with pytest.raises(GuaranteeError, match=text) as caught:
        check_database(shoal.Target(uri, "people"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "cell"),
    [("day", "infinity"), ("day", "5874897-01-01"), ("at", "infinity"), ("at", "-infinity"), ("at", "294276-01-01")],
)
def test_days_that_only_postgresql_has_are_refused(servers, column, cell):
    uri = servers()
    day = pl.date(2020, 1, pl.col("age"))
    frame = pl.DataFrame({"age": [1, 2, 3, 4]}).with_columns(day.alias("day"), day.dt.combine(pl.time(7)).alias("at"))
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["day", "at"])
    shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1).write_database(uri, "people")
    execute(uri, f"UPDATE {HELD} SET {column} = '{cell}' WHERE {column} = (SELECT min({column}) FROM {HELD})")
    with pytest.raises(GuaranteeError, match="it has cells that no release has, such as an infinite day"):
        check_database(shoal.Target(uri, "people"))
    with pytest.raises(SourceError, match=f"column '{column}': has days that cannot be read.*{column}::text"):
        shoal.read(shoal.Source(uri=uri, table="people.table"))


def test_a_scheme_in_capitals_reaches_the_server(servers):
    uri = servers().replace("postgresql://", "PostgreSQL://")
    release_of().write_database(uri, "people")
    assert check_database(shoal.Target(uri, "people"))[0].k == 4


def test_rights_of_readers_are_no_part_of_a_release(servers):
    uri = servers()
    release_of().write_database(uri, "people")
    execute(
        uri,
        "GRANT USAGE ON SCHEMA people TO PUBLIC",
        f"GRANT SELECT ON {HELD} TO PUBLIC",
        f"CREATE PUBLICATION copies FOR TABLE {HELD}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA people GRANT SELECT ON TABLES TO PUBLIC",
    )
    assert check_database(shoal.Target(uri, "people"))[0].k == 4


@pytest.mark.parametrize("column", ["age_low", "age_missing"])
def test_numbers_and_truth_values_that_are_texts_are_refused(servers, column):
    """To whoever reads the table there, 9 is more than 10."""
    frame = PEOPLE.with_columns(pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("age").alias("age"))
    uri = servers()
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=4), publish=shoal.Generalize(shape="typed"), seed=1)
    release.write_database(uri, "people")
    assert check_database(shoal.Target(uri, "people"))[0].k == 4
    execute(uri, f"ALTER TABLE {HELD} ALTER COLUMN {column} TYPE text")
    with pytest.raises(GuaranteeError, match=f"column '{column}': has a data type that Shoal does not write"):
        check_database(shoal.Target(uri, "people"))


def test_who_only_reads_needs_no_right_to_write_and_makes_nothing(tmp_path):
    path = tmp_path / "releases.db"
    release_of().write_database(f"sqlite:///{path}", "people")
    with pytest.raises(SourceError):
        check_database(shoal.Target(f"sqlite:///{tmp_path}/other.db", "people"))
    assert [one.name for one in tmp_path.iterdir()] == ["releases.db"]
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")  # somebody is about to write, and did not yet
    assert check_database(shoal.Target(f"sqlite:///{path}", "people"))[0].k == 4
    writer.close()


def test_what_depends_on_an_earlier_release_is_not_removed_with_it(servers):
    uri = servers()
    release_of().write_database(uri, "people")
    execute(uri, 'CREATE VIEW public.mine AS SELECT * FROM people."table"')
    with pytest.raises(SourceError, match=r"something else in the database depends on the release.*remove that first"):
        release_of(shoal.Mondrian(k=7)).write_database(uri, "people", overwrite=True)
    assert check_database(shoal.Target(uri, "people"))[0].k == 4
    execute(uri, "SELECT * FROM public.mine")


def test_who_may_not_write_is_told_what_to_ask_for(servers):
    uri = servers()
    execute(uri, "DROP ROLE IF EXISTS visitor", "CREATE ROLE visitor LOGIN")
    visitor = uri.replace(postgres.USER, "visitor")
    with pytest.raises(SourceError, match=r"may not write this .SQLSTATE 42501.; ask for the right to: CREATE in the"):
        release_of().write_database(visitor, "people")
    release_of().write_database(uri, "people")
    with pytest.raises(
        SourceError, match=r"may not read this .SQLSTATE 42501.; ask for the right to: USAGE of the sche"
    ):
        check_database(shoal.Target(visitor, "people"))
    execute(uri, "ALTER ROLE visitor SET default_transaction_read_only = on")
    with pytest.raises(SourceError, match="the server or the user only reads"):
        release_of().write_database(visitor, "others")


def test_a_release_that_somebody_uses_is_not_waited_for_without_end(servers):
    import adbc_driver_postgresql.dbapi as adbc

    uri = servers()
    release_of().write_database(uri, "people")
    execute(uri, f"ALTER ROLE {postgres.USER} SET lock_timeout = '100ms'")
    try:
        with adbc.connect(uri) as connection, connection.cursor() as cursor:
            cursor.execute('SELECT count(*) FROM people."table"')
            cursor.fetchall()
            with pytest.raises(SourceError, match=r"somebody else is using this .SQLSTATE 55P03.; try again"):
                release_of(shoal.Mondrian(k=7)).write_database(uri, "people", overwrite=True)
    finally:
        execute(uri, f"ALTER ROLE {postgres.USER} RESET lock_timeout")
    assert check_database(shoal.Target(uri, "people"))[0].k == 4


def test_a_target_that_cannot_be_is_told_by_the_flags_of_the_command():
    found = CliRunner().invoke(app, ["verify", "mysql://ann:secretword@h/x", "--release", "People", "--key", "k"])
    said = str(found.exception)
    assert "RELEASE: is not the address of a database" in said
    assert "secretword" not in said
    assert "--release: needs a name of small letters" in said
    assert "--key: is for a release directory: releases with aliases" in said
    assert "Target(" not in said


def test_a_column_called_as_sqlite_calls_row_numbers(tmp_path):
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "rowid": [9, 8, 7, 6]})
    release = shoal.anonymize(
        frame, shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["rowid"]), shoal.Mondrian(k=2)
    )
    release.write_database(f"sqlite:///{tmp_path}/odd.db", "odd")
    assert check_database(shoal.Target(f"sqlite:///{tmp_path}/odd.db", "odd"))[0].k == 2


def test_what_fails_leaves_nothing(uri, monkeypatch):
    """A release that is not what it should be when it is read back is never committed."""
    release = release_of()
    from dataclasses import replace

    broken = replace(release, frames={"table": release.frames["table"].reverse().slice(1)})
    with pytest.raises(GuaranteeError):
        broken.write_database(uri, "people")
    with pytest.raises(SourceError, match=r"there is no such (release|file)"):
        check_database(shoal.Target(uri, "people"))
    if uri.startswith("sqlite"):
        path = Path(uri.removeprefix("sqlite:///"))
        assert not path.exists() or not sqlite3.connect(path).execute("SELECT * FROM sqlite_master").fetchall()


def test_a_database_that_is_not_there():
    with pytest.raises(SourceError, match="cannot connect"):
        release_of().write_database("postgresql://nobody:secret@127.0.0.1:1/x", "people")
    with pytest.raises(SourceError, match="cannot be written") as caught:
        release_of().write_database("sqlite:////nowhere/at/all.db", "people")
    assert "secret" not in str(caught.value)


def test_names_that_are_refused():
    with pytest.raises(ParameterError, match="small letters"):
        shoal.Target("sqlite:///x.db", 'x"; DROP TABLE y')
    for name in ("people__more", "people_"):  # tables of another release would begin so
        with pytest.raises(ParameterError, match="single _"):
            shoal.Target("sqlite:///x.db", name)
    with pytest.raises(SourceError, match="unknown kind of database"):
        shoal.Target("mysql://x", "people")


def test_a_recipe_with_a_target(uri, tmp_path):
    recipe = shoal.Recipe(
        SCHEMA, shoal.Mondrian(k=4), source=shoal.table.sources.Source(path=tmp_path / "people.csv"), seed=1,
        target=shoal.Target(uri, "people"),
    )  # fmt: skip
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "recipe.toml").write_text(recipe.to_toml(), encoding="utf-8")
    assert shoal.Recipe.load(tmp_path / "recipe.toml").target == recipe.target
    out = tmp_path / "out"
    run = ["run", str(tmp_path / "recipe.toml"), "--out", str(out), "-q"]
    first = CliRunner().invoke(app, run)
    assert first.exit_code == 0, first.output
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("out")) == [
        "out.receipt.json",
        "out.report.html",
    ]
    checked = CliRunner().invoke(app, ["verify", uri, "--release", "people", "--json"])
    assert json.loads(checked.output)["achieved"] == {"k": 4}
    again = CliRunner().invoke(app, run)
    assert isinstance(again.exception, SourceError)
    assert "is there already" in str(again.exception)
    assert CliRunner().invoke(app, [*run, "--overwrite"]).exit_code == 0
    again = CliRunner().invoke(app, ["verify", uri, "--release", "people", "--original", str(tmp_path / "recipe.toml")])
    assert again.exit_code == 0, again.output  # nothing of this promise needs the receipt
