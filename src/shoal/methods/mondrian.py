"""Mondrian: cut the space of quasi-identifiers at medians for as long as k rows stay on each side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.space import space_of
from shoal.enforce.constraints import Constraints
from shoal.kernels.cluster import mondrian as kernel
from shoal.kernels.sharing import in_parts
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import OneOf, Whole, YesNo, param


@dataclass(frozen=True)
class Mondrian(Method):
    """Multidimensional median cuts (Mondrian).

    The whole table is one part. A part is cut in the column where it is widest and a cut is allowed, at the median of
    a number or an order, into the children of a node along a tree; a part that cannot be cut is a group.

    Parameters
    ----------
    k
        Smallest group size.
    strict
        True: rows with equal values stay on one side, so regions never overlap. False: rows equal to the median are
        dealt out in row order, so that every group has fewer than 2k rows; trees are then cut by their leaf order.
    width
        ``"true"``: a part is as wide as its rows spread. ``"box"``: a part inherits the box of its parent's cut and
        is measured anew only in the columns that are tried, as a widely used implementation does.
    nominal
        ``"tree"``: cut along the hierarchy. ``"order"``: cut at the median of the leaf order, which fits sets of
        values better than trees.

    Guarantee
    ---------
    Every group has at least k rows; with ``strict=False`` at most 2k - 1. Published by `Generalize`, every row has the
    same quasi-identifier cells as at least k - 1 others. Nothing is promised about sensitive values.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), Mondrian(k=3))
    >>> sorted(set(release.table["age"])), release.verify().k
    (['[21, 25]', '[29, 60]'], 3)

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
    """

    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "Mondrian multidimensional median cuts"
    paper: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006"
    complexity: ClassVar[str] = "time O(n log n d), memory O(n d)"
    advice: ClassVar[str] = "The fast choice for millions of rows; loses more than clustering does."

    k: int = param(Whole(2), "smallest group size")
    strict: bool = param(YesNo(), "whether equal values stay on one side of a cut", default=True)
    width: str = param(
        OneOf(("true", "box")), "how the width of a part is measured when the column to cut is chosen", default="true"
    )
    nominal: str = param(
        OneOf(("tree", "order")),
        "whether a nominal column is cut along its hierarchy or along an order",
        default="tree",
    )

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:  # noqa: ARG002
        """Form the equivalence classes."""
        encoded = task.encoded
        n_rows = encoded.n_rows
        progress.stage("grouping", n_rows)
        space = space_of(encoded, along_trees=self.strict and self.nominal == "tree")
        order, spare = np.arange(n_rows), np.empty(n_rows, dtype=np.int64)
        scratch, sizes = np.empty(n_rows), np.empty(n_rows, dtype=np.int64)
        labels = np.full(n_rows, -1, dtype=np.int64)
        low, high = space.points.min(axis=0)[None, :], space.points.max(axis=0)[None, :]
        parts = np.zeros(1, dtype=kernel.PART)
        parts["last"] = n_rows
        level = kernel.Level(parts, low.copy(), high.copy())
        needs = Constraints.while_grouping(task, self.k).promised
        while len(level.parts):
            cutting = kernel.Cutting(self.k, self.strict, self.width == "box", order, spare, sizes, labels, scratch)

            def split(begin: int, end: int, level: kernel.Level = level, cutting: kernel.Cutting = cutting) -> None:
                kernel.split_level(space, level, needs, cutting, begin, end)

            in_parts(split, 0, len(level.parts), space.points.size)
            whole = level.parts["n_children"] == 0
            progress.advance(int((level.parts["last"] - level.parts["first"])[whole].sum()))
            order, spare = spare, order
            level = _next_level(space, level, order, sizes)
        # Groups are numbered by their first row, so that the numbers do not tell how the cuts went.
        _, first_row, place = np.unique(labels, return_index=True, return_inverse=True)
        return Groups(np.argsort(np.argsort(first_row))[place].astype(np.int64))


def _next_level(space: kernel.CutSpace, level: kernel.Level, order: Labels, sizes: Labels) -> kernel.Level:
    n_parts, n_columns = int(level.parts["n_children"].sum()), space.points.shape[1]
    ends = np.empty((2, n_parts, n_columns))
    below = kernel.Level(np.zeros(n_parts, dtype=kernel.PART), ends[0], ends[1])
    kernel.children(space, level, order, sizes, below)
    return below
