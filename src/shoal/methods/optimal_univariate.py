"""Optimal univariate microaggregation: the least squared error there is, for one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.points import Space
from shoal.errors import Problems, SchemaError
from shoal.kernels.cluster import optimal_univariate as kernel
from shoal.kernels.sharing import pieces
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Whole, param
from shoal.table.encode import Floats
from shoal.table.prepare import Table
from shoal.table.schema import Nominal


@dataclass(frozen=True)
class OptimalUnivariate(Method):
    """Least squared error for a single numeric or ordinal column.

    Sorted, the best groups are runs of k to 2k - 1 values; a dynamic program finds those with the least sum of squared
    differences from the group means. Missing values are a group of their own if there are at least k of them and of the
    present ones; otherwise they count as one span beyond the largest value.

    Parameters
    ----------
    k
        Smallest group size.

    Guarantee
    ---------
    Every group has at least k rows and at most 2k - 1, a group of missing values alone perhaps more. Published, every
    row has the same quasi-identifier cell as at least k - 1 others. Grouping several columns one by one in this way
    does not give k-anonymity on their combination. Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), OptimalUnivariate(k=3))
    >>> sorted(set(release.table["age"])), release.verify().k
    ([24.25, 41.333333333333336], 3)

    References
    ----------
    Hansen, Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", IEEE Transactions on Knowledge
    and Data Engineering 15(4), 2003.
    """

    name: ClassVar[str] = "optimal-univariate"
    title: ClassVar[str] = "Optimal univariate microaggregation"
    paper: ClassVar[str] = (
        "Hansen, Mukherjee, A polynomial algorithm for optimal univariate microaggregation, TKDE 2003"
    )
    complexity: ClassVar[str] = "time O(n log n + n k), memory O(n)"
    publisher: ClassVar[str] = "aggregate"
    advice: ClassVar[str] = "The optimum for exactly one numeric or ordinal quasi-identifier, for millions of rows."

    k: int = param(Whole(2), "smallest group size")

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        kinds = list(table.quasi.values())
        if len(kinds) != 1 or isinstance(kinds[0], Nominal):
            what = f"has {len(kinds)} quasi-identifiers" if len(kinds) != 1 else "has a nominal quasi-identifier"
            fix = "optimal-univariate needs exactly one, numeric or ordinal; use mdav for others"
            problems.add("schema", what, fix, error=SchemaError)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        progress.stage("grouping", task.encoded.n_rows)
        line = Space.of(task).columns[0]
        gone = np.isnan(line)
        n_gone, n_present = int(gone.sum()), int((~gone).sum())
        labels = np.zeros(len(line), dtype=np.int64)
        if n_gone >= self.k and n_present >= self.k:
            labels[~gone] = _runs(line[~gone], self.k, progress)
            labels[gone] = labels.max() + 1
            progress.advance(n_gone)
        elif n_present:
            low, high = np.nanmin(line), np.nanmax(line)
            span = high - low if high > low else 1.0
            labels = _runs(np.where(gone, high + span, line), self.k, progress)
        return Groups(labels)


def _runs(line: Floats, k: int, progress: Progress) -> Labels:
    """Labels of the best runs, numbered from the smallest values on."""
    order = np.argsort(line, kind="stable")
    values, n = line[order], len(line)
    best, begin = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    for first, last in pieces(n, 2 * k):
        kernel.best_runs(values, k, best, begin, first + 1, last + 1)
        progress.advance(last - first)
    is_first = np.zeros(n, dtype=np.int64)
    end = n
    while end > 0:
        end = begin[end]
        is_first[end] = 1
    labels = np.empty(n, dtype=np.int64)
    labels[order] = np.cumsum(is_first) - 1
    return labels
