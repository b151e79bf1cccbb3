"""Total information loss of generalised cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import COVERING_SHAPES, Given, Measure
from shoal.measure.cell_loss import height_losses


@dataclass(frozen=True)
class IlTotal(Measure):
    """What all cells together leave open of their columns, by tree height."""

    name: ClassVar[str] = "il_total"
    title: ClassVar[str] = "total information loss (IL)"
    formula: ClassVar[str] = "sum of the cell losses by height over all rows and quasi-identifiers"
    reference: ClassVar[str] = (
        "Byun, Kamra, Bertino, Li, Efficient k-anonymization using clustering techniques, DASFAA 2007"
    )
    shapes: ClassVar[tuple[str, ...]] = COVERING_SHAPES

    def entries(self, given: Given) -> dict[str, float]:
        """The sum."""
        return {self.name: math.fsum(height_losses(given).values())}
