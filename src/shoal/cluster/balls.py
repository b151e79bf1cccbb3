"""Groups around centres that pay their radius for every row, brought up to size as cheaply as may be."""

from __future__ import annotations

import numpy as np

from shoal.cluster.point_index import indexed, pays
from shoal.cluster.points import Space
from shoal.kernels.cluster import r_cellular as kernel
from shoal.kernels.cluster.points import NEIGHBOUR
from shoal.kernels.index.balls import nearest_in_units
from shoal.kernels.index.cells import CellStore, Sizes, best_join
from shoal.kernels.index.points import PointIndex, come_back_all, leave_all
from shoal.kernels.sharing import pieces
from shoal.methods.groups import Groups, Labels, members_of
from shoal.progress import Progress
from shoal.table.encode import Floats


class Cells:
    """Groups with their centres, sizes and radii.

    A radius is kept as it was when rows leave the group, so it may be larger than it need be until the end.

    Parameters
    ----------
    space
        The points.
    labels
        Group of every row.
    scale
        Units in a distance of 1; radii and costs are whole numbers of them.
    k
        Smallest size.
    price
        What a group costs besides its radius.
    """

    def __init__(self, space: Space, labels: Labels, scale: float, k: int, price: int) -> None:
        self._space, self._labels, self._scale, self._k, self._price = space, labels, scale, k, price
        self._members = members_of(labels)
        self._sizes = np.bincount(labels)
        self._centres: Labels = np.empty(len(self._sizes), dtype=np.int64)
        self._radii: Labels = np.empty(len(self._sizes), dtype=np.int64)
        for group, rows in enumerate(self._members):
            squared, self._centres[group] = _middle(space, rows)
            self._radii[group] = np.rint(np.sqrt(squared) * scale)
        self._index: PointIndex | None = None
        self._store = self._laid_out()

    def _laid_out(self) -> CellStore:
        """The groups as arrays."""
        heads, follow = np.empty(len(self._sizes), dtype=np.int64), np.full(len(self._labels), -1, dtype=np.int64)
        for group, rows in enumerate(self._members):
            heads[group], follow[rows[:-1]] = rows[0], rows[1:]
        columns = self._space.columns
        centre_columns = np.ascontiguousarray(columns[:, self._centres])
        groups = Sizes(self._sizes, self._centres, self._radii, heads, np.empty(len(heads), dtype=np.int64))
        points = np.empty((self._k, len(columns)))
        return CellStore(
            self._space.axes, columns, centre_columns, self._labels, follow, groups, points, self._scale, self._price
        )

    def repair(self, first_radii: Labels, progress: Progress) -> None:
        """Bring every group up to size, those first that were formed with the largest radius."""
        progress.stage("repairing", len(self._sizes))
        self._index = indexed(self._space.axes, self._space.columns)
        if self._index is not None:  # of rows that can be spared
            leave_all(self._index, np.flatnonzero(self._sizes[self._labels] == self._k))
        for group in np.lexsort((np.arange(len(first_radii)), -first_radii)):
            if 0 < self._sizes[group] < self._k:
                self._mend(int(group))
            progress.advance(1)

    def groups(self) -> Groups:
        """Groups in the order of their centres, the row of each whose farthest is nearest."""
        members = [rows for rows in members_of(self._labels) if len(rows)]
        centres = np.array([_middle(self._space, rows)[1] for rows in members], dtype=np.int64)
        order = np.argsort(centres)
        labels = np.empty(len(self._labels), dtype=np.int64)
        for label, group in enumerate(order):
            labels[members[group]] = label
        return Groups(labels, centres=centres[order])

    # -- changes --------------------------------------------------------------------------------------------------

    def _mend(self, group: int) -> None:
        """Borrow the nearest rows of groups that can spare them, or join another group, whichever costs less."""
        borrowed, rise, radius = self._borrow(group)
        other, join_rise, centre, join_radius = self._join(group)
        if borrowed is not None and (other < 0 or rise <= join_rise):
            lenders = self._labels[borrowed]
            for lender in np.unique(lenders):
                rows = self._members[lender]
                self._set_members(int(lender), rows[~np.isin(rows, borrowed[lenders == lender])])
            self._set_members(group, np.sort(np.concatenate([self._members[group], borrowed])))
            self._radii[group] = radius
        else:
            joined = np.sort(np.concatenate([self._members[other], self._members[group]]))
            self._set_members(group, joined[:0])
            self._set_members(other, joined)
            self._centres[other], self._radii[other] = centre, join_radius
            self._store.centre_columns[:, other] = self._space.columns[:, centre]

    def _set_members(self, group: int, rows: Labels) -> None:
        """Give a group other rows; who can be spared then, and who cannot."""
        before = self._sizes[group]
        if self._index is not None and len(rows):
            if len(rows) == self._k:
                leave_all(self._index, rows)
            elif before == self._k:
                come_back_all(self._index, self._members[group])
        if len(rows):
            self._store.groups.heads[group] = rows[0]
            self._store.follow[rows[:-1]], self._store.follow[rows[-1]] = rows[1:], -1
        self._members[group], self._labels[rows], self._sizes[group] = rows, group, len(rows)

    # -- what they cost -------------------------------------------------------------------------------------------

    def _borrow(self, group: int) -> tuple[Labels | None, int, int]:
        """Rows to borrow, by how much the cost rises, and the radius then; a group below k may be used up."""
        own = int(self._sizes[group])
        rows = self._to_spare(group, self._k - own)
        if len(rows) < self._k - own:
            return None, 0, 0
        distance = self._distances(int(self._centres[group]), rows)
        radius = max(int(self._radii[group]), int(distance.max()))
        lenders, n_lent = np.unique(self._labels[rows], return_counts=True)
        used_up = int((self._sizes[lenders] == n_lent).sum())  # k or more are not lent all
        saved = own * int(self._radii[group]) + int(self._radii[self._labels[rows]].sum())
        return rows, self._k * radius - saved - self._price * used_up, radius

    def _to_spare(self, group: int, wanted: int) -> Labels:
        """The nearest rows of groups that can spare them, the lowest of those that tie; not more than wanted."""
        spare = np.where(self._sizes >= self._k, self._sizes - self._k, self._sizes)
        spare[group] = 0
        n_near = 4 * self._k
        while self._index is not None and pays(self._index):
            n_near = min(n_near, int(self._index.size[0]))
            radii, rows = self._near(int(self._centres[group]), n_near)
            certain = slice(None) if n_near == self._index.size[0] else radii < radii[-1]
            found = _lent(rows[certain], self._labels, spare, wanted)
            if len(found) == wanted or n_near == self._index.size[0]:
                return found
            n_near *= 4
        self._index = None
        distance = self._distances(int(self._centres[group]))
        rows = np.empty(wanted, dtype=np.int64)
        return rows[: kernel.borrow(distance, self._labels, spare, group, wanted, rows)]

    def _near(self, centre: int, n: int) -> tuple[Labels, Labels]:
        """Rows in the tree nearest to one, and how far they are away, by that and then in row order."""
        near, (radii, rows) = np.empty(n, dtype=NEIGHBOUR), np.empty((2, n), dtype=np.int64)
        nearest_in_units(self._index, self._space.columns[:, centre].copy(), self._scale, near, radii, rows)  # type: ignore[arg-type]
        return radii, rows

    def _join(self, group: int) -> tuple[int, int, int, int]:
        """The group to join, by how much the cost rises, and the centre and radius then: its own or the other's."""
        if self._index is not None:
            return best_join(self._store, group)  # type: ignore[no-any-return]
        alive = self._sizes > 0
        alive[group] = False
        if not alive.any():
            return -1, 0, -1, 0
        theirs, mine = self._radii.copy(), np.full(len(alive), self._radii[group])
        np.maximum.at(mine, self._labels, self._distances(int(self._centres[group])))
        centres = np.ascontiguousarray(self._store.centre_columns[:, alive])
        for member in self._members[group]:
            reach = distances_in_units(self._space, centres, int(member), self._scale)
            theirs[alive] = np.maximum(theirs[alive], reach)
        own = int(self._sizes[group])
        radii = np.minimum(theirs, mine)
        rises = (self._sizes + own) * radii - self._sizes * self._radii - own * self._radii[group] - self._price
        others = np.flatnonzero(alive)
        best = int(others[np.argmin(rises[others])])
        centre = self._centres[best] if theirs[best] <= mine[best] else self._centres[group]
        return best, int(rises[best]), int(centre), int(radii[best])

    def _distances(self, row: int, rows: Labels | None = None) -> Labels:
        """Distances of some rows, or all, to one of them, in whole units."""
        columns = self._space.columns if rows is None else np.ascontiguousarray(self._space.columns[:, rows])
        return distances_in_units(self._space, columns, row, self._scale)


def _lent(rows: Labels, labels: Labels, spare: Labels, wanted: int) -> Labels:
    """The first rows of groups that can spare them, as many as wanted."""
    left: dict[int, int] = {}
    found: list[int] = []
    for row, lender in zip(rows.tolist(), labels[rows].tolist(), strict=True):
        n = left.get(lender, int(spare[lender]))
        left[lender] = n - (n > 0)
        if n > 0:
            found.append(row)
        if len(found) == wanted:
            break
    return np.array(found, dtype=np.int64)


def distances_in_units(space: Space, columns: Floats, row: int, scale: float) -> Labels:
    """Distances of points to one of the rows, in whole units."""
    distance = np.empty(columns.shape[1], dtype=np.int64)
    kernel.measure(space.axes, columns, space.columns[:, row].copy(), scale, distance)
    return distance


def _middle(space: Space, rows: Labels) -> tuple[float, int]:
    """The row of some whose farthest is nearest, the lowest of those that tie; squared radius and row."""
    part = np.ascontiguousarray(space.columns[:, rows])
    best, place = np.inf, 0
    for begin, end in pieces(len(rows), part.size):
        best, place = kernel.middle(space.axes, part, begin, end, best, place)
    return float(best), int(rows[place])
