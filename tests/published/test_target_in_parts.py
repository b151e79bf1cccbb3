"""Releases in parts in databases: streamed into one table, read back in parts, whole or not at all."""

from __future__ import annotations

import json
import resource

import polars as pl
import pytest

import shoal
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import GuaranteeError, ParameterError, SourceError
from shoal.progress import SILENT
from shoal.published.stored import check_back as check_in
from shoal.published.stored import check_database, write_to_database
from shoal.release.databases import sqlite
from shoal.release.databases.opening import opened
from shoal.table.sources import Source
from support import postgres
from support.in_parts import BLOCKS, people

QUASI = {"age": shoal.Numeric(), "sex": shoal.Nominal()}
SCHEMA = shoal.Schema(quasi=QUASI, sensitive=["disease"], neutral=["insured", "income"], rest="drop")
TABLE = 'people."table"'


def recipe_for(path, **given) -> shoal.Recipe:
    publish = shoal.Generalize(shape="typed")
    return shoal.Recipe(SCHEMA, shoal.Mondrian(k=4), source=Source(path=path), publish=publish, seed=1, **given)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Missing cells, truth values, fractions: types that databases do not all have."""
    path = tmp_path_factory.mktemp("source") / "people.parquet"
    rows = pl.int_range(pl.len())
    people(1200).with_columns(
        pl.when(rows % 90 == 0).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(rows % 7 == 0).then(None).otherwise(rows % 3 == 0).alias("insured"),
        pl.when(rows == 5).then(0.0).otherwise(pl.col("income") / 3).alias("income"),
    ).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def release(source, tmp_path_factory):
    """A release in parts, read from its directory."""
    out = tmp_path_factory.mktemp("release") / "out"
    assert publish_in_blocks(recipe_for(source), out, BLOCKS, SILENT) is not None
    found = shoal.read_release(out)
    assert len(found.manifest.tables[0].parts) == 2
    return found


@pytest.fixture(scope="module")
def servers():
    with postgres.databases() as new:
        yield new


@pytest.fixture(params=["sqlite", "postgresql"])
def uri(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/releases.db"
    return request.getfixturevalue("servers")()


def names_in(uri: str) -> list[str]:
    with opened(shoal.Target(uri, "people")) as database:
        return database.tables()


def test_it_comes_back_as_it_was(uri, release, monkeypatch):
    monkeypatch.setattr(sqlite, "PIECE_ROWS", 500)  # parts begin and end within pieces
    release.write_database(uri, "people")
    back = shoal.read_release(shoal.Target(uri, "people"))
    assert back.manifest == release.manifest.without_files() != release.manifest
    assert back.manifest.fingerprint() == release.manifest.fingerprint()
    assert back.table.equals(release.table)
    verdict, manifest = check_database(shoal.Target(uri, "people"))
    assert verdict.achieved == release.verify().achieved == back.verify().achieved
    assert (verdict.n_rows, manifest) == (1200, back.manifest)
    with pytest.raises(SourceError, match="is there already"):
        release.write_database(uri, "people")
    release.write_database(uri, "people", overwrite=True)


def chosen(value: str) -> str:
    return f"(SELECT {value} FROM {TABLE} WHERE income IS NOT NULL)"


CHANGES = {
    "cell": (f"UPDATE {TABLE} SET disease = 'Flu' WHERE income = {chosen('min(income)')}", "was changed|rows"),
    "class": (f"UPDATE {TABLE} SET sex = 'F' WHERE income = {chosen('min(income)')}", "content differs|rows"),
    "fewer": (
        f"DELETE FROM {TABLE} WHERE income = {chosen('min(income)')}",
        "fewer rows than|with other numbers",
    ),
    "more": (f"INSERT INTO {TABLE} SELECT * FROM {TABLE} WHERE income > 0", "more rows than the manifest says"),
    "column": (f"ALTER TABLE {TABLE} ADD COLUMN more TEXT", "columns than the manifest|not a table as a release"),
    "promise": ("UPDATE people.manifest SET json = replace(json, '\"k\": 4', '\"k\": 3')", "."),
    "fingerprint": ("UPDATE people.manifest SET json = replace(json, '\"content_sha256\": \"', '&0')", "."),
}


def run_in(database, *statements: str) -> None:
    """Change something in the transaction of a database."""
    for statement in statements:
        if database.keeps_order:
            database.connection.execute(statement.replace(TABLE, "people__table").replace("people.", "people__"))
        else:
            database._run(statement)


def refused_after(uri: str, text: str, *statements: str) -> None:
    """What is changed so is refused, and the change is undone."""

    def change() -> None:
        with opened(shoal.Target(uri, "people")) as database:
            run_in(database, *statements)
            check_in(database)

    with pytest.raises(GuaranteeError, match=text):
        change()


def test_what_was_changed_is_refused(uri, release):
    release.write_database(uri, "people")
    for statement, text in CHANGES.values():
        refused_after(uri, text, statement)
    said = release.manifest.to_json().replace("'", "''")
    refused_after(uri, "names files", f"UPDATE people.manifest SET json = '{said}'")
    assert check_database(shoal.Target(uri, "people"))[0].k >= 4


NOT_PLAIN = {
    "a policy": [f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY"],
    "rows elsewhere": [f"CREATE TABLE child (secret TEXT) INHERITS ({TABLE})"],
    "a size of texts": [f"ALTER TABLE {TABLE} ALTER COLUMN disease TYPE VARCHAR(1234)"],
    "a default": [f"ALTER TABLE {TABLE} ALTER COLUMN disease SET DEFAULT 'a text'"],
    "a condition": [f"ALTER TABLE {TABLE} ADD CHECK (disease <> 'a text')"],
    "a rule": [f"CREATE RULE more AS ON INSERT TO {TABLE} DO ALSO NOTHING"],
}


def test_more_than_tables_of_a_release_is_refused(servers, release):
    """What shows others other rows, or holds more than rows do, in a schema whose tables are all as they were."""
    uri = servers()
    release.write_database(uri, "people")
    refused_after(uri, "has other tables", "CREATE MATERIALIZED VIEW people.more AS SELECT 'a text' AS name")
    refused_after(uri, "has other tables", "CREATE SEQUENCE people.a_text")
    for statements in NOT_PLAIN.values():
        refused_after(uri, "'table': is not a table as a release has it", *statements)
    assert check_database(shoal.Target(uri, "people"))[0].k >= 4


def test_a_zero_with_a_sign_is_refused(servers, release):
    """The file that the checker looks at has no signs of zeros; the table of the database would have kept them."""
    uri = servers()
    release.write_database(uri, "people")
    refused_after(uri, "column 'income': has numbers", f"UPDATE {TABLE} SET income = '-0' WHERE income = 0")


def test_truth_values_are_what_a_database_has_for_them(uri, release):
    release.write_database(uri, "people")
    if uri.startswith("sqlite"):
        text, statement = (
            "are not true or false",
            f"UPDATE {TABLE} SET age_missing = 'a secret' WHERE age_missing = 'true'",
        )
    else:
        text, statement = "has a data type", f"ALTER TABLE {TABLE} ALTER COLUMN age_missing TYPE text"
    refused_after(uri, f"column 'age_missing': .*{text}", statement)


def test_the_order_of_rows_matters_where_a_database_keeps_it(uri, release):
    release.write_database(uri, "people")
    other = (
        f"CREATE TABLE held AS SELECT * FROM {TABLE} ORDER BY income", f"DELETE FROM {TABLE}",
        f"INSERT INTO {TABLE} SELECT * FROM held",
    )  # fmt: skip
    if uri.startswith("sqlite"):
        refused_after(uri, "content differs", *other)
        return
    with opened(shoal.Target(uri, "people")) as database:
        run_in(database, *other)
        assert check_in(database)[0].k >= 4


def parts_of(release, between=lambda: None):
    """The rows of its parts; something happens between them."""
    for place, frame in enumerate(release._parts()):
        if place:
            between()
        yield frame


def test_a_connection_that_is_lost_leaves_nothing(servers, release):
    uri = servers()

    def lose() -> None:
        with opened(shoal.Target(uri, "any")) as other:
            run_in(other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    with pytest.raises(SourceError, match="people: the connection was lost"):
        write_to_database(shoal.Target(uri, "people"), release.manifest, parts_of(release, lose))
    assert names_in(uri) == []
    release.write_database(uri, "people")


def test_a_full_disk_leaves_what_was_there(tmp_path, release):
    """No file may grow any more, as on a full disk: the system refuses to write, and SQLite goes back."""
    path = tmp_path / "releases.db"
    uri, before = f"sqlite:///{path}", resource.getrlimit(resource.RLIMIT_FSIZE)
    release.write_database(uri, "other")
    size = path.stat().st_size

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    try:
        with pytest.raises(SourceError, match="cannot be written"):
            write_to_database(shoal.Target(uri, "people"), release.manifest, parts_of(release, fill))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names_in(uri) == []
    assert path.stat().st_size == size
    assert check_database(shoal.Target(uri, "other"))[0].k >= 4


def test_what_is_no_release_when_it_is_read_back_is_not_committed(uri, release):
    with pytest.raises(GuaranteeError, match="fewer rows than the manifest says"):
        write_to_database(shoal.Target(uri, "people"), release.manifest, list(release._parts())[:1])
    assert names_in(uri) == []


def test_a_recipe_in_blocks_with_a_target(uri, source, release, call, tmp_path):
    recipe = recipe_for(source, target=shoal.Target(uri, "people"))
    (tmp_path / "recipe.toml").write_text(recipe.to_toml(), encoding="utf-8")
    out = tmp_path / "made"
    run = ("run", str(tmp_path / "recipe.toml"), "--out", str(out), "--block-rows", "400", "--threads", "1")
    status, shown, told = call(*run, "--part-rows", "800", "--json")
    assert status == 0, told
    assert json.loads(shown)["manifest"] == release.manifest.without_files().model_dump(mode="json")
    made = sorted(path.name for path in tmp_path.iterdir() if "made" in path.name)
    assert made == ["made.receipt.json", "made.report.html"]  # no directory, nothing of the work
    status, shown, told = call("verify", uri, "--release", "people", "--json")
    assert json.loads(shown)["achieved"] == dict(release.manifest.achieved)
    held = ("verify", uri, "--release", "people", "--json", "--original", str(tmp_path / "recipe.toml"))
    status, shown, told = call(*held)
    assert (status, "what the input was is only in the receipt" in shown) == (2, True)
    status, shown, told = call(*held, "--receipt", f"{out}.receipt.json")
    assert (status, json.loads(shown)["input"]) == (0, True)
    status, shown, told = call(*run, "--part-rows", "800")
    assert (status, "exists already" in told) == (2, True)


def test_a_place_that_was_only_looked_at_is_left_as_it_was(source, call, tmp_path):
    """What cannot be written to a database is refused after its place was looked at: no empty file stays."""
    target = shoal.Target(f"sqlite:///{tmp_path}/new.db", "people")
    recipe = shoal.Recipe(SCHEMA, shoal.Anatomy(l=2), source=Source(path=source), target=target, seed=1)
    (tmp_path / "recipe.toml").write_text(recipe.to_toml(), encoding="utf-8")
    flags = ("--out", str(tmp_path / "made"), "--block-rows", "400", "--part-rows", "800", "--threads", "1")
    status, _, told = call("run", str(tmp_path / "recipe.toml"), *flags)
    assert (status, "several tables is not written to a database" in told) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.toml"]


def test_flags_of_parts(call, source, tmp_path):
    (tmp_path / "recipe.toml").write_text(recipe_for(source).to_toml(), encoding="utf-8")
    run = ("run", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "out"), "--part-rows")
    assert "--part-rows: is for a release that is made in blocks; add --block-rows" in call(*run, "9")[2]
    told = call(*run, "1", "--block-rows", "3")[2]
    assert "--part-rows: " in told
    assert "--block-rows: " in told


def test_a_cluster_does_not_write_to_a_target(source, tmp_path):
    from shoal.cli.run import follow

    recipe = recipe_for(source, target=shoal.Target(f"sqlite:///{tmp_path}/x.db", "people"), engine="spark")
    with pytest.raises(ParameterError, match=r"is written by one machine.*\.table\.write"):
        follow(recipe, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
