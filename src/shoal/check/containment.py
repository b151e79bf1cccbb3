"""Which rows of cells contain which others, for any number of rows: no table of all pairs is ever made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from shoal.check.value_ranges import Boxes, Ints
from shoal.kernels.check import containment as kernel
from shoal.kernels.sharing import in_parts

T = TypeVar("T")

TOGETHER = 16
"""Cells side by side that share one bound, and such bounds that share another."""

Nodes = npt.NDArray[np.void]


class Found(NamedTuple):
    """The boxes around some queries: those of query `begin + i` are `boxes[first[i]:first[i + 1]]`."""

    begin: int
    first: Ints
    boxes: Ints


@dataclass(frozen=True, repr=False)
class Containers:
    """Boxes that can be asked which of them contain another."""

    boxes: Boxes
    nodes: Nodes
    """A tree of prefixes over the boxes: every node is a cell, or the bounds of several cells side by side."""

    @classmethod
    def of(cls, boxes: Boxes) -> Containers:
        """Grow the tree over boxes."""
        return cls(boxes, _tree(boxes))

    def around(self, queries: Boxes, most: int) -> Iterator[Found]:
        """Find the boxes around each query, in blocks of about `most` finds; the queries share the boxes' axes."""
        counts = np.zeros(len(queries), dtype=np.int64)

        def count(begin: int, end: int) -> None:
            kernel.count_containers(*self._asked(queries, begin, end), counts[begin:end])

        self._in_parts(count, 0, len(queries))
        total = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        begin = 0
        while begin < len(queries):
            end = max(int(np.searchsorted(total, total[begin] + most, side="right")) - 1, begin + 1)
            first = total[begin : end + 1] - total[begin]
            found = np.zeros(int(first[-1]), dtype=np.int64)
            starts = total - total[begin]

            def find(one: int, last: int, starts: Ints = starts, found: Ints = found) -> None:
                kernel.find_containers(*self._asked(queries, one, last), starts[one:last], found)

            self._in_parts(find, begin, end)
            yield Found(begin, first, found)
            begin = end

    def weigh(self, queries: Boxes, weights: Ints) -> Ints:
        """The weight of all queries that each box contains."""

        def weigh(begin: int, end: int) -> Ints:
            totals = np.zeros(len(self.boxes), dtype=np.int64)
            kernel.weigh_boxes(*self._asked(queries, begin, end), weights[begin:end], totals)
            return totals

        found: Ints = np.sum(self._in_parts(weigh, 0, len(queries)), axis=0)
        return found

    def add_up(self, queries: Boxes, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The sum of the shares of all boxes around each query."""
        sums = np.zeros(len(queries))

        def add(begin: int, end: int) -> None:
            kernel.add_shares(*self._asked(queries, begin, end), shares, sums[begin:end])

        self._in_parts(add, 0, len(queries))
        return sums

    def _in_parts(self, run: Callable[[int, int], T], begin: int, end: int) -> list[T]:
        """Answer some queries on all cores; a query reads some nodes side by side of every column."""
        return in_parts(run, begin, end, (end - begin) * 2 * TOGETHER * self.boxes.low.shape[1])

    def _asked(self, queries: Boxes, begin: int, end: int) -> tuple[Nodes, kernel.PlaceLists, kernel.Queries]:
        """What every kernel takes: the tree, the lists, and the queries."""
        lists = kernel.PlaceLists(self.boxes.discrete, self.boxes.first, self.boxes.places)
        return (
            self.nodes,
            lists,
            kernel.Queries(queries.low[begin:end], queries.high[begin:end], queries.listed[begin:end]),
        )


class _Level(NamedTuple):
    """One step of all ways: where its nodes begin among the boxes in order, and the column they look at."""

    begins: npt.NDArray[np.bool_]
    """Whether a node of this step, or of one before it, begins at each box."""
    kept: npt.NDArray[np.bool_]
    """Whether a node that begins here is worth a place in the tree."""
    column: int
    bounds: bool
    """Whether its nodes are bounds of several cells."""


def _tree(boxes: Boxes) -> Nodes:
    """Put boxes in the order of their cells; each then adds the nodes in which it differs from the one before."""
    codes = [_codes(boxes, column) for column in range(boxes.low.shape[1])]
    columns = sorted(range(len(codes)), key=lambda column: int(codes[column].max(initial=0)))  # few cells first
    order = np.lexsort([codes[column] for column in reversed(columns)])
    levels = _levels([codes[column][order] for column in columns], columns)
    new = np.stack([level.begins & level.kept for level in levels])
    per_box = new.sum(axis=0)
    offset = np.concatenate([[0], np.cumsum(per_box)]).astype(np.int64)
    place = offset[:-1] + np.cumsum(new, axis=0) - new
    nodes = np.zeros(int(offset[-1]), dtype=kernel.NODE)
    for step, level in enumerate(levels):
        _fill(nodes, boxes, order, level, place[step], offset)
    starts = np.flatnonzero(levels[-1].begins)  # where every box has a node of its own
    nodes["box"] = -1
    nodes["box"][place[-1][starts]] = order[starts]
    return nodes


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


def _fill(nodes: Nodes, boxes: Boxes, order: Ints, level: _Level, place: Ints, offset: Ints) -> None:
    """Write the nodes of one step to their places in the tree."""
    starts = np.flatnonzero(level.begins)
    kept = level.kept[starts]
    found = np.zeros(len(starts), dtype=kernel.NODE)
    found["column"] = level.column
    found["low"] = np.minimum.reduceat(boxes.low[order, level.column], starts)
    found["high"] = np.maximum.reduceat(boxes.high[order, level.column], starts)
    found["listed"] = np.where(level.bounds, np.int32(-1), boxes.listed[order[starts], level.column])
    found["skip"] = offset[np.append(starts[1:], len(order))]
    nodes[place[starts[kept]]] = found[kept]
