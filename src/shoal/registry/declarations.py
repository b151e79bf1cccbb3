"""What is said of a method or a publisher as data: where it is, what it takes, what it promises, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shoal.spec import Bound

Protects = Literal["cells", "links", "values"]
"""What keeps a person's values from being told: quasi-identifiers that many share, links to the rest that are cut, or
nothing but how the values themselves are shown, which is pseudonymisation."""
Entry = dict[str, Any]


@dataclass(frozen=True)
class Of:
    """The first of some parameters of the method that is given; where none is, the first sensitive column."""

    names: tuple[str, ...]

    def value(self, given: Mapping[str, Any], sensitive: Sequence[str]) -> Any:
        """What the promise says here."""
        found = next((given[name] for name in self.names if given.get(name) is not None), None)
        return found if found is not None else next(iter(sensitive), None)


@dataclass(frozen=True)
class OneOver(Of):
    """One over a parameter of the method."""

    def value(self, given: Mapping[str, Any], sensitive: Sequence[str]) -> Any:
        """What the promise says here."""
        return 1 / super().value(given, sensitive)


@dataclass(frozen=True)
class Promised:
    """One promise of a method: a model, and where each of its parameters comes from."""

    model: str
    parameters: Mapping[str, Of]
    each: bool = False
    """Whether it is made for every sensitive column."""

    def entries(self, given: Mapping[str, Any], sensitive: Sequence[str]) -> list[Entry]:
        """The promise as a manifest writes it, once or for every sensitive column."""
        values = {name: source.value(given, sensitive) for name, source in self.parameters.items()}
        if not self.each:
            return [{"model": self.model, **values}]
        return [{"model": self.model, "column": name, **values} for name in sensitive]


@dataclass(frozen=True)
class Declared:
    """A method: where it is, its public parameters, what it promises, and what a release of it looks like."""

    home: str
    """``"module:class"``; the checker never loads it."""
    parameters: Mapping[str, Bound]
    promises: tuple[Promised, ...]
    private: Mapping[str, Bound] = field(default_factory=dict)
    """Parameters that speak of the input alone (row positions, an identifying column); they are not published."""
    protects: Protects = "cells"
    publishers: tuple[str, ...] | None = None
    """Names of those that can show its groups; None for every one that protects the same."""
    shape: str | None = None
    """The shape of its releases, where the publisher does not decide that."""
    leaves_out: str | None = None
    """The parameter that says which share of rows it may leave out by itself; `any` for no bound; None for no row."""

    def promised(self, given: Mapping[str, Any], sensitive: Sequence[str]) -> list[Entry]:
        """What a release of the method promises, given its parameters and the sensitive columns."""
        return [entry for promise in self.promises for entry in promise.entries(given, sensitive)]

    def goes_with(self, name: object, publisher: DeclaredPublisher) -> bool:
        """Whether a publisher can show its groups."""
        return self.protects == publisher.protects and (self.publishers is None or name in self.publishers)

    def most_left_out(self, given: Mapping[str, Any], n_rows: int) -> int:
        """How many of so many rows the method may leave out by itself."""
        if self.leaves_out == "any":
            return n_rows
        return int(float(given.get(self.leaves_out, 0.0)) * n_rows) if self.leaves_out else 0


@dataclass(frozen=True)
class DeclaredPublisher:
    """A publisher: where it is, its parameters, and the shape of what it publishes."""

    home: str
    """``"module:class"``; the checker never loads it."""
    parameters: Mapping[str, Bound]
    shapes: Mapping[str | None, str]
    """Shape by the parameter `shape`; by None where there is none."""
    protects: Protects = "cells"

    def shape(self, given: Mapping[str, Any]) -> str | None:
        """The shape of a release."""
        return self.shapes.get(given.get("shape") if "shape" in self.parameters else None)


@dataclass(frozen=True)
class DeclaredColumnPublisher:
    """A publisher of a sensitive column: where it is, its parameters, and those of them that are not published."""

    home: str
    """``"module:class"``; the checker never loads it."""
    parameters: Mapping[str, Bound]
    private: Mapping[str, Bound]
    """Parameters that speak of the values alone: they are part of the key."""


__all__ = ["Declared", "DeclaredColumnPublisher", "DeclaredPublisher", "Of", "OneOver", "Promised", "Protects"]
