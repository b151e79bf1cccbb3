"""Faults: killed while it writes, a database away and back, a full disk, two servers on one database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.vault.database import Database
from shoal.vault.keys import MasterKeys
from shoal.vault.refusals import UnavailableError
from shoal.vault.service import Service
from support import postgres
from support.vaults import Made, aliases, made, release, rule_for, served

ASKING = """
import os, sys
from pathlib import Path
from shoal.vault import people
from shoal.vault.database import Database
from shoal.vault.keys import MasterKeys
from shoal.vault.service import Service
from shoal.mining.rules import Rule

def ask():
    key_file = Path({folder!r}) / "vault.key"
    service = Service(Database(str(key_file.with_name("vault.db"))), MasterKeys.from_file(key_file), key_file)
    with service.reading() as connection:
        ada = people.named(connection, "ada")
    rules, number = [Rule.from_text(text) for text in {rules!r}], 0
    while True:
        found = service.interpret(ada, "clinic", [rules[number % 8]])
        print("told" if found.answers[0].meant is not None else "refused", number % 8, flush=True)
        number += 1

for line in sys.stdin:  # a new process for each, which has everything loaded
    child = os.fork()
    if not child:
        ask()
    print("pid", child, flush=True)
    os.waitpid(child, 0)
    print("killed", flush=True)
