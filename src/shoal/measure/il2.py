"""Microaggregation loss of means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.number_loss import NumberLoss, overall, relative


@dataclass(frozen=True)
class Il2(Measure):
    """How far the means of columns move, as a share of themselves."""

    name: ClassVar[str] = "il2"
    title: ClassVar[str] = "loss of means (IL2)"
    formula: ClassVar[str] = (
        "mean over numeric quasi-identifiers of |mean - mean'| / |mean|; where a mean is 0, the standard "
        "deviation in its place; il2:<column> of one column"
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
        return overall(self.name, {name: _moved(loss, name) for name in loss.names})


def _moved(loss: NumberLoss, name: str) -> float:
    return relative(loss.mean(name), math.sqrt(loss.covariance(name, name)[0]))
