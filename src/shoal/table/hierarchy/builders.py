"""Rules that build a hierarchy from the values of a column.

A rule is a frozen description (`Prefixes(keep=(4, 2))`) that a schema or a recipe can carry before any data is seen;
`paths` says what it makes of given values, and `Hierarchy.grow` builds the tree. Values are sorted first, so that the
tree never depends on the order of the rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from shoal.errors import ParameterError, Problem, SchemaError
from shoal.spec import AnyText, OneOf, Real, Several, Spec, Whole, param
from shoal.table.hierarchy.day_forms import FORMS, ISO, day_of, has_time
from shoal.table.numbers import number_text

STAR = "*"
"""The published cell that says nothing; the root of every tree a rule makes."""

Paths = list[tuple[str, ...]]


class Rule(Spec, ABC):
    """How to build a hierarchy over the values of a column."""

    numeric: ClassVar[bool] = False
    """Whether the values are numbers."""
    weighs: ClassVar[bool] = False
    """Whether it matters how often a value comes."""
    by_values: ClassVar[bool] = False
    """Whether what stands above a value depends on which other values there are."""

    @abstractmethod
    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value, from the value to the root."""


@dataclass(frozen=True)
class Flat(Rule):
    """All values directly under one root.

    >>> Flat().paths(["f", "m"])
    [('f', '*'), ('m', '*')]
    """

    name: ClassVar[str] = "flat"
    root: str = param(AnyText(), "name of the root", default=STAR)

    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value, from the value to the root."""
        return [(value, self.root) for value in _texts(values)]


@dataclass(frozen=True)
class Prefixes(Rule):
    """Codes cut to fewer and fewer leading characters; what is cut is masked.

    >>> Prefixes(keep=(4, 2)).paths(["600018", "600006"])[0]
    ('600006', '6000**', '60****', '*')
    """

    name: ClassVar[str] = "prefixes"
    keep: Sequence[int] = param(Several(Whole(1)), "how many leading characters each level keeps, most first")
    mask: str = param(AnyText(), "the character that replaces a character that was cut", default="*")

    def __post_init__(self) -> None:
        super().__post_init__()
        _descending(self, "keep", self.keep)

    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value, from the value to the root."""
        paths = []
        for value in _texts(values):
            cut = [value[:n] + self.mask * (len(value) - n) for n in self.keep if n < len(value)]
            paths.append(_path(value, *cut))
        return paths


