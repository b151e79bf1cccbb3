r"""Cells of tables that somebody else published, read by the kind of their column.

| kind | understood |
|---|---|
| any | missing; `*`, `**`, `?`, `??` and the texts named as suppressed: any value; `{a, b}`: one of some values |
| numeric | numbers; `[a, b]`, `[a, b)`, `(a, b]`, `(a, b)`, `[a, b[`, `]a, b]`; `a-b`, `a..b`, `a~b`, `a to b`; `<a`, |
|         | `<=a`, `>a`, `>=a`, `a+`; `2*` (20 up to 30), `13##`; nodes of a hierarchy |
| ordinal | categories; runs `[low, high]`, `low-high`, `low..high`, `low~high`, `low to high`; nodes of a hierarchy |
| nominal | values; nodes of a hierarchy; masks `130**`, `130*`, `1305_`, `130##`; with `Dates`, parts of dates |

Whatever else a cell holds, it equals only itself. That is safe: it is never taken for more than it is. The same goes
for a cell that could mean more than one thing. What others in its column look like decides on that:

- One letter masks: that of the schema, else `*`, else `_` or `#` where only one of them is used, behind digits.
- `a-b` and its like hold both ends, unless another such range of the column begins where one of them ends. Whether ends
  are inside is open then: such a range holds what is between its ends for sure, and equals only another one like it.
- Texts that differ in blanks around them are different values; numbers are not.
- `*` and `?` both stand for any value, and may do so for different reasons: they are not equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import polars as pl

from shoal.check.cells import set_values, splits
from shoal.check.value_ranges import (
    ANY,
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
from shoal.table.clean import without_markers
from shoal.table.hierarchy.builders import Dates, Flat, Prefixes
from shoal.table.hierarchy.tree import Hierarchy
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
MASKS = ("*", "_", "#")
"""Letters that may stand for a character that was taken away."""
UNKNOWN = Meaning(ANY, text="?")
"""Any value, by another sign than `*`."""


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
    texts = _as_they_differ(series, _texts(without_markers(series, missing_values, strip=True)))
    rows, codes = distinct_cells(pl.DataFrame([texts]))
    shown = [None if row[0] is None else str(row[0]) for row in rows]
    said = {text: _says_nothing(text.strip(), suppressed) for text in shown if text is not None}
    read = _reader(kind, [text for text, nothing in said.items() if nothing is None])
    empty = ANYTHING if "" in suppressed else NOTHING_KNOWN
    number: dict[Meaning, int] = {}
    unread, codes_of = set(), []
    for place, text in enumerate(shown):
        meaning = empty if text is None else said[text] or read(text)
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


def _as_they_differ(series: pl.Series, texts: pl.Series) -> pl.Series:
    """The texts without blanks around them, but with them where nothing else tells two apart."""
    if series.dtype != pl.String:
        return texts
    raw = series.alias("raw")
    pairs = pl.DataFrame([raw, texts.alias("text")]).drop_nulls().unique()
    alike = pairs.filter(pl.col("text").is_duplicated())
    return texts.zip_with(~raw.is_in(alike["raw"].to_list()).fill_null(value=False) | texts.is_null(), raw)


def _says_nothing(text: str, suppressed: Collection[str]) -> Meaning | None:
    """The meaning of a cell that stands for any value, None for all others."""
    if text in suppressed or set(text) == {"*"}:
        return ANYTHING
    return UNKNOWN if set(text) == {"?"} else None


def _reader(kind: Kind, texts: Sequence[str]) -> Reader:
    if isinstance(kind, Numeric):
        return Stretches(kind, texts).read
    if isinstance(kind, Ordinal):
        return _ordinal(kind)
    return Atoms(kind, texts).read


def _is_masked(text: str) -> bool:
    """Whether the end of a text may be masked."""
    return text[-1:] in MASKS and text.strip(text[-1]) != ""


def mask_letter(texts: Iterable[str]) -> str:
    """The one letter that masks the ends of texts for sure, empty where none does.

    >>> mask_letter(["130**", "1305_"]), mask_letter(["1305_", "13053"]), mask_letter(["ab_", "abc"])
    ('*', '_', '')
    """
    masked = [text for text in texts if _is_masked(text)]
    letters = {text[-1] for text in masked}
    if "*" in letters:
        return "*"
    codes = (text.rstrip(text[-1]) for text in masked)
    return letters.pop() if len(letters) == 1 and all(re.fullmatch("[0-9]+", code) for code in codes) else ""


# -- numbers ---------------------------------------------------------------------------------------------------------


class Stretches:
    """Reads numbers and stretches of them; what a cell means may rest on how the others of its column are written."""

    def __init__(self, kind: Numeric, texts: Sequence[str]) -> None:
        plain = [text.strip() for text in texts]
        self.tree = kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None
        self.mask = mask_letter(text for text in plain if MASKED.fullmatch(text))
        self.fixed = len({len(text) for text in plain if MASKED.fullmatch(text) or text.isdecimal()}) == 1
        ends = [found.groups() for text in plain if (found := BETWEEN.fullmatch(text))]
        ranges = {(float(low), float(high)) for low, high in ends if float(low) < float(high)}
        self.in_doubt = not {low for low, _ in ranges}.isdisjoint(high for _, high in ranges)

    def read(self, text: str) -> Meaning | None:
        """What a cell may stand for, or None."""
        text = text.strip()
        found = self._interval(text)
        if found is None and text.startswith("{") and text.endswith("}"):
            numbers = [_number(value) for value in set_values(text[1:-1]) or ["?"]]
            found = None if None in numbers else one_of([n for n in numbers if n is not None], discrete=False)
        return self._node(text) if found is None else found

    def _interval(self, text: str) -> Meaning | None:
        """All that stands for a stretch of numbers, one number among it."""
        number = _number(text)
        if number is not None:
            return span(number, number)
        if found := BRACKETS.fullmatch(text):
            first, low, high, last = found.groups()
            return _between(_end(low), _end(high), inside=(first == "[", last == "]"))
        if found := BETWEEN.fullmatch(text):
            return self._range(_number(found[1]), _number(found[2]))
        if found := MASKED.fullmatch(text):
            return self._masked(found[1], text)
        if found := AND_MORE.fullmatch(text):
            return _between(_number(found[1]), math.inf)
        if found := BOUND.fullmatch(text):
            sign, end = found[1], _number(found[2])
            if sign[0] in "<≤":
                return _between(-math.inf, end, inside=(True, sign != "<"))
            return _between(end, math.inf, inside=(sign != ">", True))
        return None

    def _range(self, low: float | None, high: float | None) -> Meaning | None:
        """`a-b` and its like; one step inside where the ends are in doubt, before all stretches that lack them."""
        if low is None or high is None or low == high or not self.in_doubt:
            return _between(low, high)
        return span(low, high, open_low=True, open_high=True)

    def _masked(self, digits: str, text: str) -> Meaning | None:
        n_masked = len(text) - len(digits)
        any_end = text[-1] == "*" and n_masked == 1 and not self.fixed
        if text[-1] != self.mask or any_end:
            return None
        return _between(_number(digits + "0" * n_masked), (float(digits) + 1) * 10.0**n_masked, inside=(True, False))

    def _node(self, text: str) -> Meaning | None:
        """A node is one of the numbers below it; there may be others in between."""
        if self.tree is None or text not in self.tree.node_of:
            return None
        below = [_number(leaf) for leaf in _leaves(self.tree, text)]
        inside = [number for number in below if number is not None]
        return one_of(inside, discrete=False) if len(inside) == len(below) else None


def _number(text: str) -> float | None:
    """A number that is exactly what was written, or None."""
    number = float(text) if re.fullmatch(NUMBER, text) else math.nan
    return number if abs(number) < EXACT and Decimal(repr(number)) == Decimal(text) else None


def _end(text: str) -> float | None:
    endless = text.lstrip("+-").lower() in ("inf", "infinity", "∞")
    return (-math.inf if text.startswith("-") else math.inf) if endless else _number(text)


def _between(low: float | None, high: float | None, *, inside: tuple[bool, bool] = (True, True)) -> Meaning | None:
    """All numbers between two ends; `inside` says of each whether it is one of them.

    An end that is not is two steps away: one step is what `Stretches` needs for an end that nobody knows of.
    """
    if low is None or high is None:
        return None
    if not inside[0] and low > -math.inf:
        low = math.nextafter(math.nextafter(low, math.inf), math.inf)
    if not inside[1] and high < math.inf:
        high = math.nextafter(math.nextafter(high, -math.inf), -math.inf)
    return span(low, high)


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
        sets = (text for text in texts if text[0] == "{" and not self._in_tree(text))
        self.sets = {text: values for text in sets if (values := _set(text)) is not None}
        single = [text for text in texts if text not in self.sets]
        atoms = {*single, *(value for values in self.sets.values() for value in values)}
        leaves = () if self.tree is None else self.tree.leaves
        strange = [atom for atom in atoms if not self._in_tree(atom)]
        given = self.rule.mask if isinstance(self.rule, Prefixes) and len(self.rule.mask) == 1 else ""
        self.letter = given or mask_letter(strange)
        self.in_doubt = {text for text in strange if _is_masked(text) and text[-1] != self.letter}
        lengths = {len(text) for text in (*leaves, *strange)}
        self.masks = {text: mask for text in atoms if (mask := self._mask(text, fixed=len(lengths) == 1)) is not None}
        # A mask right before the codes it covers, so that these are one stretch.
        outside = sorted({self._key(text) for text in strange}, key=_begins)
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
        if text in self.in_doubt:
            return None
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
        if self._in_tree(text) or text[-1] != self.letter:
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
