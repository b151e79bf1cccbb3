"""Frozen, checked descriptions: the one table of constraints behind every method, model and publisher.

A parameter is declared once, with its bounds and one line of text. From that come the check and its error text,
the recipe key, the command-line flag, the row in the documentation and the bad values that the tests try.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

from shoal.errors import ParameterError, Problem, Problems, did_you_mean
from shoal.redaction import redacted


class Bound(Protocol):
    """What a value of a parameter must be."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""

    def describe(self) -> str:
        """Say what is allowed, in a few words."""

    def parse(self, text: str) -> object:
        """Read a value from a command line; text that does not fit comes back as it is."""

    def bad_values(self) -> list[object]:
        """Values that must be refused, for the tests."""


@dataclass(frozen=True)
class Whole:
    """A whole number within bounds."""

    minimum: int | None = None
    maximum: int | None = None

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = None
        if number is None or isinstance(value, bool):
            return f"needs {self.describe()}, got {shown(value)}"
        if (self.minimum is not None and number < self.minimum) or (self.maximum is not None and number > self.maximum):
            return f"needs {self.describe()}, got {number}"
        return None

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        if self.minimum is not None and self.maximum is not None:
            return f"a whole number from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"a whole number of at least {self.minimum}"
        return "a whole number" if self.maximum is None else f"a whole number of at most {self.maximum}"

    def parse(self, text: str) -> object:
        """Read a whole number."""
        return int(text) if re.fullmatch(r"[+-]?\d+", text.strip()) else text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        outside = [] if self.minimum is None else [self.minimum - 1]
        outside += [] if self.maximum is None else [self.maximum + 1]
        return [*outside, 2.5, "many", True, None]


@dataclass(frozen=True)
class Real:
    """A finite number within bounds; an open end excludes the bound itself."""

    minimum: float = -math.inf
    maximum: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        try:
            number = math.nan if isinstance(value, (bool, str, bytes)) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            return f"needs {self.describe()}, got {shown(value)}"
        low = number > self.minimum if self.open_low else number >= self.minimum
        high = number < self.maximum if self.open_high else number <= self.maximum
        return None if low and high and math.isfinite(number) else f"needs {self.describe()}, got {number:g}"

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        left = "(" if self.open_low or self.minimum == -math.inf else "["
        right = ")" if self.open_high or self.maximum == math.inf else "]"
        return f"a number in {left}{self.minimum:g}, {self.maximum:g}{right}"

    def parse(self, text: str) -> object:
        """Read a number; one without a point is whole, as in a recipe."""
        try:
            return int(text) if re.fullmatch(r"[+-]?\d+", text.strip()) else float(text)
        except ValueError:
            return text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        values: list[object] = [math.nan, math.inf, "much", None]
        if math.isfinite(self.minimum):
            values.append(self.minimum if self.open_low else self.minimum - 1)
        if math.isfinite(self.maximum):
            values.append(self.maximum if self.open_high else self.maximum + 1)
        return values


@dataclass(frozen=True)
class Share(Real):
    """A share from 0 to 1; whoever writes percent is told the share."""

    minimum: float = 0.0
    maximum: float = 1.0

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        said = super().complaint(value)
        percent = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*%?\s*", str(value))
        if said is None or percent is None or not 0 < float(percent[1]) <= 100:
            return said
        return f"{said}; for {float(percent[1]):g} % write {float(percent[1]) / 100:g}"


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if isinstance(value, str) and value in self.words:
            return None
        hint = did_you_mean(value, self.words) if isinstance(value, str) else ""
        hint = f" ({hint})" if hint.startswith("did") else ""
        return f"needs {self.describe()}, got {shown(value)}{hint}"

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "one of " + ", ".join(f'"{word}"' for word in self.words)

    def parse(self, text: str) -> object:
        """Take the word as it is."""
        return text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return [self.words[0] + "x", 1, None]


