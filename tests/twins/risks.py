"""Risks of being found, row against row and person against person."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = tuple[Any, ...]


def fitting(row: Row, people: Sequence[Row], covers: Callable[[Any, Any], bool]) -> int:
    """How many people have, in every column, a value that the cell of a row covers."""
    return sum(all(covers(cell, value) for cell, value in zip(row, one, strict=True)) for one in people)


def journalist(rows: Sequence[Row], people: Sequence[Row], covers: Callable[[Any, Any], bool]) -> dict[str, Fraction]:
    """All figures of journalist and marketer, from the people who fit each published row."""
    fits = {row: max(fitting(row, people, covers), rows.count(row)) for row in rows}
    mean = sum((Fraction(1, fits[row]) for row in rows), Fraction(0)) / len(rows)
    return {
        "journalist_max": max(Fraction(1, fits[row]) for row in rows),
        "journalist_mean": max(mean, Fraction(len(fits), sum(fits.values()))),
        "journalist_high_share": Fraction(sum(fits[row] < 5 for row in rows), len(rows)),
        "marketer": mean,
        "population_uniques": Fraction(sum(fits[row] == 1 for row in rows), len(rows)),
    }


def expected_risk(f: int, chance: float, terms: int = 4000) -> float:
    """E[1/F], F people of whom f were sampled, each with the same chance: the sum over F, term by term."""
    return math.fsum(
        math.exp(
            math.lgamma(people) - math.lgamma(f) - math.lgamma(people - f + 1)
            + f * math.log(chance) + (people - f) * math.log1p(-chance)
        )
        / people
        for people in range(f, f + terms)
    )  # fmt: skip


def pitman_surprise(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """Minus the logarithm of Pitman's sampling formula, factor by factor, but for what depends on the sizes alone."""
    n, found = sum(sizes), 0.0
    found += math.fsum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
    found -= math.fsum(math.log(theta + i) for i in range(1, n))
    found += math.fsum(math.log(i - alpha) for size in sizes for i in range(1, size))
    return -found


def minimal_uniques(rows: Sequence[Row], most: int, people: Sequence[int] | None = None) -> list[list[tuple[int, ...]]]:
    """Of each row, the sets of at most so many columns whose values no other row has, and no smaller set within.

    Where it is known whose rows they are: whose values nobody else has.
    """
    whose = range(len(rows)) if people is None else people
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for size in range(1, most + 1):
        for columns in combinations(range(len(rows[0])), size):
            values = [tuple(row[j] for j in columns) for row in rows]
            counts = Counter(value for value, _ in set(zip(values, whose, strict=True)))
            for place, value in enumerate(values):
                within = any(set(one) <= set(columns) for one in found[place])
                if counts[value] == 1 and not within:
                    found[place].append(columns)
    return found
