"""What stands before every request: how large and how slow it may be, headers of every answer, logs and figures."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from shoal.errors import Problem

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
TurnedAway = Callable[[Scope, Problem, int], App]
"""What answers a request that does not get through: what is wrong with it, and the status that says so."""

LARGEST = 1_000_000
"""Bytes of a request, at most."""
DRAINED = 50 * LARGEST
"""Bytes of a larger one that are still taken in, unread: who is answered while sending sees a broken connection."""
DRAIN_SECONDS = 1
"""How long such a body may pause."""
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
REFUSED = {400: "ended too early", 408: "took too long to arrive", 413: "is too large"}
TLS_ONLY = {"strict-transport-security": "max-age=31536000"}

log = logging.getLogger("shoal.vault")


class Figures:
    """What Prometheus may know: how much, how long, how it ended; never about what."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "shoal_vault_requests_total", "Requests by route and status", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "shoal_vault_request_seconds", "How long requests took", ["route"], registry=self.registry
        )
        self.rules = Counter(
            "shoal_vault_rules_total", "Rules and cells that were answered or refused", ["outcome"],
            registry=self.registry,
        )  # fmt: skip
        self.failures = Counter("shoal_vault_sign_in_failures_total", "Failures to sign in", registry=self.registry)
        self.sealed = Gauge("shoal_vault_sealed", "1 while the vault has no master key", registry=self.registry)
        self.clock_behind = Gauge(
            "shoal_vault_clock_behind_seconds", "How far the clock is behind the audit log", registry=self.registry
        )


class Guard:
    """Wraps the application."""

    def __init__(self, app: App, figures: Figures, turned_away: TurnedAway, *, tls: bool, slowest: float) -> None:
        self._app, self._figures, self._turned_away, self._slowest = app, figures, turned_away, slowest
        self._headers = {**HEADERS, **(TLS_ONLY if tls else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status, number = time.perf_counter(), 500, uuid.uuid4().hex

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                more = [one for one in more if one[0] not in given]
                message["headers"] = [*message["headers"], *more, (b"x-request-id", number.encode())]
            await send(message)

        try:
            body = await self._body(scope, receive)
            if isinstance(body, int):
                problem = Problem("request", REFUSED[body])
                await self._turned_away(scope, problem, body)(scope, receive, answer)
            else:
                await self._app(scope, _given(body, receive), answer)
        finally:
            self._note(scope, status, time.perf_counter() - begin, number)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | int:
        """The whole body, or the status to refuse it with."""
        for name, value in scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value) > LARGEST):
                return await _drained(receive, self._slowest)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._slowest):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return 400
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > LARGEST:
                        return await _drained(receive, self._slowest)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            return 408

    def _note(self, scope: Scope, status: int, seconds: float, number: str) -> None:
        """Log a request by its route, without anything that somebody typed."""
        route = getattr(scope.get("route"), "path", "other")
        self._figures.requests.labels(route, str(status)).inc()
        self._figures.seconds.labels(route).observe(seconds)
        told = {"route": route, "method": scope["method"], "status": status, "ms": round(1000 * seconds, 2)}
        log.info("request", extra={"fields": {**told, "id": number, "who": scope.get("state", {}).get("who")}})


async def _drained(receive: Receive, slowest: float) -> int:
    """Let a body that is too large arrive, keeping nothing of it; 413."""
    size = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(slowest):
            while size <= DRAINED:
                message = await asyncio.wait_for(receive(), DRAIN_SECONDS)
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    break
    return 413


def _given(body: bytes, receive: Receive) -> Receive:
    """Hand over a body that was read already."""
    given = False

    async def once() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event and its fields; of an error only its kind, since its message may hold a cell."""
        told: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "event": record.getMessage(),
        }
        told |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            told["error"] = record.exc_info[0].__name__
        return json.dumps({key: value for key, value in told.items() if value is not None})
