"""Groups of points that can still change, with their averages and squared errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.cluster.point_index import indexed_centres, pays
from shoal.cluster.points import Space
from shoal.enforce.constraints import NO_CONSTRAINTS, Constraints
from shoal.kernels.cluster import points as kernel
from shoal.kernels.index.centres import nearest_indexed
from shoal.kernels.index.points import leave, move
from shoal.methods.groups import Labels, members_of
from shoal.table.encode import Floats


class Clusters:
    """Groups that can still change, with their averages and squared errors.

    Parameters
    ----------
    space
        The points.
    labels
        A label per row, -1 for rows in no group yet.
    constraints
        What every group is to keep besides its size.
    """

    def __init__(self, space: Space, labels: Labels, constraints: Constraints = NO_CONSTRAINTS) -> None:
        self._space, self._constraints = space, constraints
        self.members = members_of(labels)
        self._centres = np.empty((len(self.members), len(space.columns)))
        self.errors = np.empty(len(self.members))
        self._open: npt.NDArray[np.bool_] = np.ones(len(self.members), dtype=np.bool_)
        self._n_open = len(self.members)
        for group in range(len(self.members)):
            self.errors[group] = self._measure(self.members[group], self._centres[group])
        self._index = indexed_centres(space.axes, space.columns, self._centres)

    def add(self, row: int) -> None:
        """Send one row to the group with the nearest average, which then moves."""
        rows = np.array([row])
        self._change(self._nearest(rows), rows)

    def dissolve(self, group: int) -> bool:
        """Send every member of a group to the nearest other one if the squared error falls by it; say whether."""
        if self._n_open < 2:
            return False
        self._open[group] = False
        rows = self.members[group]
        targets = self._nearest(rows, group)
        touched = np.unique(targets)
        centre = np.empty(len(self._space.columns))
        joined = [self._joined(one, rows[targets == one]) for one in touched]
        after = [self._measure(both, centre) for both in joined]
        lower = math.fsum(after) < math.fsum([self.errors[group], *self.errors[touched]])
        if not lower or self._constraints.violations_of(joined).any():
            self._open[group] = True
            return False
        self._change(targets, rows)
        self.members[group] = rows[:0]
        self._n_open -= 1
        if self._index is not None:
            leave(self._index, group)
        return True

    def labels(self) -> Labels:
        """A label per row; groups keep their order, those that are gone leave no hole."""
        labels = np.full(self._space.columns.shape[1], -1, dtype=np.int64)
        label = 0
        for rows in self.members:
            labels[rows] = label
            label += len(rows) > 0
        return labels

    def _nearest(self, rows: Labels, but: int = -1) -> Labels:
        """Nearest of the open groups, but for one that may be among them in the tree."""
        nearest, space = np.empty(len(rows), dtype=np.int64), self._space
        if self._index is None:
            kernel.nearest_groups(space.axes, space.columns, rows, self._centres, self._open, nearest)
        else:
            nearest_indexed(self._index, space.columns, rows, but, nearest)
            self._index = self._index if pays(self._index) else None
        return nearest

    def _change(self, targets: Labels, rows: Labels) -> None:
        for group in np.unique(targets):
            self.members[group] = self._joined(group, rows[targets == group])
            self.errors[group] = self._measure(self.members[group], self._centres[group])
            if self._index is not None:
                move(self._index, group, self._centres[group])

    def _joined(self, group: int, rows: Labels) -> Labels:
        return np.sort(np.concatenate([self.members[group], rows]))

    def _measure(self, rows: Labels, centre: Floats) -> Any:
        return kernel.error_of(self._space.axes, self._space.columns, rows, centre)
