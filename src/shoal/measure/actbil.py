"""Cells of contingency tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.contingency import MOST, table_differences
from shoal.spec import Whole, param


@dataclass(frozen=True)
class MeanTableLoss(Measure):
    """How far a cell of a contingency table is from that of the input, on average."""

    name: ClassVar[str] = "actbil"
    title: ClassVar[str] = "mean difference in contingency tables (ACTBIL)"
    formula: ClassVar[str] = "ctbil / number of cells of the tables"
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    most: int = param(Whole(1, MOST), "up to how many columns a table has", default=MOST)

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over all cells of all tables."""
        total, n_cells = table_differences(given, self.most)
        return {self.name: total / n_cells} if n_cells else {}
