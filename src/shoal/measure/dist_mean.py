"""Mean distance of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.category_loss import CategoryLoss
from shoal.measure.number_loss import overall


@dataclass(frozen=True)
class MeanCategoryDistance(Measure):
    """How far a category is from the one that shows it, on average."""

    name: ClassVar[str] = "dist_mean"
    title: ClassVar[str] = "mean distance of categories"
    formula: ClassVar[str] = (
        "dist / (rows of the input times quasi-identifiers that are no numbers); dist_mean:<column> over one column"
    )
    reference: ClassVar[str] = "Torra, Microaggregation for categorical variables: a median based approach, PSD 2004"
    needs: ClassVar[Literal["release", "original"]] = "original"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over all cells, then that of each column."""
        loss = given.once(CategoryLoss.of)
        n_rows = max(loss.shown.n_rows, 1)
        return overall(self.name, {name: one / n_rows for name, one in loss.distances.items()})
