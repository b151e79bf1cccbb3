"""Minimal sample uniques: few columns that nobody else shares the values of, and which columns these are.

A row is unique on a set of columns if no other row has the same values there; then it is on every larger set, too. The
set is minimal if the row is unique on none of its subsets. The fewer columns it takes, the more special is the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.measure.neighbours import Floats, Ints
from shoal.table.numbering import combined

Bools = npt.NDArray[np.bool_]
Columns = tuple[int, ...]
MOST_KEYS = 2**62
"""Numbers of values multiply up to this; beyond it, their combinations are numbered anew."""


class Found(NamedTuple):
    """The rows for which a set of columns is a minimal unique."""

    columns: Columns
    rows: Ints


@dataclass(frozen=True, repr=False, eq=False)
class Scores:
    """How special each row is."""

    score: Floats
    """Of each row, the sum over its minimal uniques of the products (d - i), i from their size up to the largest."""
    by_column: Floats
    """Of each column, the sum of the scores of those that it is in."""
    fewest: Ints
    """The fewest columns of a minimal unique of each row, 0 where it has none."""
    alone: int
    """Rows that are unique on all columns together."""
    pairs: int
    """Pairs of rows that are alike on all columns, and like no other."""

    def dis(self, fraction: float) -> Floats:
        """Of each row, the chance that one that fits it is the right one, in proportion to how special the row is.

        Of a row that is alone in the table it is alone f / (alone f + 2 pairs (1 - f)) on average, f being the fraction
        sampled (Skinner, Elliot 2002). Here the special rows share it by their scores; at most 1.
        """
        special = int((self.score > 0).sum())
        if not special:
            return np.zeros(len(self.score))
        alone, pairs = self.alone * fraction, 2 * self.pairs * (1 - fraction)
        mean = alone / (alone + pairs) if alone else 0.0
        found: Floats = np.minimum(mean * self.score / (self.score.sum() / special), 1.0)
        return found


def scores_of(codes: Mapping[str, Ints], most: int) -> Scores:
    """Score all rows by their minimal uniques of at most so many columns; codes are numbers from 0."""
    columns = [*codes.values()]
    n_rows, d = len(columns[0]), len(columns)
    score, by_column, fewest = np.zeros(n_rows), np.zeros(d), np.zeros(n_rows, dtype=np.int64)
    for found in minimal_uniques(columns, most):
        size = len(found.columns)
        worth = float(np.prod([max(d - i, 1) for i in range(size, min(most, d) + 1)]))
        score[found.rows] += worth
        by_column[list(found.columns)] += worth * len(found.rows)
        first = found.rows[fewest[found.rows] == 0]  # sets come smallest first
        fewest[first] = size
    sizes = np.bincount(combined(columns)) if n_rows else np.zeros(0, dtype=np.int64)
    return Scores(score, by_column, fewest, int((sizes == 1).sum()), int((sizes == 2).sum()))


def minimal_uniques(columns: list[Ints], most: int) -> Iterator[Found]:
    """All minimal uniques of at most so many columns, sets of columns smallest first, then in their order."""
    n_rows, d = len(columns[0]), len(columns)
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    before: dict[Columns, Bools] = {(): np.array([n_rows == 1] * n_rows)}
    for size in range(1, min(most, d) + 1):
        here: dict[Columns, Bools] = {}
        for chosen in combinations(range(d), size):
            smaller = [before[chosen[:j] + chosen[j + 1 :]] for j in range(size)]
            unique = np.logical_or.reduce(smaller)
            rest = np.flatnonzero(~unique)  # others are like nobody on a part of these columns already
            alone = rest[_unique([columns[j][rest] for j in chosen], [sizes[j] for j in chosen])]
            if len(alone):
                yield Found(chosen, alone)
                unique[alone] = True
            here[chosen] = unique
        before = here


def _unique(columns: list[Ints], sizes: list[int]) -> Bools:
    """Which rows have a combination of values that no other row has."""
    keys, n_keys = columns[0], sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if n_keys > MOST_KEYS // size:
            keys, n_keys = combined([keys]), len(keys)
        keys, n_keys = keys * size + column, n_keys * size
    if n_keys <= 4 * len(keys):
        counts = np.bincount(keys, minlength=n_keys)
        found: Bools = counts[keys] == 1
        return found
    return pl.Series(keys).is_unique().to_numpy()
