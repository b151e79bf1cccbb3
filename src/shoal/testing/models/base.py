"""What the re-derivations of several models need: shares of values, and trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from shoal.testing.shown import Parents
from shoal.testing.tables import SENSITIVE

ROOM = 1e-9
"""How far a real number may miss its bound: by rounding alone."""
BOUNDS = st.integers(1, 60).map(lambda number: number / 60)
"""Shares that values of small tables hit."""
COLUMNS = st.sampled_from(SENSITIVE)


def shares(values: Sequence[object]) -> dict[object, Fraction]:
    """How much of some values each of them is."""
    return {value: Fraction(times, len(values)) for value, times in Counter(values).items()}


def height(node: object, parents: Parents) -> int:
    """Edges from a node down to the deepest leaf below it."""
    return max((1 + height(child, parents) for child, above in parents.items() if above == node), default=0)


def path(node: str, parents: Parents) -> list[str]:
    """From a node up to the root, both included."""
    above = parents[node]
    return [node, *(path(above, parents) if above is not None else [])]


def leaves_below(node: str, parents: Parents) -> list[str]:
    """The leaves under a node; a leaf is under itself."""
    inner = set(parents.values())
    return [leaf for leaf in parents if leaf not in inner and node in path(leaf, parents)]
