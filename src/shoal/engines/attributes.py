"""Which attributes of a table on disk stay together: compared by counts of their categories, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from shoal.engines.bins import NumberBins
from shoal.engines.cuts import Ints
from shoal.engines.known import Known
from shoal.engines.work import PIECE, SORTED, Work
from shoal.errors import InfeasibleError, Problem
from shoal.methods.slicing import Slicing
from shoal.slicing.attributes import Attributes, Columns, cells_of, compared
from shoal.table.categories import Discretise, categories_of
from shoal.table.prepare import kind_by_content

MOST_VALUES = 1 << 16
"""Different values of a column that are counted; quasi-identifiers of more numbers are compared by bins."""
Look = Callable[..., list[Any]]
"""Calls a step for the published columns of every piece, with arguments of its own."""
Counted = Mapping[str, pl.DataFrame | None]
"""How many rows have each value of every attribute; None where there are too many values."""
Codes = Mapping[str, pl.DataFrame]
"""Of each attribute its values, and the number of the category of each."""


def gathered(known: Known, method: Slicing, look: Look) -> tuple[Attributes, Columns]:
    """Which attributes stay together, and how much they say of each other."""
    names, n_rows, columns = list(known.table.published), known.whole.n_rows, known.table.schema.columns
    counts = {name: _few(name, one) for name, one in counted_together(look(count_values)).items()}
    codes, discretised = {}, []
    for name, counted in counts.items():
        way: Discretise = method.discretise  # type: ignore[assignment]
        rows = counted["count"].to_numpy().astype(np.int64)
        kind = columns[name].kind or kind_by_content(counted["value"])
        found, fewer = categories_of(counted["value"], kind, method.bins, way, rows)
        codes[name] = counted.select("value", pl.Series("code", found.astype(np.int64)))
        discretised += [name] if fewer else []
    sums = [np.sum(tables, axis=0) for tables in zip(*look(count_pairs, codes), strict=True)]
    cells = dict(zip(combinations(range(len(codes)), 2), sums, strict=True))
    n_categories = [one["code"].n_unique() for one in codes.values()]
    alone = tuple(name for name, counted in counts.items() if 1 < n_rows == counted.height)
    attributes = compared(names, n_rows, n_categories, cells, all_distinct=alone, discretised=tuple(discretised))
    return attributes, method.columns_of(attributes, list(known.table.schema.sensitive))


def gathered_on_disk(
    work: Work, n_pieces: int, known: Known, method: Slicing, each: Callable[..., list[Any]]
) -> tuple[Attributes, Columns]:
    """The same of pieces on disk; `each` calls a function for each of several arguments."""

    def look(step: Callable[..., Any], *arguments: Any) -> list[Any]:
        return each(partial(_look_at_piece, step), [(work, piece, known, *arguments) for piece in range(n_pieces)])

    return gathered(known, method, look)


def _look_at_piece(step: Callable[..., Any], work: Work, number: int, known: Known, *arguments: Any) -> Any:
    rows = known.typed(work.load(PIECE if work.has(PIECE, number) else SORTED, number))
    return step(compared_columns(rows, known), *arguments)


def counted_together(pieces: Sequence[Counted]) -> dict[str, pl.DataFrame | None]:
    """How many rows of all pieces have each value."""
    found: dict[str, pl.DataFrame | None] = {}
    for name in pieces[0]:
        several = [one[name] for one in pieces]
        few = [one for one in several if one is not None]
        added = pl.concat(few).group_by("value").agg(pl.col("count").sum()).sort("value") if few else pl.DataFrame()
        found[name] = None if len(few) < len(several) or added.height > MOST_VALUES else added
    return found


def _few(name: str, counted: pl.DataFrame | None) -> pl.DataFrame:
    """Values that are few enough to be compared."""
    if counted is None:
        what = f"column {name!r} has more than {MOST_VALUES:,} different values, which are not compared piece by piece"
        raise InfeasibleError(Problem("method slicing", what, "give groups, or leave the column out (role drop)"))
    return counted


def compared_columns(rows: pl.DataFrame, known: Known) -> pl.DataFrame:
    """The published columns of some rows in their types; numbers of many values by the bounds of their bins."""
    bins = {one.name: one for one in known.bins() if isinstance(one, NumberBins)}
    return rows.select(
        pl.Series(name, np.append(bins[name].bounds, np.nan)[bins[name].places(rows[name])]).fill_nan(None)
        if name in bins
        else rows[name]
        for name in known.table.published
    )


def count_values(rows: pl.DataFrame) -> Counted:
    """How many of some rows have each value of every attribute."""
    found: dict[str, pl.DataFrame | None] = {}
    for series in rows:
        counted = series.alias("value").value_counts(name="count").with_columns(pl.col("count").cast(pl.Int64))
        found[series.name] = None if counted.height > MOST_VALUES else counted
    return found


def count_pairs(rows: pl.DataFrame, codes: Codes) -> list[Ints]:
    """How many of some rows have each pair of categories, of any two attributes."""
    coded = []
    for name, values in codes.items():
        column = rows.select(pl.col(name).alias("value"))
        found = column.join(values, on="value", how="left", nulls_equal=True, maintain_order="left")["code"]
        coded.append((found.to_numpy(), int(values["code"].max() or 0) + 1))  # type: ignore[arg-type]
    return [cells_of(one, other, (height, width)) for (one, height), (other, width) in combinations(coded, 2)]
