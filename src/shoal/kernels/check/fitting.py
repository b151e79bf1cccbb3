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


class FittingWays(NamedTuple):
    """How rows can be put together, in some buckets; lines of a slice are what its rows show, each once a bucket."""

    bucket: Any  # int64[m]              IN  the buckets, in rising order
    begin: Any  # int64[m + 1]           IN  where the ways of each begin; of two that follow, the last slice differs
    inside: Any  # int64[slices, buckets + 1]  IN  where the lines of each bucket begin, of all buckets there are
    part_at: Any  # int64[slices]        IN  where the lines of each slice begin in `part`
    part: Any  # int64[...]              IN  combination that a line shows, in rising order for each bucket; -1 where
    #                                        nobody with it can be too sure
    slice: Any  # int64[files]           IN  the slice that each published one is part of
    row_at: Any  # int64[files]          IN  where the lines of that slice begin in `row`, for each published one
    row: Any  # int64[...]               IN  row of the published slice that a line shows, equal ones as one


class Fitting(NamedTuple):
    """The buckets that whoever has the first so many combinations fits, level by level, and how well."""

    n: Any  # int64[slices + 1]
    bucket: Any  # int64[slices + 1, buckets]
    fit: Any  # float64[slices + 1, buckets]
    pair: Any  # int64[slices + 1, buckets]  pair of the slice with the sensitive attribute, as soon as it is known


@jit
def chances_of_ways(
    shown: Shown, ways: FittingWays, order: Any, most: Any, at: int, n_values: int, chance: Any
) -> None:
    """The largest chance of a value for whoever has the lines of each way.

    Goes down from slice to slice, and keeps on every level which buckets are left. Whoever fits an earlier bucket was
    looked at there.

    IN     order int64[slices], slices whose combinations stand in few buckets first
    IN     most float64[pairs], largest share of a value beside a combination in a bucket
    INOUT  chance float64[ways], 0 before; 0 after where a line tells that it is small enough
    """
    n_slices, n_buckets = len(order), shown.size.shape[1]
    sums, touched = np.zeros(n_values), np.empty(n_values, dtype=np.int64)
    shape = (n_slices + 1, n_buckets)
    fitting = Fitting(
        np.zeros(n_slices + 1, dtype=np.int64), np.empty(shape, dtype=np.int64), np.empty(shape),
        np.full(shape, -1, dtype=np.int64),
    )  # fmt: skip
    turn, way = np.empty(n_slices, dtype=np.int64), np.empty(n_slices + 1, dtype=np.int64)
    person, place_of = np.empty(n_slices, dtype=np.int64), np.full(n_buckets, -1, dtype=np.int64)
    for place in range(len(ways.bucket)):
        bucket, level = ways.bucket[place], 0
        place_of[bucket] = place
        way[0], turn[0] = ways.begin[place], ways.inside[order[0], bucket]
        while level >= 0:
            i = order[level]
            if turn[level] == ways.inside[i, bucket + 1]:
                level -= 1
                continue
            way[level + 1] = way[level] + (turn[level] - ways.inside[i, bucket]) * _step(ways, i, bucket)
            part = ways.part[ways.part_at[i] + turn[level]]
            turn[level] += 1
            if part < 0:
                continue
            person[i] = part
            if level + 1 < n_slices:
                _narrow(shown, fitting, level, i, shown.first[i] + part, at)
                level += 1
                turn[level] = ways.inside[order[level], bucket]
                continue
            home = _home(shown, fitting, level, shown.first[i] + part, place_of, bucket)
            if home == bucket:
                _narrow(shown, fitting, level, i, shown.first[i] + part, at)
                chance[way[n_slices]] = _likeliest(shown, fitting, n_slices, most, sums, touched)
            else:
                chance[way[n_slices]] = chance[_same_way(ways, person, home, ways.begin[place_of[home]])]


@jit
def _home(shown: Shown, fitting: Fitting, level: int, combination: int, place_of: Any, bucket: int) -> int:
    """The first bucket that was looked at and that a person fits, of those left and with one more combination."""
    for place in range(fitting.n[level]):
        earlier = fitting.bucket[level, place]
        if earlier >= bucket:
            break
        if place_of[earlier] >= 0 and _find(shown, combination, earlier) >= 0:
            return earlier
    return bucket


@jit
def _same_way(ways: FittingWays, person: Any, bucket: int, begin: int) -> int:
    """A way of another bucket that shows the same combinations; those of the bucket `begin` there."""
    way = begin
    for i in range(len(person)):
        first, low, high = ways.inside[i, bucket], ways.inside[i, bucket], ways.inside[i, bucket + 1]
        while low < high:
            middle = (low + high) // 2
            if ways.part[ways.part_at[i] + middle] < person[i]:
                low = middle + 1
            else:
                high = middle
        way += (low - first) * _step(ways, i, bucket)
    return way


@jit
def _step(ways: FittingWays, i: int, bucket: int) -> int:
    """How many ways further the next line of a slice is."""
    step = 1
    for j in range(i + 1, len(ways.inside)):
        step *= ways.inside[j, bucket + 1] - ways.inside[j, bucket]
    return step


