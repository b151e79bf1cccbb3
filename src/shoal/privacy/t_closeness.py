"""t-closeness: the sensitive values of a class are spread like those of the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.privacy.branches import Branches
from shoal.privacy.counts import Counts, weighed
from shoal.spec import ColumnName, OneOf, Real, param


@dataclass(frozen=True)
class TCloseness(ColumnRequirement):
    """The distribution of a sensitive column in every class is within t of its distribution over the table.

    The distance is the earth mover's: the least work to turn one distribution into the other, where moving a share from
    one value to another costs their distance. ``equal``: 1 between any two values. ``ordered``: places between them in
    the order of the values that occur, over the places between the extremes; for numbers and ordinal columns without
    missing values. ``hierarchical``: height of their lowest common ancestor over the height of the tree; for nominal
    columns with a hierarchy, where a missing value is a child of the root.

    Guarantee
    ---------
    Against an attacker who knows the distribution over the whole table, the quasi-identifiers of a person and that the
    person is in the table: what the attacker believes about the person's value moves by at most t. The table's own
    distribution is not protected, and an absolute distance allows much for rare values: with t = 0.1, equal distance, a
    value may rise from 0.001 to 0.101.

    >>> import polars as pl
    >>> salary = Values(pl.Series([3, 4, 5, 6, 7, 8, 9, 10, 11]), kind="numeric")
    >>> classes = Classes(np.array([0, 0, 0, 1, 2, 1, 2, 2, 1]), {"salary": salary})
    >>> TCloseness("salary", t=0.2, distance="ordered").per_class(classes).round(4).tolist()
    [0.375, 0.1667, 0.2361]

    References
    ----------
    Li, Li, Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.
    """

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "sensitive values are distributed in every class nearly as in the table"
    measures: ClassVar[str] = "t"
    paper: ClassVar[str] = "Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007"
    advice: ClassVar[str] = (
        "limits what a class reveals beyond the table; costs much information, because groups must resemble the table"
    )

    column: str = param(ColumnName(), "sensitive column")
    t: float = param(Real(0, 1), "largest distance between a class and the table")
    distance: str = param(
        OneOf(("equal", "ordered", "hierarchical")),
        "distance of two values; ordered is for numbers and ordinal columns, hierarchical needs a hierarchy",
        default="equal",
    )

    @property
    def letter(self) -> str:
        """The letter t, with the distance it is measured by."""
        return "t" if self.distance == "equal" else f"t_{self.distance}"

    def per_class(self, classes: Classes) -> Floats:
        """Distance of each class from the table."""
        counts, values = classes.count(self.column), self.fitting(classes)
        if self.distance == "ordered":
            return _ordered(counts, values.shares)
        if self.distance == "hierarchical":
            return _hierarchical(counts, values)
        # What a class has too much of some values is what it has too little of others.
        return counts.total(np.maximum(counts.share - values.shares[counts.code], 0.0))

    def enough(self, reached: Floats) -> Bools:
        """Whether the distance is at most t."""
        return reached <= self.t + SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:  # noqa: ARG002
        """By how much the distance is above t."""
        return reached - self.t

    def misfit(self, values: Values) -> str | None:
        """Say why values of this column have no such distance."""
        if self.distance == "ordered":
            if values.kind not in ("numeric", "ordinal"):
                known = f"is {values.kind}" if values.kind else "has no kind in the schema"
                return f"{known}, and the ordered distance needs numbers or an ordinal column; use distance = 'equal'"
            if values.has_missing:
                return "has missing values, which have no place in an order; use distance = 'equal'"
        if self.distance == "hierarchical":
            if values.tree is None:
                return (
                    "has no hierarchy, and the hierarchical distance needs one; make it nominal with a hierarchy, "
                    "or use distance = 'equal'"
                )
            absent = len(set(map(str, values.known)) - set(values.tree.names))
            if absent:
                return f"has {absent} distinct values that are not in its hierarchy; add them"
        return None

    def nearest(self, reached: float) -> str:
        """The least t that a table gives."""
        return f"use a t of at least {rounded(reached, up=True)}"

    @classmethod
    def probes(cls, columns: Mapping[str, Values]) -> Sequence[Self]:
        """Every distance that the values have."""
        distances = ("equal", "ordered", "hierarchical")
        every = [(values, cls(name, t=1, distance=word)) for name, values in columns.items() for word in distances]
        return [probe for values, probe in every if probe.misfit(values) is None]


def _ordered(counts: Counts, shares: Floats) -> Floats:
    """Mean gap between the two cumulated distributions, over all values but the last.

    Between two values that a class holds its cumulated share stays the same while the table's rises, so a run of values
    has one place where the gap changes sign, and the sums on both sides come from sums over the table alone.
    """
    if len(shares) < 2:
        return np.zeros(len(counts.sizes))
    table = np.cumsum(shares)
    below = np.concatenate(([0.0], np.cumsum(table)))  # sum of the cumulated shares of all values before
    before = np.cumsum(counts.count) - counts.count
    reached = (before - before[counts.starts][counts.owner] + counts.count) / counts.sizes[counts.owner]
    begin = counts.code
    end = np.append(begin[1:], len(shares))
    end[np.append(counts.starts[1:], len(begin)) - 1] = len(shares) - 1  # both distributions end in 1: no gap there
    end = np.maximum(end, begin)
    turn = np.clip(np.searchsorted(table, reached, side="right"), begin, end)
    over = reached * (turn - begin) - (below[turn] - below[begin])
    under = (below[end] - below[turn]) - reached * (end - turn)
    gaps = counts.total(over + under) + below[begin[counts.starts]]
    return np.maximum(gaps, 0.0) / (len(shares) - 1)


def _hierarchical(counts: Counts, values: Values) -> Floats:
    """Half the sum over all branches of (length of the edge above) * |share in the class - share in the table|.

    The work on a tree: what a branch has too much or too little must cross the edge above it. An edge is as long as the
    height it climbs, over the height of the tree, so that two values are twice as far as half their distance.
    """
    branches = Branches.of(values)
    counts = counts.recoded(branches.place_of, branches.n_places)
    table = np.zeros(branches.n_places)
    table[branches.place_of] = values.shares
    work = np.zeros(len(counts.sizes))
    for place_of, length in branches.levels():
        counts = counts.merged(place_of)
        table = weighed(place_of, table, branches.n_places)
        there, share = table[counts.code], counts.share
        # Branches that a class has nothing in miss all of the table's share.
        work += counts.total(length[counts.code] * (np.abs(share - there) - there)) + length @ table
    return np.maximum(work / 2, 0.0)
