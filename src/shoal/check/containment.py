"""Which rows of cells contain which others, for any number of rows: no table of all pairs is ever made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.check.value_ranges import Boxes, Ints, Places
from shoal.kernels.check.containment import add_shares, count_containers, find_containers, weigh_boxes

TOGETHER = 16
"""Cells side by side that share one bound, and such bounds that share another."""


PARTS = 16
"""Into how many parts queries are divided among the cores; fixed, so that the cores of a machine change nothing."""


class ContainmentWays(NamedTuple):
    """A tree of prefixes over boxes: every node is a cell, or the bounds of several cells side by side."""

    column: Places
    low: Places
    high: Places
    listed: Places
    box: Ints
    """The box that a way ends in; -1 before its end."""
    skip: Ints
    """The node that follows the subtree."""


class Found(NamedTuple):
    """The boxes around some queries: those of query `begin + i` are `boxes[first[i]:first[i + 1]]`."""

    begin: int
    first: Ints
    boxes: Ints


@dataclass(frozen=True, repr=False)
class Containers:
    """Boxes that can be asked which of them contain another."""

    boxes: Boxes
    ways: ContainmentWays

    @classmethod
    def of(cls, boxes: Boxes) -> Containers:
        """Grow the tree over boxes."""
        return cls(boxes, _ways(boxes))

    def around(self, queries: Boxes, most: int) -> Iterator[Found]:
        """Find the boxes around each query, in blocks of about `most` finds; the queries share the boxes' axes."""
        counts = np.zeros(len(queries), dtype=np.int64)
        count_containers(*self._asked(queries, counts))
        total = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        begin = 0
        while begin < len(queries):
            end = max(int(np.searchsorted(total, total[begin] + most, side="right")) - 1, begin + 1)
            first = total[begin : end + 1] - total[begin]
            found = np.zeros(int(first[-1]), dtype=np.int64)
            find_containers(*self._asked(queries, first[:-1], found, part=slice(begin, end)))
            yield Found(begin, first, found)
            begin = end

    def weigh(self, queries: Boxes, weights: Ints) -> Ints:
        """The weight of all queries that each box contains."""
        totals = np.zeros((PARTS, len(self.boxes)), dtype=np.int64)
        weigh_boxes(*self._asked(queries, weights, totals))
        found: Ints = totals.sum(axis=0)
        return found

    def add_up(self, queries: Boxes, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The sum of the shares of all boxes around each query."""
        sums = np.zeros(len(queries))
        add_shares(*self._asked(queries, shares, sums))
        return sums

    def _asked(self, queries: Boxes, *further: npt.NDArray[np.generic], part: slice = slice(None)) -> Any:
        """What every kernel takes: the tree, the lists, the queries, and what is asked of them."""
        lists = (self.boxes.discrete, self.boxes.first, self.boxes.places)
        return (*self.ways, *lists, queries.low[part], queries.high[part], queries.listed[part], *further)


class _Level(NamedTuple):
    """One step of all ways: where its nodes begin among the boxes in order, and the column they look at."""

    begins: npt.NDArray[np.bool_]
    """Whether a node of this step, or of one before it, begins at each box."""
    kept: npt.NDArray[np.bool_]
    """Whether a node that begins here is worth a place in the tree."""
    column: int
    bounds: bool
    """Whether its nodes are bounds of several cells."""


def _ways(boxes: Boxes) -> ContainmentWays:
    """Put boxes in the order of their cells; each then adds the nodes in which it differs from the one before."""
    codes = [_codes(boxes, column) for column in range(boxes.low.shape[1])]
    columns = sorted(range(len(codes)), key=lambda column: int(codes[column].max(initial=0)))  # few cells first
    order = np.lexsort([codes[column] for column in reversed(columns)])
    levels = _levels([codes[column][order] for column in columns], columns)
    new = np.stack([level.begins & level.kept for level in levels])
    per_box = new.sum(axis=0)
    offset = np.concatenate([[0], np.cumsum(per_box)]).astype(np.int64)
    place = offset[:-1] + np.cumsum(new, axis=0) - new
    parts = []
    for step, level in enumerate(levels):
        parts.append(_nodes(boxes, order, level, place[step], offset, last=step == len(levels) - 1))
    back = np.empty(int(offset[-1]), dtype=np.int64)
    back[np.concatenate([at for at, _ in parts])] = np.arange(len(back))
    return ContainmentWays(
        *(np.concatenate(field)[back] for field in zip(*(fields for _, fields in parts), strict=True))
    )


def _codes(boxes: Boxes, column: int) -> Ints:
    """Number of each box's cell among the distinct cells of a column, by their low end, the wider first."""
    low, high, listed = boxes.low[:, column], boxes.high[:, column], boxes.listed[:, column]
    order = np.lexsort((listed, -high.astype(np.int64), low))
    ends = np.stack([low, high, listed])[:, order]
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.cumsum(np.any(np.diff(ends, axis=1, prepend=ends[:, :1]) != 0, axis=0))
    return codes


def _levels(codes: list[Ints], columns: list[int]) -> list[_Level]:
    """The steps of all ways; before a column with many cells side by side, steps that only hold their bounds."""
    rows = np.arange(len(codes[0]))
    begins = rows == 0
    levels: list[_Level] = []
    for step, (code, column) in enumerate(zip(codes, columns, strict=True), 1):
        # At the last step every box has an end of its own, so that equal boxes are all found.
        inside = begins | (np.diff(code, prepend=code[:1]) != 0) | (step == len(codes))
        count = np.cumsum(inside)
        child = count - count[np.maximum.accumulate(np.where(begins, rows, 0))]
        siblings = np.add.reduceat(inside, np.flatnonzero(begins), dtype=np.int64)[np.cumsum(begins) - 1]
        bounds, together = [], TOGETHER
        while together < siblings.max():
            cut = begins | (inside & (child % together == 0))
            bounds.append(_Level(cut, siblings > together, column, bounds=True))
            together *= TOGETHER
        levels += [*reversed(bounds), _Level(inside, np.ones(len(rows), dtype=np.bool_), column, bounds=False)]
        begins = inside
    return levels


def _nodes(
    boxes: Boxes, order: Ints, level: _Level, place: Ints, offset: Ints, *, last: bool
) -> tuple[Ints, tuple[npt.NDArray[np.integer], ...]]:
    """The nodes of one step: their places in the tree, and what they hold."""
    starts = np.flatnonzero(level.begins)
    kept = level.kept[starts]
    low = np.minimum.reduceat(boxes.low[order, level.column], starts)
    high = np.maximum.reduceat(boxes.high[order, level.column], starts)
    listed = np.where(level.bounds, np.int32(-1), boxes.listed[order[starts], level.column])
    column = np.full(len(starts), level.column, dtype=np.int32)
    box = order[starts] if last else np.full(len(starts), -1, dtype=np.int64)
    skip = offset[np.append(starts[1:], len(order))]
    return place[starts[kept]], tuple(field[kept] for field in (column, low, high, listed, box, skip))
