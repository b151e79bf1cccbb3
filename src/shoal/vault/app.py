"""The application that a server runs: the programming interface, the pages, and what is said of errors."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import Response

from shoal._version import __version__
from shoal.errors import Problem
from shoal.vault import api, pages
from shoal.vault.error_answers import ANSWERS, told
from shoal.vault.guard import Figures, Guard, Scope
from shoal.vault.limiting import Counting, Limits
from shoal.vault.service import Service


def create(service: Service, limits: Limits | None = None, *, tls: bool = False, slowest: float = 20.0) -> Guard:
    """The application; a request must have arrived within `slowest` seconds."""
    app = FastAPI(
        title="Shoal vault", version=__version__, docs_url=None, redoc_url=None,
        redirect_slashes=False,  # such an answer leads to the host that a request names, and takes its body along
    )  # fmt: skip
    app.state.service, app.state.figures = service, Figures()
    app.state.counting, app.state.tls = Counting(service.database, limits or Limits()), tls
    for router in (api.everybody, api.researchers, api.stewards, pages.router):
        app.include_router(router)
    app.mount("/static", pages.static(), name="static")
    for error, answer in ANSWERS.items():
        app.add_exception_handler(error, answer)

    def turned_away(scope: Scope, problem: Problem, status: int) -> Response:
        return told(Request({**scope, "app": app}), "RequestError", [problem], status, {"connection": "close"})

    return Guard(app, app.state.figures, turned_away, tls=tls, slowest=slowest)
