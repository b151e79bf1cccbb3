"""How people show who they are: what is kept of it, and what it costs to guess."""

from __future__ import annotations

from argon2 import Parameters, Type, extract_parameters

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
