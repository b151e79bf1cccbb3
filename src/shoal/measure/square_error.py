"""Square error of the quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.group_errors import GroupMeasure
from shoal.table.prepare import Table


@dataclass(frozen=True)
class SquareError(GroupMeasure):
    """Squared distances of numbers from the mean of their group, and categories that differ from most of it."""

    name: ClassVar[str] = "square_error"
    title: ClassVar[str] = "square error of quasi-identifiers"
    formula: ClassVar[str] = (
        "sse, plus for every other quasi-identifier the number of rows that differ from the most frequent value "
        "of their group (square error E)"
    )
    reference: ClassVar[str] = (
        "El-Rashidy, Taha, Ayad, Sroor, An effective k-anonymity clustering method for less effectiveness on "
        "accuracy of data mining results, 2011"
    )

    def columns(self, table: Table) -> list[str]:
        """The quasi-identifiers."""
        return list(table.quasi)
