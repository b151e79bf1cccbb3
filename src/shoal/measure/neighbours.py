"""The nearest rows of every row, by a distance that a loss is bounded with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.kernels.measure import bounds, neighbours
from shoal.kernels.sharing import in_parts
from shoal.table.hierarchy.tree import TreeArrays

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

VISITED = 512
"""About how many nodes and points a search looks at, in each column: what sharing between cores is decided by."""


class Line(NamedTuple):
    """A column of numbers, NaN for missing: these are as far from all others as two numbers can be."""

    values: Floats
    cap: float
    """The largest difference of two numbers, and that to a missing one."""

    def placed(self) -> Floats:
        """Numbers, missing ones beyond them."""
        there = self.values[~np.isnan(self.values)]
        far = (float(there.max()) if len(there) else 0.0) + 2 * self.cap + 1.0
        return np.where(np.isnan(self.values), far, self.values)


class Nodes(NamedTuple):
    """A column of nodes of a tree, and how far values are apart that meet in each node."""

    values: Floats
    tree: TreeArrays
    apart: Floats

    def ends(self) -> Ints:
        """The last node below each; that of the top is the last of all."""
        end = np.arange(len(self.tree.parent), dtype=np.int64)
        for node in range(self.tree.missing - 1, 0, -1):  # depth-first: what is below a node comes after it
            end[self.tree.parent[node]] = max(end[self.tree.parent[node]], end[node])
        return end


@dataclass(frozen=True, repr=False, eq=False)
class Points:
    """Distinct rows as points, in the order of a tree of halves."""

    columns: neighbours.Columns
    halves: neighbours.Halves
    counts: Ints
    rows: Ints
    """A row of each point."""

    @classmethod
    def of(cls, columns: Sequence[Line | Nodes], *, squared: bool) -> Points:
        """Join equal rows, and halve what there is."""
        placed = [one.placed() if isinstance(one, Line) else one.values for one in columns]
        names = [str(j) for j in range(len(placed))]
        frame = pl.DataFrame(dict(zip(names, placed, strict=True))).with_row_index("row")
        distinct = frame.group_by(names, maintain_order=True).agg(pl.len(), pl.col("row").first())
        points = np.ascontiguousarray(distinct.select(names).to_numpy().astype(np.float64))
        kinds, halves = _kinds(columns, squared=squared), _whole(points)
        n_nodes = neighbours.halve(kinds, halves)
        low, high, begin, stop, part = (one[:n_nodes].copy() for one in halves[2:7])
        halves = halves._replace(low=low, high=high, begin=begin, stop=stop, part=part)
        counts, rows = (distinct[name].to_numpy().astype(np.int64)[halves.order] for name in ("len", "row"))
        return cls(kinds, halves, counts, rows)

    @property
    def places(self) -> Floats:
        """Coordinates, one line per point."""
        found: Floats = self.halves.points
        return found

    def near(self, rows: int, some: Ints | None = None) -> neighbours.Near:
        """The nearest of all points, for each or for some of them, until they have so many rows, its own among them."""
        point = np.arange(len(self.counts), dtype=np.int64) if some is None else some
        m = len(point)
        found = neighbours.Near(
            point, np.zeros(m, dtype=np.int64), np.empty((m, rows), dtype=np.int32), np.empty((m, rows))
        )

        def find(begin: int, end: int) -> None:
            neighbours.find_near(self.columns, self.halves, self.counts, begin, end, found)

        in_parts(find, 0, m, m * VISITED * self.places.shape[1])
        return found

    def spreads(self, least: int) -> Floats:
        """How far apart so many points around each may be: a guess at what its nearest are."""
        found = np.empty(len(self.counts))
        neighbours.spreads(self.columns, self.halves, least, found)
        return found

    def beyond(self, near: neighbours.Near) -> Floats:
        """How far a point is at least that is not among the nearest of each; infinite where there is none."""
        last = near.apart[np.arange(len(near.size)), near.size - 1]
        return np.where(near.size < len(self.places), last, np.inf)


def _kinds(columns: Sequence[Line | Nodes], *, squared: bool) -> neighbours.Columns:
    trees = [one for one in columns if isinstance(one, Nodes)]
    starts = iter(np.cumsum([0, *(len(one.tree.parent) for one in trees)]).tolist())
    empty = np.zeros(0, dtype=np.int64)
    return neighbours.Columns(
        np.array([one.cap if isinstance(one, Line) else 1.0 for one in columns]),
        np.array([-1 if isinstance(one, Line) else next(starts) for one in columns], dtype=np.int64),
        np.concatenate([empty, *(one.tree.parent.astype(np.int64) for one in trees)]),
        np.concatenate([empty, *(one.ends() for one in trees)]),
        np.concatenate([np.zeros(0), *(one.apart for one in trees)]),
        squared,
    )


def _whole(points: Floats) -> neighbours.Halves:
    """Points that are not halved yet, and room for their tree: fewer than 2 n nodes, since every part holds one."""
    n, d = points.shape
    low, high = np.empty((2 * n, d)), np.empty((2 * n, d))
    begin, stop, part = (np.zeros(2 * n, dtype=np.int64) for _ in range(3))
    order, leaf = np.arange(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    return neighbours.Halves(order, points, low, high, begin, stop, part, leaf)


def both_ways(points: Points, near: neighbours.Near) -> bounds.Graph:
    """Every pair of points of which one is among the nearest of the other, both ways."""
    n = len(points.places)
    inside = np.arange(near.place.shape[1]) < near.size[:, np.newaxis]
    one = np.repeat(np.arange(n, dtype=np.int64), near.size)
    other, apart = near.place[inside].astype(np.int64), near.apart[inside]
    apart, one, other = apart[one != other], one[one != other], other[one != other]
    keys = np.concatenate([one * n + other, other * n + one])
    keys, found = np.unique(keys, return_index=True)
    first = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
    return bounds.Graph(first, (keys % n).astype(np.int32), np.concatenate([apart, apart])[found], points.counts)
