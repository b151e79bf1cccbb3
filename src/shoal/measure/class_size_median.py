"""Median size of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class MedianClass(Measure):
    """Rows of the class, or bucket, in the middle."""

    name: ClassVar[str] = "class_size_median"
    title: ClassVar[str] = "median class size"
    formula: ClassVar[str] = "median of |E| over the classes"
    reference: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 2002"
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"

    def entries(self, given: Given) -> dict[str, float]:
        """The median over the classes; 0 where there is none."""
        return {self.name: float(np.median(given.class_sizes)) if len(given.class_sizes) else 0.0}
