"""Frozen, checked descriptions: the one table of constraints behind every method, model and publisher.

A parameter is declared once, with its bounds and one line of text. From that come the check and its error text,
the recipe key, the command-line flag, the row in the documentation and the bad values that the tests try.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from shoal.errors import ParameterError, Problem, Problems, counted, did_you_mean
from shoal.spec.bounds import Bound, ByColumn, Maybe, Whole, shown


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
            problems.add(
                cls.__name__,
                f"got {counted(len(args), 'value')}, but has {counted(len(known), 'parameter')}: {', '.join(known)}",
            )
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
    listed = f"known: {', '.join(sorted(registry))}" if len(registry) else "install the package that brings it"
    raise ParameterError(Problem(where, what, did_you_mean("" if name is None else str(name), registry, listed)))
