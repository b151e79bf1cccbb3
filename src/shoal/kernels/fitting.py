"""How people fit the buckets of a sliced table, and how sure that makes of their sensitive values.

For the checker: it knows the published slices alone, and looks at every person from scratch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit


class Shown(NamedTuple):
    """Published slices: in which buckets each combination stands, how often, and beside which sensitive values."""

    first: Any  # int64[slices]       IN  where the combinations of each slice begin in `begin`
    begin: Any  # int64[all + 1]      IN  where the pairs of each combination begin, by bucket
    bucket: Any  # int64[pairs]       IN  in rising order for each combination
    count: Any  # float64[pairs]      IN  rows of the bucket that show the combination
    size: Any  # float64[slices, buckets]  IN  rows of each slice in each bucket
    beside: Any  # int64[pairs + 1]   IN  where the values begin that stand beside a combination in a bucket, for pairs
    #                                     of the slice with the sensitive attribute
    value: Any  # int64[...]          IN
    times: Any  # float64[...]        IN


@jit
def _find(shown: Shown, combination: int, bucket: int) -> int:
    """Place of the pair of a combination and a bucket, -1 where it does not stand there."""
    low, high = shown.begin[combination], shown.begin[combination + 1]
    while low < high:
        middle = (low + high) // 2
        if shown.bucket[middle] < bucket:
            low = middle + 1
        else:
            high = middle
    return low if low < shown.begin[combination + 1] and shown.bucket[low] == bucket else -1


@jit
def _fit(shown: Shown, person: Any, at: int, bucket: int) -> Any:
    """How well a person fits a bucket, and the pair of the slice `at`; 0 where a combination does not stand there."""
    fit, pair = 1.0, -1
    for i in range(len(person)):
        found = _find(shown, shown.first[i] + person[i], bucket)
        if found < 0:
            return 0.0, -1
        fit *= shown.count[found] / shown.size[i, bucket]
        if i == at:
            pair = found
    return fit, pair


@jit
def _rarest(shown: Shown, person: Any) -> int:
    """The combination of a person that stands in the fewest buckets."""
    best, where = -1, 0
    for i in range(len(person)):
        combination = shown.first[i] + person[i]
        n = shown.begin[combination + 1] - shown.begin[combination]
        if best < 0 or n < best:
            best, where = n, combination
    return where


@jit
def _chance(shown: Shown, person: Any, at: int, sums: Any, touched: Any) -> float:
    """The largest chance of a value for one person; 0 for one who fits no bucket.

    INOUT  sums float64[values], 0 before and after;  touched int64[values]
    """
    rare, total, n_touched = _rarest(shown, person), 0.0, 0
    for place in range(shown.begin[rare], shown.begin[rare + 1]):
        fit, pair = _fit(shown, person, at, shown.bucket[place])
        if fit == 0.0:
            continue
        total += fit
        for i in range(shown.beside[pair], shown.beside[pair + 1]):
            value = shown.value[i]
            if sums[value] == 0.0:
                touched[n_touched] = value
                n_touched += 1
            sums[value] += fit * shown.times[i] / shown.count[pair]
    largest = 0.0
    for i in range(n_touched):
        largest = max(largest, sums[touched[i]])
        sums[touched[i]] = 0.0
    return largest / total if total > 0.0 else 0.0


@jit
def largest_chance(shown: Shown, persons: Any, at: int, n_values: int) -> Any:
    """The largest chance of a value of any person, and how many persons fit no bucket at all.

    IN  persons int64[u, slices], the combination of each person in each slice, -1 where it is in none
    """
    sums, touched = np.zeros(n_values), np.empty(n_values, dtype=np.int64)
    largest, n_strange = 0.0, 0
    for t in range(len(persons)):
        chance = 0.0
        if persons[t].min() >= 0:
            chance = _chance(shown, persons[t], at, sums, touched)
        n_strange += chance == 0.0
        largest = max(largest, chance)
    return largest, n_strange


@jit
def largest_of_all(shown: Shown, inside: Any, standing: Any, at: int, n_values: int) -> float:
    """The largest chance of a value of anybody that the slices can be put together to.

    IN  inside int64[buckets * slices + 1], where the combinations of each bucket and slice begin in `standing`
    """
    n_slices = len(shown.first)
    sums, touched = np.zeros(n_values), np.empty(n_values, dtype=np.int64)
    person, turn = np.empty(n_slices, dtype=np.int64), np.zeros(n_slices, dtype=np.int64)
    largest = 0.0
    for bucket in range(shown.size.shape[1]):
        turn[:] = 0
        while True:
            for i in range(n_slices):
                person[i] = standing[inside[bucket * n_slices + i] + turn[i]]
            if _first_home(shown, person) == bucket:
                largest = max(largest, _chance(shown, person, at, sums, touched))
            i = 0
            while i < n_slices:
                turn[i] += 1
                if turn[i] < inside[bucket * n_slices + i + 1] - inside[bucket * n_slices + i]:
                    break
                turn[i] = 0
                i += 1
            if i == n_slices:
                break
    return largest


@jit
def _first_home(shown: Shown, person: Any) -> int:
    """The first bucket that a person fits, so that nobody is looked at twice."""
    rare = _rarest(shown, person)
    for place in range(shown.begin[rare], shown.begin[rare + 1]):
        if _fit(shown, person, 0, shown.bucket[place])[0] > 0.0:
            return shown.bucket[place]
    return -1
