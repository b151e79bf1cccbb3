"""Numeric quasi-identifiers as the input has them and as a release of classes shows them.

An interval is shown as its middle, an average as itself. A cell that says nothing counts as the mean of those that say
something, and so does every cell of a row left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.measure.base import Given
from shoal.measure.pairing import Pairing, checked
from shoal.measure.shown import Cells, Floats, InputColumn, Ints, Shown

Two = tuple[float, float]
"""A figure of the input, and the same of the release."""


@dataclass(frozen=True, repr=False, eq=False)
class NumberLoss:
    """Means, variances, covariances and single numbers, before and after.

    Those of a column are divided by a power of two, so that numbers of any size can be squared. That is exact, and all
    figures are shares in which it cancels.
    """

    shown: Shown
    given: Given
    names: tuple[str, ...]
    """The numeric quasi-identifiers."""
    _known: dict[str, Floats] = field(default_factory=dict)
    _rows: dict[tuple[str, str], Floats] = field(default_factory=dict)
    _figures: dict[tuple[str, ...], Two] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Given) -> NumberLoss:
        """Read the numbers of both; a table that is not the input is refused."""
        names = [column.name for column in given.manifest.layout.quasi if column.kind == "numeric"]
        return cls(given.once(checked), given, tuple(names))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every two of them, each once."""
        return [(one, other) for place, one in enumerate(self.names) for other in self.names[place + 1 :]]

    def before(self, name: str) -> Floats:
        """The numbers of the input, NaN for a missing one."""
        if ("before", name) not in self._rows:
            column = self.shown.columns[name]
            self._rows["before", name] = np.ldexp(column.numbers, self._power(name))[column.code]
        return self._rows["before", name]

    def _power(self, name: str) -> int:
        """By which power of two the numbers of a column become less than 1."""
        numbers = self.shown.columns[name].numbers
        return -int(np.frexp(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))[1])

    def _points(self, name: str) -> Floats:
        """The number of each distinct cell, NaN where all of its values are missing."""
        if name not in self._known:
            part = self.shown.parts[0]
            cells = part.columns[name]
            found, silent = _points(self.shown.columns[name], cells)
            found = np.ldexp(found, self._power(name))
            rows = np.bincount(cells.line, weights=part.weight, minlength=cells.n_cells).astype(np.float64)
            found[silent] = np.nan
            there = np.isfinite(found)
            found[silent] = _mean(found, rows) if rows[there].sum() else np.nan
            self._known[name] = found
        return self._known[name]

    def _published(self, name: str) -> Floats:
        """The number that every published row shows."""
        if ("after", name) not in self._rows:
            self._rows["after", name] = self._points(name)[self.shown.parts[0].columns[name].line]
        return self._rows["after", name]

    @cached_property
    def _pairing(self) -> Pairing:
        return self.given.once(Pairing.of)

    def deviations(self, name: str) -> Floats:
        """How far every number of the input is from the one that shows it; NaN where both are missing.

        Where one of both is missing, the range of the column.
        """
        x, cell = self.before(name), self._pairing.cells(name)[1]
        shown = np.where(cell >= 0, self._points(name)[cell], self.mean(name)[1])
        known = x[np.isfinite(x)]
        gap = float(known.max() - known.min()) if len(known) else 0.0
        apart = np.isnan(x) != np.isnan(shown)
        found: Floats = np.where(apart, gap, np.abs(x - shown))
        return found

    def mean(self, name: str) -> Two:
        """The means of those that are not missing."""
        if (name,) not in self._figures:
            x, y = self.before(name), self._published(name)
            self._figures[name,] = _mean(x, np.ones(len(x))), _mean(y, self.shown.parts[0].weight)
        return self._figures[name,]

    def covariance(self, one: str, other: str) -> Two:
        """The covariances of rows where neither number is missing; of a column with itself, its variance."""
        if (one, other) not in self._figures:
            self._figures[one, other] = self._both(_covariance, one, other)
        return self._figures[one, other]

    def correlation(self, one: str, other: str) -> Two:
        """Pearson's correlations of rows where neither number is missing; 0 where a column does not vary there."""
        return self._both(_correlation, one, other)

    def _both(self, figure: Callable[[Floats, Floats, Floats], float], one: str, other: str) -> Two:
        """A figure of two columns of the input, and of the release, whose rows left out are the mean of the others."""
        before = [self.before(name) for name in (one, other)]
        after = [np.append(self._published(name), self.mean(name)[1]) for name in (one, other)]
        weight = np.append(self.shown.parts[0].weight, self.shown.n_left_out)
        return figure(before[0], before[1], np.ones(self.shown.n_rows)), figure(after[0], after[1], weight)


