"""The smallest cell that covers all values of a group, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

import polars as pl

from shoal.kernels.cluster.trees import meet
from shoal.methods.groups import Labels
from shoal.release.manifest import Node, QuasiColumn
from shoal.table.hierarchy.builders import STAR
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import distinct_values
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
    known = distinct_values(series)
    place = {text: position for position, text in enumerate(ordered)}
    numeric = series.dtype.is_numeric()
    found = [place[number_text(value) if numeric else value] for value in known.to_list()]
    return series.replace_strict(known, pl.Series(found, dtype=pl.Int64), default=None, return_dtype=pl.Int64)


def as_shown(column: QuasiColumn, covers: pl.DataFrame, hierarchy: Hierarchy | None) -> QuasiColumn:
    """What is said of a column: a function of the cells that its covers become, and of what was asked for."""
    full = covers.filter(pl.col("holes") == NONE)
    rooted = hierarchy is not None and hierarchy.names[0] == STAR  # then '*' is a node like any other
    shown_missing = covers.filter(pl.col("holes") == ALL) if rooted else covers.filter(pl.col("holes") != NONE)
    facts: dict[str, object] = {"has_missing": shown_missing.height > 0}
    if column.form == "interval":
        whole = _is_whole(full["low"]) and _is_whole(full["high"])
        facts |= {"whole": whole, "low": full["low"].min(), "high": full["high"].max()}
    elif column.form == "order":
        ranks = tuple(sorted({*full["low"].to_list(), *full["high"].to_list()}))
        facts |= {"order": tuple(column.order[rank] for rank in ranks), "ranks": ranks, "n_values": len(column.order)}
    elif column.form == "set":
        facts |= {"n_values": full["values"].explode().n_unique() if full.height else 0}
    if len(column.columns) > 1:  # a column of its own says it
        facts["has_missing"] = len(column.columns) > 2
    return QuasiColumn.model_validate(column.model_dump() | facts)


def _is_whole(numbers: pl.Series) -> bool:
    """Whether all numbers are whole, and are written so."""
    present = numbers.drop_nulls()
    return numbers.dtype.is_integer() or bool(((present.floor() == present) & (present.abs() < 2**53)).all())


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
    """Both ends of every cover as they are written; those of cells that show none are missing."""
    low, high = covers["low"], covers["high"]
    if column.form == "order":
        names = pl.DataFrame({"rank": column.ranks, "name": column.order}, {"rank": pl.Int64, "name": pl.String})
        return tuple(
            pl.DataFrame({"rank": end}).join(names, on="rank", how="left", maintain_order="left")["name"]
            for end in (low, high)
        )  # type: ignore[return-value]
    if column.whole and not low.dtype.is_integer():
        shown = covers["holes"] == NONE
        return tuple(end.set(~shown, None).cast(pl.Int64) for end in (low, high))  # type: ignore[return-value]
    return low, high


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


def published_nodes(
    cells: pl.DataFrame, hierarchy: Hierarchy | None, *, grown: bool = False, bare: bool = False
) -> tuple[Node, ...]:
    """The published nodes, and where they meet: nodes without a name. Of the rest of the tree, a release says nothing.

    Every node comes after the one above it and all below that one together, those with the smaller names first.

    Of a tree that a rule has grown over the values of the input, not even heights and numbers of leaves are told: they
    are those of the smallest tree with such nodes. Where it depends on these values which nodes a tree has, nodes that
    no cell shows are left out (`bare`), but for the root.
    """
    if hierarchy is None:
        return ()
    names = {name for name in distinct_values(cells.to_series()).to_list() if name in hierarchy.node_of}
    used = _in_one_order(hierarchy, names, bare=bare)
    position = {node: place for place, node in enumerate(used)}
    tree = hierarchy.arrays
    parents = [_place_above(hierarchy, node, position) for node in used]
    sizes = [(int(tree.height[node]), int(tree.n_leaves[node])) for node in used]
    if grown:
        sizes = _smallest(parents, [size[0] > 0 for size in sizes])
    shown = [hierarchy.names[node] for node in used]
    return tuple(
        Node(name=name if name in names else None, parent=parent, height=height, leaves=leaves)
        for name, parent, (height, leaves) in zip(shown, parents, sizes, strict=True)
    )


def _in_one_order(hierarchy: Hierarchy, names: set[str], *, bare: bool) -> list[int]:
    """The root, the named nodes and those where the ways from them to the root meet, in the order they are written."""
    below: dict[int, set[int]] = {}
    for name in names:
        way = [hierarchy.node_of[one] for one in hierarchy.path(name)]
        for node, above in pairwise(way):
            below.setdefault(above, set()).add(node)
    told = {hierarchy.node_of[name] for name in names}
    used: list[int] = []

    @cache
    def smallest(node: int) -> str:
        own = [hierarchy.names[node]] if node in told else []
        return min([*own, *(smallest(child) for child in below.get(node, ()))])

    def visit(node: int) -> None:
        children = below.get(node, set())
        if node == 0 or node in told or (len(children) > 1 and not bare):
            used.append(node)
        for child in sorted(children, key=smallest):
            visit(child)

    visit(0)
    return used


def _place_above(hierarchy: Hierarchy, node: int, position: Mapping[int, int]) -> int | None:
    """The place of the nearest of some nodes above one of them; None for the root."""
    above = int(hierarchy.arrays.parent[node])
    while node and above not in position:
        above = int(hierarchy.arrays.parent[above])
    return position[above] if node else None


def _smallest(parents: Sequence[int | None], inner: Sequence[bool]) -> list[tuple[int, int]]:
    """Height and leaves of each node in the smallest tree that has these nodes; parents come first.

    An inner node covers two values at least, or it would not be shown.
    """
    height, leaves = [0] * len(parents), [0] * len(parents)
    for place in range(len(parents) - 1, -1, -1):
        if inner[place]:
            height[place], leaves[place] = max(height[place], 1), max(leaves[place], 2)
        else:
            leaves[place] = 1
        parent = parents[place]
        if parent is not None:
            height[parent] = max(height[parent], height[place] + 1)
            leaves[parent] += leaves[place]
    return list(zip(height, leaves, strict=True))
