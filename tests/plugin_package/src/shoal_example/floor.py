"""A publisher: every row of a group shows the smallest number of the group, or its first category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from shoal.errors import Problems
from shoal.methods.groups import Groups
from shoal.publish.averages import as_shown, domain, value_columns
from shoal.publish.base import Published, Publisher, check_clashes, passed_columns
from shoal.release.manifest import Layout, QuasiColumn
from shoal.spec import Real, param
from shoal.table.prepare import Table
from shoal.table.schema import Numeric


@dataclass(frozen=True)
class Floor(Publisher):
    """Show the smallest number of a group, rounded down to a multiple of `step`; of categories, the first."""

    name: ClassVar[str] = "floor"
    title: ClassVar[str] = "the smallest number of a group, its first category"
    loses: ClassVar[str] = "sse"
    shapes: ClassVar[Mapping[str | None, str]] = {None: "values"}

    step: float = param(Real(0, open_low=True), "numbers are rounded down to a multiple of it", default=1.0)

    def check(self, table: Table, problems: Problems) -> None:
        """Note published column names that would clash."""
        quasi = [name for column in value_columns(table) for name in column.columns]
        check_clashes([*quasi, *table.passed], "floor", problems)

    def show(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table, in the order of its rows."""
        quasi, parts = [], {name: table.frame.select(name) for name in table.frame.columns}
        for column in value_columns(table):
            shown, cells = as_shown(column, self._cells(table, column, groups))
            quasi.append(shown)
            parts[column.name] = cells[groups.labels]
        layout = Layout(shape="values", quasi=tuple(quasi), passed=passed_columns(table, table.frame))
        rows = pl.concat([part for name, part in parts.items() if name in layout.kinds], how="horizontal")
        return Published({"table": rows}, layout)

    def _cells(self, table: Table, column: QuasiColumn, groups: Groups) -> pl.DataFrame:
        """One line per group: its value; of numbers, whether all, none or some of them are missing."""
        series, order = table.frame[column.name], domain(table, column.name)
        members = [series.filter(pl.Series(groups.labels == label)).to_list() for label in range(groups.n_groups)]
        gone = [True if set(values) == {None} else None if None in values else False for values in members]
        if not isinstance(table.quasi[column.name], Numeric):
            texts = [{True: None, None: "*"}.get(all_gone, self._first(values, order))
                     for values, all_gone in zip(members, gone, strict=True)]  # fmt: skip
            return pl.DataFrame({column.name: pl.Series(texts, dtype=pl.String)})
        numbers = [None if said is not False else min(values) // self.step * self.step + 0.0
                   for values, said in zip(members, gone, strict=True)]  # fmt: skip
        cells = {
            column.name: pl.Series(numbers, dtype=pl.Float64),
            f"{column.name}_missing": pl.Series(gone, dtype=pl.Boolean),
        }
        return pl.DataFrame(cells).select(column.columns)

    def _first(self, values: list[Any], order: list[str]) -> str | None:
        return min((value for value in values if value is not None), key=order.index, default=None)
