"""Boxes halved over and over, each time in the column that parts them best: every half knows its bounds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.check.value_ranges import FARTHEST

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LEAF = 8
"""Boxes of a leaf, at most."""


class Halved(NamedTuple):
    """Boxes in the order of their tree, and the bounds of all its nodes."""

    order: Ints
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    edges: Ints


def halved(low: npt.NDArray[Any], high: npt.NDArray[Any]) -> Halved:
    """Halve boxes until few are left together; arrays have one line per box, and there is one box at least.

    Each time in the column that parts them best: in which most lie on either side of their average, and of such columns
    the one in which they differ most. Points, given as one array twice, are on either side in every column.
    """
    n_boxes = len(low)
    ends = _shares(low, high)
    order, edges = np.arange(n_boxes), np.array([0, n_boxes])
    for _ in range(max(0, math.ceil(math.log2(n_boxes / LEAF)))):
        half = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        lower, upper = (end[order] for end in ends)
        here = (lower + upper) / 2
        worth = np.maximum.reduceat(here, edges[:-1]) - np.minimum.reduceat(here, edges[:-1])
        if low is not high:
            worth = np.where(worth > 0, worth / 2 + _parted(lower, upper, here, edges, half), 0.0)
        order = order[np.lexsort((here[np.arange(n_boxes), worth.argmax(axis=1)[half]], half))]
        edges = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) // 2]))
    least = [np.minimum.reduceat(low[order], edges[:-1])]
    most = [np.maximum.reduceat(high[order], edges[:-1])]
    while len(least[0]) > 1:
        least.insert(0, np.minimum(least[0][::2], least[0][1::2]))
        most.insert(0, np.maximum(most[0][::2], most[0][1::2]))
    return Halved(order, np.concatenate(least), np.concatenate(most), edges.astype(np.int64))


def _parted(lower: Floats, upper: Floats, here: Floats, edges: Ints, half: Ints) -> Ints:
    """Of each half and column, how many boxes lie wholly on the side of the average where fewer do."""
    middle = (np.add.reduceat(here, edges[:-1]) / np.diff(edges)[:, np.newaxis])[half]
    below = np.add.reduceat((upper <= middle).astype(np.int64), edges[:-1])
    found: Ints = np.minimum(below, np.add.reduceat((lower >= middle).astype(np.int64), edges[:-1]))
    return found


def _shares(low: npt.NDArray[Any], high: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Both ends of every box, as shares of what middles span; an open end counts as the end of the column."""
    if low.dtype.kind == "i":
        ends = np.where(high == FARTHEST, low, high).max(axis=0)
        low, high = np.maximum(low, 0), np.minimum(high, ends)
    middles = (low.astype(np.float64) + high) / 2
    span = middles.max(axis=0) - middles.min(axis=0)
    unit = np.where(span > 0, span, 1.0)
    return low / unit, high / unit
