"""Links with averages and centres: these cover nobody, so a person is linked with the nearest.

The distance is Gower's: of a number its difference as a share of the range of the column, of a rank of an order
likewise, of a category 0 if it is the same and 1 if not; a missing value is at 1 from all but missing ones, and `*`
stands for one. The columns are added up. The range is that of what is published and what is known, together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.attack.index import Floats, Ints, Near, PointIndex
from shoal.attack.knowledge import EXACT, Known
from shoal.attack.links import Candidates, Links
from shoal.attack.published import Part, Units
from shoal.check.cell_forms import STAR
from shoal.table.schema import Ordinal

FAR = 3.0
"""Where a missing number lies: farther from all of [0, 1] than any two of them are from each other."""
EVERYWHERE = 1e9
"""How far what is not known reaches."""


@dataclass(frozen=True, repr=False, eq=False)
class NearestRows(Links):
    """Links with the nearest units; with several where they are equally near."""

    units: Units
    index: PointIndex
    known: Near
    query: Ints

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.known.low)

    @cached_property
    def distances(self) -> Floats:
        """How far the nearest unit is from each query."""
        return self.index.distances(self.known)

    @cached_property
    def n_links(self) -> Ints:
        """With how many units each query is linked."""
        return self.index.count(self.known, self.distances)

    def find(self, queries: Ints) -> Candidates:
        """The units that some queries are linked with."""
        near = Near(self.known.low[queries], self.known.high[queries])
        found = self.index.find(near, self.distances[queries], self.n_links[queries])
        return Candidates(found.first, found.places, None)


class Line(NamedTuple):
    """Cells of a column, and both ends of what is known of people, in Gower's coordinates."""

    shown: Floats
    low: Floats
    high: Floats


def nearest_rows(part: Part, names: Sequence[str], known: Known) -> NearestRows:
    """Lay averages and people into one space."""
    units = part.units(names)
    points, lows, highs = [], [], []
    for place, name in enumerate(names):
        values, person = known.distinct(name)
        line = _line(part, name, values, known)
        points.append(line.shown[units.codes[:, place]])
        lows.append(line.low[person])
        highs.append(line.high[person])
    both, query = np.unique(np.stack([*lows, *highs], axis=1), axis=0, return_inverse=True)
    near = Near(*(np.ascontiguousarray(one) for one in np.split(both, 2, axis=1)))
    number = np.array([_rank_of(part, name, known) is not None for name in names], dtype=np.bool_)
    return NearestRows(units, PointIndex.of(np.stack(points, axis=1), number), near, query.reshape(-1).astype(np.int64))


def _rank_of(part: Part, name: str, known: Known) -> Callable[[object], float] | None:
    """How a value becomes a number; None where only "the same or not" counts."""
    if part.columns[name].kind == "numeric":
        return lambda value: float(value)  # type: ignore[arg-type]
    kind = None if known.schema is None else known.schema.quasi.get(name)
    if not isinstance(kind, Ordinal):
        return None
    rank = {category: float(place) for place, category in enumerate(kind.order)}
    return lambda value: rank.get(str(value), np.nan)


def _line(part: Part, name: str, values: Sequence[object], known: Known) -> Line:
    """Cells and people of one column on a line."""
    shown = [None if row[0] == STAR else row[0] for row in part.cells(name).shown]
    rank = _rank_of(part, name, known)
    gone = np.array([value is None for value in values], dtype=np.bool_) & known.open_missing
    if rank is None:
        texts = [[None if one is None else str(one) for one in some] for some in (shown, values)]
        number = {text: float(place) for place, text in enumerate(dict.fromkeys(texts[0] + texts[1]))}
        at, people = (np.array([number[text] for text in some], dtype=np.float64) for some in texts)
        width = 0.0
    else:
        numbers = [[np.nan if one is None else rank(one) for one in some] for some in (shown, values)]
        at, people, span = _scaled(*(np.array(some, dtype=np.float64) for some in numbers))
        width = known.precision.get(name, EXACT).tolerance / span
    low, high = np.where(gone, -EVERYWHERE, people - width), np.where(gone, EVERYWHERE, people + width)
    return Line(at, low, high)


def _scaled(at: Floats, people: Floats) -> tuple[Floats, Floats, float]:
    """Numbers as shares of their common range, missing ones far away; and that range."""
    both = np.concatenate([at, people])
    there = both[np.isfinite(both)]
    least = float(there.min()) if len(there) else 0.0
    span = (float(np.ptp(there)) if len(there) else 0.0) or 1.0
    at, people = (np.where(np.isnan(one), FAR, (one - least) / span) for one in (at, people))
    return at, people, span


# -- whose average is which --------------------------------------------------------------------------------------------


def homes(links: NearestRows, labels: Ints | None) -> Ints:
    """The unit that shows each row of the input, whose every quasi-identifier is known.

    With the labels of the groups, all rows of a group belong to the unit nearest to their middle. Without them, every
    row belongs to the unit nearest to itself: more than an attacker can be sure of.
    """
    if labels is None:
        first = links.find(np.arange(links.n_queries))
        return first.unit[first.first[:-1]][links.query]
    inside = np.flatnonzero(labels >= 0)
    points = links.known.low[links.query[inside]]
    middles = np.stack([
        _middles(points[:, j], labels[inside]) if number else _most_frequent(points[:, j], labels[inside])
        for j, number in enumerate(links.index.points.number)
    ], axis=1)  # fmt: skip
    near = Near(middles, middles)
    distances = links.index.distances(near)
    found = links.index.find(near, distances, links.index.count(near, distances))
    home = np.full(len(labels), -1, dtype=np.int64)
    home[inside] = found.places[found.first[:-1]][labels[inside]]
    return home


def _middles(numbers: Floats, labels: Ints) -> Floats:
    """The mean of every group; missing where that is what most of its numbers are."""
    gone = numbers >= FAR
    n_there, n_gone = (np.bincount(labels, weights=one.astype(np.float64)) for one in (~gone, gone))
    sums = np.bincount(labels, weights=np.where(gone, 0.0, numbers))
    return np.where(n_gone > n_there, FAR, sums / np.maximum(n_there, 1.0))


def _most_frequent(codes: Floats, labels: Ints) -> Floats:
    """The most frequent category of every group; of several the first."""
    n_codes = int(codes.max(initial=0)) + 1
    pairs, counts = np.unique(labels * n_codes + codes.astype(np.int64), return_counts=True)
    order = np.lexsort((-counts, pairs // n_codes))
    groups, first = np.unique(pairs[order] // n_codes, return_index=True)
    found = np.zeros(int(labels.max(initial=-1)) + 1)
    found[groups] = pairs[order][first] % n_codes
    return found


__all__ = ["NearestRows", "homes", "nearest_rows"]
