"""MDAV: groups of k around the rows farthest from the average, two at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.points import Free, Space
from shoal.enforce.constraints import Constraints
from shoal.kernels.cluster import mdav as kernel
from shoal.kernels.sharing import piece_of
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import OneOf, Whole, param


@dataclass(frozen=True)
class Mdav(Method):
    """Maximum distance to average vector (MDAV).

    In every round the row farthest from the average of those left, and the row farthest from that one, each form a
    group with their k - 1 nearest.

    Parameters
    ----------
    k
        Smallest group size.
    leftover
        ``"generic"``: rounds while 3k rows are left; of the last ones, k form a group around the row farthest from
        their average, the rest another. ``"assign"``: rounds while 2k rows are left; if fewer than k remain, each
        joins the group with the nearest average.

    Guarantee
    ---------
    Every group has at least k rows; with ``leftover="generic"`` at most 2k - 1. Published, every row has the same
    quasi-identifier cells as at least k - 1 others. Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric(), "salary": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, Mdav(k=2))
    >>> sorted(set(release.table.rows())), release.verify().k
    ([(27.0, 70.0), (37.0, 115.0)], 2)

    References
    ----------
    Domingo-Ferrer, Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation", Data Mining
    and Knowledge Discovery 11(2), 2005.
    """

    name: ClassVar[str] = "mdav"
    title: ClassVar[str] = "MDAV microaggregation"
    paper: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, 2005"
    )
    complexity: ClassVar[str] = "time far below O(n^2 d / k) in few dimensions, which is its worst; memory O(n d)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "The standard for numeric tables: low squared error, groups of k; slow above 300,000 rows."

    k: int = param(Whole(2), "smallest group size")
    leftover: str = param(OneOf(("generic", "assign")), "what happens to the last rows", default="generic")

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        space = Space.of(task)
        progress.stage("grouping", task.encoded.n_rows)
        labels = np.full(task.encoded.n_rows, -1, dtype=np.int64)
        free = Free(space, labels, Constraints.while_grouping(task, self.k))
        (generic if self.leftover == "generic" else assign)(free, self.k, progress)
        progress.advance(space.join_nearest(labels))
        return Groups(labels)


def generic(free: Free, k: int, progress: Progress) -> None:
    """Group all points, as MDAV-generic does."""
    label = take_pairs(free, k, 3 * k, progress)
    if len(free) >= 2 * k:
        free.take_farthest(k, label)
        label += 1
        progress.advance(k)
    if len(free) < k and label:  # groups that grew left too few
        return
    progress.advance(free.take_rest(label))


def assign(free: Free, k: int, progress: Progress = SILENT) -> None:
    """Group points k by k; fewer than k that remain stay free."""
    label = take_pairs(free, k, 2 * k, progress)
    if len(free) >= k:
        progress.advance(free.take_rest(label))


def take_pairs(free: Free, k: int, least: int, progress: Progress) -> int:
    """Take pairs of groups while so many points are free; the next label.

    Each round: a group around r, the farthest from the average, and one around s, the farthest from r.
    """
    label = 0
    while len(free) >= least:
        left = len(free)
        if free.plain:
            n_pairs = min(piece_of(2 * free.cells), (left - least) // (2 * k) + 1)
            kernel.take_groups(free.store, free.index, free.distance_order, k, label, 2 * n_pairs, True)
            label += 2 * n_pairs
        else:
            label = _take_pair(free, k, label)
        progress.advance(left - len(free))
    return label


def _take_pair(free: Free, k: int, label: int) -> int:
    """Take one pair of groups, which may become larger than k, and pass rows over; the next label."""
    r = free.farthest_from_average()
    near, far = free.near(r, k, far=True)
    s = None if far in near else free.at(far)
    free.take(near, label)
    if len(free) < k:
        return label + 1
    free.take_near(free.farthest(r) if s is None else s, k, label + 1)
    return label + 2
