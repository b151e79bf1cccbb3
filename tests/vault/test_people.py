"""How people show who they are: what is kept of it, and what it costs to guess."""

from __future__ import annotations

import errno

from argon2 import Parameters, Type, extract_parameters
from sqlalchemy.engine import Transaction

from shoal.vault import people
from support.vaults import REAL_HASHER, made


def test_a_password_costs_what_rfc_9106_says():
    found = extract_parameters(REAL_HASHER().hash("correct horse battery"))
    assert found == Parameters(
        type=Type.ID, version=19, salt_len=16, hash_len=32, time_cost=3, memory_cost=65536, parallelism=4
    )


def test_neither_tokens_nor_passwords_are_kept(tmp_path):
    vault = made(tmp_path)
    _, token = vault.add("pia", password="correct horse battery")
    with vault.service.reading() as connection:
        row = next(iter(connection.execute(people.people.select().where(people.people.c.name == "pia"))))
    assert row.password_hash.startswith("$argon2id$")
    kept = str(tuple(row))
    assert token not in kept
    assert "correct horse" not in kept
    vault.service.database.close()


def test_a_name_that_nobody_has_takes_as_long_as_one_that_somebody_has(tmp_path, monkeypatch):
    """As many passwords are tried: each costs the same."""
    vault = made(tmp_path)
    vault.add("pia", password="correct horse battery")
    hasher, tried = people._hasher(), []

    class Counting:
        def verify(self, kept: str, given: str) -> bool:
            tried.append(extract_parameters(kept))
            return hasher.verify(kept, given)

        hash = staticmethod(hasher.hash)

    monkeypatch.setattr(people, "_hasher", Counting)
    with vault.service.reading() as connection:
        for name in ("pia", "ada", "nobody"):
            assert people.by_password(connection, name, "wrong password") is None
        assert people.by_password(connection, "pia", "correct horse battery") is not None
    assert len(tried) == 4
    assert tried == tried[:1] * 4
    vault.service.database.close()


def test_a_new_token_changes_nothing_else_and_no_flag_is_passed_over(tmp_path, call):
    vault = made(tmp_path)
    (tmp_path / "password").write_text("several unrelated words")
    renew = ("vault", "add-researcher", "ada", "--renew", "--database", str(tmp_path / "vault.db"))
    for more in (("--steward",), ("--password-file", str(tmp_path / "password"))):
        status, out, err = call(*renew, *more)
        assert (status, out) == (2, "")
        assert f"--renew: gives a new token and nothing else, so {more[0]} does not go with it" in err
    assert call(*renew)[0] == 0
    vault.service.database.close()


def test_a_grant_to_revoke_without_its_release_lets_nobody_out(tmp_path, call):
    vault = made(tmp_path)
    vault.grant()
    for flag, given in (("--column", "disease"), ("--operation", "rules")):
        status, out, err = call("vault", "revoke", "ada", flag, given, "--database", str(tmp_path / "vault.db"))
        assert (status, out) == (2, "")
        assert f"{flag}: says which grant to take back, and needs --release" in err
    assert vault.service.status()["people"] == 2
    assert vault.service.status()["grants"] == 1
    vault.service.database.close()


def test_what_is_not_kept_is_not_said_to_be_done(tmp_path, call, monkeypatch):
    vault = made(tmp_path)
    vault.grant()
    vault.service.database.close()

    def full(_self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Transaction, "commit", full)
    for which in ((), ("--release", "clinic")):
        _, out, _ = call("vault", "revoke", "ada", *which, "--database", str(tmp_path / "vault.db"))
        assert out == ""
