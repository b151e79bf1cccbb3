"""Sensitive columns as privacy models look at them: their values numbered, counted, and placed in order or tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import distinct_values, filled, first_of_each, has_few
from shoal.table.schema import Kind, Nominal, Ordinal, kind_name

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tree:
    """A hierarchy over the values of a column: nodes with parents before children, the root first.

    It may hold fewer nodes than the hierarchy it comes from, but every height is that of the whole one.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    """Place of each node's parent; -1 for the root."""
    heights: tuple[int, ...]
    """Edges from each node down to the deepest leaf below it."""
    leaves: tuple[int, ...]
    """Number of leaves below each node; 1 for a leaf."""
    complete: bool = True
    """Whether all nodes above those that are shown are there, with their names."""

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Tree:
        """All of a hierarchy."""
        n, arrays = len(hierarchy.names), hierarchy.arrays
        return cls(
            tuple(hierarchy.names), (-1, *arrays.parent[1:n].tolist()),
            tuple(arrays.height[:n].tolist()), tuple(arrays.n_leaves[:n].tolist()),
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Values:
    """One sensitive column, row by row, and what is known of its values.

    A missing value is a value of its own.
    """

    series: pl.Series
    kind: str | None = None
    """`numeric`, `ordinal`, `nominal`, or None where nobody said."""
    order: tuple[str, ...] = ()
    """Categories of an ordinal column, lowest first."""
    tree: Tree | None = None
    """Hierarchy of a nominal column, where the holder gave one."""
    whole: Values | None = None
    """The column of the whole table, where `series` holds only some of its rows, or some of them more than once: which
    values are known and how they are shared out is always that of the whole table."""
    people: Ints | None = None
    """Whose row each one is, where people may have several: each counts once for each value of theirs."""

    @classmethod
    def of(cls, series: pl.Series, kind: Kind | None, people: Ints | None = None) -> Values:
        """A column whose cells fit its kind; a rule that is not built yet is no tree."""
        order = kind.order if isinstance(kind, Ordinal) else ()
        tree = kind.hierarchy if isinstance(kind, Nominal) else None
        grown = Tree.of(tree) if isinstance(tree, Hierarchy) else None
        return cls(series, kind_name(kind), order, grown, people=people)

    @classmethod
    def counted(cls, like: Values, known: Sequence[object], counts: Ints, n_people: int | None = None) -> Values:
        """A whole column of which no row is at hand: its values in their order, and how often each occurs.

        The last count is that of missing ones, where there is one more than values. How many people there are is told
        where they may have several values.
        """
        whole = replace(like, series=like.series.clear(), whole=None, people=None)
        whole.__dict__.update(known=list(known), counts=counts, n_people=n_people or int(counts.sum()))
        return whole

    def take(self, rows: Ints) -> Values:
        """Some rows of the column, as part of the same whole."""
        people = None if self.people is None else self.people[rows]
        part = replace(self, series=self.series.gather(rows), whole=self.whole or self, people=people)
        part.__dict__["codes"] = self.codes[rows]
        return part

    @cached_property
    def _plain(self) -> pl.Series:
        """Numbers as numbers, everything else as text."""
        if self.kind != "numeric":
            return self.series.cast(pl.String)
        return self.series if self.series.dtype.is_integer() else self.series.cast(pl.Float64, strict=False)

    @cached_property
    def known(self) -> list[object]:
        """The distinct values that are not missing: numbers and ordered categories from the lowest, texts sorted."""
        if self.whole is not None:
            return self.whole.known
        known = distinct_values(self._plain).to_list()
        if self.order:
            rank = {category: place for place, category in enumerate(self.order)}
            known.sort(key=lambda category: rank.get(category, len(rank)))
        return known

    @cached_property
    def codes(self) -> Ints:
        """Place of each row's value among `known`; one past the last for a missing value."""
        if has_few(self._plain):
            place_of = {value: place for place, value in enumerate(self.known)}
            return np.array([place_of.get(cell, len(place_of)) for cell in self._plain.to_list()], dtype=np.int64)
        places = pl.Series(range(len(self.known)), dtype=pl.Int64)
        known = pl.Series(self.known, dtype=self._plain.dtype)
        coded = self._plain.replace_strict(known, places, default=None, return_dtype=pl.Int64)
        return filled(coded, len(known))

    @cached_property
    def counts(self) -> Ints:
        """How often each value occurs in the whole table, missing last if there is one; once for each who has it."""
        if self.whole is not None:
            return self.whole.counts
        codes = self.codes if self.people is None else self.codes[first_of_each(self.people, self.codes)]
        return np.bincount(codes).astype(np.int64)

    def only(self, rows: npt.NDArray[np.bool_]) -> Values:
        """Some rows of the column, as if there were no others."""
        people = None if self.people is None else self.people[rows]
        return replace(self, series=self.series.filter(pl.Series(rows)), people=people)

    @cached_property
    def shares(self) -> Floats:
        """Distribution over the whole table, missing last if there is one."""
        return self.counts / max(int(self.counts.sum()), 1)

    @cached_property
    def n_people(self) -> int:
        """People of the whole table: as many as rows, unless it is known whose row each one is."""
        if self.whole is not None:
            return self.whole.n_people
        return len(self.series) if self.people is None else len(np.unique(self.people))

    @cached_property
    def shares_of_people(self) -> Floats:
        """Part of the people of the whole table who have each value; more than one together where they have several."""
        return self.counts / max(self.n_people, 1)

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return len(self.counts) > len(self.known)
