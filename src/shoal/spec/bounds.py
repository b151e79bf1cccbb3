"""What a parameter may be: whole numbers, shares, names, columns, and values by column.

A bound says what is wrong with a value, describes itself, reads a value from a flag, and knows bad values to try.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, Protocol

from shoal.errors import did_you_mean
from shoal.errors.redaction import redacted

PLAIN = (str, int, float, bytes, Decimal, date, Path, Mapping, list, tuple, set, frozenset)
"""What is shown where it does not fit; a column, an array or a frame in its place has cells in it."""


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
        percent = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(%?)\s*", str(value))
        if said is None or percent is None:
            return said
        number = float(percent[1])
        if not percent[2] and super().complaint(number) is None:
            return f"{said}; write it without quotes"
        return said if super().complaint(number / 100) else f"{said}; for {number:g} % write {number / 100:g}"


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
    """A parameter as an error shows it: short values themselves; others, and what may hold cells, by their type."""
    text = redacted(repr(value)) if value is None or isinstance(value, PLAIN) else ""
    return text if 0 < len(text) <= 40 else f"a value of type {type(value).__name__}"
