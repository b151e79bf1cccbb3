"""What is said when something goes wrong: as a page or as JSON, and never what a request held."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from shoal.errors import Problem, ShoalError
from shoal.vault.database import DatabaseError
from shoal.vault.pages import error_page, wants_page
from shoal.vault.refusals import TooManyError, status_of
from shoal.vault.service import away

log = logging.getLogger("shoal.vault")
MOST_PROBLEMS = 100
"""Problems that an answer lists; the others are counted."""


def told(
    request: Request, kind: str, problems: list[Problem], status: int, headers: dict[str, str] | None = None
) -> Response:
    """Say what is wrong: as a page to whoever looks at pages, else as JSON."""
    if wants_page(request):
        return error_page(request, problems, status, headers or {})
    said = [{"where": one.where, "what": one.what, "fix": one.fix} for one in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        said.append({"where": "and", "what": f"{len(problems) - MOST_PROBLEMS:,} more problems", "fix": ""})
    return JSONResponse({"error": kind, "problems": said}, status, headers)


def refused(request: Request, error: Exception) -> Response:
    """Say why it was refused, and where it is so, how long to wait or how to sign in."""
    assert isinstance(error, ShoalError)  # noqa: S101
    status = status_of(error)
    headers = {"retry-after": str(error.wait)} if isinstance(error, TooManyError) else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return told(request, type(error).__name__, list(error.problems), status, headers)


def database_away(request: Request, error: Exception) -> Response:
    """The database went away while somebody signed in: where the service asks it, that is told already."""
    assert isinstance(error, DatabaseError)  # noqa: S101
    return refused(request, away(error))


NO_OBJECT = ("model_attributes_type", "model_type", "dict_type")
"""How bodies that are something else than an object of JSON, or not said to be JSON, are told by pydantic."""


def unreadable(request: Request, error: Exception) -> Response:
    """Say where a body is wrong, and not what it held."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    problems = [_wrong(one) for one in error.errors()]
    return told(request, "RequestError", problems, 422)


def _wrong(error: Any) -> Problem:
    """One thing that is wrong with a body; a key that is not known is not repeated either."""
    if error["type"] in NO_OBJECT and len(error["loc"]) == 1:
        return Problem("body", "is no JSON object", "send one, with the header content-type: application/json")
    extra = error["type"] == "extra_forbidden"
    place = ".".join(map(str, error["loc"][:-1] if extra else error["loc"]))
    return Problem(place, "has a key that is not known" if extra else str(error["type"]).replace("_", " "))


def not_there(request: Request, error: Exception) -> Response:
    """No such route, or not by this method."""
    assert isinstance(error, HTTPException)  # noqa: S101
    what = {404: "there is nothing at this address", 405: "this address is not asked in that way"}
    problem = Problem("request", what.get(error.status_code, "cannot be read"))
    return told(request, "RequestError", [problem], error.status_code, dict(error.headers or {}))


def broken(request: Request, error: Exception) -> Response:
    """Say that the mistake is ours; what it was stands in the log, by its kind alone."""
    log.error("internal error", extra={"fields": {"error": type(error).__name__}})
    return told(request, "InternalError", [Problem("vault", "made a mistake; please report it")], 500)


ANSWERS = {
    ShoalError: refused, DatabaseError: database_away, RequestValidationError: unreadable, HTTPException: not_there,
    Exception: broken,
}  # fmt: skip
"""What answers which error."""
