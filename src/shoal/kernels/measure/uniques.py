"""Rows whose values in some columns no other row has: counted by cell where cells are few, else in a hash table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

SPREAD: Any = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: keys times this differ in their first bits."""


MARKED: int = 2
"""What a row gets that is found."""


class Coded(NamedTuple):
    """Columns of a table, of which some are looked at."""

    codes: Any  # int32[d, n]   IN
    sizes: Any  # int64[d]      IN  one more than the largest code of each column
    chosen: Any  # int64[m]     IN  the columns that are looked at


@jit
def mark_counted(coded: Coded, unique: Any, seen: Any) -> int:
    """Mark the rows that are unique on the chosen columns; how many they are.

    INOUT  unique uint8[n], not 0 for rows that are known to be like nobody: they are passed over
    INOUT  seen uint8[product of sizes], 0 before and after
    """
    n_found, n_once = 0, 0
    for row in range(len(unique)):
        if not unique[row]:
            key = _key(coded, row)
            n_once += (seen[key] == 0) - (seen[key] == 1)
            seen[key] = min(seen[key] + 1, 2)
    for row in range(len(unique) if n_once > 0 else 0):
        if not unique[row] and seen[_key(coded, row)] == 1:
            unique[row] = MARKED
            n_found += 1
    seen[:] = 0
    return n_found


@jit
def _key(coded: Coded, row: int) -> int:
    """The number of a combination of values."""
    key = 0
    for j in coded.chosen:
        key = key * coded.sizes[j] + coded.codes[j, row]
    return key


@jit
def mark_hashed(coded: Coded, unique: Any, table: Any, shift: int) -> int:
    """The same, for more combinations than can be counted one by one.

    A place of the table holds a combination that was met, times 2, plus 1 once it was met again.

    INOUT  unique uint8[n]
    INOUT  table int64[2 to the power of 64 - shift], -1 before and after; more places than rows
    """
    n_found, n_once, last = 0, 0, len(table) - 1
    for row in range(len(unique)):
        if not unique[row]:
            key = _key(coded, row)
            place = np.int64((np.uint64(key) * SPREAD) >> np.uint64(shift))
            while table[place] >= 0 and table[place] >> 1 != key:
                place = (place + 1) & last
            n_once += (table[place] < 0) - (table[place] == 2 * key)
            table[place] = 2 * key + (table[place] >= 0)
    for row in range(len(unique) if n_once > 0 else 0):
        if not unique[row]:
            key = _key(coded, row)
            place = np.int64((np.uint64(key) * SPREAD) >> np.uint64(shift))
            while table[place] >> 1 != key:
                place = (place + 1) & last
            if table[place] == 2 * key:
                unique[row] = MARKED
                n_found += 1
    table[:] = -1
    return n_found
