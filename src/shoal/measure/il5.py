"""Microaggregation loss of correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.number_loss import NumberLoss, overall


@dataclass(frozen=True)
class Il5(Measure):
    """How far the correlations of columns move."""

    name: ClassVar[str] = "il5"
    title: ClassVar[str] = "loss of correlations (IL5)"
    formula: ClassVar[str] = (
        "mean over every two numeric quasi-identifiers of |correlation - correlation'|, a column that "
        "does not vary having the correlation 0; il5:<column>:<column> of two columns"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>:<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over pairs of columns, then the figure of each."""
        loss = given.once(NumberLoss.of)
        both = {f"{one}:{other}": loss.correlation(one, other) for one, other in loss.pairs}
        return overall(self.name, {pair: abs(before - after) for pair, (before, after) in both.items()})
