"""Squared error within groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.measure.group_errors import GroupMeasure, numbers_of
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Sse(GroupMeasure):
    """Squared distances of numbers from the mean of their group."""

    name: ClassVar[str] = "sse"
    title: ClassVar[str] = "squared error within groups (SSE)"
    formula: ClassVar[str] = (
        "numeric quasi-identifiers, standardised (divided by their standard deviation): squared differences from "
        "the mean of the group, summed over rows and columns"
    )
    reference: ClassVar[str] = (
        "Domingo-Ferrer, Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control, "
        "TKDE 2002"
    )

    def columns(self, table: Table) -> list[str]:
        """The numeric quasi-identifiers."""
        return numbers_of(table)