@dataclass(frozen=True)
class Intervals(Rule):
    """Numbers in half-open intervals of equal width, each level a multiple of the one below.

    >>> Intervals(width=(5, 10)).paths([17, 23])
    [('17', '[15, 20[', '[10, 20[', '*'), ('23', '[20, 25[', '[20, 30[', '*')]
    """

    name: ClassVar[str] = "intervals"
    numeric: ClassVar[bool] = True
    width: Sequence[float] = param(Several(Real(0, open_low=True)), "width of the intervals of each level, least first")
    start: float = param(Real(), "where an interval begins", default=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for below, above in pairwise(self.width):
            times = _exact(above) / _exact(below)
            if times < 2 or times.denominator != 1:
                text = f"needs each width to be a multiple of the one below, got {above:g} over {below:g}"
                raise ParameterError(Problem("Intervals(width=)", text))

    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value, from the value to the root."""
        numbers = _numbers(values)
        exact = [_exact(number) for number in (self.start, *self.width, *numbers)]
        unit = math.lcm(*(number.denominator for number in exact))  # counted in 1 / unit, all are whole
        start, *others = (number.numerator * (unit // number.denominator) for number in exact)
        widths, places = others[: len(self.width)], others[len(self.width) :]
        paths = []
        for value, place in zip(numbers, places, strict=True):
            above = []
            for width in widths:
                low = start + (place - start) // width * width
                above.append(f"[{number_text(low / unit)}, {number_text((low + width) / unit)}[")
            paths.append(_path(number_text(value), *above))
        return paths


@dataclass(frozen=True)
class Quantiles(Rule):
    """Numbers in intervals that hold about equally many rows, fewer and fewer of them.

    >>> Quantiles(parts=(4, 2)).paths(range(8))[0]
    ('0', '[0, 1]', '[0, 3]', '*')
    """

    name: ClassVar[str] = "quantiles"
    numeric: ClassVar[bool] = True
    weighs: ClassVar[bool] = True
    by_values: ClassVar[bool] = True
    parts: Sequence[int] = param(Several(Whole(2)), "how many intervals each level has, most first")

    def __post_init__(self) -> None:
        super().__post_init__()
        _descending(self, "parts", self.parts)
        if any(below % above for below, above in pairwise(self.parts)):
            raise ParameterError(Problem("Quantiles(parts=)", "needs each number of parts to divide the one before"))

    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value, from the value to the root; a value that comes often weighs as often."""
        given = list(values)
        numbers = np.array(_numbers(given))
        if not len(numbers):
            return []
        counts = np.bincount(np.searchsorted(numbers, np.array(given, dtype=float)), minlength=len(numbers))
        middle = np.cumsum(counts) - counts / 2
        finest = (middle * self.parts[0] // len(given)).astype(int)
        levels: list[list[str]] = []
        for parts in self.parts:
            part = finest * parts // self.parts[0]  # only whole parts are joined, so that every node has one parent
            names = {}
            for number in np.unique(part):
                inside = numbers[part == number]
                names[number] = f"[{number_text(inside[0])}, {number_text(inside[-1])}]" if len(inside) > 1 else ""
            levels.append([names[number] for number in part])
        return [_path(number_text(value), *(level[i] for level in levels)) for i, value in enumerate(numbers.tolist())]


@dataclass(frozen=True)
class Dates(Rule):
    """Dates of one form, with or without a time, under their day, month, year and decade.

    A day with times has `*` after it, so that it is never taken for the value that a midnight is, which is a day alone:
    that one stands below it as well.

    >>> Dates().paths(["1987-03-21"])
    [('1987-03-21', '1987-03', '1987', '1980s', '*')]
    >>> Dates(levels=("day", "year")).paths(["1987-03-21", "1987-03-21 08:00:00"])
    [('1987-03-21', '1987-03-21*', '1987', '*'), ('1987-03-21 08:00:00', '1987-03-21*', '1987', '*')]
    >>> Dates(form="DD.MM.YYYY").paths(["21.03.1987"])
    [('21.03.1987', '1987-03', '1987', '1980s', '*')]
    """

    name: ClassVar[str] = "dates"
    levels: Sequence[str] = param(
        Several(OneOf(("day", "month", "year", "decade"))),
        "the levels above a value; a day of which no value has a time gets no level day",
        default=("day", "month", "year", "decade"),
    )
    form: str = param(OneOf(FORMS), "how the days are written; a time may follow", default=ISO)
    _names: ClassVar[dict[str, Callable[[date], str]]] = {
        "day": lambda day: f"{day.isoformat()}*",
        "month": lambda day: f"{day.year:04d}-{day.month:02d}",
        "year": lambda day: f"{day.year:04d}",
        "decade": lambda day: f"{day.year // 10}0s",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if list(self.levels) != [level for level in self._names if level in self.levels]:
            raise ParameterError(
                Problem("Dates(levels=)", "needs the levels once each, in the order day, month, year, decade")
            )

    def _above(self, day: date | None, *, with_day: bool) -> list[str] | None:
        """The names of the levels above a value of a day, the lowest first; None for what is no day."""
        if day is None:
            return None
        return [self._names[level](day) for level in self.levels if level != "day" or with_day]

    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value, from the value to the root."""
        texts = _texts(values)
        days = {value: day_of(value, self.form) for value in texts}
        with_times = {days[value] for value in texts if has_time(value, self.form)}
        found = {value: self._above(day, with_day=day in with_times) for value, day in days.items()}
        bad = sum(above is None for above in found.values())
        if bad:
            text = f"{bad} distinct values are not dates of the form {self.form}"
            raise SchemaError(Problem("hierarchy of dates", text, "give another form, or convert the column first"))
        return [_path(value, *(above or ())) for value, above in found.items()]


@dataclass(frozen=True)
class Grouping(Rule):
    """Ordered values in runs of `sizes[0]`, those runs in runs of `sizes[1]`, and so on.

    >>> Grouping(sizes=(2,)).paths(["a", "b", "c"])
    [('a', 'a..b', '*'), ('b', 'a..b', '*'), ('c', '*')]
    """

    name: ClassVar[str] = "grouping"
    by_values: ClassVar[bool] = True
    sizes: Sequence[int] = param(Several(Whole(2)), "how many nodes of the level below each range joins")

    def paths(self, values: Iterable[object]) -> Paths:
        """One path per distinct value; here the order of the values is the order of the column."""
        ordered = list(dict.fromkeys(str(value) for value in values))
        paths: list[list[str]] = [[value] for value in ordered]
        run = 1
        for size in self.sizes:
            run *= size
            for first in range(0, len(ordered), run):
                inside = ordered[first : first + run]
                name = f"{inside[0]}..{inside[-1]}" if len(inside) > 1 else ""
                for place in range(first, first + len(inside)):
                    paths[place].append(name)
        return [_path(*path) for path in paths]


RULES: dict[str, type[Rule]] = {rule.name: rule for rule in (Flat, Prefixes, Intervals, Quantiles, Dates, Grouping)}


def _texts(values: Iterable[object]) -> list[str]:
    return sorted({str(value) for value in values})


def _numbers(values: Iterable[object]) -> list[float]:
    """Distinct numbers, sorted; what is no number is counted, never shown."""
    given = list(values)
    numbers = {number for value in given if math.isfinite(number := _number(value))}
    bad = sum(not math.isfinite(_number(value)) for value in given)
    if bad:
        text = f"{bad} values are not finite numbers"
        raise SchemaError(Problem("hierarchy of numbers", text, "convert the column first"))
    return sorted(numbers)


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _exact(number: float) -> Fraction:
    """The number as it is written, so that 0.3 is three times 0.1 and levels nest."""
    return Fraction(repr(float(number)))


def _path(leaf: str, *above: str) -> tuple[str, ...]:
    """A path to the root `*`; a level with nothing to say, or that would say what the one below says, is left out."""
    path = [leaf]
    path.extend(node for node in above if node and node != path[-1] and set(node) != {"*"})
    return (*path, STAR)


def _descending(rule: Rule, key: str, numbers: Sequence[int]) -> None:
    if list(numbers) != sorted(set(numbers), reverse=True):
        raise ParameterError(
            Problem(f"{type(rule).__name__}({key}=)", "needs numbers that decrease from level to level")
        )
