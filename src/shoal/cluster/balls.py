"""Groups around centres that pay their radius for every row, brought up to size as cheaply as may be."""

from __future__ import annotations

import numpy as np

from shoal.cluster.points import Space
from shoal.kernels.cluster import r_cellular as kernel
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
        self._sizes = np.bincount(labels)
        self._centres: Labels = np.empty(len(self._sizes), dtype=np.int64)
        self._radii: Labels = np.empty(len(self._sizes), dtype=np.int64)
        for group, rows in enumerate(members_of(labels)):
            squared, self._centres[group] = _middle(space, rows)
            self._radii[group] = np.rint(np.sqrt(squared) * scale)

    def repair(self, first_radii: Labels, progress: Progress) -> None:
        """Bring every group up to size, those first that were formed with the largest radius."""
        progress.stage("repairing", len(self._sizes))
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

    def _mend(self, group: int) -> None:
        """Borrow the nearest rows of groups that can spare them, or join another group, whichever costs less."""
        distance = distances_in_units(self._space, self._space.columns, self._centres[group], self._scale)
        borrowed, rise, radius = self._borrow(group, distance)
        other, join_rise, centre, join_radius = self._join(group, distance)
        if borrowed is not None and (other < 0 or rise <= join_rise):
            self._sizes -= np.bincount(self._labels[borrowed], minlength=len(self._sizes))
            self._labels[borrowed] = group
            self._sizes[group], self._radii[group] = self._k, radius
        else:
            self._labels[self._labels == group] = other
            self._sizes[other] += self._sizes[group]
            self._sizes[group] = 0
            self._centres[other], self._radii[other] = centre, join_radius

    def _borrow(self, group: int, distance: Labels) -> tuple[Labels | None, int, int]:
        """Rows to borrow, by how much the cost rises, and the radius then; a group below k may be used up."""
        own = int(self._sizes[group])
        spare = np.where(self._sizes >= self._k, self._sizes - self._k, self._sizes)
        rows = np.empty(self._k - own, dtype=np.int64)
        if kernel.borrow(distance, self._labels, spare, group, len(rows), rows) < len(rows):
            return None, 0, 0
        radius = max(int(self._radii[group]), int(distance[rows].max()))
        used_up = int(((spare == 0) & (self._sizes > 0) & (self._sizes < self._k)).sum())
        saved = own * int(self._radii[group]) + int(self._radii[self._labels[rows]].sum())
        return rows, self._k * radius - saved - self._price * used_up, radius

    def _join(self, group: int, distance: Labels) -> tuple[int, int, int, int]:
        """The group to join, by how much the cost rises, and the centre and radius then: its own or the other's."""
        alive = self._sizes > 0
        alive[group] = False
        if not alive.any():
            return -1, 0, -1, 0
        theirs, mine = self._radii.copy(), np.full(len(alive), self._radii[group])
        np.maximum.at(mine, self._labels, distance)
        centres = np.ascontiguousarray(self._space.columns[:, self._centres[alive]])
        for member in np.flatnonzero(self._labels == group):
            reach = distances_in_units(self._space, centres, int(member), self._scale)
            theirs[alive] = np.maximum(theirs[alive], reach)
        own = int(self._sizes[group])
        radii = np.minimum(theirs, mine)
        rises = (self._sizes + own) * radii - self._sizes * self._radii - own * self._radii[group] - self._price
        others = np.flatnonzero(alive)
        best = int(others[np.argmin(rises[others])])
        centre = self._centres[best] if theirs[best] <= mine[best] else self._centres[group]
        return best, int(rises[best]), int(centre), int(radii[best])


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
