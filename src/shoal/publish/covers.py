"""The smallest cell that covers all values of a group, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.kernels.trees import meet
from shoal.manifest import Node, QuasiColumn
from shoal.methods.groups import Labels
from shoal.table.builders import STAR
from shoal.table.hierarchy import Hierarchy
from shoal.table.numbers import number_text

NONE, SOME, ALL = 0, 1, 2
"""How many values of a group are missing."""


def cover(column: QuasiColumn, series: pl.Series, members: Labels, hierarchy: Hierarchy | None) -> pl.DataFrame:
    """Per group, in label order: `low` and `high` (numbers, or places in an order), `holes`, `values` for a set."""
    values = series
    if hierarchy is not None:
        values = _places(series, hierarchy.leaves)
    elif column.form == "order":
        values = _places(series, column.order)
    facts = [
        pl.col("value").min().alias("low"),
        pl.col("value").max().alias("high"),
        pl.when(pl.col("value").null_count() == 0)
        .then(NONE)
        .when(pl.col("value").null_count() < pl.len())
        .then(SOME)
        .otherwise(ALL)
        .alias("holes"),
    ]
    if column.form == "set":
        facts.append(pl.col("value").drop_nulls().unique().sort().alias("values"))
    frame = pl.DataFrame({"group": members, "value": values})
    return frame.group_by("group").agg(facts).sort("group")


def _places(series: pl.Series, ordered: Sequence[str]) -> pl.Series:
    """Position of each value in an order of texts."""
    known = series.unique().drop_nulls()
    place = {text: position for position, text in enumerate(ordered)}
    numeric = series.dtype.is_numeric()
    found = [place[number_text(value) if numeric else value] for value in known.to_list()]
    return series.replace_strict(known, pl.Series(found, dtype=pl.Int64), default=None, return_dtype=pl.Int64)


def text_cells(column: QuasiColumn, covers: pl.DataFrame, hierarchy: Hierarchy | None) -> pl.DataFrame:
    """One text cell per group: the value itself, `[low, high]`, a node, `{a, b}`, `*`, or missing."""
    if hierarchy is not None:
        cell = _node_names(covers, hierarchy)
    elif column.form == "set":
        cell = pl.Series([_set_text(values) for values in covers["values"].to_list()], dtype=pl.String)
    else:
        low, high = _ends(column, covers)
        ends = pl.DataFrame({"low": low.cast(pl.String), "high": high.cast(pl.String)})
        run = (
            pl.when(pl.col("low") == pl.col("high")).then(pl.col("low")).otherwise(pl.format("[{}, {}]", "low", "high"))
        )
        cell = ends.select(run).to_series()
    holes = pl.col("holes")
    shown = pl.when(holes == NONE).then(pl.col("cell")).when(holes == SOME).then(pl.lit(STAR)).otherwise(None)
    return pl.DataFrame({"cell": cell, "holes": covers["holes"]}).select(shown.alias(column.name))


def typed_cells(column: QuasiColumn, covers: pl.DataFrame, hierarchy: Hierarchy | None) -> pl.DataFrame:  # noqa: ARG001
    """Two typed columns per group, both missing where a value is; a third says whether none, all or some are."""
    low, high = _ends(column, covers)
    holes = pl.col("holes")
    cells = pl.DataFrame({"low": low, "high": high, "holes": covers["holes"]}).select(
        pl.when(holes == NONE).then(pl.col("low")).alias(column.columns[0]),
        pl.when(holes == NONE).then(pl.col("high")).alias(column.columns[1]),
        pl.when(holes == NONE).then(False).when(holes == ALL).then(True).alias(f"{column.name}_missing"),
    )
    return cells.select(column.columns)


def _ends(column: QuasiColumn, covers: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    if column.form != "order":
        return covers["low"], covers["high"]
    names = pl.Series(column.order, dtype=pl.String)
    return names.gather(covers["low"]), names.gather(covers["high"])


def _node_names(covers: pl.DataFrame, hierarchy: Hierarchy) -> pl.Series:
    """Lowest node over the first and the last leaf of each group, hence over all between."""
    tree = hierarchy.arrays
    ends = covers.select(pl.col("low", "high").fill_null(0)).unique()
    nodes = [
        hierarchy.names[meet(tree.parent, tree.depth, tree.leaf_node[low], tree.leaf_node[high])]
        for low, high in ends.iter_rows()
    ]
    named = ends.with_columns(pl.Series("cell", nodes, dtype=pl.String))
    filled = covers.select(pl.col("low", "high").fill_null(0))
    return filled.join(named, on=["low", "high"], how="left", maintain_order="left")["cell"]


def _set_text(values: list[str]) -> str | None:
    """`{a, b}`; a comma, brace or backslash inside a value is escaped, and one plain value stands alone."""
    if not values:
        return None
    if len(values) == 1 and not values[0].startswith("{"):
        return values[0]
    escaped = [value.replace("\\", "\\\\").replace(",", "\\,").replace("}", "\\}") for value in values]
    return "{" + ", ".join(escaped) + "}"


def published_nodes(cells: pl.DataFrame, hierarchy: Hierarchy | None) -> tuple[Node, ...]:
    """The published nodes and those above them: of the rest of the tree, a release says nothing."""
    if hierarchy is None:
        return ()
    shown = [name for name in cells.to_series().unique().drop_nulls().to_list() if name in hierarchy.node_of]
    used = sorted({hierarchy.node_of[above] for name in shown for above in hierarchy.path(name)} | {0})
    position = {node: place for place, node in enumerate(used)}
    tree = hierarchy.arrays
    return tuple(
        Node(
            name=hierarchy.names[node],
            parent=None if node == 0 else position[int(tree.parent[node])],
            height=int(tree.height[node]),
            leaves=int(tree.n_leaves[node]),
        )
        for node in used
    )
