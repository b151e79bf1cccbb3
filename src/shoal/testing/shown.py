"""A release written down in plain lists, class by class, as somebody without Shoal would read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.published.release import Release
from shoal.release.manifest import Layout, QuasiColumn
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbers import number_text
from shoal.table.prepare import Table, prepare
from shoal.table.schema import Ordinal
from shoal.testing.tables import Case

Person = Mapping[str, Any]
Line = Mapping[str, Any]
Parents = Mapping[str, str | None]
"""A tree: the node above each node, None above the root."""


@dataclass(frozen=True)
class ShownClass:
    """One class, or one bucket: how many rows it has, and what they show."""

    size: int
    values: dict[str, list[Any]]
    """The sensitive values of its rows, by column; None where one is missing."""
    guards: list[str | None] = field(default_factory=list)
    """The nodes that its people guard, where the schema has a choice column."""
    cells: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """The cells of its quasi-identifiers, by column, where all rows show the same."""


@dataclass(frozen=True)
class Shown:
    """What a release shows, and what its holder knows of the columns."""

    classes: list[ShownClass]
    table: Table
    """The input, fitted to its schema: kinds, orders and trees of the columns."""
    layout: Layout
    people: list[Person] = field(default_factory=list)
    """The population, by quasi-identifiers."""
    buckets: list[list[list[Line]]] = field(default_factory=list)
    """Of slices: the lines of every slice, bucket by bucket."""

    @classmethod
    def of(
        cls, release: Release, case: Case, population: pl.DataFrame | None = None, table: Table | None = None
    ) -> Shown:
        """Write a release down; the table is prepared where it was not yet."""
        layout = release.manifest.layout
        buckets: list[list[list[Line]]] = []
        if layout.slices:
            buckets = _slices(release.frames, layout)
            classes = [_of_slices(slices, layout) for slices in buckets]
        elif layout.laid_out.sensitive_table is not None:
            classes = _of_buckets(release.frames, layout)
        else:
            classes = _of_cells(release.frames, layout, _guards(release, case))
        people: list[Person] = [] if population is None else [*population.to_dicts()]
        return cls(classes, table or prepare(case.frame, case.schema), layout, people, buckets)

    def groups(self, column: str) -> list[list[Any]]:
        """The values of a sensitive column, class by class."""
        return [one.values[column] for one in self.classes]

    def column(self, name: str) -> list[Any]:
        """All values of a sensitive column."""
        return [value for group in self.groups(name) for value in group]

    def order(self, name: str) -> list[Any]:
        """The values of a column from the lowest: as the schema says, else as numbers are."""
        kind = self.table.schema.columns[name].kind
        known = {value for value in self.column(name) if value is not None}
        return [value for value in kind.order if value in known] if isinstance(kind, Ordinal) else sorted(known)

    def parents(self, name: str) -> Parents:
        """The tree of a column."""
        tree = self.table.hierarchy(name)
        assert isinstance(tree, Hierarchy), f"column {name!r} has no tree"
        return {node: tree.parent(node) for node in tree.names}

    def covers(self, one: ShownClass, person: Person) -> bool:
        """Whether the cells of a class leave it open that a person is in it."""
        return all(
            self.cell_covers(column, one.cells[column.name], person[column.name]) for column in self.layout.quasi
        )

    def cell_covers(self, column: QuasiColumn, cells: tuple[Any, ...], value: Any) -> bool:
        """Whether the published cells of a column leave a value open."""
        if column.form == "raw":
            return bool(cells[0] == value)
        if len(cells) > 1:  # two ends, and whether values are missing
            low, high, *gone = cells
            if low is None:
                return value is None if gone and gone[0] is True else True
            return value is not None and self._within(column, low, value, high)
        cell = cells[0]
        if cell == "*":
            return True
        if cell is None or value is None:
            return value is cell
        if column.form == "set":
            return value in _members(cell)
        if column.form == "node":
            return cell in self._path(column.name, value)
        return self._in_run(column, cell, value)

    def _path(self, name: str, value: Any) -> Sequence[str]:
        """From a value up to the root; what is in no tree hangs right below it."""
        tree, text = self.table.hierarchy(name), value if isinstance(value, str) else number_text(value)
        assert isinstance(tree, Hierarchy)
        return tree.path(text) if text in tree.node_of else (text, tree.root)

    def _in_run(self, column: QuasiColumn, cell: str, value: Any) -> bool:
        """Whether a value is what a cell shows, or within its two ends."""
        if column.form == "order":  # names may hold commas: try all cuts
            kind = self.table.quasi[column.name]
            assert isinstance(kind, Ordinal)
            parts = cell[1:-1].split(", ") if cell.startswith("[") and cell.endswith("]") else []
            cuts = [(", ".join(parts[:cut]), ", ".join(parts[cut:])) for cut in range(1, len(parts))]
            ends = [(low, high) for low, high in cuts if low in kind.ranks and high in kind.ranks]
            return value == cell or any(self._within(column, low, value, high) for low, high in ends)
        low, high = cell[1:-1].split(", ") if cell.startswith("[") else (cell, cell)
        return float(low) <= float(value) <= float(high)

    def _within(self, column: QuasiColumn, low: Any, value: Any, high: Any) -> bool:
        kind = self.table.quasi[column.name]
        if isinstance(kind, Ordinal):
            return kind.ranks[low] <= kind.ranks[value] <= kind.ranks[high]
        return bool(low <= value <= high)


def _members(cell: str) -> list[str]:
    r"""The values of a set: ``{a, b}``, with ``\`` before what would end a value or the set."""
    if not cell.startswith("{"):
        return [cell]
    found, word, rest = list[str](), "", iter(cell[1:-1])
    for letter in rest:
        if letter == "\\":
            word += next(rest)
        elif letter == ",":
            found.append(word)
            word = ""
            next(rest)  # the blank
        else:
            word += letter
    return [*found, word]


def _guards(release: Release, case: Case) -> list[str | None]:
    """What the people behind the published rows guard; the neutral column `note` numbers the rows of the input."""
    choice, table = case.schema.choice, release.frames["table"]
    if choice is None or "note" not in table.columns:
        return []
    return case.frame[choice].gather(table["note"]).to_list()


def _of_cells(frames: Mapping[str, pl.DataFrame], layout: Layout, guards: list[str | None]) -> list[ShownClass]:
    """Rows with equal cells are one class; where rows name their class, it is in a table of its own."""
    table, found = frames["table"], dict[tuple[str | None, ...], list[int]]()
    for row, cells in enumerate(table.select(layout.class_columns).rows()):
        found.setdefault(tuple(None if cell is None else str(cell) for cell in cells), []).append(row)
    lines = [] if layout.class_table is None else frames[layout.class_table].to_dicts()
    by_number = {str(line["class"]): line for line in lines}
    classes = []
    for key, rows in found.items():
        line = by_number[str(key[0])] if lines else table.row(rows[0], named=True)
        around = {one.name: tuple(line[name] for name in one.columns) for one in layout.quasi}
        values = {name: table[name].gather(rows).to_list() for name in layout.sensitive}
        classes.append(ShownClass(len(rows), values, [guards[row] for row in rows] if guards else [], around))
    return classes


def _of_buckets(frames: Mapping[str, pl.DataFrame], layout: Layout) -> list[ShownClass]:
    """The sensitive values of every bucket, each as often as it is counted."""
    found: dict[Any, list[Line]] = {}
    for line in frames[str(layout.laid_out.sensitive_table)].to_dicts():
        found.setdefault(line["bucket"], []).extend([line] * line["count"])
    return [ShownClass(len(lines), _columns(lines, layout.sensitive)) for lines in found.values()]


def _slices(frames: Mapping[str, pl.DataFrame], layout: Layout) -> list[list[list[Line]]]:
    """What each bucket shows, slice by slice, by the names of the attributes."""
    found: dict[Any, list[list[Line]]] = {}
    for place, one in enumerate(layout.slices):
        table = frames[f"slice_{place + 1}" if layout.files else "table"]
        for bucket, *cells in table.select("bucket", *one.columns).rows():
            lines = found.setdefault(bucket, [[] for _ in layout.slices])
            lines[place].append(dict(zip(one.attributes, cells, strict=True)))
    return list(found.values())


def _of_slices(slices: Sequence[Sequence[Line]], layout: Layout) -> ShownClass:
    homes = {name: next(lines for lines in slices if name in lines[0]) for name in layout.sensitive}
    return ShownClass(len(slices[0]), {name: [line[name] for line in lines] for name, lines in homes.items()})


def _columns(lines: Sequence[Line], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [line[name] for line in lines] for name in names}
