"""A table as points: how far two rows are apart, what their average is, and who is in no group yet.

Numbers are standardised (divided by their standard deviation) unless they are wanted as they are, orders are ranks
divided by the number of categories (of a calendar: of days from the first to the last that is there), nominal values
are equal or not; the distance of two rows is the square root of the sum of squares over the columns.
Numbers are not scaled in memory but when a distance is formed, except by powers of two, which is exact: rows at equal
distance are found equal, and the tie rule decides, not the rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.cluster import point_index
from shoal.cluster.averages import Members, averages_of, distances_to
from shoal.cluster.grid import exact_sum, from_smallest, grid_for, on_grid
from shoal.cluster.point_index import indexed, indexed_centres, indexed_twins, pays
from shoal.enforce.constraints import NO_CONSTRAINTS, Constraints
from shoal.errors import ParameterError, Problems
from shoal.kernels.cluster import points as kernel
from shoal.kernels.cluster.distance_order import DistanceOrder
from shoal.kernels.cluster.drifting_order import MOST, DriftingOrder
from shoal.kernels.cluster.free_points import MISSES, farthest_of_all, look, take
from shoal.kernels.cluster.mdav import take_groups
from shoal.kernels.enforce.growth import choose_near, spend_all
from shoal.kernels.index.centres import nearest_indexed
from shoal.kernels.index.numbers import NumberIndex
from shoal.kernels.sharing import in_parts, parts_of, piece_of
from shoal.methods.base import Method, Task
from shoal.methods.groups import Labels, members_of
from shoal.progress import SILENT, Progress
from shoal.table.encode import Floats
from shoal.table.prepare import Table
from shoal.table.schema import Numeric, Ordinal, has_days
from shoal.table.whole import Numbers

Axes = npt.NDArray[np.void]
FEW_CELLS = 1 << 13
"""Below so many values points are grouped step by step: a look at all of them takes as long as the call of a kernel."""
AT_ONCE = 512
"""After so many searches somebody who wants to stop is heard."""
FEW_MORE = 4
"""How many times k near points are looked at first for a group that has promises to keep; 2 took the same time, 16 a
tenth more."""
MOST_POWER = 500
"""Raw numbers that differ by 2 to this power or more cannot be squared; see `check_raw`."""


def _no_order() -> DistanceOrder:
    """An order of points that is never asked."""
    none, rows, zero = np.empty(0), np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    drifting = DriftingOrder(rows, none, zero, np.zeros(1), np.empty((0, 1)), rows, rows)
    return DistanceOrder(np.empty((0, 1)), rows, none, zero, np.full(1, -MISSES), drifting)


@dataclass(frozen=True, repr=False)
class Space:
    """All rows as points: what the columns are, and their values column by column."""

    axes: Axes
    columns: Floats

    @classmethod
    def of(cls, task: Task, *, standardize: bool = True) -> Space:
        """Lay out the quasi-identifiers of a table; numbers are divided by their standard deviation, or left as is."""
        encoded = task.encoded
        n_rows, n_columns = encoded.n_rows, encoded.n_columns
        grid, n_counts = grid_for(n_rows), 0
        columns, axes = np.empty((n_columns, n_rows)), np.empty(n_columns, dtype=kernel.AXIS)
        for j, name in enumerate(encoded.names):
            slot, n_categories, weight, gap = encoded.slot[j], 0, 1.0, 1.0
            if encoded.is_tree[j]:
                columns[j], kind, n_categories = encoded.codes[slot], kernel.NAME, len(encoded.trees[slot].parent)
            elif isinstance(task.table.quasi[name], Ordinal):
                columns[j], kind, n_categories = encoded.lines[slot], kernel.ORDER, int(encoded.spans[slot]) + 1
                width = _width(task.table, name, columns[j], n_categories - 1.0)
                weight = 1.0 / (width + 1.0) ** 2
                gap = _gap(width, weight)
            else:
                (columns[j], power), kind = from_smallest(encoded.lines[slot]), kernel.NUMBER
                weight, gap = _standard(columns[j], grid) if standardize else _raw(columns[j], power)
                if task.table.whole is not None:
                    weight, gap = _of_whole(task.table.whole.numbers[name], power, weight, standardize=standardize)
            holes = bool(np.isnan(columns[j]).any())
            axes[j] = (kind, weight, gap, grid, n_counts, n_counts + n_categories, holes)
            n_counts += n_categories
        return cls(axes, columns)

    def part(self, rows: Labels) -> Space:
        """Some of the rows, measured as they are among all."""
        return Space(self.axes, np.ascontiguousarray(self.columns[:, rows]))

    def centres(self, labels: Labels) -> Floats:
        """Average record of every group; rows with label -1 are in none."""
        return averages_of(self, Members.of(members_of(labels)))

    def farthest(self, labels: Labels, points: Floats) -> Floats:
        """Squared distance of the farthest row of each group from the point given for it."""
        distances = self._distances(labels, points)
        inside = labels >= 0
        farthest = np.zeros(len(points))
        np.maximum.at(farthest, labels[inside], distances[inside])
        return farthest

    def nearest_rows(self, labels: Labels, points: Floats) -> Labels:
        """The row of each group nearest to the point given for it, the lowest of those that tie."""
        distances = self._distances(labels, points)
        rows = np.lexsort((distances, labels))
        rows = rows[labels[rows] >= 0]
        return rows[np.searchsorted(labels[rows], np.arange(len(points)))]

    def _distances(self, labels: Labels, points: Floats) -> Floats:
        distances, inside = np.zeros(len(labels)), labels >= 0
        distances[inside] = distances_to(self, self.columns[:, inside], points[labels[inside]])
        return distances

    def join_nearest(self, labels: Labels) -> int:
        """Send every row with label -1 to the group with the nearest average, as the groups are now; count them."""
        leftovers = np.flatnonzero(labels < 0)
        if len(leftovers):
            labels[leftovers] = self.nearest_of(self.centres(labels), leftovers)
        return len(leftovers)

    def nearest_of(self, centres: Floats, rows: Labels, progress: Progress = SILENT) -> Labels:
        """Number of the nearest centre for some rows, the lowest of those that tie."""
        nearest, begin = np.empty(len(rows), dtype=np.int64), 0
        index = indexed_centres(self.axes, self.columns, centres) if len(rows) >= point_index.LEAST_CENTRES else None
        everyone = np.ones(len(centres), dtype=np.bool_)
        while begin < len(rows):
            some = slice(begin, begin + (piece_of(centres.size) if index is None else AT_ONCE))
            if index is None:
                kernel.nearest_groups(self.axes, self.columns, rows[some], centres, everyone, nearest[some])
            else:
                nearest_indexed(index, self.columns, rows[some], -1, nearest[some])
                index = index if pays(index) else None
            progress.advance(0)
            begin = some.stop
        return nearest


class Free:
    """Points that are in no group yet.

    Parameters
    ----------
    space
        The points.
    labels
        Gets the label of every point that is taken out.
    constraints
        What every group is to keep besides its size.
    alone
        Whether every point has a place of its own in the tree, also where others are identical.
    """

    def __init__(
        self, space: Space, labels: Labels, constraints: Constraints = NO_CONSTRAINTS, *, alone: bool = False
    ) -> None:
        axes, columns, rows = space.axes, space.columns.copy(), np.arange(len(labels))
        sums = np.zeros(len(columns), dtype=kernel.SUM)
        sums["present"] = (~np.isnan(columns)).sum(axis=1)
        counts = np.zeros(axes["end"][-1], dtype=np.int64)
        for j, column in enumerate(columns):
            begin, end = axes["first"][j], axes["end"][j]
            if axes["kind"][j] == kernel.NUMBER:
                sums["total"][j] = on_grid(column, axes["grid"][j]).sum()
            else:
                counts[begin:end] = np.bincount(column[~np.isnan(column)].astype(np.int64), minlength=end - begin)
        self.labels, self._space = labels, space
        self.constraints = constraints
        self._growth: Any = constraints.growth(planned=constraints.planned)  # used where something is promised only
        self._size = np.array([len(rows)])
        self.store = kernel.PointStore(axes, columns, rows, rows.copy(), labels, sums, counts, self._size)
        self.index: Any = (indexed if alone else indexed_twins)(space.axes, space.columns)  # an `Index`, or None

    def __len__(self) -> int:
        return int(self._size[0])

    @property
    def cells(self) -> int:
        """How many values a look at all points reads."""
        return len(self) * len(self.store.columns)

    @property
    def plain(self) -> bool:
        """Whether many groups can be left to one kernel: k rows do, one core does, and there is something to win."""
        one_core = self.searches or parts_of(self.cells) == 1
        return not self.constraints.any and self.cells >= FEW_CELLS and one_core

    @property
    def searches(self) -> bool:
        """Whether points are found by a search, and not by a look at all of them."""
        return self.index is not None and not self.index.tree.shape["off"][0]

    def average(self) -> Floats:
        """Average record."""
        centre = np.empty(len(self.store.columns))
        kernel.average(self.store, centre)
        return centre

    def survey(self, point: Floats, k: int, *, far: bool = True) -> tuple[Floats, Labels, int]:
        """Squared distances and places of the k nearest, nearest first, and the place of the farthest, if wanted."""
        if self.searches:
            near = np.empty(min(k, len(self)), dtype=kernel.NEIGHBOUR)
            place = look(self.store, self.index, point, near, far)
        else:
            near, place = self._scan(point, k)
        near = near[np.lexsort((near["row"], near["distance"]))[:k]]
        return near["distance"], near["place"], place

    def _scan(self, point: Floats, k: int) -> tuple[Any, int]:
        """Look at all points: the nearest, more than k perhaps, in any order; the place of the farthest."""

        def part(begin: int, end: int) -> tuple[Any, Any]:
            near = np.empty(min(k, end - begin), dtype=kernel.NEIGHBOUR)
            return near, kernel.survey(self.store, point, begin, end, near)

        found = in_parts(part, 0, len(self), self.cells)
        far = max((one[1] for one in found), key=lambda one: (one[0], -one[1]))
        return np.concatenate([one[0] for one in found]), far[2]

    @property
    def distance_order(self) -> DistanceOrder:
        """All points, those farthest from the average of all first; none where a tree of numbers is as quick."""
        return _no_order() if self.searches and isinstance(self.index, NumberIndex) else self._distance_order

    @cached_property
    def _distance_order(self) -> DistanceOrder:
        centre, squared = self.average(), np.empty(len(self.labels))
        kernel.fill(self._space.axes, self._space.columns, centre, 0, squared)
        order = np.argsort(-squared, kind="stable")
        distances = np.sqrt(squared)
        twins = order[:0] if self.index is None else self.index.twins
        heap = order[: len(twins)]  # what is sorted is a heap
        if self.index is not None:
            heap = heap[self.index.positions[heap] >= 0]
        drifting = DriftingOrder(
            heap.copy(), distances.copy(), np.array([len(heap)]), np.zeros(1), centre[:, np.newaxis].copy(), twins,
            np.empty(MOST, dtype=np.int64),
        )  # fmt: skip
        start, luck = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        return DistanceOrder(centre[:, np.newaxis], order, distances[order], start, luck, drifting)

    def farthest_from_average(self, average: Floats | None = None) -> Floats:
        """The point farthest from the average of all that are free, or from one that moves as little."""
        average, place = self.average() if average is None else average, -1
        if self.cells >= FEW_CELLS:
            place = farthest_of_all(self.store, self.index, self.distance_order, average, 0)
        return self.farthest(average) if place < 0 else self.at(place)

    def farthest(self, point: Floats) -> Floats:
        """The point farthest from a given one."""
        if self.cells >= FEW_CELLS:
            place = farthest_of_all(self.store, self.index, self.distance_order, point, 1)
            if place >= 0:
                return self.at(place)
        return self.at(self.survey(point, 0)[2])

    def at(self, place: int) -> Floats:
        """The point at a place."""
        return self.store.columns[:, place].copy()  # type: ignore[no-any-return]

    def take(self, places: Labels, label: int) -> None:
        """Take points out, as members of a group."""
        self.spend(places)
        take(self.store, self.index, np.sort(places), label)

    def spend(self, places: Labels) -> None:
        """Note for the promises that points are about to leave."""
        if self._growth is not None:
            spend_all(self._growth, self.constraints.keys, self.store.rows[places])

    def near(self, point: Floats, k: int, *, far: bool = False) -> tuple[Labels, int]:
        """Places of the k points nearest to a given one, nearest first, and that of the farthest of all, if wanted.

        Of more, or of others, if promises need that: those that would keep the group from its promises are passed
        over. A group that cannot keep them, whoever joins, has the k nearest: what it lacks is left to the repair.
        """
        wanted = k
        while self._growth is not None:
            _, places, farthest = self.survey(point, FEW_MORE * wanted, far=far)
            chosen, rows = np.empty(len(places), dtype=np.int64), self.store.rows[places]
            n = choose_near(self._growth, self.constraints.keys, rows, k, chosen)
            if n >= 0:
                return places[chosen[:n]], farthest
            if len(places) == len(self):
                break
            wanted = len(places)
        return self.survey(point, k, far=far)[1:]

    def take_near(self, point: Floats, k: int, label: int) -> None:
        """Take the points nearest to a given one: k, or as many as promises need."""
        self.take(self.near(point, k)[0], label)

    def take_farthest(self, k: int, label: int) -> None:
        """Take the point farthest from the average of all that are free, and those nearest to it."""
        if self.plain:
            take_groups(self.store, self.index, self.distance_order, k, label, 1, False)
        else:
            self.take_near(self.farthest_from_average(), k, label)

    def take_rest(self, label: int) -> int:
        """Take all that are left, and count them."""
        n = len(self)
        self.labels[self.store.rows[:n]] = label
        self._size[0] = 0
        return n


def check_raw(method: Method, table: Table, problems: Problems) -> None:
    """Note numbers too far apart to be measured as they are."""
    for name, kind in table.quasi.items():
        if isinstance(kind, Numeric) and name in table.frame.columns:
            values = table.frame[name].cast(pl.Float64, strict=False).drop_nulls()
            if len(values) and not values.max() - values.min() < 2.0**MOST_POWER:  # type: ignore[operator]
                problems.add(
                    f"{type(method).__name__}(standardize=)",
                    f"the numbers of column {name!r} are too far apart to compute distances",
                    "use standardize = true",
                    error=ParameterError,
                )


def _raw(column: Floats, power: int) -> tuple[float, float]:
    """What makes a squared difference one of the numbers as they are, and the largest there is."""
    weight = math.ldexp(1.0, 2 * min(power, MOST_POWER))
    return weight, _gap(float(np.fmax.reduce(column, initial=0.0)), weight)


def _standard(column: Floats, grid: float) -> tuple[float, float]:
    """What makes a squared difference one of standardised numbers, and the largest there is."""
    present = column[~np.isnan(column)]
    span = present.max(initial=0.0)
    if span == 0.0:
        return 0.0, 1.0
    # Exact sums: the result does not depend on the order of the rows.
    mean = float(on_grid(present, grid).sum()) / len(present) / grid
    variance = exact_sum((present - mean) * (present - mean)) / len(present)
    weight = 1.0 / variance
    return weight, _gap(span, weight)


def _of_whole(numbers: Numbers, power: int, weight: float, *, standardize: bool) -> tuple[float, float]:
    """The same for a block of a table whose numbers these are: they are measured as in all of it."""
    if not numbers.span:
        return 0.0, 1.0
    with np.errstate(over="ignore", divide="ignore"):
        span, deviation = np.ldexp([numbers.span, numbers.deviation], -power)
        if standardize:
            weight = float(1.0 / (deviation * deviation))
        gap = _gap(float(span), weight)
    if math.isfinite(gap):
        return weight, gap
    # Beside those of the whole table, all numbers of the block are the same.
    return 0.0, (numbers.span / (numbers.deviation if standardize else 1.0)) ** 2


def _width(table: Table, name: str, ranks: Floats, declared: float) -> float:
    """How wide an order is: as it was declared, but a calendar from the first to the last day that is there."""
    kind = table.quasi[name]
    if not has_days(kind):
        return declared
    if table.whole is not None:
        return table.whole.span(name)
    there = ranks[~np.isnan(ranks)]
    return float(np.ptp(there)) if len(there) else 0.0


def _gap(span: float, weight: float) -> float:
    """Squared distance of a missing value: the largest of the column; 1, as between names, if that is nothing."""
    return span * span * weight if span else 1.0
