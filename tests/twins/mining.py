"""Rules by trying every combination of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Side = frozenset[tuple[str, Any]]
"""Columns and the cells that they show."""


def all_rules(
    rows: Sequence[Mapping[str, Any]],
    min_support: Fraction,
    min_confidence: Fraction,
    max_length: int,
    target: str | None,
) -> dict[tuple[Side, Side], tuple[int, int, int]]:
    """Every rule that is frequent, sure, and surer than its conclusion: rows of both sides, and of each."""
    found = {}
    for length in range(2, max_length + 1):
        for columns in combinations(rows[0] if rows else (), length):
            cells = [{row[column] for row in rows} - {"*"} for column in columns]
            for chosen in product(*cells):
                items = list(zip(columns, chosen, strict=True))
                if any(_count(rows, [item]) == len(rows) for item in items):
                    continue  # what all rows show says nothing
                both = _count(rows, items)
                if both and Fraction(both, len(rows)) >= min_support:
                    found |= _split(rows, items, both, min_confidence, target)
    return found


def _split(
    rows: Sequence[Mapping[str, Any]], items: Sequence[tuple[str, Any]], both: int, least: Fraction, target: str | None
) -> dict[tuple[Side, Side], tuple[int, int, int]]:
    found = {}
    for size in range(1, len(items)):
        for then in combinations(items, size):
            if target is not None and [column for column, _ in then] != [target]:
                continue
            when = [item for item in items if item not in then]
            n_when, n_then = _count(rows, when), _count(rows, then)
            confidence = Fraction(both, n_when)
            if confidence >= least and confidence > Fraction(n_then, len(rows)):
                found[frozenset(when), frozenset(then)] = both, n_when, n_then
    return found


def without_redundant(
    found: Mapping[tuple[Side, Side], tuple[int, int, int]],
) -> dict[tuple[Side, Side], tuple[int, int, int]]:
    """Rules for which none with fewer conditions is as sure of the same."""
    return {
        (when, then): counts
        for (when, then), counts in found.items()
        if not any(
            other < when and same == then and Fraction(shown[0], shown[1]) >= Fraction(counts[0], counts[1])
            for (other, same), shown in found.items()
        )
    }


def _count(rows: Sequence[Mapping[str, Any]], items: Sequence[tuple[str, Any]]) -> int:
    return sum(all(row[column] == cell for column, cell in items) for row in rows)
