"""Proximity breach: how much of a class has nearly the same number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.breaches import BreachMeasure
from shoal.privacy.base import Ints, Values
from shoal.privacy.counts import Counts
from shoal.privacy.epsilon_m import near_codes
from shoal.spec import Real, YesNo, param


@dataclass(frozen=True)
class ProximityBreach(BreachMeasure):
    """Rows of a class whose number is near that of a person: how sure somebody is of about what the person has."""

    name: ClassVar[str] = "proximity_breach"
    title: ClassVar[str] = "proximity breach of sensitive numbers"
    formula: ClassVar[str] = (
        "for every published row, the share of the rows of its class whose number is at most epsilon away from its "
        "own, the row itself among them; the mean and the largest over all rows, and the share of rows above the "
        "threshold"
    )
    reference: ClassVar[str] = (
        "Poovammal, Ponnavaikko, Categorical grading based personalized privacy preservation against attacks, 2009"
    )

    epsilon: float = param(Real(0), "numbers at most this far apart are near; 0 for equal ones alone", default=0.0)
    relative: bool = param(YesNo(), "whether epsilon is a share of the row's own number", default=False)

    def misfit(self, values: Values) -> str | None:
        """Say that only numbers are near each other."""
        return None if values.kind == "numeric" else "has no numbers; make it numeric in the schema"

    def counted(self, values: Values, counts: Counts) -> Ints:
        """Rows with a number that is near; a missing one is near missing ones alone."""
        low, high = near_codes(values, self.epsilon, relative=self.relative)
        return counts.up_to(counts.owner, high[counts.code]) - counts.up_to(counts.owner, low[counts.code])
