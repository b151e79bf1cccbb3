"""r-gather: groups of k around centres, the largest radius at most twice the least possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.gathering import least_reach
from shoal.cluster.point_index import SEARCH, indexed, note_work, order_of, pays, with_own_room
from shoal.cluster.points import Space, check_raw
from shoal.errors import Problems
from shoal.kernels.cluster import r_gather as kernel
from shoal.kernels.cluster.points import NEIGHBOUR
from shoal.kernels.index.balls import kth_by_tree, reached
from shoal.kernels.index.points import PointIndex
from shoal.kernels.sharing import in_parts, pieces
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Share, Whole, YesNo, param
from shoal.table.encode import Floats
from shoal.table.prepare import Table

AT_ONCE = 256
"""After so many searches somebody who wants to stop is heard."""


@dataclass(frozen=True)
class RGather(Method):
    """Groups of k around centres with the smallest largest radius, up to a factor (r-gather).

    Centres are rows more than a reach apart; every row joins a centre within reach, and a flow sees to it that every
    centre gets k. The reach is the shortest for which that was found to work.

    Parameters
    ----------
    k
        Smallest group size, the r of the paper.
    epsilon
        Share of the rows that may be left out, as outliers: at most floor(epsilon n) are suppressed.
    standardize
        Whether numbers are divided by their standard deviation, or measured as they are.

    Guarantee
    ---------
    Every group has at least k rows; no row is farther from the centre of its group than twice the least radius that any
    grouping into k reaches, or four times where rows may be left out. Published by `Generalize`, every row has the same
    quasi-identifier cells as at least k - 1 others. Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [0, 1, 2, 10, 11, 12, 30]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, RGather(k=3, epsilon=1 / 7), publish=shoal.Generalize())
    >>> release.labels.tolist(), release.verify().k
    ([0, 0, 0, 1, 1, 1, -1], 3)

    References
    ----------
    Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas, Zhu, "Achieving anonymity via clustering", PODS 2006; ACM
    Transactions on Algorithms 6(3), 2010.
    """

    name: ClassVar[str] = "r-gather"
    title: ClassVar[str] = "r-gather clustering by largest radius"
    paper: ClassVar[str] = (
        "Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas, Zhu, Achieving anonymity via clustering, PODS 2006"
    )
    complexity: ClassVar[str] = (
        "time nearly linear in n where the first reach is enough, O(n^2 d log n) and O(log n) flows at worst; "
        "memory O(n d) and the arcs of a flow"
    )
    advice: ClassVar[str] = "Where no row may be far from what is shown for it; the only bound on the worst row."
    publisher: ClassVar[str] = "centres"

    k: int = param(Whole(2), "smallest group size")
    epsilon: float = param(Share(open_high=True), "share of the rows that may be suppressed as outliers", default=0.0)
    standardize: bool = param(YesNo(), "divide numbers by their standard deviation", default=True)

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        if not self.standardize:
            check_raw(self, table, problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        space = Space.of(task, standardize=self.standardize)
        n_rows = task.encoded.n_rows
        n_outliers = min(math.floor(self.epsilon * n_rows), n_rows - 1)
        progress.stage("measuring", n_rows)
        index = indexed(space.axes, space.columns)
        if n_outliers:
            near = np.sort(_all_kth(space, index, self.k, progress))
            return _without_outliers(space, index, self.k, float(near[n_rows - n_outliers - 1]), progress)
        least = _largest_kth(space, index, self.k, progress)
        distinct = task.encoded.collapse()
        heads = space.part(distinct.rows[distinct.first[:-1]])
        progress.stage("searching")
        return least_reach(space, index, heads, self.k, least, progress)


def kth_nearest(space: Space, k: int, progress: Progress, *, only_largest: bool = False) -> Floats:
    """Squared distance of every row to its k-th nearest; where only the largest is wanted, the others may be less."""
    n_rows, cells = space.columns.shape[1], space.columns.size
    out, least = np.empty(n_rows), -1.0
    for first, last in pieces(n_rows, cells):

        def part(begin: int, end: int, least: float = least) -> float:
            return kernel.kth_nearest(space.axes, space.columns, begin, end, k, least, only_largest, out)

        largest = max(in_parts(part, first, last, (last - first) * cells))
        least = largest if only_largest else -1.0
        progress.advance(last - first)
    return out


def _largest_kth(space: Space, index: PointIndex | None, k: int, progress: Progress) -> float:
    """The largest of the squared distances from a row to its k-th nearest.

    A tree is asked for those rows alone that have fewer than k within the largest distance so far among the rows that
    stand beside them, in an order in which near ones do.
    """
    if index is None:
        return float(kth_nearest(space, k, progress, only_largest=True).max())
    order, least = order_of(index), -1.0
    beside, out = space.part(order), np.empty(len(order))
    room, near = np.empty(len(order), dtype=np.int64), np.empty(k, dtype=NEIGHBOUR)
    for first in range(0, len(order), AT_ONCE):
        last = min(first + AT_ONCE, len(order))
        rest = order[room[: kernel.not_near(space.axes, beside.columns, first, last, k, least, room)]]
        if not pays(index):
            return float(kth_nearest(beside, k, progress, only_largest=True).max())
        kth_by_tree(index, space.columns, rest, near, out)
        least = max(least, float(out[rest].max(initial=-1.0)))
        progress.advance(last - first)
    return least


def _all_kth(space: Space, index: PointIndex | None, k: int, progress: Progress) -> Floats:
    """Squared distance of every row to its k-th nearest, by a tree of boxes as long as that pays."""
    if index is None:
        return kth_nearest(space, k, progress)
    out, order = np.empty(space.columns.shape[1]), order_of(index)

    def part(begin: int, end: int) -> PointIndex:
        mine = with_own_room(index)
        kth_by_tree(mine, space.columns, some[begin:end], np.empty(k, dtype=NEIGHBOUR), out)
        return mine

    for first in range(0, len(order), AT_ONCE):
        some = order[first : first + AT_ONCE]
        note_work(index, in_parts(part, 0, len(some), len(some) * SEARCH))
        if index.tree.shape["off"][0]:
            return kth_nearest(space, k, progress)
        progress.advance(len(some))
    return out


def _without_outliers(space: Space, index: PointIndex | None, k: int, reach: float, progress: Progress) -> Groups:
    """Groups around rows with k others within reach, and all that lie within twice the reach of these."""
    n_rows = space.columns.shape[1]
    labels, free = np.full(n_rows, -1, dtype=np.int64), np.ones(n_rows, dtype=np.bool_)
    everyone, found = np.ones(n_rows, dtype=np.bool_), np.empty(n_rows, dtype=np.int64)
    centres: list[int] = []
    dense: list[int] = []
    progress.stage("grouping", n_rows)
    for row in range(n_rows):
        progress.advance(1)
        if not free[row]:
            continue
        if index is not None and pays(index):
            size = reached(index, space.columns[:, row].copy(), reach, found)
        else:
            index, size = None, kernel.ball(space.axes, space.columns, row, reach, everyone, found)
        around = found[:size][free[found[:size]]]
        if len(around) >= k:
            labels[around], free[around] = len(centres), False
            centres.append(row)
        elif size >= k:
            dense.append(row)
    joining = np.array([row for row in dense if free[row]], dtype=np.int64)
    labels[joining] = space.nearest_of(space.columns[:, centres].T, joining, progress)
    return Groups(labels, centres=np.array(centres, dtype=np.int64))
