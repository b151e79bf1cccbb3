"""Pages of a researcher: what she may ask, what it means, what she asked before."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from fastapi.responses import HTMLResponse

from shoal.errors import ParameterError, Problem, ShoalError
from shoal.vault import api, audit
from shoal.vault.bodies import MANY, NO_NUL
from shoal.vault.callers import Vault
from shoal.vault.interpretation import Interpretation
from shoal.vault.pages.showing import page, shown_problems
from shoal.vault.pages.visitors import Signed, for_researchers, own_form
from shoal.vault.refusals import UnauthenticatedError, status_of
from shoal.vault.service import MOST_RULES

router = APIRouter(dependencies=[Depends(for_researchers), Depends(own_form)])
WHY = {
    "grant": ("You have no grant for a column of this rule.", "Ask the steward for one, or leave the column out."),
    "support": ("Too few rows of the release show it.", "Ask for a rule that holds for more rows."),
    "confidence": (
        "Where its condition holds, its conclusion follows too seldom.",
        "Ask for a rule with a higher confidence.",
    ),
    "lift": (
        "Its conclusion is no more frequent under the condition than in the whole release.",
        "Ask for a rule with a lift above 1.",
    ),
    "budget": (
        "It would tell you more cells than your budget has left.",
        "Ask about cells you know already, or ask the steward for a larger budget.",
    ),
}
"""Why a rule is refused, and what to do about it."""
FIELDS = {
    "release": "release", "rule": "rules", "rules": "rules", "request": "rules", "file": "file", "what": "what",
    "cells": "cells", "cell": "cells",
}  # fmt: skip


@router.get("/interpret")
def empty_rules(request: Request, vault: Vault, found: Signed) -> HTMLResponse:
    """The form for rules."""
    return _rules_page(request, vault, found)


@router.post("/interpret")
def interpret(
    request: Request,
    vault: Vault,
    found: Signed,
    release: Annotated[str, Form(max_length=200, pattern=NO_NUL)] = "",
    rules: Annotated[str, Form()] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> HTMLResponse:
    """What rules mean, those that may be told."""
    typed = {"release": release, "rules": rules}
    try:
        told = api.interpreted(request, vault, found.person, release, _given(rules, file))
    except ShoalError as error:
        return _rules_page(request, vault, found, typed, error=error)
    return _rules_page(request, vault, found, typed, told=told)


@router.get("/values")
def empty_values(request: Request, vault: Vault, found: Signed) -> HTMLResponse:
    """The form for single cells."""
    return _values_page(request, vault, found)


@router.post("/values")
def values(
    request: Request,
    vault: Vault,
    found: Signed,
    what: Annotated[str, Form(max_length=20)] = "",
    cells: Annotated[str, Form()] = "",
) -> HTMLResponse:
    """What cells stand for, those that may be told."""
    typed = {"what": what, "cells": cells}
    chosen = dict(enumerate(_allowed(vault, found, "values"), 1))
    try:
        if not what.isdecimal() or int(what) not in chosen:
            raise ParameterError(Problem("what", "no column is chosen", "choose one"))
        if not _lines(cells):
            raise ParameterError(Problem("cells", "there are none", "write one a line"))
        one = chosen[int(what)]
        told = api.told_cells(request, vault, found.person, one["release"], one["column"], _lines(cells))
    except ShoalError as error:
        return _values_page(request, vault, found, typed, error=error)
    return _values_page(request, vault, found, typed, told=told)


@router.get("/history")
def history(
    request: Request, vault: Vault, found: Signed, before: Annotated[int | None, Query(ge=1, le=MANY)] = None
) -> HTMLResponse:
    """What she asked before, without what she was told."""
    with vault.reading() as connection:
        entries = audit.entries(connection, before=before, actor=found.person.name)
    return page(request, "history.html", entries=entries, before=before)


def _rules_page(
    request: Request, vault: Vault, found: Signed, typed: dict[str, str] | None = None, **came: Any
) -> HTMLResponse:
    return _asking(request, vault, found, "rules", {"release": "", "rules": "", **(typed or {})}, **came)


def _values_page(
    request: Request, vault: Vault, found: Signed, typed: dict[str, str] | None = None, **came: Any
) -> HTMLResponse:
    return _asking(request, vault, found, "values", {"what": "", "cells": "", **(typed or {})}, **came)


def _asking(
    request: Request,
    vault: Vault,
    found: Signed,
    operation: str,
    typed: dict[str, str],
    *,
    error: ShoalError | None = None,
    told: Interpretation | None = None,
) -> HTMLResponse:
    """A page with a form, and what came of it; not for who is let in no more."""
    if isinstance(error, UnauthenticatedError):
        raise error
    problems = shown_problems(error.problems, FIELDS) if error else []
    return page(
        request, "interpret.html" if operation == "rules" else "values.html", status_of(error) if error else 200,
        allowed=_allowed(vault, found, operation), typed=typed, told=told, why=WHY, problems=problems,
        most_rules=MOST_RULES,
    )  # fmt: skip


def _allowed(vault: Vault, found: Signed, operation: str) -> list[dict[str, Any]]:
    """What somebody may ask of which columns, in a steady order."""
    mine = [one for one in vault.allowances(found.person) if one["operation"] == operation]
    return sorted(mine, key=lambda one: (one["release"], one["column"]))


# -- what is given ----------------------------------------------------------------------------------------------------


def _given(text: str, file: UploadFile | None) -> list[dict[str, Any] | str]:
    """Rules out of the field or the file."""
    uploaded = _uploaded(file) if file is not None and file.filename else None
    if uploaded is not None and text.strip():
        what = "rules are given in the field and in a file"
        raise ParameterError(Problem("rules", what, "empty the field, or send no file"))
    found = _lines(text) if uploaded is None else uploaded
    if not found:
        raise ParameterError(Problem("rules", "there are none", "write one a line, or choose a file"))
    if len(found) > MOST_RULES:
        raise ParameterError(Problem("rules", f"there are more than {MOST_RULES:,}", "send them in parts"))
    return found


def _uploaded(file: UploadFile) -> list[dict[str, Any] | str]:
    """Rules of a file: one a line, or a list as JSON writes it."""
    try:
        text = file.file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(Problem("file", "is no text in UTF-8", "save it as a text file")) from None
    if not text.lstrip().startswith(("[", "{")):
        return _lines(text)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise ParameterError(Problem("file", "begins like JSON and is none", "check where it was written")) from None
    found = read.get("rules") if isinstance(read, dict) else read
    if not isinstance(found, list) or not all(isinstance(one, str | dict) for one in found):
        raise ParameterError(Problem("file", "has no list of rules", 'write: ["town = Ada -> disease = K7QZP2MX"]'))
    return found


def _lines(text: str) -> list[Any]:
    return [line.strip() for line in text.splitlines() if line.strip()]
