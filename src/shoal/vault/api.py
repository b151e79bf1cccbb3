"""The programming interface of a vault, over HTTP and JSON."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, Response

from shoal.errors import ParameterError, Problems
from shoal.mining.rules import Rule
from shoal.vault import audit, grants, people
from shoal.vault.bodies import (
    MANY,
    NO_NUL,
    AskRules,
    AskValues,
    GivenKey,
    Name,
    NewGrant,
    NewPerson,
    OldGrant,
    SignIn,
)
from shoal.vault.callers import Caller, Given, Researcher, Steward, Vault, researcher, sign_in, steward
from shoal.vault.content import MOST_CELLS
from shoal.vault.guard import Figures
from shoal.vault.interpretation import Answer, Interpretation
from shoal.vault.keys import MasterKeys
from shoal.vault.people import Person
from shoal.vault.service import Service

LONGEST_RULE = 50_000
"""Letters of a rule, at most."""
everybody = APIRouter(prefix="/v1")
researchers = APIRouter(prefix="/v1", dependencies=[Depends(researcher)])
stewards = APIRouter(prefix="/v1", dependencies=[Depends(steward)])


# -- everybody --------------------------------------------------------------------------------------------------------


@everybody.get("/health")
def health(vault: Vault) -> dict[str, Any]:
    """Whether the vault answers, and why it interprets nothing: it is sealed, or its clock is behind the log."""
    late = vault.status()["clock_behind"]
    return {"status": "sealed" if vault.is_sealed else "clock behind" if late else "ok"}


@everybody.post("/session")
def begin(request: Request, given: SignIn) -> dict[str, str]:
    """Sign in by name and password; the session is used as a token is."""
    return {"session": sign_in(request, given.name, given.password)}


@everybody.delete("/session", status_code=204)
def end(vault: Vault, given: Given, person: Caller) -> None:  # noqa: ARG001
    """Sign out."""
    with vault.changing() as ledger:
        people.end_session(ledger.connection, given.credentials if given else "")


@everybody.get("/me")
def me(vault: Vault, person: Caller) -> dict[str, Any]:
    """Who asks, and what she may ask."""
    return {"name": person.name, "role": person.role, "grants": vault.allowances(person)}


# -- researchers ------------------------------------------------------------------------------------------------------


@researchers.post("/interpret")
def interpret(request: Request, vault: Vault, person: Researcher, given: AskRules) -> dict[str, Any]:
    """Tell what rules mean, those that may be told."""
    return as_json(interpreted(request, vault, person, given.release, given.rules))


@researchers.post("/values")
def values(request: Request, vault: Vault, person: Researcher, given: AskValues) -> dict[str, Any]:
    """Tell what cells stand for, those that may be told."""
    return as_json(told_cells(request, vault, person, given.release, given.column, given.cells))


def interpreted(
    request: Request, vault: Service, person: Person, release: str, given: list[dict[str, Any] | str]
) -> Interpretation:
    """Read rules and tell what they mean; that some could not be read is kept in the log."""
    with request.app.state.counting.interpreting(person.name):
        try:
            rules = read_rules(given)
        except ParameterError:
            vault.note_refusal(person, release, "unreadable", len(given))
            raise
        return _counted(request, vault.interpret(person, release, rules))


def told_cells(
    request: Request, vault: Service, person: Person, release: str, column: str, cells: Sequence[str | float]
) -> Interpretation:
    """Tell what cells of a column stand for."""
    with request.app.state.counting.interpreting(person.name):
        return _counted(request, vault.values(person, release, column, cells))


def _counted(request: Request, found: Interpretation) -> Interpretation:
    """Count what was answered and refused, for Prometheus."""
    figures: Figures = request.app.state.figures
    for one in found.answers:
        figures.rules.labels(one.refused or "answered").inc()
    return found


def read_rules(given: list[dict[str, Any] | str]) -> list[Rule]:
    """Rules as text or as JSON; one error names everything that is wrong."""
    problems, found = Problems(), []
    for number, one in enumerate(given, 1):
        where = f"rule {number}"
        if _is_endless(one):
            problems.add(where, "is too long", f"name at most {MOST_CELLS:,} cells, in {LONGEST_RULE:,} letters")
            continue
        try:
            found.append(Rule.from_text(one, where) if isinstance(one, str) else Rule.from_mapping(one, where))
        except ParameterError as error:
            for problem in error.problems:
                problems.add(problem.where, problem.what, problem.fix)
    problems.raise_if_any(ParameterError)
    return found


def _is_endless(given: dict[str, Any] | str) -> bool:
    """Whether a rule is too long to be read at all."""
    if isinstance(given, str):
        return len(given) > LONGEST_RULE
    asked = [one for side in given.values() if isinstance(side, dict) for one in side.values()]
    return sum(max(len(one), 1) if isinstance(one, list | dict) else 1 for one in asked) > MOST_CELLS


def as_json(found: Interpretation) -> dict[str, Any]:
    """What came of a request."""
    return {"release": found.release, "answers": [_answer(one) for one in found.answers], "left": found.left}


def _answer(one: Answer) -> dict[str, Any]:
    shown = one.evidence
    told = {"support": shown.support, "confidence": shown.confidence, "lift": shown.lift, "refused": one.refused}
    return {
        "asked": one.asked.to_mapping(), "meant": None if one.meant is None else one.meant.to_mapping(),
        "text": None if one.meant is None else str(one.meant), **told,
    }  # fmt: skip


# -- stewards ---------------------------------------------------------------------------------------------------------


@stewards.get("/status")
def status(vault: Vault) -> dict[str, Any]:
    """How the vault is."""
    return vault.status()


@stewards.get("/releases")
def list_releases(vault: Vault) -> list[dict[str, Any]]:
    """All releases."""
    return vault.released()


@stewards.get("/people")
def list_people(vault: Vault) -> list[dict[str, Any]]:
    """All people, without what they sign in with."""
    with vault.reading() as connection:
        return people.listed(connection)


@stewards.post("/people", status_code=201)
def add_person(vault: Vault, person: Steward, given: NewPerson) -> dict[str, str]:
    """Add somebody; the token is shown this once."""
    with vault.changing(person) as ledger:
        return {"token": people.add_person(ledger, person.name, given.name, given.role, given.password)}


@stewards.post("/people/remove")
def remove_person(vault: Vault, person: Steward, given: Name) -> dict[str, str]:
    """Let somebody in no more."""
    with vault.changing(person) as ledger:
        people.remove_person(ledger, person.name, given.name)
    return {"removed": given.name}


@stewards.get("/grants")
def list_grants(vault: Vault) -> list[dict[str, Any]]:
    """All grants."""
    with vault.reading() as connection:
        return grants.listed(connection)


@stewards.post("/grants", status_code=201)
def add_grant(vault: Vault, person: Steward, given: NewGrant) -> dict[str, int]:
    """Allow somebody to ask; replaces what she was allowed before."""
    with vault.changing(person) as ledger:
        expires = ledger.now + int(datetime.timedelta(days=given.days).total_seconds()) * 1_000_000
        what = (given.release, given.column, given.operation, given.budget)
        grants.grant(ledger, person.name, given.name, *what, expires)
    return {"expires": expires}


@stewards.post("/grants/revoke")
def revoke_grant(vault: Vault, person: Steward, given: OldGrant) -> dict[str, int]:
    """Take grants back."""
    with vault.changing(person) as ledger:
        what = (given.release, given.column, given.operation)
        return {"revoked": grants.revoke(ledger, person.name, given.name, *what)}


@stewards.get("/audit")
def read_audit(
    vault: Vault,
    before: Annotated[int | None, Query(ge=1, le=MANY)] = None,
    search: Annotated[str | None, Query(max_length=200, pattern=NO_NUL)] = None,
) -> list[dict[str, Any]]:
    """A hundred entries of the audit log, the newest first."""
    with vault.reading() as connection:
        return audit.entries(connection, before=before, search=search)


@stewards.get("/audit/verify")
def verify_audit(vault: Vault, kept: Annotated[str | None, Query(max_length=64)] = None) -> dict[str, Any]:
    """Follow the audit log from its first entry to its end."""
    found = vault.verify_audit(kept)
    told = {"whole": found.whole, "entries": found.entries, "head": found.head, "broken": found.broken[:100]}
    return {**told, "lacks_kept": found.lacks_kept, "ahead": found.ahead, "trusted": found.trusted[:100]}


@stewards.post("/unseal")
def unseal(vault: Vault, person: Steward, given: GivenKey) -> dict[str, str]:
    """Give the master key."""
    vault.unseal(person.name, MasterKeys.from_text(given.key, "master key"), person)
    return {"status": "ok"}


@stewards.post("/seal")
def seal(vault: Vault, person: Steward) -> dict[str, str]:
    """Forget the master key."""
    vault.seal(person.name, person)
    return {"status": "sealed"}


@stewards.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, vault: Vault) -> Response:
    """Figures for Prometheus."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    figures: Figures = request.app.state.figures
    figures.sealed.set(int(vault.is_sealed))
    figures.clock_behind.set(vault.status()["clock_behind"])
    return Response(generate_latest(figures.registry), media_type=CONTENT_TYPE_LATEST)
