"""A privacy model: several sensitive values in every class, and none of them too frequent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.privacy.base import SLACK, Bools, Classes, ColumnRequirement, Floats
from shoal.spec import ColumnName, Real, Whole, param


@dataclass(frozen=True)
class ValueSpread(ColumnRequirement):
    """Every class holds at least c values of a sensitive column, and none makes up more than p of it.

    Guarantee
    ---------
    Who finds the class of a person is sure of no value with more than p, and at least c values are possible.
    """

    name: ClassVar[str] = "value-spread"
    title: ClassVar[str] = "at least c values in every class, each at most a share p of it"
    measures: ClassVar[str] = "spread"
    paper: ClassVar[str] = "none: an example"
    advice: ClassVar[str] = "only to see how a model is written"

    column: str = param(ColumnName(), "sensitive column")
    c: int = param(Whole(2), "fewest different values")
    p: float = param(Real(0, 1, open_low=True), "largest share of one value")

    @property
    def letter(self) -> str:
        """The largest share, with the number of values it is about."""
        return f"spread(c={self.c})"

    def per_class(self, classes: Classes) -> Floats:
        """The largest share of a value; infinite where there are fewer than c."""
        counts = classes.count(self.column)
        return np.where(counts.distinct < self.c, np.inf, counts.largest(counts.share))

    def enough(self, reached: Floats) -> Bools:
        """Whether the share is at most p."""
        return reached <= self.p + SLACK

    def shortfall(self, reached: Floats, classes: Classes) -> Floats:
        """By how much the share is above p, and the share of c values that are missing."""
        counts = classes.count(self.column)
        few = np.maximum(self.c - counts.distinct, 0) / self.c
        return few + np.maximum(counts.largest(counts.share) - self.p, 0.0)

    def nearest(self, reached: float) -> str:
        """What a table can keep."""
        return f"use a p of at least {reached:.6g}" if np.isfinite(reached) else "use a smaller c"