def relative(two: Two, otherwise: float) -> float:
    """The difference as a share of the figure of the input, or of another one where that is 0; 0/0 is 0."""
    before, after = two
    difference = abs(before - after)
    return difference / (abs(before) or abs(otherwise) or 1.0) if difference else 0.0


def _mean(x: Floats, weight: Floats) -> float:
    """The mean of those that are not missing; of equal numbers exactly that number."""
    there = np.isfinite(x)
    if not there.all():
        x, weight = x[there], weight[there]
    total = float(weight.sum())
    return float(x[0] + (x - x[0]) @ weight / total) if total else 0.0


def _covariance(x: Floats, y: Floats, weight: Floats) -> float:
    there = np.isfinite(x) & np.isfinite(y)
    if not there.all():
        x, y, weight = x[there], y[there], weight[there]
    total = float(weight.sum())
    if not total:
        return 0.0
    x, y = x - _mean(x, weight), y - _mean(y, weight)
    return float((x * y) @ weight) / total


def _correlation(x: Floats, y: Floats, weight: Floats) -> float:
    there = np.isfinite(x) & np.isfinite(y)
    x, y, weight = x[there], y[there], weight[there]
    spreads = _covariance(x, x, weight), _covariance(y, y, weight)
    if min(spreads) <= 0:
        return 0.0
    together = math.prod(map(math.sqrt, spreads))  # the product of the spreads of tiny numbers would be 0
    return float(np.clip(_covariance(x, y, weight) / together, -1, 1))


def _points(column: InputColumn, cells: Cells) -> tuple[Floats, Ints]:
    """The middle of each cell, and the cells that say nothing."""
    last = column.n_values - column.has_missing
    if column.has_missing:
        gone = cells.totals((np.arange(column.n_values) == last).astype(np.float64)[:, None])[:, 0] > 0.5
    else:
        gone = np.zeros(cells.n_cells, dtype=np.bool_)
    if cells.point is not None:
        return cells.point.copy(), np.flatnonzero(gone & (cells.sizes > 1))
    low, high = (_extreme(column, cells, lowest) for lowest in (True, False))
    found: Floats = low / 2 + high / 2
    return found, np.flatnonzero(gone & (cells.sizes > 1))


def _extreme(column: InputColumn, cells: Cells, lowest: bool) -> Floats:
    """The lowest or the highest number that each cell may stand for, NaN where it has none."""
    numbers = column.numbers[cells.value_at]
    there = numbers[np.isfinite(numbers)]
    if (np.diff(there) >= 0).all():  # the places of intervals rise with their numbers, missing ones come last
        filled = np.append(np.minimum(np.arange(len(numbers)), len(there) - 1), 0)
        place = cells.low[cells.start] if lowest else filled[cells.high[cells.stop - 1]]
        return numbers[place] if len(there) else np.full(cells.n_cells, np.nan)
    found = np.full(cells.n_cells, np.nan)  # nodes of a tree: few
    for cell in range(cells.n_cells):
        runs = range(cells.start[cell], cells.stop[cell])
        inside = np.concatenate([numbers[cells.low[run] : cells.high[run] + 1] for run in runs])
        if np.isfinite(inside).any():
            found[cell] = np.nanmin(inside) if lowest else np.nanmax(inside)
    return found


def overall(measure: str, parts: Mapping[str, float]) -> dict[str, float]:
    """The mean of some figures under the name of a measure, then each of them; none where there is none."""
    if not parts:
        return {}
    mean = math.fsum(parts.values()) / len(parts)
    return {measure: mean} | {f"{measure}:{name}": value for name, value in parts.items()}
