"""How many rows a query counts: products of chances, row by row."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.jit import jit


class QueryRows(NamedTuple):
    """Rows that queries are asked of."""

    lines: Any  # int32[columns, rows]  IN  the distinct cell of each row
    weight: Any  # float64[rows]        IN
    bucket: Any  # int64[rows]          IN


@jit
def add_products(rows: QueryRows, asked: Any, first: Any, chances: Any, sums: Any) -> None:
    """Add to every bucket the chance of each of its rows to be counted, in the order of the rows.

    IN   asked    int64[k]      columns of the query
    IN   first    int64[k]      where the chances of the cells of each of them begin
    IN   chances  float64[...]  the chance of every distinct cell to lie in what is asked for
    OUT  sums     float64[buckets]
    """
    for row in range(len(rows.weight)):
        chance = rows.weight[row]
        for place in range(len(asked)):
            chance *= chances[first[place] + rows.lines[asked[place], row]]
        sums[rows.bucket[row]] += chance


@jit
def total_products(rows: QueryRows, asked: Any, first: Any, chances: Any) -> float:
    """The same over all rows, where there is one bucket."""
    total = 0.0
    for row in range(len(rows.weight)):
        chance = rows.weight[row]
        for place in range(len(asked)):
            chance *= chances[first[place] + rows.lines[asked[place], row]]
        total += chance
    return total
