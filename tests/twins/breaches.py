"""Breaches as their definitions say them, row against row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Path = Sequence[str]
"""The nodes from a value up to the root."""


def per_row(groups: Sequence[Any], values: Sequence[Any], counts: Callable[[Any, Any], bool]) -> list[Fraction]:
    """Of each row, the share of its group with a value that counts."""
    found = []
    for group, value in zip(groups, values, strict=True):
        others = [other for place, other in zip(groups, values, strict=True) if place == group]
        found.append(Fraction(sum(counts(value, other) for other in others), len(others)))
    return found


def near(epsilon: float, *, relative: bool = False) -> Callable[[Any, Any], bool]:
    """Whether two numbers are near each other, seen from the first; missing ones are near missing ones."""

    def counts(own: Any, other: Any) -> bool:
        if own is None or other is None:
            return own is other
        reach = Fraction(epsilon) * abs(Fraction(own)) if relative else Fraction(epsilon)
        slack = Fraction(1, 10**12) * (abs(Fraction(own)) + reach)
        return abs(Fraction(own) - Fraction(other)) <= reach + slack

    return counts


def unrelated(path: Callable[[str], Path] | None, theta: float) -> Callable[[Any, Any], bool]:
    """Whether two values are unrelated in a tree that says the way from a value to its root; without one, all are."""

    def counts(own: Any, other: Any) -> bool:
        if own == other:
            return False
        if own is None or other is None or path is None:
            return True
        meet = next(node for node in path(own) if node in path(other))
        root = path(own)[-1]
        return meet == root or _height(path, meet) >= theta * _height(path, root)

    return counts


def _height(path: Any, node: str) -> int:
    """Edges from a node to its deepest leaf."""
    return max(path(leaf).index(node) for leaf in path.leaves if node in path(leaf))


class Paths:
    """The ways of a hierarchy, given leaf by leaf."""

    def __init__(self, lines: Sequence[Path]) -> None:
        self.leaves = [line[0] for line in lines]
        self._ways = {node: list(line[place:]) for line in lines for place, node in enumerate(line)}

    def __call__(self, value: str) -> Path:
        return self._ways[value]