@jit
def _narrow(shown: Shown, fitting: Fitting, level: int, i: int, combination: int, at: int) -> None:
    """The buckets that are left once a combination of slice `i` is known, too."""
    n, below = 0, level + 1
    if level == 0:
        for found in range(shown.begin[combination], shown.begin[combination + 1]):
            fitting.bucket[below, n] = shown.bucket[found]
            fitting.fit[below, n] = shown.count[found] / shown.size[i, shown.bucket[found]]
            fitting.pair[below, n] = found if i == at else -1
            n += 1
    elif fitting.n[level] == 1 and i != at:  # the bucket itself, in which the combination stands
        fitting.bucket[below, 0], fitting.pair[below, 0], n = fitting.bucket[level, 0], fitting.pair[level, 0], 1
    else:
        found, end = shown.begin[combination], shown.begin[combination + 1]
        few, place = end - found < fitting.n[level], 0
        while found < end and place < fitting.n[level]:
            if few:  # look for its buckets among those that are left, or the other way round
                bucket = shown.bucket[found]
                place += np.searchsorted(fitting.bucket[level, place : fitting.n[level]], bucket)
            else:
                bucket = fitting.bucket[level, place]
                found += np.searchsorted(shown.bucket[found:end], bucket)
            if found < end and place < fitting.n[level] and fitting.bucket[level, place] == shown.bucket[found]:
                fitting.bucket[below, n] = bucket
                fitting.fit[below, n] = fitting.fit[level, place] * shown.count[found] / shown.size[i, bucket]
                fitting.pair[below, n] = found if i == at else fitting.pair[level, place]
                n += 1
            found, place = found + few, place + (not few)
    fitting.n[below] = n


@jit
def _likeliest(shown: Shown, fitting: Fitting, level: int, most: Any, sums: Any, touched: Any) -> float:
    """The largest chance of a value for one person, all of whose combinations are known.

    INOUT  sums float64[values], 0 before and after;  touched int64[values]
    """
    if fitting.n[level] == 1:
        return most[fitting.pair[level, 0]]
    total, n_touched = 0.0, 0
    for place in range(fitting.n[level]):
        fit, pair = fitting.fit[level, place], fitting.pair[level, place]
        total += fit
        weight = fit / shown.count[pair]
        for i in range(shown.beside[pair], shown.beside[pair + 1]):
            value = shown.value[i]
            if sums[value] == 0.0:
                touched[n_touched] = value
                n_touched += 1
            sums[value] += weight * shown.times[i]
    largest = 0.0
    for i in range(n_touched):
        largest = max(largest, sums[touched[i]])
        sums[touched[i]] = 0.0
    return largest / total


@jit
def least_of_rows(ways: FittingWays, chance: Any, least: Any) -> None:
    """The smallest of the chances of the ways that each row is part of.

    INOUT  least float64[rows]
    """
    n_slices = len(ways.inside)
    turn = np.empty(n_slices, dtype=np.int64)
    for place in range(len(ways.bucket)):
        bucket = ways.bucket[place]
        for i in range(n_slices):
            turn[i] = ways.inside[i, bucket]
        for way in range(ways.begin[place], ways.begin[place + 1]):
            for j in range(len(ways.slice)):
                row = ways.row[ways.row_at[j] + turn[ways.slice[j]]]
                least[row] = min(least[row], chance[way])
            i = n_slices - 1
            while i >= 0:
                turn[i] += 1
                if turn[i] < ways.inside[i, bucket + 1]:
                    break
                turn[i] = ways.inside[i, bucket]
                i -= 1


@jit
def groups_that_meet(low: Any, high: Any, listed: Any, first: Any, places: Any) -> Any:
    """Number combinations of cells so that two have one number that may stand for the same values, or lead to it.

    IN   low, high int32[n, columns], the stretch of each cell;  listed int32[n, columns], its list of places, or -1
    IN   first int64[lists + 1], where each list begins in `places`;  places int32[...], rising within a list
    OUT  int64[n], the number of the first combination that each belongs to
    """
    above = np.arange(len(low))
    for i in range(len(low)):
        for j in range(i):
            one, other = _top(above, i), _top(above, j)
            if one != other and _meet(low, high, listed, first, places, i, j):
                above[max(one, other)] = min(one, other)
    for i in range(len(low)):
        above[i] = _top(above, i)
    return above


@jit
def _top(above: Any, i: int) -> int:
    """The number of a group, halving the way to it for the next time."""
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


@jit
def _meet(low: Any, high: Any, listed: Any, first: Any, places: Any, i: int, j: int) -> bool:
    """Whether two combinations may stand for the same values in every column."""
    for column in range(low.shape[1]):
        begin, end = max(low[i, column], low[j, column]), min(high[i, column], high[j, column])
        if begin > end:
            return False
        one, other = listed[i, column], listed[j, column]
        if one < 0:
            one, other = other, one
        if one < 0:
            continue
        both = False
        for at in range(first[one], first[one + 1]):
            if begin <= places[at] <= end:
                both = both or other < 0
                for there in range(first[other], first[other + 1] if other >= 0 else first[other]):
                    both = both or places[there] == places[at]
        if not both:
            return False
    return True
