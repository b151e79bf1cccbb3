"""Bands of numbers written as text, such as `[40-50)`, `50+`, `<5k` or `65 and over`: read, and put in order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from shoal.table.profile.words import plain

MOST = 60
"""Bands that a column may have."""
_SIGN = r"(?:[$€£] ?)"
_VALUE = rf"{_SIGN}?(\d{{1,3}}(?:[, ]\d{{3}})+|\d+(?:\.\d+)?) ?([km])?"
_UNITS = r"(?:years?|yrs?|jahre?|anos?|ans?|kg|cm|usd|eur|euros?|€|%|days?|months?|hours?|weeks?)"
_UNIT = rf"(?: ?{_UNITS})?"
_EXACTLY = re.compile(rf"{_VALUE} ?{_UNITS}")
_BETWEEN = re.compile(rf"[\[(]?{_VALUE}{_UNIT} ?(?:-|–|to|bis|a|until|,|\.\.) ?{_VALUE}{_UNIT}[\])\[]?")
_AT_LEAST = re.compile(
    rf"{_VALUE}{_UNIT} ?(?:\+{_UNIT}|(?:and|und|y|et|or|oder) (?:over|more|older|above|mehr|mas|plus|alter))"
)
_ABOVE = re.compile(rf"(?:>|>=|≥|over|above|more than|uber|mas de|plus de|from|ab) ?{_VALUE}{_UNIT}")
_BELOW = re.compile(rf"(?:<|<=|≤|-|under|below|less than|up to|unter|bis|menos de|moins de|hasta) ?{_VALUE}{_UNIT}")


def band(text: str) -> tuple[float, float] | None:
    """Read a band as its lower and upper end; None for any other text.

    >>> band("[40-50)"), band("50+"), band("<5k"), band("$10,000 to $14,999"), band("40")
    ((40.0, 50.0), (50.0, inf), (-inf, 5000.0), (10000.0, 14999.0), None)
    """
    word = plain(text)
    if found := _BETWEEN.fullmatch(word):
        low, high = _number(*found.groups()[:2]), _number(*found.groups()[2:])
        return (low, high) if low <= high else None
    if found := _AT_LEAST.fullmatch(word) or _ABOVE.fullmatch(word):
        return _number(*found.groups()), math.inf
    if found := _BELOW.fullmatch(word):
        return -math.inf, _number(*found.groups())
    if found := _EXACTLY.fullmatch(word):
        return _number(*found.groups()), _number(*found.groups())
    return None


def _number(digits: str, thousands: str | None) -> float:
    value = float(re.sub("[, ]", "", digits))
    return value * {"k": 1e3, "m": 1e6}.get(thousands or "", 1)


def band_order(texts: Iterable[str]) -> tuple[str, ...]:
    """Put bands in order, lowest first, what is none of them last; nothing where these are no bands.

    One text in three may be something else (unknown, normal, the lowest band written in words), but two must be bands.

    >>> band_order(["50+", "<20", "unknown", "20-49"])
    ('<20', '20-49', '50+', 'unknown')
    """
    given = sorted(set(texts))
    read = {text: ends for text in given if (ends := band(text)) is not None}
    if len(read) < 2 or 3 * len(read) < 2 * len(given) or len(given) > MOST:
        return ()
    ordered = sorted(read, key=lambda text: (read[text], text))
    others = [text for text in given if text not in read]
    return (*ordered, *others)


_ROMAN = ("i", "ii", "iii", "iv", "v", "vi")
_COUNTED = re.compile(r"([a-z]+) ?(\d{1,3})")


def counted_order(texts: Iterable[str]) -> tuple[str, ...]:
    """Put texts in order that are one word and a number, such as weeks and grades, or Roman numbers.

    >>> counted_order(["Week 12", "Week 4", "Week 8"]), counted_order(["II", "I", "III"])
    (('Week 4', 'Week 8', 'Week 12'), ('I', 'II', 'III'))
    """
    given = sorted(set(texts))
    words = [plain(text) for text in given]
    if len(set(words)) == len(words) > 2 and all(word in _ROMAN for word in words):
        return tuple(sorted(given, key=lambda text: _ROMAN.index(plain(text))))
    found = [_COUNTED.fullmatch(word) for word in words]
    same = {one[1] for one in found if one}
    if not 2 < len(given) <= MOST or None in found or len(same) > 1 or len(next(iter(same), "")) < 4:
        return ()
    return tuple(sorted(given, key=lambda text: int(re.sub(r"\D", "", text))))
