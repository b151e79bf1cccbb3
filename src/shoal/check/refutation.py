"""What slices prove by themselves: a chance that somebody has, in whichever way their rows belong together.

Every row of a published slice is that of a person of its bucket; which rows of other slices are the same person's is
open. Where every way leaves somebody with a larger chance than is allowed, no table keeps the promise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.check.transport import bottleneck
from shoal.kernels.check import fitting as kernel
from shoal.table.numbering import combined

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

STEPS = 10
"""How many buckets are looked at, for every way that may be looked at."""


class Put(NamedTuple):
    """Slices put together, or one that shares no attribute: what a person can have of them, line by line."""

    bucket: Ints
    part: Ints
    """Number of the combination of quasi-identifiers, from 0 in every slice."""


class ShownSlices(NamedTuple):
    """A slice as it was published; rows that show the same are numbered alike."""

    place: int
    """Which of the slices that were put together it is part of."""
    bucket: Ints
    row: Ints
    of_line: Ints
    """The row that each line of that slice shows."""


def certain_chance(
    shown: kernel.Shown,
    slices: Sequence[Put],
    published: Sequence[ShownSlices],
    groups: Sequence[Ints],
    at: int,
    *,
    bound: float,
    most: int,
) -> float:
    """A chance that somebody has in every way to put the slices together, 0 where none above the bound is found.

    Exact where two published slices at most show more than one thing in each bucket, and there are no more ways than
    are looked at. Otherwise the true one may be larger.

    Parameters
    ----------
    shown
        The slices, and the sensitive attribute in the slice `at`.
    slices, published
        The same as lines, and as they were before they were put together.
    groups
        Number of the group of each combination in a slice: those of a group may cover the same person.
    bound
        The largest chance that is allowed.
    most
        How many ways are looked at one by one, those of the buckets with the fewest first.
    """
    limits = [slice(int(first), int(first) + len(one)) for first, one in zip(shown.first, groups, strict=True)]
    group = np.concatenate([one + limit.start for one, limit in zip(groups, limits, strict=True)])
    low, high = bounds(shown, group, bound)
    found = max(_certain_of_rows(slices[one.place], one, low[limits[one.place]]) for one in published)
    lines = _Lines.of(slices, published, [high[limit] <= bound for limit in limits])
    if found > bound and lines.n_ways.sum() > most:  # broken already; only all ways could tell how much
        return found
    order = _order(shown)
    ways = lines.ways(most, order[0], np.diff(shown.begin)[limits[order[0]]])
    chance, least = np.zeros(ways.begin[-1]), np.full(len(lines.times), np.inf)
    pair = np.repeat(np.arange(len(shown.bucket)), np.diff(shown.beside))
    shares = _extreme(np.maximum, pair, shown.times / shown.count[pair], len(shown.bucket))
    kernel.chances_of_ways(shown, ways, order, shares, at, int(shown.value.max(initial=0)) + 1, chance)
    kernel.least_of_rows(ways, chance, least)
    least[~np.isin(lines.home, ways.bucket)] = 0.0
    found = max(found, float(least.max(initial=0.0)))
    largest = np.maximum.reduceat(chance, ways.begin[:-1]) if len(chance) else chance
    for place in np.flatnonzero(largest > bound):
        in_bucket = chance[ways.begin[place] : ways.begin[place + 1]]
        for cost, left, right in lines.pairs(int(ways.bucket[place]), in_bucket) if largest[place] > found else ():
            found = max(found, bottleneck(cost, left, right, max(found, bound)))
    return min(found, 1.0) if found > bound else 0.0  # infinite: rows that no person can have together


def _order(shown: kernel.Shown) -> Ints:
    """Slices whose combinations stand in few buckets first; before them those that have one only, and tell nothing."""
    ends = np.append(shown.first, len(shown.begin) - 1)
    n_parts = np.diff(ends)
    n_buckets = np.diff(shown.begin[ends]) / n_parts
    return np.lexsort((n_buckets, n_parts > 1)).astype(np.int64)


# -- what single combinations say ---------------------------------------------------------------------------------


def bounds(shown: kernel.Shown, group: Ints, bound: float) -> tuple[Floats, Floats]:
    """Between which chances of a likeliest value everybody is who has a combination, for all of all slices.

    The chance of a value is a mean over the buckets that a person fits: it is no less than the smallest share beside
    what the person may have, and no more than the largest. Where a combination is not alone in its group, of people who
    have it is only known that they fit no bucket without the group: the upper bound is given as 0, for nothing is
    certain of them but the lower one. That is given where it is above `bound`, and 0 else.
    """
    n_buckets, part = shown.size.shape[1], np.repeat(np.arange(len(group)), np.diff(shown.begin))
    own, pair = np.diff(shown.beside) > 0, np.repeat(np.arange(len(part)), np.diff(shown.beside))
    share, alone = shown.times / shown.count[pair], np.bincount(group, minlength=len(group))[group] == 1
    largest = _extreme(np.maximum, pair, np.where(alone[part[pair]], share, 0.0), len(part))
    lowest = _extreme(np.minimum, shown.bucket[own], largest[own], n_buckets)
    highest = _extreme(np.maximum, shown.bucket[own], largest[own], n_buckets)
    high = _extreme(np.maximum, part, np.where(own, largest, highest[shown.bucket]), len(group))
    ends = [_extreme(one, group[part], shown.bucket, len(group)) for one in (np.minimum, np.maximum)]

    low = np.where(ends[0] == ends[1], lowest[np.minimum(ends[1], n_buckets - 1).astype(np.int64)], 0.0)
    low[group[part[own]]] = 0.0  # for them, what stands beside them counts
    above, n_in = share > bound, np.bincount(group[part], minlength=len(group))
    beside = _Shares(group[part[pair]][above], shown.value[above], share[above])
    in_bucket = _Shares(shown.bucket[pair][above], shown.value[above], share[above]).everywhere(
        np.bincount(shown.bucket[own], minlength=n_buckets)
    )
    for found in (beside.everywhere(n_in), in_bucket.beside(group[part[~own]], shown.bucket[~own]).everywhere(n_in)):
        np.maximum.at(low, found.place, found.share)
    return np.where(low > bound, low, 0.0)[group], np.where(alone, high, 0.0)


def _extreme(which: np.ufunc, place: Ints, number: npt.NDArray[np.generic], n_places: int) -> Floats:
    """The smallest or largest number of each place; where there is none, infinite or 0."""
    found = np.full(n_places, np.inf if which is np.minimum else 0.0)
    which.at(found, place, number)
    return found


def _certain_of_rows(lines: Put, published: ShownSlices, low: Floats) -> float:
    """The largest lower bound of anybody who has a row of a published slice, whichever line it is part of."""
    n_rows = int(published.of_line.max(initial=0)) + 1
    _, row = np.unique(lines.bucket * n_rows + published.of_line, return_inverse=True)
    return float(_extreme(np.minimum, row, low[lines.part], int(row.max(initial=-1)) + 1).max(initial=0.0))


class _Shares(NamedTuple):
    """Shares of values in some places."""

    place: Ints
    value: Ints
    share: Floats

    def everywhere(self, n_needed: Ints) -> _Shares:
        """The smallest share of every value that is there as often as needed in a place, by place."""
        n_values = int(self.value.max(initial=0)) + 1
        keys, of_key, n = np.unique(self.place * n_values + self.value, return_inverse=True, return_counts=True)
        least = np.full(len(keys), np.inf)
        np.minimum.at(least, of_key, self.share)
        kept = n == n_needed[keys // n_values]
        return _Shares(keys[kept] // n_values, keys[kept] % n_values, least[kept])

    def beside(self, other: Ints, place: Ints) -> _Shares:
        """The same for whatever stands in the places; they are in rising order."""
        begin, end = np.searchsorted(self.place, place, "left"), np.searchsorted(self.place, place, "right")
        n = end - begin
        at = np.repeat(begin - np.cumsum(n) + n, n) + np.arange(n.sum())
        return _Shares(np.repeat(other, n), self.value[at], self.share[at])


# -- what all ways to put rows together say -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    """What stands in each bucket, line by line, each once; and which published rows the lines show.

    Combinations with which nobody can be too sure are one line of a slice that shares no attribute.
    """

    inside: Ints
    """Where the lines of each bucket begin, slice by slice."""
    part: tuple[Ints, ...]
    """Combination of every line, slice by slice; -1 where nobody with it can be too sure."""
    place: tuple[int, ...]
    """The slice that each published one is part of."""
    row: tuple[Ints, ...]
    """Row that each line of that slice shows, for each published one; numbered over all of them, by bucket."""
    row_inside: Ints
    """Where the rows of each bucket begin, published slice by published slice."""
    times: Ints
    """How often each row is there."""
    home: Ints
    """Its bucket."""

    @classmethod
    def of(cls, slices: Sequence[Put], published: Sequence[ShownSlices], harmless: Sequence[Bools]) -> _Lines:
        """Lay out the slices; `harmless` tells combinations of each with which nobody can be too sure."""
        n_buckets = int(slices[0].bucket.max(initial=-1)) + 1
        edges = np.arange(n_buckets + 1)
        inside, parts, rows, row_inside, times, homes = [], [], {}, {}, {}, {}
        for place, one in enumerate(slices):
            members = {i: of for i, of in enumerate(published) if of.place == place}
            part = np.where(harmless[place][one.part], -1, one.part)
            if len(members) == 1:  # its lines are its rows
                members = {i: ShownSlices(place, one.bucket, part + 1, part + 1) for i in members}
            number = combined([one.bucket, part, *(of.of_line for of in members.values())])
            heads = np.unique(number, return_index=True)[1]
            bucket = one.bucket[heads]
            inside.append(np.searchsorted(bucket, edges))
            parts.append(part[heads])
            for i, of in members.items():
                n_rows = max(int(of.row.max(initial=0)), int(of.of_line.max(initial=0))) + 1
                known, count = np.unique(of.bucket * n_rows + of.row, return_counts=True)
                rows[i] = np.searchsorted(known, bucket * n_rows + of.of_line[heads])
                times[i], homes[i] = count, known // n_rows
                row_inside[i] = np.searchsorted(homes[i], edges)
        order = range(len(published))
        first = np.cumsum([0, *(len(times[i]) for i in order)])
        return cls(
            np.stack(inside).astype(np.int64),
            tuple(parts),
            tuple(one.place for one in published),
            tuple((rows[i] + first[i]).astype(np.int64) for i in order),
            np.stack([row_inside[i] + first[i] for i in order]).astype(np.int64),
            np.concatenate([times[i] for i in order]).astype(np.int64),
            np.concatenate([homes[i] for i in order]).astype(np.int64),
        )

    @cached_property
    def n_ways(self) -> Floats:
        """In how many ways the lines of each bucket can be put together; 0 where nobody in it can be too sure."""
        n_lines = np.diff(self.inside, axis=1)
        harmful = [
            np.bincount(np.repeat(np.arange(len(n)), n)[part >= 0], minlength=len(n)) > 0
            for n, part in zip(n_lines, self.part, strict=True)
        ]
        return np.where(np.all(harmful, axis=0), n_lines.astype(np.float64).prod(axis=0), 0.0)

    def ways(self, most: int, first: int, n_in: Ints) -> kernel.FittingWays:
        """The ways that are looked at: of buckets where somebody may be too sure, those with the fewest first.

        `n_in` tells in how many buckets each combination of the `first` slice stands: people who have it fit no other.
        """
        part, n_lines = self.part[first], np.diff(self.inside[first])
        n_fitting = np.bincount(np.repeat(np.arange(len(n_lines)), n_lines), weights=np.where(part < 0, 0, n_in[part]))
        n_ways, n_steps = self.n_ways, self.n_ways * n_fitting / n_lines
        bucket = np.flatnonzero(n_ways)
        bucket = bucket[np.argsort(n_ways[bucket], kind="stable")]
        bucket = bucket[(np.cumsum(n_ways[bucket]) <= most) & (np.cumsum(n_steps[bucket]) <= STEPS * most)]
        bucket.sort()
        begin = np.cumsum([0, *n_ways[bucket]]).astype(np.int64)
        part_at = np.cumsum([0, *(len(part) for part in self.part[:-1])]).astype(np.int64)
        row_at = np.cumsum([0, *(len(row) for row in self.row[:-1])]).astype(np.int64)
        place = np.array(self.place, dtype=np.int64)
        return kernel.FittingWays(
            bucket, begin, self.inside, part_at, np.concatenate(self.part), place, row_at, np.concatenate(self.row)
        )

    def pairs(self, bucket: int, chance: Floats) -> Iterator[tuple[Floats, Ints, Ints]]:
        """Any two published slices of a bucket: the smallest chance that each two rows can have together, and times."""
        chance = chance.reshape(np.diff(self.inside[:, bucket : bucket + 2]).ravel())
        begin, end = self.row_inside[:, bucket], self.row_inside[:, bucket + 1]
        several = np.flatnonzero(end - begin > 1).tolist()  # a slice that shows one thing only leaves nothing open
        for one, other in combinations(several, 2):
            left, right = (self._rows(i, bucket, chance.ndim) for i in (one, other))
            beyond = tuple(axis for axis in range(chance.ndim) if axis not in (self.place[one], self.place[other]))
            cost = np.full((end[one] - begin[one], end[other] - begin[other]), np.inf)
            np.minimum.at(cost, (left, right), chance.min(axis=beyond, keepdims=True))
            yield cost, self.times[begin[one] : end[one]], self.times[begin[other] : end[other]]

    def _rows(self, i: int, bucket: int, n_slices: int) -> Ints:
        """Rows that the lines of a bucket show, numbered from 0, along the axis of their slice."""
        begin, end = self.inside[self.place[i], bucket : bucket + 2]
        shape = [1] * n_slices
        shape[self.place[i]] = -1
        return np.asarray(self.row[i][begin:end] - self.row_inside[i, bucket]).reshape(shape)
