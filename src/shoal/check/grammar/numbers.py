"""Numbers and stretches of them, in the ways that tools write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

from shoal.check.grammar.texts import leaves_below, mask_letter, members
from shoal.check.value_ranges import Range, one_of, span
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Numeric

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
END = rf"(?:{NUMBER}|[+-]?(?:inf|infinity|∞))"
BRACKETS = re.compile(rf"([\[(\]])\s*({END})\s*[,;]\s*({END})\s*([\])\[])", re.IGNORECASE)
BETWEEN = re.compile(rf"({NUMBER})\s*(?:-|–|—|\.\.\.?|~|to)\s*({NUMBER})", re.IGNORECASE)
BOUND = re.compile(rf"(<=|<|≤|>=|>|≥)\s*({NUMBER})")
AND_MORE = re.compile(rf"({NUMBER})\s*\+")
MASKED = re.compile(r"(\d+)(?:\*+|_+|#+)")
EXACT = 2.0**53
"""From here on, numbers that differ may be the same float."""


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

    def read(self, text: str) -> Range | None:
        """What a cell may stand for, or None."""
        text = text.strip()
        found = self._interval(text)
        if found is None and text.startswith("{") and text.endswith("}"):
            numbers = [_number(value) for value in members(text) or ["?"]]
            found = None if None in numbers else one_of([n for n in numbers if n is not None], discrete=False)
        return self._node(text) if found is None else found

    def _interval(self, text: str) -> Range | None:
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

    def _range(self, low: float | None, high: float | None) -> Range | None:
        """`a-b` and its like; one step inside where the ends are in doubt, before all stretches that lack them."""
        if low is None or high is None or low == high or not self.in_doubt:
            return _between(low, high)
        return span(low, high, open_low=True, open_high=True)

    def _masked(self, digits: str, text: str) -> Range | None:
        n_masked = len(text) - len(digits)
        any_end = text[-1] == "*" and n_masked == 1 and not self.fixed
        if text[-1] != self.mask or any_end:
            return None
        return _between(_number(digits + "0" * n_masked), (float(digits) + 1) * 10.0**n_masked, inside=(True, False))

    def _node(self, text: str) -> Range | None:
        """A node is one of the numbers below it; there may be others in between."""
        if self.tree is None or text not in self.tree.node_of:
            return None
        below = [_number(leaf) for leaf in leaves_below(self.tree, text)]
        inside = [number for number in below if number is not None]
        return one_of(inside, discrete=False) if len(inside) == len(below) else None


def _number(text: str) -> float | None:
    """A number that is exactly what was written, or None."""
    number = float(text) if re.fullmatch(NUMBER, text) else math.nan
    return number if abs(number) < EXACT and Decimal(repr(number)) == Decimal(text) else None


def _end(text: str) -> float | None:
    endless = text.lstrip("+-").lower() in ("inf", "infinity", "∞")
    return (-math.inf if text.startswith("-") else math.inf) if endless else _number(text)


def _between(low: float | None, high: float | None, *, inside: tuple[bool, bool] = (True, True)) -> Range | None:
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
