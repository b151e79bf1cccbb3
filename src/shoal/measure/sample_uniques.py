"""Rows that nobody else in the release is like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import MATCHING_SHAPES, Given, Measure
from shoal.measure.reidentification import people_in_classes


@dataclass(frozen=True)
class SampleUniques(Measure):
    """How many people are alone with what the release shows of their quasi-identifiers."""

    name: ClassVar[str] = "sample_uniques"
    title: ClassVar[str] = "people alone in the release"
    formula: ClassVar[str] = "share of the published rows in a class of one row"
    reference: ClassVar[str] = (
        "Skinner, Elliot, A measure of disclosure risk for microdata, Journal of the Royal Statistical Society B 2002"
    )
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = MATCHING_SHAPES
    counts_people: ClassVar[bool] = True

    def entries(self, given: Given) -> dict[str, float]:
        """The share of people; 0 where nobody is published."""
        people = people_in_classes(given)
        return {self.name: int((people == 1).sum()) / int(people.sum()) if len(people) else 0.0}
