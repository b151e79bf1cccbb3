"""Size of the smallest class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class SmallestClass(Measure):
    """Rows of the smallest class, or bucket."""

    name: ClassVar[str] = "class_size_min"
    title: ClassVar[str] = "smallest class"
    formula: ClassVar[str] = "smallest |E|: the k that was reached"
    reference: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 2002"
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "higher"

    def entries(self, given: Given) -> dict[str, float]:
        """Rows of the smallest class; 0 where there is none."""
        return {self.name: int(given.class_sizes[0]) if len(given.class_sizes) else 0}
