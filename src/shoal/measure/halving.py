"""Boxes halved over and over, each time in the column in which they differ most: every half knows its bounds."""

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
    """Halve boxes until few are left together; arrays have one line per box, and there is one box at least."""
    n_boxes = len(low)
    centres = _centres(low, high)
    order, edges = np.arange(n_boxes), np.array([0, n_boxes])
    for _ in range(max(0, math.ceil(math.log2(n_boxes / LEAF)))):
        here = centres[order]
        spread = np.maximum.reduceat(here, edges[:-1]) - np.minimum.reduceat(here, edges[:-1])
        half = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        widest = here[np.arange(n_boxes), spread.argmax(axis=1)[half]]
        order = order[np.lexsort((widest, half))]
        edges = np.sort(np.concatenate([edges, (edges[:-1] + edges[1:]) // 2]))
    least = [np.minimum.reduceat(low[order], edges[:-1])]
    most = [np.maximum.reduceat(high[order], edges[:-1])]
    while len(least[0]) > 1:
        least.insert(0, np.minimum(least[0][::2], least[0][1::2]))
        most.insert(0, np.maximum(most[0][::2], most[0][1::2]))
    return Halved(order, np.concatenate(least), np.concatenate(most), edges.astype(np.int64))


def _centres(low: npt.NDArray[Any], high: npt.NDArray[Any]) -> Floats:
    """The middle of every box, as a share of what its column spans; an open end counts as the end of the column."""
    if low.dtype.kind == "i":
        ends = np.where(high == FARTHEST, low, high).max(axis=0)
        low, high = np.maximum(low, 0), np.minimum(high, ends)
    middles = (low.astype(np.float64) + high) / 2
    span = middles.max(axis=0) - middles.min(axis=0)
    found: Floats = middles / np.where(span > 0, span, 1.0)
    return found
