"""Fakes for every row of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given
from shoal.measure.membership import MembershipMeasure


@dataclass(frozen=True)
class MembershipRatio(MembershipMeasure):
    """How many tuples that a release may stand for are no rows of the input, for every one that is."""

    name: ClassVar[str] = "membership_ratio"
    title: ClassVar[str] = "fakes per row of the input"
    formula: ClassVar[str] = (
        "fakes / originals: different tuples that some class may stand for and that are no rows of the input, "
        "over the different rows of the input"
    )
    reference: ClassVar[str] = (
        "Li, Li, Zhang, Molloy, Slicing: a new approach for privacy preserving data publishing, TKDE 2012"
    )
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "higher"

    def entries(self, given: Given) -> dict[str, float]:
        """The ratio."""
        return {self.name: self.found(given).ratio}
