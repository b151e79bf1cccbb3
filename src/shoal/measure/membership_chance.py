"""How sure a match makes that somebody is in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given
from shoal.measure.membership import MembershipMeasure


@dataclass(frozen=True)
class MembershipChance(MembershipMeasure):
    """How many of the tuples that a release may stand for are rows of the input."""

    name: ClassVar[str] = "membership_chance"
    title: ClassVar[str] = "probability that a matching tuple is in the input"
    formula: ClassVar[str] = (
        "published originals / candidates: the share of rows of the input among the different tuples that some "
        "class may stand for"
    )
    reference: ClassVar[str] = (
        "Li, Li, Zhang, Molloy, Slicing: a new approach for privacy preserving data publishing, TKDE 2012"
    )
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def entries(self, given: Given) -> dict[str, float]:
        """The share."""
        return {self.name: self.found(given).chance}
