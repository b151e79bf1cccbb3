"""Rules over published cells: if some columns show this, then others show that."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problem, Problems, did_you_mean
from shoal.table.cells import are_cells, type_name
from shoal.table.numbers import number_text

COMPARED = {"<=": np.less_equal, ">=": np.greater_equal, "<": np.less, ">": np.greater}
ORDERED = tuple(COMPARED)
"""What a condition may ask of a number."""
TESTS = ("=", "in", *ORDERED)
"""What a condition may ask of a cell."""
Cell = str | float | None
_PLAIN = r'(?:(?!->)[^\s"=<>(),])+'
_WORD = re.compile(rf'\s*("(?:[^"\\]|\\.)*"|->|=>|<=|>=|=|<|>|\(|\)|,|{_PLAIN})', re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_ARROWS = ("->", "=>")
_MARKS = (*_ARROWS, *ORDERED, "=", "(", ")", ",")
_KEPT = ("and", "in", "if", "then", "missing")
"""Words that have a meaning of their own: a cell or a name like that stands in quotes."""


@dataclass(frozen=True)
class Condition:
    """What the cells of one column must show."""

    column: str
    test: str
    value: Cell | tuple[Cell, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that it names; one, if it compares."""
        return self.value if isinstance(self.value, tuple) else (self.value,)

    def holds(self, series: pl.Series) -> npt.NDArray[np.bool_]:
        """Which cells of a column show it; a missing cell shows nothing but that it is missing."""
        if self.test in ORDERED:
            bound = float(self.value)  # type: ignore[arg-type]
            with np.errstate(invalid="ignore"):  # a missing number is no number, and that is no mistake
                compared: npt.NDArray[np.bool_] = COMPARED[self.test](_numbers(series), bound)
            return compared
        return _shows(series, self.cells)

    def __str__(self) -> str:
        if self.test == "in":
            return f"{_word(self.column)} in ({', '.join(map(_word, self.cells))})"
        return f"{_word(self.column)} {self.test} {_word(self.cells[0])}"


@dataclass(frozen=True)
class Rule:
    """If the cells of a row show all of `when`, they show all of `then`.

    >>> rule = Rule.from_text('town = "Bad Aussee" and age <= 30 -> disease = K7QZP2MX')
    >>> [str(one) for one in rule.when], rule.to_mapping()["then"]
    (['town = "Bad Aussee"', 'age <= 30'], {'disease': 'K7QZP2MX'})
    """

    when: tuple[Condition, ...]
    then: tuple[Condition, ...]

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.when))} -> {' and '.join(map(str, self.then))}".strip()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of both sides."""
        return self.when + self.then

    def to_mapping(self) -> dict[str, Any]:
        """As JSON writes it: what each column must show, by side."""
        return {"if": _mapping(self.when), "then": _mapping(self.then)}

    @classmethod
    def from_mapping(cls, given: Any, where: str = "rule") -> Rule:
        """Read a rule as JSON writes it; an error names everything that is wrong."""
        problems = Problems()
        if not isinstance(given, Mapping) or not set(given) <= {"if", "then"}:
            problems.add(where, "must have the keys 'if' and 'then', and no others")
            problems.raise_if_any(ParameterError)
        sides = [_conditions(given.get(side, {}), f"{where}: {side}", problems) for side in ("if", "then")]
        return cls._checked(sides, where, problems)

    @classmethod
    def from_text(cls, text: str, where: str = "rule") -> Rule:
        """Read a rule in words: ``town = Ada and age <= 30 -> disease = K7QZP2MX``.

        Names and cells with spaces or signs stand in quotes, as in JSON; `missing` is a missing cell.
        """
        words = _words(text, where)
        arrows = [at for at, word in enumerate(words) if word in _ARROWS]
        if len(arrows) != 1:
            raise ParameterError(Problem(where, "needs one arrow", "write: column = cell -> column = cell"))
        problems = Problems()
        sides = [_side(part, where, problems) for part in (words[: arrows[0]], words[arrows[0] + 1 :])]
        return cls._checked(sides, where, problems)

    @classmethod
    def _checked(cls, sides: Sequence[tuple[Condition, ...]], where: str, problems: Problems) -> Rule:
        """The rule that was read; what could not be read is told first, since the rule lacks it."""
        problems.raise_if_any(ParameterError)
        rule = cls(*sides)
        rule.check(where, problems)
        problems.raise_if_any(ParameterError)
        return rule

    def check(self, where: str, problems: Problems) -> None:
        """Note a rule that says nothing: without a conclusion, or with a column on both sides."""
        if not self.then:
            problems.add(where, "has no conclusion", "put what follows after the arrow", error=ParameterError)
        if {one.column for one in self.when} & {one.column for one in self.then}:
            problems.add(
                where, "has one column on both sides", "a column may be on one side only", error=ParameterError
            )
        if any(not _can_be_joined(side) for side in (self.when, self.then)):
            fix = "join the conditions: in (...), or one comparison from below and one from above"
            problems.add(where, "asks of one column more than once", fix, error=ParameterError)


