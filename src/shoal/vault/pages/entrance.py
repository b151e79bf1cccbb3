"""Signing in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import Response

from shoal.errors import Problem
from shoal.vault import callers, people
from shoal.vault.bodies import NO_NUL
from shoal.vault.callers import Vault
from shoal.vault.pages.showing import go, sign_in_page
from shoal.vault.pages.visitors import (
    SESSION,
    VISIT,
    Signed,
    cookie,
    drop_cookie,
    own_form,
    set_cookie,
    visiting_form,
    visitor,
)
from shoal.vault.refusals import UnauthenticatedError

router = APIRouter()
LONGEST = 1000
"""Letters of what somebody signs in with, at most."""


@router.get("/")
def home(request: Request) -> Response:
    """The page that somebody begins with."""
    return go(visitor(request).home if cookie(request, SESSION) else "/sign-in")


@router.get("/sign-in")
def entrance(request: Request) -> Response:
    """The page to sign in at; who has signed in goes on."""
    if cookie(request, SESSION):
        return go("/")
    request.app.state.counting.request(callers.address_of(request))
    return sign_in_page(request)


@router.post("/sign-in", dependencies=[Depends(visiting_form)])
def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=LONGEST)] = "",
    name: Annotated[str, Form(max_length=LONGEST, pattern=NO_NUL)] = "",
    password: Annotated[str, Form(max_length=LONGEST)] = "",
) -> Response:
    """Begin a session, by a token or by name and password."""
    request.app.state.counting.request(callers.address_of(request))
    by = "token" if token.strip() else "name"
    try:
        if by == "token":
            secret = callers.sign_in_by_token(request, token.strip())
        elif name and password:
            secret = callers.sign_in(request, name, password)
        else:
            problem = Problem("sign-in", "needs a token, or a name and a password", "fill in one of the two forms")
            return sign_in_page(request, [problem], 422, "token")
    except UnauthenticatedError:
        what = {"token": "nobody has this token", "name": "name and password do not belong together"}[by]
        problem = Problem("sign-in", what, "check for typing mistakes, or ask the steward")
        return sign_in_page(request, [problem], 401, by)
    response = go("/")
    set_cookie(request, response, SESSION, secret)
    drop_cookie(request, response, VISIT)
    return response


@router.post("/sign-out", dependencies=[Depends(own_form)])
def sign_out(request: Request, vault: Vault, found: Signed) -> Response:
    """End the session."""
    with vault.changing() as ledger:
        people.end_session(ledger.connection, found.secret)
    response = go("/sign-in")
    drop_cookie(request, response, SESSION)
    return response
