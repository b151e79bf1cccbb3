"""Microaggregation loss of variances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.number_loss import NumberLoss, overall, relative


@dataclass(frozen=True)
class Il3(Measure):
    """How far the variances of columns move, as a share of themselves."""

    name: ClassVar[str] = "il3"
    title: ClassVar[str] = "loss of variances (IL3)"
    formula: ClassVar[str] = (
        "mean over numeric quasi-identifiers of |variance - variance'| / variance, 0/0 being 0; "
        "il3:<column> of one column"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over columns, then the figure of each."""
        loss = given.once(NumberLoss.of)
        return overall(self.name, {name: relative(loss.covariance(name, name), 1.0) for name in loss.names})
