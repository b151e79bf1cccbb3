"""Tuple partitioning of slicing in plain Python and fractions: the whole table is checked anew after every split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import inf

Points = Sequence[Sequence[float]]
Rows = Sequence[int]
Parts = Sequence[Sequence[int]]
Sensitive = Sequence[tuple[int, Sequence[int]]]
TOLERANCE = Fraction(1, 10**12)


def match(t: int, bucket: Rows, parts: Parts) -> Fraction:
    """f(t, B): product over slices of the share of rows with t's part."""
    share = Fraction(1)
    for part in parts:
        share *= Fraction(sum(part[row] == part[t] for row in bucket), len(bucket))
    return share


def values_with(t: int, bucket: Rows, parts: Parts, home: int, codes: Sequence[int]) -> dict[int, Fraction]:
    """D(t, B): sensitive values among the rows with t's part of the slice they are in."""
    counts = Counter(codes[row] for row in bucket if parts[home][row] == parts[home][t])
    return {value: Fraction(count, counts.total()) for value, count in counts.items()}


def shares(t: int, buckets: Sequence[Rows], parts: Parts, home: int, codes: Sequence[int]) -> dict[int, Fraction]:
    """p(t, s) of every sensitive value that t may have."""
    weights = [match(t, bucket, parts) for bucket in buckets]
    found: dict[int, Fraction] = {}
    for bucket, weight in zip(buckets, weights, strict=True):
        if weight:
            for value, share in values_with(t, bucket, parts, home, codes).items():
                found[value] = found.get(value, Fraction(0)) + weight * share / sum(weights)
    return found


def worst_share(buckets: Sequence[Rows], parts: Parts, sensitive: Sensitive) -> Fraction:
    """Largest p(t, s) of all rows and values."""
    everyone = [row for bucket in buckets for row in bucket]
    heads = {tuple(part[row] for part in parts): row for row in everyone}.values()
    return max(
        share for t in heads for home, codes in sensitive for share in shares(t, buckets, parts, home, codes).values()
    )


def cuts(bucket: Rows, points: Points, spans: Sequence[float], k: int) -> Iterator[tuple[Rows, Rows]]:
    """Halves at the median of every column that allows them, the widest first; a point at infinity is missing."""

    def width(j: int) -> float:
        places = [points[row][j] for row in bucket]
        if min(places) == max(places):
            return 0.0
        return 1.0 if max(places) == inf else (max(places) - min(places)) / spans[j]

    for j in sorted(range(len(spans)), key=lambda column: -width(column)):  # sort is stable
        if width(j) == 0:
            return
        places = sorted(points[row][j] for row in bucket)
        middle = places[len(places) // 2 - 1]
        if middle == inf:
            middle = max(place for place in places if place < inf)
        left = [row for row in bucket if points[row][j] <= middle]
        right = [row for row in bucket if points[row][j] > middle]
        if min(len(left), len(right)) >= k:
            yield left, right


def partition(
    points: Points, spans: Sequence[float], parts: Parts, sensitive: Sensitive, l: int, k: int, tries: int = 1  # noqa: E741
) -> tuple[list[int], int, int, Fraction]:  # fmt: skip
    """Labels by first row, splits tried, splits refused, largest p(t, s)."""
    everyone = list(range(len(points)))
    bound = Fraction(1, l) + TOLERANCE
    queue: list[Rows] = [everyone]
    done: list[Rows] = []
    n_trials = n_rejected = 0
    if worst_share([everyone], parts, sensitive) > bound:
        queue, done = [], [everyone]
    while queue:
        bucket = queue.pop(0)
        for left, right in list(cuts(bucket, points, spans, k))[:tries]:
            n_trials += 1
            if worst_share([*queue, left, right, *done], parts, sensitive) <= bound:
                queue += [left, right]
                break
            n_rejected += 1
        else:
            done.append(bucket)
    done.sort(key=min)
    labels = [next(number for number, bucket in enumerate(done) if row in bucket) for row in everyone]
    return labels, n_trials, n_rejected, worst_share(done, parts, sensitive)


def consistent_tables(
    bucket: Rows, parts: Parts, home: int, codes: Sequence[int]
) -> Iterator[list[tuple[tuple[int, ...], int]]]:
    """Every table that looks like this bucket once sliced: each slice put in every order, one row per place.

    A row is its part of each slice and its sensitive value, which moves with the slice it is in. Orders that look
    alike are given as often as they occur, as they are equally likely outcomes of the shuffle.
    """
    for orders in product(permutations(bucket), repeat=len(parts)):
        yield [
            (tuple(part[row] for part, row in zip(parts, place, strict=True)), codes[place[home]])
            for place in zip(*orders, strict=True)
        ]
