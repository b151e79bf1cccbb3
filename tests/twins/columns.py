"""Attribute partitioning as plain loops over values and fractions, sharing nothing with `shoal.slicing.attributes`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations


def phi2(one: Sequence[Hashable], other: Sequence[Hashable]) -> Fraction:
    """Mean-square contingency coefficient, cell by cell, empty cells too; None is a value like any other."""
    n_rows, rows, columns = len(one), sorted(set(one), key=repr), sorted(set(other), key=repr)
    if min(len(rows), len(columns)) == 1:
        return Fraction(0)
    total = Fraction(0)
    for value in rows:
        for against in columns:
            both = Fraction(sum(a == value and b == against for a, b in zip(one, other, strict=True)), n_rows)
            apart = Fraction(sum(a == value for a in one), n_rows) * Fraction(sum(b == against for b in other), n_rows)
            total += (both - apart) ** 2 / apart
    return total / (min(len(rows), len(columns)) - 1)


def equal_frequency(values: Sequence[float | None], bins: int) -> list[int | None]:
    """Bin of each value: all rows in a line, the bin of a value is that in which the middle of its stretch lies."""
    line = sorted(value for value in values if value is not None)
    bin_of = {}
    for value in set(line):
        places = [place for place, other in enumerate(line) if other == value]
        middle = Fraction(places[0] + places[-1] + 1, 2)
        bin_of[value] = int(middle * bins / len(line))
    return [None if value is None else bin_of[value] for value in values]


def equal_width(values: Sequence[int | None], bins: int) -> list[int | None]:
    """Bin of each value among bins of one width; the largest value is in the last bin."""
    present = [value for value in values if value is not None]
    low, span = min(present), max(present) - min(present)
    bin_of = {value: min(int(Fraction(value - low) * bins / span), bins - 1) for value in present}
    return [None if value is None else bin_of[value] for value in values]


def medoid_sets(distance: Sequence[Sequence[Fraction]], n_medoids: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Every set of medoids with its total distance, the best first, ties in the order of places."""
    everyone = range(len(distance))
    return sorted(
        (sum((min(distance[one][medoid] for medoid in medoids) for one in everyone), Fraction(0)), medoids)
        for medoids in combinations(everyone, n_medoids)
    )


def mean_silhouette(distance: Sequence[Sequence[Fraction]], groups: Sequence[Sequence[int]]) -> Fraction:
    """Average over all of (next - own) / max(next, own), with 0 for those alone and for 0 / 0."""
    total = Fraction(0)
    for group in groups:
        for one in group if len(group) > 1 else ():
            own = sum((distance[one][other] for other in group), Fraction(0)) / (len(group) - 1)
            rest = [other for other in groups if other is not group]
            near = min(sum((distance[one][member] for member in other), Fraction(0)) / len(other) for other in rest)
            total += (near - own) / max(near, own) if max(near, own) else 0
    return total / sum(len(group) for group in groups)
