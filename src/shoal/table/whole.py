"""What is known of a whole table by who works on some of its rows: a block.

Distances, losses and the distribution of sensitive values are those of the whole table, whatever rows a block has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from shoal.table.hierarchy.tree import Hierarchy
    from shoal.table.sensitive import Values


class Numbers(NamedTuple):
    """The numbers of a column: the least, the largest, and how far they are spread."""

    low: float | None
    """None where there is no number."""
    high: float | None
    deviation: float = 0.0
    """The standard deviation; asked for only of whole tables."""

    @classmethod
    def of(cls, series: pl.Series) -> Numbers:
        """The numbers of a column that is at hand."""
        numbers = series.cast(pl.Float64)
        low, high = numbers.min(), numbers.max()
        return cls(low, high)  # type: ignore[arg-type]

    @property
    def span(self) -> float:
        """How far the least and the largest lie apart."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True, repr=False)
class Whole:
    """A table that is published block by block."""

    n_rows: int
    numbers: Mapping[str, Numbers]
    """The numeric quasi-identifiers, and the places of days of a calendar."""
    trees: Mapping[str, Hierarchy]
    """The trees of columns that have categories and no hierarchy of their own."""
    sensitive: Mapping[str, Values]
    """The values of the sensitive columns, and how they are shared out."""
    stretches: Mapping[str, Any] = field(default_factory=dict)
    """What becomes of the averages of numeric quasi-identifiers, where they are to have the variance of the numbers."""
    fractions: frozenset[str] = frozenset()
    """Columns of real numbers that are published with a fraction in some block: those of all are written so."""
    gathered: Any = None
    """Which attributes stay together, where a method that cuts both ways has decided that."""

    def span(self, name: str) -> float:
        """How far the numbers of a quasi-identifier or a sensitive column lie apart."""
        if name in self.numbers:
            return self.numbers[name].span
        known = pl.Series(self.sensitive[name].known, dtype=pl.Float64)
        return Numbers.of(known).span
