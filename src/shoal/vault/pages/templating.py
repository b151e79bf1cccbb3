"""Templates of pages, and how they write times, shares and numbers."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from shoal.errors import some

HERE = Path(__file__).parents[1]


def rendered(template: str, **told: Any) -> str:
    """A page; whatever is told is shown as text, whatever it holds."""
    return _environment().get_template(template).render(**told)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"moment": moment, "day": day, "percent": percent, "number": number, "detail": detail}
    made.globals |= {"static": static_address}
    return made


@cache
def static_address(name: str) -> str:
    """Where a file is served; another address for another content."""
    content = (HERE / "static" / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


def moment(microseconds: int) -> str:
    """Day and time."""
    return _utc(microseconds).strftime("%Y-%m-%d %H:%M")


def day(microseconds: int) -> str:
    """The day alone."""
    return _utc(microseconds).strftime("%Y-%m-%d")


def _utc(microseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(microseconds / 1_000_000, datetime.UTC)


def percent(share: float) -> str:
    """A share of a whole."""
    return f"{100 * share:.1f} %"


def number(value: int) -> str:
    """A whole number, its thousands apart."""
    return f"{value:,}"


def detail(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What an entry of the audit log says in detail, in words."""
    return [(key.replace("_", " "), _said(key, value)) for key, value in given.items() if value not in ({}, None)]


def _said(key: str, value: Any) -> str:
    if key in ("expires", "made", "was") and isinstance(value, int):
        return f"{moment(value)} UTC"
    if key in ("sha256", "fingerprint"):
        return f"{value[:12]}…"
    if isinstance(value, dict):
        return some([f"{name}: {one}" for name, one in value.items()])
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
