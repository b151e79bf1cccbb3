"""Researchers and stewards, and how they show who they are: by a token, a password, or a session."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, delete, insert, select, update

from shoal.errors import ParameterError, Problem, Problems
from shoal.vault.audit import Ledger
from shoal.vault.names import check_name, is_like
from shoal.vault.tables import grants, people, sessions

ROLES = ("researcher", "steward")
PREFIX = "shoal_"
"""What a token begins with, so that one that was lost can be found by scanners."""
SHORTEST = 12
"""Letters of a password, at least."""
SESSION = 8 * 3600 * 1_000_000
"""How long a session lasts, in microseconds."""


@dataclass(frozen=True)
class Person:
    """Somebody who may ask."""

    id: int
    name: str
    role: str
    shown: str | None = field(default=None, compare=False, repr=False)
    """The hash of the token, the password or the session that she showed; None where nobody asked for one."""

    @property
    def is_steward(self) -> bool:
        """Whether she may change things."""
        return self.role == "steward"


def add_person(ledger: Ledger, actor: str, name: str, role: str, password: str | None) -> str:
    """Add somebody; the token, which is not kept and never shown again."""
    check_person(name, role, password)
    others = ledger.connection.execute(select(people.c.name)).scalars().all()  # those who were removed, too
    if name in others:
        raise ParameterError(Problem("name", "somebody has this name already", "choose another"))
    if is_like(name, others):
        what = "looks like the name of somebody who is there, or was"
        raise ParameterError(Problem("name", what, "choose one that nobody can take for another"))
    token = PREFIX + secrets.token_urlsafe(32)
    ledger.connection.execute(
        insert(people).values(
            name=name, role=role, token_hash=hashed(token), active=True, created=ledger.time,
            password_hash=None if password is None else _hasher().hash(password),
        )
    )  # fmt: skip
    ledger.add(actor, "add-person", name, "done", role=role, password=password is not None)
    return token


def check_person(name: str, role: str, password: str | None) -> None:
    """Refuse a name, a role or a password that cannot be."""
    problems = Problems()
    check_name(name, "name", problems)
    if role not in ROLES:
        problems.add("role", f"must be one of {', '.join(ROLES)}", error=ParameterError)
    if password is not None and (len(password) < SHORTEST or not password.isprintable()):
        what = f"needs at least {SHORTEST} letters, without control characters"
        problems.add("password", what, "use several unrelated words", error=ParameterError)
    problems.raise_if_any(ParameterError)


def renew_token(ledger: Ledger, actor: str, name: str) -> str:
    """A new token for somebody who lost hers, which then opens nothing any more; it is shown once."""
    person = named(ledger.connection, name)
    token = PREFIX + secrets.token_urlsafe(32)
    ledger.connection.execute(
        update(people).where(people.c.id == person.id).values(token_hash=hashed(token), active=True)
    )
    ledger.connection.execute(delete(sessions).where(sessions.c.person_id == person.id))
    ledger.add(actor, "renew-token", name, "done")
    return token


def remove_person(ledger: Ledger, actor: str, name: str) -> None:
    """Let somebody in no more; what is known of her stays. The last steward stays, too."""
    person = named(ledger.connection, name)
    others = (people.c.role == "steward") & people.c.active & (people.c.id != person.id)
    if person.is_steward and not ledger.connection.execute(select(people.c.id).where(others)).first():
        raise ParameterError(Problem("name", "is the last steward", "add another one first"))
    ledger.connection.execute(
        update(people).where(people.c.id == person.id).values(active=False, token_hash=None, password_hash=None)
    )
    ledger.connection.execute(delete(sessions).where(sessions.c.person_id == person.id))
    ledger.connection.execute(update(grants).where(grants.c.person_id == person.id).values(state="revoked"))
    ledger.add(actor, "remove-person", name, "done")


def named(connection: Connection, name: str) -> Person:
    """Somebody by her name."""
    row = connection.execute(select(people).where(people.c.name == name)).first()
    if row is None:
        raise ParameterError(Problem("name", "nobody has this name", "see: shoal vault list"))
    return Person(row.id, row.name, row.role)


def listed(connection: Connection) -> list[dict[str, Any]]:
    """All people, without what they sign in with."""
    wanted = select(people.c.name, people.c.role, people.c.active, people.c.created).order_by(people.c.name)
    return [dict(row) for row in connection.execute(wanted).mappings()]


def by_token(connection: Connection, token: str) -> Person | None:
    """Whose token it is."""
    code = hashed(token)
    return _active(connection.execute(select(people).where(people.c.token_hash == code)).first(), code)


def by_password(connection: Connection, name: str, password: str) -> Person | None:
    """Whose name and password these are; as long is spent on a name that nobody has."""
    row = connection.execute(select(people).where(people.c.name == name)).first()
    known = row is not None and row.password_hash is not None
    try:
        _hasher().verify(row.password_hash if known else _nobody(), password)  # type: ignore[union-attr]
    except (VerificationError, InvalidHashError):
        return None
    return _active(row, row.password_hash) if known else None  # type: ignore[union-attr]


def begin_session(ledger: Ledger, person: Person) -> str:
    """A session; what is given back is not kept."""
    secret = secrets.token_urlsafe(32)
    ledger.connection.execute(delete(sessions).where(sessions.c.expires <= ledger.now))
    ledger.connection.execute(
        insert(sessions).values(hash=hashed(secret), person_id=person.id, expires=ledger.now + SESSION)
    )
    ledger.add(person.name, "sign-in", person.name, "done")
    return secret


def by_session(connection: Connection, secret: str, now: int) -> Person | None:
    """Whose session it is."""
    code = hashed(secret)
    found = (
        select(people)
        .join(sessions, sessions.c.person_id == people.c.id)
        .where(sessions.c.hash == code, sessions.c.expires > now)
    )
    return _active(connection.execute(found).first(), code)


def is_let_in(connection: Connection, person: Person) -> bool:
    """Whether somebody is let in still: not removed since, not signed out, and without a newer token."""
    row = connection.execute(select(people).where(people.c.id == person.id)).first()
    if row is None or not row.active or row.role != person.role:
        return False
    if person.shown is None or person.shown in (row.token_hash, row.password_hash):
        return True
    own = (sessions.c.hash == person.shown) & (sessions.c.person_id == person.id)
    return connection.execute(select(sessions.c.hash).where(own)).first() is not None


def end_session(connection: Connection, secret: str) -> None:
    """End it."""
    connection.execute(delete(sessions).where(sessions.c.hash == hashed(secret)))


def hashed(secret: str) -> str:
    """What is kept of a token: it has 256 random bits, so a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _active(row: Any, shown: str) -> Person | None:
    return Person(row.id, row.name, row.role, shown) if row is not None and row.active else None


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()  # argon2id, with the costs of RFC 9106 for little memory


@cache
def _nobody() -> str:
    """The hash of a password that nobody has."""
    return _hasher().hash(secrets.token_urlsafe(32))
