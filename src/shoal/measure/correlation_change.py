"""Change of correlations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.expected import Expected
from shoal.measure.number_loss import overall


@dataclass(frozen=True)
class CorrelationChange(Measure):
    """How far the correlation of numbers is from the one that the release lets expect."""

    name: ClassVar[str] = "correlation_change"
    title: ClassVar[str] = "change of correlations"
    formula: ClassVar[str] = (
        "for every two published columns of numbers, |correlation in the input - correlation that the "
        "release lets expect|; correlation_change is the mean over the pairs"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>:<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over pairs, then the figure of each."""
        expected = given.once(Expected.of)
        both = {pair: expected.correlation(*pair) for pair in combinations(expected.numbers, 2)}
        return overall(self.name, {":".join(pair): abs(before - after) for pair, (before, after) in both.items()})
