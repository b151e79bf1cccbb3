"""What the shape of a release is: its tables, their columns, the forms of its cells, and how it is read back."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from shoal.errors import Problems
from shoal.registry.declarations import Protects

if TYPE_CHECKING:
    from shoal.release.manifest import Layout, QuasiColumn

Tables = Mapping[str, pl.DataFrame]
Part = tuple[pl.DataFrame, pl.Series]
"""Rows whose cells belong together, and the bucket of each."""
GENERALISED = ("interval", "order", "node", "set")
"""Forms of cells that cover several values."""


class Shape(ABC):
    """A way to lay a release out; here, one table whose every row carries its own cells."""

    name: ClassVar[str]
    protects: ClassVar[Protects] = "cells"
    forms: ClassVar[tuple[str, ...]] = GENERALISED
    """Forms that the cells of quasi-identifiers can have."""
    reading: ClassVar[str] = "rows with equal quasi-identifier cells form one class"
    """How classes are found, in words."""
    class_table: ClassVar[str | None] = None
    """The table that has one row per class, with the quasi-identifiers; None where every row carries them."""
    class_facts: ClassVar[tuple[str, ...]] = ()
    """What the table of classes says of each class before its cells."""
    distinct_classes: ClassVar[bool] = False
    """Whether no two lines of the table of classes show the same cells."""
    covers_values: ClassVar[bool] = True
    """Whether cells say which values their rows may have had."""
    compares_population: ClassVar[bool] = False
    """Whether cells can be compared with the people of a population."""
    has_counterfeits: ClassVar[bool] = False
    """Whether some rows may stand for nobody."""
    sensitive_table: ClassVar[str | None] = None
    """The table that has the sensitive values, where they stand apart from the rows."""

    added: ClassVar[Mapping[str, type[pl.DataType]]] = {}
    """The columns that it adds to those of the input, and their types."""

    def contents(self, layout: Layout) -> dict[str, list[str]]:
        """The published tables and the columns of each, in no order."""
        passed = [column.name for column in layout.passed]
        if self.class_table is None:
            return {"table": [*layout.cell_columns, *passed]}
        return {"table": ["class", *passed], self.class_table: [*self.class_facts, *layout.cell_columns]}

    def class_columns(self, layout: Layout) -> list[str]:
        """The published columns whose equal cells make a class."""
        return ["class"] if self.class_table else layout.cell_columns

    def carriers(self, column: QuasiColumn) -> tuple[str, ...]:
        """The published columns that a quasi-identifier must have, by its form alone."""
        return (column.name,)

    def counted(self, layout: Layout) -> Sequence[str]:  # noqa: ARG002
        """The tables that have one row per published row."""
        return ("table",)

    def cells(self, tables: Tables, layout: Layout, problems: Problems) -> pl.DataFrame:
        """The cells of the quasi-identifiers, row by row, beside what says the class; notes what does not fit."""
        return with_class_cells(tables, layout) if self.class_table else self.rows(tables, layout, problems)

    def rows(self, tables: Tables, layout: Layout, problems: Problems) -> pl.DataFrame:  # noqa: ARG002
        """What is published as it is, row by row, beside what says the class; notes what does not fit."""
        return tables["table"]

    def parts(self, tables: Tables, layout: Layout) -> list[Part]:
        """The release as parts whose rows belong together only by their bucket."""
        rows = self.full_rows(tables, layout)
        rows = rows.drop("class") if self.class_table else rows
        return [(rows, pl.repeat(0, rows.height, eager=True))]

    def full_rows(self, tables: Tables, layout: Layout) -> pl.DataFrame:
        """Every row with its cells, beside what says the class, where cells and values stand in one row."""
        rows = tables["table"]
        return with_class_cells(tables, layout, others=rows.columns) if self.class_table else rows


def with_class_cells(tables: Tables, layout: Layout, others: Sequence[str] = ("class",)) -> pl.DataFrame:
    """Rows with the cells, and the facts, that the table of classes has for their class."""
    classes = tables[str(layout.class_table)].with_columns(pl.col("class").cast(pl.String))
    rows = tables["table"].select(pl.col("class").cast(pl.String), pl.col([name for name in others if name != "class"]))
    if len(others) > 1:
        classes = classes.select("class", *layout.cell_columns)
    return rows.join(classes, on="class", how="left", maintain_order="left")
