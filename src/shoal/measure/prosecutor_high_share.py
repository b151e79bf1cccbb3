"""Share of rows at high prosecutor risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import MATCHING_SHAPES, Given, Measure, smallest_classes

THRESHOLD = 0.2
"""Rows in a class of fewer than five are counted as highly at risk."""


@dataclass(frozen=True)
class HighRiskShare(Measure):
    """How many rows are picked with a chance above one in five."""

    name: ClassVar[str] = "prosecutor_high_share"
    title: ClassVar[str] = "rows at high risk"
    formula: ClassVar[str] = "share of the published rows in a class of fewer than 5, that is with a risk above 0.2"
    reference: ClassVar[str] = "El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = MATCHING_SHAPES
    counts_people: ClassVar[bool] = True

    def entries(self, given: Given) -> dict[str, float]:
        """The share of rows, or of people who have several; 0 where nobody is published."""
        if given.whose is not None:
            return {self.name: float((smallest_classes(given) < 1 / THRESHOLD).mean()) if len(given.whose) else 0.0}
        sizes = given.matching_sizes
        return {self.name: int(sizes[sizes < 1 / THRESHOLD].sum()) / int(sizes.sum()) if sizes.sum() else 0.0}
