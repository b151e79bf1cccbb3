"""Backups: from one database into another of either kind, with all grants suspended."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import event, select

import shoal
from shoal.vault.backup import back_up, restore
from shoal.vault.database import Database
from shoal.vault.keys import MasterKeys
from shoal.vault.refusals import NotAllowedError
from shoal.vault.service import Service
from shoal.vault.tables import audit, learnt, people
from support import postgres
from support.vaults import Made, aliases, made, rule_for, stands_in


@pytest.fixture(scope="module")
def new_database():
    """A way to a new database of one PostgreSQL."""
    with postgres.databases() as new:
        yield new


def used(tmp_path, url=None):
    vault = made(tmp_path, url)
    vault.grant(budget=3)
    vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
    return vault


def check_restored(vault, target, folder):
    """Nobody learns more than before until it is granted again, and what was learnt counts."""
    key_file = folder / f"{target.url.get_backend_name()}.key"
    key_file.write_bytes((folder / "vault.key").read_bytes())
    key_file.chmod(0o600)
    (folder / f"{key_file.name}.seen").unlink(missing_ok=True)
    assert restore(target, folder / "backup", "sue", key_file) == 1
    service = Service(target, MasterKeys.from_file(key_file), key_file)
    again = Made(service, folder, vault.tokens)
    assert service.status()["suspended_grants"] == 1
    assert service.verify_audit().whole
    with pytest.raises(NotAllowedError):
        service.interpret(again.person(), "clinic", [rule_for(aliases()[0])])
    again.grant(budget=3)
    found = service.interpret(again.person(), "clinic", [rule_for(alias) for alias in aliases()[:4]])
    assert [one.refused for one in found.answers] == [None, None, None, "budget"]
    assert service.verify_audit().whole
    target.close()


def test_into_another_file(tmp_path):
    vault = used(tmp_path)
    assert back_up(vault.service.database, tmp_path / "backup") > 5
    vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])  # seen by this server, and not in it
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600
    check_restored(vault, Database(str(tmp_path / "other.db")), tmp_path)


def test_from_sqlite_to_postgresql_and_back(tmp_path, new_database):
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    url = new_database()
    check_restored(vault, Database(url), tmp_path)
    filled = Database(url)
    back_up(filled, tmp_path / "second")
    filled.close()
    (tmp_path / "backup").unlink()
    (tmp_path / "second").replace(tmp_path / "backup")
    check_restored(vault, Database(str(tmp_path / "third.db")), tmp_path)


def test_a_backup_of_a_vault_in_use_is_one_moment(tmp_path, new_database):
    """On PostgreSQL, where somebody learns something between any two tables that are read."""
    url = new_database()
    vault, words = made(tmp_path, url), aliases()
    names = [vault.add()[0] for _ in range(6)]
    for name in names:
        vault.grant(name, budget=3)
    asked = iter([(vault.person(name), rule_for(word)) for word in words[:3] for name in names])
    busy = Database(url)

    def meanwhile(*_given) -> None:
        person, rule = next(asked)
        assert vault.service.interpret(person, "clinic", [rule]).answers[0].meant is not None

    event.listen(busy.engine, "after_cursor_execute", meanwhile)
    back_up(busy, tmp_path / "backup")
    event.remove(busy.engine, "after_cursor_execute", meanwhile)
    assert len(list(asked)) < 12, "nobody asked meanwhile"
    for database in (busy, vault.service.database):
        database.close()
    target = Database(str(tmp_path / "new.db"))
    (tmp_path / "vault.key.seen").unlink()
    restore(target, tmp_path / "backup", "sue", tmp_path / "vault.key")
    service = Service(target, MasterKeys.from_file(tmp_path / "vault.key"), tmp_path / "vault.key")
    assert service.verify_audit().whole
    with service.reading() as connection:
        kept = Counter(connection.execute(select(people.c.name).join(learnt)).scalars())
        told = Counter()
        for row in connection.execute(select(audit.c.actor, audit.c.detail).where(audit.c.action == "interpret-rules")):
            told[row.actor] += json.loads(row.detail)["learnt"].get("disease", 0)
    assert kept == told
    assert told
    target.close()


def test_no_secret_is_in_it(tmp_path):
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    data = gzip.decompress((tmp_path / "backup").read_bytes())
    for secret in (*aliases(), "gout", "Ada", *vault.tokens.values(), (tmp_path / "vault.key").read_text().strip()):
        assert not stands_in(data, secret)


def test_a_damaged_backup_and_a_database_that_is_in_use_are_refused(tmp_path):
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    with pytest.raises(shoal.ParameterError, match="is a vault already"):
        restore(vault.service.database, tmp_path / "backup", "sue")
    data = gzip.decompress((tmp_path / "backup").read_bytes())
    for wrong in (data[:-70], data.replace(b'"ada"', b'"eva"'), b"{}"):
        (tmp_path / "wrong").write_bytes(gzip.compress(wrong))
        with pytest.raises(shoal.SourceError, match="no backup of a vault, or is damaged"):
            restore(Database(str(tmp_path / "new.db")), tmp_path / "wrong", "sue")
    (tmp_path / "wrong").write_bytes(b"no gzip")
    with pytest.raises(shoal.SourceError, match="cannot be read"):
        restore(Database(str(tmp_path / "new.db")), tmp_path / "wrong", "sue")


def test_a_backup_with_a_bit_that_fell_over_is_refused(tmp_path):
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    kept = (tmp_path / "backup").read_bytes()
    for place in range(12, len(kept), 97):
        (tmp_path / "wrong").write_bytes(kept[:place] + bytes([kept[place] ^ 16]) + kept[place + 1 :])
        with pytest.raises(shoal.SourceError, match=r"cannot be read|is damaged"):
            restore(Database(str(tmp_path / "new.db")), tmp_path / "wrong", "sue")


def rewritten(folder: Path, change: Callable[[dict[str, list[dict]]], object]) -> None:
    """The backup with other rows, by table, and the hash that goes with them."""
    head, *lines = gzip.decompress((folder / "backup").read_bytes()).split(b"\n")[:-2]
    rows = defaultdict(list)
    for name, values in map(json.loads, lines):
        rows[name].append(values)
    change(rows)
    text = b"\n".join([head, *(json.dumps([name, one]).encode() for name in rows for one in rows[name])])
    (folder / "wrong").write_bytes(gzip.compress(text + b"\n" + hashlib.sha256(text).hexdigest().encode() + b"\n"))


CHANGES = {
    "a table that is none": lambda rows: rows["others"].append({"id": 1}),
    "a column that is none": lambda rows: rows["people"][0].update(other=1),
    "a column less": lambda rows: rows["chain"][0].pop("master_key"),
    "a text for bytes": lambda rows: rows["releases"][0].update(content="several"),
    "bytes that are none": lambda rows: rows["releases"][0].update(content={"bytes": "a"}),
    "a list for a text": lambda rows: rows["people"][0].update(name=["ada"]),
    "a number that is too large": lambda rows: rows["people"][0].update(created=2**63),
    "half a letter": lambda rows: rows["people"][0].update(name="\ud800"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_no_vault_has_are_refused_before_anything_is_restored(change, tmp_path):
    """The hash at the end is against accidents: anybody can work it out."""
    vault, target = used(tmp_path), Database(str(tmp_path / "new.db"))
    back_up(vault.service.database, tmp_path / "backup")
    rewritten(tmp_path, CHANGES[change])
    with pytest.raises(shoal.SourceError, match="is no backup of a vault"):
        restore(target, tmp_path / "wrong", "sue")
    assert target.revision()[0] is None


def test_a_log_that_lacks_an_entry_is_told_when_it_is_restored(tmp_path):
    vault, target = used(tmp_path), Database(str(tmp_path / "new.db"))
    back_up(vault.service.database, tmp_path / "backup")
    rewritten(tmp_path, lambda rows: rows["audit"].pop(2))
    with pytest.warns(shoal.ShoalWarning, match="the audit log of the backup is broken"):
        assert restore(target, tmp_path / "wrong", "sue") == 1
    assert not Service(target, MasterKeys.from_file(tmp_path / "vault.key")).verify_audit().whole


def test_no_file_is_overwritten(tmp_path):
    vault = used(tmp_path)
    before = (tmp_path / "vault.key").read_bytes()
    for place in ("vault.key", "vault.db", "vault.key.seen"):
        with pytest.raises(shoal.ParameterError, match="exists already"):
            back_up(vault.service.database, tmp_path / place)
    assert (tmp_path / "vault.key").read_bytes() == before


def test_a_key_that_does_not_open_a_backup_is_refused_before_anything_is_restored(tmp_path):
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    vault.service.rotate("sue", MasterKeys.new())
    target = Database(str(tmp_path / "new.db"))
    with pytest.raises(shoal.ParameterError, match="does not open this backup"):
        restore(target, tmp_path / "backup", "sue", tmp_path / "vault.key")
    assert not target.has_vault()
    assert restore(target, tmp_path / "backup", "sue") == 1


def test_a_backup_that_is_refused_leaves_no_database(tmp_path):
    """To open one that did not exist made its file, before the backup and the key were looked at."""
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    MasterKeys.new().write(tmp_path / "other.key")
    (tmp_path / "wrong").write_bytes(b"no gzip")
    before = sorted(tmp_path.iterdir())
    for backup, key_file in (("nothing", None), ("wrong", None), ("vault.db", None), ("backup", "other.key")):
        key = None if key_file is None else tmp_path / key_file
        with pytest.raises(shoal.ShoalError):
            restore(Database(str(tmp_path / "new.db")), tmp_path / backup, "sue", key)
    assert sorted(tmp_path.iterdir()) == before


def test_a_database_from_before_a_restore_is_refused(tmp_path):
    """Else whoever puts it back gives everybody their budget back."""
    vault = used(tmp_path)
    back_up(vault.service.database, tmp_path / "backup")
    other = Database(str(tmp_path / "new.db"))
    restore(other, tmp_path / "backup", "sue", tmp_path / "vault.key")
    with pytest.raises(shoal.ShoalError, match="is not the one that was served"):
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[1])])
    (tmp_path / "vault.key.seen").write_text("{")
    with pytest.raises(shoal.ShoalError, match="is not the one that was served"):
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[1])])
