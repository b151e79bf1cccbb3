"""Share of rows at high journalist risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given
from shoal.measure.reidentification import ReidentificationMeasure

THRESHOLD = 0.2
"""Rows that fit fewer than five people of the population are counted as highly at risk."""


@dataclass(frozen=True)
class HighJournalistRiskShare(ReidentificationMeasure):
    """How many rows are matched with the right person of the population with a chance above one in five."""

    name: ClassVar[str] = "journalist_high_share"
    title: ClassVar[str] = "rows at high risk, among a population"
    formula: ClassVar[str] = "share of the published rows with 1/F above 0.2, that is that fit fewer than 5 people"
    reference: ClassVar[str] = "El Emam, Dankar, Protecting privacy using k-anonymity, JAMIA 2008"

    def entries(self, given: Given) -> dict[str, float]:
        """The share of rows."""
        return self.of_people(
            given, lambda risks: int(risks.rows[risks.risk > THRESHOLD].sum()) / risks.n_rows
        )  # fmt: skip
