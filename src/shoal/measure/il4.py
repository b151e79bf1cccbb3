"""Microaggregation loss of covariances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.number_loss import NumberLoss, overall, relative


@dataclass(frozen=True)
class Il4(Measure):
    """How far the covariances of columns move, as a share of themselves."""

    name: ClassVar[str] = "il4"
    title: ClassVar[str] = "loss of covariances (IL4)"
    formula: ClassVar[str] = (
        "mean over every two numeric quasi-identifiers of |covariance - covariance'| / |covariance|; "
        "where a covariance is 0, the product of the standard deviations in its place; "
        "il4:<column>:<column> of two columns"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>:<column>")

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over pairs of columns, then the figure of each."""
        loss = given.once(NumberLoss.of)
        return overall(self.name, {f"{one}:{other}": _moved(loss, one, other) for one, other in loss.pairs})


def _moved(loss: NumberLoss, one: str, other: str) -> float:
    spread = loss.covariance(one, one)[0] * loss.covariance(other, other)[0]
    return relative(loss.covariance(one, other), math.sqrt(spread))
