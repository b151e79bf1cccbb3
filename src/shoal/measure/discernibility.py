"""Discernibility of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.base import Given, Measure


@dataclass(frozen=True)
class Discernibility(Measure):
    """Every row is charged the rows that it cannot be told from."""

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "discernibility"
    formula: ClassVar[str] = "sum of |E|² over the classes, plus n s: each row left out is charged the whole table"
    reference: ClassVar[str] = "Bayardo, Agrawal, Data privacy through optimal k-anonymization, ICDE 2005"

    def entries(self, given: Given) -> dict[str, float]:
        """The sum over rows."""
        return {self.name: int((given.class_sizes**2).sum()) + given.n_rows * given.charged}
