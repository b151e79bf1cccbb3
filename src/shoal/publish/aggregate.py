"""Aggregation: every row of a group shows the same average record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems, did_you_mean
from shoal.methods.groups import Groups, Labels
from shoal.publish.averages import (
    Floats,
    as_shown,
    average_categories,
    average_numbers,
    domain,
    number_cells,
    value_columns,
)
from shoal.publish.base import Published, Publisher, check_clashes, codes_of_groups, passed_columns
from shoal.publish.stretching import rows_that_show, stretch_of
from shoal.release.manifest import Layout, QuasiColumn
from shoal.spec import ByColumn, Maybe, OneOf, YesNo, param
from shoal.table.hierarchy.builders import STAR
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, kind_name

RULES: dict[type[Kind], tuple[str, ...]] = {
    Numeric: ("mean", "median"),
    Ordinal: ("median", "convex-median", "mode"),
    Nominal: ("mode",),
}
"""What can stand for the values of a column of each kind."""


@dataclass(frozen=True)
class Aggregate(Publisher):
    """Show each quasi-identifier of a group as one average value, as microaggregation does.

    Numbers stay numbers and categories stay categories, so that the release can be analysed like the input. A group
    whose values are all missing shows a missing cell; missing beside present shows `*` (for a number: a missing cell,
    and null in ``age_missing``, which is true where all are missing and false where none is). Identifying and choice
    columns are left out, sensitive and neutral ones are published unchanged.

    Parameters
    ----------
    numeric
        ``"mean"`` or ``"median"`` (between the two middle numbers when their count is even).
    ordinal
        ``"median"``, the lowest category that half of the values do not exceed; ``"convex-median"``, the median after
        filling the gaps between frequent categories; ``"mode"``.
    average
        Another choice for single columns, such as ``{"age": "median", "grade": "mode"}``. Names have only a mode.
    restore_variance
        Whether to stretch numbers around their mean until mean and variance of each column are those of the input;
        averages that are all alike keep the mean alone.

    Guarantee
    ---------
    All rows of a group carry equal quasi-identifier cells. Groups whose cells agree are one class. A mean need not be
    a value anybody has, and with ``restore_variance`` it may lie outside the range of the column. A group of equal
    values shows that value.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [25, 27, 29, 35, 39], "salary": [50, 60, 100, 110, 120]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric(), "salary": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, shoal.Mdav(k=2), publish=Aggregate())
    >>> release.table.unique().sort("age").rows(), release.verify().k
    ([(27.0, 70.0), (37.0, 115.0)], 2)
    """

    name: ClassVar[str] = "aggregate"
    title: ClassVar[str] = "means, medians or modes"
    loses: ClassVar[str] = "sse"

    numeric: str = param(OneOf(("mean", "median")), "the average of numeric columns", default="mean")
    ordinal: str = param(OneOf(("median", "convex-median", "mode")), "the average of ordinal columns", default="median")
    average: Mapping[str, str] | None = param(
        Maybe(ByColumn(OneOf(("mean", "median", "convex-median", "mode")))),
        "another average for single columns",
        default=None,
    )
    restore_variance: bool = param(YesNo(), "restore the mean and variance of every numeric column", default=False)

    def check(self, table: Table, problems: Problems) -> None:
        """Note averages that a column does not have, and published column names that would clash."""
        for name, rule in (self.average or {}).items():
            self._check_average(name, rule, table, problems)
        cells = [name for column in value_columns(table) for name in column.columns]
        check_clashes([*table.passed, *cells], "aggregation", problems)

    def _check_average(self, name: str, rule: str, table: Table, problems: Problems) -> None:
        where = "Aggregate(average=)"
        if name not in table.quasi:
            what = f"{name!r} is not a quasi-identifier of the table"
            problems.add(where, what, did_you_mean(name, table.quasi), error=ParameterError)
            return
        rules = RULES[type(table.quasi[name])]
        if rule not in rules:
            lack = "no order" if rules == ("mode",) else f"no {rule}"
            what = f"{rule} of column {name!r}, which is {kind_name(table.quasi[name])} and has {lack}"
            problems.add(where, what, f"use {' or '.join(rules)}", error=ParameterError)

    def _rule(self, table: Table, name: str) -> str:
        chosen = (self.average or {}).get(name)
        if chosen is not None:
            return chosen
        kind = table.quasi[name]
        return self.numeric if isinstance(kind, Numeric) else self.ordinal if isinstance(kind, Ordinal) else "mode"

    def show(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table, in the order of its rows."""
        members, frame = groups.labels, table.frame
        codes: dict[str, npt.NDArray[np.integer]] = {}
        quasi, parts = [], {name: frame.select(name) for name in frame.columns}
        for column in value_columns(table):
            shown, cells = as_shown(column, self._cells(table, column, frame[column.name], members))
            quasi.append(shown)
            parts[column.name] = cells[members]
            codes |= codes_of_groups(cells, members)
        layout = Layout(shape="values", quasi=tuple(quasi), passed=passed_columns(table, frame))
        rows = pl.concat([part for name, part in parts.items() if name in layout.kinds], how="horizontal")
        return Published({"table": rows}, layout, codes)

    def stretched_rows(self, table: Table, groups: Groups) -> dict[str, tuple[Floats, Floats]]:
        """Of each numeric column, the numbers of the rows that show one, and the averages of their groups."""
        numeric = [name for name, kind in table.quasi.items() if isinstance(kind, Numeric)]
        averages = {name: self._averages(table, name, groups.labels) for name in numeric}
        return {name: rows_that_show(one, table.frame[name], groups.labels) for name, one in averages.items()}

    def _averages(self, table: Table, name: str, members: Labels) -> Floats:
        """The average number of each group; NaN where a number is missing."""
        series, n_groups = table.frame[name], int(members.max(initial=-1)) + 1
        averages = average_numbers(series, members, n_groups, self._rule(table, name))
        averages[members[series.is_null().to_numpy()]] = np.nan
        return averages

    def _cells(self, table: Table, column: QuasiColumn, series: pl.Series, members: Labels) -> pl.DataFrame:
        """The published cells of one quasi-identifier, group by group."""
        n_groups = int(members.max(initial=-1)) + 1
        gone = np.bincount(members[series.is_null().to_numpy()], minlength=n_groups)
        all_gone = gone == np.bincount(members, minlength=n_groups)
        rule = self._rule(table, column.name)
        if isinstance(table.quasi[column.name], Numeric):
            averages = self._averages(table, column.name, members)
            if self.restore_variance:
                known = {} if table.whole is None else table.whole.stretches
                stretch = known.get(column.name) or stretch_of(averages, series, members)
                averages = stretch.stretched(averages)
            said = [
                False if not holes else True if whole else None for holes, whole in zip(gone, all_gone, strict=True)
            ]
            return number_cells(column, averages, pl.Series(said, dtype=pl.Boolean))
        texts = average_categories(series, members, n_groups, domain(table, column.name), rule)
        cells = [
            None if whole else STAR if holes else text for text, holes, whole in zip(texts, gone, all_gone, strict=True)
        ]
        return pl.DataFrame({column.name: pl.Series(cells, dtype=pl.String)})
