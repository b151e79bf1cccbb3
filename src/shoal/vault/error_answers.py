"""What is said when something goes wrong: as a page or as JSON, and never what a request held."""

from __future__ import annotations

import logging
from typing import Any, get_type_hints

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from shoal.errors import Problem, ShoalError, counted
from shoal.vault.bodies import Body
from shoal.vault.database import DatabaseError
from shoal.vault.pages import error_page, wants_page
from shoal.vault.refusals import TooManyError, UnavailableError, status_of
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
        said.append({"where": "and", "what": f"{counted(len(problems) - MOST_PROBLEMS, 'more problem')}", "fix": ""})
    return JSONResponse({"error": kind, "problems": said}, status, headers)


def refused(request: Request, error: Exception) -> Response:
    """Say why it was refused, and where it is so, how long to wait or how to sign in."""
    assert isinstance(error, ShoalError)  # noqa: S101
    status = status_of(error)
    headers = {"retry-after": str(error.wait)} if isinstance(error, TooManyError) else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    problems = list(error.problems)
    if isinstance(error, UnavailableError):  # how the server signs in to its database concerns nobody who asks
        log.error("unavailable", extra={"fields": {"why": " ".join(str(error).split())}})
        problems = [Problem("database", "is away, or not to be trusted", "try again later; the server's log says why")]
    return told(request, type(error).__name__, problems, status, headers)


def database_away(request: Request, error: Exception) -> Response:
    """The database went away while somebody signed in: where the service asks it, that is told already."""
    assert isinstance(error, DatabaseError)  # noqa: S101
    return refused(request, away(error))


NO_OBJECT = ("model_attributes_type", "model_type", "dict_type")
"""How bodies that are something else than an object of JSON, or not said to be JSON, are told by pydantic."""
WHOLE = "a whole number"
NEEDED = {
    "string_type": "a text", "string_unicode": "a text in Unicode", "string_too_short": "a text that is not empty",
    "string_too_long": "a text of at most {max_length:,} characters",
    "string_pattern_mismatch": "a text without the character NUL",
    "list_type": "a list", "too_short": "a list that is not empty",
    "too_long": "a list of at most {max_length:,} entries",
    "dict_type": "an object", "literal_error": "{expected}",
    "int_type": WHOLE, "int_parsing": WHOLE, "int_parsing_size": WHOLE, "int_from_float": WHOLE,
    "float_type": "a number", "float_parsing": "a number", "finite_number": "a finite number",
    "greater_than_equal": "a number from {ge:,} on", "less_than_equal": "a number up to {le:,}",
}  # fmt: skip
"""What is needed in the place of something, by what pydantic calls the mistake."""
GOT = {
    "string_too_short": "an empty one", "string_too_long": "a longer one", "string_pattern_mismatch": "one with it",
    "too_short": "an empty one", "too_long": "a longer one", "literal_error": "something else",
    "int_from_float": "a fraction", "int_parsing_size": "a larger one", "greater_than_equal": "a smaller one",
    "less_than_equal": "a larger one",
}  # fmt: skip
"""What is there instead, where it is of the right kind."""
KINDS = {bool: "a truth value", str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
"""What JSON has, in words."""


def unreadable(request: Request, error: Exception) -> Response:
    """Say where a body is wrong, and not what it held."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    together: dict[tuple[Any, ...], list[Any]] = {}
    for one in error.errors():
        together.setdefault(_place(one["loc"]), []).append(one)
    keys = _keys(request)
    return told(request, "RequestError", [_wrong(place, errors, keys) for place, errors in together.items()], 422)


def _place(loc: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key, or an entry of its list; what pydantic says after that is which kind of entry it tried."""
    return loc[: 3 if len(loc) > 2 and isinstance(loc[2], int) else 2]


def _wrong(place: tuple[Any, ...], errors: list[Any], keys: list[str]) -> Problem:
    """What is wrong with one place of a body; a key that is not known is not repeated either."""
    kind, where = errors[0]["type"], ".".join(map(str, place))
    if kind in NO_OBJECT and len(place) == 1:
        return Problem("body", "is no JSON object", "send one, with the header content-type: application/json")
    if kind == "json_invalid":
        return Problem("body", f"is no JSON from character {place[1] + 1:,} on", "write it as JSON")
    if kind == "extra_forbidden":
        return Problem(str(place[0]), "has a key that is not known", f"known: {', '.join(keys)}")
    if kind == "missing":
        return Problem(where, "is missing", "give it")
    needed = " or ".join(dict.fromkeys(map(_needed, errors)))
    return Problem(where, f"needs {needed}, got {GOT.get(kind) or KINDS.get(type(errors[0]['input']), 'nothing')}")


def _needed(error: Any) -> str:
    """What is needed where something is wrong, with its bounds; another kind of mistake by its name."""
    return NEEDED.get(error["type"], str(error["type"]).replace("_", " ")).format(**error.get("ctx", {}))


def _keys(request: Request) -> list[str]:
    """The keys that a body has at this address."""
    hints = get_type_hints(request.scope["endpoint"]).values()
    return [key for hint in hints if isinstance(hint, type) and issubclass(hint, Body) for key in hint.model_fields]


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
