"""DBA: the densest neighbourhood first, then groups that are better dissolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shoal.cluster.changing_groups import Clusters
from shoal.cluster.point_index import SEARCH, note_work, order_of, with_own_room
from shoal.cluster.points import Free, Space
from shoal.enforce.constraints import Constraints
from shoal.kernels.cluster import dba as kernel
from shoal.kernels.cluster.points import NEIGHBOUR
from shoal.kernels.index.boxes import BLOCK
from shoal.kernels.index.points import PointIndex
from shoal.kernels.index.reaches import NOWHERE, Reaches, Targets, set_all
from shoal.kernels.sharing import in_parts, piece_of
from shoal.methods import mdav
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels, members_of
from shoal.progress import SILENT, Progress
from shoal.spec import Whole, param

Neighbourhoods = npt.NDArray[np.void]
AT_ONCE = 512
"""After so many searches, or groups, somebody who wants to stop is heard."""


@dataclass(frozen=True)
class Dba(Method):
    """Density-based microaggregation (DBA).

    The k-neighbourhood of a row is the row and its k - 1 nearest among those still free; it is the denser, the smaller
    its squared error. The densest neighbourhood becomes a group, again and again. Fewer than k left over join the
    nearest groups.

    Parameters
    ----------
    k
        Smallest group size.
    variant
        1: the groups as they were formed. 2: afterwards groups are dissolved, the last formed first, where sending
        the members to the nearest other groups lowers the squared error; groups of 2k or more are then split by MDAV.

    Guarantee
    ---------
    Every group has at least k rows. Published, every row has the same quasi-identifier cells as at least k - 1 others.
    Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), Dba(k=3))
    >>> sorted(set(release.table["age"])), release.verify().k
    ([22.666666666666668, 38.25], 3)

    References
    ----------
    Lin, Wen, Hsieh, Chang, "Density-based microaggregation for statistical disclosure control", Expert Systems with
    Applications 37(4), 2010.
    """

    name: ClassVar[str] = "dba"
    title: ClassVar[str] = "DBA density-based microaggregation"
    paper: ClassVar[str] = (
        "Lin, Wen, Hsieh, Chang, Density-based microaggregation for statistical disclosure control, 2010"
    )
    complexity: ClassVar[str] = "time far below O(n^2 d k) in few dimensions, which is its worst; memory O(n d)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "Variant 2 often loses least on clustered numeric tables, up to some 300,000 rows."

    k: int = param(Whole(2), "smallest group size")
    variant: int = param(Whole(1, 2), "1: groups as formed; 2: dissolved and split where that helps", default=2)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        n_rows = task.encoded.n_rows
        labels = np.full(n_rows, -1, dtype=np.int64)
        space, constraints = Space.of(task), Constraints.of(task)
        _form(Free(space, labels, Constraints.while_grouping(task, self.k), alone=True), self.k, progress)
        clusters = Clusters(space, labels, constraints)
        for row in np.flatnonzero(labels < 0):
            clusters.add(int(row))
            progress.advance(1)
        if self.variant == 2:
            progress.stage("improving", len(clusters.members))
            for group in reversed(range(len(clusters.members))):
                clusters.dissolve(group)
                progress.advance(1)
        labels = clusters.labels()
        if self.variant == 2:
            _split_large(space, labels, self.k, constraints)
        return Groups(labels)


def _form(free: Free, k: int, progress: Progress) -> None:
    """Group densest neighbourhoods until fewer than k rows are free."""
    n_rows = len(free)
    around = np.empty(n_rows, dtype=kernel.NEIGHBOURHOOD)
    progress.stage("measuring density", n_rows)
    order = np.arange(n_rows) if free.index is None else order_of(free.index)
    begin = 0
    while begin < n_rows:
        end = min(n_rows, begin + (AT_ONCE if free.searches else piece_of(free.cells)))
        _measure(free, order[begin:end], k, around)
        progress.advance(end - begin)
        begin = end
    progress.stage("grouping", n_rows)
    label = _take_by_tree(free, k, around, progress)
    while len(free) >= k:
        _take_densest(free, k, around, label)
        label += 1
        progress.advance(k)


def _take_by_tree(free: Free, k: int, around: Neighbourhoods, progress: Progress) -> int:
    """Group densest neighbourhoods as long as a tree of boxes finds them; how many."""
    index, store, label = free.index, free.store, 0
    if index is None or not free.searches:
        return label
    densities = _densities(index, around)
    near, gone = np.empty(k, dtype=NEIGHBOUR), _targets(k, len(store.columns))
    while len(free) >= k and free.searches:
        n_free = len(free)
        if free.constraints.any:
            row = kernel.densest(store, index, densities, near)
            places = free.near(free.at(store.places[row]), k)[0]
            gone = gone if len(gone.rows) >= len(places) else _targets(len(places), len(store.columns))
            free.spend(places)
            kernel.part(store, index, densities, places, gone, label)
            label += 1
        else:
            label += kernel.take_densest(store, index, densities, near, gone, label, AT_ONCE)
        progress.advance(n_free - len(free))
    left = np.flatnonzero(store.places >= 0)
    if len(left) >= k:
        _measure(free, store.places[left[around["radius"][left] == NOWHERE]], k, around)
    return label


def _targets(n: int, n_columns: int) -> Targets:
    """Room for so many points that leave."""
    low, high = np.empty((2, n_columns))
    rows, words = np.empty(n, dtype=np.int64), np.empty(n_columns, dtype=np.int64)
    return Targets(np.empty((n, n_columns)), rows, low, high, words)


def _densities(index: PointIndex, around: Neighbourhoods) -> kernel.Densities:
    """All points, the densest neighbourhood first."""
    reaches = Reaches(around, np.empty((len(index.tree.boxes), BLOCK)))
    set_all(index, reaches)
    heap, n_rows = np.argsort(around["error"], kind="stable"), len(around)
    places, found = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    places[heap] = np.arange(n_rows)
    return kernel.Densities(reaches, heap, places, np.array([n_rows]), found, np.empty(1, dtype=np.int64))


def _take_densest(free: Free, k: int, around: Neighbourhoods, label: int) -> None:
    """Group the densest neighbourhood, then measure those anew who lost a neighbour by it."""
    rows = free.store.rows[: len(free)]
    errors = around["error"][rows]
    densest = np.flatnonzero(errors == errors.min())
    near = _neighbours(free, int(densest[np.argmin(rows[densest])]), k, around)
    gone, gone_rows = np.ascontiguousarray(free.store.columns[:, near].T), free.store.rows[near]
    free.take(near, label)
    if len(free) >= k:
        lost = np.zeros(len(free), dtype=np.bool_)
        kernel.find_bereft(free.store, gone, gone_rows, around, lost)
        _measure(free, np.flatnonzero(lost), k, around)


def _neighbours(free: Free, place: int, k: int, around: Neighbourhoods) -> Labels:
    """Places of a point and its k - 1 nearest; of more, or of others, if promises need that."""
    if free.constraints.any:
        return free.near(free.at(place), k)[0]
    near = np.empty(k, dtype=NEIGHBOUR)  # the kernel that is at work already finds them: one less to compile
    kernel.density(free.store, None, np.array([place]), near, around)
    return near["place"]


def _measure(free: Free, places: Labels, k: int, around: Neighbourhoods) -> None:
    """Measure the neighbourhoods of some points, on all cores where they are many."""

    def part(begin: int, end: int) -> PointIndex | None:
        mine = None if index is None else with_own_room(index)
        kernel.density(free.store, mine, places[begin:end], np.empty(k, dtype=NEIGHBOUR), around)
        return mine

    index = free.index if free.searches else None
    parts = in_parts(part, 0, len(places), len(places) * (free.cells if index is None else SEARCH))
    if index is not None:
        note_work(index, parts)


def _split_large(space: Space, labels: Labels, k: int, constraints: Constraints) -> None:
    """Split groups of 2k rows or more by MDAV, if the parts keep what is promised; leftovers join the nearest part."""
    members = members_of(labels)
    n_groups = len(members)
    for group, rows in enumerate(members):
        if len(rows) < 2 * k:
            continue
        part, inside = space.part(rows), np.full(len(rows), -1, dtype=np.int64)
        mdav.assign(Free(part, inside), k)
        part.join_nearest(inside)
        if constraints.violations_of([rows[places] for places in members_of(inside)]).any():
            continue
        labels[rows] = np.where(inside == 0, group, n_groups + inside - 1)
        n_groups += int(inside.max())
