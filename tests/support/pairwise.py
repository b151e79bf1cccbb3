"""Every pair of values instead of every combination: most mistakes need no more than two things to meet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import combinations, product

ALL = os.environ.get("SHOAL_COMBINATIONS") == "all"
"""Whether every combination is wanted, for a long run."""
SAME = os.environ.get("SHOAL_REQUIRE_ALL") == "1"
"""Whether the same examples are tried every time; a second half of them would find what it always found."""


def examples(number: int) -> int:
    """How many examples hypothesis is to try; more in a long run, half as many where they are the same every time."""
    if ALL:
        return 5 * number
    return (number + 1) // 2 if SAME else number


def pairwise(*parameters: Iterable[object]) -> list[tuple]:
    """Combinations of one value per parameter in which every pair of values of two parameters is at least once.

    The same every time. One after another, each starts with a pair that is still missing, and takes for the other
    parameters the values that bring most missing pairs. With ``SHOAL_COMBINATIONS=all`` it is the whole product.
    """
    values = [list(each) for each in parameters]
    if ALL or len(values) < 3:
        return list(product(*values))
    return [tuple(values[j][i] for j, i in enumerate(row)) for row in _covering([len(each) for each in values])]


def _covering(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    missing = dict.fromkeys(
        ((a, i), (b, j))
        for a, b in combinations(range(len(sizes)), 2)
        for i in range(sizes[a])
        for j in range(sizes[b])
    )
    rows = []
    while missing:
        row = dict(next(iter(missing)))
        for place in sorted(set(range(len(sizes))) - set(row), key=lambda place: -sizes[place]):
            row[place] = max(range(sizes[place]), key=lambda value: _gain(row, (place, value), missing))
        for pair in combinations(sorted(row.items()), 2):
            missing.pop(pair, None)
        rows.append(tuple(row[place] for place in range(len(sizes))))
    return rows


def _gain(row: dict[int, int], new: tuple[int, int], missing: dict) -> int:
    """How many missing pairs a value would bring together with those chosen already."""
    return sum(tuple(sorted((old, new))) in missing for old in row.items())
