"""Average journalist risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given
from shoal.measure.reidentification import ClassRisks, ReidentificationMeasure


@dataclass(frozen=True)
class AverageJournalistRisk(ReidentificationMeasure):
    """The chance to pick the right person of the population for a published row, on average."""

    name: ClassVar[str] = "journalist_mean"
    title: ClassVar[str] = "average risk of a person, among a population"
    formula: ClassVar[str] = (
        "the larger of classes / sum of F over the classes, and of the mean of 1/F over the published rows"
    )
    reference: ClassVar[str] = "El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008"

    def entries(self, given: Given) -> dict[str, float]:
        """The larger of what an attacker gets who begins with the population, and one who begins with the release."""
        return self.of_people(given, _larger)


def _larger(risks: ClassRisks) -> float:
    return max(len(risks.rows) / risks.people, float((risks.rows * risks.risk).sum()) / risks.n_rows)
