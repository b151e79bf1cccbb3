"""Calls of users: one that Python would refuse with a TypeError is refused in one error that says what to give."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from shoal.errors import ParameterError, Problems, counted, did_you_mean

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


class Need(Protocol):
    """What an argument must be."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""


@dataclass(frozen=True)
class OfType:
    """A value of some type."""

    kind: type | tuple[type, ...]
    example: str

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        right = isinstance(value, self.kind)
        return None if right else f"needs something like {self.example}, got {type(value).__name__}"


@dataclass(frozen=True)
class OneOrMore:
    """A text, or several in a list."""

    example: str

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        several = value if isinstance(value, (list, tuple)) else [value]
        right = all(isinstance(one, str) for one in several)
        return None if right else f"needs a text or a list of texts, such as {self.example}, got {type(value).__name__}"


_ROWS = re.compile(r"Any|object|Frame|Series|Sequence\[(int|float)|Iterable|Collection")
"""What annotations say of arguments that may be a frame, a column or an array."""


@dataclass(frozen=True)
class NoRows:
    """Anything but a frame, a column or an array."""

    example: str

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        rows = any(hasattr(value, name) for name in ("__array__", "__arrow_c_stream__", "collect_schema"))
        if not rows or isinstance(value, type) or getattr(value, "shape", None) == ():
            return None
        wanted = f"needs something like {self.example}" if self.example else "takes no table, column or array"
        return f"{wanted}, got {type(value).__name__}"


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def checked_call(
    *,
    examples: Mapping[str, str] | None = None,
    passes: Collection[str] = (),
    elsewhere: Callable[[str], str] | None = None,
    needs: Mapping[str, Need] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have a function refuse arguments that it does not know, that it lacks, or that are too many: all at once.

    A frame, a column or an array is refused where no annotation says that there may be one: whatever became of it
    could be told with its cells.

    Parameters
    ----------
    examples
        What to give for arguments that are missing, by their names.
    passes
        Names that it takes besides its parameters, and passes on; whatever it is given, if none are said.
    elsewhere
        Says where a name belongs that the function does not know; an empty text if nowhere.
    needs
        What arguments must be, by their names, where they are not left at None; of those that the function has.
    """

    def checked(work: Callable[P, R]) -> Callable[P, R]:
        # The object, or class, that a method is called on is not given by the caller.
        parameters = dict(inspect.signature(work).parameters)
        own = sum(parameters.pop(name, None) is not None for name in ("self", "cls"))
        said, kept = examples or {}, work.__name__ == "__init__"  # looked at later, as scikit-learn wants it
        single = [name for name, one in parameters.items() if not kept and not _ROWS.search(str(one.annotation))]
        wanted: dict[str, Need] = {**{name: NoRows(said.get(name, "")) for name in single}, **(needs or {})}
        name = work.__qualname__.removesuffix(".__init__")

        @wraps(work)
        def call(*args: P.args, **given: P.kwargs) -> R:
            _refuse(name, parameters, args[own:], given, said, passes, elsewhere, wanted)
            return work(*args, **given)

        return call

    return checked


def checked_class(made: C) -> C:
    """Have a class refuse what it cannot be made of, as `checked_call` has a function."""
    made.__init__ = checked_call()(made.__init__)  # type: ignore[misc]
    return made


def _refuse(
    called: str,
    parameters: Mapping[str, inspect.Parameter],
    args: tuple[object, ...],
    given: Mapping[str, Any],
    examples: Mapping[str, str],
    passes: Collection[str],
    elsewhere: Callable[[str], str] | None,
    needs: Mapping[str, Need],
) -> None:
    problems, kinds = Problems(), {one.kind for one in parameters.values()}
    by_place = [name for name, one in parameters.items() if one.kind in _BY_PLACE]
    known = [name for name, one in parameters.items() if one.kind not in _VARIABLE]
    if len(args) > len(by_place) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        few = f"takes {len(by_place)}: {', '.join(by_place)}" if by_place else "takes none"
        what, fix = f"got {counted(len(args), 'value')} without a name, and {few}", "give all others by their names"
        problems.add(called, what, fix if by_place else f"give each by its name: {', '.join(known)}")
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds and not passes
    for name in given:
        if name in by_place[: len(args)]:
            problems.add(f"{called}({name}=)", "is given twice", "keep one")
        elif name not in known and name not in passes and not takes_any:
            takes = sorted({*known, *passes})
            fix = (elsewhere(name) if elsewhere else "") or did_you_mean(name, takes, f"known: {', '.join(takes)}")
            problems.add(f"{called}({name}=)", "unknown argument", fix)
    for name in known:
        needed = parameters[name].default is inspect.Parameter.empty
        if needed and name not in given and name not in by_place[: len(args)]:
            example = examples.get(name) or getattr(needs.get(name), "example", "")
            problems.add(f"{called}({name}=)", "missing", f"give something like {example}" if example else "")
    several = [name for name, one in parameters.items() if one.kind is inspect.Parameter.VAR_POSITIONAL]
    by_name = [*zip(by_place, args, strict=False), *given.items()]
    by_name += [(name, one) for name in several for one in args[len(by_place) :]]
    for name, value in by_name:
        left_out = name in parameters and value is None and parameters[name].default is None
        if name in needs and name in parameters and not left_out and (wrong := needs[name].complaint(value)):
            problems.add(f"{called}({name}=)" if name not in several else called, wrong)
    problems.raise_if_any(ParameterError)
