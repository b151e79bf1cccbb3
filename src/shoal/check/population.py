"""How a population fits a release: how many of its people the cells of each class cover.

Only cells that generalise cover people: intervals, runs, nodes and sets. The cells were checked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.check.cells import set_values, splits
from shoal.check.containment import Containers
from shoal.check.value_ranges import (
    ANYTHING,
    NOTHING_KNOWN,
    SPAN,
    UNREAD,
    Axis,
    Ints,
    Meaning,
    axis_of,
    boxes_of,
    distinct_cells,
    one_of,
)
from shoal.errors import ParameterError, Problem, Problems, SchemaError, some
from shoal.privacy.base import Matches
from shoal.release.manifest import Layout, Node, QuasiColumn
from shoal.table.clean import clean
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbers import number_text
from shoal.table.schema import Column, Nominal, Numeric, Ordinal, Schema

"""Shapes of releases whose cells cover values."""


def population_matches(
    cells: pl.DataFrame, labels: Ints, layout: Layout, population: pl.DataFrame, schema: Schema | None = None
) -> Matches | str:
    """Count the people that each class covers, or say why that cannot be known.

    Parameters
    ----------
    cells, labels
        The published cells row by row, and the class of each row.
    layout
        How the cells are to be read.
    population
        One row per person, with the quasi-identifiers as they were before publishing.
    schema
        The hierarchies whole: without it, a value that the release does not show has no known place in a tree.
    """
    if not layout.laid_out.compares_population:
        return "only a release that generalises can be compared with a population"
    people = _people(layout, population)
    sizes, heads = np.bincount(labels), np.unique(labels, return_index=True)[1]
    axes, class_codes, person_codes = [], [], []
    for column in layout.quasi:
        shown, class_code = distinct_cells(cells[heads].select(column.columns))
        values, person_code = distinct_cells(people.select(column.name))
        read = reader_of(column, [row[0] for row in values], schema)
        if isinstance(read, str):
            return read
        meanings, persons = [read.cell(*row) for row in shown], [read.person(row[0]) for row in values]
        axes.append(axis_of([*meanings, *persons], discrete=column.form != "interval"))
        class_codes.append(class_code)
        person_codes.append(person_code + len(meanings))
    return _matches(axes, np.stack(class_codes, axis=1), np.stack(person_codes, axis=1), sizes)


def _people(layout: Layout, population: pl.DataFrame) -> pl.DataFrame:
    """The quasi-identifiers of the population in their canonical types, or one error with all problems."""
    lacking = [column.name for column in layout.quasi if column.name not in population.columns]
    if lacking:
        fix = "give a table with the quasi-identifiers of every person"
        raise ParameterError(Problem("population", f"has no column {some(lacking, 50)}", fix))
    problems, found = Problems(), []
    for column in layout.quasi:
        kind = Numeric() if column.kind == "numeric" else Nominal()
        found.append(clean(population[column.name], Column(column.name, "quasi", kind), (), problems))
    problems.raise_if_any(SchemaError)
    return pl.DataFrame(found)


def _matches(axes: Sequence[Axis], classes: Ints, persons: Ints, sizes: Ints) -> Matches:
    """Count over distinct people: first who is covered by which class, then how likely each is inside."""
    names = [str(place) for place in range(len(axes))]
    distinct, number = distinct_cells(pl.DataFrame(persons, schema=names, orient="row"))
    weight = np.bincount(number, minlength=len(distinct)).astype(np.int64)
    queries = boxes_of(axes, np.array(distinct, dtype=np.int64).reshape(-1, len(axes)))
    containers = Containers.of(boxes_of(axes, classes))
    per_class = containers.weigh(queries, weight)
    chance = containers.add_up(queries, sizes / np.maximum(per_class, 1))
    return Matches(per_class, chance[number])


class _Reader:
    """Reads the cells of one column, and people's values in the same terms."""

    def __init__(self, column: QuasiColumn) -> None:
        self.column = column

    def cell(self, *cells: object) -> Meaning:
        """What a published cell covers."""
        if len(self.column.columns) > 1:
            return self._typed(*cells)
        text = cells[0]
        if text is None:
            return NOTHING_KNOWN
        return ANYTHING if text == "*" else self.present(str(text))

    def _typed(self, low: object, high: object, missing: object = False) -> Meaning:
        if low is None or high is None:
            return NOTHING_KNOWN if str(missing).lower() == "true" else ANYTHING
        return Meaning(SPAN, self.number(str(low)), self.number(str(high)))

    def person(self, value: object) -> Meaning:
        """What a person's own value is."""
        if value is None:
            return NOTHING_KNOWN
        place = self.number(_text(value))
        return Meaning(SPAN, place, place)

    def present(self, text: str) -> Meaning:
        """What a cell covers that holds a value or a run of values."""
        if text.startswith("[") and text.endswith("]") and not self.is_value(text):
            for low, high in splits(text[1:-1]):
                if self.is_value(low) and self.is_value(high):
                    return Meaning(SPAN, self.number(low), self.number(high))
        return Meaning(SPAN, self.number(text), self.number(text))

    def number(self, text: str) -> float:
        return float(text)

    def is_value(self, text: str) -> bool:
        try:
            float(text)
        except ValueError:
            return False
        return True


