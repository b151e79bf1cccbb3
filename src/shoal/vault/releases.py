"""Releases that a vault keeps: their rows and keys, each encrypted by a data key that the master key wraps."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, insert, select, update

from shoal.errors import ParameterError, Problem, Problems
from shoal.privacy.k_anonymity import KAnonymity
from shoal.published.release import Release
from shoal.release.key import Key
from shoal.release.manifest import Manifest
from shoal.spec import Share
from shoal.vault.audit import Ledger
from shoal.vault.content import Content
from shoal.vault.interpretation import Held
from shoal.vault.keys import MasterKeys, WrongKeyError, decrypted, encrypted
from shoal.vault.names import check_name, is_like
from shoal.vault.refusals import sealed
from shoal.vault.tables import chain, columns, releases

FEWEST = 5
"""Rows that a rule must have on its side at least, where the release promises no k."""
SHOWN = ("id", "name", "rows", "min_support", "min_confidence", "fingerprint", "created")


def check_request(name: str, min_support: float, min_confidence: float) -> None:
    """Refuse a name or a threshold that cannot be."""
    problems = Problems()
    check_name(name, "name", problems)
    for given, where in ((min_support, "min_support"), (min_confidence, "min_confidence")):
        if said := Share(open_low=True).complaint(given):
            problems.add(where, said, error=ParameterError)
    problems.raise_if_any(ParameterError)


class NewRelease:
    """A release that is to be kept: read before anybody has to wait for it."""

    def __init__(self, name: str, release: Release, key: Key, min_support: float, min_confidence: float) -> None:
        check_request(name, min_support, min_confidence)
        self.name, self.content = name, Content.of(release, key)
        self.fingerprint, self.n_rows = release.manifest.fingerprint(), self.content.frame.height
        k = _promised_k(release.manifest)
        self.min_support = max(-int(-min_support * self.n_rows // 1), k, FEWEST)
        self.min_confidence = min_confidence

    def add(self, ledger: Ledger, actor: str, keys: MasterKeys) -> None:
        """Keep it."""
        self._check_new(ledger.connection)
        self._check_own_words(ledger.connection, keys)
        data_key, about = secrets.token_bytes(32), _about(self.name)
        told = {
            "rows": self.n_rows, "min_support": self.min_support, "min_confidence": self.min_confidence,
            "fingerprint": self.fingerprint,
        }  # fmt: skip
        added = ledger.connection.execute(
            insert(releases).values(
                name=self.name, created=ledger.time, master_key=keys.name, data_key=keys.wrapped(data_key, about),
                content=encrypted(data_key, self.content.to_bytes(), about), **told,
            )
        )  # fmt: skip
        (number,) = added.inserted_primary_key or (None,)
        for one in self.content.columns.values():
            hidden = {"name": one.name, "form": one.form, "cells": len(one.key.values), "most": one.most}
            ledger.connection.execute(insert(columns).values(release_id=number, **hidden))
        ledger.add(actor, "add-release", self.name, "done", **told)

    def _check_new(self, connection: Connection) -> None:
        """Refuse a release that is there already, and a name that is taken or looks like another."""
        others = connection.execute(select(releases.c.name, releases.c.fingerprint)).all()
        if any(self.name == name or self.fingerprint == fingerprint for name, fingerprint in others):
            what = "the vault has this release, or one of that name"
            raise ParameterError(Problem("name", what, "see: shoal vault list"))
        if is_like(self.name, [name for name, _ in others]):
            what = "looks like the name of another release"
            raise ParameterError(Problem("name", what, "choose one that nobody can take for another"))

    def _check_own_words(self, connection: Connection, keys: MasterKeys) -> None:
        """Refuse a release whose aliases or grades another one has: who asks for both would have two budgets."""
        alike = select(columns.c.release_id).where(columns.c.name.in_(self.content.columns))
        for row in connection.execute(select(releases).where(releases.c.id.in_(alike))):
            if self.content.shares_cells(unlocked(keys, row).content):
                what = "has aliases or grades of a release that is there: budgets of both would add up"
                raise ParameterError(Problem("release", what, "publish it again, with another seed"))


def _promised_k(manifest: Manifest) -> int:
    """The k of a release; where it counts people, of whom the tables say nothing, the one that it promises."""
    promised = [int(str(one["k"])) for one in manifest.promise if one["model"] == KAnonymity.name]
    return max([int(manifest.achieved.get("k", 0)), *promised])


def named(connection: Connection, name: str) -> Any:
    """A release by its name."""
    row = connection.execute(select(releases).where(releases.c.name == name)).first()
    if row is None:
        raise ParameterError(Problem("release", "the vault has no release of that name", "see: shoal vault list"))
    return row


def listed(connection: Connection) -> list[dict[str, Any]]:
    """All releases and their hidden columns."""
    found = [dict(row) for row in connection.execute(select(*(releases.c[one] for one in SHOWN))).mappings()]
    hidden = connection.execute(select(columns)).mappings().all()
    for row in found:
        row["columns"] = [dict(one) for one in hidden if one["release_id"] == row["id"]]
    return found


# -- what the master key opens ----------------------------------------------------------------------------------------


def unlocked(keys: MasterKeys, row: Any) -> Held:
    """A release, decrypted."""
    data_key = _unwrapped(keys, row)
    content = Content.from_bytes(decrypted(data_key, row.content, _about(row.name)))
    digests = {name: one.digests(data_key) for name, one in content.columns.items()}
    of_cell = {name: {cell: code for code, cell in one.items()} for name, one in digests.items()}
    return Held(row.id, row.name, row.min_support, row.min_confidence, content, digests, of_cell)


def wrap_anew(connection: Connection, keys: MasterKeys) -> int:
    """Wrap all data keys by the newest master key; how many there are."""
    rows = _wrapped(connection)
    for row in rows:
        values = {"master_key": keys.name, "data_key": keys.wrapped(_unwrapped(keys, row), _about(row.name))}
        connection.execute(update(releases).where(releases.c.id == row.id).values(**values))
    connection.execute(update(chain).values(master_key=keys.name))
    return len(rows)


def master_key_names(connection: Connection) -> set[str]:
    """Names of the master keys that something is wrapped by, or will be."""
    names = {str(name) for (name,) in connection.execute(select(releases.c.master_key)).all()}
    return names | {str(connection.execute(select(chain.c.master_key)).scalar_one())}


def opens_all(connection: Connection, keys: MasterKeys) -> bool:
    """Whether a master key opens all that is kept."""
    if str(connection.execute(select(chain.c.master_key)).scalar_one()) not in keys.names:
        return False
    try:
        return all(keys.unwrapped(row.master_key, row.data_key, _about(row.name)) for row in _wrapped(connection))
    except WrongKeyError:
        return False


def _wrapped(connection: Connection) -> Any:
    wanted = (releases.c.id, releases.c.name, releases.c.master_key, releases.c.data_key)
    return connection.execute(select(*wanted)).all()


def _unwrapped(keys: MasterKeys, row: Any) -> bytes:
    try:
        return keys.unwrapped(row.master_key, row.data_key, _about(row.name))
    except WrongKeyError:
        raise sealed() from None


def _about(name: str) -> str:
    return f"shoal vault release {name}"
