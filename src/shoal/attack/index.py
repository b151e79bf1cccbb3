"""Published cells in a tree, so that those that fit what is known of a person are found without asking all of them.

Cells side by side are boxes. They are halved over and over, each time in the column in which they differ most, and
every half knows its bounds: what is known of a person rules out whole halves at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from shoal.check.value_ranges import Boxes
from shoal.kernels.attack import matching, nearest
from shoal.kernels.sharing import in_parts
from shoal.measure.halving import halved

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
T = TypeVar("T")

VISITED = 256
"""About how many nodes and boxes a query looks at, in each column: what sharing between cores is decided by."""


class Found(NamedTuple):
    """What fits some queries: that of query number i is ``places[first[i]:first[i + 1]]``."""

    first: Ints
    places: Ints


def _in_parts(run: Callable[[int, int], T], n_queries: int, width: int) -> list[T]:
    """Answer queries on all cores, where they are many."""
    return in_parts(run, 0, n_queries, n_queries * VISITED * max(width, 1))


@dataclass(frozen=True, repr=False, eq=False)
class BoxIndex:
    """Boxes that can be asked which of them meet others."""

    order: Ints
    tree: matching.Tree
    boxes: matching.Boxes
    lists: matching.PlaceLists

    @classmethod
    def of(cls, boxes: Boxes) -> BoxIndex:
        """Halve boxes; there must be one at least."""
        made = halved(boxes.low, boxes.high)
        kept = matching.Boxes(*(np.ascontiguousarray(a[made.order]) for a in (boxes.low, boxes.high, boxes.listed)))
        lists = matching.PlaceLists(boxes.first, boxes.places)
        return cls(made.order, matching.Tree(made.low, made.high, made.edges), kept, lists)

    def count(self, queries: Boxes) -> Ints:
        """How many boxes each query meets; queries share the columns and the lists of the boxes."""
        counts = np.zeros(len(queries), dtype=np.int64)

        def count(begin: int, end: int) -> None:
            matching.count_matches(self.tree, self.boxes, self.lists, _some(queries, begin, end), counts[begin:end])

        _in_parts(count, len(queries), queries.low.shape[1])
        return counts

    def find(self, queries: Boxes, counts: Ints) -> Found:
        """Which boxes each query meets; `counts` says how many."""
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        found = np.zeros(int(first[-1]), dtype=np.int64)

        def find(begin: int, end: int) -> None:
            asked = _some(queries, begin, end)
            matching.find_matches(self.tree, self.boxes, self.lists, asked, first[begin:end], found)

        _in_parts(find, len(queries), queries.low.shape[1])
        return Found(first, self.order[found])


def _some(queries: Boxes, begin: int, end: int) -> matching.Boxes:
    return matching.Boxes(queries.low[begin:end], queries.high[begin:end], queries.listed[begin:end])


class Near(NamedTuple):
    """What is known of people, as stretches of Gower's coordinates, one line each."""

    low: Floats
    high: Floats


@dataclass(frozen=True, repr=False, eq=False)
class PointIndex:
    """Points that can be asked which of them are nearest."""

    order: Ints
    points: nearest.Points

    SLACK = 1e-9
    """By how much two distances may differ and still count as the same."""

    @classmethod
    def of(cls, points: Floats, number: npt.NDArray[np.bool_]) -> PointIndex:
        """Halve points in Gower's coordinates; `number` says which columns have numbers."""
        made = halved(points, points)
        kept = np.ascontiguousarray(points[made.order])
        return cls(made.order, nearest.Points(made.low, made.high, made.edges, kept, number))

    def distances(self, known: Near) -> Floats:
        """How far the nearest point is from each query."""
        found = np.zeros(len(known.low))

        def measure(begin: int, end: int) -> None:
            nearest.nearest_distances(self.points, known.low[begin:end], known.high[begin:end], found[begin:end])

        _in_parts(measure, len(known.low), known.low.shape[1])
        return found

    def count(self, known: Near, distances: Floats) -> Ints:
        """How many points are so far from each query, or less."""
        counts, within = np.zeros(len(distances), dtype=np.int64), distances + self.SLACK

        def count(begin: int, end: int) -> None:
            low, high = known.low[begin:end], known.high[begin:end]
            nearest.count_within(self.points, low, high, within[begin:end], counts[begin:end])

        _in_parts(count, len(distances), known.low.shape[1])
        return counts

    def find(self, known: Near, distances: Floats, counts: Ints) -> Found:
        """Which points are so far from each query, or less; `counts` says how many."""
        first, within = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), distances + self.SLACK
        found = np.zeros(int(first[-1]), dtype=np.int64)

        def find(begin: int, end: int) -> None:
            low, high = known.low[begin:end], known.high[begin:end]
            nearest.find_within(self.points, low, high, within[begin:end], first[begin:end], found)

        _in_parts(find, len(distances), known.low.shape[1])
        return Found(first, self.order[found])


__all__ = ["BoxIndex", "Found", "Ints", "Near", "PointIndex"]
