r"""Cells of tables that somebody else published, read by the kind of their column.

| kind | understood |
|---|---|
| any | missing; `*`, `**`, `?`, `??` and the texts named as suppressed: any value; `{a, b}`: one of some values |
| numeric | numbers; `[a, b]`, `[a, b)`, `(a, b]`, `(a, b)`, `[a, b[`, `]a, b]`; `a-b`, `a..b`, `a~b`, `a to b`; `<a`, |
|         | `<=a`, `>a`, `>=a`, `a+`; `2*` (20 up to 30), `13##`; nodes of a hierarchy over neighbouring numbers |
| ordinal | categories; runs `[low, high]`, `low-high`, `low..high`, `low~high`, `low to high`; nodes of a hierarchy |
| nominal | values; nodes of a hierarchy; masks `130**`, `130*`, `1305_`, `130##`; with `Dates`, parts of dates |

Whatever else a cell holds, it equals only itself. That is safe: it is never taken for more than it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import polars as pl

from shoal.cells import set_values, splits
from shoal.meanings import (
    ANYTHING,
    NOTHING_KNOWN,
    SPAN,
    UNREAD,
    Axis,
    Ints,
    Meaning,
    axis_of,
    distinct_cells,
    one_of,
    span,
)
from shoal.table.builders import Dates, Flat, Prefixes
from shoal.table.clean import without_markers
from shoal.table.hierarchy import Hierarchy
from shoal.table.numbers import number_text
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal

Reader = Callable[[str], Meaning | None]

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
END = rf"(?:{NUMBER}|[+-]?(?:inf|infinity|∞))"
BRACKETS = re.compile(rf"([\[(\]])\s*({END})\s*[,;]\s*({END})\s*([\])\[])", re.IGNORECASE)
BETWEEN = re.compile(rf"({NUMBER})\s*(?:-|–|—|\.\.\.?|~|to)\s*({NUMBER})", re.IGNORECASE)
BOUND = re.compile(rf"(<=|<|≤|>=|>|≥)\s*({NUMBER})")
AND_MORE = re.compile(rf"({NUMBER})\s*\+")
MASKED = re.compile(r"(\d+)(?:\*+|_+|#+)")
RUN = re.compile(r"\s*(?:\bto\b|\.\.\.?|~|-|–|—)\s*")
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?)?")
EXACT = 2.0**53
"""From here on, numbers that differ may be the same float."""


class ReadCells(NamedTuple):
    """The cells of one column: what its distinct ones mean, which of them each row has, how many cannot be read."""

    meanings: list[Meaning]
    codes: Ints
    discrete: bool
    n_unread: int

    def axis(self) -> Axis:
        """The cells on a line."""
        return axis_of(self.meanings, discrete=self.discrete)


def read_cells(
    series: pl.Series, kind: Kind, *, missing_values: Sequence[str] = (), suppressed: Sequence[str] = ()
) -> ReadCells:
    """Read a quasi-identifier; equal meanings get equal numbers, whatever they are written like."""
    if series.dtype in (pl.Categorical, pl.Enum, pl.Null):
        series = series.cast(pl.String)
    texts = _texts(without_markers(series, missing_values, strip=True))
    rows, codes = distinct_cells(pl.DataFrame([texts]))
    shown = [row[0] for row in rows]
    present = [str(text) for text in shown if text is not None and not _says_nothing(str(text), suppressed)]
    read = _reader(kind, present)
    empty = ANYTHING if "" in suppressed else NOTHING_KNOWN
    number: dict[Meaning, int] = {}
    known, unread = set(present), set()
    codes_of = []
    for place, text in enumerate(shown):
        meaning = empty if text is None else ANYTHING if text not in known else read(str(text))
        if meaning is None:
            unread.add(place)
            meaning = Meaning(UNREAD, text=str(text))
        codes_of.append(number.setdefault(meaning, len(number)))
    n_unread = int(pl.Series(codes).is_in(list(unread)).sum()) if unread else 0
    return ReadCells(
        list(number), pl.Series(codes_of, dtype=pl.Int64).gather(codes).to_numpy(), kind_is_discrete(kind), n_unread
    )


def kind_is_discrete(kind: Kind) -> bool:
    """Whether the values of a column are categories."""
    return not isinstance(kind, Numeric)


def _texts(series: pl.Series) -> pl.Series:
    """Every cell as text without spaces around it; whole numbers without a point."""
    if series.dtype.is_float() or series.dtype.is_decimal():
        numbers = series.cast(pl.Float64)
        cells = [
            None if value is None else number_text(value) if math.isfinite(value) else str(value) for value in numbers
        ]
        return pl.Series(series.name, cells, dtype=pl.String)
    texts = series.cast(pl.String).str.strip_chars()
    return texts.set((texts == "").fill_null(value=False), None)


def _says_nothing(text: str, suppressed: Collection[str]) -> bool:
    return text in suppressed or set(text) in ({"*"}, {"?"})


def _reader(kind: Kind, texts: Sequence[str]) -> Reader:
    if isinstance(kind, Numeric):
        return _numeric(kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None)
    if isinstance(kind, Ordinal):
        return _ordinal(kind)
    return Atoms(kind, texts).read


# -- numbers ---------------------------------------------------------------------------------------------------------


def _numeric(tree: Hierarchy | None) -> Reader:
    def read(text: str) -> Meaning | None:
        found = _interval(text)
        if found is None and text.startswith("{") and text.endswith("}"):
            numbers = [_number(value) for value in set_values(text[1:-1]) or ["?"]]
            found = None if None in numbers else one_of([n for n in numbers if n is not None], discrete=False)
        return _node_span(tree, text) if found is None and tree is not None else found

    return read


def _number(text: str) -> float | None:
    """A number that is exactly what was written, or None."""
    number = float(text) if re.fullmatch(NUMBER, text) else math.nan
    return number if abs(number) < EXACT else None


def _interval(text: str) -> Meaning | None:
    """All that stands for a stretch of numbers, one number among it."""
    number = _number(text)
    if number is not None:
        return span(number, number)
    if found := BRACKETS.fullmatch(text):
        first, low, high, last = found.groups()
        ends = _end(low), _end(high)
        return _between(*ends, open_low=first in "(]", open_high=last in ")[")
    if found := BETWEEN.fullmatch(text):
        return _between(_number(found[1]), _number(found[2]))
    if found := MASKED.fullmatch(text):
        unit = 10.0 ** (len(text) - len(found[1]))
        return _between(
            _number(found[1] + "0" * (len(text) - len(found[1]))), (float(found[1]) + 1) * unit, open_high=True
        )
    if found := AND_MORE.fullmatch(text):
        return _between(_number(found[1]), math.inf)
    if found := BOUND.fullmatch(text):
        sign, end = found[1], _number(found[2])
        if sign[0] in "<≤":
            return _between(-math.inf, end, open_high=sign == "<")
        return _between(end, math.inf, open_low=sign == ">")
    return None


def _end(text: str) -> float | None:
    endless = text.lstrip("+-").lower() in ("inf", "infinity", "∞")
    return (-math.inf if text.startswith("-") else math.inf) if endless else _number(text)


def _between(
    low: float | None, high: float | None, *, open_low: bool = False, open_high: bool = False
) -> Meaning | None:
    if low is None or high is None:
        return None
    return span(low, high, open_low=open_low and low > -math.inf, open_high=open_high and high < math.inf)


def _node_span(tree: Hierarchy, text: str) -> Meaning | None:
    """A node over numbers; one that leaves out numbers in between cannot be told as a stretch."""
    if text not in tree.node_of:
        return None
    arrays, node = tree.arrays, tree.node_of[text]
    numbers = [_number(leaf) for leaf in tree.leaves]
    first = int(arrays.first_leaf[node])
    below = numbers[first : first + int(arrays.n_leaves[node])]
    inside = [number for number in below if number is not None]
    if len(inside) < len(below):
        return None
    others = (number for number in numbers if number is not None and min(inside) <= number <= max(inside))
    return span(min(inside), max(inside)) if sum(1 for _ in others) == len(inside) else None


# -- ordered categories ----------------------------------------------------------------------------------------------


def _ordinal(kind: Ordinal) -> Reader:
    rank = {category: place for place, category in enumerate(kind.order)}
    tree = kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None

    def ways(text: str) -> list[tuple[str, str]]:
        """Every way to read a run; a category may hold what parts the two ends."""
        inside = text[1:-1] if text.startswith("[") and text.endswith("]") else None
        brackets = [] if inside is None else list(splits(inside))
        return brackets + [(text[: found.start()], text[found.end() :]) for found in RUN.finditer(text)]

    def read(text: str) -> Meaning | None:
        if text in rank:
            return Meaning(SPAN, rank[text], rank[text])
        if tree is not None and text in tree.node_of:
            leaves = _leaves(tree, text)
            return one_of([rank[leaf] for leaf in leaves], discrete=True) if set(leaves) <= set(rank) else None
        if text.startswith("{") and text.endswith("}"):
            values = set_values(text[1:-1]) or [""]
            return one_of([rank[value] for value in values], discrete=True) if set(values) <= set(rank) else None
        runs = {(rank[low], rank[high]) for low, high in ways(text) if low in rank and high in rank}
        runs = {run for run in runs if run[0] <= run[1]}
        return Meaning(SPAN, *runs.pop()) if len(runs) == 1 else None  # two ways to read it are none

    return read


def _leaves(tree: Hierarchy, node: str) -> tuple[str, ...]:
    first, number = tree.arrays.first_leaf[tree.node_of[node]], tree.arrays.n_leaves[tree.node_of[node]]
    return tree.leaves[int(first) : int(first) + int(number)]


# -- categories ------------------------------------------------------------------------------------------------------


class Mask(NamedTuple):
    """Codes that begin alike: of a fixed length, or of any."""

    prefix: str
    length: int | None


class Atoms:
    """The values, masks and nodes of a nominal column, each with a place of its own on a line.

    The place of a mask, or of part of a date, stands for the values it covers that no other cell names.
    """

    def __init__(self, kind: Nominal, texts: Sequence[str]) -> None:
        self.rule = None if isinstance(kind.hierarchy, Hierarchy) else kind.hierarchy
        self.tree = kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None
        letters = ("*", "_", "#") + ((self.rule.mask,) if isinstance(self.rule, Prefixes) else ())
        self.letters = tuple(letter for letter in letters if len(letter) == 1)
        sets = (text for text in texts if text[0] == "{" and not self._in_tree(text))
        self.sets = {text: values for text in sets if (values := _set(text)) is not None}
        single = [text for text in texts if text not in self.sets]
        atoms = {*single, *(value for values in self.sets.values() for value in values)}
        leaves = () if self.tree is None else self.tree.leaves
        lengths = {len(text) for text in (*leaves, *(atom for atom in atoms if not self._in_tree(atom)))}
        self.masks = {text: mask for text in atoms if (mask := self._mask(text, fixed=len(lengths) == 1)) is not None}
        # A mask right before the codes it covers, so that these are one stretch.
        outside = sorted({self._key(text) for text in atoms if not self._in_tree(text)}, key=_begins)
        keys: list[str | Mask] = [*leaves, *outside]  # no leaf is outside
        self.place = {key: place for place, key in enumerate(keys)}
        self.below: dict[str | Mask, list[float]] = {}
        wanted = set(outside)
        for key, place in self.place.items():
            for above in self._above(key):
                if above in wanted:
                    self.below.setdefault(above, []).append(place)

    def read(self, text: str) -> Meaning | None:
        """What a cell may stand for, or None."""
        values = self.sets.get(text)
        if values is None:
            places = self._places(text) if text[0] != "{" or self._in_tree(text) else None
            return None if places is None else one_of(places, discrete=True)
        found: list[float] = []
        for value in values:
            places = self._places(value)
            if places is None:
                return None
            found += places
        return one_of(found, discrete=True)

    def _places(self, text: str) -> list[float] | None:
        if self.tree is not None and text in self.tree.node_of:
            return [self.place[leaf] for leaf in _leaves(self.tree, text)]
        known = self.tree is None and (not isinstance(self.rule, Dates) or _is_date(text))
        if not known and text not in self.masks:
            return None
        key = self._key(text)
        return [self.place[key], *self.below.get(key, ())]

    def _in_tree(self, text: str) -> bool:
        return self.tree is not None and text in self.tree.node_of

    def _key(self, text: str) -> str | Mask:
        return self.masks.get(text, text)

    def _mask(self, text: str, *, fixed: bool) -> Mask | None:
        """A code whose end is masked. Where all codes are of one length, so is this; else a lone `*` may be any end."""
        if self._in_tree(text) or text[-1] not in self.letters:
            return None
        prefix = text.rstrip(text[-1])
        if not prefix:
            return None
        any_end = text[-1] == "*" and len(text) - len(prefix) == 1 and not fixed
        return Mask(prefix, None if any_end else len(text))

    def _above(self, key: str | Mask) -> list[str | Mask]:
        """Everything that would cover a value or a mask, were it a cell."""
        if isinstance(key, Mask):
            found: list[str | Mask] = [Mask(key.prefix[:n], None) for n in range(1, len(key.prefix) + 1)]
            found += [Mask(key.prefix[:n], key.length) for n in range(1, len(key.prefix)) if key.length is not None]
            return [mask for mask in found if mask != key]
        masks: list[str | Mask] = [Mask(key[:n], length) for n in range(1, len(key)) for length in (None, len(key))]
        masks.append(Mask(key, None))
        if isinstance(self.rule, Flat) and key != self.rule.root:
            masks.append(self.rule.root)
        if isinstance(self.rule, Dates) and DATE.fullmatch(key):
            masks += [part for part in (key[:10], key[:7], key[:4], f"{key[:3]}0s") if part != key]
        return masks


def _begins(key: str | Mask) -> tuple[str, bool, int]:
    return (key.prefix, False, key.length or 0) if isinstance(key, Mask) else (key, True, 0)


def _set(text: str) -> list[str] | None:
    """The values of `{a, b}`, or None where it is no such thing."""
    values = set_values(text[1:-1]) if text.endswith("}") else None
    return None if values is None or "" in values else values


def _is_date(text: str) -> bool:
    return DATE.fullmatch(text) is not None or re.fullmatch(r"\d{3}0s", text) is not None
