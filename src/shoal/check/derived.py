"""What the seed of a key gives: the aliases and the random grades that a release shows, drawn once more.

This is written from what docs/publish.md says of the key, and shares nothing with the code that draws. A key whose seed
gives other cells for its meanings was changed, or is that of other people.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import groupby

import numpy as np

FIRST = "ABCDFGHJKLMNPQRSTUVWXYZ"
OTHERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
LETTERS = 8
TRIES = 10
"""Words of an alias that may have been passed over, at most: each was a value of the table by chance."""
HIGHEST = 0.999


def secret_of(seed: int, *purpose: str) -> bytes:
    """What all draws for one purpose come from."""
    return hashlib.sha256(repr(("shoal personal 1", seed, purpose)).encode()).digest()


def alias_of(secret: bytes, value: str | None, number: int, attempt: int = 0) -> str:
    """The word that stands for a value."""
    drawn = hashlib.sha256(secret + repr((value, number, attempt)).encode()).digest()
    return FIRST[drawn[0] % len(FIRST)] + "".join(OTHERS[byte % len(OTHERS)] for byte in drawn[1:LETTERS])


def are_aliases(shown: set[str], secret: bytes, value: str | None, numbers: Iterable[int]) -> bool:
    """Whether these are the aliases of a value with these numbers, or some of them."""
    left = set(shown)
    for number in numbers:
        tried = (alias_of(secret, value, number, attempt) for attempt in range(TRIES))
        left.discard(next((word for word in tried if word in left), ""))
    return not left


def random_grades(secret: bytes, places: list[int]) -> list[float]:
    """The random grades of rising values, of each of which the number of its category is given."""
    drawn = np.frombuffer(hashlib.shake_256(secret).digest(8 * (2 * len(places) + 1)), dtype="<u8")
    steps = iter((-np.log((drawn >> np.uint64(11)) * 2.0**-53 + 2.0**-54)).tolist())
    found: list[float] = []
    for place, members in groupby(places):
        ends = np.cumsum([next(steps) for _ in (*members, None)])
        found += (place + HIGHEST * ends[:-1] / ends[-1]).tolist()
    return found
