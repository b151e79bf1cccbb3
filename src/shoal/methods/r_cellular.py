"""r-cellular clustering: groups that are cheap where every row pays the radius of its group."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.balls import Cells, distances_in_units
from shoal.cluster.point_index import SEARCH, indexed, note_work, pays, with_own_room
from shoal.cluster.points import Space, check_raw
from shoal.errors import Problems
from shoal.kernels.cluster import r_cellular as kernel
from shoal.kernels.cluster.points import NAME, NEIGHBOUR
from shoal.kernels.index.balls import MORE, PayerTrees, measure_kth, next_by_tree, within
from shoal.kernels.index.points import PointIndex, leave_all
from shoal.kernels.sharing import in_parts, piece_of
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Real, Whole, YesNo, param
from shoal.table.encode import Floats
from shoal.table.prepare import Table

AT_ONCE = 512
"""After so many searches somebody who wants to stop is heard."""
FEW = 64
"""How many near points are looked at first."""


@dataclass(frozen=True)
class RCellular(Method):
    """Groups of k with a low sum of sizes times radii (r-cellular clustering).

    Every row pays the radius of its group, every group a price besides. A primal-dual scheme: all rows offer more and
    more, until the balls around rows are paid for, one after the other; of balls that somebody paid for twice, the
    largest stays. Groups below k then borrow rows or are joined, whichever costs less.

    Parameters
    ----------
    k
        Smallest group size, the r of the paper.
    facility
        Price of a group, in the unit of distances; the higher, the fewer and larger the groups.
    standardize
        Whether numbers are divided by their standard deviation, or measured as they are.

    Guarantee
    ---------
    Every group has at least k rows. Published by `Generalize`, every row has the same quasi-identifier cells as at
    least k - 1 others. The cost stayed within four times the least on all small tables that were tried; that is a test
    and not a theorem. Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [0, 1, 2, 10, 11, 12]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, RCellular(k=3), publish=shoal.Generalize())
    >>> release.labels.tolist(), release.verify().k
    ([0, 0, 0, 1, 1, 1], 3)

    References
    ----------
    Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas, Zhu, "Achieving anonymity via clustering", PODS 2006; ACM
    Transactions on Algorithms 6(3), 2010.
    """

    name: ClassVar[str] = "r-cellular"
    title: ClassVar[str] = "r-cellular clustering by sizes times radii"
    paper: ClassVar[str] = (
        "Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas, Zhu, Achieving anonymity via clustering, PODS 2006"
    )
    complexity: ClassVar[str] = (
        "time far below O(n^2 d) in few dimensions, that times the visits to a row at worst; memory O(n d)"
    )
    advice: ClassVar[str] = "Where centres and radii are published and outliers must not widen every group."
    publisher: ClassVar[str] = "centres"

    k: int = param(Whole(2), "smallest group size")
    facility: float = param(Real(0.0), "cost of opening a group, in the unit of distances", default=0.0)
    standardize: bool = param(YesNo(), "divide numbers by their standard deviation", default=True)

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        if not self.standardize:
            check_raw(self, table, problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        space, same = Space.of(task, standardize=self.standardize), task.encoded.collapse()
        n_rows = task.encoded.n_rows
        scale = _scale(space, self.facility)
        price = round(min(self.facility, 1e300) * scale)
        offers = Offers(space.part(same.rows[same.first[:-1]]), np.diff(same.first), scale, self.k, price)
        offers.collect(progress)
        balls, tuple_labels = offers.choose(progress)
        labels = np.empty(n_rows, dtype=np.int64)
        labels[same.rows] = np.repeat(tuple_labels, np.diff(same.first))
        cells = Cells(space, labels, scale, self.k, price)
        cells.repair(np.array([offers.balls[ball][1] for ball in balls]), progress)
        return cells.groups()


def _scale(space: Space, facility: float) -> float:
    """How many units a distance of 1 has: a power of two such that all offers of all rows can be added up."""
    axes, n_rows = space.axes, space.columns.shape[1]
    spans: Floats = np.fmax.reduce(space.columns, axis=1, initial=0.0) ** 2 * axes["weight"]
    gaps: Floats = np.where(axes["holes"], axes["gap"], 0.0)
    widest: Floats = np.where(axes["kind"] == NAME, 1.0, np.maximum(spans, gaps))
    _, power = math.frexp(math.sqrt(widest.sum()) + min(facility, 1e300))
    return math.ldexp(1.0, max(min(50, 61 - n_rows.bit_length()) - power, -1000))


class Offers:
    """What rows offer, and the balls that are paid for by it; identical rows are one point with a count.

    Parameters
    ----------
    space, counts
        The distinct rows, and how many rows each stands for.
    scale
        Units in a distance of 1.
    k
        How many rows a ball must have.
    price
        What a ball costs besides its radius.
    """

    def __init__(self, space: Space, counts: Labels, scale: float, k: int, price: int) -> None:
        self._space, self._counts, self._terms = space, counts, kernel.Terms(scale, k, price)
        n_points = len(counts)
        self._payers = np.empty(n_points, dtype=kernel.PAYER)
        self._payers["count"], self._payers["paid"] = counts, -1
        self.paid: Labels = self._payers["paid"]
        self.witness: Labels = np.empty(n_points, dtype=np.int64)
        self.balls: list[tuple[int, int]] = []
        self._next_balls = np.empty(n_points, dtype=kernel.BALL)
        self._found: Labels = np.empty(n_points, dtype=np.int64)
        self._near = np.empty(min(max(k, FEW), n_points), dtype=NEIGHBOUR)
        self._trees = self._grown()

    def _grown(self) -> PayerTrees | None:
        """Trees of boxes around all points, if they are many."""
        columns, n_points = self._space.columns, len(self._counts)
        everyone, paying = indexed(self._space.axes, columns), indexed(self._space.axes, columns)
        if everyone is None or paying is None:
            return None
        return PayerTrees(everyone, paying, columns, np.empty(len(columns)), np.empty(n_points, dtype=np.int64))

    def collect(self, progress: Progress) -> None:
        """Let offers rise at the same speed, until everybody has stopped at a ball that is paid for.

        What was found to be the next time for a point can only become later as others stop, so it is looked at again
        only when it comes first.
        """
        waiting = [(int(time), point) for point, time in enumerate(self._first(progress))]
        heapq.heapify(waiting)
        progress.stage("grouping", int(self._counts.sum()))
        now, n_paying, fresh = 0, len(waiting), -1
        while n_paying:
            time, point = waiting[0]
            if fresh != point:
                time, radius = self._next(point, now, time)
                heapq.heapreplace(waiting, (time, point))
                fresh = point if radius >= 0 else -1
                continue
            now, fresh = time, -1
            stopping = self._stop(point, radius)
            self.paid[stopping], self.witness[stopping] = now, len(self.balls)
            self.balls.append((point, radius))
            n_paying -= len(stopping)
            progress.advance(int(self._counts[stopping].sum()))

    def choose(self, progress: Progress) -> tuple[list[int], Labels]:
        """Of balls that share a payer keep the largest: their numbers in order, and for each point its place there."""
        progress.stage("choosing", len(self.balls))
        owner = np.full(len(self.paid), -1, dtype=np.int64)
        target = np.empty(len(self.balls), dtype=np.int64)
        for ball in sorted(range(len(self.balls)), key=lambda ball: (-self.balls[ball][1], ball)):
            point, radius = self.balls[ball]
            payers = self._inside(point, radius)
            payers = payers[self.paid[payers] > radius]
            rivals = np.unique(owner[payers])
            rivals = rivals[rivals >= 0]
            if len(rivals):
                centres = np.array([self.balls[rival][0] for rival in rivals])
                target[ball] = rivals[np.argmin(self._measure(point, centres))]
            else:
                owner[payers], target[ball] = ball, ball
            progress.advance(1)
        chosen = np.where(owner >= 0, owner, target[self.witness])
        kept, labels = np.unique(chosen, return_inverse=True)
        return kept.tolist(), labels.astype(np.int64)

    def _first(self, progress: Progress) -> Labels:
        """When the first ball around each point is paid for, or a time before that."""
        progress.stage("measuring", int(self._counts.sum()))
        n_points, size, begin = len(self._counts), self._space.columns.size, 0
        while begin < n_points:
            end = min(n_points, begin + (piece_of(size) if self._searches() is None else AT_ONCE))
            self._next_balls["time"][begin:end] = self._first_of(begin, end)
            progress.advance(int(self._counts[begin:end].sum()))
            begin = end
        return self._next_balls["time"].copy()

    def _first_of(self, begin: int, end: int) -> Labels:
        trees, size = self._trees, self._space.columns.size
        if trees is None:
            in_parts(self._pay, begin, end, (end - begin) * size)
            return self._next_balls["time"][begin:end]

        def part(first: int, last: int) -> PointIndex:
            mine = trees._replace(everyone=with_own_room(trees.everyone), point=np.empty_like(trees.point))
            near = np.empty(min(self._terms.k, len(self._counts)), dtype=NEIGHBOUR)
            measure_kth(mine, self._payers, self._terms, first, last, near)
            return mine.everyone

        note_work(trees.everyone, in_parts(part, begin, end, (end - begin) * SEARCH))
        return trees.kth[begin:end]  # type: ignore[no-any-return]

    def _pay(self, begin: int, end: int, now: int = 0) -> None:
        """Find the next ball around each point of a run that is paid for as things are."""
        space = self._space
        kernel.next_paid(space.axes, space.columns, self._payers, self._terms, begin, end, now, self._next_balls)

    def _next(self, point: int, now: int, known: int) -> tuple[int, int]:
        """When the next ball around a point is paid for as things are, and its radius; or a later time than known."""
        trees = self._searches()
        if trees is None:
            self._pay(point, point + 1, now)
            time, radius = self._next_balls[point]
            return int(time), int(radius)
        while True:
            time, radius = next_by_tree(trees, self._payers, self._terms, point, now, known, self._near)
            if radius != MORE:
                return time, radius
            self._near = np.empty(min(4 * len(self._near), len(self._counts)), dtype=NEIGHBOUR)

    def _searches(self) -> PayerTrees | None:
        """Trees, as long as searches are cheaper than scans; those for who still pays are cheaper than for all."""
        if self._trees is not None and not pays(self._trees.everyone):
            self._trees = None
        return self._trees

    def _stop(self, point: int, radius: int) -> Labels:
        """Who stops paying once a ball is paid for."""
        trees = self._trees
        if trees is None:
            inside = self._inside(point, radius)
            return inside[self.paid[inside] < 0]
        inside = self._found_by(trees.paying, point, radius)
        leave_all(trees.paying, inside)
        return inside

    def _inside(self, point: int, radius: int) -> Labels:
        """Who is inside a ball, in any order."""
        trees = self._searches()
        if trees is None:
            return np.flatnonzero(self._measure(point) <= radius)
        return self._found_by(trees.everyone, point, radius)

    def _found_by(self, index: PointIndex, point: int, radius: int) -> Labels:
        n = within(index, self._space.columns[:, point].copy(), self._terms.scale, radius, self._found)
        return self._found[:n].copy()

    def _measure(self, point: int, points: Labels | slice = slice(None)) -> Labels:
        """Distances of some points to one, in whole units."""
        columns = np.ascontiguousarray(self._space.columns[:, points])
        return distances_in_units(self._space, columns, point, self._terms.scale)
