"""Distance between the distributions of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.divergences import total_variation
from shoal.measure.expected import Expected
from shoal.measure.number_loss import overall


@dataclass(frozen=True)
class MarginalError(Measure):
    """How far the distribution of a column is from the one that the release lets expect."""

    name: ClassVar[str] = "marginal_error"
    title: ClassVar[str] = "change of distributions"
    formula: ClassVar[str] = (
        "for every published column, half the sum over its categories of the difference between their "
        "share of the input and the share that the release lets expect (total variation); marginal_error "
        "is the mean over the columns"
    )
    reference: ClassVar[str] = "Levin, Peres, Wilmer, Markov chains and mixing times, AMS 2009"
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over columns, then the figure of each."""
        expected = given.once(Expected.of)
        return overall(self.name, {name: total_variation(expected.one(name)) for name in expected.columns})
