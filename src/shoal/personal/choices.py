"""How much of a sensitive value each person wants to show: from the data, else by a rule, else by a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems, SchemaError, cells_are, counted, rows_at, some
from shoal.table.clean import category_texts
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.prepare import Table

CLEAR, SECOND, THIRD = 1, 2, 3
"""The value itself; its first alias, or what it is generalised to; its second alias."""
UNKNOWN = 0
"""Neither the person, nor a rule, nor a default says anything."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Choices:
    """Where the choice of each row comes from.

    `rule` has a choice by value, or by node of the hierarchy: then it is that of all values below, the nearest node
    going first.
    """

    column: str
    default: int | None = None
    rule: Mapping[str, int] | None = None

    def of(self, table: Table) -> Ints:
        """The choice of each row; 0 where nobody says."""
        found = np.full(table.n_rows, self.default or UNKNOWN, dtype=np.int64)
        if self.rule is not None:
            ruled = self._ruled(table)
            found = np.where(ruled > 0, ruled, found)
        if table.schema.choice is not None:
            given = _given(table.frame[table.schema.choice])
            found = np.where(given > 0, given, found)
        return found

    def check(self, table: Table, where: str, problems: Problems) -> None:
        """Note choices that are none, names of the rule that mean nothing, and rows that nobody says anything of."""
        before = len(problems)
        if table.schema.choice is not None:
            _check_given(table, table.schema.choice, problems)
        tree = given_tree(table, self.column)
        known = set(category_texts(table.frame[self.column]).drop_nulls().unique().to_list())
        known |= set(tree.names) if tree is not None else set()
        if strange := [name for name in self.rule or {} if name not in known]:
            fix = "name values of the column, or nodes of its hierarchy"
            problems.add(f"{where}: rule", f"names what the column does not have: {some(strange)}", fix)
        if len(problems) > before:
            return
        silent = table.kept[self.of(table) == UNKNOWN].tolist()
        if silent:
            what = f"{counted(len(silent), 'row has', 'rows have')} no choice, at {rows_at(silent)}"
            problems.add(where, what, "give default=, such as 3", error=ParameterError)

    def _ruled(self, table: Table) -> Ints:
        tree, rule = given_tree(table, self.column), self.rule or {}
        cells = category_texts(table.frame[self.column])
        values = cells.drop_nulls().unique().to_list()
        choice = {value: _nearest(value, tree, rule) for value in values}
        return cells.replace_strict(choice, default=UNKNOWN, return_dtype=pl.Int64).to_numpy()


def given_tree(table: Table, name: str) -> Hierarchy | None:
    """The hierarchy of a column, if it was given one: a flat tree over its values says nothing, and may not exist."""
    kind = table.schema.columns[name].kind
    return None if kind is None or kind.hierarchy is None else table.hierarchy(name)


def _nearest(value: str, tree: Hierarchy | None, rule: Mapping[str, int]) -> int:
    """The choice of a value by the nearest node that the rule names."""
    above = [value] if tree is None else [value, *tree.path(value)]
    return next((rule[name] for name in above if name in rule), UNKNOWN)


def _given(series: pl.Series) -> Ints:
    numbers = series.cast(pl.String).cast(pl.Float64, strict=False).fill_null(UNKNOWN)
    return numbers.cast(pl.Int64).to_numpy()


def _check_given(table: Table, name: str, problems: Problems) -> None:
    """Note cells that are no choice; a missing one is none of them."""
    series = table.frame[name]
    numbers = series.cast(pl.String).cast(pl.Float64, strict=False)
    bad = table.kept[(series.is_not_null() & ~numbers.is_in([1.0, 2.0, 3.0]).fill_null(value=False)).to_numpy()]
    if len(bad):
        what = f"{cells_are(len(bad))} no choice, at {rows_at(bad.tolist())}"
        fix = "write 1 (the value), 2 (its first alias) or 3 (its second)"
        problems.add(f"column {name!r}", what, fix, error=SchemaError)
