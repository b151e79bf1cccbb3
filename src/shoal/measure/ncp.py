"""Normalised certainty penalty of generalised cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import COVERING_SHAPES, Given, Measure
from shoal.measure.cell_loss import leaf_losses, n_cells


@dataclass(frozen=True)
class Ncp(Measure):
    """What a cell leaves open of its column on average, by leaf count; also known as GCP."""

    name: ClassVar[str] = "ncp"
    title: ClassVar[str] = "information loss (NCP)"
    formula: ClassVar[str] = (
        "mean of the cell losses by leaves over all rows and quasi-identifiers; ncp:<column> over one of them"
    )
    reference: ClassVar[str] = (
        "Xu, Wang, Pei, Wang, Shi, Fu, Utility-based anonymization using local recoding, KDD 2006"
    )
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = COVERING_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over all cells, then that of each column."""
        losses, n_rows = leaf_losses(given), max(given.n_rows, 1)
        figures = {self.name: math.fsum(losses.values()) / n_cells(given)}
        return figures | {f"{self.name}:{column}": loss / n_rows for column, loss in losses.items()}
