"""Contingency tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure
from shoal.measure.contingency import MOST, table_differences
from shoal.spec import Whole, param


@dataclass(frozen=True)
class TableLoss(Measure):
    """How far contingency tables of categories are from those of the input."""

    name: ClassVar[str] = "ctbil"
    title: ClassVar[str] = "difference of contingency tables (CTBIL)"
    formula: ClassVar[str] = (
        "for every one and every two published columns that are no numbers: sum over the cells of their "
        "contingency table of the difference between the rows of the input and those that the release "
        "lets expect; summed over the tables"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    most: int = param(Whole(1, MOST), "up to how many columns a table has", default=MOST)

    def entries(self, given: Given) -> dict[str, float]:
        """The sum over all tables."""
        total, n_cells = table_differences(given, self.most)
        return {self.name: total} if n_cells else {}
