"""CBFS: one group of k at a time, around the row farthest from the average of those left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.points import Free, Space
from shoal.enforce.constraints import Constraints
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Whole, param


@dataclass(frozen=True)
class Cbfs(Method):
    """Centroid-based fixed-size microaggregation (CBFS).

    While 2k rows are left, the row farthest from their average forms a group with its k - 1 nearest; the rest is one
    group.

    Parameters
    ----------
    k
        Smallest group size.

    Guarantee
    ---------
    Every group has k rows, the last one up to 2k - 1. Published, every row has the same quasi-identifier cells as at
    least k - 1 others. Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), Cbfs(k=3))
    >>> sorted(set(release.table["age"])), release.verify().k
    ([24.25, 41.333333333333336], 3)

    References
    ----------
    Laszlo, Mukherjee, "Minimum spanning tree partitioning algorithm for microaggregation", IEEE Transactions on
    Knowledge and Data Engineering 17(7), 2005.
    """

    name: ClassVar[str] = "cbfs"
    title: ClassVar[str] = "CBFS centroid-based fixed-size microaggregation"
    paper: ClassVar[str] = (
        "Laszlo, Mukherjee, Minimum spanning tree partitioning algorithm for microaggregation, TKDE 2005"
    )
    complexity: ClassVar[str] = "time O(n^2 d / k), memory O(n d)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "Like MDAV with one group a round: often a little less loss, a little more time."

    k: int = param(Whole(2), "smallest group size")

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        progress.stage("grouping", task.encoded.n_rows)
        labels = np.full(task.encoded.n_rows, -1, dtype=np.int64)
        space = Space.of(task)
        free, label = Free(space, labels, Constraints.while_grouping(task, self.k)), 0
        while len(free) >= 2 * self.k:
            before = len(free)
            free.take_farthest(self.k, label)
            label += 1
            progress.advance(before - len(free))
        if len(free) >= self.k or not label:  # groups that grew may leave too few
            progress.advance(free.take_rest(label))
        progress.advance(space.join_nearest(labels))
        return Groups(labels)
