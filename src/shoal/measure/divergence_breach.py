"""Divergence breach: how much of a class has a value that is not related at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.breaches import BreachMeasure
from shoal.privacy.base import Ints, Values
from shoal.privacy.branches import related_rows
from shoal.privacy.counts import Counts
from shoal.spec import Real, param


@dataclass(frozen=True)
class DivergenceBreach(BreachMeasure):
    """Rows of a class whose value is unrelated to that of a person: who knows roughly what it is can rule them out."""

    name: ClassVar[str] = "divergence_breach"
    title: ClassVar[str] = "divergence breach of sensitive categories"
    formula: ClassVar[str] = (
        "for every published row, the share of the rows of its class whose value is unrelated to its own: another "
        "value, at a distance of theta or more in the hierarchy; the mean and the largest over all rows, and the share "
        "of rows above the threshold"
    )
    reference: ClassVar[str] = (
        "Poovammal, Ponnavaikko, Categorical grading based personalized privacy preservation against attacks, 2009"
    )
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"

    theta: float = param(
        Real(0, 1, open_low=True),
        "values are unrelated whose lowest common ancestor is at least this high; 1 is the height of the root",
        default=1.0,
    )

    def misfit(self, values: Values) -> str | None:
        """Say that numbers have no hierarchy."""
        return "has numbers; the proximity breach is for those" if values.kind == "numeric" else None

    def counted(self, values: Values, counts: Counts) -> Ints:
        """Rows with an unrelated value; a missing one is related to missing ones alone."""
        return counts.sizes[counts.owner] - related_rows(values, counts, self.theta)
