"""Rows whose values in some columns no other row has: counted by cell where cells are few, else in a hash table."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit

SPREAD: Any = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: keys times this differ in their first bits."""


MARKED: int = 2
"""What a row gets that is found."""


@jit
def mark_counted(keys: Any, unique: Any, seen: Any) -> int:
    """Mark the rows whose key no other row has; how many they are.

    IN     keys int64[n], from 0, the number of the combination of values of each row
    INOUT  unique uint8[n], not 0 for rows that are known to be like nobody: they are passed over
    INOUT  seen uint8[one more than the largest key], 0 before and after
    """
    n_found, n_once = 0, 0
    for row in range(len(unique)):
        if not unique[row]:
            times = seen[keys[row]]
            n_once += (times == 0) - (times == 1)
            seen[keys[row]] = min(times + 1, 2)
    for row in range(len(unique) if n_once > 0 else 0):
        if not unique[row] and seen[keys[row]] == 1:
            unique[row] = MARKED
            n_found += 1
    seen[:] = 0
    return n_found


@jit
def mark_hashed(keys: Any, unique: Any, table: Any, shift: int) -> int:
    """The same, for more combinations than can be counted one by one.

    A place of the table holds a combination that was met, times 2, plus 1 once it was met again.

    IN     keys int64[n], from 0
    INOUT  unique uint8[n]
    INOUT  table int64[2 to the power of 64 - shift], -1 before and after; more places than rows
    """
    n_found, n_once, last = 0, 0, len(table) - 1
    for row in range(len(unique)):
        if not unique[row]:
            key = keys[row]
            place = np.int64((np.uint64(key) * SPREAD) >> np.uint64(shift))
            while table[place] >= 0 and table[place] >> 1 != key:
                place = (place + 1) & last
            n_once += (table[place] < 0) - (table[place] == 2 * key)
            table[place] = 2 * key + (table[place] >= 0)
    for row in range(len(unique) if n_once > 0 else 0):
        if not unique[row]:
            key = keys[row]
            place = np.int64((np.uint64(key) * SPREAD) >> np.uint64(shift))
            while table[place] >> 1 != key:
                place = (place + 1) & last
            if table[place] == 2 * key:
                unique[row] = MARKED
                n_found += 1
    table[:] = -1
    return n_found
