"""Sensitive columns of a release read back, with what the manifest says of their values, and whether that can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.check.whose import Whose
from shoal.errors import Problems, cells_are, rows_at
from shoal.privacy.base import Tree, Values
from shoal.release.manifest import Manifest, Node, PassedColumn
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Schema
from shoal.table.spelling import find_variants

NO_TREE = "is not a tree"


def sensitive_values(
    table: pl.DataFrame,
    manifest: Manifest,
    problems: Problems,
    schema: Schema | None = None,
    people: Whose | None = None,
) -> dict[str, Values]:
    """The sensitive columns; note what the manifest says of passed columns that their cells contradict.

    The schema, where it is given, knows the names of nodes that no cell shows; `people` says whose value each one is.
    """
    found = {}
    for column in manifest.layout.passed:
        where, cells = f"column {column.name!r}", table[column.name]
        kind = column.kind if column.role == "sensitive" else None
        if (column.order and kind != "ordinal") or (column.nodes and kind != "nominal"):
            problems.add(
                where, "has an order or a hierarchy in the manifest that a column of its role and kind cannot have"
            )
        elif kind == "numeric":
            cells = _numbers(cells, where, problems)
        elif kind == "ordinal":
            if Counter(column.order) != Counter(cells.drop_nulls().cast(pl.String).unique().to_list()):
                problems.add(where, "the manifest lists other categories than are published")
        elif kind == "nominal":
            _check_tree(column, cells, problems)
        if column.role == "sensitive":
            if manifest.recipe.normalise and cells.dtype == pl.String and find_variants(cells).n_values:
                problems.add(where, "has values in more than one spelling, but the recipe merges spellings")
            whose = None if people is None else people.values.get(column.name, people.rows)
            found[column.name] = Values(cells, column.kind, column.order, _tree(column, schema), people=whose)
    return found


def _numbers(cells: pl.Series, where: str, problems: Problems) -> pl.Series:
    """Numbers as numbers, whole ones exactly; from CSV they come as text."""
    if cells.dtype.is_integer():
        return cells
    whole = cells.cast(pl.Int64, strict=False) if cells.dtype == pl.String else None
    if whole is not None and whole.null_count() == cells.null_count():
        return whole
    numbers = cells.cast(pl.Float64, strict=False)
    bad = np.flatnonzero((cells.is_not_null() & ~numbers.is_finite().fill_null(value=False)).to_numpy())
    if len(bad):
        problems.add(where, f"{cells_are(len(bad))} not numbers, at {rows_at(bad.tolist())}")
    return numbers


def _check_tree(column: PassedColumn, cells: pl.Series, problems: Problems) -> None:
    """The nodes are a tree that holds every published value and nothing else; values are its leaves.

    A node above others would count as one more value where it may stand for one that is there already.
    """
    where = f"column {column.name!r}"
    if not column.nodes:
        return
    published = set(cells.cast(pl.String).unique().to_list())
    complaint = tree_complaint(column.nodes, published)
    if complaint:
        problems.add(where, f"the manifest's hierarchy {complaint}")
    elif published - {None} - {node.name for node in column.nodes}:
        problems.add(where, "the manifest's hierarchy does not contain all published values")
    elif column.form == "raw" and any(node.name is not None and node.height for node in column.nodes):
        problems.add(where, "shows nodes of its hierarchy that have others below them, and no values")


def tree_complaint(nodes: Sequence[Node], published: set[str | None]) -> str | None:
    """Say what is wrong with the nodes: no tree, impossible heights or counts, or more than the release uses."""
    parents = [node.parent for node in nodes]
    if parents[:1] != [None] or any(parent is None or not 0 <= parent < i for i, parent in enumerate(parents) if i):
        return NO_TREE
    names = [node.name for node in nodes if node.name is not None]
    if len(set(names)) < len(names):
        return "names a node more than once"
    if set(names) - published:
        return "names a node that no cell shows"
    leaves_below, used = [0] * len(nodes), [node.name is not None for node in nodes]
    for i in range(len(nodes) - 1, 0, -1):
        above = int(parents[i] or 0)
        leaves_below[above] += nodes[i].leaves
        used[above] |= used[i]
        if nodes[i].height >= nodes[above].height:
            return "has a node that is as high as its parent"
    if any(below > node.leaves for below, node in zip(leaves_below, nodes, strict=True)):
        return "has a node with more leaves below it than it states"
    if any(node.height == 0 and node.leaves > 1 for node in nodes):
        return "has a leaf that states more than one leaf"
    if not all(used[1:]):
        return "has nodes that the release does not use"
    return None if _is_in_order(nodes) else "has nodes in another order than Shoal writes, or more than needed"


def _is_in_order(nodes: Sequence[Node]) -> bool:
    """Whether nodes stand below one another without gaps, smaller names first, and those without a name have two below.

    A node comes after the one above it; whatever else lies between them is below that one too.
    """
    below: list[list[int]] = [[] for _ in nodes]
    smallest: list[str | None] = [node.name for node in nodes]
    for place in range(len(nodes) - 1, 0, -1):
        above = int(nodes[place].parent or 0)
        below[above].append(place)
        own, other = smallest[above], smallest[place]
        smallest[above] = other if own is None or (other is not None and other < own) else own
    if any(node.name is None and len(below[place]) < 2 for place, node in enumerate(nodes) if place):
        return False
    written, waiting = [], [0]
    while waiting:
        place = waiting.pop()
        written.append(place)
        waiting += sorted(below[place], key=lambda child: str(smallest[child]), reverse=True)
    return written == list(range(len(nodes)))


def _tree(column: PassedColumn, schema: Schema | None) -> Tree | None:
    nodes = column.nodes
    if not nodes:
        return None
    if (known := _known_tree(column, schema)) is not None:
        return known
    names = tuple(node.name if node.name is not None else f"\0{place}" for place, node in enumerate(nodes))
    parents = tuple(-1 if node.parent is None else node.parent for node in nodes)
    heights, leaves = tuple(node.height for node in nodes), tuple(node.leaves for node in nodes)
    return Tree(names, parents, heights, leaves, complete=False)


def _known_tree(column: PassedColumn, schema: Schema | None) -> Tree | None:
    """The published nodes and all above them, with their names, where the schema has the tree that they are of."""
    known = None if schema is None else schema.columns.get(column.name)
    hierarchy = None if known is None or known.kind is None else known.kind.hierarchy
    shown = {node.name: (node.height, node.leaves) for node in column.nodes if node.name is not None}
    if isinstance(hierarchy, Rule):
        hierarchy = Hierarchy.grow(hierarchy, sorted(shown))
    if hierarchy is None or not set(shown) <= set(hierarchy.node_of):
        return None
    tree, node_of = hierarchy.arrays, hierarchy.node_of
    if any((tree.height[node_of[name]], tree.n_leaves[node_of[name]]) != size for name, size in shown.items()):
        return None
    used = sorted({node_of[above] for name in shown for above in hierarchy.path(name)} | {0})
    place = {node: number for number, node in enumerate(used)}
    return Tree(
        tuple(hierarchy.names[node] for node in used),
        tuple(place[int(tree.parent[node])] if node else -1 for node in used),
        tuple(int(tree.height[node]) for node in used),
        tuple(int(tree.n_leaves[node]) for node in used),
    )
