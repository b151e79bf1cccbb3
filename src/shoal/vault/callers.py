"""Who asks: by a token, a session, or name and password; counted, slowed down and locked out."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from shoal.errors import Problem
from shoal.vault import audit, people
from shoal.vault.limiting import Counting
from shoal.vault.people import Person
from shoal.vault.refusals import UnauthenticatedError, not_allowed
from shoal.vault.service import Service

log = logging.getLogger("shoal.vault")
bearer = HTTPBearer(auto_error=False, description="A token, or a session.")
Given = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


def service_of(request: Request) -> Service:
    """The vault that is served."""
    return request.app.state.service  # type: ignore[no-any-return]


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else "unknown"


def signed_in(request: Request, person: Person | None, name: str | None = None) -> Person:
    """Count who asks; refuse, slow down and log who is not known."""
    counting: Counting = request.app.state.counting
    if person is not None:
        request.state.who = person.name
        counting.request(person.name)
        return person
    request.app.state.figures.failures.inc()
    address = address_of(request)
    locks = counting.failed(address, name)
    log.warning("sign-in failed", extra={"fields": {"address": address, "locked": locks}})
    if locks:
        with service_of(request).changing() as ledger:
            ledger.add("unknown", "sign-in", address, "locked", by_name=name is not None)
    raise UnauthenticatedError(Problem("sign-in", "is needed, or failed", "give a token, or name and password"))


def caller(request: Request, given: Given) -> Person:
    """Who asks, by a token or a session."""
    return identified(request, given.credentials if given else None)


def identified(request: Request, secret: str | None) -> Person:
    """Who asks, by a token or a session; whoever gives neither is counted by the address."""
    if not secret:
        request.app.state.counting.request(address_of(request))
        raise UnauthenticatedError(Problem("sign-in", "is needed", "give a token, or name and password"))
    request.app.state.counting.check(address_of(request))
    return signed_in(request, known(service_of(request), secret))


def known(service: Service, secret: str) -> Person | None:
    """Whose token or session it is."""
    with service.reading() as connection:
        if secret.startswith(people.PREFIX):
            return people.by_token(connection, secret)
        return people.by_session(connection, secret, audit.now(connection))


def researcher(person: Annotated[Person, Depends(caller)]) -> Person:
    """Who asks, if she is a researcher."""
    if person.is_steward:
        raise not_allowed()
    return person


def steward(person: Annotated[Person, Depends(caller)]) -> Person:
    """Who asks, if she is a steward."""
    if not person.is_steward:
        raise not_allowed()
    return person


def sign_in(request: Request, name: str, password: str) -> str:
    """Begin a session by name and password."""
    service = service_of(request)
    request.app.state.counting.check(address_of(request), name)
    with service.reading() as connection:
        person = people.by_password(connection, name, password)
    return begin_session(service, signed_in(request, person, name))


def sign_in_by_token(request: Request, token: str) -> str:
    """Begin a session by a token."""
    service = service_of(request)
    request.app.state.counting.check(address_of(request))
    with service.reading() as connection:
        person = people.by_token(connection, token)
    return begin_session(service, signed_in(request, person))


def begin_session(service: Service, person: Person) -> str:
    """A session of somebody who is known."""
    with service.changing(person) as ledger:
        return people.begin_session(ledger, person)


Vault = Annotated[Service, Depends(service_of)]
Caller = Annotated[Person, Depends(caller)]
Researcher = Annotated[Person, Depends(researcher)]
Steward = Annotated[Person, Depends(steward)]
