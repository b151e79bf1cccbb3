"""Many groups at once: which rows they have, and what their average records are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.kernels.cluster.points import NAME, NUMBER
from shoal.machine.threads import side_by_side
from shoal.methods.groups import Labels
from shoal.table.encode import Floats
from shoal.table.numbering import sorted_rows

if TYPE_CHECKING:
    from shoal.cluster.points import Space


@dataclass(frozen=True)
class Members:
    """The rows of some groups, one group after the other."""

    rows: Labels
    sizes: Labels

    @classmethod
    def of(cls, groups: Sequence[Labels]) -> Members:
        """Lay groups out; each has a row at least."""
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *groups])
        return cls(rows, np.array([len(rows) for rows in groups], dtype=np.int64))

    @classmethod
    def of_labels(cls, labels: Labels) -> Members:
        """Lay out the groups of a partition, none of which is empty; rows with the label -1 are in none."""
        order = sorted_rows(labels + 1)
        return cls(order[np.count_nonzero(labels < 0) :], np.bincount(labels[labels >= 0]))

    @cached_property
    def owner(self) -> Labels:
        """Group of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def count(self, which: npt.NDArray[np.bool_]) -> Labels:
        """How many of some rows each group has."""
        return np.bincount(self.owner[which], minlength=len(self.sizes))

    def n_distinct(self, values: Floats) -> Labels:
        """How many different values each group has."""
        values, owner = _in_order(values, self.owner)
        return np.bincount(owner[_begins(values, owner)], minlength=len(self.sizes))


def averages_of(space: Space, members: Members) -> Floats:
    """Average record of every group: mean, lower median, mode; missing where more than half of its values are.

    The same as `kernels.cluster.points.average_of`, to the last bit, for all groups at once, with nothing compiled.
    """
    members.owner  # noqa: B018  known before threads ask for it
    cells = len(members.rows) * len(space.columns)
    found = side_by_side(lambda one: _average(*one, members), zip(space.axes, space.columns, strict=True), cells)
    averages = np.empty((len(members.sizes), len(space.columns)))
    for j, average in enumerate(found):
        averages[:, j] = average
    return averages


def _average(axis: np.void, column: Floats, members: Members) -> Floats:
    """Average of one column in every group."""
    values = column[members.rows]
    there = ~np.isnan(values)
    values, owner, present = values[there], members.owner[there], members.count(there)
    if axis["kind"] == NUMBER:
        total = np.zeros(len(present), dtype=np.int64)
        np.add.at(total, owner, np.rint(values * axis["grid"]).astype(np.int64))
        found = total.astype(np.float64) / np.maximum(present, 1) / axis["grid"]
    else:
        values, owner = _in_order(values, owner) if len(present) > 1 else (np.sort(values), owner)
        begin = np.cumsum(present) - present
        some, found = present > 0, np.full(len(present), np.nan)
        middle = (begin + (present - 1) // 2)[some]
        found[some] = values[_modes(values, owner) if axis["kind"] == NAME else middle]
    return np.where(2 * (members.sizes - present) > members.sizes, np.nan, found)


def _in_order(values: Floats, owner: Labels) -> tuple[Floats, Labels]:
    """Values in rising order within their groups, and the groups of them."""
    order = np.lexsort((values, owner))
    return values[order], owner[order]


def distances_to(space: Space, columns: Floats, points: Floats) -> Floats:
    """Squared distances of points to one point, or to one each, summed column by column.

    The same as `kernels.cluster.points.fill`, to the last bit.
    """
    distance = np.zeros(columns.shape[1])
    for j, column in enumerate(columns):
        point, axis = points.T[j], space.axes[j]
        if axis["kind"] == NAME:
            distance += column != point
        else:
            t = column - point
            apart = np.where(np.isnan(column) & np.isnan(point), 0.0, axis["gap"])
            distance += np.where(np.isnan(t), apart, t * t * axis["weight"])
    return distance


def _modes(values: Floats, owner: Labels) -> Labels:
    """Place of the most frequent value of each group that has one, the lowest of those that tie.

    Values are in rising order within their group.
    """
    begin = np.flatnonzero(_begins(values, owner))
    often = np.diff(np.append(begin, len(values)))
    order = np.lexsort((-often, owner[begin]))
    first = np.diff(owner[begin][order], prepend=-1) != 0
    places: Labels = begin[order[first]]
    return places


def _begins(values: Floats, owner: Labels) -> npt.NDArray[np.bool_]:
    """Where another value begins, of values in order within groups in order."""
    begins: npt.NDArray[np.bool_] = (np.diff(values, prepend=np.nan) != 0.0) | (np.diff(owner, prepend=-1) != 0)
    return begins
