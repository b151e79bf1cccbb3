"""Values of people placed among the published cells of their column, so that the one can be found in the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.check.cell_forms import CellForm, form_of
from shoal.check.cells import read_cell
from shoal.check.value_ranges import MISSING_VALUE, SPAN, UNREAD, Axis, Range, axis_of
from shoal.errors import ParameterError, Problem, Problems
from shoal.release.manifest import Layout, Node, QuasiColumn
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbers import number_text
from shoal.table.schema import Ordinal, Schema


def axis_with_values(
    column: QuasiColumn, cells: Sequence[tuple[object, ...]], values: Sequence[object], schema: Schema | None = None
) -> Axis | str:
    """Lay published cells on a line, and after them values of people; or say why the values have no place there.

    Parameters
    ----------
    column
        How the cells are published.
    cells, values
        Distinct cells, and distinct values as they were before publishing.
    schema
        The orders and hierarchies whole: the manifest has only what the release shows of them.
    """
    form = form_of(column)
    return axis_of_read(form, [read_cell(form, *row).range for row in cells], values, schema)


def axis_of_read(
    form: CellForm, ranges: Sequence[Range], values: Sequence[object] | pl.Series, schema: Schema | None = None
) -> Axis | str:
    """The same for cells that the form has read already."""
    if isinstance(values, pl.Series):
        if form.column.form == "interval" and values.dtype.is_numeric():  # numbers are their own places
            numbers = values.cast(pl.Float64).to_numpy() + 0.0
            return axis_of(ranges, discrete=form.discrete, numbers=numbers)
        values = values.to_list()
    people = ranges_of_values(form, values, schema)
    return people if isinstance(people, str) else axis_of([*ranges, *people], discrete=form.discrete)


def ranges_of_values(form: CellForm, values: Sequence[object], schema: Schema | None = None) -> list[Range] | str:
    """What distinct values are in the terms of the cells that a form has read; or why one has no place there."""
    if form.column.form == "interval":  # numbers are their own places
        return [MISSING_VALUE if value is None else _range(form.place(value_text(value))) if isinstance(value, str)
                else Range(SPAN, float(value) + 0.0, float(value) + 0.0) for value in values]  # type: ignore[arg-type]  # fmt: skip
    placed = places_of(form, [value_text(value) for value in values if value is not None], schema)
    if isinstance(placed, str):
        return placed
    return [MISSING_VALUE if value is None else _range(placed[value_text(value)]) for value in values]


def _range(place: float | None) -> Range:
    """The range of one value; a value that no node covers is covered by `*` alone."""
    return Range(UNREAD) if place is None else Range(SPAN, place, place)


def value_text(value: object) -> str:
    """A value as cells and hierarchies write it."""
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def places_of(form: CellForm, texts: Sequence[str], schema: Schema | None) -> Mapping[str, float | None] | str:
    """The place of every value in the terms of the cells, or why one has none."""
    if form.column.form == "order":
        return _ranks(form.column, texts, schema)
    if form.column.form == "node":
        return _node_places(form, texts, schema)
    return {text: form.place(text) for text in texts}


def _ranks(column: QuasiColumn, texts: Sequence[str], schema: Schema | None) -> Mapping[str, float | None] | str:
    """Ranks of categories: the manifest has those that cells name, the schema has all of them."""
    ranks: Mapping[str, int] = dict(zip(column.order, column.ranks, strict=True))
    kind = None if schema is None else schema.quasi.get(column.name)
    if isinstance(kind, Ordinal):
        if not is_order_of(column, kind):
            raise _other(f"its order of {column.name!r}")
        if all(text in kind.ranks for text in texts):
            return {text: place_in(column, kind, kind.ranks[text]) for text in texts}
    if all(text in ranks for text in texts):
        return ranks
    if isinstance(kind, Ordinal):
        return f"column {column.name!r} has values that are not in its order"
    return f"column {column.name!r} has values with no known place in its order; give the schema with the whole of it"


def is_order_of(column: QuasiColumn, kind: Ordinal) -> bool:
    """Whether the manifest has the categories of a column where this order has them."""
    if not all(name in kind.ranks for name in column.order):
        return False
    placed = [kind.ranks[name] for name in column.order]
    first, n_values = first_rank(column, kind), len(kind.order)
    if kind.calendar is not None:
        n_values = placed[-1] - first + 1 if placed else 1
    return n_values == column.n_values and tuple(rank - first for rank in placed) == column.ranks


def first_rank(column: QuasiColumn, kind: Ordinal) -> int:
    """Which place of the whole order the manifest calls 0, if `is_order_of`: that of the first day of a calendar."""
    return kind.ranks[column.order[0]] if column.order and kind.calendar is not None else 0


def place_in(column: QuasiColumn, kind: Ordinal, rank: int) -> int | None:
    """The place that a category has in the manifest; None for a day that no cell but `*` can cover."""
    place = rank - first_rank(column, kind)
    return place if 0 <= place < column.n_values else None


def check_orders(layout: Layout, schema: Schema | None, problems: Problems) -> None:
    """Note orders of the manifest that are not those of the schema, where it is given."""
    columns = {} if schema is None else schema.columns
    kinds = {name: column.kind for name, column in columns.items() if isinstance(column.kind, Ordinal)}
    ordered = [one for one in layout.quasi if one.form == "order" and one.name in kinds]
    shown = [(one.name, is_order_of(one, kinds[one.name])) for one in ordered]
    for one in layout.passed:
        if one.name in kinds and one.order:
            ranks = [kinds[one.name].ranks.get(name, -1) for name in one.order]
            shown.append((one.name, ranks == sorted(ranks) and ranks[0] >= 0))
    for name, same in shown:
        if not same:
            what = "the manifest has another order of its categories than the schema"
            problems.add(f"column {name!r}", what, "give the schema that the release was made with")


def _node_places(form: CellForm, texts: Sequence[str], schema: Schema | None) -> Mapping[str, float | None] | str:
    """Places of the lowest published nodes above values, None where there is none."""
    column, root = form.column, form.column.nodes[0]
    paths, places = paths_of(column, texts, schema), dict[str, float | None]()
    for text in texts:
        path = (text,) if form.place(text) is not None else paths.get(text)
        if path is None and root.height > 1:
            what = f"column {column.name!r} has values with no known place in the hierarchy"
            return f"{what}; give the schema with the whole of it"
        above = path or ((str(root.name),) if root.height else ())
        places[text] = next((place for name in above if (place := form.place(name)) is not None), None)
    return places


def _other(what: str) -> ParameterError:
    """An order or a tree that is not the one of the release."""
    return ParameterError(
        Problem("schema=", f"{what} is not the one of the release", "give the schema the release was made with")
    )


def paths_of(column: QuasiColumn, texts: Sequence[str], schema: Schema | None) -> dict[str, tuple[str, ...]]:
    """The way to the root of every value, where the schema's own hierarchy knows it."""
    kind = None if schema is None else schema.quasi.get(column.name)
    hierarchy = None if kind is None else kind.hierarchy
    if isinstance(hierarchy, Rule):
        if isinstance(kind, Ordinal):  # over all categories, whichever of them are there
            return {path[0]: path for path in hierarchy.paths(kind.order)}
        if hierarchy.by_values:
            return {}
        grown = hierarchy.paths([float(text) for text in texts] if hierarchy.numeric else texts)
        return {path[0]: path for path in grown}
    if not isinstance(hierarchy, Hierarchy):
        return {}
    if not _same_tree(column.nodes, hierarchy):
        raise _other(f"its hierarchy of {column.name!r}")
    return {text: hierarchy.path(text) for text in texts if text in hierarchy.node_of}


def _same_tree(nodes: Sequence[Node], hierarchy: Hierarchy) -> bool:
    """Whether the published nodes of a manifest are nodes of a hierarchy, each below the same others, none larger."""
    return all(node.name is None or _has_path(nodes, place, hierarchy) for place, node in enumerate(nodes))


def _has_path(nodes: Sequence[Node], place: int, hierarchy: Hierarchy) -> bool:
    """Whether a hierarchy has the way from a published node to the root.

    Of a tree that a rule grew, the manifest has the smallest that shows such nodes: the hierarchy may be larger.
    """
    name = str(nodes[place].name)
    if name not in hierarchy.node_of:
        return False
    tree, way = hierarchy.arrays, [hierarchy.node_of[one] for one in hierarchy.path(name)]
    at: int | None = place
    while at is not None:
        node, root = nodes[at], nodes[at].parent is None
        fits = [
            number
            for number in way
            if (node.name in (None, hierarchy.names[number])) and (not root or number == 0)
            and tree.height[number] >= node.height and tree.n_leaves[number] >= node.leaves
        ]  # fmt: skip
        if not fits:
            return False
        way = way[way.index(fits[0]) + 1 :]
        at = node.parent
    return True
