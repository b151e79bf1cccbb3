"""What every publisher is: a frozen description that shows groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, some
from shoal.machine.threads import side_by_side
from shoal.methods.base import Method
from shoal.methods.groups import Groups, Labels
from shoal.privacy.base import Requirement
from shoal.publish.covers import published_nodes
from shoal.registry.declarations import DeclaredPublisher, Protects
from shoal.registry.declared import PUBLISHER_CLASSES, PUBLISHERS
from shoal.registry.registry import Registry
from shoal.release.manifest import Layout, PassedColumn, QuasiColumn
from shoal.release.shapes import SHAPES
from shoal.spec import Spec
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import are_few, distinct_values, sorted_rows, value_codes
from shoal.table.prepare import Table
from shoal.table.schema import Nominal, Ordinal, kind_name
from shoal.table.shown import only_rows

MOST_CODES = 1 << 62
"""How many combinations of texts have numbers of their own before they are numbered anew."""


@dataclass(frozen=True)
class Published:
    """The tables to publish, and how they are to be read."""

    tables: dict[str, pl.DataFrame]
    layout: Layout
    codes: Mapping[str, npt.NDArray[np.integer]] = field(default_factory=dict)
    """Columns of `table` whose cells are known as numbers in the order of their texts, as `text_codes` makes them."""


class Publisher(Spec, ABC):
    """A way of showing a group."""

    registry: ClassVar[Registry[Any]] = PUBLISHER_CLASSES
    texts: ClassVar[tuple[str, ...]] = ("title", "loses")

    name: ClassVar[str]
    title: ClassVar[str]
    loses: ClassVar[str]
    """What a release of this kind loses: `ncp`, how much its cells leave open, or `sse`, how far values move."""
    protects: ClassVar[Protects] = "cells"
    shapes: ClassVar[Mapping[str | None, str]] = {}
    """The shape of its tables by its parameter `shape`, by None where it has none; Shoal's own are declared apart."""

    @classmethod
    def declaration(cls) -> DeclaredPublisher:
        """What the publisher takes, and which shape it gives, as data: for Shoal's own, from `registry/declared`."""
        if cls.name in PUBLISHERS:
            return PUBLISHERS[cls.name]
        bounds = {one.name: one.bound for one in cls.parameters()}
        return DeclaredPublisher(f"{cls.__module__}:{cls.__qualname__}", bounds, cls.shapes, cls.protects)

    @classmethod
    def check_declared(cls, where: str, problems: Problems) -> None:
        """Note what is wrong with the class itself: a shape that the checker cannot read."""
        before = len(problems)
        super().check_declared(where, problems)
        if len(problems) > before:
            return
        if cls.loses not in ("ncp", "sse"):
            problems.add(where, "loses something unknown", "write loses = 'ncp' or 'sse'")
        shapes = set(cls.declaration().shapes.values())
        readable = {name: shape for name, shape in SHAPES.items() if not shape.has_counterfeits}
        if not shapes or not shapes <= set(readable):
            fix = f"write shapes = {{None: ...}} with one of {', '.join(readable)}"
            problems.add(where, "has no shape that the checker can read", fix)
        elif any(readable[shape].protects != cls.protects for shape in shapes):
            problems.add(where, f"protects {cls.protects}, and its shape does not", "choose another shape")

    def check_method(self, method: Method, problems: Problems) -> None:
        """Note a method whose promise does not hold when its groups are shown this way."""
        if method.declaration().goes_with(self.name, self.declaration()):
            return
        why = {
            "cells": f"{method.name} promises a k, and {self.name} shows quasi-identifiers as they are",
            "links": f"the buckets of {method.name} cannot be shown by {self.name} so that their promise holds",
            "values": f"{method.name} forms no groups, which {self.name} could show",
        }
        problems.add("publish=", why[method.protects], f"publish by {method.publisher}, or use another method")

    def check_population(
        self, requirement: Requirement, table: Table, population: pl.DataFrame | None, problems: Problems
    ) -> None:
        """Note a population that a requirement speaks of and that is missing, or cannot be compared with."""
        where = f"require {requirement.name}"
        if population is None:
            problems.add(where, "needs a population to compare with", "give population=", error=ParameterError)
            return
        if self.loses != "ncp":
            what = f"the cells that {self.name} publishes cannot be compared with a population"
            problems.add(where, what, "publish by generalize", error=ParameterError)
        if lacking := [name for name in table.quasi if name not in population.columns]:
            fix = "give every quasi-identifier"
            problems.add("population", f"has no column {some(lacking)}", fix, error=SchemaError)
        for name, kind in table.quasi.items():
            if table.is_grown_by_values(name) and not isinstance(kind, Ordinal):
                what = f"column {name!r}: its hierarchy is built of the values of the table, others have no place in it"
                fix = "use intervals, or give a hierarchy of all values of the population"
                problems.add(where, what, fix, error=ParameterError)
        requirement.check_population(table.n_people, population.height, problems)

    @abstractmethod
    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be shown this way, before any work starts."""

    def publish(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table, rows in the order of the input; suppressed rows are left out."""
        kept = groups.labels >= 0
        return self.show(only_rows(table, kept), groups.only(kept))

    @abstractmethod
    def show(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table all of whose rows are published, in their order."""

    def arrange(self, published: Published) -> tuple[Published, pl.Series]:
        """Bring what is published into the order that its content gives it; for the holder, which row went where."""
        return arrange(published)

    def arranged(self, table: Table, groups: Groups) -> tuple[Published, pl.Series]:
        """Both at once: the groups of a table all of whose rows are published, and which row went where."""
        return self.arrange(self.show(table, groups))


# -- the order of rows and the numbers of groups: functions of what is shown, and of nothing else ----------------------


def arrange(published: Published) -> tuple[Published, pl.Series]:
    """Bring the rows into an order that leads nowhere; for the holder, which row went where."""
    table = published.tables["table"]
    order = pl.Series(shuffled_order(text_codes(table, published.codes)))
    return replace(published, tables={**published.tables, "table": table[order]}, codes={}), order


def shuffled_order(codes: Labels, salt: int = 0) -> Labels:
    """Sort rows by their codes, then shuffle them in a way that is the same for every table of as many rows.

    Equal rows are the same to every reader, so nothing of the order they came in is left.
    """
    steps = [partial(sorted_rows, codes), partial(_shuffled, len(codes), salt)]
    rows, shuffled = side_by_side(lambda step: step(), steps, 2 * len(codes))
    return rows.take(shuffled)


def _shuffled(n_rows: int, salt: int) -> Labels:
    """The fixed way to shuffle so many rows."""
    return sorted_rows(_scrambled(np.arange(n_rows, dtype=np.uint64) + np.uint64(salt << 40)), distinct=True)


def text_codes(table: pl.DataFrame, known: Mapping[str, npt.NDArray[np.integer]] | None = None) -> Labels:
    """Numbers in the order of the texts that rows show, column after column, missing ones last.

    `known` has columns of which that is known.
    """
    found = {**column_codes(table.drop(known)), **known} if known else column_codes(table)
    return _codes_together([found[name] for name in table.columns], table.height)


def _codes_together(columns: Iterable[npt.NDArray[np.integer]], n_rows: int) -> Labels:
    """The same of columns whose texts have numbers."""
    codes, n_codes = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns:
        n_values = int(column.max(initial=0)) + 1
        if n_codes * n_values >= MOST_CODES:
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
            n_codes = int(codes.max(initial=0)) + 1
        codes *= n_values
        codes += column
        n_codes *= n_values
    return codes


@dataclass(frozen=True)
class GroupRows:
    """Rows that show the cells of their groups beside their own; texts are copied once, in their last order."""

    cells: pl.DataFrame
    """What each group shows."""
    members: Labels
    """The group of each row."""
    passed: pl.DataFrame
    """What each row shows by itself."""
    columns: Sequence[str]
    """All columns, as they stand in the table."""

    def table(self, order: Labels | None = None) -> pl.DataFrame:
        """The rows as they came, or in an order."""
        members = pl.Series(self.members if order is None else self.members.take(order))
        own = order if order is None else pl.Series(order)

        def column(name: str) -> pl.Series:
            if name in self.cells.columns:
                return self.cells[name].gather(members)
            return self.passed[name] if own is None else self.passed[name].gather(own)

        return pl.DataFrame(list(side_by_side(column, self.columns, len(members) * len(self.columns))))

    def order(self) -> Labels:
        """The order that their content gives them."""
        found = {**column_codes(self.passed), **codes_of_groups(self.cells, self.members)}
        return shuffled_order(_codes_together([found[name] for name in self.columns], len(self.members)))


def column_codes(table: pl.DataFrame) -> dict[str, npt.NDArray[np.integer]]:
    """The cells of each column as numbers in the order of their texts, missing ones last."""
    whole = [name for name, dtype in table.schema.items() if dtype == pl.Int64 and not table[name].null_count()]
    found = value_codes(table.select(pl.all().exclude(whole).cast(pl.String)))
    return {**found, **{name: _by_text(table[name].to_numpy()) for name in whole}}


def codes_of_groups(cells: pl.DataFrame, members: Labels) -> dict[str, npt.NDArray[np.integer]]:
    """The same of rows that show the cells of their groups: groups are fewer."""
    known = column_codes(cells)
    found = side_by_side(lambda codes: codes.astype(np.int32).take(members), known.values(), len(members) * len(known))
    return dict(zip(known, found, strict=True))


def _by_text(numbers: Labels) -> Labels:
    """Codes of whole numbers in the order of their texts; only distinct ones are written as texts, which are slow."""
    known, codes = np.unique(numbers, return_inverse=True)
    rank = np.empty(len(known), dtype=np.int64)
    few = are_few(len(known))
    order = np.argsort([str(one) for one in known.tolist()]) if few else pl.Series(known).cast(pl.String).arg_sort()
    rank[np.asarray(order)] = np.arange(len(known))
    return rank.take(codes.reshape(-1))


def numbered_groups(parts: Sequence[tuple[Labels, pl.DataFrame]]) -> Labels:
    """Number groups from 1 by what they show alone, and not by how they came to be.

    Each part is a table and the group of each of its rows. Groups are in the order of their sorted rows, of the first
    part, then of the next; groups that show the same in all parts are the same to every reader.
    """
    n_groups = max(int(labels.max(initial=-1)) + 1 for labels, _ in parts)
    rank = np.zeros(n_groups, dtype=np.int64)
    for labels, frame in parts:
        if not frame.width:
            continue
        begin = np.append(0, np.cumsum(np.bincount(labels, minlength=n_groups)))
        rank = _refined(rank, _sorted_within(text_codes(frame), labels), begin)
    number = np.empty(n_groups, dtype=np.int64)
    number[np.argsort(rank, kind="stable")] = np.arange(1, n_groups + 1)
    return number


def _sorted_within(codes: Labels, labels: Labels) -> Labels:
    """Codes of one group after the other, each in rising order."""
    n_codes = int(codes.max(initial=0)) + 1
    if n_codes * (int(labels.max(initial=0)) + 1) >= MOST_CODES:
        return codes[np.lexsort((codes, labels))]
    within: Labels = np.sort(labels * n_codes + codes) % n_codes  # some ten times quicker
    return within


def _refined(rank: Labels, codes: Labels, begin: Labels) -> Labels:
    """Ranks of groups, those that tie told apart by their codes one after the other; a group that ends comes first."""
    place = 0
    tied = np.arange(len(rank))
    while True:
        counts = np.bincount(rank)
        tied = tied[(counts[rank[tied]] > 1)]
        inside = begin[tied] + place < begin[tied + 1]
        if not inside.any():
            return rank
        key = np.full(len(rank), -1, dtype=np.int64)
        key[tied[inside]] = codes[begin[tied[inside]] + place]
        order = np.lexsort((key, rank))
        new = np.zeros(len(rank), dtype=np.int64)
        new[order[1:]] = np.cumsum((np.diff(rank[order]) != 0) | (np.diff(key[order]) != 0))
        rank, place = new, place + 1


def _scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Every number turned into another (splitmix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def raw_columns(table: Table) -> tuple[QuasiColumn, ...]:
    """How quasi-identifiers are published as they are."""
    return tuple(
        QuasiColumn.model_validate(
            {
                "name": name,
                "kind": kind_name(kind),
                "form": "raw",
                "columns": [name],
                "has_missing": table.frame[name].null_count() > 0,
            }
        )
        for name, kind in table.quasi.items()
    )


def passed_columns(table: Table, rows: pl.DataFrame) -> tuple[PassedColumn, ...]:
    """The columns that are published as they are, in the order of the table.

    Of sensitive values also what a model needs to know: the order of those that are shown, or their place in the
    hierarchy. Of suppressed rows nothing is said.
    """
    columns = table.schema.columns
    return tuple(
        PassedColumn.model_validate(
            {"name": name, "role": columns[name].role, "kind": kind_name(columns[name].kind)}
            | (_known_of(table, rows.select(name)) if columns[name].role == "sensitive" else {})
        )
        for name in table.passed
    )


def _known_of(table: Table, shown: pl.DataFrame) -> dict[str, object]:
    """The order or the tree of the values of a sensitive column that are published."""
    series = shown.to_series()
    kind = table.schema.columns[series.name].kind
    if not isinstance(kind, Ordinal) and (not isinstance(kind, Nominal) or kind.hierarchy is None):
        return {}
    values = distinct_values(series).to_list()
    if isinstance(kind, Ordinal):
        known = set(values)
        return {"order": [category for category in kind.order if category in known]}
    given = table.given.columns[series.name].kind
    rule = None if given is None else given.hierarchy
    # A rule makes its tree of the values it is given; grown over all rows, it would count those of suppressed ones.
    tree = Hierarchy.grow(rule, values) if isinstance(rule, Rule) else table.hierarchy(series.name)
    return {"nodes": published_nodes(shown, tree)}


def check_clashes(names: Sequence[str], adds: str, problems: Problems) -> None:
    """Note published columns that would share a name."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        fix = "rename the column of the input, or choose another way to publish"
        problems.add(f"column {name!r}", f"clashes with a column that {adds} adds", fix, error=SchemaError)


def shown_classes(published: Published) -> Labels:
    """The class that each row is seen to be in: rows that show equal cells are in one."""
    rows = published.tables["table"].select(pl.col(published.layout.class_columns).cast(pl.String))
    places: Labels = rows.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    return places
