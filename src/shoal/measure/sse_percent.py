"""Share of variance that is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.group_errors import GroupErrors, GroupMeasure, numbers_of
from shoal.table.prepare import Table


@dataclass(frozen=True)
class SsePercent(GroupMeasure):
    """Squared error within groups, as a percentage of that around the mean of all rows."""

    name: ClassVar[str] = "sse_percent"
    title: ClassVar[str] = "variance lost (SSE / SST)"
    formula: ClassVar[str] = (
        "100 sse / SST, where SST is the same around the mean of the whole table: the share of variance that is lost"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control, "
        "TKDE 2002"
    )

    def columns(self, table: Table) -> list[str]:
        """The numeric quasi-identifiers."""
        return numbers_of(table)

    def value(self, errors: GroupErrors, columns: list[str]) -> float:
        """The percentage; 0 where all rows are alike."""
        whole = errors.of_one_group.total(columns)
        return 100 * errors.total(columns) / whole if whole else 0.0
