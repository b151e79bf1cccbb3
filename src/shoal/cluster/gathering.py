"""The shortest reach at which centres can be chosen so that each gets k rows within reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.cluster.point_index import pays
from shoal.cluster.points import Space
from shoal.kernels.cluster import r_gather as kernel
from shoal.kernels.index.balls import reached, spread_by_tree
from shoal.kernels.index.points import PointIndex
from shoal.kernels.sharing import in_parts, piece_of, pieces
from shoal.methods.groups import Groups, Labels
from shoal.progress import Progress
from shoal.table.encode import Floats

FEW = 8
"""Distances not yet decided upon are kept in memory once they are so many per row: as much as a table of eight columns
takes."""
AT_ONCE = 256
"""After so many searches of a tree somebody who wants to stop is heard."""


def least_reach(
    space: Space, index: PointIndex | None, distinct: Space, k: int, least: float, progress: Progress
) -> Groups:
    """Groups by the shortest reach found: one at which all is well, next above one at which it is not.

    Parameters
    ----------
    space, index, distinct
        All rows, a tree of boxes around them, and each distinct row once.
    k
        Smallest group size.
    least
        The largest of the squared distances from a row to its k-th nearest. Nothing shorter can do, and with twice that
        distance the test succeeds: rows within `least` of centres that far apart are k to each, and nobody's else.
    progress
        Is told how far the work is.
    """
    groups = gather(space, index, k, least, progress)
    if groups is not None:
        return groups
    distances, low, high = Distances(distinct, progress), least, 4.0 * least
    while groups is None:  # once, unless rounding spoils the argument above
        high = distances.up_to(low, high)
        groups = gather(space, index, k, high, progress)
        low, high = (low, high) if groups is not None else (high, 4.0 * high)
    while True:
        reach = distances.middle(low, high)
        if reach is None:
            return groups
        found = gather(space, index, k, reach, progress)
        if found is None:
            low = reach
        else:
            high, groups = reach, found


class Distances:
    """The squared distances of all pairs of rows, never held all at once."""

    def __init__(self, space: Space, progress: Progress) -> None:
        self._space, self._progress = space, progress
        self._n_between: float = np.inf
        self._known: Floats | None = None

    def up_to(self, low: float, high: float) -> float:
        """The largest above low that is at most high, or high."""
        below, _ = self._snap(low, high, np.inf)
        return below if below > low else high

    def middle(self, low: float, high: float) -> float | None:
        """One between low and high, none of which counts: the last in the lower half, else the first in the upper."""
        middle = low + (high - low) / 2
        if self._known is None and self._n_between <= FEW * self._space.columns.shape[1]:
            self._known = self._collect(low, high)
        below, above = self._snap(low, middle, high) if self._known is None else self._look(low, middle, high)
        reach = below if below > low else above
        return reach if low < reach < high else None

    def _look(self, low: float, middle: float, high: float) -> tuple[float, float]:
        """`_snap` among those in memory."""
        assert self._known is not None  # noqa: S101
        after = int(np.searchsorted(self._known, middle, side="right"))
        below = float(self._known[after - 1]) if after else low
        return max(below, low), float(self._known[after]) if after < len(self._known) else high

    def _snap(self, low: float, middle: float, high: float) -> tuple[float, float]:
        """The last distance in (low, middle] or low, and the first in (middle, high) or high."""
        below, above, self._n_between = low, high, 0
        axes, columns = self._space.axes, self._space.columns

        def part(begin: int, end: int) -> Any:
            return kernel.snap(axes, columns, begin, end, low, middle, high)

        for begin, end in self._pieces():
            for one, other, count in in_parts(part, begin, end, (end - begin) * columns.size):
                below, above, self._n_between = max(below, one), min(above, other), self._n_between + count
        return below, above

    def _collect(self, low: float, high: float) -> Floats:
        """All distances in (low, high), each once, in order."""
        found, room = np.empty(0), np.empty(int(self._n_between))
        for begin, end in self._pieces():
            count = kernel.collect(self._space.axes, self._space.columns, begin, end, low, high, room)
            found = np.union1d(found, room[:count])
        return found

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Runs of rows, each short enough that work can be stopped between two."""
        for piece in pieces(self._space.columns.shape[1], self._space.columns.size):
            self._progress.advance(0)
            yield piece


def gather(space: Space, index: PointIndex | None, k: int, reach: float, progress: Progress) -> Groups | None:
    """Groups of k around centres that are more than a reach apart, every row within reach of its centre, if possible.

    Rows are made centres in row order. A row that one centre reaches is its own. A centre with fewer than k of its own
    is filled up from the rows that several reach; the others go to the nearest.
    """
    n_rows = space.columns.shape[1]
    centres, found = np.empty(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=kernel.REACHED)
    found["distance"] = np.inf
    n_centres, cursor, most = 0, 0, piece_of(space.columns.size)
    while cursor < n_rows:
        if index is not None and pays(index):
            n_centres, cursor = spread_by_tree(index, space.columns, reach, centres, n_centres, cursor, AT_ONCE, found)
        else:
            index = None
            n_centres, cursor = kernel.spread(space.axes, space.columns, reach, centres, n_centres, cursor, most, found)
        progress.advance(0)
        if n_centres * k > n_rows:
            return None
    centres, nearest, within = centres[:n_centres].copy(), found["nearest"].copy(), found["within"]
    own = np.bincount(nearest[within == 1], minlength=n_centres)
    short = np.flatnonzero(own < k)
    if len(short):
        moved = _fill_up(space, index, reach, centres[short], k - own[short], within > 1)
        if moved is None:
            return None
        nearest[moved[0]] = short[moved[1]]
    return Groups(nearest, centres=centres)


def _fill_up(
    space: Space, index: PointIndex | None, reach: float, centres: Labels, wants: Labels,
    shared: npt.NDArray[np.bool_],
) -> tuple[Labels, Labels] | None:  # fmt: skip
    """Give every centre as many of the shared rows within reach as it wants: the rows, and the number of their centre.

    A flow from a source through the centres and the rows to a sink; None if it cannot be full.
    """
    from scipy.sparse import csr_array  # takes long to load, and only this needs it
    from scipy.sparse.csgraph import maximum_flow

    arcs, room = [], np.empty(len(shared), dtype=np.int64)
    for centre, wanted in zip(centres, wants, strict=True):
        if index is None:
            found = room[: kernel.ball(space.axes, space.columns, centre, reach, shared, room)].copy()
        else:
            around = room[: reached(index, space.columns[:, centre].copy(), reach, room)]
            found = np.sort(around[shared[around]])
        if len(found) < wanted:
            return None
        arcs.append(found)
    rows, to = np.unique(np.concatenate(arcs), return_inverse=True)
    n_centres, n_arcs = len(centres), len(to)
    sink = 1 + n_centres + len(rows)
    heads = np.concatenate([np.arange(1, 1 + n_centres), 1 + n_centres + to, np.full(len(rows), sink)])
    out = np.concatenate([[n_centres], [len(found) for found in arcs], np.ones(len(rows)), [0]])
    capacity = np.concatenate([wants, np.ones(n_arcs + len(rows))])
    starts = np.concatenate([[0], np.cumsum(out)]).astype(np.int32)
    network = csr_array((capacity.astype(np.int32), heads.astype(np.int32), starts), shape=(sink + 1, sink + 1))
    flow = maximum_flow(network, 0, sink)
    if flow.flow_value < wants.sum():
        return None
    used = flow.flow[1 : 1 + n_centres].tocoo()
    taken = used.data > 0
    return rows[used.col[taken] - 1 - n_centres], used.row[taken].astype(np.int64)
