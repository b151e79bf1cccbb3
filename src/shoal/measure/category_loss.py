"""Categories of quasi-identifiers beside the cells that show them, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.errors import ParameterError, Problem
from shoal.measure.base import Given
from shoal.measure.pairing import Pairing
from shoal.measure.products import each
from shoal.measure.shown import Cells, Floats, Ints, Shown
from shoal.table.schema import Ordinal


@dataclass(frozen=True, repr=False, eq=False)
class CategoryLoss:
    """Distances and entropies of every quasi-identifier that is no number."""

    given: Given
    pairing: Pairing
    names: tuple[str, ...]

    @classmethod
    def of(cls, given: Given) -> CategoryLoss:
        """Pair the rows of the input with cells; a table that is not the input is refused."""
        names = [column.name for column in given.manifest.layout.quasi if column.kind != "numeric"]
        return cls(given, given.once(Pairing.of), tuple(names))

    @property
    def shown(self) -> Shown:
        """The release beside its input."""
        return self.pairing.shown

    @cached_property
    def distances(self) -> dict[str, float]:
        """Of each column, the sum over rows of how far a category is from the one that shows it."""
        return {name: self._distance(name) for name in self.names}

    @cached_property
    def entropies(self) -> dict[str, float]:
        """Of each column, the sum over rows of the entropy of categories with the same cell."""
        return {name: _entropy(self.pairing.cells(name)[1], self.shown.columns[name].code) for name in self.names}

    def _distance(self, name: str) -> float:
        """Equal pairs of a cell and a value are looked at once; a row left out counts 1."""
        column, (cells, line) = self.shown.columns[name], self.pairing.cells(name)
        there = line >= 0
        pairs, rows = np.unique(line[there] * column.n_values + column.code[there], return_counts=True)
        cell, code = pairs // column.n_values, pairs % column.n_values
        if column.kind == "ordinal":
            apart = _rank_distances(cells, cell, code, *self._ranks(name))
        else:
            apart = 1.0 - cells.holds(cell, code) / cells.sizes[cell]
        return float(apart @ rows) + int((~there).sum())

    def _ranks(self, name: str) -> tuple[Floats, int]:
        """The rank of every value of an order, NaN for a missing one, and how many categories the order has."""
        kind = None if self.given.schema is None else self.given.table.schema.quasi.get(name)
        if not isinstance(kind, Ordinal):
            what = f"is needed for the order of column {name!r}, and none is given"
            raise ParameterError(Problem("schema=", what, "give that of the release"))
        rank = {category: float(place) for place, category in enumerate(kind.order)}
        values = self.shown.columns[name].values.to_list()
        return np.array([np.nan if value is None else rank[value] for value in values]), len(kind.order)


def _rank_distances(cells: Cells, cell: Ints, code: Ints, rank: Floats, n_ranks: int) -> Floats:
    """How far a value is from those that a cell may stand for, on average; 1 where one of both is missing."""
    n_runs = (cells.stop - cells.start)[cell]
    run = each(cells.start[cell], cells.stop[cell])
    length = (cells.high - cells.low + 1)[run]
    owner = np.repeat(np.repeat(np.arange(len(cell)), n_runs), length)
    other = rank[cells.value_at[each(cells.low[run], cells.high[run] + 1)]]
    own = rank[code][owner]
    apart = np.where(np.isnan(own) | np.isnan(other), np.isnan(own) != np.isnan(other), np.abs(own - other) / n_ranks)
    found: Floats = np.bincount(owner, weights=apart, minlength=len(cell)) / cells.sizes[cell]
    return found


def _entropy(line: Ints, code: Ints) -> float:
    """Rows times entropy, in bits, over cells; rows without a cell know the whole column alone."""
    n_values = int(code.max(initial=0)) + 1
    there = line >= 0
    inside = _bits(line[there] * n_values + code[there], n_values)
    share = (~there).sum() / max(len(code), 1)
    return inside + share * _bits(code, n_values) if share else inside


def _bits(pairs: Ints, n_values: int) -> float:
    """Sum over rows of the entropy of the values within their cell."""
    found, rows = np.unique(pairs, return_counts=True)
    sizes = np.bincount(np.unique(found // n_values, return_inverse=True)[1].reshape(-1), weights=rows)
    total = float((sizes * np.log2(sizes)).sum() - (rows * np.log2(rows)).sum())
    return max(total, 0.0)
