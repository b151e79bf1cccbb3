"""The smallest cell that covers all values of a group, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.methods.groups import Labels
from shoal.release.manifest import Node, QuasiColumn
from shoal.table.hierarchy.builders import STAR
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import Coded, renumbered, sorted_rows
from shoal.table.numbering import coded as numbered
from shoal.table.numbers import number_text
from shoal.table.schema import Kind, has_days


@dataclass(frozen=True)
class Cover:
    """The values of each group in one column, in the order of the groups."""

    low: pl.Series
    """The smallest number, or place in an order; missing where the group has no value."""
    high: pl.Series
    values: pl.Series
    """The values themselves, where they are shown as a set."""
    whole: npt.NDArray[np.bool_]
    """Whether no value of the group is missing."""
    empty: npt.NDArray[np.bool_]
    """Whether every value of the group is missing."""


def covering(
    columns: Sequence[QuasiColumn],
    frame: pl.DataFrame,
    trees: Mapping[str, Hierarchy],
    members: Labels,
    coded: Callable[[Iterable[str]], Mapping[str, Coded]] | None = None,
) -> Callable[[QuasiColumn], Cover]:
    """A function that says what covers the values of each group in a column; threads may ask it for several at once.

    Parameters
    ----------
    columns, frame
        How the quasi-identifiers are published, and their values.
    trees
        The hierarchies of those shown as nodes.
    members
        The group of each row.
    coded
        Who knows the values of columns as numbers already.
    """
    orders: dict[str, Sequence[str]] = {column.name: column.order for column in columns if column.form == "order"}
    orders |= {name: tree.leaves for name, tree in trees.items()}
    known, rows = coded(orders) if coded else numbered(frame.select(list(orders))), _Sorted.of(members)
    sets = [column.name for column in columns if column.form == "set"]
    values = _sets(frame.select(sets), members) if sets else {}
    none = pl.repeat(None, len(rows.sizes), eager=True)

    def covered(column: QuasiColumn) -> Cover:
        if column.name in known:
            places = np.append(_places(known[column.name].values, orders[column.name]), 0).astype(np.int32)
            line, gone = places.take(known[column.name].codes), known[column.name].missing
        elif column.form == "set":
            line, gone = np.zeros(len(members), dtype=np.int64), frame[column.name].is_null().to_numpy()
        else:
            series = frame[column.name]
            line, gone = series.fill_null(0).to_numpy(), series.is_null().to_numpy()
        n_missing = np.bincount(members[gone], minlength=len(rows.sizes))
        whole, empty = n_missing == 0, n_missing == rows.sizes
        low, high = (pl.Series(end).set(pl.Series(empty), None) for end in rows.ends(line, gone))
        return Cover(low, high, values.get(column.name, none), whole, empty)

    return covered


@dataclass(frozen=True)
class _Sorted:
    """Rows group by group."""

    rows: Labels
    begin: Labels
    sizes: Labels

    @classmethod
    def of(cls, members: Labels) -> _Sorted:
        sizes = np.bincount(members)
        return cls(sorted_rows(members), np.cumsum(sizes) - sizes, sizes)

    def ends(self, line: npt.NDArray[Any], gone: npt.NDArray[np.bool_]) -> list[npt.NDArray[Any]]:
        """The smallest and the largest entry of each group, of those that are there; anything where none is."""
        if not len(self.begin):
            return [line[:0], line[:0]]
        ordered, missing = line.take(self.rows), gone.take(self.rows) if gone.any() else None
        found = []
        for take, other in ((np.minimum, line.max(initial=0)), (np.maximum, line.min(initial=0))):
            found.append(take.reduceat(ordered if missing is None else np.where(missing, other, ordered), self.begin))
        return found


def _sets(frame: pl.DataFrame, members: Labels) -> dict[str, pl.Series]:
    """The values of each group, each once and in their order, column by column."""
    each = [pl.col(name).drop_nulls().unique().sort() for name in frame.columns]
    placed = frame.with_columns(pl.Series("\0group", members)).lazy()
    found = placed.group_by("\0group").agg(each).sort("\0group").collect()
    return {name: found[name] for name in frame.columns}


def _places(known: pl.Series, ordered: Sequence[str]) -> list[int]:
    """Position of each value in an order of texts."""
    place = {text: position for position, text in enumerate(ordered)}
    return [place[number_text(value) if known.dtype.is_numeric() else value] for value in known.to_list()]


def as_shown(column: QuasiColumn, cover: Cover, hierarchy: Hierarchy | None) -> QuasiColumn:
    """What is said of a column: a function of the cells that its covers become, and of what was asked for."""
    rooted = hierarchy is not None and hierarchy.names[0] == STAR  # then '*' is a node like any other
    shown_missing = cover.empty if rooted else ~cover.whole
    facts: dict[str, object] = {"has_missing": bool(shown_missing.any())}
    low, high, values = (series.filter(pl.Series(cover.whole)) for series in (cover.low, cover.high, cover.values))
    if column.form == "interval":
        facts |= {"whole": _are_whole(low) and _are_whole(high), "low": low.min(), "high": high.max()}
    elif column.form == "order":
        ranks = tuple(sorted({*low.to_list(), *high.to_list()}))
        facts |= {"order": tuple(column.order[rank] for rank in ranks), "ranks": ranks, "n_values": len(column.order)}
    elif column.form == "set":
        facts |= {"n_values": values.explode().n_unique() if len(values) else 0}
    if len(column.columns) > 1:  # a column of its own says it
        facts["has_missing"] = len(column.columns) > 2
    return QuasiColumn.model_validate(column.model_dump() | facts)


def counted_from_first(column: QuasiColumn, kind: Kind) -> QuasiColumn:
    """Days of a calendar with places from the first to the last that cells name, as numbers have their ends.

    Where a calendar begins and ends may follow from rows that are not published.
    """
    if column.form != "order" or not has_days(kind):
        return column
    first, last = (column.ranks[0], column.ranks[-1]) if column.ranks else (0, 0)
    return column.model_copy(
        update={"ranks": tuple(rank - first for rank in column.ranks), "n_values": last - first + 1}
    )


def _are_whole(numbers: pl.Series) -> bool:
    """Whether all numbers are whole, and are written so."""
    return numbers.dtype.is_integer() or bool(((numbers.floor() == numbers) & (numbers.abs() < 2**53)).all())


def text_cells(column: QuasiColumn, cover: Cover, hierarchy: Hierarchy | None) -> pl.DataFrame:
    """One text cell per group: the value itself, `[low, high]`, a node, `{a, b}`, `*`, or missing."""
    shown: dict[str, object] = {"whole": cover.whole, "empty": cover.empty}
    cell = pl.col("cell")
    if hierarchy is not None:
        shown["cell"] = _node_names(cover, hierarchy)
    elif column.form == "set":
        shown["cell"] = pl.Series([_set_text(values) for values in cover.values.to_list()], dtype=pl.String)
    else:
        shown["low"], shown["high"] = (end.cast(pl.String) for end in _ends(column, cover))
        cell = pl.when(pl.col("low") == pl.col("high")).then("low").otherwise(pl.format("[{}, {}]", "low", "high"))
    cell = pl.when("whole").then(cell).when(~pl.col("empty")).then(pl.lit(STAR)).otherwise(None)
    return pl.DataFrame(shown).select(cell.alias(column.name))


def typed_cells(column: QuasiColumn, cover: Cover, hierarchy: Hierarchy | None) -> pl.DataFrame:  # noqa: ARG001
    """Two typed columns per group, both missing where a value is; a third says whether none, all or some are."""
    low, high = _ends(column, cover)
    shown = {"low": low, "high": high, "whole": cover.whole, "empty": cover.empty}
    cells = pl.DataFrame(shown).select(
        pl.when("whole").then(pl.col("low")).alias(column.columns[0]),
        pl.when("whole").then(pl.col("high")).alias(column.columns[1]),
        pl.when("whole").then(False).when("empty").then(True).alias(f"{column.name}_missing"),
    )
    return cells.select(column.columns)


def _ends(column: QuasiColumn, cover: Cover) -> list[pl.Series]:
    """Both ends of every cover as they are written; those of cells that show none are missing."""
    ends = [cover.low, cover.high]
    if column.form == "order":
        names = dict(zip(column.ranks, column.order, strict=True))
        return [pl.Series([names.get(rank) for rank in end.to_list()], dtype=pl.String) for end in ends]
    if column.whole and not cover.low.dtype.is_integer():
        return [end.set(pl.Series(~cover.whole), None).cast(pl.Int64) for end in ends]
    return ends


def _node_names(cover: Cover, hierarchy: Hierarchy) -> pl.Series:
    """Lowest node over the first and the last leaf of each group, hence over all between; the root without any."""
    n_leaves = len(hierarchy.leaves)
    low, high = (end.cast(pl.Int64).fill_null(0).to_numpy() for end in (cover.low, cover.high))
    pairs = np.where(cover.empty, n_leaves * n_leaves, low * n_leaves + high)
    place = renumbered(pairs)
    distinct = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.int64)
    distinct[place] = pairs
    nodes = np.zeros(len(distinct), dtype=np.int64)
    known = distinct < n_leaves * n_leaves
    nodes[known] = hierarchy.arrays.over(*np.divmod(distinct[known], n_leaves))
    return pl.Series([hierarchy.names[node] for node in nodes.tolist()], dtype=pl.String).gather(place)


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
    names = {name for name in cells.to_series().unique().to_list() if name in hierarchy.node_of}
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
    """The root, the named nodes and those where the ways from them to the root meet, in the order they are written.

    A bare tree has no nodes where ways meet, so these do not decide the order either.
    """
    told, below = {hierarchy.node_of[name] for name in names}, dict[int, set[int]]()
    for name in names:
        way = [hierarchy.node_of[one] for one in hierarchy.path(name)]
        for node, above in pairwise(node for node in way if not bare or node == 0 or node in told):
            below.setdefault(above, set()).add(node)
    used: list[int] = []

    @cache
    def smallest(node: int) -> str:
        own = [hierarchy.names[node]] if node in told else []
        return min([*own, *(smallest(child) for child in below.get(node, ()))])

    def visit(node: int) -> None:
        children = below.get(node, set())
        if node == 0 or node in told or len(children) > 1:
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