@dataclass(frozen=True)
class YesNo:
    """True or false."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if isinstance(value, bool) else f"needs {self.describe()}, got {shown(value)}"

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "true or false"

    def parse(self, text: str) -> object:
        """Read true or false."""
        return {"true": True, "false": False}.get(text.strip().lower(), text)

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["yes", 1, None]


@dataclass(frozen=True)
class Maybe:
    """What another bound allows, or nothing given."""

    bound: Bound

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if value is None else self.bound.complaint(value)

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return f"{self.bound.describe()}, or nothing"

    def parse(self, text: str) -> object:
        """Read what the inner bound reads."""
        return self.bound.parse(text)

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return [value for value in self.bound.bad_values() if value is not None]


@dataclass(frozen=True)
class Several:
    """One or more values that each fit another bound."""

    bound: Bound

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            return f"needs {self.describe()}"
        return next((text for item in value if (text := self.bound.complaint(item))), None)

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return f"a list; each {self.bound.describe()}"

    def parse(self, text: str) -> object:
        """Read a comma-separated list."""
        return [self.bound.parse(item) for item in text.split(",")]

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return [[], "text", *([bad] for bad in self.bound.bad_values())]


@dataclass(frozen=True)
class AnyText:
    """Any text."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if isinstance(value, str) and value else "needs a text"

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "a text"

    def parse(self, text: str) -> object:
        """Take the text as it is."""
        return text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", 1, 2.5, None]


@dataclass(frozen=True)
class ColumnName(AnyText):
    """The name of a column of the table."""

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "a column name"


@dataclass(frozen=True)
class ByColumn:
    """A value for each of some columns, by name, that fits another bound."""

    bound: Bound
    named: ClassVar[str] = "column "
    """What is named, for errors."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if not isinstance(value, Mapping) or not value:
            return f"needs {self.describe()}, got {shown(value)}"
        for column, entry in value.items():
            if not isinstance(column, str) or not column:
                return f"needs {self.describe()}, got the name {shown(column)}"
            if self.bound.complaint(entry):
                return f"needs {self.describe()}, got {shown(entry)} for {self.named}{column!r}"
        return None

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return f"{self.bound.describe()}, by column name"

    def parse(self, text: str) -> object:
        """Read `age=2,sex=1`; a name may hold an equals sign, but no comma."""
        parts = [item.rpartition("=") for item in text.split(",")]
        entries = {column.strip(): self.bound.parse(entry) for column, _, entry in parts}
        fits = len(entries) == len(parts) and all(equals for _, equals, _ in parts)
        return entries if fits else text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        wrong = [{"age": bad} for bad in self.bound.bad_values()]
        return [*wrong, {}, {"": 1.0}, {1: 1.0}, [1.0], "age", 1.0]


@dataclass(frozen=True)
class Weights(ByColumn):
    """A positive number for each of some columns, by name; columns that are not named weigh 1."""

    bound: Bound = Real(0, open_low=True)

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "positive numbers by column name"


@dataclass(frozen=True)
class ByName(ByColumn):
    """A value for each of some values of a column, or nodes of its hierarchy, that fits another bound."""

    named: ClassVar[str] = ""

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return f"{self.bound.describe()}, by name of a value or a node"


@dataclass(frozen=True)
class Ranges:
    """Pairs of a lower and an upper end, in rising order, of which none reaches into the next."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            return f"needs {self.describe()}"
        for place, pair in enumerate(value, 1):
            if (
                isinstance(pair, str)
                or not isinstance(pair, Sequence)
                or len(pair) != 2
                or any(map(Real().complaint, pair))
            ):
                return f"needs {self.describe()}; number {place} is no pair of numbers"
            if pair[0] > pair[1]:
                return f"needs {self.describe()}; number {place} ends before it begins"
        for place, (one, other) in enumerate(itertools.pairwise(value), 1):
            if one[1] > other[0] or one[0] == other[0]:
                return f"needs {self.describe()}; numbers {place} and {place + 1} overlap, or are not in rising order"
        return None

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "a list of pairs, lower and upper end, in rising order and without overlap"

    def parse(self, text: str) -> object:
        """Read `0..10,10..20`."""
        pairs = [item.split("..") for item in text.split(",")]
        return [[Real().parse(end) for end in pair] for pair in pairs]

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return [
            [],
            "0..1",
            [1, 2],
            [[0, 1, 2]],
            [[1, 0]],
            [[0, 2], [1, 3]],
            [[2, 3], [0, 1]],
            [[0, "x"]],
            [[0, math.nan]],
        ]


