"""Which published rows may be whose: what an attacker has after linking people with a release.

Rows that show the same cells in the same bucket are one unit: nobody can tell them apart. A person is linked with
units, and every row of a unit has a weight: how likely it is the person's, compared with others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from shoal.attack.index import BoxIndex, Floats, Ints
from shoal.attack.published import Units
from shoal.check.value_ranges import Boxes

AT_ONCE = 4_000_000
"""Links that are held in memory at a time, at least those of one query."""


class Candidates(NamedTuple):
    """The units that some queries are linked with: those of query number i are ``unit[first[i]:first[i + 1]]``."""

    first: Ints
    unit: Ints
    weight: Floats | None
    """What every row of a unit weighs for the query; None where all weigh the same."""

    @property
    def owner(self) -> Ints:
        """The query of each link."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def matrix(self, n_units: int) -> Any:
        """The same as a sparse matrix, one line per query and one column per unit."""
        weight = np.ones(len(self.unit)) if self.weight is None else self.weight
        return csr_array((weight, self.unit, self.first), shape=(len(self.first) - 1, n_units))


class Totals(NamedTuple):
    """How many rows each query is linked with: as they are, and each by its weight."""

    plain: Floats
    by_weight: Floats


class Links(ABC):
    """People linked with the units of one part of a release; people of whom the same is known are one query."""

    query: Ints
    """Query of each person."""
    units: Units

    @property
    @abstractmethod
    def n_queries(self) -> int:
        """How many queries there are."""

    @property
    @abstractmethod
    def n_links(self) -> Ints:
        """With how many units each query is linked, or about as many: what it takes to look at them."""

    @abstractmethod
    def find(self, queries: Ints) -> Candidates:
        """The units that some queries are linked with."""

    def blocks(self, queries: Ints | None = None) -> Iterator[Ints]:
        """Queries, so many at a time that their links can be held in memory; all of them, if none are given."""
        asked = np.arange(self.n_queries) if queries is None else queries
        total = np.cumsum(self.n_links[asked])
        begin = 0
        while begin < len(asked):
            before = total[begin - 1] if begin else 0
            end = max(int(np.searchsorted(total, before + AT_ONCE, side="right")), begin + 1)
            yield asked[begin:end]
            begin = end

    @property
    def rows(self) -> Floats:
        """How many rows each query is linked with, each counted by its weight."""
        return self._totals.by_weight

    @property
    def n_rows(self) -> Floats:
        """How many rows each query is linked with, whatever they weigh."""
        return self._totals.plain

    @cached_property
    def _totals(self) -> Totals:
        plain, by_weight = np.zeros(self.n_queries), np.zeros(self.n_queries)
        for queries in self.blocks():
            linked = self.find(queries)
            rows, owner = self.units.rows[linked.unit], linked.owner
            plain[queries] = np.bincount(owner, weights=rows, minlength=len(queries))
            weights = rows if linked.weight is None else rows * linked.weight
            by_weight[queries] = np.bincount(owner, weights=weights, minlength=len(queries))
        return Totals(plain, by_weight)


@dataclass(frozen=True, repr=False, eq=False)
class WholeRows(Links):
    """Links with a release whose rows carry all their cells: all units whose cells meet what is known."""

    units: Units
    index: BoxIndex
    queries: Boxes
    query: Ints

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.queries)

    @cached_property
    def n_links(self) -> Ints:
        """With how many units each query is linked."""
        return self.index.count(self.queries)

    def find(self, queries: Ints) -> Candidates:
        """The units that some queries are linked with."""
        found = self.index.find(picked(self.queries, queries), self.n_links[queries])
        return Candidates(found.first, found.places, None)


def picked(boxes: Boxes, lines: Ints) -> Boxes:
    """Some lines of boxes, with the lists of all."""
    return Boxes(boxes.low[lines], boxes.high[lines], boxes.listed[lines], boxes.first, boxes.places, boxes.discrete)


def stretches(begin: Ints, sizes: Ints) -> Ints:
    """All numbers of each stretch, one stretch after the other."""
    ends = np.cumsum(sizes)
    found: Ints = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begin - ends + sizes, sizes)
    return found


__all__ = ["AT_ONCE", "Candidates", "Links", "WholeRows", "picked", "stretches"]
