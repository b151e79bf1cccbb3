"""Average prosecutor risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import MATCHING_SHAPES, Given, Measure, smallest_classes


@dataclass(frozen=True)
class AverageRisk(Measure):
    """The chance to pick the right row among those that match, on average over rows."""

    name: ClassVar[str] = "prosecutor_mean"
    title: ClassVar[str] = "average risk of a person"
    formula: ClassVar[str] = "classes / published rows"
    reference: ClassVar[str] = "El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = MATCHING_SHAPES
    counts_people: ClassVar[bool] = True

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over rows, or over people who have several; 0 where nobody is published."""
        if given.whose is not None:  # whoever is in several classes risks most in the smallest of them
            return {self.name: float((1 / smallest_classes(given)).mean()) if len(given.whose) else 0.0}
        sizes = given.matching_sizes
        return {self.name: len(sizes) / int(sizes.sum()) if sizes.sum() else 0.0}
