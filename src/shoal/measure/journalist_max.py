"""Highest journalist risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given
from shoal.measure.reidentification import ReidentificationMeasure


@dataclass(frozen=True)
class HighestJournalistRisk(ReidentificationMeasure):
    """The chance to pick the right person of the population for a published row, where that is easiest."""

    name: ClassVar[str] = "journalist_max"
    title: ClassVar[str] = "highest risk of a person, among a population"
    formula: ClassVar[str] = "largest 1/F over the classes, F being the people of the population who fit the class"
    reference: ClassVar[str] = "El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008"

    def entries(self, given: Given) -> dict[str, float]:
        """The chance in the class that fits the fewest people."""
        return self.of_people(given, lambda risks: float(risks.risk.max()))
