"""Greedy k-member: every group grows by the record that adds least to its information loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.free_rows import check_start, cost_table_of, free_rows, with_keys
from shoal.cluster.join_preferences import check_preferences, keys_of, preferences_of
from shoal.cluster.row_index import indexed
from shoal.enforce.constraints import Constraints
from shoal.errors import ParameterError, Problems
from shoal.kernels.cluster import k_member as kernel
from shoal.kernels.cluster.free_rows import FreeRows
from shoal.kernels.cluster.store import HULL, Summaries
from shoal.kernels.sharing import piece_of, shared
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups
from shoal.progress import SILENT, Progress
from shoal.spec import ColumnName, Maybe, OneOf, Real, Whole, param
from shoal.table.encode import Encoded, Floats, Ints
from shoal.table.prepare import Table

AT_ONCE = 64
"""How many groups are grown at once where rows are found by a search."""


@dataclass(frozen=True)
class KMember(Method):
    """Greedy clustering by information loss (k-member).

    A group starts at the record farthest from the one before, and grows by the record that adds least to the group's
    information loss, until it has k. Fewer than k left over, in a drawn order, join the group whose loss they raise
    least.

    Parameters
    ----------
    k
        Smallest group size.
    ref
        What the next group starts far away from: ``"last"``, the record that joined last, as the paper's listing
        reads; ``"seed"``, the record the group started at.
    cost
        What a nominal column loses: ``"hierarchy"``, the height of the lowest common node over that of the tree;
        ``"set"``, (distinct values - 1)/(values of the column - 1), which fits releases that publish sets.
    start
        Row position (from 0) of the first reference record; drawn with the seed when not given.
    label
        A published column that is no quasi-identifier, the class label: groups whose records share it are favoured.
    label_weight
        What a record of another label than most of the group adds to the loss it is chosen by.
    diverse
        A sensitive column of which each group is to have `l` different values, as far as they are left.
    l
        How many different values of `diverse` are looked for; at most k.

    Guarantee
    ---------
    Every group has at least k rows, and at most 2k - 1. Published by `Generalize`, every row has the same
    quasi-identifier cells as at least k - 1 others. Nothing is promised about sensitive values: all rows of a group may
    share one. `diverse` is no promise of l-diversity: the last groups may have to do with what is left.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [33, 29, 21, 31, 22, 60, 25]})
    >>> release = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), KMember(k=3, start=0))
    >>> release.verify().k
    3

    References
    ----------
    Byun, Kamra, Bertino, Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007.
    """

    name: ClassVar[str] = "k-member"
    title: ClassVar[str] = "greedy k-member clustering by information loss"
    paper: ClassVar[str] = (
        "Byun, Kamra, Bertino, Li, Efficient k-anonymization using clustering techniques, DASFAA 2007"
    )
    complexity: ClassVar[str] = "time nearly linear in n on ordinary data, O(n^2 d) at worst; memory O(n d)"
    advice: ClassVar[str] = "Lowest loss of the greedy methods on mixed data, also on large tables."

    k: int = param(Whole(2), "smallest group size")
    ref: str = param(OneOf(("last", "seed")), "the record that the next group starts far away from", default="last")
    cost: str = param(OneOf(("hierarchy", "set")), "how the loss of a nominal column is computed", default="hierarchy")
    start: int | None = param(
        Maybe(Whole(0)), "row position of the first reference record; drawn when not given", default=None
    )

    label: str | None = param(
        Maybe(ColumnName()), "class label: a published column whose values a group should share", default=None
    )
    label_weight: float = param(Real(0, open_low=True), "penalty for a record with another label", default=1.0)
    diverse: str | None = param(
        Maybe(ColumnName()), "sensitive column whose values should differ within a group", default=None
    )
    l: int | None = param(  # noqa: E741 - the name of the literature
        Maybe(Whole(2)), "how many different values of `diverse` a group should have, at most k", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        problems = Problems()
        if self.diverse is None and self.l is not None:
            problems.add("KMember(l=)", f"l = {self.l}, but diverse is not given", "give diverse, or leave l out")
        if self.diverse is not None and self.l is None:
            problems.add("KMember(diverse=)", "is given without l", "give l, the number of different values, 2 or more")
        if self.l is not None and self.l > self.k:
            problems.add("KMember(l=)", f"l = {self.l} is above k = {self.k}", f"use an l of at most {self.k}")
        problems.raise_if_any(ParameterError)

    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be treated, before any work starts."""
        super().check(table, problems)
        check_start(self, self.start, table, problems)
        check_preferences("KMember", table, self.label, self.diverse, self.l, problems)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes."""
        encoded, forest, n_rows = task.encoded, task.encoded.forest, task.encoded.n_rows
        progress.stage("grouping", n_rows)
        reference = int(rng.integers(n_rows)) if self.start is None else self.start
        order = rng.random(n_rows)  # the drawn order in which leftovers are placed
        constraints = Constraints.while_grouping(task, self.k)
        store = free_rows(encoded, *keys_of(task.table, self.label, self.diverse), *constraints.store_keys())
        preferences = preferences_of(task, self.label, self.label_weight, self.diverse, self.l)
        growth = constraints.growth(len(store.codes) - 1, constraints.planned)
        sizes_of_keys = (0, 0) if preferences is None else (len(preferences.counts), len(preferences.present))
        cost_table = with_keys(
            cost_table_of(encoded, HULL, divisor=1.0, heights=_heights(encoded)), *sizes_of_keys, constraints.n_keys
        )
        store, index = indexed(store, encoded, cost_table)
        free = FreeRows(store, cost_table, forest, self.k, index)
        sets = None
        if self.cost == "set":
            sets = kernel.ValueSets(_values(encoded), np.zeros(max(len(forest.parent), 1), dtype=bool))
        share = shared(n_rows * encoded.n_columns)
        grown, n_groups, grows, least = _room(encoded, self.k), 0, True, max(constraints.least(self.k), 1)
        cells = (encoded.lines, encoded.codes)
        while grows:
            n_free = n_rows - int(grown.ends[n_groups])
            end = min(n_groups + _at_once(free, n_free * encoded.n_columns), len(grown.majority))
            plan = kernel.Plan(n_groups, end, least, reference, self.ref == "last")
            n_groups = kernel.grow_groups(free, cells, sets, preferences, growth, share, plan, grown)
            progress.advance(n_free - n_rows + int(grown.ends[n_groups]))
            grows = plan.begin < n_groups == end < len(grown.majority)
        labels, sizes = np.full(n_rows, -1, dtype=np.int64), np.diff(grown.ends[: n_groups + 1])
        labels[grown.members[: grown.ends[n_groups]]] = np.repeat(np.arange(n_groups), sizes)
        self._place_leftovers(task, free, grown, sizes, order, labels)
        return Groups(labels)

    def _place_leftovers(
        self, task: Task, free: FreeRows, grown: kernel.Grown, sizes: Ints, order: Floats, labels: Ints
    ) -> None:
        encoded, n_groups = task.encoded, len(sizes)
        leftovers = np.flatnonzero(labels < 0)
        if not len(leftovers):
            return
        leftovers = leftovers[np.argsort(order[leftovers], kind="stable")]
        sets = None
        if self.cost == "set":
            sets = kernel.GroupSets(_values(encoded), *_group_values(encoded, labels, n_groups))
        preferences = None
        if self.label is not None:
            (classes,) = keys_of(task.table, self.label)
            preferences = kernel.GroupLabels(classes, grown.majority[:n_groups], self.label_weight)
        groups = Summaries(*(part[:n_groups] for part in grown.groups))
        kernel.place_leftovers(
            (encoded.lines, encoded.codes), leftovers, groups, sizes, free, sets, preferences, labels
        )


def _room(encoded: Encoded, k: int) -> kernel.Grown:
    """Room for as many groups as there can be."""
    most, n_rows, n_lines = encoded.n_rows // k, encoded.n_rows, len(encoded.lines)
    low, high = np.empty((most, n_lines)), np.empty((most, n_lines))
    holes, node = np.empty((most, n_lines), dtype=bool), np.empty((most, len(encoded.codes)), dtype=np.int64)
    ends, members = np.zeros(most + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    return kernel.Grown(Summaries(low, high, holes, node), members, ends, np.empty(most, dtype=np.int64))


def _at_once(free: FreeRows, cells: int) -> int:
    """How many groups are grown before somebody who wants to stop is heard."""
    index = free.row_index
    searches = index is not None and not index.tree.shape["off"][0]
    return AT_ONCE if searches else piece_of(cells * free.k)


def _heights(encoded: Encoded) -> Floats:
    """Height of every node over that of its tree; where missing and present meet, the whole."""
    shares = []
    for tree in encoded.trees:
        whole = float(tree.height[tree.root])
        share = tree.height / whole if whole else np.zeros(len(tree.height))
        share[tree.missing], share[tree.top] = 0.0, 1.0
        shares.append(share)
    return np.concatenate(shares) if shares else np.zeros(1)


def _values(encoded: Encoded) -> Ints:
    """How many values of each nominal column occur, missing not counted."""
    return np.array(
        [len(np.setdiff1d(codes, [tree.missing])) for codes, tree in zip(encoded.codes, encoded.trees, strict=True)],
        dtype=np.int64,
    )


def _group_values(encoded: Encoded, labels: Ints, n_groups: int) -> tuple[Ints, np.ndarray]:
    """How many present values each group has in each nominal column, and whether one is missing."""
    n_trees = len(encoded.trees)
    distinct, gaps = np.zeros((n_groups, n_trees), dtype=np.int64), np.zeros((n_groups, n_trees), dtype=bool)
    inside = labels >= 0
    for t, tree in enumerate(encoded.trees):
        pairs = np.unique(np.stack([labels[inside], encoded.codes[t][inside].astype(np.int64)]), axis=1)
        present = pairs[1] != tree.missing
        distinct[:, t] = np.bincount(pairs[0][present], minlength=n_groups)
        gaps[pairs[0][~present], t] = True
    return distinct, gaps
