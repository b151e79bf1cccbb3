"""How pages are made: templates, what all of them know, and pages for what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ValidationError

from shoal.errors import ParameterError, Problem, counted
from shoal.vault.pages.templating import HERE, rendered
from shoal.vault.pages.visitors import SESSION, VISIT, Visitor, cookie, drop_cookie, mark, new_visit, set_cookie

Form = TypeVar("Form", bound=BaseModel)
PAGES = {
    "researcher": {"/interpret": "Interpret", "/values": "Single cells", "/history": "History"},
    "steward": {
        "/health": "Health", "/releases": "Releases", "/people": "People", "/grants": "Grants", "/audit": "Audit",
    },
}  # fmt: skip
"""The pages of each role, in the order of the navigation."""
TITLES = {
    403: "This is not allowed", 404: "There is no such page", 405: "This page is not asked in that way",
    408: "That took too long", 413: "That is too large", 422: "That cannot be read", 429: "Please wait",
    500: "The vault made a mistake", 503: "The vault cannot answer now",
}  # fmt: skip
MOST_PROBLEMS = 20
"""Problems that a page lists; the others are counted."""


class Static(StaticFiles):
    """Files that are the same for everybody, and may be kept: their addresses change with what is in them."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """One file."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def static() -> StaticFiles:
    """Style and picture of the pages."""
    return Static(directory=HERE / "static")


def page(request: Request, template: str, status: int = 200, **told: Any) -> HTMLResponse:
    """A page from its template."""
    found: Visitor | None = getattr(request.state, "visitor", None)
    told.setdefault("problems", [])
    told.setdefault("mark", mark(found.secret) if found else "")
    shown = rendered(
        template, visitor=found, sealed=request.app.state.service.is_sealed, path=request.url.path,
        navigation=PAGES[found.person.role] if found else {}, **told,
    )  # fmt: skip
    return HTMLResponse(shown, status)


def sign_in_page(request: Request, problems: Sequence[Problem] = (), status: int = 200, by: str = "") -> Response:
    """The page to sign in at; `by` is the way that failed. A session that is over is taken back."""
    secret = cookie(request, VISIT) or new_visit()
    fields = {"sign-in": by} if by else {}
    response = page(request, "sign-in.html", status, mark=mark(secret), problems=shown_problems(problems, fields))
    set_cookie(request, response, VISIT, secret)
    if cookie(request, SESSION):
        drop_cookie(request, response, SESSION)
    return response


def wants_page(request: Request) -> bool:
    """Whether a browser asks for a page, rather than a program for JSON."""
    inside = request.url.path.startswith(("/v1/", "/static/"))
    return not inside and "text/html" in request.headers.get("accept", "")


def error_page(request: Request, problems: list[Problem], status: int, headers: Mapping[str, str]) -> Response:
    """A page that says what went wrong; the page to sign in at, where nobody knows who asks."""
    if status == 401:
        request.state.visitor = None
        response = sign_in_page(request, problems, status)
    else:
        title = TITLES.get(status, "That did not work")
        response = page(request, "error.html", status, title=title, problems=shown_problems(problems))
    response.headers.update(headers)
    return response


def go(address: str, done: str | None = None) -> RedirectResponse:
    """Send a browser to another page of ours, where it is told what was done: a word out of a list, never a name."""
    return RedirectResponse(address if done is None else f"{address}?done={done}", 303)


# -- problems ---------------------------------------------------------------------------------------------------------


def shown_problems(problems: Sequence[Problem], fields: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """Problems as pages list them, each with the id of the field it is about.

    `fields` has the ids by the first word of where a problem is.
    """
    problems = list(dict.fromkeys(problems))
    found = [
        {"where": one.where, "what": one.what, "fix": one.fix, "field": (fields or {}).get(_first_word(one.where), "")}
        for one in problems[:MOST_PROBLEMS]
    ]
    if len(problems) > MOST_PROBLEMS:
        more = f"{counted(len(problems) - MOST_PROBLEMS, 'more problem')}"
        found.append({"where": "and", "what": more, "fix": "", "field": ""})
    return found


def _first_word(where: str) -> str:
    return where.replace(":", " ").partition(" ")[0]


def filled(form: type[Form], given: Mapping[str, Any]) -> Form:
    """What a form holds, checked as the programming interface checks it; fields left empty are left out."""
    try:
        return form.model_validate({name: value for name, value in given.items() if value != ""})
    except ValidationError as error:
        problems = [Problem(str(one["loc"][0]), _worded(one)) for one in error.errors()]
        raise ParameterError(problems) from None


def _worded(error: Any) -> str:
    """What is wrong with a field, in plain words, and without what it held."""
    limits = error.get("ctx", {})
    words = {
        "missing": "is empty", "string_too_long": f"may have {limits.get('max_length')} letters at most",
        "int_parsing": "must be a whole number", "int_from_float": "must be a whole number",
        "int_parsing_size": "is too large", "greater_than_equal": f"must be {limits.get('ge')} or more",
        "less_than_equal": f"must be {limits.get('le')} or less", "literal_error": f"must be {limits.get('expected')}",
    }  # fmt: skip
    return words.get(error["type"], "cannot be read")
