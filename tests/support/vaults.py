"""Vaults to try: two small releases with hidden columns, people and grants, and a server on loopback."""

from __future__ import annotations

import http.client
import itertools
import json
import logging
import re
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from argon2 import PasswordHasher

import shoal
from shoal.mining.rules import Condition, Rule
from shoal.vault import grants, people
from shoal.vault.database import Database
from shoal.vault.keys import MasterKeys
from shoal.vault.limiting import Limits
from shoal.vault.people import Person
from shoal.vault.server import Serving, uvicorn_server
from shoal.vault.service import Service

REAL_HASHER = people._hasher
people._hasher = cache(lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
"""A quarter of a second for every password is for those who guess; tests are not among them."""

DAY = 86_400_000_000
STEWARD, CLINIC, PATIENTS = "sue", "clinic", "patients"
THRESHOLDS = {
    CLINIC: {"min_support": 0.02, "min_confidence": 0.2}, PATIENTS: {"min_support": 0.05, "min_confidence": 0.5},
}  # fmt: skip
DISEASES = ("flu", "cold", "gout", "ache")
RELAXED = Limits(requests=10**6, failures=10**6, failures_by_address=10**6, at_once=10**6)


# -- releases ---------------------------------------------------------------------------------------------------------


@cache
def release(variant: str = "linear", seed: int = 5) -> shoal.Release:
    """Two hundred people; every town has a disease of its own, mostly."""
    towns = [("Ada", "Bo", "Cy", "Di")[row % 4] for row in range(200)]
    diseases = [DISEASES[row % 4] if row % 5 else DISEASES[(row // 5) % 4] for row in range(200)]
    frame = pl.DataFrame(
        {
            "age": [20 + row // 4 for row in range(200)], "town": towns, "disease": diseases,
            "income": [1000 + 10 * (row * 7 % 20) ** 2 for row in range(200)],
            "show": [2 + row // 4 % 2 for row in range(200)],
        }
    )  # fmt: skip
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "town": shoal.Nominal()},
        sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()}, choice="show",
    )  # fmt: skip
    hiding = [shoal.Aliases("disease"), shoal.Grades("income", quantiles=4, variant=variant)]
    publish = [shoal.Generalize(sets=True), *hiding]
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=5), publish=publish, seed=seed)


def aliases() -> list[str]:
    """The aliases of the release, each with the rule that names it, in the order of what they stand for."""
    values = release().key.by_name["disease"].values
    return sorted(values, key=lambda alias: (values[alias], alias))


def meaning(alias: str) -> str:
    return str(release().key.by_name["disease"].values[alias][0])


def rule_for(alias: str) -> Rule:
    """A rule that the table bears out: the alias, and the town where it is most frequent."""
    table = release().table
    town = table.filter(pl.col("disease") == alias)["town"].value_counts(sort=True)["town"][0]
    return Rule((Condition("town", "=", town),), (Condition("disease", "=", alias),))


TOWNS = ("Ada", "Bad Aussee", "Cue", "Dover")
ILLNESSES = ("Asthma", "Gout", "Influenza", "Migraine")


@cache
def patients() -> shoal.Release:
    """Two hundred others; each town has a disease of its own, nine times of ten, and each disease one alias."""
    frame = pl.DataFrame(
        {
            "sex": ["female", "male"] * 100, "town": [TOWNS[row // 50] for row in range(200)],
            "disease": [ILLNESSES[(row // 50 + (row % 10 == 0)) % 4] for row in range(200)],
        }
    )  # fmt: skip
    schema = shoal.Schema(
        quasi={"sex": shoal.Nominal(), "town": shoal.Nominal()}, sensitive={"disease": shoal.Nominal()}
    )
    hidden = shoal.Aliases("disease", default=2)
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=5), publish=[hidden], seed=1)


def alias_of(illness: str) -> str:
    """The alias of an illness of patients."""
    values = patients().key.by_name["disease"].values
    return next(alias for alias, meant in values.items() if meant[0] == illness)


def stands_in(kept: bytes, word: str) -> bool:
    """Whether a text is in clear in what is kept; some letters stand anywhere by chance, a cell in its quotes only."""
    return word.encode() in kept if len(word) > 4 else f'"{word}"'.encode() in kept


def town_rule(place: int) -> str:
    """A rule about patients that the table bears out well."""
    return f'town = "{TOWNS[place]}" -> disease = {alias_of(ILLNESSES[place])}'


# -- vaults -----------------------------------------------------------------------------------------------------------


@dataclass
class Made:
    """A vault, and those who use it."""

    service: Service
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)
    release: str = CLINIC

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)

    def person(self, name: str = "ada") -> Person:
        with self.service.reading() as connection:
            return people.named(connection, name)

    def add(self, name: str | None = None, role: str = "researcher", password: str | None = None) -> tuple[str, str]:
        """Add somebody; name and token."""
        name = name or f"{role} {next(self._numbers)}"
        with self.service.changing() as ledger:
            self.tokens[name] = people.add_person(ledger, STEWARD, name, role, password)
        return name, self.tokens[name]

    def grant(self, name: str = "ada", column: str = "disease", budget: int = 3, **more: Any) -> None:
        release_name, operation = more.get("release", self.release), more.get("operation", "rules")
        with self.service.changing() as ledger:
            expires = ledger.now + int(more.get("days", 30) * DAY)
            grants.grant(ledger, STEWARD, name, release_name, column, operation, budget, expires)

    def session(self, name: str) -> str:
        """A session of somebody."""
        with self.service.changing() as ledger:
            return people.begin_session(ledger, people.named(ledger.connection, name))

    def entries(self) -> int:
        return int(self.service.status()["audit_entries"])


def made(folder: Path, url: str | None = None, variant: str = "linear", name: str = CLINIC) -> Made:
    """A vault with one release, a steward and a researcher who has no grant yet."""
    keys = MasterKeys.new()
    keys.write(folder / "vault.key")
    database = Database(url or str(folder / "vault.db"))
    _, token = Service.init(database, keys, STEWARD)
    service = Service(database, MasterKeys.from_file(folder / "vault.key"), folder / "vault.key")
    shown = release(variant) if name == CLINIC else patients()
    service.add_release(STEWARD, name, shown, shown.key, **THRESHOLDS[name])
    found = Made(service, folder, {STEWARD: token}, name)
    found.add("ada")
    return found


# -- served -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """What came of a request."""

    status: int
    text: str
    headers: http.client.HTTPMessage

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def mark(self) -> str:
        """What the forms of a page carry."""
        found = re.search(r'name="csrf" value="([0-9a-f]*)"', self.text)
        assert found is not None, "the page has no form"
        return found[1]


@dataclass(frozen=True)
class Site:
    """A vault that is served."""

    url: str

    def ask(
        self,
        method: str,
        path: str,
        token: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answered:
        """One request, without following where it leads; a body that is no bytes is sent as JSON."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {"content-type": "application/json", **(headers or {})}
        if token is not None:
            given["authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=60)
        try:
            connection.request(method, path, data, given)
            answer = connection.getresponse()
            return Answered(answer.status, answer.read().decode(), answer.headers)
        finally:
            connection.close()

    def page(
        self, path: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answered:
        """A page, as a browser asks for it or sends its form."""
        given = {"accept": "text/html", **(headers or {})}
        if form is None:
            return self.ask("GET", path, headers=given)
        given["content-type"] = "application/x-www-form-urlencoded"
        return self.ask("POST", path, body=urllib.parse.urlencode(form).encode(), headers=given)


@contextmanager
def served(service: Service, limits: Limits = RELAXED, *, tls: bool = False, **more: Any) -> Iterator[Site]:
    """Serve a vault on a free port, and end it; `tls` as if a proxy before it spoke that; `more` is of `Serving`."""
    with socket.socket() as taken, own_logs():
        taken.bind(("127.0.0.1", 0))
        server = uvicorn_server(service, Serving(port=0, behind_proxy=tls, **more), limits)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        taken.listen(128)
        thread.start()
        end = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive() and time.monotonic() < end, "the server does not start"  # noqa: PT018
            time.sleep(0.01)
        try:
            yield Site(f"http://127.0.0.1:{taken.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive(), "the server does not stop"


@contextmanager
def own_logs() -> Iterator[None]:
    """Give loggers back what they wrote to: the error stream of one test is closed when it ends."""
    loggers = [logging.getLogger(name) for name in ("shoal.vault", "uvicorn.error")]
    before = [logger.handlers for logger in loggers]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, before, strict=True):
            logger.handlers = handlers
