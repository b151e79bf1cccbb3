"""OKA: one pass of k-means, then an adjustment that brings every group to k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.centroids import Centroids, check_seeds, draw_seeds
from shoal.errors import Problems
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, OneOf, Several, Whole, param
from shoal.table.encode import Encoded
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Oka(Method):
    """One-pass k-means (OKA).

    Of n rows, floor(n/k) are drawn, and each starts a group. The others, one after the other, join the group with the
    nearest centroid, which moves at once. Groups above k then give their farthest rows away, first to groups below k.

    Parameters
    ----------
    k
        Smallest group size.
    centroid
        The centroid of a nominal column: ``"lca"``, the lowest common node of the members' values; ``"mode"``, the most
        frequent one. Of a number or a rank it is the mean.
    order
        In which order the pass takes the rows: ``"sorted"`` by their quasi-identifiers, or ``"file"``, as they come.
    seeds
        Row positions (from 0) that the groups start at, floor(n/k) of them; drawn when not given. With them nothing is
        drawn: rows given away are placed in the order in which they were taken out.

    Guarantee
    ---------
    Every group has at least k rows. Published by `Generalize`, every row has the same quasi-identifier cells as at
    least k - 1 others. Nothing is promised about sensitive values: all rows of a group may share one.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [1, 2, 3, 10, 11, 12, 20]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), Oka(k=3, seeds=[0, 6]))
    >>> sorted(set(release.table["age"])), release.verify().k
    (['[1, 20]', '[2, 11]'], 3)

    References
    ----------
    Lin, Wei, "An efficient clustering method for k-anonymization", PAIS 2008.
    """

    name: ClassVar[str] = "oka"
    title: ClassVar[str] = "OKA, one-pass k-means"
    paper: ClassVar[str] = "Lin, Wei, An efficient clustering method for k-anonymization, PAIS 2008"
    complexity: ClassVar[str] = "time nearly linear in n in few dimensions, O(n^2 d / k) at worst; memory O(n d)"
    advice: ClassVar[str] = "Fast on large mixed tables, at more loss than k-member; the result depends on the draw."

    k: int = param(Whole(2), "smallest group size")
    centroid: str = param(OneOf(("lca", "mode")), "the centroid of a nominal column", default="lca")
    order: str = param(OneOf(("sorted", "file")), "the order in which rows are assigned", default="sorted")
    seeds: tuple[int, ...] | None = param(
        Maybe(Several(Whole(0))), "row positions that the groups start at; drawn when not given", default=None
    )

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        check_seeds(self, self.seeds, table, problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        encoded = task.encoded
        n_rows = encoded.n_rows
        seeds, rank = draw_seeds(self.seeds, n_rows, self.k, rng)
        progress.stage("grouping", n_rows)
        centroids = Centroids(encoded, len(seeds), lca=self.centroid == "lca")
        labels = centroids.start_at(seeds)
        rows = np.arange(n_rows) if self.order == "file" else _sorted(encoded)
        rows = rows[labels[rows] < 0]
        sizes = np.ones(len(seeds), dtype=np.int64)
        centroids.place(rows, labels, sizes, self.k, moving=True, closing=False, progress=progress)
        progress.stage("adjusting")
        centroids.adjust(labels, self.k, rank)
        return Groups(labels)


def _sorted(encoded: Encoded) -> Labels:
    """Rows by their quasi-identifiers: numbers by value, categories from left to right, missing ones last."""
    keys = [
        encoded.codes[slot] if is_tree else encoded.lines[slot]
        for is_tree, slot in zip(encoded.is_tree, encoded.slot, strict=True)
    ]
    return np.lexsort(keys[::-1])
