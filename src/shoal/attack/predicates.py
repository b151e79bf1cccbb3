"""Predicates made of published cells: which there are, and which rows of a table satisfy them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.attack.index import Floats, Ints
from shoal.attack.knowledge import Known, axis_with_people
from shoal.attack.people import Group
from shoal.attack.published import Part
from shoal.attack.situation import Situation
from shoal.check.value_ranges import FARTHEST, Axis

Bools = npt.NDArray[np.bool_]
TRIES = 20
"""How many predicates are drawn for each that is wanted, at most."""
LOOKED_AT = 2_000_000_000
"""How many cells are looked at for that, at most; twice as many predicates as are wanted are drawn in any case."""


class Clause(NamedTuple):
    """What a predicate says of one column: its value is in a cell; or it is at least, or at most, a number."""

    name: str
    cell: int
    """Number of the cell; of a published number, too."""
    side: int
    """0 for in the cell, 1 for at least, -1 for at most the number."""


Predicate = tuple[Clause, ...]


class Shown:
    """The cells that predicates are made of."""

    def __init__(self, part: Part, names: Sequence[str]) -> None:
        self.part, self.names = part, names
        self.numbers = {name: self._numbers(name) for name in names if self._is_number(name)}
        """The published numbers of columns that show such, by the number of their cell."""
        self.medians = {name: _median(numbers[part.cells(name).codes]) for name, numbers in self.numbers.items()}
        self.open = {name: self._open(name) for name in names}

    def _is_number(self, name: str) -> bool:
        column = self.part.columns[name]
        return column.kind == "numeric" and column.form in ("raw", "value")

    def _numbers(self, name: str) -> Floats:
        shown = self.part.cells(name).shown
        return np.array([np.nan if row[0] is None else float(row[0]) for row in shown])  # type: ignore[arg-type]

    def _open(self, name: str) -> Bools:
        """Which cells say nothing."""
        axis = axis_with_people(self.part.columns[name], self.part.cells(name).shown, [], Known(pl.DataFrame()))
        return np.asarray((axis.low < 0) & (axis.high == FARTHEST))

    def clause(self, name: str, cell: int) -> Clause:
        """What a cell says; of a number whichever side is rarer."""
        if name in self.numbers and np.isfinite(self.numbers[name][cell]):
            return Clause(name, cell, 1 if self.numbers[name][cell] > self.medians[name] else -1)
        return Clause(name, cell, 0)

    def single(self, rng: np.random.Generator) -> Iterator[Predicate]:
        """Predicates of one column: cells that one row shows, the least and the largest number."""
        found = []
        for name in self.names:
            counts = np.bincount(self.part.cells(name).codes)
            rare = np.flatnonzero((counts == 1) & ~self.open[name])
            found += [(Clause(name, int(cell), 0),) for cell in rare]
            numbers = self.numbers.get(name)
            if numbers is not None and np.isfinite(numbers).any():
                found.append((Clause(name, int(np.nanargmax(numbers)), 1),))
                found.append((Clause(name, int(np.nanargmin(numbers)), -1),))
        for place in rng.permutation(len(found)):
            yield found[place]

    def drawn(self, n_columns: int, n_wanted: int, rng: np.random.Generator) -> Iterator[Predicate]:
        """Predicates of some cells of one row, both drawn."""
        n_rows = self.part.frame.height
        most = max(2 * n_wanted, min(TRIES * n_wanted, LOOKED_AT // max(n_rows * n_columns, 1)))
        for row in rng.integers(0, max(n_rows, 1), size=most if n_rows else 0):
            cells = {name: int(self.part.cells(name).codes[row]) for name in self.names}
            names = [name for name in self.names if not self.open[name][cells[name]]]
            if len(names) >= n_columns:
                chosen = sorted(rng.choice(len(names), size=n_columns, replace=False))
                yield tuple(self.clause(names[place], cells[names[place]]) for place in chosen)

    def count(self, predicate: Predicate) -> int:
        """How many published rows satisfy a predicate."""
        found = np.ones(self.part.frame.height, dtype=np.bool_)
        for clause in predicate:
            codes = self.part.cells(clause.name).codes
            if clause.side:
                numbers = self.numbers[clause.name]
                with np.errstate(invalid="ignore"):
                    sides = numbers >= numbers[clause.cell] if clause.side > 0 else numbers <= numbers[clause.cell]
                found &= sides[codes]
            else:
                found &= codes == clause.cell
        return int(found.sum())


def _median(numbers: Floats) -> float:
    """The median of those that are not missing; NaN where there are none."""
    known = numbers[~np.isnan(numbers)]
    return float(np.median(known)) if len(known) else float("nan")


class TriedTable:
    """A table that predicates are tried on."""

    def __init__(self, situation: Situation, shown: Shown, group: Group) -> None:
        names = [name for name in shown.names if name in group.frame.columns]
        self.shown, self.group, self.known = shown, group, situation.known(group, names, exactly=True)
        self.n_rows = len(group)
        self._true: dict[Clause, Bools] = {}
        self._axes: dict[str, Axis] = {}

    def true(self, clause: Clause) -> Bools:
        """Of which rows a clause is true; of none, where the table does not have the column."""
        if clause not in self._true:
            self._true[clause] = self._looked_up(clause)
        return self._true[clause]

    def _looked_up(self, clause: Clause) -> Bools:
        name, cells = clause.name, self.shown.part.cells(clause.name).shown
        if name not in self.known.frame.columns:
            return np.zeros(self.n_rows, dtype=np.bool_)
        values, person = self.known.distinct(name)
        if clause.side:
            bound = self.shown.numbers[name][clause.cell]
            numbers = np.array([np.nan if one is None else float(one) for one in values])  # type: ignore[arg-type]
            with np.errstate(invalid="ignore"):
                return np.asarray((numbers >= bound if clause.side > 0 else numbers <= bound)[person])
        if name not in self._axes:
            self._axes[name] = axis_with_people(self.shown.part.columns[name], cells, values, self.known)
        axis, place = self._axes[name], clause.cell
        low, high = axis.low[len(cells) :], axis.high[len(cells) :]
        inside = (axis.low[place] <= low) & (high <= axis.high[place])
        if axis.listed[place] >= 0:
            inside &= np.isin(low, axis.lists[axis.listed[place]])
        return np.asarray(inside[person])

    def rows(self, predicate: Predicate) -> Ints:
        """The rows that satisfy a predicate."""
        found = np.ones(self.n_rows, dtype=np.bool_)
        for clause in predicate:
            found &= self.true(clause)
        return np.flatnonzero(found)

    def weight(self, predicate: Predicate) -> float:
        """How likely a row satisfies a predicate for somebody who knows each column of the table by itself."""
        return float(np.prod([self.true(clause).mean() for clause in predicate]))


def each_once(part: Part, names: Sequence[str]) -> Part:
    """The rows of a part that show something different, each once."""
    heads = np.sort(np.unique(part.units(names).label, return_index=True)[1])
    return replace(part, frame=part.frame[heads], bucket=None, times=None)


def different(group: Group, names: Sequence[str]) -> Group:
    """The people of whom something different is said, each once."""
    there = [name for name in names if name in group.frame.columns]
    first = group.frame.select(pl.struct(there).is_first_distinct()).to_series()
    return group.take(np.flatnonzero(first.to_numpy()))


__all__ = ["Clause", "Predicate", "Shown", "TriedTable", "different", "each_once"]
