"""t-closeness: the sensitive values of a class are spread like those of the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats, Values, rounded
from shoal.privacy.branches import Branches
from shoal.privacy.counts import Counts, Ints
from shoal.spec import ColumnName, OneOf, Share, param

WHOLE = 1 << 61
"""Below this, products of counts and sums of them are added as they are."""


@dataclass(frozen=True)
class TCloseness(ColumnRequirement):
    """The distribution of a sensitive column in every class is within t of its distribution over the table.

    The distance is the earth mover's: the least work to turn one distribution into the other, where moving a share from
    one value to another costs their distance. ``equal``: 1 between any two values. ``ordered``: places between them in
    the order of the values that occur, over the places between the extremes; for numbers and ordinal columns without
    missing values. ``hierarchical``: height of their lowest common ancestor over the height of the tree; for nominal
    columns with a hierarchy, where a missing value is a child of the root.

    Where people have several rows, values have shares of people. ``equal`` is the distance of all values that people
    have, or the largest change of the share of a value, if that is more. The others let shares add up to what they do,
    from the lowest value up and from the highest down, and are 1 at most: a class whose people have many values is far
    from a table whose people have few.

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
    t: float = param(Share(), "largest distance between a class and the table")
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
        counts, values = classes.count_of_people(self.column), self.fitting(classes)
        if self.distance == "ordered":
            return np.minimum(_ordered(counts, values.shares_of_people), 1.0)
        if self.distance == "hierarchical":
            return np.minimum(_hierarchical(counts, values), 1.0)
        # What a class has too much of some values is what it has too little of others.
        every = classes.count(self.column)
        apart = every.total(np.maximum(every.share - values.shares[every.code], 0.0))
        return apart if classes.people is None else np.maximum(apart, _largest_change(counts, values.shares_of_people))

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


def _largest_change(counts: Counts, shares: Floats) -> Floats:
    """By how much the share of any value in each class differs from its share of the table, at most."""
    changed = counts.largest(np.abs(counts.share - shares[counts.code]))
    rank = np.empty(len(shares), dtype=np.int64)
    rank[np.argsort(-shares, kind="stable")] = np.arange(len(shares))
    ranked = counts.recoded(rank, len(shares))
    # Of the most frequent values of the table, a class has so many without a gap; the next one it lacks.
    place = np.arange(len(ranked.owner)) - ranked.starts[ranked.owner]
    n_first = ranked.total(ranked.code == place).astype(np.int64)
    return np.asarray(np.maximum(changed, np.append(-np.sort(-shares), 0.0)[n_first]))


def _ordered(counts: Counts, shares: Floats) -> Floats:
    """Mean gap between the two cumulated distributions, over all values but the last; the larger one from both ends.

    From the highest value down, it is the same as from the lowest up where all shares add up to 1.
    """
    if len(shares) < 2:
        return np.zeros(len(counts.sizes))
    table = np.cumsum(shares)
    upward = _mean_gap(counts, table, np.zeros(len(counts.sizes)))
    more = counts.total(counts.count) / counts.sizes - table[-1]
    if (np.abs(more) <= SLACK).all():
        return upward
    return np.maximum(upward, _mean_gap(counts, table, more))


def _mean_gap(counts: Counts, table: Floats, shift: Floats) -> Floats:
    """Mean gap between the cumulated shares of each class and those of the table, raised by a shift for each class.

    Between two values that a class holds its cumulated share stays the same while the table's rises, so a run of values
    has one place where the gap changes sign, and the sums on both sides come from sums over the table alone.
    """
    below = np.concatenate(([0.0], np.cumsum(table)))  # sum of the cumulated shares of all values before
    before = np.cumsum(counts.count) - counts.count
    reached = (before - before[counts.starts][counts.owner] + counts.count) / counts.sizes[counts.owner]
    begin = counts.code
    end = np.append(begin[1:], len(table))
    end[np.append(counts.starts[1:], len(begin)) - 1] = len(table) - 1  # both distributions end there: no gap

    def apart(reached: Floats, begin: Ints, end: Ints) -> Floats:
        turn = np.clip(np.searchsorted(table, reached, side="right"), begin, end)
        over = reached * (turn - begin) - (below[turn] - below[begin])
        under = (below[end] - below[turn]) - reached * (end - turn)
        return np.asarray(over + under)

    gaps = counts.total(apart(reached - shift[counts.owner], begin, np.maximum(end, begin)))
    first = begin[counts.starts]
    gaps = gaps + apart(-shift, np.zeros(len(first), dtype=np.int64), first)
    return np.maximum(gaps, 0.0) / (len(table) - 1)


def _hierarchical(counts: Counts, values: Values) -> Floats:
    """Half the sum over all branches of (length of the edge above) * |share in the class - share in the table|.

    The work on a tree: what a branch has too much or too little must cross the edge above it. An edge is as long as the
    height it climbs, over the height of the tree, so that two values are twice as far as half their distance.

    Whole numbers are added, and divided once: the result is the same to the last bit for any tree that has these values
    at these heights, be it all that its holder knows or the nodes that a release shows.
    """
    branches, n_people = Branches.of(values), max(values.n_people, 1)
    counts = counts.recoded(branches.place_of, branches.n_places)
    most = int(counts.count.sum()) * n_people + int(values.counts.sum()) * int(counts.sizes.max(initial=0))
    sort = np.int64 if branches.n_levels * most < WHOLE else object  # Python's own whole numbers have no end
    table, sizes = np.zeros(branches.n_places, dtype=sort), counts.sizes.astype(sort)
    table[branches.place_of] = values.counts
    work = np.zeros(len(sizes), dtype=sort)
    for place_of, edge in branches.levels():
        counts, below = counts.merged(place_of), table
        table = np.zeros(branches.n_places, dtype=sort)
        np.add.at(table, place_of, below)
        length = np.rint(edge * branches.n_levels).astype(np.int64).astype(sort)
        there = table[counts.code] * sizes[counts.owner]
        more = length[counts.code] * (np.abs(counts.count.astype(sort) * n_people - there) - there)
        # Branches that a class has nothing in miss all of the table's share.
        work += np.add.reduceat(more, counts.starts) + sizes * (length * table).sum()
    return np.asarray(work / (2 * branches.n_levels * n_people * sizes), dtype=np.float64)
