"""What blocks show row by row, and the tables that a part of a release has of it.

Classes and buckets get their numbers in their part, by what they show, from where the part before ends: so a number is
a function of what is published, and says nothing of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.engines.people import PERSON
from shoal.engines.placing import parts_of, parts_of_buckets
from shoal.errors import Problems
from shoal.methods.groups import Labels
from shoal.publish.base import Published, arrange
from shoal.publish.buckets import bucket_tables
from shoal.publish.centres import centre_tables
from shoal.publish.generalize import class_tables
from shoal.publish.slices import sliced_tables
from shoal.release.manifest import Layout
from shoal.table.prepare import Table

GROUP = "\1group"
"""The group of a row within its block, where cells do not tell it; never written into a release."""


def check_free_names(names: Sequence[str], found: Problems) -> None:
    """Note columns of the input that are called as columns of the work are."""
    for place, name in enumerate(names, 1):
        if name in (GROUP, PERSON):
            found.add(f"column number {place}", "has a name that work on blocks needs for itself", "rename it")


def has_numbers(layout: Layout) -> bool:
    """Whether classes or buckets have numbers, over all parts."""
    return layout.class_table is not None or layout.laid_out.protects == "links"


def side_by_side(published: Published, table: Table, labels: Labels) -> pl.DataFrame:
    """All that a block shows of every row, of whichever table, and its group where cells do not tell it."""
    layout, rows = published.layout, published.tables["table"]
    if layout.slices:
        return rows.rename({"bucket": GROUP})
    if layout.laid_out.sensitive_table is not None:
        shown = table.frame.select([*rows.drop("bucket").columns, *layout.sensitive])
        return shown.with_columns(pl.Series(GROUP, labels))
    if layout.class_table is None:
        return rows
    number = rows["class"].to_numpy() - 1
    facts = [name for name in layout.class_facts if name != "class"]
    classes = published.tables[layout.class_table].drop("class")[number]
    if layout.laid_out.distinct_classes:  # classes of other blocks that show the same are the same, and add to the size
        return pl.concat([classes.drop(facts), rows.drop("class")], how="horizontal")
    return pl.concat([classes, rows.drop("class"), pl.DataFrame({GROUP: number})], how="horizontal")


def places_of(rows: pl.DataFrame, layout: Layout, parts: int) -> Labels:
    """The part that each row of a block goes to: all rows of a class, or bucket, to one."""
    if layout.laid_out.protects != "links":
        return parts_of(rows.select(layout.cell_columns), parts)
    tables = [rows.select(one.columns) for one in layout.slices]
    tables = tables or [rows.drop(GROUP, *layout.sensitive), rows.select(layout.sensitive)]
    return parts_of_buckets(tables, rows[GROUP].to_numpy(), parts)


def with_groups_apart(blocks: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several blocks; their groups are different ones."""
    if GROUP not in blocks[0].columns:
        return pl.concat(blocks, how="vertical_relaxed")
    apart, n_groups = [], 0
    for rows in blocks:
        apart.append(rows.with_columns(pl.col(GROUP) + n_groups))
        n_groups += int(rows[GROUP].max() or 0) + 1  # type: ignore[arg-type]
    return pl.concat(apart, how="vertical_relaxed")


def n_numbered(rows: pl.DataFrame, layout: Layout) -> int:
    """How many classes or buckets the rows of a part have, where these have numbers."""
    if not has_numbers(layout):
        return 0
    return rows.n_unique([GROUP] if GROUP in rows.columns else layout.cell_columns) if rows.height else 0


def tables_of(rows: pl.DataFrame, layout: Layout, first: int = 1) -> tuple[dict[str, pl.DataFrame], Labels]:
    """The tables of a part in the order of their content, and which row went where; numbers begin with `first`."""
    if layout.slices:
        sliced, order = sliced_tables(rows.rename({GROUP: "bucket"}), layout, first)
        return sliced.tables, order.to_numpy()
    if not has_numbers(layout):
        tables = {"table": rows}
    elif layout.class_table is None:
        labels = np.unique(rows[GROUP].to_numpy(), return_inverse=True)[1].reshape(-1).astype(np.int64)
        tables = bucket_tables(rows.drop(GROUP, *layout.sensitive), rows.select(layout.sensitive), labels, first)
    elif layout.laid_out.distinct_classes:
        passed = rows.select([column.name for column in layout.passed])
        tables = class_tables(rows.select(layout.cell_columns), np.arange(rows.height), passed, first)
    else:
        tables = _with_centres(rows, layout, first)
    arranged, order = arrange(Published(tables, layout))
    return arranged.tables, order.to_numpy()


def whose_order(rows: pl.DataFrame, tables: Mapping[str, pl.DataFrame], layout: Layout, order: Labels) -> Labels:
    """The rows in the order in which the checker reads them back: of buckets, in that of the table of values."""
    if layout.laid_out.sensitive_table is None:
        return order
    number = np.empty(rows.height, dtype=np.int64)
    number[order] = tables["table"]["bucket"].to_numpy()
    texts = [pl.col(name).cast(pl.String) for name in layout.sensitive]
    by_text = rows.select(pl.arg_sort_by(pl.Series("\1bucket", number), *texts, nulls_last=True))
    return by_text.to_series().to_numpy().astype(np.int64)


def _with_centres(rows: pl.DataFrame, layout: Layout, first: int) -> dict[str, pl.DataFrame]:
    """A table of groups, each with the cells and facts that all its rows carry, and the rows."""
    _, begin, labels = np.unique(rows[GROUP].to_numpy(), return_index=True, return_inverse=True)
    groups = rows[begin]
    facts = groups.select([name for name in layout.class_facts if name != "class"])
    passed = rows.select([column.name for column in layout.passed])
    return centre_tables(groups.select(layout.cell_columns), facts, labels.reshape(-1).astype(np.int64), passed, first)
