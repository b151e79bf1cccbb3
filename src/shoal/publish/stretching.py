"""Averages stretched around their mean until rows that show them have the mean and the variance of their numbers.

Sums are exact, so that they are the same in whatever order rows come, and of whatever blocks they are put together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.methods.groups import Labels

Floats = npt.NDArray[np.float64]
STEPS = 1126
"""Sums are whole numbers of steps of 2 ** -1126: every double is one."""
BITS, HALF = 53, 27
AT_ONCE = 1 << 24
"""So many numbers of 27 bits have a sum that a double holds."""
ALIKE = 1e-10
"""Averages nearer than this, in shares of the largest number of a column, may differ by nothing but rounding."""


def exact_sum(numbers: Floats) -> int:
    """The sum of some numbers to the last bit, in steps.

    Examples
    --------
    >>> exact_sum(np.array([1e16, 1.0, -1e16])) == 1 << STEPS
    True
    """
    total = 0
    for begin in range(0, len(numbers), AT_ONCE):
        fractions, powers = np.frexp(numbers[begin : begin + AT_ONCE])
        whole, lowest = np.ldexp(fractions, BITS).astype(np.int64), int(powers.min())
        for part, shift in ((whole >> HALF, HALF), (whole & ((1 << HALF) - 1), 0)):
            sums = np.bincount(powers - lowest, weights=part)
            shift += lowest - BITS + STEPS
            total += sum(int(one) << (shift + int(place)) for place, one in enumerate(sums) if one)
    return total


@dataclass(frozen=True)
class Sums:
    """The numbers of some rows, and the averages that they show, added up; rows that show none do not count."""

    n_rows: int
    largest: float
    """The number that is farthest from zero, without its sign."""
    values: int
    shown: int
    low: float
    """The lowest average."""
    high: float

    @classmethod
    def of(cls, values: Floats, shown: Floats) -> Sums:
        """Those of rows that are at hand."""
        if not len(values):
            return cls(0, 0.0, 0, 0, math.inf, -math.inf)
        low, high = float(shown.min()), float(shown.max())
        return cls(len(values), float(np.abs(values).max()), exact_sum(values), exact_sum(shown), low, high)

    @classmethod
    def together(cls, blocks: Sequence[Sums]) -> Sums:
        """Those of several blocks."""
        return cls(
            sum(one.n_rows for one in blocks), max(one.largest for one in blocks), sum(one.values for one in blocks),
            sum(one.shown for one in blocks), min(one.low for one in blocks), max(one.high for one in blocks),
        )  # fmt: skip


@dataclass(frozen=True)
class Stretch:
    """What becomes of averages."""

    power: int
    """Numbers are divided by this power of two, which is exact: those of any size can be squared."""
    wanted: float
    mean: float
    factor: float = 0.0
    alike: bool = False
    """Whether averages differ by nothing but rounding: then they keep the mean alone."""

    @classmethod
    def of(cls, sums: Sums) -> Stretch:
        """What is known of it before squares are."""
        if not sums.n_rows:
            return cls(0, 0.0, 0.0, alike=True)
        power, scale = int(np.frexp(sums.largest)[1]), sums.n_rows << STEPS
        wanted, mean = (math.ldexp(total / scale, -power) for total in (sums.values, sums.shown))
        low, high = (math.ldexp(end, -power) for end in (sums.low, sums.high))
        return cls(power, wanted, mean, alike=high - low <= ALIKE)

    def squares(self, values: Floats, shown: Floats) -> tuple[int, int]:
        """The squared differences of some numbers, and of what they show, from their means, added up."""
        pairs = ((values, self.wanted), (shown, self.mean))
        numbers, averages = (exact_sum(np.square(np.ldexp(one, -self.power) - mean)) for one, mean in pairs)
        return numbers, averages

    def settled(self, blocks: Sequence[tuple[int, int]]) -> Stretch:
        """All of it, given the squares of all blocks."""
        numbers, averages = (sum(pair[place] for pair in blocks) for place in (0, 1))
        return self if self.alike else replace(self, factor=math.sqrt(numbers / averages))

    def stretched(self, averages: Floats) -> Floats:
        """The averages as they are shown; NaN stays."""
        if self.alike:
            return np.ldexp(np.where(np.isnan(averages), np.nan, self.wanted), self.power)
        small = np.ldexp(averages, -self.power)
        found: Floats = np.ldexp(self.wanted + (small - self.mean) * self.factor, self.power)
        return found


def rows_that_show(averages: Floats, series: pl.Series, members: Labels) -> tuple[Floats, Floats]:
    """The numbers of the rows whose group shows an average, and these averages, row by row."""
    shown = averages[members]
    rows = ~np.isnan(shown)
    return series.cast(pl.Float64).to_numpy()[rows], shown[rows]


def stretch_of(averages: Floats, series: pl.Series, members: Labels) -> Stretch:
    """What becomes of the averages of a whole table."""
    rows = rows_that_show(averages, series, members)
    found = Stretch.of(Sums.of(*rows))
    return found.settled([found.squares(*rows)])
