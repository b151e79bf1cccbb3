"""Microaggregation loss of single numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.number_loss import NumberLoss
from shoal.measure.shown import Floats
from shoal.spec import OneOf, param


@dataclass(frozen=True)
class Il1(Measure):
    """How far numbers are from those that show them, as a share of themselves."""

    name: ClassVar[str] = "il1"
    title: ClassVar[str] = "loss of single numbers (IL1)"
    formula: ClassVar[str] = (
        "numeric quasi-identifiers: mean over rows and columns of |x - x'| / |x|, in columns that have a "
        "0, and with scale = deviation in all, of |x - x'| / (sqrt(2) sd); x' is the average or the "
        "middle of the interval, for a row left out the mean of the published ones; il1:<column> over "
        "one column"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("", ":<column>")

    scale: str = param(
        OneOf(("auto", "deviation")), "whether columns without a 0 are divided by their numbers", default="auto"
    )

    def entries(self, given: Given) -> dict[str, float]:
        """The mean over all cells, then that of each column."""
        loss = given.once(NumberLoss.of)
        shares = {name: self._shares(loss, name) for name in loss.names}
        counted = [share for share in shares.values() if len(share)]
        if not counted:
            return {}
        total = math.fsum(float(share.sum()) for share in counted) / sum(len(share) for share in counted)
        return {self.name: total} | {
            f"{self.name}:{name}": float(share.mean()) for name, share in shares.items() if len(share)
        }

    def _shares(self, loss: NumberLoss, name: str) -> Floats:
        """What every number loses; those that are missing before and after do not count."""
        x, apart = loss.before(name), loss.deviations(name)
        known = np.abs(x[np.isfinite(x)])
        if self.scale == "deviation" or not known.all():
            unit: Floats = np.full(len(x), math.sqrt(2 * loss.covariance(name, name)[0]) or 1.0)
        else:  # a missing number has no size of its own: it counts as the mean of those that have
            unit = np.where(np.isfinite(x), np.abs(x), known.mean() if len(known) else 1.0)
        there = np.isfinite(apart)
        found: Floats = apart[there] / unit[there]
        return found
