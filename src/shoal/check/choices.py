"""Whether a sensitive value is shown as the person chose: the value itself, its first alias or its second.

A choice is the person's own, else that of a rule by value or node, else the default; both are in the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.derived import TRIES, alias_of, secret_of
from shoal.release.key import ColumnKey, Key
from shoal.table.hierarchy.tree import Hierarchy

CLEAR, FIRST, SECOND = 1, 2, 3
Ints = npt.NDArray[np.int64]


class Few(NamedTuple):
    """Which values are in no row, though some people chose to show them: they are fewer than was asked for."""

    shown: set[str | None]
    """The values that some row shows."""
    least: int
    """How many must choose so."""
    n_left_out: int
    """So many of those who chose so may have been left out."""
    whose: pl.Series | None = None
    """Whose row each one is, where people are counted."""

    def applied(self, values: pl.Series, ways: Ints) -> Ints:
        """Choices of people who have these values, those of too few changed."""
        clear = pl.DataFrame([values.alias("value")]).filter(pl.Series(ways == CLEAR))
        if self.whose is not None:
            clear = clear.with_columns(self.whose.filter(pl.Series(ways == CLEAR)).alias("whose")).unique()
        chose = Counter(clear["value"].to_list())
        left_out = {value: 0 if value in self.shown else self.n_left_out for value in chose}
        rare = {value for value, n in chose.items() if n - left_out[value] < self.least}
        hidden = np.array([value in rare for value in values.to_list()], dtype=np.bool_)
        return np.where((ways == CLEAR) & hidden, FIRST, ways)


def ways_shown(cell: str | None, column: ColumnKey, key: Key, asked: Mapping[str, Any]) -> tuple[int, int]:
    """The lowest and the highest choice that a cell can be of."""
    if cell not in column.values:
        return CLEAR, FIRST if asked.get("choice2") == "generalise" else CLEAR
    if asked.get("flatten") is not None:  # aliases are drawn without regard to choices
        return (SECOND if asked.get("choice2") == "generalise" else FIRST), SECOND
    value, secret = column.values[cell][0], secret_of(key.seed, "aliases", column.name, key.table)
    way = FIRST if asked.get("choice2") != "generalise" and _is_first(cell, secret, value) else SECOND
    return way, way


def _is_first(cell: str | None, secret: bytes, value: Any) -> bool:
    return any(cell == alias_of(secret, value, 1, attempt) for attempt in range(TRIES))


def ways_chosen(
    values: pl.Series,
    choices: pl.Series | None,
    column: ColumnKey,
    tree: Hierarchy | None,
    few: Few,
) -> Ints | None:
    """The choice of everybody in the input; None where it cannot be known.

    Parameters
    ----------
    values
        What they have, as text.
    choices
        What they chose; None where there is no such column.
    column
        The key, with rule and default.
    tree
        The hierarchy whose nodes the rule may name.
    few
        Which values too few chose to show: those who did have its first alias.
    """
    rule, default = column.private.get("rule") or {}, column.private.get("default") or 0
    known = values.drop_nulls().unique().to_list()
    if not set(rule) <= {*known, *(() if tree is None else tree.names)}:  # by nodes, or in another spelling
        return None
    ruled = {value: _ruled(value, rule, tree) or default for value in known}
    found = values.replace_strict(ruled, default=default, return_dtype=pl.Int64)
    if choices is not None:
        given = choices.cast(pl.String).cast(pl.Float64, strict=False).cast(pl.Int64)
        found = given.zip_with(given.is_in([CLEAR, FIRST, SECOND]).fill_null(value=False), found)
    if not found.is_in([CLEAR, FIRST, SECOND]).all():
        return None
    return few.applied(values, found.to_numpy())


def _ruled(value: str, rule: Mapping[str, int], tree: Hierarchy | None) -> int:
    """The choice of a value by the nearest node that the rule names; 0 for none."""
    above = [value] if tree is None or value not in tree.node_of else [value, *tree.path(value)]
    return next((rule[name] for name in above if name in rule), 0)
