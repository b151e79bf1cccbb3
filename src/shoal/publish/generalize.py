"""Generalisation: every row of a group shows the same interval, run, node or set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.errors import Problems, SchemaError
from shoal.machine.threads import side_by_side
from shoal.methods.groups import Groups, Labels
from shoal.publish.base import GroupRows, Published, Publisher, check_clashes, numbered_groups, passed_columns
from shoal.publish.covers import as_shown, counted_from_first, covering, published_nodes, text_cells, typed_cells
from shoal.release.manifest import Layout, QuasiColumn
from shoal.spec import OneOf, YesNo, param
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Nominal, Ordinal, kind_name

MOST_IN_A_SET = 1000
"""A cell that lists more categories than this, in every row of its class, fills the memory and helps nobody."""


@dataclass(frozen=True)
class Generalize(Publisher):
    """Show each quasi-identifier of a group as one cell that covers all its values.

    A number becomes an interval (itself when all agree), an ordered category a run of the order, a category the lowest
    node of its hierarchy over all values. A group whose values are all missing shows a missing cell; missing beside
    present shows `*`. Identifying and choice columns are left out, sensitive and neutral ones are published unchanged.

    Parameters
    ----------
    shape
        ``"text"``: one text cell per quasi-identifier. ``"typed"``: numbers and runs as two columns, ``age_low`` and
        ``age_high``, with ``age_missing`` (true, false, null for both) where the column had missing values.
        ``"classes"``: one class number per row, and a table of classes beside.
    sets
        Whether a nominal column without a hierarchy shows the set of its values instead of `*`.

    Guarantee
    ---------
    All rows of a group carry equal quasi-identifier cells, and each covers the row's own value. Groups whose cells
    agree are one class. Bounds are tight: the smallest and largest value of a group are published.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"sex": ["f", "m", "f", "m"], "age": [20, 21, 40, 44]})
    >>> schema = shoal.Schema(quasi={"sex": shoal.Nominal(), "age": shoal.Numeric()})
    >>> release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), publish=Generalize(sets=True))
    >>> sorted(release.table.rows()), release.verify().k
    ([('f', '[20, 40]'), ('f', '[20, 40]'), ('m', '[21, 44]'), ('m', '[21, 44]')], 2)
    """

    name: ClassVar[str] = "generalize"
    title: ClassVar[str] = "generalised cells: intervals, ranges of categories, hierarchy nodes or sets"
    loses: ClassVar[str] = "ncp"

    shape: str = param(OneOf(("text", "typed", "classes")), "how cells are laid out", default="text")
    sets: bool = param(YesNo(), "show sets of values where there is no hierarchy", default=False)

    def check(self, table: Table, problems: Problems) -> None:
        """Note published column names that would clash."""
        names, columns = table.passed, self.columns(table)
        if self.shape == "classes":
            names += ["class", "size", *table.quasi]
        else:
            names += [name for column in columns for name in column.columns]
        for column in columns:
            if column.form != "set" or self.shape == "classes":
                continue
            n_values = table.frame[column.name].drop_nulls().n_unique()
            if n_values > MOST_IN_A_SET:
                what = f"has {n_values} categories, too many to write as sets in every row"
                fix = 'give it a hierarchy, choose shape = "classes", or leave sets out'
                problems.add(f"column {column.name!r}", what, fix, error=SchemaError)
        check_clashes(names, f"shape = {self.shape!r}", problems)

    def show(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table, in the order of its rows."""
        layout, rows = self._shown(table, groups)
        if self.shape == "classes":
            return Published(class_tables(rows.cells, rows.members, rows.passed), layout)
        return Published({"table": rows.table()}, layout)

    def arranged(self, table: Table, groups: Groups) -> tuple[Published, pl.Series]:
        """The same in the order that content gives rows, and which row went where."""
        if self.shape == "classes":
            return super().arranged(table, groups)
        layout, rows = self._shown(table, groups)
        order = rows.order()
        return Published({"table": rows.table(order)}, layout), pl.Series(order)

    def _shown(self, table: Table, groups: Groups) -> tuple[Layout, GroupRows]:
        """What is said of the columns, and what groups and rows show."""
        members, frame = groups.labels, table.frame
        quasi, cells = zip(*self.cells(table, self.columns(table), members), strict=True)
        layout = Layout(shape=self.shape, quasi=quasi, passed=passed_columns(table, frame))  # type: ignore[arg-type]
        passed = [column.name for column in layout.passed]
        carriers = {column.name: column.columns for column in quasi} | {name: (name,) for name in passed}
        order = [shown for name in frame.columns for shown in carriers.get(name, ())]
        return layout, GroupRows(pl.concat(cells, how="horizontal"), members, frame.select(passed), order)

    def cells(
        self, table: Table, columns: Sequence[QuasiColumn], members: Labels
    ) -> Iterator[tuple[QuasiColumn, pl.DataFrame]]:
        """What is said of each quasi-identifier, and its cells group by group."""
        found = {column.name: table.hierarchy(column.name) for column in columns if column.form == "node"}
        trees = {name: tree for name, tree in found.items() if tree is not None}
        cover = covering(columns, table.frame, trees, members, table.coded)

        def written(column: QuasiColumn) -> tuple[QuasiColumn, pl.DataFrame]:
            hierarchy, covered = trees.get(column.name), cover(column)
            settled = as_shown(column, covered, hierarchy)
            if table.whole is not None and column.name in table.whole.fractions:
                settled = settled.model_copy(update={"whole": False})
            write = typed_cells if len(column.columns) > 1 else text_cells
            cells = write(settled, covered, hierarchy)
            grown, bare = table.is_grown(column.name), table.is_grown_by_values(column.name)
            nodes = published_nodes(cells, hierarchy, grown=grown, bare=bare)
            told = counted_from_first(settled, table.quasi[column.name])
            return told.model_copy(update={"nodes": nodes}), cells

        return side_by_side(written, columns, len(columns) * len(members))

    def columns(self, table: Table) -> list[QuasiColumn]:
        """How each quasi-identifier is going to be published, before its cells are known."""
        return [self._column(table.frame[name], kind) for name, kind in table.quasi.items()]

    def _column(self, series: pl.Series, kind: Kind) -> QuasiColumn:
        order: tuple[str, ...] = ()
        if kind.hierarchy is not None or (isinstance(kind, Nominal) and not self.sets):
            form = "node"
        elif isinstance(kind, Nominal):
            form = "set"
        elif isinstance(kind, Ordinal):
            form, order = "order", kind.order
        else:
            form = "interval"
        name, has_missing = series.name, series.null_count() > 0
        columns = [name]
        if self.shape == "typed" and form in ("interval", "order"):
            columns = [f"{name}_low", f"{name}_high", *([f"{name}_missing"] if has_missing else [])]
        settled = {"name": name, "kind": kind_name(kind), "form": form, "columns": columns}
        return QuasiColumn.model_validate(settled | {"has_missing": has_missing, "order": order})


def class_tables(
    by_group: pl.DataFrame, members: Labels, passed: pl.DataFrame, first: int = 1
) -> dict[str, pl.DataFrame]:
    """Number the classes from `first` on in the order of their cells, which says nothing about how they came to be."""
    cells = by_group.columns
    classes = by_group.unique()
    number = numbered_groups([(np.arange(classes.height), classes)]) + (first - 1)
    classes = classes.with_columns(pl.Series("class", number)).sort("class")
    class_of = by_group.join(classes, on=cells, how="left", nulls_equal=True, maintain_order="left")["class"]
    rows = pl.DataFrame([class_of[members].alias("class"), *passed.get_columns()])
    sizes = rows.group_by("class").agg(pl.len().cast(pl.Int64).alias("size"))
    classes = classes.join(sizes, on="class", how="left", maintain_order="left").select("class", "size", *cells)
    return {"table": rows, "classes": classes}
