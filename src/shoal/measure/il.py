"""Information loss of generalised cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import COVERING_SHAPES, Given, Measure
from shoal.measure.cell_loss import height_losses, n_cells


@dataclass(frozen=True)
class Il(Measure):
    """What a cell leaves open of its column on average, by tree height."""

    name: ClassVar[str] = "il"
    title: ClassVar[str] = "information loss (IL)"
    formula: ClassVar[str] = "il_total / (n d)"
    reference: ClassVar[str] = (
        "Byun, Kamra, Bertino, Li, Efficient k-anonymization using clustering techniques, DASFAA 2007"
    )
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = COVERING_SHAPES

    def entries(self, given: Given) -> dict[str, float]:
        """The mean."""
        return {self.name: math.fsum(height_losses(given).values()) / n_cells(given)}
