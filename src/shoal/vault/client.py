"""Asking a vault from Python."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ParameterError, Problem, Problems, SourceError
from shoal.errors.redaction import redacted
from shoal.mining.rules import Rule
from shoal.spec import checked_call

MOST = 1000
"""Rules that one request may hold."""


@dataclass(frozen=True)
class Interpreted:
    """What a vault said of one rule."""

    asked: Rule
    meant: Rule | None
    """The rule with the values that its cells stand for; None if it was refused."""
    refused: str | None
    """Why, in one word: grant, support, confidence, lift or budget."""
    support: float
    confidence: float
    lift: float

    def __str__(self) -> str:
        said = f"refused ({self.refused})" if self.meant is None else str(self.meant)
        return f"{said}  [support {self.support:.3g}, confidence {self.confidence:.3g}]"


def _rules(given: Sequence[Rule | str]) -> list[Rule]:
    """Rules that are given as such or as texts; an error names every one that cannot be read."""
    problems, found = Problems(), []
    for at, one in enumerate(given, 1):
        try:
            found.append(one if isinstance(one, Rule) else Rule.from_text(one, f"rule {at}"))
        except ParameterError as error:
            problems.take(error)
    problems.raise_if_any(ParameterError)
    return found


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follows no answer that leads elsewhere: the token would go along, to whatever host it names."""

    def redirect_request(self, *_: Any) -> None:
        """Ask nobody else."""


class Vault:
    """A trusted server that interprets results for researchers.

    Parameters
    ----------
    url
        Its address, such as ``https://vault.example.org``.
    token
        The token that the steward gave you.
    ca_file
        Certificates to trust, where the operating system does not know that of the server.
    timeout
        Seconds to wait for an answer.
    """

    @checked_call(examples={"url": '"https://vault.example.org"'})
    def __init__(self, url: str, token: str, *, ca_file: str | Path | None = None, timeout: float = 60.0) -> None:
        if not isinstance(url, str) or not url.startswith(("https://", "http://")):
            raise ParameterError(Problem("url", "must begin with https:// or http://"))
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token:
            fix = "give it as the steward gave it to you; .strip() takes off the end of the line in a file"
            raise ParameterError(Problem("token", "must be a text without blanks or line ends", fix))
        self._url, self._token, self._timeout = url.rstrip("/"), token, timeout
        context = ssl.create_default_context(cafile=ca_file) if url.startswith("https://") else None
        self._opener = urllib.request.build_opener(_Staying, urllib.request.HTTPSHandler(context=context))

    def __repr__(self) -> str:
        return f"Vault({redacted(self._url)!r})"

    def interpret(self, release: str, rules: Rule | str | Sequence[Rule | str]) -> list[Interpreted]:
        """Have rules interpreted; each is answered, or refused with the reason.

        A rule is a `Rule`, or its text: ``town = Ada -> disease = K7QZP2MX``.
        """
        given = [rules] if isinstance(rules, Rule | str) else list(rules)
        asked = _rules(given)
        found: list[Interpreted] = []
        for begin in range(0, len(asked), MOST):
            part = asked[begin : begin + MOST]
            body = {"release": release, "rules": [one.to_mapping() for one in part]}
            told = self._call("answers", "POST", "/v1/interpret", body)
            found += [_read(rule, one) for rule, one in zip(part, told, strict=True)]
        return found

    def values(self, release: str, column: str, cells: str | float | Sequence[str | float]) -> dict[str | float, Any]:
        """What single cells stand for, one or several; those that are refused are left out."""
        asked = [cells] if isinstance(cells, str | float | int) else list(cells)
        told = self._call("answers", "POST", "/v1/values", {"release": release, "column": column, "cells": asked})
        found: dict[str | float, Any] = {}
        for cell, one in zip(asked, told, strict=True):
            if one["meant"] is not None:
                found[cell] = one["meant"]["then"][column]
        return found

    def grants(self) -> list[dict[str, Any]]:
        """What you may ask, and what is left of it."""
        return self._call("grants", "GET", "/v1/me")

    def _call(self, wanted: str, method: str, path: str, body: Any = None) -> list[Any]:
        """A list in what the vault answers, by its key."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        request = urllib.request.Request(self._url + path, data, headers, method=method)  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                told = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise _told(error) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None)
            what = f"does not answer ({type(reason or error).__name__})"
            raise SourceError(Problem("vault", what, "check its address, and that it runs")) from None
        if not isinstance(told, dict) or not isinstance(told.get(wanted), list):
            raise SourceError(Problem("vault", "answers as no vault does", "check its address"))
        return list(told[wanted])


def _read(rule: Rule, told: Any) -> Interpreted:
    meant = None if told["meant"] is None else Rule.from_mapping(told["meant"])
    return Interpreted(rule, meant, told["refused"], told["support"], told["confidence"], told["lift"])


def _told(error: urllib.error.HTTPError) -> Exception:
    """The refusal of a vault, in its own words."""
    try:
        problems = Problems()
        for one in json.loads(error.read())["problems"]:
            problems.add(one["where"], one["what"], one["fix"])
        problems.raise_if_any(ParameterError)
    except ParameterError as refused:
        return refused
    except (ValueError, KeyError, TypeError):
        pass
    return SourceError(Problem("vault", f"answered with status {error.code}", "check its address"))
