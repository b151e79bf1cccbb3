"""Cells that cover the values of their class: texts, typed columns, a table of classes, repeated releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from shoal.release.shapes.base import Shape

if TYPE_CHECKING:
    from shoal.release.manifest import QuasiColumn


class TextCells(Shape):
    """One column of texts per quasi-identifier."""

    name: ClassVar[str] = "text"
    compares_population: ClassVar[bool] = True


class TypedCells(Shape):
    """Lower and upper end of intervals and runs in columns of their own."""

    name: ClassVar[str] = "typed"
    compares_population: ClassVar[bool] = True

    def carriers(self, column: QuasiColumn) -> tuple[str, ...]:
        """Both ends, and whether values are missing where some are."""
        if column.form not in ("interval", "order"):
            return (column.name,)
        gone = (f"{column.name}_missing",) if column.has_missing else ()
        return (f"{column.name}_low", f"{column.name}_high", *gone)


class ClassCells(Shape):
    """A table of classes, and rows that name their class."""

    name: ClassVar[str] = "classes"
    class_table: ClassVar[str | None] = "classes"
    class_facts: ClassVar[tuple[str, ...]] = ("class", "size")
    added: ClassVar[Mapping[str, type[pl.DataType]]] = {"class": pl.Int64, "size": pl.Int64}
    distinct_classes: ClassVar[bool] = True
    compares_population: ClassVar[bool] = True


class InvariantClasses(Shape):
    """A table of classes that says how many rows of each are counterfeits."""

    name: ClassVar[str] = "invariant"
    class_table: ClassVar[str | None] = "classes"
    class_facts: ClassVar[tuple[str, ...]] = ("class", "size", "counterfeits")
    added: ClassVar[Mapping[str, type[pl.DataType]]] = {
        "class": pl.Int64, "size": pl.Int64, "counterfeits": pl.Int64,
    }  # fmt: skip
    has_counterfeits: ClassVar[bool] = True
