"""Square error of all published columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.group_errors import GroupMeasure
from shoal.table.prepare import Table


@dataclass(frozen=True)
class SquareErrorAll(GroupMeasure):
    """The square error with sensitive and neutral columns too."""

    name: ClassVar[str] = "square_error_all"
    title: ClassVar[str] = "square error of all columns"
    formula: ClassVar[str] = (
        "square_error over all published columns, sensitive and neutral ones too; numbers without a kind enter as "
        "numbers, all else as names"
    )
    reference: ClassVar[str] = (
        "El-Rashidy, Taha, Ayad, Sroor, An effective k-anonymity clustering method for less effectiveness on "
        "accuracy of data mining results, 2011"
    )

    def columns(self, table: Table) -> list[str]:
        """All published columns."""
        return list(table.published)
