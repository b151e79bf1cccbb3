"""Normalised average class size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class AverageClassSize(Measure):
    """The average class size over the promised k; there where a k is promised."""

    name: ClassVar[str] = "c_avg"
    title: ClassVar[str] = "average class size over k"
    formula: ClassVar[str] = "(published rows / classes) / k, with the largest k promised"
    reference: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006"
    range: ClassVar[tuple[float, float]] = (1.0, math.inf)

    def entries(self, given: Given) -> dict[str, float]:
        """The average over k; nothing where no k is promised, or no row is published."""
        promise, sizes = given.manifest.promise, given.class_sizes
        k = max((int(str(one["k"])) for one in promise if one.get("model") == "k-anonymity"), default=0)
        return {self.name: int(sizes.sum()) / len(sizes) / k} if k and len(sizes) else {}