"""


@pytest.fixture(scope="module")
def new_database():
    """A way to a new database of one PostgreSQL."""
    with postgres.databases() as new:
        yield new


def opened(folder: Path, url: str | None = None) -> Service:
    key_file = folder / "vault.key"
    return Service(Database(url or str(folder / "vault.db")), MasterKeys.from_file(key_file), key_file)


def killed_after(parent: subprocess.Popen, answers: int, seconds: float) -> set[str]:
    """Kill the child that asks, after some answers and somewhere in the next one; what it was told."""
    child, said = 0, []
    for line in iter(parent.stdout.readline, "killed\n"):
        what, number = line.split()
        if what == "pid":
            child = int(number)
        else:
            said.append((what, number))
        if child and len(said) >= answers:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
            answers = 10**9
    return {number for what, number in said if what == "told"}


def test_killed_while_it_writes(tmp_path):
    """What was told before is kept as known, the log is whole, and nothing more than the budget was ever told."""
    vault = made(tmp_path)
    vault.grant(budget=3)
    vault.service.database.close()
    code = ASKING.format(folder=str(tmp_path), rules=[str(rule_for(alias)) for alias in aliases()])
    told: set[str] = set()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as parent:
        for turn in range(3):
            parent.stdin.write("again\n")
            told |= killed_after(parent, 1 + 3 * turn, 0.003 * turn)
            service = opened(tmp_path)
            assert service.verify_audit().whole
            assert service.allowances(vault.person())[0]["learnt"] >= len(told)
            service.database.close()
        parent.stdin.close()
    assert 1 <= len(told) <= 3


def test_a_database_that_goes_away_and_comes_back(tmp_path, new_database, capfd):
    url = new_database()
    vault = made(tmp_path, url)
    vault.grant()
    rules = [rule_for(aliases()[0])]
    with served(vault.service) as site:
        body = {"release": "clinic", "rules": [str(rules[0])]}
        assert site.ask("POST", "/v1/interpret", vault.tokens["ada"], body).status == 200
        away = vault.service.database.engine.url.set(port=9)
        real, vault.service.database.engine = vault.service.database.engine, Database(str(away)).engine
        refused = site.ask("POST", "/v1/interpret", vault.tokens["ada"], body)
        assert refused.status == 503
        assert "127.0.0.1" not in refused.text
        assert [one["what"] for one in refused.json["problems"]] == ["is away, or not to be trusted"]
        logged = capfd.readouterr().err
        assert '"event": "unavailable"' in logged
        assert "database: cannot be used" in logged
        vault.service.database.engine = real
        assert site.ask("POST", "/v1/interpret", vault.tokens["ada"], body).status == 200
    assert vault.service.verify_audit().whole
    real.dispose()


def test_connections_that_break_are_opened_again(tmp_path, new_database):
    """The server ends all connections, as a restart does."""
    from sqlalchemy import text

    url = new_database()
    vault = made(tmp_path, url)
    vault.grant()
    other = Database(url)
    with other.engine.connect() as connection:
        connection.execute(text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"))
    found = vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
    assert found.answers[0].meant is not None
    assert vault.service.verify_audit().whole
    other.close()
    vault.service.database.close()


def test_a_full_disk_answers_nothing_and_breaks_nothing(tmp_path):
    vault = made(tmp_path)
    vault.grant(budget=3)
    from sqlalchemy import event

    def small(connection, _record):
        connection.execute("PRAGMA max_page_count = 1")  # SQLite then says that the disk is full

    event.listen(vault.service.database.engine, "connect", small)
    vault.service.database.close()
    refused = 0
    for number in range(2000):
        try:
            vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[number % 3])])
        except UnavailableError:
            refused += 1
            break
    assert refused, "the disk was never full"
    event.remove(vault.service.database.engine, "connect", small)
    vault.service.database.close()
    before = vault.entries()
    assert vault.service.verify_audit().whole
    vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
    assert vault.entries() == before + 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_servers_keep_one_budget_and_one_log(tmp_path, kind, request):
    _both_ask(tmp_path, None if kind == "sqlite" else request.getfixturevalue("new_database")())


def _both_ask(tmp_path, url):
    vault = made(tmp_path, url)
    vault.grant(budget=3)
    ada, other, told = vault.person(), opened(tmp_path, url), []

    def ask(service: Service, words: list[str]) -> None:
        for word in words:
            found = service.interpret(ada, "clinic", [rule_for(word)])
            told.extend([word] if found.answers[0].meant is not None else [])

    words = aliases()
    threads = [
        threading.Thread(target=ask, args=(service, words[begin:] + words[:begin]))
        for begin, service in enumerate([vault.service, other] * 3)
    ]
    before = vault.entries()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(told)) == 3
    assert vault.entries() == before + len(threads) * len(words)
    assert vault.service.verify_audit().whole
    other.database.close()
    vault.service.database.close()


def test_no_key_file_no_service(tmp_path):
    made(tmp_path).service.database.close()
    (tmp_path / "vault.key").unlink()
    with pytest.raises(shoal.SourceError, match="cannot be read"):
        opened(tmp_path)


def run(*arguments: str):
    """A command; errors of ours come back as they are."""
    return CliRunner().invoke(app, ["vault", *arguments], catch_exceptions=True)


def test_commands_from_publication_to_audit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    release().write(tmp_path / "clinic", passphrase="several unrelated words")
    (tmp_path / "words").write_text("several unrelated words\n")
    first = run("init", "--steward", "sue")
    (tmp_path / "other.key").write_bytes((tmp_path / "vault.key").read_bytes())
    (tmp_path / "other.key").chmod(0o600)
    told = [
        first,
        run("add-release", "clinic", "--passphrase-file", "words", "--min-confidence", "0.2"),
        run("add-researcher", "ada"),
        run("grant", "ada", "--release", "clinic", "--column", "disease", "--budget", "3"),
        run("list"),
        run("backup", "copy"),
        run("restore", "copy", "--database", "other.db", "--key-file", "other.key"),
        run("rotate-key"),
        run("revoke", "ada", "--release", "clinic"),
        run("status"),
        run("audit", "--verify"),
    ]
    assert [one.exit_code for one in told] == [0] * len(told), [one.exception for one in told]
    assert "shown this once: shoal_" in told[2].stdout
    assert "1 grant is suspended" in told[6].stdout
    assert "other.key serves this database from now on" in told[6].stdout
    assert "The audit log is whole" in run("audit", "--kept", told[-1].stdout.split()[-1].upper()).stdout
    mistyped = run("audit", "--kept", "0" * 64)
    assert "audit log: has no entry with the hash that you kept" in str(mistyped.exception)
    assert "broken" not in str(mistyped.exception)
    found = Made(opened(tmp_path), tmp_path)
    assert found.service.verify_audit().whole
    found.service.database.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("status",), "run: shoal vault init"),
        (("serve", "--host", "0.0.0.0", "--database", "vault.db"), "run: shoal vault init"),
        (("status", "--database", "mysql://x/y"), "must be SQLite or PostgreSQL"),
        (("status", "--database", "postgresql://ann:secretword@127.0.0.1:9/x"), "cannot be used"),
    ],
)
def test_commands_refuse_clearly_and_repeat_no_password(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    found = run(*arguments)
    assert isinstance(found.exception, shoal.SourceError)
    assert said in str(found.exception)
    assert "secretword" not in str(found.exception) + found.output
    assert not list(tmp_path.iterdir())


def test_an_address_of_postgresql_is_shown_as_it_was_given_without_its_password():
    place = Database("postgresql://ann:secretword@127.0.0.1:9/x").shown
    assert place == "postgresql://ann@127.0.0.1:9/x"


def told_by(*arguments: str) -> str:
    """What a command says that fails; its process takes along the connections that the driver left open."""
    command = [sys.executable, "-m", "shoal", "vault", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    return ended.stderr


def execute(uri: str, *statements: str) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def test_who_may_not_use_a_database_is_told_so(tmp_path):
    with postgres.databases() as new:
        said = told_by("status", "--database", f"{new()}_gone")
        assert "database: is not there (SQLSTATE 3D000); check the name" in said
        uri = new()
        execute(uri, "CREATE ROLE visitor LOGIN", "REVOKE CREATE ON SCHEMA public FROM public")
        said = told_by("init", "--database", uri.replace(postgres.USER, "visitor"), "--key-file", str(tmp_path / "key"))
        assert "gives the user no right to this (SQLSTATE 42501)" in said
    assert not list(tmp_path.iterdir())


def test_a_new_vault_says_what_comes_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("SHOAL_VAULT_DATABASE", "SHOAL_VAULT_KEY_FILE", "SHOAL_VAULT_KEY"):
        monkeypatch.delenv(name, raising=False)
    said = run("init").stdout
    assert f"Vault in {tmp_path}/vault.db." in said
    assert said.endswith("shoal vault add-release RELEASE\n")
    said = run("init", "--database", "my own.db", "--key-file", "own.key").stdout
    assert said.endswith("shoal vault add-release RELEASE --database 'my own.db' --key-file own.key\n")


def test_a_grant_to_nobody_of_nothing_names_both(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("init").exit_code == 0
    for command in (("grant", "bob", "--column", "disease", "--budget", "1"), ("revoke", "bob")):
        said = str(run(*command, "--release", "nothing").exception)
        assert "name: nobody has this name" in said
        assert "release: the vault has no release of that name" in said


def test_shares_in_percent_are_told_as_shares():
    found = run("add-release", "nowhere", "--min-support", "5%", "--min-confidence", "50")
    assert "--min-support: needs a number in (0, 1], got '5%'; for 5 % write 0.05" in str(found.exception)
    assert "--min-confidence: needs a number in (0, 1], got 50; for 50 % write 0.5" in str(found.exception)


def test_a_vault_that_was_half_made_is_made_on_the_next_try(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("short")
    refused = run("init", "--password-file", "short")
    assert "password" in str(refused.exception)
    assert not (tmp_path / "vault.key").exists()
    Database(str(tmp_path / "vault.db")).migrate()  # tables, and nothing in them: killed right after
    assert run("init").exit_code == 0
    assert run("status").exit_code == 0
    assert (tmp_path / "vault.db").stat().st_mode & 0o777 == 0o600
    upgraded = run("init", "--upgrade", "--database", "nothing.db")
    assert "nothing.db: there is no vault; leave --upgrade out to make one" in str(upgraded.exception)
    assert not (tmp_path / "nothing.db").exists()


def test_a_release_that_hides_nothing_has_no_key_to_look_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("init").exit_code == 0
    schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    shoal.anonymize(pl.DataFrame({"age": [1, 2]}), schema, shoal.Mondrian(k=2)).write("plain")
    found = run("add-release", "plain")
    assert isinstance(found.exception, shoal.ParameterError)
    assert str(found.exception) == (
        "plain: hides no column, so there is nothing to interpret; give a release with aliases or grades"
    )


@pytest.mark.parametrize("command", ["status", "init"])
def test_what_is_no_file_is_no_place_for_a_vault(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for place, said in (("folder", "folder: is a folder; name a file in it"), ("pipe", "pipe: is no file; name ")):
        for given in (place, f"sqlite:///{tmp_path / place}"):
            found = run(command, "--database", given)
            assert isinstance(found.exception, shoal.SourceError)
            assert said in str(found.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]
