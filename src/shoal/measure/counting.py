"""Counting queries: how many rows have values in some ranges, in the input and as a release lets expect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.kernels.measure import queries as kernel
from shoal.kernels.sharing import in_parts
from shoal.measure.shown import Floats, InputColumn, Ints, Part, Shown

SANITY = 0.001
"""Counts below this share of all rows are taken for as many: else an error of one row in a rare count weighs most."""


@dataclass(frozen=True, repr=False, eq=False)
class Query:
    """Values that are asked for, column by column: a row counts that has one of them in each."""

    wanted: dict[str, Floats]
    """1 for every value of the column that is asked for, else 0."""


def drawn(shown: Shown, n_queries: int, most: int, selectivity: float, rng: np.random.Generator) -> list[Query]:
    """Draw queries of one to `most` columns.

    Of each of k columns, a share selectivity^(1/k) of its values is asked for: consecutive numbers, or any categories.
    """
    names = [name for name, column in shown.columns.items() if column.n_values > 1]
    if not names:
        return []
    queries = []
    for _ in range(n_queries):
        k = int(rng.integers(1, min(most, len(names)) + 1))
        chosen = [names[place] for place in np.sort(rng.permutation(len(names))[:k])]
        share = selectivity ** (1 / k)
        queries.append(Query({name: _wanted(shown.columns[name], share, rng) for name in chosen}))
    return queries


def _wanted(column: InputColumn, share: float, rng: np.random.Generator) -> Floats:
    """Which values of a column are asked for; those that are missing are never."""
    there = column.n_values - column.has_missing
    n_wanted = min(max(1, math.ceil(share * there)), there)
    wanted = np.zeros(column.n_values)
    if column.kind == "numeric":
        begin = int(rng.integers(0, there - n_wanted + 1))
        wanted[begin : begin + n_wanted] = 1.0
    else:
        wanted[rng.permutation(there)[:n_wanted]] = 1.0
    return wanted


def answers(shown: Shown, queries: list[Query]) -> tuple[Floats, Floats]:
    """The count of every query in the input, and the one that the release lets expect."""
    every = list(shown.columns)
    own = _Asked(every, _rows([shown.columns[name].code for name in every], np.ones(shown.n_rows), None))
    parts = [_Asked(list(part.columns), _rows_of(part)) for part in shown.parts]
    units = _Asked(parts[0].names, _units_of(shown.parts[0])) if len(parts) == 1 else None
    true, found = np.zeros(len(queries)), np.zeros(len(queries))

    def answer(begin: int, end: int) -> None:
        for place in range(begin, end):
            query = queries[place]
            true[place] = own.sums(query.wanted)[0]
            vague = units is not None and not any(shown.parts[0].columns[name].is_plain for name in query.wanted)
            asked = [units] if units is not None and vague else parts
            found[place] = _expected(shown, asked, query) + _left_out(shown, query)

    in_parts(answer, 0, len(queries), len(queries) * shown.n_rows)
    return true, found


def _left_out(shown: Shown, query: Query) -> float:
    """Rows left out, spread evenly over all values."""
    return shown.n_left_out * math.prod(float(wanted.mean()) for wanted in query.wanted.values())


def _expected(shown: Shown, parts: list[_Asked], query: Query) -> float:
    """Rows of a part, or of several, which every way to put together is as likely of in a bucket."""
    left, found = set(query.wanted), None
    sizes: Floats = np.zeros(0)
    while left:
        place = max(range(len(parts)), key=lambda at: len(left & set(parts[at].names)))
        asked = {name: wanted for name, wanted in query.wanted.items() if name in left and name in parts[place].names}
        part = shown.parts[place]
        chances = {name: part.columns[name].means(wanted[:, None])[:, 0] for name, wanted in asked.items()}
        sums = parts[place].sums(chances)
        left -= set(asked)
        if found is not None:
            found = found * sums / np.maximum(sizes, 1.0)
        else:
            found = sums
            if left:
                sizes = np.bincount(part.bucket, weights=part.weight, minlength=len(sums)).astype(np.float64)
    assert found is not None  # noqa: S101  every query asks for a column
    return float(found.sum())


@dataclass(frozen=True, repr=False, eq=False)
class _Asked:
    """Rows as the kernel takes them."""

    names: list[str]
    rows: kernel.QueryRows

    def sums(self, chances: dict[str, Floats]) -> Floats:
        """Of every bucket, how many rows can be expected to be counted; chances are those of distinct cells."""
        asked = np.array([self.names.index(name) for name in chances], dtype=np.int64)
        first = np.cumsum([0, *(len(one) for one in chances.values())])[:-1].astype(np.int64)
        every, found = np.concatenate(list(chances.values())), np.zeros(self.n_buckets)
        if self.n_buckets == 1:
            found[0] = kernel.total_products(self.rows, asked, first, every)
        else:
            kernel.add_products(self.rows, asked, first, every, found)
        return found

    @cached_property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return int(self.rows.bucket.max(initial=0)) + 1


def _rows_of(part: Part) -> kernel.QueryRows:
    return _rows([cells.line for cells in part.columns.values()], part.weight, part.bucket)


def _units_of(part: Part) -> kernel.QueryRows:
    """One row for all that show the same, but for values as they are, which these cannot be asked for."""
    head, size = part.units
    return _rows([cells.line[head] for cells in part.columns.values()], size, None)


def _rows(lines: list[Ints], weight: Floats, bucket: Ints | None) -> kernel.QueryRows:
    bucket = np.zeros(len(weight), dtype=np.int64) if bucket is None else bucket
    return kernel.QueryRows(np.stack(lines).astype(np.int32), weight, np.ascontiguousarray(bucket))
