"""Microaggregation losses together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import GROUPED_SHAPES, Given, Measure
from shoal.measure.il1 import Il1
from shoal.measure.il2 import Il2
from shoal.measure.il3 import Il3
from shoal.measure.il4 import Il4
from shoal.measure.il5 import Il5


@dataclass(frozen=True)
class Il6(Measure):
    """The mean of the five losses of microaggregation, in percent."""

    name: ClassVar[str] = "il6"
    title: ClassVar[str] = "mean loss of numbers (IL6)"
    formula: ClassVar[str] = "100 times the mean of il1 to il5; with one numeric quasi-identifier, of il1 to il3"
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Torra, Disclosure control methods and information loss for microdata, "
        "Confidentiality, disclosure and data access, Elsevier 2001"
    )
    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = GROUPED_SHAPES
    suffixes: ClassVar[tuple[str, ...]] = ("",)

    def entries(self, given: Given) -> dict[str, float]:
        """The mean of those that there are."""
        found = [one.entries(given).get(one.name) for one in (Il1(), Il2(), Il3(), Il4(), Il5())]
        there = [value for value in found if value is not None]
        return {self.name: 100 * math.fsum(there) / len(there)} if there else {}
