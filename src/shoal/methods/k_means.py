"""K-means with an adjustment that brings every group to k: Algorithms No. 1, 2 and 3 of El-Rashidy et al."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.cluster.centroid_groups import pairs_of
from shoal.cluster.centroids import Centroids, check_seeds, draw_seeds, line_on_grid
from shoal.cluster.grid import grid_for, on_grid
from shoal.errors import Problems
from shoal.machine.threads import meanwhile, side_by_side
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, OneOf, Several, Whole, param
from shoal.table.encode import Encoded, Floats, encode
from shoal.table.hierarchy.builders import STAR
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Nominal, Numeric

FARTHEST = 1e300
"""Numbers beyond this are too far apart to be compared."""


@dataclass(frozen=True)
class KMeans(Method):
    """K-means whose every group has k rows (Algorithms No. 1, 2 and 3).

    Of n rows, floor(n/k) are drawn as the first centroids. Rows go to the nearest centroid, centroids move to their
    rows, again and again. What makes groups of k is an adjustment: groups above k give their farthest rows away, first
    to groups below k.

    Parameters
    ----------
    k
        Smallest group size.
    variant
        1: the adjustment follows every assignment. 2: no adjustment, but rows go to groups below k as long as there
        are any. 3: one adjustment at the end.
    features
        ``"qi"``: cluster on the quasi-identifiers. ``"all"``: on all published columns, sensitive ones too; groups then
        tend to share sensitive values.
    centroid
        The centroid of a nominal column: ``"mode"``, the most frequent value; ``"lca"``, the lowest common node. Of a
        number or a rank it is the mean.
    max_iter
        Largest number of iterations.
    seeds
        Row positions (from 0) of the first centroids, floor(n/k) of them; drawn when not given. With them nothing is
        drawn: rows given away are placed in the order in which they were taken out.

    Guarantee
    ---------
    Every group has at least k rows. Published by `Generalize`, every row has the same quasi-identifier cells as at
    least k - 1 others. Nothing is promised about sensitive values; with ``features="all"`` groups are more likely to
    share one. Convergence is not guaranteed; the manifest says whether it was reached.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [1, 2, 3, 10, 11, 12, 20]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), KMeans(k=3, seeds=[0, 6]))
    >>> sorted(set(release.table["age"])), release.verify().k
    (['[1, 3]', '[10, 20]'], 3)
    >>> release.receipt.notes["converged"]
    True

    References
    ----------
    El-Rashidy, Taha, Ayad, Sroor, "An effective k-anonymity clustering method for less effectiveness on accuracy of
    data mining results", 2011.
    """

    name: ClassVar[str] = "k-means"
    title: ClassVar[str] = "k-means with groups of k (Algorithms No. 1, 2, 3)"
    paper: ClassVar[str] = (
        "El-Rashidy, Taha, Ayad, Sroor, An effective k-anonymity clustering method for less effectiveness on accuracy "
        "of data mining results, 2011"
    )
    complexity: ClassVar[str] = (
        "time of an iteration nearly linear in n in few dimensions, O(n^2 d / k) at worst; memory O(n d)"
    )
    advice: ClassVar[str] = "Low square error on mixed tables (variant 1); variant 3 is quicker and loses more."

    k: int = param(Whole(2), "smallest group size")
    variant: int = param(Whole(1, 3), "which of the three algorithms", default=1)
    features: str = param(OneOf(("qi", "all")), "the columns to cluster on", default="qi")
    centroid: str = param(OneOf(("mode", "lca")), "the centroid of a nominal column", default="mode")
    max_iter: int = param(Whole(1), "largest number of iterations", default=50)
    seeds: tuple[int, ...] | None = param(
        Maybe(Several(Whole(0))), "row positions of the first centroids; drawn when not given", default=None
    )

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        check_seeds(self, self.seeds, table, problems)
        if self.features == "all":
            _check_features(table, problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        table, all_columns = task.table, self.features == "all"
        kinds = table.published if all_columns else table.quasi
        encoded = encode(table, kinds) if all_columns else task.encoded
        seeds, rank = draw_seeds(self.seeds, table.n_rows, self.k, rng)
        progress.stage("grouping", self.max_iter)
        run = _Run(self, encoded, kinds, seeds, rank)
        while run.goes_on():
            run.step()
            progress.advance(1)
        return run.groups()


class _Run:
    """Assignment after assignment, and the best partition so far."""

    def __init__(
        self, method: KMeans, encoded: Encoded, kinds: dict[str, Kind], seeds: Labels, rank: Floats | None
    ) -> None:
        self._method, self._rank = method, rank
        self._judge = meanwhile(partial(Judge, encoded, kinds), encoded.n_rows * encoded.n_columns)
        common, following = method.centroid == "lca", method.variant != 2
        self._centroids = Centroids(encoded, len(seeds), lca=common, following=following)
        self._labels = self._best = self._centroids.start_at(seeds)
        self._seen: set[bytes] = set()
        self._n_iter, self._converged, self._cycles, self._error = 0, False, False, math.inf

    def goes_on(self) -> bool:
        """Whether another assignment is due."""
        return not (self._converged or self._cycles) and self._n_iter < self._method.max_iter

    def step(self) -> None:
        """Assign all rows and move the centroids; keep the partition if it is the best so far."""
        method, centroids = self._method, self._centroids
        before = centroids.positions()
        self._labels = centroids.in_turn(method.k) if method.variant == 2 else centroids.nearest()
        if method.variant == 1:
            centroids.adjust(self._labels, method.k, self._rank)
        centroids.gather(self._labels)
        self._n_iter += 1
        self._converged = centroids.are_at(before)
        # The next assignment follows from this one alone, so one that repeats will repeat for ever.
        mark = hashlib.blake2b(self._labels.tobytes(), digest_size=16).digest()
        self._cycles = mark in self._seen
        self._seen.add(mark)
        if method.variant != 3:
            self._keep_best()

    def _keep_best(self) -> None:
        error = self._judge.result().square_error(self._labels, self._centroids.n_groups)
        if error < self._error:
            self._best, self._error = self._labels, error

    def groups(self) -> Groups:
        """The best partition; that of variant 3 is adjusted now."""
        if self._method.variant == 3:
            self._centroids.adjust(self._labels, self._method.k, self._rank)
            self._keep_best()
        notes = {"n_iter": self._n_iter, "converged": self._converged, "square_error": self._error}
        return Groups(self._best, dict(notes))


class Judge:
    """Square error: standardised numbers around the mean of their group, other values unlike its most frequent one."""

    def __init__(self, encoded: Encoded, kinds: dict[str, Kind]) -> None:
        self._grid = grid_for(encoded.n_rows)
        self._numbers: list[Floats] = []
        self._names: list[Labels] = []
        for name, is_tree, slot in zip(encoded.names, encoded.is_tree, encoded.slot, strict=True):
            if is_tree:
                self._names.append(encoded.codes[slot].astype(np.int64))
            elif isinstance(kinds[name], Numeric):
                self._numbers.append(line_on_grid(encoded.lines[slot], 0.0, self._grid)[0])
            else:
                ranks = encoded.lines[slot]
                self._names.append(np.where(np.isnan(ranks), encoded.spans[slot] + 1, ranks).astype(np.int64))
        self._standards = [_standard(line) for line in self._numbers]

    def square_error(self, labels: Labels, n_groups: int) -> float:
        """Of a partition of all rows: group by group, its numbers first, each sum in row order."""
        sizes = np.bincount(labels, minlength=n_groups)
        names = [partial(_unlike, column, labels, sizes) for column in self._names]
        numbers = [partial(self._apart, j, labels, sizes) for j in range(len(self._numbers))]
        # Columns of many values take longest: they are begun first, and added up in their order.
        begun = sorted(range(len(names)), key=lambda j: -int(self._names[j].max(initial=0)))
        steps = [*(names[j] for j in begun), *numbers]
        found = list(side_by_side(lambda step: step(), steps, len(labels) * len(steps)))
        errors = np.zeros(n_groups)
        for each in found[len(names) :]:
            errors += each
        for place in np.argsort(begun):
            errors += found[place]
        return float(np.cumsum(errors)[-1])

    def _apart(self, j: int, labels: Labels, sizes: Labels) -> Floats:
        """How far the numbers of a column are from the mean of each group, squared."""
        numbers, (weight, gap) = self._numbers[j], self._standards[j]
        mean = self._means(numbers, labels, sizes).take(labels)
        apart = numbers - mean
        missing = np.where(np.isnan(numbers) == np.isnan(mean), 0.0, gap)
        each = np.where(np.isnan(apart), missing, apart * apart * weight)
        total: Floats = np.bincount(labels, weights=each, minlength=len(sizes))  # type: ignore[assignment]
        return total

    def _means(self, numbers: Floats, labels: Labels, sizes: Labels) -> Floats:
        """Mean of the present numbers of each group; missing where more than half are."""
        present = np.isfinite(numbers)
        n_present = np.bincount(labels[present], minlength=len(sizes))
        totals = np.zeros(len(sizes), dtype=np.int64)
        np.add.at(totals, labels, on_grid(numbers, self._grid))
        n = np.maximum(n_present, 1)
        means = (totals // n + (totals % n) / n) / self._grid
        return np.where(2 * (sizes - n_present) > sizes, np.nan, means)


def _unlike(names: Labels, labels: Labels, sizes: Labels) -> Floats:
    """How many rows of each group do not have its most frequent value."""
    _, counts, first = pairs_of(labels, names, len(sizes))
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, labels[first], counts)
    unlike: Floats = (sizes - most).astype(np.float64)
    return unlike


def _standard(line: Floats) -> tuple[float, float]:
    """What makes a squared difference one of standardised numbers, and the largest there is."""
    present = line[~np.isnan(line)]
    span = float(present.max(initial=0.0))
    if span == 0.0:
        return 0.0, 1.0
    mean = math.fsum(present.tolist()) / len(present)
    variance = math.fsum(((present - mean) * (present - mean)).tolist()) / len(present)
    return 1.0 / variance, span * span / variance


def _check_features(table: Table, problems: Problems) -> None:
    """Note published columns that no distance can be formed on; quasi-identifiers were checked with the table."""
    for name, kind in table.published.items():
        if name in table.quasi:
            continue
        series, where = table.frame[name], f"column {name!r}"
        if isinstance(kind, Numeric):
            if not (series.cast(pl.Float64, strict=False).drop_nulls().abs() <= FARTHEST).all():
                what = f"has numbers beyond {FARTHEST:g}, too far apart to be compared"
                problems.add(where, what, 'make it nominal, or cluster with features = "qi"')
        elif isinstance(kind, Nominal) and kind.hierarchy is None and (series.cast(pl.String) == STAR).any():
            what = "has the cell '*', which stands for 'any value' in a hierarchy"
            problems.add(where, what, 'name it in missing_values, or cluster with features = "qi"')
