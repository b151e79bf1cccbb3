"""Size of the largest class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class LargestClass(Measure):
    """Rows of the largest class, or bucket."""

    name: ClassVar[str] = "class_size_max"
    title: ClassVar[str] = "largest class"
    formula: ClassVar[str] = "largest |E|"
    reference: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 2002"
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"

    def entries(self, given: Given) -> dict[str, float]:
        """Rows of the largest class; 0 where there is none."""
        return {self.name: int(given.class_sizes.max(initial=0))}
