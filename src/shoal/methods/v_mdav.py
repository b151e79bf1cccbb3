"""V-MDAV: groups that grow beyond k where the next row is near to them and far from all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.cluster.points import Free, Space
from shoal.enforce.constraints import Constraints
from shoal.kernels.cluster import v_mdav as kernel
from shoal.kernels.cluster.free_points import Index
from shoal.kernels.cluster.points import NEIGHBOUR
from shoal.kernels.sharing import in_parts
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import Real, Whole, param
from shoal.table.encode import Floats


@dataclass(frozen=True)
class VMdav(Method):
    """Variable-size microaggregation (V-MDAV).

    The row farthest from the average of the whole table forms a group with its k - 1 nearest. The group then takes the
    next nearest row for as long as it has fewer than 2k - 1 and that row is nearer to it than `gamma` times to
    any other row still free. Fewer than k left over join the group with the nearest average.

    Parameters
    ----------
    k
        Smallest group size.
    gamma
        How readily groups grow: 0 never, about 0.2 for scattered rows, about 1.1 for rows in clear clusters.

    Guarantee
    ---------
    Every group has at least k rows. Published, every row has the same quasi-identifier cells as at least k - 1 others.
    Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [20, 21, 22, 23, 60, 61, 62]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, VMdav(k=3, gamma=1.1))
    >>> sorted(set(release.table["age"])), release.verify().k
    ([21.5, 61.0], 3)

    References
    ----------
    Solanas, Martinez-Balleste, "V-MDAV: a multivariate microaggregation with variable group size", COMPSTAT 2006.
    """

    name: ClassVar[str] = "v-mdav"
    title: ClassVar[str] = "V-MDAV microaggregation with variable group size"
    paper: ClassVar[str] = (
        "Solanas, Martinez-Balleste, V-MDAV: a multivariate microaggregation with variable group size, COMPSTAT 2006"
    )
    complexity: ClassVar[str] = "time O(n^2 d), memory O(n d)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "For numeric tables with clusters of uneven size; gamma needs a try or two."

    k: int = param(Whole(2), "smallest group size")
    gamma: float = param(Real(0.0), "how readily a group grows beyond k", default=0.2)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        n_rows = task.encoded.n_rows
        progress.stage("grouping", n_rows)
        labels = np.full(n_rows, -1, dtype=np.int64)
        space = Space.of(task)
        free = Free(space, labels, Constraints.while_grouping(task, self.k))
        centre, reach = free.average(), np.empty(n_rows)
        label = 0
        while len(free) >= self.k:
            before = len(free)
            self._group(free, centre, reach, label)
            label += 1
            progress.advance(before - len(free))
        progress.advance(space.join_nearest(labels))
        return Groups(labels)

    def _group(self, free: Free, centre: Floats, reach: Floats, label: int) -> None:
        """Form one group and let it grow; `reach` is memory for how near each row is to it."""
        near, _ = free.near(free.farthest_from_average(centre), self.k)
        joined = np.ascontiguousarray(free.store.columns[:, near].T)
        free.take(near, label)
        size, growing = len(near), _Growing(free, reach)
        while self.gamma > 0.0 and size < 2 * self.k - 1 and len(free):
            place, d_in = growing.nearest(joined)
            point = free.at(place)
            d_out = free.survey(point, 2, far=False)[0]  # of two nearest, one is itself
            if len(d_out) == 2 and not math.sqrt(d_in) < self.gamma * math.sqrt(d_out[1]):
                return
            free.take(np.array([place]), label)
            joined = point[None, :]
            size += 1


class _Growing:
    """Who is nearest to any member of a group that grows."""

    def __init__(self, free: Free, reach: Floats) -> None:
        self._free, self._reach = free, reach
        self._members, self._scanned = np.empty((0, len(free.store.columns))), False
        self._nearest = np.empty(0, dtype=NEIGHBOUR)

    def nearest(self, joined: Floats) -> tuple[int, float]:
        """Place of the free row nearest to any member, of which some have just joined, and its squared distance."""
        self._members = np.concatenate([self._members, joined])
        if self._free.index is not None and self._free.searches:
            return self._search(self._free.index)
        fresh, self._scanned = not self._scanned, True
        return self._scan(self._members if fresh else joined, fresh)

    def _search(self, index: Index) -> tuple[int, float]:
        """Ask every member who is nearest to it."""
        unknown = np.zeros(len(self._members) - len(self._nearest), dtype=NEIGHBOUR)
        unknown["row"] = -1
        self._nearest = np.concatenate([self._nearest, unknown])
        best = self._nearest[kernel.nearest_to_any(self._free.store, index, self._members, self._nearest)]
        return int(self._free.store.places[best["row"]]), float(best["distance"])

    def _scan(self, joined: Floats, fresh: bool) -> tuple[int, float]:
        """Look at all that are free."""
        free, reach, rows = self._free, self._reach, self._free.store.rows

        def part(begin: int, end: int) -> Any:
            return kernel.reach_out(free.store, begin, end, joined, fresh, reach)

        places = in_parts(part, 0, len(free), len(free) * joined.size)
        place = min(places, key=lambda one: (reach[rows[one]], rows[one]))
        return place, reach[rows[place]]
