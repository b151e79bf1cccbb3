"""The audit log: only added to, each entry bound to the one before."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

import shoal
from shoal.vault.refusals import NotAllowedError
from shoal.vault.tables import audit
from support.postgres import server
from support.vaults import aliases, made, meaning, rule_for

TRIGGERS = ("audit_no_update", "audit_no_delete")


@pytest.fixture
def vault(tmp_path):
    found = made(tmp_path)
    found.grant()
    return found


def changed(vault, *statements):
    """Change the database as somebody with all rights would."""
    with vault.service.database.writing() as connection:
        for statement in (*(f"DROP TRIGGER {name}" for name in TRIGGERS), *statements):
            connection.execute(text(statement))


def test_every_answer_refusal_and_change_is_in_it(vault):
    ada = vault.person()
    vault.service.interpret(ada, "clinic", [rule_for(alias) for alias in aliases()])
    with pytest.raises(NotAllowedError):
        vault.service.interpret(ada, "nowhere", [rule_for(aliases()[0])])
    with vault.service.reading() as connection:
        rows = [dict(row) for row in connection.execute(select(audit).order_by(audit.c.seq)).mappings()]
    assert [row["action"] for row in rows] == [
        "init", "add-person", "add-release", "add-person", "grant", "interpret-rules", "interpret",
    ]  # fmt: skip
    answered = json.loads(rows[5]["detail"])
    assert answered["asked"] == len(aliases())
    assert answered["answered"] == 3
    assert answered["refused"] == {"budget": len(aliases()) - 3}
    assert answered["learnt"] == {"disease": 3}
    said = json.dumps(rows)
    assert not any(word in said for one in aliases() for word in (one, f'"{meaning(one)}"'))
    assert not any(token in said for token in vault.tokens.values())
    assert vault.service.verify_audit().whole


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET outcome = 'refused' WHERE seq = 3",
        "UPDATE audit SET time = time + 1 WHERE seq = 3",
        "UPDATE audit SET detail = '{}' WHERE seq = 5",
        "DELETE FROM audit WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 5",
        "UPDATE audit SET seq = 9 WHERE seq = 5",
        "UPDATE chain SET seq = 4",
        "UPDATE chain SET hash = 'a'",
    ],
)
def test_what_was_changed_behind_its_back_is_seen(vault, statement):
    assert vault.service.verify_audit().whole
    changed(vault, statement)
    assert not vault.service.verify_audit().whole


def test_a_log_that_was_written_anew_is_seen_by_who_kept_a_hash(vault):
    kept = vault.service.verify_audit().head
    changed(vault, "DELETE FROM audit WHERE seq = 5")
    with vault.service.database.writing() as connection:
        end = connection.execute(select(audit).order_by(audit.c.seq.desc())).mappings().first()
        connection.execute(text("UPDATE chain SET seq = 4, hash = :hash"), {"hash": end["hash"]})
    assert vault.service.verify_audit().whole
    found = vault.service.verify_audit(kept)
    assert (found.whole, found.lacks_kept, found.broken) == (False, True, ())


AGAIN = "INTO audit SELECT seq, time, 'x', action, subject, outcome, detail, previous, hash FROM audit"
AGAIN_LEARNT = 'INTO learnt SELECT person_id, release_id, "column", cell, 0 FROM learnt'
REFUSED = (
    "UPDATE audit SET actor = 'x'", "DELETE FROM audit", "DELETE FROM learnt", "UPDATE learnt SET time = 0",
    f"INSERT {AGAIN} WHERE true ON CONFLICT (seq) DO UPDATE SET actor = 'x'",
    f'INSERT {AGAIN_LEARNT} WHERE true ON CONFLICT (person_id, release_id, "column", cell) DO UPDATE SET time = 0',
)  # fmt: skip
ONLY_SQLITE = (
    f"INSERT OR REPLACE {AGAIN} WHERE seq = 3", f"REPLACE {AGAIN}", f"REPLACE {AGAIN_LEARNT}",
    f"INSERT OR IGNORE {AGAIN}", "UPDATE OR REPLACE audit SET seq = 3 WHERE seq = 2",
)  # fmt: skip
ONLY_POSTGRESQL = (
    "TRUNCATE audit", "TRUNCATE learnt",
    "MERGE INTO audit USING (SELECT 3 AS n) AS one ON seq = n WHEN MATCHED THEN UPDATE SET actor = 'x'",
    "MERGE INTO audit USING (SELECT 3 AS n) AS one ON seq = n WHEN MATCHED THEN DELETE",
)  # fmt: skip


@pytest.mark.parametrize("statement", [*REFUSED, *ONLY_SQLITE])
def test_the_database_itself_refuses_changes(vault, statement):
    vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
    with pytest.raises(DBAPIError, match="only be added to"), vault.service.database.engine.begin() as connection:
        connection.execute(text(statement))
    assert vault.service.verify_audit().whole


@pytest.mark.parametrize("table", ["audit", "learnt"])
def test_no_row_is_replaced_by_a_number_besides_its_key(vault, table):
    """SQLite numbers rows by itself, and REPLACE would take such a number for a key."""
    with pytest.raises(DBAPIError, match="no such column"), vault.service.database.engine.begin() as connection:
        connection.execute(text(f"SELECT rowid FROM {table}"))


def test_so_does_postgresql(tmp_path):
    with server() as url:
        vault = made(tmp_path, url)
        vault.grant()
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
        for statement in (*REFUSED, *ONLY_POSTGRESQL):
            with (
                pytest.raises(DBAPIError, match="only be added to"),
                vault.service.database.engine.begin() as connection,
            ):
                connection.execute(text(statement))
        assert vault.service.verify_audit().whole
        vault.service.database.close()


def test_a_database_that_was_set_back_is_refused(vault, tmp_path):
    """Else whoever puts an old copy in place gives everybody their budget back."""
    vault.service.database.close()
    old = {path: path.read_bytes() for path in tmp_path.glob("vault.db*")}
    vault.service.interpret(vault.person(), "clinic", [rule_for(alias) for alias in aliases()])
    vault.service.database.close()
    for path in tmp_path.glob("vault.db*"):
        path.unlink()
    for path, data in old.items():
        path.write_bytes(data)
    with pytest.raises(shoal.ShoalError, match="set back"):
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
