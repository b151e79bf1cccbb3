"""What every call that publishes a table takes besides its parts: one table for Python, recipes and flags."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from shoal.display.progress_bar import Watched
from shoal.errors import ParameterError, Problems, class_or_type
from shoal.machine import memory
from shoal.registry.declared import METHOD_CLASSES, MODEL_CLASSES, PUBLISHER_CLASSES
from shoal.registry.registry import Registry, stranger
from shoal.release.manifest import FORMATS, LEFT_OUT
from shoal.spec import Bound, Maybe, OneOf, Share, Whole, YesNo, shown
from shoal.table import markers
from shoal.table.prepare import MISSING_MODES
from shoal.table.schema import Schema

P = ParamSpec("P")
R = TypeVar("R")
SEED_BITS = 128
"""Bits of a seed that is drawn: more than anybody can try."""
ENGINES = ("local", "spark")
"""What does the work of a recipe: this machine, or a cluster."""
SETTINGS: dict[str, tuple[Bound, Any]] = {
    "seed": (Maybe(Whole(0)), None),
    "missing": (OneOf(MISSING_MODES), "keep"),
    "format": (OneOf(FORMATS), "csv"),
    "suppress": (Share(), 0.0),
    "normalise": (YesNo(), False),
    "left_out": (OneOf(LEFT_OUT), "public"),
    "engine": (OneOf(ENGINES), "local"),
}
"""Single values: what each may be, and what it is when not given."""

EXAMPLES = {
    "frame": "a polars, pandas or pyarrow frame",
    "schema": "shoal.Schema(quasi={...})",
    "method": "shoal.Caat(k=5)",
    "recipe": 'shoal.Recipe.load("recipe.toml")',
    "releases": '{"first": shoal.read_release("first")}',
}
"""What to give for the arguments that every call needs."""

Part = tuple[str, object, Any, Registry[Any] | None, str]
"""An argument that is an object: its name, the object, the type it must have, where its class must be registered, and
an example of it."""


def check_arguments(
    parts: Iterable[Part], *, missing_values: object, threads: object, limit: object = None, **settings: object
) -> None:
    """Refuse arguments of the wrong type and settings out of bounds, all at once."""
    problems = Problems()
    for name, value, wanted, registry, example in parts:
        if not isinstance(value, wanted):
            problems.add(f"{name}=", f"needs something like {example}, got {class_or_type(value)}")
        elif registry is not None and value is not None and (unknown := stranger(registry, value)):
            problems.add(f"{name}=", *unknown)
    bounds = {name: SETTINGS[name][0] for name in settings}
    for name, bound in (bounds | {"threads": _cores()}).items():
        if complaint := bound.complaint(threads if name == "threads" else settings[name]):
            problems.add(f"{name}=", complaint)
    if wrong := memory.complaint(limit):
        problems.add("memory=", f"{wrong}, got {shown(limit)}")
    if wrong := markers.complaint(missing_values):
        problems.add("missing_values=", wrong, 'write ["?", "NA"], or {"age": ["999"]}')
    problems.raise_if_any(ParameterError)


def belongs(name: str) -> str:
    """Where something belongs that was given to a call that publishes, and is a parameter of one of its parts."""
    if name in {role.name for role in fields(Schema)}:
        return f"columns and their roles stand in the schema: shoal.Schema({name}=...)"
    found = []
    for part, registry in (("method", METHOD_CLASSES), ("require", MODEL_CLASSES), ("publish", PUBLISHER_CLASSES)):
        classes = (registry[one] for one in registry.own)
        made = next((one.__name__ for one in classes if name in {known.name for known in one.parameters()}), None)
        if made is not None:
            example = f"shoal.{made}({name}=...)"
            found.append(f"{part}=[{example}]" if part == "require" else f"{part}={example}")
    return f"it is a parameter of a part, such as {' or '.join(found)}" if found else ""


def watched_part(wish: object) -> Part:
    """Who is to be shown progress, as an argument to be checked."""
    return ("progress", wish, Watched, None, "True, False, or an object with stage and advance")


def source_part(where: object) -> Part:
    """Where a table came from, as an argument to be checked."""
    return ("source", where, str | None, None, "'people.csv'")


def secret_seed(given: int | None) -> int:
    """The seed that was given, or one that nobody can guess."""
    return secrets.randbits(SEED_BITS) if given is None else given


@contextmanager
def limited_threads(wanted: int | None) -> Iterator[None]:
    """Use so many cores for a while, or all."""
    import numba

    before = numba.get_num_threads()
    if wanted is not None:
        numba.set_num_threads(wanted)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def keeps_to_threads(work: Callable[P, R]) -> Callable[P, R]:
    """Have a function with the parameter ``threads`` use so many cores; what is no such number it refuses itself."""

    @wraps(work)
    def kept(*args: P.args, **options: P.kwargs) -> R:
        wanted: Any = options.get("threads")
        with limited_threads(wanted if _cores().complaint(wanted) is None else None):
            return work(*args, **options)

    return kept


def _cores() -> Bound:
    """How many cores may be asked for."""
    import numba

    return Maybe(Whole(1, int(numba.config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]
