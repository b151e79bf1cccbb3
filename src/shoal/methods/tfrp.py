"""TFRP: groups around the rows farthest from two fixed corners of the table, in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.changing_groups import Clusters
from shoal.cluster.points import Free, Space
from shoal.enforce.constraints import Constraints
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Whole, param
from shoal.table.encode import Floats


@dataclass(frozen=True)
class Tfrp(Method):
    """Two fixed reference points (TFRP).

    One reference point has the smallest value of every column, the other the largest. In turn, the row farthest from
    the one and from the other forms a group with its k - 1 nearest. Fewer than k left over join the group with the
    nearest average.

    Parameters
    ----------
    k
        Smallest group size.
    variant
        1: the groups as they were formed. 2: afterwards groups are dissolved, those with the largest squared error
        first, where sending the members to the nearest other groups lowers the squared error.

    Guarantee
    ---------
    Every group has at least k rows. Published, every row has the same quasi-identifier cells as at least k - 1 others.
    Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), Tfrp(k=3))
    >>> sorted(set(release.table["age"])), release.verify().k
    ([24.25, 41.333333333333336], 3)

    References
    ----------
    Chang, Li, Huang, "TFRP: an efficient microaggregation algorithm for statistical disclosure control", Journal of
    Systems and Software 80(11), 2007.
    """

    name: ClassVar[str] = "tfrp"
    title: ClassVar[str] = "TFRP microaggregation with two fixed reference points"
    paper: ClassVar[str] = (
        "Chang, Li, Huang, TFRP: an efficient microaggregation algorithm for statistical disclosure control, 2007"
    )
    complexity: ClassVar[str] = "time O(n^2 d / k), memory O(n d)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "Close to MDAV in time and loss; variant 2 improves on it where groups may grow beyond 2k."

    k: int = param(Whole(2), "smallest group size")
    variant: int = param(Whole(1, 2), "1: groups as formed; 2: dissolved where that helps", default=2)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        progress.stage("grouping", task.encoded.n_rows)
        labels = np.full(task.encoded.n_rows, -1, dtype=np.int64)
        space, constraints = Space.of(task), Constraints.of(task)
        free, corners = Free(space, labels, Constraints.while_grouping(task, self.k)), _corners(space)
        label = 0
        while len(free) >= self.k:
            before = len(free)
            free.take_near(free.farthest(corners[label % 2]), self.k, label)
            label += 1
            progress.advance(before - len(free))
        progress.advance(space.join_nearest(labels))
        if self.variant == 1:
            return Groups(labels)
        clusters = Clusters(space, labels, constraints)
        progress.stage("improving", len(clusters.members))
        for group in np.argsort(-clusters.errors, kind="stable"):
            clusters.dissolve(int(group))
            progress.advance(1)
        return Groups(clusters.labels())


def _corners(space: Space) -> tuple[Floats, Floats]:
    """The smallest and the largest value of every column; of a nominal one, the first and the last in its tree."""
    # Both pass over NaN, and give it only where nothing else is.
    return np.fmin.reduce(space.columns, axis=1), np.fmax.reduce(space.columns, axis=1)
