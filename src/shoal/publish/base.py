"""What every publisher is: a frozen description that shows groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
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
    texts = table.select(pl.all().cast(pl.String))
    return texts.select(pl.arg_sort_by(texts.columns, nulls_last=True)).to_series()


def numbered_buckets(group: pl.Series, parts: Sequence[pl.DataFrame]) -> pl.Series:
    """Number groups from 1 in the order of what they show, which says nothing about how they came to be.

    `parts` are the tables whose rows are shown apart from each other: which belong together must not be seen.
    """
    keys = [f"\0{place}" for place in range(len(parts))]
    known = pl.DataFrame({"group": group}).unique(maintain_order=True)
    for key, part in zip(keys, parts, strict=True):
        cells = [pl.col(name).cast(pl.String).fill_null("\0") for name in part.columns]
        texts = pl.DataFrame(
            [group.alias("group"), part.select(pl.concat_str(cells, separator="\1")).to_series().alias(key)]
        )
        listed = texts.sort("group", key).group_by("group").agg(pl.col(key).str.join("\2"))
        known = known.join(listed, on="group", how="left", maintain_order="left")
    known = known.sort(*keys, "group").with_row_index("bucket", offset=1)
    numbered = pl.DataFrame({"group": group}).join(known, on="group", how="left", maintain_order="left")
    return numbered["bucket"].cast(pl.Int64)


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
