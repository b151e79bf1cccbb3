"""Attributes brought to few categories, so that a table of two of them holds enough rows in each cell."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbering import distinct_values, filled
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer]
Discretise = Literal["frequency", "width"]

MOST = 100
"""Categories that a nominal or ordinal attribute may keep."""
FEWEST = 5
"""Rows that a category should have on average, and a pair of categories likewise."""


def categories_of(
    series: pl.Series, kind: Kind, bins: int, discretise: Discretise, rows: Ints | None = None
) -> tuple[Codes, bool]:
    """Category numbers from 0, and whether values were gathered to have fewer.

    - Numbers with more than `bins` distinct values are cut into `bins` runs: of about equally many rows, equal values
      never apart (``"frequency"``), or of equal width (``"width"``).
    - Ordinal and nominal attributes stay as they are, unless they have more than `MOST` categories, or fewer than
      `FEWEST` rows to each, and more than `bins`. Then ordinal ones are cut by rank, as numbers. Nominal ones climb
      their hierarchy to the lowest level with at most `bins` nodes. Where there is no such level below the root, the
      `bins` - 1 most frequent categories stay (ties by name) and all others become one.
    - Missing is a category of its own, besides those, and has the last number.

    `rows` says how many rows each cell stands for, where that is not one: distinct values are then enough.

    A nominal attribute without a hierarchy whose values are all distinct is left with categories of one row each and
    one that holds nearly everything: it says next to nothing of any other attribute then. Left as it is, it would seem
    to say everything of all of them.

    Examples
    --------
    >>> ages = pl.Series("age", [22, 22, 22, 52, 54, None, 60, 64])
    >>> codes, fewer = categories_of(ages, Numeric(), 3, "frequency")
    >>> codes.tolist(), fewer
    ([0, 0, 0, 1, 1, 3, 2, 2], True)
    """
    if isinstance(kind, Nominal):
        return _of_categories(series.cast(pl.String), kind.hierarchy, bins, rows)
    numbers = series.cast(pl.Float64) if isinstance(kind, Numeric) else _ranks(series, kind)
    n_present = _present(numbers, rows)
    n_values = numbers.n_unique() - (numbers.null_count() > 0)
    fewer = n_values > bins if isinstance(kind, Numeric) else _too_many(n_values, n_present, bins)
    return _of_numbers(numbers, bins if fewer else n_values, discretise, rows), fewer


def _present(series: pl.Series, rows: Ints | None) -> int:
    """Rows whose cell is not missing."""
    if rows is None:
        return len(series) - series.null_count()
    return int(rows[series.is_not_null().to_numpy()].sum())


def _too_many(n_values: int, n_present: int, bins: int) -> bool:
    return n_values > max(bins, min(MOST, n_present / FEWEST))


def _ranks(series: pl.Series, kind: Ordinal) -> pl.Series:
    return series.cast(pl.Enum(kind.order)).to_physical().cast(pl.Float64)


def _of_numbers(numbers: pl.Series, bins: int, discretise: Discretise, rows: Ints | None) -> Codes:
    """Number the runs that values fall into; one run per value where there are no more values than bins."""
    values = numbers.to_numpy()  # missing cells are NaN
    there = ~np.isnan(values)
    if rows is None:
        distinct, rows = np.unique(values[there], return_counts=True)
    else:
        distinct, place = np.unique(values[there], return_inverse=True)
        rows = np.bincount(place.reshape(-1), weights=rows[there], minlength=len(distinct)).astype(np.int64)
    if len(distinct) <= bins:
        ends = distinct
    else:
        run = _equal_width(distinct, bins) if discretise == "width" else _equal_frequency(rows, bins)
        ends = distinct[np.append(np.flatnonzero(np.diff(run)), len(run) - 1)]
    # NaN lies behind all numbers: a missing cell gets the number after the last run.
    return np.searchsorted(ends, values).astype(np.int32)


def _equal_frequency(rows: Ints, bins: int) -> Ints:
    """The run of each distinct value: that in which the middle of its rows lies, so equal values are never apart."""
    before = np.cumsum(rows) - rows
    return (2 * before + rows) * bins // (2 * int(rows.sum()))


def _equal_width(distinct: Floats, bins: int) -> Ints:
    if max(-distinct[0], distinct[-1]) > 1e300:
        distinct = distinct * 2.0**-20  # or differences would overflow
    run: Floats = np.floor((distinct - distinct[0]) * bins / (distinct[-1] - distinct[0]))
    places: Ints = np.minimum(run, bins - 1).astype(np.int64)
    return places


def _of_categories(texts: pl.Series, hierarchy: object, bins: int, rows: Ints | None) -> tuple[Codes, bool]:
    known = distinct_values(texts)
    place = filled(texts.cast(pl.Enum(known)).to_physical().cast(pl.Int64), len(known))
    group, fewer = np.arange(len(known)), _too_many(len(known), _present(texts, rows), bins)
    if fewer:
        nodes = _climbed(known.to_list(), hierarchy, bins) if isinstance(hierarchy, Hierarchy) else known.to_list()
        counts = np.bincount(place, weights=rows, minlength=len(known) + 1)[:-1].astype(np.int64)
        group = _most_frequent(nodes, counts, bins)
    numbers = np.append(group, group.max(initial=-1) + 1).astype(np.int32)
    return numbers[place], fewer


def _climbed(values: list[str], hierarchy: Hierarchy, bins: int) -> list[str]:
    """The node above each value on the lowest level with few enough nodes, or on the level below the root."""
    tree = hierarchy.arrays
    nodes = np.array([hierarchy.node_of[value] for value in values])
    for depth in range(hierarchy.height, 0, -1):
        nodes = np.where(tree.depth[nodes] > depth, tree.parent[nodes], nodes)
        if len(np.unique(nodes)) <= bins:
            break
    return [hierarchy.names[node] for node in nodes]


def _most_frequent(nodes: list[str], rows: Ints, bins: int) -> Ints:
    """Number the nodes; where they are too many, only the most frequent have a number of their own."""
    frame = pl.DataFrame({"node": nodes, "rows": rows})
    ranked = frame.group_by("node").agg(pl.col("rows").sum()).sort(["rows", "node"], descending=[True, False])
    number = {node: min(place, bins - 1) for place, node in enumerate(ranked["node"])}
    return np.array([number[node] for node in nodes], dtype=np.int64)
