"""CAAT: grow a group around a tuple, then start the next one far away from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.free_rows import (
    bring_forward,
    check_start,
    cost_table_of,
    empty_group,
    free_rows,
    summaries,
    with_keys,
)
from shoal.cluster.row_index import indexed
from shoal.enforce.constraints import Constraints
from shoal.errors import Problems
from shoal.kernels.cluster import caat as kernel
from shoal.kernels.cluster.free_rows import FreeRows
from shoal.kernels.cluster.store import GAP, HULL, MEAN_COST, MIDPOINT, Group
from shoal.kernels.sharing import shared
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, OneOf, Whole, param
from shoal.table.prepare import Table

FARTHEST = -1
"""Where the next group starts: at the free tuple farthest from the one before."""
INTERVALS = {"mean_cost": MEAN_COST, "hull": HULL, "gap": GAP, "midpoint": MIDPOINT}


@dataclass(frozen=True)
class Caat(Method):
    """Clustering by the distance of a tuple to a class (CAAT).

    A group grows from a start tuple by the tuple nearest to its generalised tuple, until it has k; the next group
    starts at the tuple farthest from the one just closed. Fewer than k left over join the nearest group.

    Parameters
    ----------
    k
        Smallest group size.
    interval
        How far a number is from a group's interval. The paper leaves this open; ``"mean_cost"`` is the exact analogue
        of its categorical distance, ``"hull"`` the width after joining, ``"gap"`` the distance to the nearest end,
        ``"midpoint"`` the distance to the middle.
    ties
        ``"one"``: one tuple at a time, the first in row order, so that every group has fewer than 2k rows.
        ``"all"``: as printed in the paper, every tuple at the smallest distance at once; groups can then grow large.
    start
        Row position (from 0) of the first start tuple; drawn with the seed when not given.

    Guarantee
    ---------
    Every group has at least k rows, and at most 2k - 1 with ``ties="one"``. Published by `Generalize`, every row has
    the same quasi-identifier cells as at least k - 1 others. Nothing is promised about sensitive values: all rows of a
    group may share one. The result depends on the start tuple.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), Caat(k=3, start=0))
    >>> release.verify().k
    3

    References
    ----------
    Jiang Huowen, "Clustering-anonymity method for data-publishing privacy preservation" (CAAT).
    """

    name: ClassVar[str] = "caat"
    title: ClassVar[str] = "CAAT clustering by tuple-class distance"
    paper: ClassVar[str] = "Jiang, Clustering-anonymity method for data-publishing privacy preservation"
    complexity: ClassVar[str] = "time nearly linear in n on ordinary data, O(n^2 d) at worst; memory O(n d)"
    advice: ClassVar[str] = "Low loss on mixed data, also on large tables; the result depends on the start tuple."

    k: int = param(Whole(2), "smallest group size")
    interval: str = param(OneOf(tuple(INTERVALS)), "distance of a number to an interval", default="mean_cost")
    ties: str = param(OneOf(("one", "all")), "how many tuples at equal distance join at once", default="one")
    start: int | None = param(
        Maybe(Whole(0)), "row position of the first start tuple; drawn when not given", default=None
    )

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        check_start(self, self.start, table, problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        encoded = task.encoded
        n_rows, reading = encoded.n_rows, INTERVALS[self.interval]
        progress.stage("grouping", n_rows)
        start_row = int(rng.integers(n_rows)) if self.start is None else self.start
        constraints = Constraints.while_grouping(task, self.k)
        store = free_rows(encoded, *constraints.store_keys())
        growth = constraints.growth(len(store.codes) - 1, constraints.planned)
        cost_table = with_keys(cost_table_of(encoded, reading, divisor=encoded.n_columns), constraints.n_keys)
        all_ties = self.ties == "all"
        store, index = indexed(store, encoded, cost_table)
        seed = bring_forward(store, start_row)
        free = FreeRows(store, cost_table, encoded.forest, self.k, index)
        share = shared(n_rows * encoded.n_columns)
        labels, members = np.full(n_rows, -1, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        groups: list[Group] = []
        group = empty_group(encoded)
        n_left, least = n_rows, constraints.least(self.k)
        while n_left >= least or (n_left >= self.k and not groups):
            size = kernel.grow(free, group, growth, share, seed, members, 0, 1 if all_ties else n_rows)
            if all_ties:
                size = kernel.take_ties(free, group, growth, share, members)
                size = kernel.grow(free, group, growth, share, seed, members, size, n_rows)
            labels[members[:size]] = len(groups)
            groups.append(Group(*(part.copy() for part in group)))
            n_left, seed = n_left - size, FARTHEST
            progress.advance(size)
        leftovers = np.flatnonzero(labels < 0)
        if len(leftovers):
            cells = (encoded.lines, encoded.codes)
            kernel.place_leftovers(*cells, leftovers, summaries(groups), cost_table, encoded.forest, labels)
        progress.advance(len(leftovers))
        return Groups(labels)