class _Runs(_Reader):
    """Runs of an order."""

    def __init__(self, column: QuasiColumn, ranks: Mapping[str, int]) -> None:
        super().__init__(column)
        self.rank = ranks

    def number(self, text: str) -> float:
        return self.rank[text]

    def is_value(self, text: str) -> bool:
        return text in self.rank


class _Sets(_Reader):
    """Sets of categories, numbered as they are met."""

    def __init__(self, column: QuasiColumn) -> None:
        super().__init__(column)
        self.code: dict[str, int] = {}

    def number(self, text: str) -> float:
        return self.code.setdefault(text, len(self.code))

    def present(self, text: str) -> Meaning:
        values = set_values(text[1:-1]) if text.startswith("{") else None
        return one_of([self.number(value) for value in values or [text]], discrete=True)


class _Nodes(_Reader):
    """Nodes of a tree, of which the manifest has some: each stands for all values below it that have no own node."""

    def __init__(self, column: QuasiColumn, place_of: Mapping[str, str | None]) -> None:
        super().__init__(column)
        self.place_of = place_of
        self.ends = _stretches(column.nodes)

    def present(self, text: str) -> Meaning:
        return Meaning(SPAN, *self.ends[text])

    def person(self, value: object) -> Meaning:
        if value is None:
            return NOTHING_KNOWN
        node = self.place_of[_text(value)]
        # A value outside of the tree is covered by '*' alone.
        return Meaning(UNREAD) if node is None else Meaning(SPAN, self.ends[node][0], self.ends[node][0])


def _text(value: object) -> str:
    """A value as cells and hierarchies write it."""
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def _stretches(nodes: Sequence[Node]) -> dict[str, tuple[int, int]]:
    """First and last place of every node's subtree, each node holding one place of its own before those below it."""
    size = [1] * len(nodes)
    for place in range(len(nodes) - 1, 0, -1):
        size[int(nodes[place].parent or 0)] += size[place]
    begin, taken = [0] * len(nodes), [1] * len(nodes)
    for place, node in enumerate(nodes):
        if node.parent is not None:
            begin[place] = begin[node.parent] + taken[node.parent]
            taken[node.parent] += size[place]
    ends = [(first, first + count - 1) for first, count in zip(begin, size, strict=True)]
    return {node.name: end for node, end in zip(nodes, ends, strict=True) if node.name is not None}


def reader_of(column: QuasiColumn, values: Sequence[object], schema: Schema | None) -> _Reader | str:
    """How to read a column, or why its population cannot be placed."""
    texts = [_text(value) for value in values if value is not None]
    if column.form == "order":
        return _runs(column, texts, schema)
    if column.form != "node":
        return (_Sets if column.form == "set" else _Reader)(column)
    paths = _paths(column, texts, schema)
    listed = {node.name for node in column.nodes} - {None}
    place_of: dict[str, str | None] = {}
    for text in texts:
        path = (text,) if text in listed else paths.get(text)
        if path is None and column.nodes[0].height > 1:
            what = f"column {column.name!r} of the population has values with no known place in the hierarchy"
            return f"{what}; give the schema with the whole of it"
        above = path or ((str(column.nodes[0].name),) if column.nodes[0].height else ())
        place_of[text] = next((name for name in above if name in listed), None)
    return _Nodes(column, place_of)


def _paths(column: QuasiColumn, texts: Sequence[str], schema: Schema | None) -> dict[str, tuple[str, ...]]:
    """The way to the root of every value, where the schema's own hierarchy knows it."""
    kind = None if schema is None else schema.quasi.get(column.name)
    hierarchy = None if kind is None else kind.hierarchy
    if isinstance(hierarchy, Rule):
        if hierarchy.by_values:
            return {}
        grown = hierarchy.paths([float(text) for text in texts] if hierarchy.numeric else texts)
        return {path[0]: path for path in grown}
    if not isinstance(hierarchy, Hierarchy):
        return {}
    if not _same_tree(column.nodes, hierarchy):
        what = f"its hierarchy of {column.name!r} is not the one of the release"
        raise ParameterError(Problem("schema=", what, "give the schema the release was made with"))
    return {text: hierarchy.path(text) for text in texts if text in hierarchy.node_of}


def _runs(column: QuasiColumn, texts: Sequence[str], schema: Schema | None) -> _Reader | str:
    """How to read runs of an order: the manifest has the categories that cells name, the schema has all of them."""
    ranks, kind = dict(zip(column.order, column.ranks, strict=True)), None
    if schema is not None:
        kind = schema.quasi.get(column.name)
    if isinstance(kind, Ordinal):
        whole = {category: rank for rank, category in enumerate(kind.order)}
        if len(whole) != column.n_values or any(whole.get(name) != rank for name, rank in ranks.items()):
            what = f"its order of {column.name!r} is not the one of the release"
            raise ParameterError(Problem("schema=", what, "give the schema the release was made with"))
        ranks = whole
    if set(texts) <= set(ranks):
        return _Runs(column, ranks)
    if isinstance(kind, Ordinal):
        return f"column {column.name!r} of the population has values that are not in its order"
    what = f"column {column.name!r} of the population has values with no known place in its order"
    return f"{what}; give the schema with the whole of it"


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
