"""Weighted-feature C-means: columns that vary little inside groups weigh more; small groups are merged at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.centroids import Centroids, check_seeds, draw_seeds
from shoal.errors import ParameterError, Problems, did_you_mean
from shoal.kernels.cluster import weighted_c_means as kernel
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, Real, Several, Weights, Whole, param
from shoal.table.encode import Encoded, Floats
from shoal.table.prepare import Table

LEAST = 1e-12
"""A column that does not vary inside any group counts as varying by this, so that weights stay finite."""
MERGES_PER_CALL = 1 << 13
"""Few enough that Ctrl-C is heard; the index is built anew in between."""


@dataclass(frozen=True)
class WeightedCMeans(Method):
    """Weighted-feature C-means.

    Of n rows, floor(n/k) are drawn as the first centres. Rows go to the nearest centre, centres move to their rows, and
    columns that vary little inside groups get a larger weight, until nothing changes. Groups below k are then merged
    into near ones.

    Parameters
    ----------
    k
        Smallest group size.
    beta
        Exponent of the weights, above 1: the nearer to 1, the more the columns with little variation dominate.
    weights
        Initial weights of the quasi-identifiers, by name; one that is not named has the weight 1.
    max_iter
        Largest number of iterations.
    seeds
        Row positions (from 0) of the first centres, floor(n/k) of them; drawn when not given.

    Guarantee
    ---------
    Every group has at least k rows; there is no upper bound. Published by `Generalize`, every row has the same
    quasi-identifier cells as at least k - 1 others. Nothing is promised about sensitive values: all rows of a group may
    share one.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [1, 2, 3, 10, 11, 12, 20]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, WeightedCMeans(k=3, seeds=[0, 6]))
    >>> sorted(set(release.table["age"])), release.verify().k
    (['[1, 3]', '[10, 20]'], 3)

    References
    ----------
    Chiu, Tsai, "A k-anonymity clustering method for effective data privacy preservation", ADMA 2007.
    """

    name: ClassVar[str] = "weighted-c-means"
    title: ClassVar[str] = "weighted-feature C-means"
    paper: ClassVar[str] = (
        "Chiu, Tsai, A k-anonymity clustering method for effective data privacy preservation, ADMA 2007"
    )
    complexity: ClassVar[str] = (
        "time of an iteration nearly linear in n in few dimensions, O(n^2 d / k) at worst; memory O(n d)"
    )
    advice: ClassVar[str] = "Where some columns form clusters and others are noise; groups can become large."

    k: int = param(Whole(2), "smallest group size")
    beta: float = param(Real(1, open_low=True), "exponent of the weights", default=2.0)
    weights: Mapping[str, float] | None = param(
        Maybe(Weights()), "initial weights of the quasi-identifiers", default=None
    )
    max_iter: int = param(Whole(1), "largest number of iterations", default=50)
    seeds: tuple[int, ...] | None = param(
        Maybe(Several(Whole(0))), "row positions of the first centres; drawn when not given", default=None
    )

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        check_seeds(self, self.seeds, table, problems)
        for name in self.weights or {}:
            if name not in table.quasi:
                fix = did_you_mean(name, table.quasi, "name quasi-identifiers only")
                what = f"column {name!r} is not a quasi-identifier"
                problems.add("WeightedCMeans(weights=)", what, fix, error=ParameterError)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        encoded = task.encoded
        seeds, _ = draw_seeds(self.seeds, encoded.n_rows, self.k, rng)
        progress.stage("grouping", self.max_iter)
        means = Means(encoded, seeds, self.beta, self._first_weights(encoded))
        while not means.settled and means.n_iter < self.max_iter:
            means.step()
            progress.advance(1)
        progress.stage("merging")
        notes: dict[str, object] = {"n_iter": means.n_iter, "converged": means.settled}
        notes |= {f"weight:{name}": float(weight) for name, weight in zip(encoded.names, means.weights, strict=True)}
        return Groups(means.merged(self.k), notes)

    def _first_weights(self, encoded: Encoded) -> Floats:
        given = self.weights or {}
        weights = np.array([given.get(name, 1.0) for name in encoded.names])
        return weights / weights.sum()  # type: ignore[no-any-return]


class Means:
    """Centres and weights, step by step.

    Parameters
    ----------
    encoded
        The columns to cluster on.
    seeds
        Rows of the first centres.
    beta
        Power of the weights.
    weights
        One per column, to begin with; their sum is 1.
    """

    def __init__(self, encoded: Encoded, seeds: Labels, beta: float, weights: Floats) -> None:
        self._centroids = Centroids(encoded, len(seeds), squared=True, following=False)
        self._plain = self._centroids.ruler
        self._lines_first = np.argsort(encoded.is_tree, kind="stable")
        self._beta = beta
        self.labels = self._centroids.start_at(seeds)
        self.n_iter, self.settled = 0, False
        self._weigh(weights)

    def step(self) -> None:
        """Send rows to the nearest centre, move the centres, and weigh the columns."""
        labels = self._centroids.nearest()
        self.n_iter += 1
        # The same groups have the same centres, and these the same weights.
        self.settled = np.array_equal(labels, self.labels)
        self.labels = labels
        if not self.settled:
            self._centroids.gather(labels)
            self._weigh(weights_of(self.dispersions(), self._beta))

    def dispersions(self) -> Floats:
        """How much each column varies inside groups."""
        sums = np.empty(len(self._lines_first))
        for place, distances in zip(
            self._lines_first, self._centroids.distances(self.labels, self._plain), strict=True
        ):
            sums[place] = np.cumsum(distances)[-1]  # one after the other, in row order
        return sums

    def _weigh(self, weights: Floats) -> None:
        self.weights = weights
        powers = np.array([weight**self._beta for weight in weights.tolist()])
        self._centroids.ruler = self._centroids.rulers.ruler(powers)

    def merged(self, k: int) -> Labels:
        """Labels after the smallest group below k went into the one with the nearest centre, as often as needed."""
        centroids, into = self._centroids, np.arange(self._centroids.n_groups)
        cursor, merged = np.zeros(2, dtype=np.int64), MERGES_PER_CALL
        while merged == MERGES_PER_CALL:
            index = centroids.index(np.flatnonzero(into == np.arange(len(into))))
            merged = kernel.merge_small(centroids.ruler, centroids.groups, *index, k, MERGES_PER_CALL, cursor, into)
        while not np.array_equal(into, into[into]):
            into = into[into]
        _, labels = np.unique(into[self.labels], return_inverse=True)
        return labels.astype(np.int64)


def weights_of(dispersions: Floats, beta: float) -> Floats:
    """Weights that make the weighted sum of dispersions least: 1 / sum of (own / other)^(1 / (beta - 1))."""
    spread = [max(one, LEAST) for one in dispersions.tolist()]
    least = min(spread)
    # As shares of the largest weight: no power overflows.
    shares = [(least / one) ** (1 / (beta - 1)) for one in spread]
    return np.array([share / sum(shares) for share in shares])
