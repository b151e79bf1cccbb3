"""Marketer risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given
from shoal.measure.reidentification import ReidentificationMeasure


@dataclass(frozen=True)
class MarketerRisk(ReidentificationMeasure):
    """How many rows somebody matches rightly who matches all of them with people of the population."""

    name: ClassVar[str] = "marketer"
    title: ClassVar[str] = "share of rows matched rightly, among a population"
    formula: ClassVar[str] = "mean of 1/F over the published rows, F being the people of the population who fit a row"
    reference: ClassVar[str] = (
        "Dankar, El Emam, A method for evaluating marketer re-identification risk, PAIS 2010"
    )  # fmt: skip

    def entries(self, given: Given) -> dict[str, float]:
        """The share that is to be expected."""
        return self.of_people(given, lambda risks: float((risks.rows * risks.risk).sum()) / risks.n_rows)
