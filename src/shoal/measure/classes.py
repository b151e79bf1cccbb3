"""Number of equivalence classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class ClassCount(Measure):
    """How many classes there are; of buckets and slices, how many buckets."""

    name: ClassVar[str] = "classes"
    title: ClassVar[str] = "classes"
    formula: ClassVar[str] = "number of classes"
    reference: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 2002"
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "neither"

    def entries(self, given: Given) -> dict[str, float]:
        """The number of classes."""
        return {self.name: len(given.class_sizes)}
