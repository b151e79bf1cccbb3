"""Minimal sample uniques: few columns that nobody else shares the values of, and which columns these are.

A row is unique on a set of columns if no other row has the same values there; then it is on every larger set, too. The
set is minimal if the row is unique on none of its subsets. The fewer columns it takes, the more special is the row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.kernels.measure import uniques as kernel
from shoal.kernels.sharing import in_parts
from shoal.measure.neighbours import Floats, Ints
from shoal.table.numbering import codes_together, combined, first_of_each

Marks = npt.NDArray[np.uint8]
"""Not 0 for rows that are unique."""
Columns = tuple[int, ...]
MOST_KEYS = 2**61
"""Numbers of values multiply up to this; beyond it, their combinations are numbered anew."""

LEAST_POWER = 0.05
"""Of scores, in the odds of rows."""


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
        """Of each row, the chance that one that fits it is the right one, by how special the row is.

        Of a row that is alone in the table it is alone f / (alone f + 2 pairs (1 - f)) on average, f being the fraction
        sampled (Skinner, Elliot 2002). The odds of a special row are those of the average times s^q, s being its score,
        times the mean of 1 / s^q; q is 1 + (8 - d) / 20, as sdcMicro has it, and no less than at 27 columns: beyond 28
        the most special rows would have the least odds.
        """
        special = self.score > 0
        found: Floats = np.zeros(len(self.score))
        if not special.any():
            return found
        power = self.score[special] ** max(1 + (8 - len(self.by_column)) / 20, LEAST_POWER)
        odds = power * np.mean(1 / power) * self.alone * fraction
        found[special] = odds / (odds + 2 * self.pairs * (1 - fraction))
        return found


def scores_of(codes: Mapping[str, Ints], most: int, people: Ints | None = None) -> Scores:
    """Score all rows by their minimal uniques of at most so many columns; codes are numbers from 0.

    Where `people` says whose row each one is, values are unique that nobody else has.
    """
    columns = [*codes.values()]
    n_rows, d = len(columns[0]), len(columns)
    score, by_column, fewest = np.zeros(n_rows), np.zeros(d), np.zeros(n_rows, dtype=np.int64)
    for found in minimal_uniques(columns, most, people):
        size = len(found.columns)
        worth = float(np.prod([max(d - i, 1) for i in range(size, min(most, d) + 1)]))
        score[found.rows] += worth
        by_column[list(found.columns)] += worth * len(found.rows)
        first = found.rows[fewest[found.rows] == 0]  # sets come smallest first
        fewest[first] = size
    alike = np.unique(codes_together(columns), return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(alike if people is None else alike[first_of_each(alike, people)])
    return Scores(score, by_column, fewest, int((sizes == 1).sum()), int((sizes == 2).sum()))


def minimal_uniques(columns: list[Ints], most: int, people: Ints | None = None) -> Iterator[Found]:
    """All minimal uniques of at most so many columns, sets of columns smallest first, then in their order."""
    n_rows, d = len(columns[0]), len(columns)
    coded, n_people = Codes.of(columns, people), n_rows if people is None else len(np.unique(people))
    before: dict[Columns, Marks] = {(): np.full(n_rows, n_people == 1, dtype=np.uint8)}
    for size in range(1, min(most, d) + 1):
        sets = [*combinations(range(d), size)]
        here: dict[Columns, Marks] = {}
        for chosen, unique, alone in coded.alone(sets, before):
            if len(alone):
                yield Found(chosen, alone)
            here[chosen] = unique
        before = here


class Codes(NamedTuple):
    """Columns of numbers from 0, one line each."""

    codes: npt.NDArray[np.int32]
    sizes: Ints
    people: Ints | None
    """Whose row each one is, where people may have several."""

    @classmethod
    def of(cls, columns: Sequence[Ints], people: Ints | None = None) -> Codes:
        """Lay columns out."""
        sizes = np.array([int(column.max(initial=0)) + 1 for column in columns], dtype=np.int64)
        return cls(np.stack([column.astype(np.int32) for column in columns]), sizes, people)

    def alone(self, sets: Sequence[Columns], before: Mapping[Columns, Marks]) -> list[Alone]:
        """Of each set of columns, the rows that are unique there, and those of them that are on no part of it."""

        def run(begin: int, end: int) -> list[Alone]:
            room, keys = _Room.of(len(self.codes[0])), _Keys(self)
            return [_alone(chosen, before, room, keys.of(chosen), self.people) for chosen in sets[begin:end]]

        parts = in_parts(run, 0, len(sets), len(sets) * self.codes[0].size)
        return [one for part in parts for one in part]


class _Keys:
    """Combinations of values of columns as numbers; what the columns before the last make is kept for the next."""

    def __init__(self, coded: Codes) -> None:
        self.coded = coded
        self.first: Columns = ()
        self.keys: Ints = np.zeros(len(coded.codes[0]), dtype=np.int64)
        """Those of `first`."""

    def of(self, chosen: Columns) -> tuple[Ints, int]:
        """The number of the combination of each row, and how many there may be."""
        codes, sizes = self.coded.codes, self.coded.sizes
        n_keys = math.prod(sizes[list(chosen)].tolist())
        if n_keys > MOST_KEYS:
            found = combined([codes[j] for j in chosen])
            return found, int(found.max(initial=0)) + 1
        if self.first != chosen[:-1]:
            self.first, self.keys = chosen[:-1], self._together(chosen[:-1])
        return self._together(chosen[-1:], self.keys), n_keys

    def _together(self, chosen: Columns, before: Ints | None = None) -> Ints:
        """Add columns to numbers."""
        codes, sizes = self.coded.codes, self.coded.sizes
        found = np.zeros(len(codes[0]), dtype=np.int64) if before is None else before
        for j in chosen:
            found = found * sizes[j]
            found += codes[j]
        return found


def _alone(
    chosen: Columns, before: Mapping[Columns, Marks], room: _Room, keyed: tuple[Ints, int], people: Ints | None
) -> Alone:
    """Rows that are like nobody on a part of the columns already are passed over."""
    keys, n_keys = keyed
    unique: Marks = np.bitwise_or.reduce([before[chosen[:j] + chosen[j + 1 :]] for j in range(len(chosen))])
    if people is not None:
        n_found = _mark_people(keys, unique, people)
    elif n_keys <= len(room.seen):
        n_found = kernel.mark_counted(keys, unique, room.seen[:n_keys])
    else:
        n_found = kernel.mark_hashed(keys, unique, room.table, room.shift)
    rows = np.flatnonzero(unique == kernel.MARKED) if n_found else np.zeros(0, dtype=np.int64)
    unique[rows] = 1
    return Alone(chosen, unique, rows)


def _mark_people(keys: Ints, unique: Marks, people: Ints) -> int:
    """Mark the rows whose key no other person has; how many they are."""
    rows = np.flatnonzero(unique == 0)
    number, whose = np.unique(keys[rows], return_inverse=True)[1].reshape(-1), people[rows]
    only = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    only[number] = whose
    shared = np.zeros(len(only), dtype=np.bool_)
    shared[number[only[number] != whose]] = True
    found = rows[~shared[number]]
    unique[found] = kernel.MARKED
    return len(found)


class Alone(NamedTuple):
    """Rows that are unique on a set of columns, and those for which it is minimal."""

    columns: Columns
    unique: Marks
    minimal: Ints


class _Room(NamedTuple):
    """Where combinations are counted, one by one or in a hash table."""

    seen: Marks
    table: Ints
    shift: int

    @classmethod
    def of(cls, n_rows: int) -> _Room:
        bits = (2 * n_rows).bit_length()
        return cls(np.zeros(4 * n_rows, dtype=np.uint8), np.full(1 << bits, -1, dtype=np.int64), 64 - bits)
