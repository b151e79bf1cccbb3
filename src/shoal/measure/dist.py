"""Distance of categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.category_loss import CategoryLoss


@dataclass(frozen=True)
class CategoryDistance(Measure):
    """How far categories are from those that show them, all together."""

    name: ClassVar[str] = "dist"
    title: ClassVar[str] = "distance of categories (Dist)"
    formula: ClassVar[str] = (
        "sum over rows and quasi-identifiers that are no numbers of the distance between the category "
        "and the one that shows it: 0 or 1 for names, difference of ranks / number of categories for an "
        "order; over a generalised cell on average, every value it covers being as likely; 1 for a row "
        "left out, and where one of both is missing; dist:<column> of one column"
    )
    reference: ClassVar[str] = "Torra, Microaggregation for categorical variables: a median based approach, PSD 2004"
    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The sum over all cells, then that of each column."""
        totals = given.once(CategoryLoss.of).distances
        if not totals:
            return {}
        return {self.name: math.fsum(totals.values())} | {f"{self.name}:{name}": one for name, one in totals.items()}
