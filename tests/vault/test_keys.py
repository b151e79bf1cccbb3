"""The master key: who can read it, what it opens, and how it is replaced while the vault is served."""

from __future__ import annotations

import os
import threading

import pytest

import shoal
from shoal.errors import ParameterError
from shoal.mining.rules import Condition, Rule
from shoal.vault.database import Database
from shoal.vault.keys import MasterKeys, WrongKeyError, decrypted, encrypted
from shoal.vault.making import _into_there
from shoal.vault.refusals import NotAllowedError, SealedError
from shoal.vault.service import Service
from support.vaults import aliases, made, release, rule_for


def test_a_file_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "key"
    MasterKeys.new().write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(shoal.SourceError, match="others may read"):
        MasterKeys.from_file(path)


@pytest.mark.parametrize("content", ["", "no key", "AAAA", "A" * 44 + "\nx"])
def test_what_is_no_key_is_refused_without_being_repeated(tmp_path, content):
    path = tmp_path / "key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(shoal.SourceError, match="holds no master key") as refused:
        MasterKeys.from_file(path)
    assert len(content) < 4 or content not in str(refused.value)


def test_what_is_encrypted_opens_only_whole_and_for_what_it_is_about():
    key = MasterKeys.new().keys[0]
    data = encrypted(key, b"secret", "clinic")
    assert decrypted(key, data, "clinic") == b"secret"
    for changed, about in ((data, "other"), (data[:-1], "clinic"), (bytes([data[0] ^ 1]) + data[1:], "clinic")):
        with pytest.raises(WrongKeyError):
            decrypted(key, changed, about)
    with pytest.raises(WrongKeyError):
        decrypted(MasterKeys.new().keys[0], data, "clinic")


def test_without_a_key_it_is_sealed_until_the_right_one_is_given(tmp_path):
    vault = made(tmp_path)
    vault.grant()
    rules, keys = [rule_for(aliases()[0])], MasterKeys.from_file(tmp_path / "vault.key")
    sealed = Service(Database(str(tmp_path / "vault.db")))
    assert sealed.is_sealed
    with pytest.raises(SealedError):
        sealed.interpret(vault.person(), "clinic", rules)
    with pytest.raises(NotAllowedError):
        sealed.unseal("sue", MasterKeys.new())
    assert sealed.is_sealed
    sealed.unseal("sue", keys)
    assert sealed.interpret(vault.person(), "clinic", rules).answers[0].meant is not None
    sealed.seal("sue")
    with pytest.raises(SealedError):
        sealed.interpret(vault.person(), "clinic", rules)


def test_a_wrong_key_opens_nothing(tmp_path):
    vault = made(tmp_path)
    vault.grant()
    wrong = Service(Database(str(tmp_path / "vault.db")), MasterKeys.new())
    with pytest.raises(SealedError):
        wrong.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])


def test_the_key_is_replaced_while_another_server_answers(tmp_path):
    vault = made(tmp_path)
    vault.grant(budget=3)
    key_file = tmp_path / "vault.key"
    before = key_file.read_bytes()
    stop, wrong = threading.Event(), []

    def asking():
        while not stop.is_set():
            other = Service(Database(str(tmp_path / "vault.db")), MasterKeys.from_file(key_file), key_file)
            try:
                found = other.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
                if found.answers[0].meant is None:
                    wrong.append("refused")
            except Exception as error:
                wrong.append(repr(error))
            other.database.close()

    long_lived = Service(Database(str(tmp_path / "vault.db")), MasterKeys.from_file(key_file), key_file)
    thread = threading.Thread(target=asking)
    thread.start()
    for _ in range(4):
        assert vault.service.rotate("sue", MasterKeys.new()) == 1
    stop.set()
    thread.join()
    assert not wrong
    assert key_file.read_bytes() != before
    assert len(MasterKeys.from_file(key_file).keys) == 1
    assert long_lived.interpret(vault.person(), "clinic", [rule_for(aliases()[0])]).answers[0].meant is not None
    old = Service(Database(str(tmp_path / "vault.db")), MasterKeys.from_text(before.decode(), "before"))
    with pytest.raises(SealedError):
        old.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])


def opened(folder):
    return Service(Database(str(folder / "vault.db")), MasterKeys.from_file(folder / "vault.key"), folder / "vault.key")


def test_two_who_rotate_at_once_lose_no_key(tmp_path):
    vault = made(tmp_path)
    vault.grant()
    one, two = opened(tmp_path), opened(tmp_path)
    one.rotate("sue", MasterKeys.new())
    two.rotate("sue", MasterKeys.new())
    assert len(MasterKeys.from_file(tmp_path / "vault.key").keys) == 1
    assert opened(tmp_path).interpret(vault.person(), "clinic", [rule_for(aliases()[0])]).answers[0].meant is not None


def test_a_release_that_is_added_after_a_rotation_is_wrapped_by_the_new_key(tmp_path):
    vault = made(tmp_path)
    late = opened(tmp_path)  # has read the key that is replaced now
    opened(tmp_path).rotate("sue", MasterKeys.new())
    other = release("random", seed=6)
    late.add_release("sue", "second", other, other.key, min_support=0.02, min_confidence=0.2)
    vault.grant(release="second")
    assert opened(tmp_path).interpret(vault.person(), "second", [rule_of(other)]).release == "second"
    assert opened(tmp_path).rotate("sue", MasterKeys.new()) == 2


def rule_of(other):
    alias = other.table["disease"][0]
    return Rule((), (Condition("disease", "=", alias),))


def test_killed_in_the_middle_of_a_rotation_it_opens_with_what_is_in_the_file(tmp_path, monkeypatch):
    vault = made(tmp_path)
    vault.grant()
    service = opened(tmp_path)
    monkeypatch.setattr(Service, "_drop_old_keys", lambda _self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        service.rotate("sue", MasterKeys.new())
    monkeypatch.undo()
    assert len(MasterKeys.from_file(tmp_path / "vault.key").keys) == 2
    assert opened(tmp_path).interpret(vault.person(), "clinic", [rule_for(aliases()[0])]).answers[0].meant is not None
    opened(tmp_path).rotate("sue", MasterKeys.new())
    assert len(MasterKeys.from_file(tmp_path / "vault.key").keys) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_command_of_root_does_not_lock_the_server_out(tmp_path):
    """The key and what was seen stay with the user whose key it is."""
    vault = made(tmp_path)
    os.chown(tmp_path / "vault.key", 12345, 12345)
    vault.service.rotate("sue", MasterKeys.new())
    for name in ("vault.key", "vault.key.seen"):
        assert ((tmp_path / name).stat().st_uid, (tmp_path / name).stat().st_mode & 0o777) == (12345, 0o600)


def test_what_was_seen_is_whole_however_many_note_it(tmp_path):
    vault = made(tmp_path)
    vault.grant()
    ada, rules = vault.person(), [rule_for(aliases()[0])]
    threads = [
        threading.Thread(target=lambda: [vault.service.interpret(ada, "clinic", rules) for _ in range(15)])
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    vault.grant()  # would be refused if it could not be read
    assert [path.name for path in tmp_path.glob("vault.key.seen*")] == ["vault.key.seen"]


def test_two_who_make_a_vault_at_once_keep_the_key_of_the_first(tmp_path):
    """Both found no key file; the second finds one when it writes, and neither replaces nor removes it."""
    key_file = tmp_path / "vault.key"
    key_file.write_bytes(b"the first")
    with pytest.raises(ParameterError, match="exists already"):
        _into_there(Database(str(tmp_path / "vault.db")), key_file, "steward", None)
    assert key_file.read_bytes() == b"the first"
