"""Highest prosecutor risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import MATCHING_SHAPES, Given, Measure


@dataclass(frozen=True)
class HighestRisk(Measure):
    """The chance to pick the right row among those that match, of the person who is easiest to find."""

    name: ClassVar[str] = "prosecutor_max"
    title: ClassVar[str] = "highest risk of a person"
    formula: ClassVar[str] = "1 / smallest |E|"
    reference: ClassVar[str] = "El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = MATCHING_SHAPES
    counts_people: ClassVar[bool] = True

    def entries(self, given: Given) -> dict[str, float]:
        """The chance in the smallest class; 0 where nobody is published."""
        sizes = given.matching_sizes
        return {self.name: 1 / int(sizes[0]) if sizes.sum() else 0.0}
