"""One value that stands for those of a class: in every row, or in a table of centres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from shoal.release.shapes.base import Shape

if TYPE_CHECKING:
    from shoal.release.manifest import QuasiColumn


class SingleValues(Shape):
    """An average in every row of a class."""

    name: ClassVar[str] = "values"
    forms: ClassVar[tuple[str, ...]] = ("value",)
    covers_values: ClassVar[bool] = False

    def carriers(self, column: QuasiColumn) -> tuple[str, ...]:
        """The value, and of a number whether it is missing where some are."""
        gone = (f"{column.name}_missing",) if column.has_missing else ()
        return (column.name, *gone) if column.kind == "numeric" else (column.name,)


class ClassCentres(SingleValues):
    """Centre, size and radius of every class, and rows that name their class."""

    name: ClassVar[str] = "centres"
    class_table: ClassVar[str | None] = "centres"
    class_facts: ClassVar[tuple[str, ...]] = ("class", "size", "radius")
    added: ClassVar[Mapping[str, type[pl.DataType]]] = {"class": pl.Int64, "size": pl.Int64, "radius": pl.Float64}