def _can_be_joined(side: Sequence[Condition]) -> bool:
    """Whether each column of a side has one condition, or several different comparisons."""
    tests: dict[str, list[str]] = {}
    for one in side:
        tests.setdefault(one.column, []).append(one.test)
    return all(len(each) == 1 or (set(each) <= set(ORDERED) and len(set(each)) == len(each)) for each in tests.values())


@dataclass(frozen=True)
class Evidence:
    """How well a table bears a rule out."""

    rows: int
    """Rows of the table."""
    both: int
    """Rows that show both sides."""
    when: int
    """Rows that show the condition."""
    then: int
    """Rows that show the conclusion."""

    @property
    def support(self) -> float:
        """Share of the rows that show both sides."""
        return self.both / self.rows if self.rows else 0.0

    @property
    def confidence(self) -> float:
        """Share that shows the conclusion of the rows that show the condition."""
        return self.both / self.when if self.when else 0.0

    @property
    def lift(self) -> float:
        """Confidence over the share of all rows that show the conclusion; 1 if the condition says nothing of it."""
        # Of whole numbers, so that 1 is 1, and nothing above it by rounding.
        return self.both * self.rows / (self.when * self.then) if self.when and self.then else 0.0


def both_sides(rule: Rule, frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Which rows of a table show a rule, its condition and its conclusion."""
    return _all(rule.conditions, frame)


def evidence(rule: Rule, frame: pl.DataFrame) -> Evidence:
    """How well the rows of a table bear a rule out.

    >>> frame = pl.DataFrame({"town": ["Ada", "Ada", "Bo", "Bo"], "disease": ["flu", "flu", "flu", "ulcer"]})
    >>> found = evidence(Rule.from_text("town = Ada -> disease = flu"), frame)
    >>> found.support, found.confidence, round(found.lift, 3)
    (0.5, 1.0, 1.333)
    """
    problems = Problems()
    for name in dict.fromkeys(one.column for one in rule.conditions):
        if name in frame.columns:
            check_cells(frame[name], problems)
        else:
            problems.add(f"column {name!r}", "is not in the table", did_you_mean(name, frame.columns))
    problems.raise_if_any(ParameterError)
    when, then = (_all(side, frame) for side in (rule.when, rule.then))
    return Evidence(frame.height, int((when & then).sum()), int(when.sum()), int(then.sum()))


def _all(side: Iterable[Condition], frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    found = np.ones(frame.height, dtype=np.bool_)
    for one in side:
        found &= one.holds(frame[one.column])
    return found


# -- cells ------------------------------------------------------------------------------------------------------------


def check_cells(series: pl.Series, problems: Problems) -> None:
    """Note a column whose cells are nothing that a rule could name."""
    if not are_cells(series.dtype):
        what = f"holds {type_name(series.dtype)}, which no rule can name"
        problems.add(f"column {series.name!r}", what, "convert it to text or numbers, or drop it")


def as_numbers(series: pl.Series) -> pl.Series:
    """A column as floats, missing where a cell is no number; a float of fewer bits by its digits: 0.1 stays 0.1."""
    exact = series.dtype.is_numeric() and series.dtype != pl.Float32
    return (series if exact else as_texts(series)).cast(pl.Float64, strict=False).fill_nan(None)


def as_texts(series: pl.Series) -> pl.Series:
    """A column as text; times with all their digits, for as text polars writes whole seconds alone."""
    return series.dt.to_string("%H:%M:%S%.f") if series.dtype == pl.Time else series.cast(pl.String)


def _numbers(series: pl.Series) -> npt.NDArray[np.float64]:
    return as_numbers(series).fill_null(np.nan).to_numpy()


def _shows(series: pl.Series, cells: Sequence[Cell]) -> npt.NDArray[np.bool_]:
    """Which cells of a column are one of some, in one look at the column however many there are."""
    if series.dtype.is_numeric():
        numbers = [number for cell in cells if (number := as_number(cell)) is not None]
        found = np.isin(_numbers(series), numbers)
    else:
        texts = {cell if isinstance(cell, str) else number_text(cell) for cell in cells if cell is not None}
        wanted = pl.Series(sorted(texts), dtype=pl.String)
        found = as_texts(series).is_in(wanted.implode()).fill_null(value=False).to_numpy()
    if None in cells:
        gone = series.is_null() | series.is_nan() if series.dtype.is_float() else series.is_null()
        found = found | gone.to_numpy()
    return found


def as_number(cell: Cell) -> float | None:
    """The finite number that a cell is, or is the text of; None if it is none."""
    if cell is None or (isinstance(cell, str) and not _NUMBER.fullmatch(cell)):
        return None
    try:
        number = float(cell)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return number if math.isfinite(number) else None


# -- JSON -------------------------------------------------------------------------------------------------------------


def _mapping(side: Iterable[Condition]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in side:
        if one.test in ORDERED:
            found[one.column] = {**found.get(one.column, {}), one.test: one.value}
        else:
            found[one.column] = list(one.cells) if one.test == "in" else one.value
    return found


def _is_cell(value: object) -> bool:
    return value is None or _is_text(value) or _is_number(value)


def _is_text(value: object) -> bool:
    """Whether it is text that can be written: JSON lets halves of characters through."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _conditions(given: Any, where: str, problems: Problems) -> tuple[Condition, ...]:
    if not isinstance(given, Mapping):
        problems.add(where, "must be a mapping from columns to cells", error=ParameterError)
        return ()
    found: list[Condition] = []
    for column, value in given.items():
        read = _read(column, value) if _is_text(column) else None
        if read is None:
            fix = f"give a cell, a list of cells, or numbers by {', '.join(ORDERED)}"
            where_in = f"{where}: column {column!r}" if _is_text(column) else where
            problems.add(where_in, "has no condition that can be read", fix, error=ParameterError)
        else:
            found += read
    return tuple(found)


def _read(column: str, value: Any) -> list[Condition] | None:
    """What JSON asks of a column; None if it cannot be read."""
    if isinstance(value, Mapping):
        readable = value and all(test in ORDERED and _is_number(bound) for test, bound in value.items())
        return [Condition(column, test, float(bound)) for test, bound in value.items()] if readable else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [Condition(column, "in", tuple(value))] if value and all(map(_is_cell, value)) else None
    return [Condition(column, "=", value)] if _is_cell(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and as_number(value) is not None


# -- words ------------------------------------------------------------------------------------------------------------


def _word(cell: Cell) -> str:
    """A cell or a name as words write it."""
    if cell is None:
        return "missing"
    if not isinstance(cell, str):
        return number_text(cell)
    plain = re.fullmatch(_PLAIN, cell) and cell not in _KEPT
    return cell if plain else json.dumps(cell, ensure_ascii=False)


def _words(text: str, where: str) -> list[str]:
    found, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            raise ParameterError(Problem(where, "has a quotation mark that is not closed", "close it"))
        found.append(match[1])
        at = match.end()
    return found


def _side(words: Sequence[str], where: str, problems: Problems) -> tuple[Condition, ...]:
    """The conditions of one side, joined by `and`."""
    found: list[Condition] = []
    part: list[str] = []
    rest = list(words[1:] if words[:1] and words[0] in ("if", "then") else words)
    for word in [*rest, "and"] if rest else ():
        if word != "and":
            part.append(word)
            continue
        condition = _condition(part)
        if condition is None:
            fix = 'write: column = cell, column = "cell with blanks", column in (cell, cell), or column <= number'
            problems.add(where, "has a condition that cannot be read", fix, error=ParameterError)
        else:
            found.append(condition)
        part = []
    return tuple(found)


def _condition(words: Sequence[str]) -> Condition | None:
    """What some words ask of a column; None if they cannot be read."""
    if len(words) < 3 or words[1] not in TESTS or words[0] in _MARKS:
        return None
    column, test, given = _text(words[0]), words[1], words[2:]
    between = given[1:-1] if test == "in" else given
    if test == "in" and (given[0] != "(" or given[-1] != ")" or any(word != "," for word in between[1::2])):
        return None
    cells = between[::2] if test == "in" else between
    if len(between) % 2 == 0 or any(word in _MARKS for word in cells) or (test != "in" and len(between) > 1):
        return None
    return _asked(column, test, tuple(_cell(word) for word in cells))


def _asked(column: str, test: str, cells: tuple[Cell, ...]) -> Condition | None:
    if not all(map(_is_cell, (column, *cells))):
        return None
    if test not in ORDERED:
        return Condition(column, test, cells if test == "in" else cells[0])
    bound = as_number(cells[0])
    return None if bound is None else Condition(column, test, bound)


def _cell(word: str) -> Cell:
    return None if word == "missing" else _text(word)


def _text(word: str) -> str:
    """A word without its quotes, which are those of JSON; where it is not written so, as it stands."""
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word))
    except ValueError:
        return word[1:-1]
