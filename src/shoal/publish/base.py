"""What every publisher is: a frozen description that shows groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import Problems, SchemaError
from shoal.manifest import Layout, PassedColumn, QuasiColumn
from shoal.methods.base import Hides
from shoal.methods.groups import Groups
from shoal.publish.covers import published_nodes
from shoal.spec import Spec
from shoal.table.builders import Rule
from shoal.table.hierarchy import Hierarchy
from shoal.table.prepare import Table
from shoal.table.schema import Nominal, Ordinal, kind_name

MOST_CODES = 1 << 62
"""How many combinations of texts have numbers of their own before they are numbered anew."""


@dataclass(frozen=True)
class Published:
    """The tables to publish, rows still in the order of the input, and how they are to be read."""

    tables: dict[str, pl.DataFrame]
    layout: Layout


class Publisher(Spec, ABC):
    """A way of showing a group."""

    name: ClassVar[str]
    title: ClassVar[str]
    loses: ClassVar[str]
    """What a release of this kind loses: `ncp`, how much its cells leave open, or `sse`, how far values move."""
    hides: ClassVar[Hides] = "cells"

    @abstractmethod
    def check(self, table: Table, problems: Problems) -> None:
        """Note why this table cannot be shown this way, before any work starts."""

    @abstractmethod
    def publish(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table; suppressed rows are left out."""

    def in_no_order(self, published: Published, rng: np.random.Generator) -> tuple[Published, pl.Series]:
        """Bring what is published into an order that leads nowhere; for the holder, which row went where."""
        return in_no_order(published, rng)


def in_no_order(published: Published, rng: np.random.Generator) -> tuple[Published, pl.Series]:
    """Bring the rows into an order that leads nowhere; for the holder, which row went where.

    They are sorted by the text they show, then shuffled. Who knows the seed can undo the shuffle, and is left with the
    sorted table, which holds nothing of the order of the input.
    """
    table = published.tables["table"]
    order = by_text(table)[rng.permutation(table.height)]
    return Published({**published.tables, "table": table[order]}, published.layout), order


def by_text(table: pl.DataFrame) -> pl.Series:
    """Which row comes where when rows are sorted by the text they show."""
    return pl.Series(np.argsort(_text_codes(table), kind="stable"))


def _text_codes(table: pl.DataFrame) -> npt.NDArray[np.int64]:
    """Numbers in the order of the texts that rows show, column after column, missing ones last."""
    codes, n_codes = np.zeros(table.height, dtype=np.int64), 1
    for series in table:
        texts = series.cast(pl.String)
        known = texts.drop_nulls().unique().sort()
        places = pl.Series(range(len(known)), dtype=pl.Int64)
        column = (
            texts.replace_strict(known, places, default=None, return_dtype=pl.Int64).fill_null(len(known)).to_numpy()
        )
        if n_codes * (len(known) + 1) >= MOST_CODES:
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
            n_codes = int(codes.max(initial=0)) + 1
        codes, n_codes = codes * (len(known) + 1) + column, n_codes * (len(known) + 1)
    return codes


def numbered_buckets(group: pl.Series, parts: Sequence[pl.DataFrame]) -> pl.Series:
    """Number groups from 1 in an order that depends on what they show alone, and not on how they came to be.

    `parts` are the tables whose rows are shown apart from each other: which belong together must not be seen. Groups
    are in the order of the first of their rows in the first part; those with equal ones in that of a hash of all.
    """
    labels = np.unique(group.to_numpy(), return_inverse=True)[1].reshape(-1)
    n_groups = int(labels.max(initial=-1)) + 1
    first = np.full(n_groups, np.iinfo(np.int64).max)
    mark = np.zeros(n_groups, dtype=np.uint64)
    for place, part in enumerate(parts):
        codes = _text_codes(part)
        if place == 0:
            np.minimum.at(first, labels, codes)
        inside = np.zeros(n_groups, dtype=np.uint64)
        np.add.at(inside, labels, _scrambled(codes.astype(np.uint64)))  # a sum: the order of rows is not in it
        mark = _scrambled(mark + inside)
    number = np.empty(n_groups, dtype=np.int64)
    number[np.lexsort((mark, first))] = np.arange(1, n_groups + 1)
    return pl.Series("bucket", number[labels])


def _scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Every number turned into another, so that sums of them tell sets apart (splitmix64)."""
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
                "order": kind.order if isinstance(kind, Ordinal) else (),
            }
        )
        for name, kind in table.quasi.items()
    )


def passed_columns(table: Table, rows: pl.DataFrame | None = None) -> tuple[PassedColumn, ...]:
    """The columns that are published as they are, in the order of the table.

    Given the published rows, also what a model needs to know of sensitive values: the order of those that are shown, or
    their place in the hierarchy. Of suppressed rows nothing is said.
    """
    columns = table.schema.columns
    return tuple(
        PassedColumn.model_validate(
            {"name": name, "role": columns[name].role, "kind": kind_name(columns[name].kind)}
            | ({} if rows is None or columns[name].role != "sensitive" else _known_of(table, rows.select(name)))
        )
        for name in table.frame.columns
        if table.schema.roles.get(name) in ("sensitive", "neutral")
    )


def _known_of(table: Table, shown: pl.DataFrame) -> dict[str, object]:
    """The order or the tree of the values of a sensitive column that are published."""
    series = shown.to_series()
    kind = table.schema.columns[series.name].kind
    values = series.drop_nulls().unique().sort().to_list()
    if isinstance(kind, Ordinal):
        return {"order": [category for category in kind.order if category in set(values)]}
    if not isinstance(kind, Nominal) or kind.hierarchy is None:
        return {}
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
