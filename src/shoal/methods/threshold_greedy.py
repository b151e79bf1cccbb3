"""Threshold greedy clustering: clusters grow from drawn rows until they would become too diverse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.diversity import Diversity, least_diversity
from shoal.cluster.weights import check_weights, weights_of
from shoal.errors import InfeasibleError, ParameterError, Problem, Problems
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import Maybe, OneOf, Real, Several, Weights, Whole, param
from shoal.table.encode import encode
from shoal.table.prepare import Table


@dataclass(frozen=True)
class ThresholdGreedy(Method):
    """Greedy clustering within a threshold of diversity (Loukides and Shao).

    A cluster starts at a drawn row and grows by the row with the best score, which weighs likeness of the
    quasi-identifiers against unlikeness of the sensitive values. It ends where the diversity of its quasi-identifiers
    would pass `delta`. Clusters below k are suppressed.

    Parameters
    ----------
    k
        Smallest group size.
    delta
        Largest diversity of a group: the sum, over the quasi-identifiers, of the share of the column it spans.
    w
        Usefulness against protection: 1 looks at the quasi-identifiers alone, 0 at the sensitive values alone.
    weights
        Weight of each quasi-identifier, by name; 1 when not given.
    below
        What happens to a cluster below k: ``"suppress"``, none of its rows is published; ``"return"``, only the row it
        started at is suppressed, the others may join later clusters.
    max_size
        Most rows of a group; at least k.
    seeds
        Row positions (from 0) at which clusters start, in turn; drawn with the seed when they are used up.

    Guarantee
    ---------
    Every group has at least k rows, its diversity is at most `delta`, and every row is in a group or counted as
    suppressed. Published by `Generalize`, every row has the same quasi-identifier cells as at least k - 1 others.
    Nothing is promised about sensitive values, though `w` below 1 favours groups that differ in them.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [1, 2, 3, 10, 11, 12, 20]})
    >>> method = ThresholdGreedy(k=3, delta=0.2, w=1, seeds=(0, 3, 6))
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), method)
    >>> sorted(set(release.table["age"])), release.verify().k, release.manifest.rows.left_out
    (['[1, 3]', '[10, 12]'], 3, 1)

    References
    ----------
    Loukides, Shao, "Capturing data usefulness and privacy protection in k-anonymisation", ACM SAC 2007.
    """

    name: ClassVar[str] = "threshold-greedy"
    title: ClassVar[str] = "greedy clustering within a threshold of diversity"
    paper: ClassVar[str] = (
        "Loukides, Shao, Capturing data usefulness and privacy protection in k-anonymisation, ACM SAC 2007"
    )
    complexity: ClassVar[str] = "time nearly linear in n on ordinary data, O(n^2 d) at worst; memory O(n d)"
    advice: ClassVar[str] = (
        "When no group may be wider than a given limit and rows may be suppressed; delta needs trying, and the result "
        "depends on the drawn rows."
    )

    k: int = param(Whole(2), "smallest group size")
    delta: float = param(Real(0), "largest diversity of a group")
    w: float = param(Real(0, 1), "weight of similar quasi-identifiers against diverse sensitive values", default=0.5)
    weights: Mapping[str, float] | None = param(
        Maybe(Weights()), "weight of each quasi-identifier; 1 when not given", default=None
    )
    below: str = param(OneOf(("suppress", "return")), "what happens to a cluster below k", default="suppress")
    max_size: int | None = param(Maybe(Whole(2)), "most rows of a group, at least k", default=None)
    seeds: tuple[int, ...] | None = param(
        Maybe(Several(Whole(0))), "row positions at which clusters start first; drawn when not given", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_size is not None and self.max_size < self.k:
            what = f"max_size = {self.max_size} is below k = {self.k}"
            raise ParameterError(Problem("ThresholdGreedy(max_size=)", what, f"use at least {self.k}"))

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        check_weights(self, self.weights, table, problems)
        beyond = [seed for seed in self.seeds or () if seed >= table.n_rows]
        if beyond:
            what = f"seeds has {beyond[0]}, but the table has {table.n_rows} rows"
            fix = f"use positions from 0 to {table.n_rows - 1}"
            problems.add("ThresholdGreedy(seeds=)", what, fix, error=ParameterError)
        if len(problems):  # a table with problems cannot be measured
            return
        encoded = encode(table)
        least = least_diversity(encoded, weights_of(encoded.names, self.weights), self.k)
        if least > self.delta:
            what = f"delta = {self.delta:g} suppresses all rows: any {self.k} rows differ by {_up(least)} or more"
            problems.add("ThresholdGreedy(delta=)", what, f"use at least {_up(least)}", error=InfeasibleError)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        n_rows = task.encoded.n_rows
        progress.stage("grouping", n_rows)
        order = np.concatenate([np.array(self.seeds or (), dtype=np.int64), rng.permutation(n_rows)])
        diversity = Diversity(task, weights_of(task.encoded.names, self.weights), self.w, self.delta, self.max_size)
        labels = np.full(n_rows, -1, dtype=np.int64)
        settled = np.zeros(n_rows, dtype=bool)
        n_groups = 0
        for seed in order:
            if settled[seed]:
                continue
            members = diversity.grow(int(seed), self.k, progress)
            if len(members) >= self.k:
                labels[members] = n_groups
                n_groups += 1
            elif self.below == "return":
                diversity.give_back()
                members = members[:1]
            settled[members] = True
            progress.advance(min(len(members), self.k))
        self._check_any(labels)
        return Groups(labels)

    def _check_any(self, labels: Labels) -> None:
        """Refuse to publish nothing."""
        if labels.max() < 0:
            what = f"delta = {self.delta:g} suppresses all rows: no cluster reached k = {self.k}"
            raise InfeasibleError(Problem("ThresholdGreedy(delta=)", what, "use a larger delta, or a smaller k"))


def _up(number: float) -> str:
    """A number rounded up to four digits, so that what is advised is enough."""
    return f"{math.ceil(number * 1e4) / 1e4:g}"
