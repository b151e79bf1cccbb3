"""Personalised anonymity: each person says how much of the own sensitive value may be learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.errors import InfeasibleError, ParameterError, Problems, cells_are, counted, rows_at
from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.privacy.branches import Branches
from shoal.privacy.counts import Counts, Ints
from shoal.spec import ColumnName, Share, param
from shoal.table.prepare import Table


@dataclass(frozen=True)
class GuardingNodes(ColumnRequirement):
    """Nobody's sensitive value can be placed below the node that the person guards with a chance above p.

    Each person chooses a node of the column's hierarchy, in the choice column of the schema; no choice, no guard. The
    chance of a breach is the mean over the rows of the person's class of how much of what the row shows lies below the
    guarding node: all of it if the shown value is the node or below it, the share of leaves if it is above the node,
    nothing otherwise. A missing value lies below the root only. Where people have several rows, it is the sum over the
    values of all people of the class, over how many they are, and 1 at most.

    Guarantee
    ---------
    Against an attacker who knows the quasi-identifiers of everybody in the table, one row each: the chance that a
    person who guards a node has a value below it is at most p. It does not hold where a person has several rows, and
    says nothing about persons without a guard.

    >>> import polars as pl
    >>> from shoal.privacy.base import Tree
    >>> tree = Tree(("*", "lung", "flu", "asthma", "ulcer"), (-1, 0, 1, 1, 0), (2, 1, 0, 0, 0), (3, 2, 1, 1, 1))
    >>> disease = Values(pl.Series(["flu", "asthma", "ulcer", "ulcer"]), "nominal", tree=tree)
    >>> guards = pl.Series(["lung", None, "ulcer", None])
    >>> classes = Classes(np.zeros(4, dtype=np.int64), {"disease": disease}, guards=guards)
    >>> GuardingNodes("disease", p=0.5).achieved(classes)
    0.5

    References
    ----------
    Xiao, Tao, "Personalized privacy preservation", SIGMOD 2006 (the primary case: one row per person).
    """

    name: ClassVar[str] = "guarding-nodes"
    title: ClassVar[str] = "nobody's value is likely to be below the node that the person chose to guard"
    measures: ClassVar[str] = "breach"
    paper: ClassVar[str] = "Xiao, Tao, Personalized privacy preservation, SIGMOD 2006"
    advice: ClassVar[str] = "each person chooses what to hide; it can only be checked with these choices"
    joining: ClassVar[str] = "no"
    needs: ClassVar[str | None] = "choices"

    column: str = param(ColumnName(), "sensitive column with a hierarchy")
    p: float = param(Share(), "largest probability of a breach")

    @property
    def monotone(self) -> bool:
        """Another class may bring in more of what is guarded."""
        return False

    def per_class(self, classes: Classes) -> Floats:
        """The largest probability of a breach in each class; 0 where nobody guards anything."""
        guards = classes.guarded(self.name)
        branches = Branches.of(self.fitting(classes))
        places = guards.cast(pl.String).replace_strict(
            list(branches.names), list(branches.names.values()), default=branches.n_places, return_dtype=pl.Int64
        )
        rows = np.flatnonzero(guards.is_not_null().to_numpy())
        pairs = np.unique(classes.labels[rows] * (branches.n_places + 1) + places.to_numpy()[rows])
        owner, guard = np.divmod(pairs, branches.n_places + 1)
        shown = classes.count_of_people(self.column).recoded(branches.place_of, branches.n_places)
        breach = np.zeros(classes.n_classes)
        np.maximum.at(breach, owner, _below(shown, branches, owner, guard) / shown.sizes[owner])
        return np.minimum(breach, 1.0)  # who has several values below a node counts for each: the safe side

    def enough(self, reached: Floats) -> Bools:
        """Whether the chance is at most p."""
        return reached <= self.p + SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """By how much the chance is above p."""
        return reached - self.p

    def misfit(self, values: Values) -> str | None:
        """Say that there is no tree to choose a node of, or that values are not in it."""
        if values.tree is None:
            return "has no hierarchy; make it nominal with a hierarchy"
        absent = len(set(map(str, values.known)) - set(values.tree.names))
        return f"has {absent} distinct values that are not in its hierarchy; add them" if absent else None

    def check(self, table: Table, problems: Problems) -> None:
        """Note a column without a tree, choices that are no nodes of it, and a guard that nothing can keep."""
        super().check(table, problems)
        choice = table.schema.choice
        if choice is None or choice not in table.frame.columns:
            what = "the schema has no choice column with the guarding node of each person"
            problems.add("require guarding-nodes", what, "name it: choice = '...'", error=ParameterError)
            return
        kind = table.schema.columns[self.column].kind if self.column in table.schema.columns else None
        hierarchy = table.hierarchy(self.column) if kind is not None and self.column in table.frame.columns else None
        if hierarchy is not None:
            self._check_choices(table, choice, hierarchy.names, problems)

    def _check_choices(self, table: Table, choice: str, names: Sequence[str], problems: Problems) -> None:
        texts = table.frame[choice].cast(pl.String)
        strange = table.kept[(~texts.is_in(names)).fill_null(value=False).to_numpy()].tolist()
        if strange:
            what = f"{cells_are(len(strange))} not nodes of the hierarchy of {self.column!r}, at {rows_at(strange)}"
            problems.add(f"column {choice!r}", what, "correct them, or leave them empty", error=ParameterError)
        rooted = table.kept[(texts == names[0]).fill_null(value=False).to_numpy()].tolist()
        if rooted and self.p < 1:
            what = f"{counted(len(rooted), 'person guards', 'people guard')} the root, which is above "
            what += f"every value, at {rows_at(rooted)}"
            fix = "only p = 1 is possible for them: let them choose a lower node, or none"
            problems.add(f"column {choice!r}", what, fix, error=InfeasibleError)

    def check_unsuppressed(self, table: Table, problems: Problems) -> None:
        """Note a node that so many guard from within that no class is large enough to hide them."""
        if table.schema.person is not None:  # one of the rows of a person may be where the others hide it
            return
        choice, hierarchy = str(table.schema.choice), table.hierarchy(self.column)
        rows, guarding = table.frame.select(self.column, choice).cast(pl.String), dict[str, int]()
        assert hierarchy is not None  # noqa: S101  checked before
        for value, guard, count in rows.drop_nulls().group_by(pl.all()).len().iter_rows():
            if value in hierarchy.node_of and guard in hierarchy.path(value):
                guarding[guard] = guarding.get(guard, 0) + count
        most = max(guarding.values(), default=0)
        if most > (self.p + SLACK) * rows.height:
            what = (
                f"column {self.column!r}: {most} of {rows.height} people guard one node above their own values: "
                f"some class has a breach probability of {most / rows.height:.6g} or more"
            )
            problems.add(f"require {self.name}", what, self.nearest(most / rows.height), error=InfeasibleError)

    def nearest(self, reached: float) -> str:
        """What was reached."""
        return f"use a p of at least {rounded(reached, up=True)}"


def _below(shown: Counts, branches: Branches, owner: Ints, guard: Ints) -> Floats:
    """How many rows of each class lie below each guard, a row that shows a node above it in part."""
    known = guard < branches.n_places
    # A guard that is not among the nodes has no shown value below it, for nodes above shown values are all there; of an
    # inner node it may be any part, so it is taken for all of it.
    inside = np.zeros(len(guard))
    inner = (branches.height > 0).astype(np.float64)
    open_rows = shown.total(shown.count * inner[shown.code])
    inside[~known] = open_rows[owner[~known]]
    owner, guard = owner[known], guard[known]
    rows = (shown.up_to(owner, branches.end[guard]) - shown.up_to(owner, guard)).astype(np.float64)
    above = branches.parent[guard]
    while (above >= 0).any():
        node = np.maximum(above, 0)
        there = shown.up_to(owner, node + 1) - shown.up_to(owner, node)
        rows += np.where(above >= 0, there * branches.leaves[guard] / branches.leaves[node], 0.0)
        above = np.where(above >= 0, branches.parent[node], -1)
    inside[known] = rows
    return inside
