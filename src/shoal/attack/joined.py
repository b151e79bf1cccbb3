"""Links with buckets and slices: parts of a bucket stand apart, and a bucket fits a person as far as all parts do.

The share of a bucket's rows that fit the person is taken in every part; their product says how well the bucket fits.
That is the matching of slicing (Li, Li, Zhang, Molloy 2012), with whatever is known, however precisely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attack.index import BoxIndex, Floats, Ints
from shoal.attack.knowledge import Asked, Known, asked_of
from shoal.attack.links import Candidates, Links, picked, stretches
from shoal.attack.published import Part, Published, Units


@dataclass(frozen=True, repr=False, eq=False)
class AskedPart:
    """One part that shows something of what is known: its units, and how they are asked."""

    units: Units
    first_unit: Ints
    """First unit of each combination of cells, and one past the last."""
    index: BoxIndex
    asked: Asked
    size: Floats
    """Rows of every bucket."""

    @classmethod
    def of(cls, part: Part, names: Sequence[str], known: Known, size: Floats) -> AskedPart:
        """Lay the cells of a part and what is known of people side by side."""
        units = part.units(names)
        asked = asked_of(part, names, units.codes, known)
        first = np.searchsorted(units.combination, np.arange(len(units.codes) + 1)).astype(np.int64)
        return cls(units, first, BoxIndex.of(asked.cells), asked, size)

    def n_links(self) -> Ints:
        """About how many units fit each line of what is asked."""
        each = len(self.units.rows) / max(len(self.units.codes), 1)
        counts: Ints = np.ceil(self.index.count(self.asked.queries) * each).astype(np.int64)
        return counts

    def links(self, lines: Ints) -> tuple[Ints, Ints]:
        """Pairs of a line and a unit that fits it; lines are numbered as they are given."""
        queries = picked(self.asked.queries, lines)
        found = self.index.find(queries, self.index.count(queries))
        owner = np.repeat(np.arange(len(lines)), np.diff(found.first))
        n_units = np.diff(self.first_unit)[found.places]
        return np.repeat(owner, n_units), stretches(self.first_unit[found.places], n_units)

    def fits(self, lines: Ints) -> tuple[Ints, Floats]:
        """Pairs of a line and a bucket, as one number in rising order, and the share of the bucket that fits."""
        owner, unit = self.links(lines)
        pairs, number = np.unique(owner * len(self.size) + self.units.bucket[unit], return_inverse=True)
        rows = np.bincount(number.reshape(-1), weights=self.units.rows[unit], minlength=len(pairs))
        return pairs, rows / self.size[pairs % len(self.size)]


@dataclass(frozen=True, repr=False, eq=False)
class JoinedParts(Links):
    """Links with the units of one part; of the others counts how much of the bucket fits."""

    units: Units
    query: Ints
    here: AskedPart | None
    """The part that is linked with; None if it shows nothing of what is known."""
    others: tuple[AskedPart, ...]
    lines: Ints
    """Of every query, its line among those of each part: first that which is linked with, if it is asked."""
    size: Floats
    """Rows of every bucket, in the part that is linked with."""

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.lines)

    @property
    def _asked(self) -> list[AskedPart]:
        return [*([] if self.here is None else [self.here]), *self.others]

    @cached_property
    def n_links(self) -> Ints:
        """About how many units of all parts fit each query."""
        counts = [part.n_links()[self.lines[:, place]] for place, part in enumerate(self._asked)]
        found: Ints = np.sum(counts, axis=0)
        return found

    def find(self, queries: Ints) -> Candidates:
        """The units of buckets that fit in all parts, with the share of the other parts that fits."""
        shift, fits = len(self._asked) - len(self.others), None
        for place, part in enumerate(self.others, shift):
            found = part.fits(self.lines[queries, place])
            fits = found if fits is None else _both(fits, found)
        if self.here is None:
            assert fits is not None  # noqa: S101  some part shows what is known
            owner, unit, weight = self._whole_buckets(*fits)
        else:
            owner, unit = self.here.links(self.lines[queries, 0])
            weight = 1.0 / self.size[self.units.bucket[unit]]
            if fits is not None:
                owner, unit, weight = self._among(owner, unit, weight, *fits)
        order = np.argsort(owner, kind="stable")
        first = np.searchsorted(owner[order], np.arange(len(queries) + 1)).astype(np.int64)
        return Candidates(first, unit[order], weight[order])

    def _whole_buckets(self, pairs: Ints, fits: Floats) -> tuple[Ints, Ints, Floats]:
        """Links with every unit of buckets that fit."""
        order, first = self._by_bucket
        bucket = pairs % len(self.size)
        n_units = np.diff(first)[bucket]
        link = np.repeat(np.arange(len(pairs)), n_units)
        unit = order[stretches(first[bucket], n_units)]
        return pairs[link] // len(self.size), unit, (fits / self.size[bucket])[link]

    def _among(self, owner: Ints, unit: Ints, weight: Floats, pairs: Ints, fits: Floats) -> tuple[Ints, Ints, Floats]:
        """Those of some links whose bucket fits elsewhere, too."""
        wanted = owner * len(self.size) + self.units.bucket[unit]
        place = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
        there = np.flatnonzero(pairs[place] == wanted) if len(pairs) else np.zeros(0, dtype=np.int64)
        return owner[there], unit[there], weight[there] * fits[place[there]]

    @cached_property
    def _by_bucket(self) -> tuple[Ints, Ints]:
        """The units bucket by bucket, and where each bucket begins."""
        order = np.argsort(self.units.bucket, kind="stable").astype(np.int64)
        first = np.searchsorted(self.units.bucket[order], np.arange(len(self.size) + 1))
        return order, first.astype(np.int64)


def _both(one: tuple[Ints, Floats], other: tuple[Ints, Floats]) -> tuple[Ints, Floats]:
    """Pairs that both have, with the product of their shares."""
    pairs, here, there = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    return pairs, one[1][here] * other[1][there]


def joined(published: Published, names: Sequence[str], known: Known, at: int) -> JoinedParts:
    """Ask every part for what it shows of what is known; link with the units of one."""
    asked: list[AskedPart | None] = []
    for part, size in zip(published.parts, published.sizes, strict=True):
        shown = [name for name in names if name in part.columns]
        asked.append(AskedPart.of(part, shown, known, size) if shown else None)
    here, own = asked[at], published.parts[at]
    others = tuple(part for place, part in enumerate(asked) if part is not None and place != at)
    columns = [part.asked.query for part in ([] if here is None else [here]) + list(others)]
    lines, query = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    units = own.units([name for name in names if name in own.columns])
    return JoinedParts(units, query.reshape(-1).astype(np.int64), here, others, lines, published.sizes[at])


__all__ = ["AskedPart", "JoinedParts", "joined"]
