"""Pages of a steward: the vault itself, what it keeps, who may ask what, and what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from shoal.errors import ParameterError, Problem, ShoalError
from shoal.vault import api, grants
from shoal.vault.audit import now as at_present
from shoal.vault.bodies import MANY, NO_NUL, GivenKey, Name, NewGrant, NewPerson, OldGrant
from shoal.vault.callers import Vault
from shoal.vault.pages.showing import filled, go, page, shown_problems
from shoal.vault.pages.visitors import Signed, for_stewards, own_form
from shoal.vault.refusals import UnauthenticatedError, status_of

router = APIRouter(dependencies=[Depends(for_stewards), Depends(own_form)])
CHECKED_AT_ONCE = 10_000
"""Entries up to which the page of the audit log checks the whole of it each time; a longer one when it is asked to."""
DONE = {
    "unsealed": "The vault is open: it interprets again.",
    "sealed": "The vault is sealed.",
    "removed": "That person is let in no more. Her token, password and sessions no longer work.",
    "granted": "The grant is given.",
    "revoked": "The grant is revoked.",
}
"""What a page says after something was done."""
Text = Annotated[str, Form(max_length=1000, pattern=NO_NUL)]
Done = Annotated[str, Query(max_length=20)]


# -- the vault itself -------------------------------------------------------------------------------------------------


@router.get("/health")
def health(request: Request, vault: Vault, done: Done = "") -> HTMLResponse:
    """How the vault is."""
    return _health_page(request, vault, done=done)


@router.post("/health/unseal")
def unseal(request: Request, vault: Vault, found: Signed, key: Text = "") -> Response:
    """Give the master key."""
    try:
        api.unseal(vault, found.person, filled(GivenKey, {"key": key}))
    except ShoalError as error:
        return _health_page(request, vault, error)
    return go("/health", "unsealed")


@router.post("/health/seal")
def seal(vault: Vault, found: Signed) -> Response:
    """Forget the master key."""
    api.seal(vault, found.person)
    return go("/health", "sealed")


def _health_page(request: Request, vault: Vault, error: ShoalError | None = None, done: str = "") -> HTMLResponse:
    return _page(request, "health.html", error, {"master": "key", "key": "key"}, done=done, status_now=vault.status())


# -- releases ---------------------------------------------------------------------------------------------------------


@router.get("/releases")
def releases(request: Request, vault: Vault) -> HTMLResponse:
    """What the vault keeps."""
    return page(request, "releases.html", releases=vault.released())


# -- people -----------------------------------------------------------------------------------------------------------


@router.get("/people")
def people(request: Request, vault: Vault, done: Done = "") -> HTMLResponse:
    """Who is let in."""
    return _people_page(request, vault, done=done)


@router.post("/people")
def add_person(
    request: Request, vault: Vault, found: Signed, name: Text = "", role: Text = "", password: Text = ""
) -> HTMLResponse:
    """Add somebody. The token is on this one page, and nowhere else."""
    typed = {"name": name, "role": role}
    try:
        given = filled(NewPerson, {**typed, "password": password})
        token = api.add_person(vault, found.person, given)["token"]
    except ShoalError as error:
        return _people_page(request, vault, error, typed=typed)
    return page(request, "token.html", 201, name=given.name, role=given.role, token=token)


@router.post("/people/remove")
def remove_person(request: Request, vault: Vault, found: Signed, name: Text = "") -> Response:
    """Let somebody in no more."""
    try:
        if name == found.person.name:
            raise ParameterError(Problem("person", "that is you", "another steward has to remove you"))
        api.remove_person(vault, found.person, filled(Name, {"name": name}))
    except ShoalError as error:
        return _people_page(request, vault, error)
    return go("/people", "removed")


def _people_page(
    request: Request,
    vault: Vault,
    error: ShoalError | None = None,
    typed: Mapping[str, str] | None = None,
    done: str = "",
) -> HTMLResponse:
    fields = {"name": "name", "role": "role", "password": "password"}
    shown = {"typed": typed or {"name": "", "role": ""}, "people": api.list_people(vault)}
    return _page(request, "people.html", error, fields, done=done, **shown)


# -- grants -----------------------------------------------------------------------------------------------------------


@router.get("/grants")
def all_grants(request: Request, vault: Vault, done: Done = "") -> HTMLResponse:
    """Who may ask what."""
    return _grants_page(request, vault, done=done)


@router.post("/grants")
def add_grant(
    request: Request,
    vault: Vault,
    found: Signed,
    name: Text = "",
    what: Text = "",
    operation: Text = "",
    budget: Text = "",
    days: Text = "",
) -> Response:
    """Allow somebody to ask."""
    typed = {"name": name, "what": what, "operation": operation, "budget": budget, "days": days}
    try:
        release, column = _column_of(vault, what)
        asked = {key: value for key, value in typed.items() if key != "what"}
        api.add_grant(vault, found.person, filled(NewGrant, {**asked, "release": release, "column": column}))
    except ShoalError as error:
        return _grants_page(request, vault, error, typed=typed)
    return go("/grants", "granted")


@router.post("/grants/revoke")
def revoke_grant(
    request: Request,
    vault: Vault,
    found: Signed,
    name: Text = "",
    release: Text = "",
    column: Text = "",
    operation: Text = "",
) -> Response:
    """Take a grant back: one, so all that tells it must be there."""
    which = {"name": name, "release": release, "column": column, "operation": operation}
    try:
        if not all(which.values()):
            raise ParameterError(Problem("grant", "there is no such grant", "open the page again"))
        api.revoke_grant(vault, found.person, filled(OldGrant, which))
    except ShoalError as error:
        return _grants_page(request, vault, error)
    return go("/grants", "revoked")


def _column_of(vault: Vault, what: str) -> tuple[str, str]:
    """Release and column, of what was chosen: the number of the release and the name of the column."""
    number, _, column = what.partition("/")
    for one in vault.released():
        if str(one["id"]) == number:
            return one["name"], column
    return "", ""


def _grants_page(
    request: Request,
    vault: Vault,
    error: ShoalError | None = None,
    typed: Mapping[str, str] | None = None,
    done: str = "",
) -> HTMLResponse:
    with vault.reading() as connection:
        now = at_present(connection)
    listed = [{**one, "now": _state_now(one, now)} for one in api.list_grants(vault)]
    fields = {
        "name": "name", "release": "what", "column": "what", "operation": "operation", "budget": "budget",
        "days": "days", "expires": "days",
    }  # fmt: skip
    empty = {"name": "", "what": "", "operation": "rules", "budget": "", "days": "90"}
    able = [one for one in api.list_people(vault) if one["role"] == "researcher" and one["active"]]
    shown = {"typed": typed or empty, "grants": listed, "researchers": able, "releases": vault.released()}
    return _page(request, "grants.html", error, fields, done=done, **shown)


def _state_now(one: Mapping[str, Any], now: int) -> str:
    """What a grant is good for today."""
    if one["state"] != grants.ACTIVE:
        return str(one["state"])
    if not one["active"]:
        return "person removed"
    if one["expires"] <= now:
        return "expired"
    return "used up" if one["learnt"] >= one["budget"] else grants.ACTIVE


# -- audit ------------------------------------------------------------------------------------------------------------


@router.get("/audit")
def audit(
    request: Request,
    vault: Vault,
    before: Annotated[int | None, Query(ge=1, le=MANY)] = None,
    search: Annotated[str, Query(max_length=200, pattern=NO_NUL)] = "",
    kept: Annotated[str, Query(max_length=64)] = "",
    check: bool = False,
) -> HTMLResponse:
    """What was done, asked, answered and refused; and whether the log is whole."""
    kept, search = kept.strip().lower(), search.strip()
    checks = check or vault.status()["audit_entries"] <= CHECKED_AT_ONCE
    return page(
        request, "audit.html", entries=api.read_audit(vault, before, search), before=before, search=search,
        kept=kept, found=vault.verify_audit(kept or None) if checks else None,
    )  # fmt: skip


def _page(
    request: Request, template: str, error: ShoalError | None, fields: Mapping[str, str], *, done: str, **shown: Any
) -> HTMLResponse:
    """A page with a form: what is wrong with what was sent, or what was done; not for who is let in no more."""
    if isinstance(error, UnauthenticatedError):
        raise error
    status = status_of(error) if error else 200
    problems = shown_problems(error.problems, fields) if error else []
    return page(request, template, status, problems=problems, done=DONE.get(done, ""), **shown)