def shown(value: object) -> str:
    """A parameter as an error shows it: short values themselves, others by their type."""
    text = redacted(repr(value))
    return text if len(text) <= 40 else f"a value of type {type(value).__name__}"


def _is_whole(bound: Bound) -> bool:
    """Whether the values by column are whole numbers, and stay so."""
    inner = bound.bound if isinstance(bound, Maybe) else bound
    return isinstance(inner, ByColumn) and isinstance(inner.bound, Whole)


def _plain(value: object, *, whole: bool = False) -> object:
    """A checked value in Python's own types, so that it can be compared and written, whatever numpy made of it."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, Sequence):
        return tuple(_plain(item) for item in value)
    if isinstance(value, Mapping):  # in one order, so that the same entries give the same bytes
        plain = {str(key): _plain(value[key]) for key in sorted(value)}
        return {key: float(entry) if type(entry) is int and not whole else entry for key, entry in plain.items()}
    if hasattr(value, "__index__"):
        return value.__index__()
    return float(value) if hasattr(value, "__float__") else value


def as_kept(bound: Bound, value: object) -> object:
    """A checked value as a spec keeps and writes it."""
    return _plain(value, whole=_is_whole(bound))


def param(bound: Bound, text: str, *, default: object = dataclasses.MISSING) -> Any:
    """Declare a parameter of a spec: its bounds, one line of text, and a default if it has one."""
    inner = bound.bound if isinstance(bound, Maybe) else bound
    hashed = None if not isinstance(inner, ByColumn) else False  # a dict has no hash; equal specs still hash alike
    return dataclasses.field(default=default, hash=hashed, metadata={"bound": bound, "text": text})


@dataclass(frozen=True)
class Parameter:
    """One declared parameter, as listings and the documentation show it."""

    name: str
    bound: Bound
    text: str
    default: object

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is dataclasses.MISSING


RESERVED = ("name", "model")
"""Keys of recipes and manifests that say which spec is meant: no parameter can be called so."""


class Spec:
    """A frozen description with checked parameters; subclasses are frozen dataclasses with `param` fields."""

    name: ClassVar[str]
    texts: ClassVar[tuple[str, ...]] = ("title",)
    """Attributes of the class that listings show, and that every one must have."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """Parameters that have another name now, by the old one: whoever uses the old one is told the new one."""

    def __new__(cls, *args: object, **given: object) -> Self:
        """Refuse unknown and missing parameters, in one error that says what is wrong with the others too."""
        if dataclasses.is_dataclass(cls):
            cls._check_arguments(args, given)
        return super().__new__(cls)

    def __getnewargs_ex__(self) -> tuple[tuple[object, ...], dict[str, object]]:
        """A copy is made with the same parameters."""
        return (), {parameter.name: getattr(self, parameter.name) for parameter in self.parameters()}

    @classmethod
    def _check_arguments(cls, args: tuple[object, ...], given: dict[str, object]) -> None:
        problems, known = Problems(), {parameter.name: parameter for parameter in cls.parameters()}
        values = dict(zip(known, args, strict=False)) | given
        if len(args) > len(known):
            problems.add(cls.__name__, f"got {len(args)} values, but has {len(known)} parameters: {', '.join(known)}")
        for name in given:
            if name not in known:
                wrong = ("unknown parameter", did_you_mean(name, known))
                problems.add(f"{cls.__name__}({name}=)", *(cls.new_name(name) if name in cls.renamed else wrong))
            elif name in list(known)[: len(args)]:
                problems.add(f"{cls.__name__}({name}=)", "is given twice", "keep one")
        for name, parameter in known.items():
            if name not in values and parameter.required:
                problems.add(f"{cls.__name__}({name}=)", "missing", f"give {parameter.bound.describe()}")
        if len(problems):
            for name, parameter in known.items():
                if name in values and (complaint := parameter.bound.complaint(values[name])):
                    problems.add(f"{cls.__name__}({name}=)", complaint)
        problems.raise_if_any(ParameterError)

    def __post_init__(self) -> None:
        problems = Problems()
        for parameter in self.parameters():
            complaint = parameter.bound.complaint(getattr(self, parameter.name))
            if complaint:
                problems.add(f"{type(self).__name__}({parameter.name}=)", complaint)
        problems.raise_if_any(ParameterError)
        for parameter in self.parameters():
            object.__setattr__(self, parameter.name, as_kept(parameter.bound, getattr(self, parameter.name)))

    @classmethod
    def check_declared(cls, where: str, problems: Problems) -> None:
        """Note what is wrong with the class itself, as another package may write one."""
        options = getattr(cls, "__dataclass_params__", None)
        if options is None or not options.frozen or "__dataclass_params__" not in vars(cls):
            problems.add(where, "is not a frozen dataclass", "write @dataclass(frozen=True) above the class")
            return
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        if bare := [field.name for field in fields if "bound" not in field.metadata]:
            problems.add(where, f"has parameters without bounds: {', '.join(bare)}", "declare them with param(...)")
        if taken := [field.name for field in fields if field.name in RESERVED]:
            problems.add(where, f"has a parameter called {', '.join(taken)}", "call it otherwise")
        if lacking := [text for text in cls.texts if not isinstance(getattr(cls, text, None), str)]:
            problems.add(where, f"does not say its {', '.join(lacking)}", "write these attributes of the class")

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Every parameter with its bounds, text and default."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        return tuple(
            Parameter(field.name, field.metadata["bound"], field.metadata["text"], field.default) for field in fields
        )

    @classmethod
    def new_name(cls, old: str, mark: str = "") -> tuple[str, str]:
        """What is wrong with the old name of a parameter, and what to do; `mark` is what a flag begins with."""
        return "was renamed", f"use {mark}{cls.renamed[old]} instead"

    @classmethod
    def from_mapping(cls, values: Mapping[str, object], where: str) -> Self:
        """Build from the keys of a recipe, with all unknown, missing and wrong keys in one error."""
        problems = Problems()
        known = {parameter.name: parameter for parameter in cls.parameters()}
        for key in values:
            if key not in known:
                wrong = cls.new_name(key) if key in cls.renamed else ("unknown key", did_you_mean(key, known))
                problems.add(f"{where}.{key}", *wrong)
        for key, parameter in known.items():
            if key not in values:
                if parameter.required:
                    problems.add(f"{where}.{key}", "missing", f"give {parameter.bound.describe()}")
                continue
            complaint = parameter.bound.complaint(values[key])
            if complaint:
                problems.add(f"{where}.{key}", complaint)
        problems.raise_if_any(ParameterError)
        return cls(**values)

    def to_mapping(self) -> dict[str, object]:
        """Give the parameters as a recipe writes them; optional ones that are not set are left out."""
        pairs = ((parameter.name, getattr(self, parameter.name)) for parameter in self.parameters())
        return {key: value for key, value in pairs if value is not None}


SpecT = TypeVar("SpecT", bound=Spec)


def find(registry: Mapping[str, type[SpecT]], name: object, where: str) -> type[SpecT]:
    """Look a spec up by its name, with the near match when there is none."""
    if isinstance(name, str) and name in registry:
        return registry[name]
    what = "missing" if name is None else f"unknown name {shown(name)}"
    fix = did_you_mean("" if name is None else str(name), registry)
    raise ParameterError(Problem(where, what, fix or "name one that there is, or install the package that brings it"))
