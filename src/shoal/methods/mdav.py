"""MDAV: groups of k around the rows farthest from the average, two at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from shoal.cluster.points import Free, Space
from shoal.enforce.constraints import Constraints
from shoal.kernels.cluster import mdav as kernel
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import OneOf, Whole, param

ROUNDS = 16
"""Rounds between two looks at the clock, and at whether the work is to stop."""


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
    complexity: ClassVar[str] = "time O(n^2 d / k), memory O(n d)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "The standard for numeric tables: low squared error, groups of k, up to some 100,000 rows."

    k: int = param(Whole(2), "smallest group size")
    leftover: str = param(OneOf(("generic", "assign")), "what happens to the last rows", default="generic")

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        space = Space.of(task)
        progress.stage("grouping", task.encoded.n_rows)
        labels = np.full(task.encoded.n_rows, -1, dtype=np.int64)
        free = Free(space, labels, Constraints.of(task))
        (generic if self.leftover == "generic" else assign)(free, self.k, progress)
        progress.advance(space.join_nearest(labels))
        return Groups(labels)


def generic(free: Free, k: int, progress: Progress) -> None:
    """Group all points, as MDAV-generic does."""
    label = take_pairs(free, k, 3 * k, progress)
    if len(free) >= 2 * k:
        free.take_near(free.farthest_from_average(), k, label)
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
    while len(free) >= least and free.constraints.any:  # groups may become larger, and pass rows over
        left, r = len(free), free.farthest_from_average()
        free.take_near(r, k, label)
        if len(free) >= k:
            free.take_near(free.farthest(r), k, label + 1)
        label = int(free.labels.max()) + 1
        progress.advance(left - len(free))
    while len(free) >= least:
        cells = len(free) * len(free.store.columns)
        trial = free.tuner.shares(cells) and not free.tuner.proven  # on a busy machine one is costly enough
        n_pairs = 1 if trial else min(ROUNDS, (len(free) - least) // (2 * k) + 1)
        round_ = partial(kernel.take_pairs, free.axes, free.store, free.distance_order, k, label, n_pairs)
        alone, shared = partial(round_, False, free.labels), partial(round_, True, free.labels)
        free.tuner.run(cells, alone, shared, times=2 * n_pairs)
        label += 2 * n_pairs
        progress.advance(2 * k * n_pairs)
    return label
