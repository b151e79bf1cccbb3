"""Anatomy in plain Python, piles as lists, with the first row of a pile taken; and its reconstruction error by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction


def partition(values: Sequence[Hashable], l: int) -> tuple[list[int], int]:  # noqa: E741
    """The bucket of every row, and how many rows were left when fewer than l piles were."""
    piles: dict[Hashable, list[int]] = {}
    for row, value in enumerate(values):
        piles.setdefault(value, []).append(row)
    buckets: list[list[int]] = []
    while sum(bool(pile) for pile in piles.values()) >= l:
        highest = sorted(piles.values(), key=lambda pile: -len(pile))[:l]  # sort is stable: first value met first
        buckets.append([pile.pop(0) for pile in highest])
    rest = [row for pile in piles.values() for row in pile]
    for row in rest:
        home = next(bucket for bucket in buckets if values[row] not in {values[other] for other in bucket})
        home.append(row)
    labels = [next(i for i, bucket in enumerate(buckets) if row in bucket) for row in range(len(values))]
    return labels, len(rest)


def reconstruction_error(values: Sequence[Hashable], labels: Sequence[int]) -> Fraction:
    """For every row, the squared distance of its own value from what its bucket shows; 2 for a row in no bucket."""
    total = Fraction(0)
    for value, label in zip(values, labels, strict=True):
        if label < 0:
            total += 2
            continue
        counts = Counter(other for other, where in zip(values, labels, strict=True) if where == label)
        shares = {other: Fraction(count, counts.total()) for other, count in counts.items()}
        total += sum((share - (other == value)) ** 2 for other, share in shares.items())
    return total
