"""What must be known of a table before it is cut: found piece by piece, and put together, whoever has the pieces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.engines.bins import MOST_BOUNDS, Binned, CategoryBins, NumberBins
from shoal.table.hierarchy.builders import STAR
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Nominal, Ordinal, has_days
from shoal.table.whole import Numbers, Whole

Floats = npt.NDArray[np.float64]
DIGITS = 9
"""Significant digits of a standard deviation: further ones depend on the order in which numbers are summed."""


@dataclass(frozen=True)
class NumberFacts:
    """The numbers of a column, or of a piece of it."""

    count: int
    low: float
    high: float
    mean: float
    squares: float
    """Sum of the squared differences from the mean."""
    sample: Floats
    """Some of the different numbers, rising: those whose scrambled bits are the lowest, whatever piece has them."""

    @classmethod
    def of(cls, series: pl.Series) -> NumberFacts:
        """Those of a series."""
        numbers = series.drop_nulls().cast(pl.Float64).to_numpy()
        if not len(numbers):
            return cls(0, math.inf, -math.inf, 0.0, 0.0, numbers)
        mean = float(numbers.mean())
        with np.errstate(over="ignore"):
            squares = float(np.square(numbers - mean).sum())
        return cls(len(numbers), float(numbers.min()), float(numbers.max()), mean, squares, _sample(np.unique(numbers)))

    @classmethod
    def together(cls, pieces: Iterable[NumberFacts]) -> NumberFacts:
        """Those of several pieces."""
        known = [piece for piece in pieces if piece.count]
        if not known:
            return cls(0, math.inf, -math.inf, 0.0, 0.0, np.zeros(0))
        count = sum(piece.count for piece in known)
        mean = _sum([piece.count * piece.mean for piece in known]) / count
        apart = [piece.mean - mean for piece in known]
        squares = _sum([one.squares + one.count * (far * far) for one, far in zip(known, apart, strict=True)])
        sample = _sample(np.unique(np.concatenate([piece.sample for piece in known])))
        return cls(count, min(one.low for one in known), max(one.high for one in known), mean, squares, sample)

    @property
    def numbers(self) -> Numbers:
        """As who works on a block knows them."""
        if not self.count:
            return Numbers(None, None)
        deviation = math.sqrt(self.squares / self.count)
        if not 0 < deviation < math.inf:  # too small or too large to be squared: the most that it can be
            deviation = self.high - self.low
        return Numbers(self.low, self.high, float(f"{deviation:.{DIGITS - 1}e}"))

    def bins(self, name: str) -> NumberBins:
        """The bins of the column."""
        if not self.count:
            return NumberBins(name, np.zeros(1), 0.0)
        return NumberBins(name, np.union1d(self.sample, [self.low]), self.high)


def _sum(numbers: Sequence[float]) -> float:
    """Their sum, in whatever order; infinite where it is too large for a number, as of rows that are at hand."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # some are infinite, of either sign
        return math.inf


def _sample(different: Floats) -> Floats:
    """At most so many of them as there are bins, drawn by their bits."""
    if len(different) < MOST_BOUNDS:
        return different
    mixed = (different + 0.0).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return different[np.sort(np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")[: MOST_BOUNDS - 1])]


def places_of_days(quasi: Mapping[str, Kind], values: Mapping[str, pl.Series]) -> dict[str, Numbers]:
    """Of days of a calendar, the places of the first and the last that are there."""
    calendars = {name: kind for name, kind in quasi.items() if has_days(kind)}
    return {name: Numbers(*kind.ends(values[name].drop_nulls().to_list())) for name, kind in calendars.items()}


def whole_of(table: Table) -> Whole:
    """What is known of a table that is at hand."""
    numeric = [name for name, kind in table.quasi.items() if not isinstance(kind, Nominal | Ordinal)]
    names = [name for name, kind in table.published.items() if isinstance(kind, Nominal) and kind.hierarchy is None]
    flat = [name for name in names if not (table.frame[name].cast(pl.String) == STAR).any()]  # it is a tree's root
    return Whole(
        table.n_rows,
        {name: NumberFacts.of(table.frame[name]).numbers for name in numeric}
        | places_of_days(table.quasi, {name: table.frame[name].unique() for name in table.quasi}),
        {name: tree for name in flat if (tree := table.hierarchy(name)) is not None},
        table.sensitive,
    )


def bins_of(table: Table) -> list[Binned]:
    """The bins of the quasi-identifiers of a table that is at hand."""
    facts = {
        name: NumberFacts.of(table.frame[name])
        for name, kind in table.quasi.items()
        if not isinstance(kind, Nominal | Ordinal)
    }
    return quasi_bins(table, facts)


def quasi_bins(table: Table, facts: dict[str, NumberFacts]) -> list[Binned]:
    """The bins of quasi-identifiers, in the order of the table."""
    found: list[Binned] = []
    for name, kind in table.quasi.items():
        tree = table.hierarchy(name) if isinstance(kind, Nominal) else None
        if isinstance(kind, Ordinal):
            found.append(CategoryBins(name, tuple(kind.order)))
        elif tree is not None:
            found.append(CategoryBins(name, tuple(tree.leaves), tree))
        else:
            found.append(facts[name].bins(name))
    return found
