"""Grants: who may have what interpreted, until when, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from shoal.errors import ParameterError, Problem, Problems, did_you_mean
from shoal.vault.audit import Ledger
from shoal.vault.people import Person, named
from shoal.vault.releases import named as release_named
from shoal.vault.tables import columns, grants, learnt, people, releases

OPERATIONS = ("rules", "values")
"""What can be asked for: rules that the table bears out, or single cells."""
ACTIVE, REVOKED, SUSPENDED = "active", "revoked", "suspended"


@dataclass(frozen=True)
class Grant:
    """What somebody may ask of one column."""

    column: str
    operation: str
    budget: int
    expires: int


def grant(
    ledger: Ledger, actor: str, name: str, release: str, column: str, operation: str, budget: int, expires: int
) -> None:
    """Allow somebody to have cells of a column interpreted; replaces what she was allowed before."""
    connection = ledger.connection
    person, found = _of(connection, name, release)
    known = {row.name: row for row in connection.execute(select(columns).where(columns.c.release_id == found.id))}
    problems = Problems()
    if person.is_steward:
        problems.add("name", "is a steward, who interprets nothing", "add a researcher", error=ParameterError)
    if operation not in OPERATIONS:
        problems.add("operation", f"must be one of {', '.join(OPERATIONS)}", error=ParameterError)
    if column not in known:
        fix = did_you_mean(column, list(known), otherwise=f"hidden are: {', '.join(known)}")
        problems.add("column", "the release hides no column of that name", fix, error=ParameterError)
    elif not known[column].most:
        what = "one or two answers would tell all of it: grades are linear, or numbers dense, or cells few"
        problems.add("column", what, 'publish rounded numbers, by Grades with variant = "random"', error=ParameterError)
    elif not 1 <= budget <= known[column].most:
        what = f"must be from 1 to {known[column].most}: with more, the other cells would follow from what is known"
        problems.add("budget", what, error=ParameterError)
    if expires <= ledger.now:
        problems.add("expires", "lies in the past", error=ParameterError)
    problems.raise_if_any(ParameterError)
    which = (
        (grants.c.person_id == person.id) & (grants.c.release_id == found.id)
        & (grants.c.column == column) & (grants.c.operation == operation)
    )  # fmt: skip
    connection.execute(delete(grants).where(which))
    connection.execute(
        insert(grants).values(
            person_id=person.id, release_id=found.id, column=column, operation=operation, budget=budget,
            expires=expires, created=ledger.time, state=ACTIVE,
        )
    )  # fmt: skip
    told = {"column": column, "operation": operation, "budget": budget, "expires": expires}
    ledger.add(actor, "grant", f"{name} / {release}", "done", **told)


def _of(connection: Connection, name: str, release: str) -> tuple[Person, Any]:
    """Somebody and a release; an error names both where neither is there."""
    problems = Problems()
    with problems.noting():
        person = named(connection, name)
    with problems.noting():
        found = release_named(connection, release)
    problems.raise_if_any(ParameterError)
    return person, found


def revoke(ledger: Ledger, actor: str, name: str, release: str, column: str | None, operation: str | None) -> int:
    """Take grants back; how many."""
    person, found = _of(ledger.connection, name, release)
    which = (grants.c.person_id == person.id) & (grants.c.release_id == found.id) & (grants.c.state != REVOKED)
    if column is not None:
        which &= grants.c.column == column
    if operation is not None:
        which &= grants.c.operation == operation
    done = ledger.connection.execute(update(grants).where(which).values(state=REVOKED)).rowcount
    if not done:
        raise ParameterError(Problem("grant", "there is no such grant", "see: shoal vault list"))
    ledger.add(actor, "revoke", f"{name} / {release}", "done", column=column, operation=operation, grants=done)
    return int(done)


def suspend_all(ledger: Ledger) -> int:
    """Have every grant wait until a steward grants it again; how many."""
    active = grants.c.state == ACTIVE
    return int(ledger.connection.execute(update(grants).where(active).values(state=SUSPENDED)).rowcount)


def grants_of(connection: Connection, person: Person, release_id: int, now: int) -> dict[tuple[str, str], Grant]:
    """What somebody may ask now, by column and operation."""
    which = (grants.c.person_id == person.id) & (grants.c.release_id == release_id)
    which &= (grants.c.state == ACTIVE) & (grants.c.expires > now)
    rows = connection.execute(select(grants).where(which))
    return {(row.column, row.operation): Grant(row.column, row.operation, row.budget, row.expires) for row in rows}


def known_to(connection: Connection, person: Person, release_id: int) -> dict[str, set[str]]:
    """Digests of the cells that somebody knows, by column."""
    which = (learnt.c.person_id == person.id) & (learnt.c.release_id == release_id)
    found: dict[str, set[str]] = {}
    for row in connection.execute(select(learnt.c.column, learnt.c.cell).where(which)):
        found.setdefault(row.column, set()).add(row.cell)
    return found


def note_learnt(ledger: Ledger, person: Person, release_id: int, new: dict[str, set[str]]) -> None:
    """Keep what somebody learns."""
    rows = [
        {"person_id": person.id, "release_id": release_id, "column": column, "cell": cell, "time": ledger.time}
        for column, cells in new.items()
        for cell in sorted(cells)
    ]
    if rows:
        ledger.connection.execute(insert(learnt), rows)


def listed(connection: Connection) -> list[dict[str, Any]]:
    """All grants, with what is used of them, and whether the researcher is still let in."""
    same = (learnt.c.person_id == grants.c.person_id) & (learnt.c.release_id == grants.c.release_id)
    used = select(func.count()).select_from(learnt).where(same & (learnt.c.column == grants.c.column))
    found = (
        select(
            people.c.name, people.c.active, releases.c.name.label("release"), grants.c.column, grants.c.operation,
            grants.c.budget, used.scalar_subquery().label("learnt"), grants.c.expires, grants.c.state,
            grants.c.person_id, grants.c.release_id,
        )
        .join(people, people.c.id == grants.c.person_id)
        .join(releases, releases.c.id == grants.c.release_id)
        .order_by(people.c.name, releases.c.name, grants.c.column, grants.c.operation)
    )  # fmt: skip
    return [dict(row) for row in connection.execute(found).mappings()]
