"""What an attacker knows of people, in the terms of the published cells.

A value that is known exactly is one place of its column. A number known to within a tolerance is a stretch, a category
known by what stands above it in the hierarchy is all that stands below that. What is not known at all is every place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.attack.index import Ints
from shoal.attack.published import Part
from shoal.check.cell_forms import CellForm, form_of
from shoal.check.cells import read_cell
from shoal.check.placing import first_rank, paths_of, places_of, value_text
from shoal.check.value_ranges import (
    ANY_VALUE,
    MISSING_VALUE,
    SPAN,
    UNREAD,
    Axis,
    Boxes,
    Range,
    axis_of,
    boxes_of,
    distinct_cells,
    one_of,
)  # fmt: skip
from shoal.errors import ParameterError, Problem
from shoal.release.manifest import QuasiColumn
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Kind, Ordinal, Schema

NOWHERE = Range(UNREAD, text="\0")
"""The place of a value that no cell but `*` covers."""
Paths = Mapping[str, tuple[str, ...]]


class Precision(NamedTuple):
    """How precisely one column is known."""

    tolerance: float = 0.0
    """A number to within this much, an ordered category to within so many ranks."""
    level: int = 0
    """A category by what stands so many levels above it."""


EXACT = Precision()


@dataclass(frozen=True, repr=False, eq=False)
class Known:
    """What is known of some people: their values, how precise these are, and where values belong."""

    frame: pl.DataFrame
    """One line per person, one column per attribute that is known."""
    precision: Mapping[str, Precision] = field(default_factory=dict)
    schema: Schema | None = None
    """Orders and hierarchies whole, rules grown: the manifest has only what the release shows of them."""
    given: Schema | None = None
    """The same with its rules, which know where values belong that the input did not have."""
    open_missing: bool = False
    """Whether a missing cell means that the value is not known; else, that it is missing."""

    def distinct(self, name: str) -> tuple[list[object], Ints]:
        """The distinct values of a column, None for missing, and which of them each person has; looked up once."""
        if name not in self._distinct:
            rows, codes = distinct_cells(self.frame.select(name))
            self._distinct[name] = [row[0] for row in rows], codes
        return self._distinct[name]

    @cached_property
    def _distinct(self) -> dict[str, tuple[list[object], Ints]]:
        return {}

    def column(self, form: CellForm) -> ColumnKnown:
        """What is known of one column."""
        name = form.column.name
        kinds = [None if schema is None else schema.quasi.get(name) for schema in (self.schema, self.given)]
        return ColumnKnown(form, self.precision.get(name, EXACT), *kinds)


@dataclass(frozen=True, repr=False, eq=False)
class ColumnKnown:
    """One column: its cells, how precisely it is known, and its kind, grown and as it was given."""

    form: CellForm
    precision: Precision
    kind: Kind | None
    given: Kind | None

    def ranges(self, values: Sequence[object], gone: Range) -> list[Range]:
        """What each value may be, as far as it is known, in the terms of the cells; `gone` for missing ones."""
        if not self.form.discrete:
            width = self.precision.tolerance
            return [gone if one is None else Range(SPAN, float(one) - width, float(one) + width) for one in values]  # type: ignore[arg-type]
        texts = list(dict.fromkeys(value_text(one) for one in values if one is not None))
        if self.form.column.form == "order" and isinstance(self.kind, Ordinal) and not self.precision.level:
            runs = self._runs(texts, self.kind)
            return [gone if one is None else runs[value_text(one)] for one in values]
        alike = self._alike(texts)
        places = self._places(list(dict.fromkeys(one for text in texts for one in alike[text])))
        found = {}
        for text in texts:
            some = [place for one in alike[text] if (place := places.get(one)) is not None]
            found[text] = one_of(some, discrete=True) if some else NOWHERE
        return [gone if one is None else found[value_text(one)] for one in values]

    def _runs(self, texts: Sequence[str], kind: Ordinal) -> dict[str, Range]:
        """The ranks that each value of an order may have, which follow one another; of an order of any length."""
        known = [text for text in texts if text in kind.ranks]
        self._places(known)  # refuses an order that is not the one of the release
        found = dict.fromkeys(texts, NOWHERE)
        column, zero = self.form.column, first_rank(self.form.column, kind)
        for text in known:
            first, last = (rank - zero for rank in self._first_and_last(text, kind))
            if last >= 0 and first < column.n_values:
                found[text] = Range(SPAN, float(max(first, 0)), float(min(last, column.n_values - 1)))
        return found

    # -- what cannot be told apart ------------------------------------------------------------------------------------

    def _alike(self, texts: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Of each value, all that it may be as far as it is known, itself among them."""
        if self.precision.level:
            return self._below(texts)
        if self.precision.tolerance and isinstance(self.kind, Ordinal):
            return {text: self._beside(text, self.kind) for text in texts}
        if self.precision.tolerance:
            numbers = {text: float(text) for text in (*texts, *self._leaves)}
            return {text: self._within(text, numbers) for text in texts}
        return {text: (text,) for text in texts}

    def _beside(self, text: str, kind: Ordinal) -> Sequence[str]:
        """All categories that are within the tolerance of one."""
        if text not in kind.ranks:
            return (text,)
        first, last = self._first_and_last(text, kind)
        return kind.order[first : last + 1]

    def _first_and_last(self, text: str, kind: Ordinal) -> tuple[int, int]:
        """The lowest and the highest rank within the tolerance of a category."""
        here, width = kind.ranks[text], int(min(self.precision.tolerance, len(kind.order)))
        return max(here - width, 0), min(here + width, len(kind.order) - 1)

    def _within(self, text: str, number: Mapping[str, float]) -> Sequence[str]:
        """All values that are within the tolerance of one."""
        if text not in number:
            return (text,)
        here, width = number[text], self.precision.tolerance
        return [other for other, there in number.items() if abs(there - here) <= width]

    def _below(self, texts: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """All values below what stands some levels above each."""
        paths = self._paths([*texts, *self._leaves])
        level = self.precision.level
        top = {text: path[min(level, len(path) - 1)] for text, path in paths.items()}
        under: dict[str, list[str]] = {}
        for leaf, path in paths.items():
            for node in path:
                under.setdefault(node, []).append(leaf)
        return {text: under[top[text]] if text in top else (text,) for text in texts}

    # -- where values belong ------------------------------------------------------------------------------------------

    @cached_property
    def _leaves(self) -> tuple[str, ...]:
        """All values that the column is known to have."""
        hierarchy = None if self.kind is None else self.kind.hierarchy
        return hierarchy.leaves if isinstance(hierarchy, Hierarchy) else ()

    def _paths(self, texts: Sequence[str]) -> Paths:
        """The way of every value to the root, as far as it is known."""
        grown = None if self.kind is None else self.kind.hierarchy
        rule = None if self.given is None else self.given.hierarchy
        found: dict[str, tuple[str, ...]] = {}
        if isinstance(grown, Hierarchy):
            found = {text: grown.path(text) for text in texts if text in grown.node_of}
        others = [text for text in texts if text not in found]
        if others and isinstance(rule, Rule) and not rule.by_values:
            known = [*self._leaves, *others]  # a day stands below that of the times that others have
            values = [float(text) for text in known] if rule.numeric else known
            found |= {path[0]: path for path in rule.paths(values) if path[0] not in found}
        return found

    def _places(self, texts: Sequence[str]) -> Mapping[str, float | None]:
        """The place of each value in the terms of the cells; None for one that no cell but `*` covers."""
        column = self.form.column
        if column.form == "node" and self.kind is not None:
            paths_of(column, [], _only(column, self.kind))  # refuses a hierarchy that is not the one of the release
            paths = self._paths(texts)
            return {text: _lowest(self.form, paths.get(text, (text, column.nodes[0].name))) for text in texts}
        if column.form == "order" and isinstance(self.kind, Ordinal):
            texts = [text for text in texts if text in self.kind.ranks]
        places = places_of(self.form, texts, _only(column, self.kind))
        if isinstance(places, str):
            raise ParameterError(Problem("schema=", places))
        return places


def _only(column: QuasiColumn, kind: Kind | None) -> Schema | None:
    """A schema of one column."""
    return None if kind is None else Schema(quasi={column.name: kind})


def _lowest(form: CellForm, path: Sequence[str | None]) -> float | None:
    """The place of the lowest node on a way to the root that is published."""
    return next((place for name in path if name is not None and (place := form.place(name)) is not None), None)


# -- cells and people side by side -------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """Combinations of cells as boxes, distinct people as boxes beside them, and which of these each person is."""

    cells: Boxes
    queries: Boxes
    query: Ints


def asked_of(part: Part, names: Sequence[str], codes: Ints, known: Known) -> Asked:
    """Lay cells and people on the same lines; `codes` has the cells of every combination, one column per name."""
    axes, people = [], []
    for name in names:
        cells, (values, person) = part.cells(name), known.distinct(name)
        axes.append(axis_with_people(part.columns[name], cells.shown, values, known))
        people.append(person + len(cells.shown))
    lines, query = np.unique(np.stack(people, axis=1), axis=0, return_inverse=True)
    both = boxes_of(axes, np.concatenate([codes, lines]))
    cells_, queries = _some(both, slice(0, len(codes))), _some(both, slice(len(codes), None))
    return Asked(cells_, queries, query.reshape(-1).astype(np.int64))


def axis_with_people(
    column: QuasiColumn, cells: Sequence[tuple[object, ...]], values: Sequence[object], known: Known
) -> Axis:
    """Distinct cells of a column on a line, and after them what is known of people."""
    form = form_of(column)
    if form.discrete:  # numbers that are values by name are spelt as those of people are
        cells = [tuple(value_text(one) if isinstance(one, float) else one for one in row) for row in cells]
    ranges = [read_cell(form, *row).range for row in cells]
    gone = ANY_VALUE if known.open_missing else MISSING_VALUE
    return axis_of([*ranges, *known.column(form).ranges(values, gone)], discrete=form.discrete)


def _some(boxes: Boxes, lines: slice) -> Boxes:
    """Some lines, with the lists of all."""
    low, high, listed = (np.ascontiguousarray(one[lines]) for one in (boxes.low, boxes.high, boxes.listed))
    return Boxes(low, high, listed, boxes.first, boxes.places, boxes.discrete)


__all__ = ["EXACT", "Asked", "ColumnKnown", "Known", "Precision", "asked_of", "axis_with_people"]
