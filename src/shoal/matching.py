"""Which rows of cells contain which others, for any number of rows: no table of all pairs is ever made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.kernels.matching import count_containers, find_containers
from shoal.meanings import FARTHEST, Boxes, Ints, Places

IN_A_LEAF = 32
"""Boxes that are looked at one by one."""


class Bounds(NamedTuple):
    """A tree of bounds over boxes, which were put in order for it: the first child follows its parent."""

    low: Places
    high: Places
    begin: Ints
    end: Ints
    skip: Ints


class Found(NamedTuple):
    """The boxes around some queries: those of query `begin + i` are `boxes[first[i]:first[i + 1]]`."""

    begin: int
    first: Ints
    boxes: Ints


@dataclass(frozen=True, repr=False)
class Containers:
    """Boxes that can be asked which of them contain another."""

    order: Ints
    boxes: Boxes
    bounds: Bounds

    @classmethod
    def of(cls, boxes: Boxes) -> Containers:
        """Grow a tree over boxes."""
        order = np.arange(len(boxes), dtype=np.int64)
        bounds = _bounds(boxes, order)
        sorted_boxes = Boxes(
            boxes.low[order], boxes.high[order], boxes.listed[order], boxes.first, boxes.places, boxes.discrete
        )
        return cls(order, sorted_boxes, bounds)

    def around(self, queries: Boxes, most: int) -> Iterator[Found]:
        """Find the boxes around each query, in blocks of about `most` finds; the queries share the boxes' axes."""
        own, tree = self.boxes, self.bounds
        shared = (*tree, own.low, own.high, own.listed)
        facts = (own.discrete, own.first, own.places)
        counts = np.zeros(len(queries), dtype=np.int64)
        count_containers(*shared, queries.low, queries.high, queries.listed, *facts, counts)
        total = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        begin = 0
        while begin < len(queries):
            end = max(int(np.searchsorted(total, total[begin] + most, side="right")) - 1, begin + 1)
            first = total[begin : end + 1] - total[begin]
            found = np.zeros(int(first[-1]), dtype=np.int64)
            asked = (queries.low[begin:end], queries.high[begin:end], queries.listed[begin:end])
            find_containers(*shared, *asked, *facts, first[:-1], found)
            yield Found(begin, first, self.order[found])
            begin = end


def _bounds(boxes: Boxes, order: Ints) -> Bounds:
    """Split boxes at the middle of the end that differs most, until few are left; `order` is put in order on the way.

    Lows and highs are split apart from one another: a box that reaches around all others is soon alone with its like.
    """
    ends = np.concatenate(
        [boxes.low, np.where(boxes.high == FARTHEST, boxes.low.max(initial=0) + 1, boxes.high)], axis=1
    )
    lengths = np.maximum(np.ptp(ends, axis=0), 1) if len(ends) else np.ones(ends.shape[1])
    lows: list[Places] = []
    highs: list[Places] = []
    begins: list[int] = []
    stops: list[int] = []
    parents: list[int] = []
    waiting = [(0, len(order), -1)]
    while waiting:
        begin, end, parent = waiting.pop()
        node, rows = len(begins), order[begin:end]
        lows.append(boxes.low[rows].min(axis=0, initial=FARTHEST))
        highs.append(boxes.high[rows].max(axis=0, initial=-1))
        begins.append(begin)
        stops.append(end)
        parents.append(parent)
        if end - begin <= IN_A_LEAF:
            continue
        spread = np.ptp(ends[rows], axis=0) / lengths
        widest, middle = int(spread.argmax()), (end - begin) // 2
        if not spread[widest]:
            continue
        order[begin:end] = rows[np.argpartition(ends[rows, widest], middle)]
        waiting += [(begin + middle, end, node), (begin, begin + middle, node)]
    skip = np.arange(1, len(begins) + 1, dtype=np.int64)
    for node in range(len(begins) - 1, 0, -1):
        skip[parents[node]] = max(skip[parents[node]], skip[node])
    return Bounds(
        np.stack(lows), np.stack(highs), np.array(begins, dtype=np.int64), np.array(stops, dtype=np.int64), skip
    )
