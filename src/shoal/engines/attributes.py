"""Which attributes of a table on disk stay together: compared by counts of their categories, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from shoal.engines.bins import NumberBins
from shoal.engines.cuts import Ints
from shoal.engines.known import Known
from shoal.engines.steps import PIECE, SORTED
from shoal.engines.work import Work
from shoal.errors import InfeasibleError, Problem
from shoal.methods.slicing import Slicing
from shoal.slicing.attributes import Attributes, Columns, cells_of, compared
from shoal.table.categories import Discretise, categories_of
from shoal.table.prepare import kind_by_content

MOST_VALUES = 1 << 16
"""Different values of a column that are counted; quasi-identifiers of more numbers are compared by bins."""
Look = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]
Codes = Mapping[str, pl.DataFrame]
"""Of each attribute its values, and the number of the category of each."""


def gathered_on_disk(
    work: Work, n_pieces: int, known: Known, method: Slicing, look: Look
) -> tuple[Attributes, Columns]:
    """Which attributes stay together, and how much they say of each other; `look` calls a step for every piece."""
    names, n_rows, columns = list(known.table.published), known.whole.n_rows, known.table.schema.columns
    pieces = look(count_values, [(work, piece, known) for piece in range(n_pieces)])
    counts = {name: _added(name, [one[name] for one in pieces]) for name in names}
    codes, discretised = {}, []
    for name, counted in counts.items():
        way: Discretise = method.discretise  # type: ignore[assignment]
        rows = counted["count"].to_numpy().astype(np.int64)
        kind = columns[name].kind or kind_by_content(counted["value"])
        found, fewer = categories_of(counted["value"], kind, method.bins, way, rows)
        codes[name] = counted.select("value", pl.Series("code", found.astype(np.int64)))
        discretised += [name] if fewer else []
    sums = [
        np.sum(tables, axis=0) for tables in zip(*look(count_pairs, _each(work, n_pieces, known, codes)), strict=True)
    ]
    cells = dict(zip(combinations(range(len(codes)), 2), sums, strict=True))
    n_categories = [one["code"].n_unique() for one in codes.values()]
    alone = tuple(name for name, counted in counts.items() if 1 < n_rows == counted.height)
    attributes = compared(names, n_rows, n_categories, cells, all_distinct=alone, discretised=tuple(discretised))
    return attributes, method.columns_of(attributes, list(known.table.schema.sensitive))


def _each(work: Work, n_pieces: int, known: Known, codes: Codes) -> list[tuple[Any, ...]]:
    return [(work, piece, known, codes) for piece in range(n_pieces)]


def _added(name: str, pieces: Sequence[pl.DataFrame | None]) -> pl.DataFrame:
    """How many rows of all pieces have each value."""
    known = [one for one in pieces if one is not None]
    found = pl.concat(known).group_by("value").agg(pl.col("count").sum()).sort("value") if known else pl.DataFrame()
    if len(known) < len(pieces) or found.height > MOST_VALUES:
        what = f"column {name!r} has more than {MOST_VALUES:,} different values, which are not compared piece by piece"
        raise InfeasibleError(Problem("method slicing", what, "give groups, or leave the column out (role drop)"))
    return found


def _rows(work: Work, number: int, known: Known) -> pl.DataFrame:
    """The published columns of a piece; numbers of many values by the bounds of their bins."""
    frame = known.typed(work.load(PIECE if work.has(PIECE, number) else SORTED, number))
    bins = {one.name: one for one in known.bins() if isinstance(one, NumberBins)}
    return frame.select(
        pl.Series(name, np.append(bins[name].bounds, np.nan)[bins[name].places(frame[name])]).fill_nan(None)
        if name in bins
        else frame[name]
        for name in known.table.published
    )


def count_values(work: Work, number: int, known: Known) -> dict[str, pl.DataFrame | None]:
    """How many rows of a piece have each value of every attribute; None where there are too many values."""
    rows, found = _rows(work, number, known), {}
    for series in rows:
        counted = series.alias("value").value_counts(name="count").with_columns(pl.col("count").cast(pl.Int64))
        found[series.name] = None if counted.height > MOST_VALUES else counted
    return found


def count_pairs(work: Work, number: int, known: Known, codes: Codes) -> list[Ints]:
    """How many rows of a piece have each pair of categories, of any two attributes."""
    rows, coded = _rows(work, number, known), []
    for name, values in codes.items():
        column = rows.select(pl.col(name).alias("value"))
        found = column.join(values, on="value", how="left", nulls_equal=True, maintain_order="left")["code"]
        coded.append((found.to_numpy(), int(values["code"].max() or 0) + 1))  # type: ignore[arg-type]
    return [cells_of(one, other, (height, width)) for (one, height), (other, width) in combinations(coded, 2)]
