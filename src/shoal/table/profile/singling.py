"""How far columns single out rows: alone, two together, and beside all other quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]

N_PAIRS = 10


def best_pairs(chosen: Sequence[str], sizes: Mapping[str, int], codes: Mapping[str, Codes]) -> list[tuple[int, int]]:
    """Find the pairs that single out most rows, as (rows, place among all pairs); ties go to the first columns."""
    ordered = list(combinations(chosen, 2))
    found: list[tuple[int, int]] = []
    # A pair singles out no more rows than it has combinations, so the rest can be skipped once ten are above that.
    for place in sorted(range(len(ordered)), key=lambda place: -sizes[ordered[place][0]] * sizes[ordered[place][1]]):
        a, b = ordered[place]
        if len(found) == N_PAIRS and sizes[a] * sizes[b] < -found[-1][0]:
            break
        found = sorted([*found, (-n_single(codes[a] * sizes[b] + codes[b]), place)])[:N_PAIRS]
    return [(-negative, place) for negative, place in found]


def n_single(keys: npt.NDArray[np.generic]) -> int:
    """Count the keys that occur once."""
    keys = np.sort(keys)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True])))
    return int((np.diff(starts) == 1).sum())


def singled_out(codes: Mapping[str, Codes]) -> tuple[int, dict[str, int]]:
    """Count the rows that are unique on all columns together, and for each column those that are so because of it.

    Every value of every column has a random number of 64 bits, and a row is the sum of those it has: a column is left
    out by one subtraction. Two rows that differ have the same sum once in 2^64.
    """
    if not codes:
        return 0, {}
    rng = np.random.default_rng(0)
    parts = {
        name: rng.integers(0, 2**64, int(column.max()) + 1, dtype=np.uint64)[column] for name, column in codes.items()
    }
    whole = np.zeros(len(next(iter(codes.values()))), dtype=np.uint64)
    for part in parts.values():
        whole += part
    together = n_single(whole)
    if len(parts) == 1:
        return together, dict.fromkeys(parts, together)
    return together, {name: together - n_single(whole - part) for name, part in parts.items()}
