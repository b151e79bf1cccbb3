"""What follows from links about sensitive values: which values the linked rows have, and how many rows each.

For every query these are counts, as those of a class: all that privacy models ask of classes can be asked of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.attack.index import Floats, Ints
from shoal.attack.links import Links
from shoal.attack.published import Published
from shoal.privacy.base import Tree, Values
from shoal.privacy.counts import Counts
from shoal.release.manifest import PassedColumn
from shoal.table.clean import category_texts
from shoal.table.schema import Schema


@dataclass(frozen=True, repr=False, eq=False)
class Secret:
    """A sensitive column, as a release shows it and as it is."""

    name: str
    at: int
    """The part that shows it."""
    values: Values
    """All values, of the release and of the input."""
    shown: Ints
    """Number of the value that each row of the part shows."""
    truth: Ints
    """Number of the value that each row of the input has."""
    times: Floats | None
    """How many rows each row of the part stands for; None for one each."""

    @classmethod
    def of(cls, published: Published, name: str, original: pl.Series, schema: Schema | None) -> Secret:
        """Number the values of release and input alike."""
        return cls.alike([published], name, original, schema)[0]

    @classmethod
    def alike(
        cls, releases: Sequence[Published], name: str, original: pl.Series, schema: Schema | None
    ) -> list[Secret]:
        """Number the values of several releases and the input alike."""
        homes = [one.home(name) for one in releases]
        parts = [one.parts[at] for one, at in zip(releases, homes, strict=True)]
        column = next(one for one in releases[0].layout.passed if one.name == name)
        every = pl.concat(one_type([original, *(part.frame[name] for part in parts)], column.kind))
        values = Values(every, column.kind, column.order, _tree(column, schema, every))
        ends = np.cumsum([len(original), *(part.frame.height for part in parts)])
        truth, *shown = np.split(values.codes, ends[:-1])
        return [
            cls(name, at, values, codes, truth, part.times) for at, part, codes in zip(homes, parts, shown, strict=True)
        ]

    @property
    def n_codes(self) -> int:
        """How many values there are, a missing one among them."""
        return len(self.values.counts)

    @cached_property
    def whole(self) -> Counts:
        """How often each value is published: all that is known of somebody who is linked with nothing."""
        counts = np.bincount(self.shown, weights=self.times, minlength=self.n_codes)
        codes = np.flatnonzero(counts)
        zeros = np.zeros(len(codes), dtype=np.int64)
        return Counts(zeros, codes, counts[codes], np.array([counts.sum()]), self.n_codes)

    def coded(self, series: pl.Series) -> Ints:
        """The number of each of some published values."""
        kind, order = self.values.kind, self.values.order
        alike = one_type([series, self.values.series.head(0)], kind)[0].cast(self.values.series.dtype)
        return Values(alike, kind, order, whole=self.values).codes

    def shares(self) -> Floats:
        """The share of the published rows that have each value."""
        found = np.zeros(self.n_codes)
        found[self.whole.code] = self.whole.share
        return found

    def by_unit(self, links: Links) -> Any:
        """How often each value stands in each unit, as a sparse matrix."""
        times = np.ones(len(self.shown)) if self.times is None else self.times
        shape = (len(links.units.rows), self.n_codes)
        return csr_array((times, (links.units.label, self.shown)), shape=shape)


def one_type(columns: Sequence[pl.Series], kind: str | None) -> list[pl.Series]:
    """Columns of values in one type; categories as text, so that 2 and 2.0 are one."""
    if kind != "numeric":
        return [category_texts(one).alias("value") for one in columns]
    whole = all(one.dtype.is_integer() for one in columns)
    return [one.alias("value").cast(pl.Int64 if whole else pl.Float64) for one in columns]


def _tree(column: PassedColumn, schema: Schema | None, both: pl.Series) -> Tree | None:
    """The hierarchy of a column, where all its values have a place in it."""
    known = None if schema is None else schema.columns.get(column.name)
    kind = None if known is None else known.kind
    tree = None if kind is None or column.kind != "nominal" else Values.of(both, kind).tree
    if tree is None and column.nodes:
        names = tuple(node.name if node.name is not None else f"\0{place}" for place, node in enumerate(column.nodes))
        parents = tuple(-1 if node.parent is None else node.parent for node in column.nodes)
        heights, leaves = (tuple(getattr(node, what) for node in column.nodes) for what in ("height", "leaves"))
        tree = Tree(names, parents, heights, leaves, complete=False)
    if tree is None or not set(both.drop_nulls().unique().to_list()) <= set(tree.names):
        return None
    return tree


class Believed(NamedTuple):
    """What follows for some people: the values of the rows they are linked with, counted."""

    people: Ints
    """Who they are: places in their group."""
    counts: Counts
    """The values, by query."""
    owner: Ints
    """Which of the queries each person is."""


def believed(links: Links, secret: Secret) -> Iterator[Believed]:
    """Go through all people who are linked with something, some at a time."""
    by_unit, by_query = secret.by_unit(links), np.argsort(links.query, kind="stable")
    ends = np.searchsorted(links.query[by_query], np.arange(links.n_queries + 1))
    for queries in links.blocks():
        people = by_query[ends[queries[0]] : ends[queries[-1] + 1]]
        counts, number = counted(links, by_unit, queries, secret.n_codes)
        owner = number[links.query[people] - queries[0]]
        linked = owner >= 0
        yield Believed(people[linked], counts, owner[linked])


def counted(links: Links, by_unit: Any, queries: Ints, n_codes: int) -> tuple[Counts, Ints]:
    """The values of the rows that queries are linked with, and the number of each query there; -1 for no row."""
    found = links.find(queries).matrix(by_unit.shape[0]) @ by_unit
    found.sort_indices()
    some = np.diff(found.indptr) > 0
    number = np.where(some, np.cumsum(some) - 1, -1)
    owner = np.repeat(number, np.diff(found.indptr))
    sizes = np.bincount(owner, weights=found.data, minlength=int(some.sum()))
    counts = Counts(owner, found.indices.astype(np.int64), found.data, sizes, n_codes)
    return counts, number.astype(np.int64)


def places_of(counts: Counts, owner: Ints, code: Ints) -> Ints:
    """Where pairs of a query and a value stand among the counts; -1 for those that do not occur."""
    pairs, wanted = counts.owner * counts.n_codes + counts.code, owner * counts.n_codes + code
    place = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
    return np.where(pairs[place] == wanted, place, -1) if len(pairs) else np.full(len(wanted), -1)


def mass_of(counts: Counts, owner: Ints, code: Ints) -> Floats:
    """How many rows of each query have a value."""
    place = places_of(counts, owner, code)
    return np.where(place >= 0, counts.count[place], 0.0) if len(counts.count) else np.zeros(len(place))


__all__ = ["Believed", "Secret", "believed", "counted", "mass_of", "places_of"]
