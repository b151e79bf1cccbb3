"""One value that stands for the values of a group: mean, median, convex median or mode."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.methods.groups import Labels
from shoal.release.manifest import QuasiColumn
from shoal.table.hierarchy.builders import STAR
from shoal.table.prepare import Table
from shoal.table.schema import Numeric, Ordinal, kind_name

Floats = npt.NDArray[np.float64]


def value_columns(table: Table) -> list[QuasiColumn]:
    """How quasi-identifiers are published as single values; a number says in a second column whether it is missing."""
    columns = []
    for name, kind in table.quasi.items():
        has_missing = table.frame[name].null_count() > 0
        carriers = [name, f"{name}_missing"] if has_missing and isinstance(kind, Numeric) else [name]
        facts = {"name": name, "kind": kind_name(kind), "form": "value", "columns": carriers}
        columns.append(QuasiColumn.model_validate(facts | {"has_missing": has_missing}))
    return columns


def as_shown(column: QuasiColumn, cells: pl.DataFrame) -> tuple[QuasiColumn, pl.DataFrame]:
    """The column and its cells: where none of them is missing, nothing is said about missing values."""
    values = cells[column.name]
    if len(column.columns) > 1:  # the second column says it
        if cells[column.columns[1]].eq_missing(other=False).all():
            column = column.model_copy(update={"columns": (column.name,), "has_missing": False})
        return column, cells.select(column.columns)
    has_missing = values.null_count() > 0 or (values.dtype == pl.String and bool((values == STAR).any()))
    return column.model_copy(update={"has_missing": has_missing}), cells


def number_cells(column: QuasiColumn, numbers: Floats, is_missing: pl.Series) -> pl.DataFrame:
    """A number per group, NaN for none, and what is to be said about missing values."""
    cells = pl.Series(numbers, dtype=pl.Float64).fill_nan(None)
    return pl.DataFrame({column.name: cells, f"{column.name}_missing": is_missing}).select(column.columns)


def domain(table: Table, name: str) -> list[str]:
    """The categories of a column in their order: as declared, as in the hierarchy, else sorted."""
    kind = table.quasi[name]
    if isinstance(kind, Ordinal):
        return list(kind.order)
    hierarchy = table.hierarchy(name)
    return [] if hierarchy is None else list(hierarchy.leaves)


def average_numbers(series: pl.Series, members: Labels, n_groups: int, rule: str) -> Floats:
    """Mean or median of the numbers of each group, NaN where it has none.

    Numbers are added in ascending order, above the smallest of their group: the result depends on which numbers a
    group holds, and on nothing else.
    """
    values = series.cast(pl.Float64).to_numpy()
    there = np.flatnonzero(~np.isnan(values))
    order = there[np.lexsort((values[there], members[there]))]
    ordered, counts = values[order], np.bincount(members[there], minlength=n_groups)
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
    averages = np.full(n_groups, np.nan)
    some = counts > 0
    first, last = begin[some], (begin + counts - 1)[some]
    if rule == "median":
        low, high = (begin + (counts - 1) // 2)[some], (begin + counts // 2)[some]
        averages[some] = ordered[low] + (ordered[high] - ordered[low]) / 2
    elif some.any():
        smallest = np.repeat(ordered[first], counts[some])
        above = np.add.reduceat(ordered - smallest, first) / counts[some]
        averages[some] = np.minimum(ordered[first] + above, ordered[last])
    return averages


def average_categories(
    series: pl.Series, members: Labels, n_groups: int, domain: Sequence[str], rule: str
) -> list[str | None]:
    """Median, convex median or mode of the categories of each group, None where it has none.

    The median is the lowest category that at least half of the values do not exceed; of values that are equally
    frequent, the first of the domain is the mode.
    """
    place = {category: position for position, category in enumerate(domain)}
    known = series.unique().drop_nulls()
    places = series.replace_strict(
        known, pl.Series([place[text] for text in known.to_list()], dtype=pl.Int64), default=None, return_dtype=pl.Int64
    )
    counted = (
        pl.DataFrame({"group": members, "place": places})
        .drop_nulls()
        .group_by("group", "place")
        .len()
        .sort("group", "place")
    )
    groups, found, counts = (counted[name].to_numpy().astype(np.int64) for name in ("group", "place", "len"))
    begin = np.searchsorted(groups, np.arange(n_groups + 1))
    pick = {"median": median_place, "convex-median": convex_median_place, "mode": mode_place}[rule]
    averages: list[str | None] = []
    for first, last in pairwise(begin):
        averages.append(domain[pick(found[first:last], counts[first:last])] if last > first else None)
    return averages


def mode_place(places: Labels, counts: Labels) -> int:
    """Most frequent place; the lowest of those that tie."""
    return int(places[np.argmax(counts)])


def median_place(places: Labels, counts: Labels) -> int:
    """Lowest place that at least half of the values do not exceed."""
    below = np.cumsum(counts)
    return int(places[np.argmax(2 * below >= below[-1])])


def convex_median_place(places: Labels, counts: Labels) -> int:
    """Median of the unimodal hull of the frequencies: places between two frequent ones count as well."""
    frequencies = np.zeros(places[-1] - places[0] + 1, dtype=np.int64)
    frequencies[places - places[0]] = counts
    rising = np.maximum.accumulate(frequencies)
    falling = np.maximum.accumulate(frequencies[::-1])[::-1]
    hull = np.minimum(rising, falling)
    return median_place(np.arange(places[0], places[-1] + 1), hull)
