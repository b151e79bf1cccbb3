"""Who looks at a page: sessions in cookies, and forms that nobody else can send in their name."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request, Response

from shoal.errors import Problem
from shoal.vault import callers, people
from shoal.vault.people import Person
from shoal.vault.refusals import NotAllowedError

SESSION, VISIT = "shoal-session", "shoal-visit"
"""Cookies: of somebody who has signed in, and of somebody who is about to."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who has signed in."""

    person: Person
    secret: str = field(repr=False)

    @property
    def home(self) -> str:
        """The page to begin with."""
        return "/health" if self.person.is_steward else "/interpret"


def visitor(request: Request) -> Visitor:
    """Who asks for a page, by her session; counted, slowed down and locked out as any other request."""
    secret = cookie(request, SESSION)
    found = Visitor(callers.identified(request, secret), secret)
    request.state.visitor = found
    return found


Signed = Annotated[Visitor, Depends(visitor)]


def for_researchers(found: Signed) -> None:
    """Refuse everybody else."""
    if found.person.is_steward:
        raise NotAllowedError(Problem("page", "is for researchers", "stewards interpret nothing"))


def for_stewards(found: Signed) -> None:
    """Refuse everybody else."""
    if not found.person.is_steward:
        raise NotAllowedError(Problem("page", "is for stewards"))


# -- cookies ----------------------------------------------------------------------------------------------------------


def cookie(request: Request, name: str) -> str:
    """What a cookie of ours holds; nothing, if there is none."""
    return request.cookies.get(_named(request, name), "")


def set_cookie(request: Request, response: Response, name: str, secret: str) -> None:
    """Give a cookie, which scripts and other sites do not get to see or to send."""
    response.set_cookie(
        _named(request, name), secret, max_age=people.SESSION // 1_000_000, path="/", httponly=True,
        samesite="strict", secure=request.app.state.tls,
    )  # fmt: skip


def drop_cookie(request: Request, response: Response, name: str) -> None:
    """Take a cookie back."""
    response.delete_cookie(
        _named(request, name), path="/", httponly=True, samesite="strict", secure=request.app.state.tls
    )


def _named(request: Request, name: str) -> str:
    """The name of a cookie; behind TLS one that browsers take from this very host only."""
    return f"__Host-{name}" if request.app.state.tls else name


def new_visit() -> str:
    """A secret for somebody who is about to sign in."""
    return secrets.token_urlsafe(32)


# -- forms ------------------------------------------------------------------------------------------------------------


def mark(secret: str) -> str:
    """What a form carries, so that it can come from nobody but who has the cookie."""
    return hmac.new(secret.encode(), b"shoal vault form", hashlib.sha256).hexdigest()


async def own_form(request: Request, found: Signed) -> None:
    """Refuse a form that was not sent from a page of this session."""
    await _check_form(request, found.secret)


async def visiting_form(request: Request) -> None:
    """Refuse a form that was not sent from a page of this visit."""
    await _check_form(request, cookie(request, VISIT))


async def _check_form(request: Request, secret: str) -> None:
    if request.method in ("GET", "HEAD"):
        return
    given = (await request.form()).get("csrf")
    same = isinstance(given, str) and hmac.compare_digest(given.encode(), mark(secret).encode())
    here = request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
    if not (secret and same and here):
        what = "was not sent from a page of this session, or is out of date"
        raise NotAllowedError(Problem("form", what, "open the page again, allow its cookies, and send it once more"))
