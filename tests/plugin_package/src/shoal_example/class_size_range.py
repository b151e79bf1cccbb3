"""A measure: how much larger the largest class is than the smallest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class ClassSizeRange(Measure):
    """Rows of the largest class less those of the smallest."""

    name: ClassVar[str] = "class_size_range"
    title: ClassVar[str] = "range of the class sizes"
    formula: ClassVar[str] = "max |E| - min |E|"
    reference: ClassVar[str] = "none: an example"

    def entries(self, given: Given) -> dict[str, float]:
        """The difference."""
        return {self.name: int(given.class_sizes[-1] - given.class_sizes[0])}
