"""Products of sets: how many of them hold a tuple, and how many tuples their union has.

A class has one set of numbers per component, written as runs (from `low` to `high`, ascending and apart); those of
class `b` in component `j` are the runs from `start[j, b]` up to `stop[j, b]`. Classes with equal sets may point at the
same runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit, jit_parallel, prange


@jit
def holds(start: int, stop: int, low: Any, high: Any, value: int) -> bool:
    """Whether some of the runs hold a number.

    IN  low, high  int64[runs]
    """
    while start < stop:
        middle = (start + stop) // 2
        if high[middle] < value:
            start = middle + 1
        elif low[middle] > value:
            stop = middle
        else:
            return True
    return False


@jit_parallel
def count_matches(
    start: Any, stop: Any, low: Any, high: Any, shift: Any, first: Any, heads: Any, listed: Any, tuples: Any,
    matches: Any,
) -> None:  # fmt: skip
    """How many classes hold each tuple: those of its shortest list are looked at.

    IN   start, stop  int64[c, classes]
    IN   low, high    int64[runs]
    IN   shift        int64[c]         a list is kept for every 2**shift numbers of a component
    IN   first        int64[c + 1]     where the lists of each component begin among heads
    IN   heads        int64[...]       where each list begins, and one past the last, component after component
    IN   listed       int32[...]       classes that may hold one of the numbers
    IN   tuples       int64[q, c]      -1 where a value is in no class
    OUT  matches      int64[q]
    """
    c = tuples.shape[1]
    for q in prange(len(tuples)):
        begin, end = np.int64(0), np.int64(-1)
        for j in range(c):
            block = tuples[q, j] >> shift[j]  # -1 stays -1
            if block < 0 or first[j] + block + 1 >= first[j + 1]:
                begin, end = np.int64(0), np.int64(0)
                break
            at = first[j] + block
            if end < 0 or heads[at + 1] - heads[at] < end - begin:
                begin, end = heads[at], heads[at + 1]
        found = 0
        for at in range(begin, end):
            b = listed[at]
            inside = True
            for j in range(c):
                if not holds(start[j, b], stop[j, b], low, high, tuples[q, j]):
                    inside = False
                    break
            if inside:
                found += 1
        matches[q] = found


@jit
def spread(j: int, classes: Any, start: Any, stop: Any, low: Any, high: Any, count: Any, touched: Any) -> int:
    """Count how many of some classes hold each number of component j; give how many numbers there are.

    IN     classes  int32[...]
    INOUT  count    int32[numbers]  0 everywhere before
    OUT    touched  int64[numbers]  the numbers, in the order they are met
    """
    n_touched = 0
    for b in classes:
        for run in range(start[j, b], stop[j, b]):
            for value in range(low[run], high[run] + 1):
                if count[value] == 0:
                    touched[n_touched] = value
                    n_touched += 1
                count[value] += 1
    return n_touched


@jit
def part(
    j: int, classes: Any, start: Any, stop: Any, low: Any, high: Any, count: Any, touched: Any, n_touched: int,
    bounds: Any, lists: Any,
) -> None:  # fmt: skip
    """Write, for each number that was met, the classes that hold it; all counts are 0 afterwards.

    OUT  bounds  int64[n_touched + 1]  where the classes of each number begin
    OUT  lists   int32[...]
    """
    total = 0
    for place in range(n_touched):
        bounds[place] = total
        total += count[touched[place]]
        count[touched[place]] = bounds[place]  # from here on: where the next class goes
    bounds[n_touched] = total
    for b in classes:
        for run in range(start[j, b], stop[j, b]):
            for value in range(low[run], high[run] + 1):
                lists[count[value]] = b
                count[value] += 1
    for place in range(n_touched):
        count[touched[place]] = 0


@jit
def count_ends(
    start: Any, stop: Any, low: Any, high: Any, rest: Any, base: Any, lists: Any, bounds: Any, n_first: int,
    count: Any, touched: Any, met: Any, next_met: Any, found: Any,
) -> None:  # fmt: skip
    """How many tuples that begin alike are held by one class, by two, ...

    IN     base           int64[c + 1]        where the room of each step begins
    INOUT  lists, bounds  int32, int64[...]   at first, the n_first classes that hold the beginning, in the first room
    INOUT  met, next_met  int64[c]            numbers that were met at each step, and the next to go on from
    INOUT  found          int64[...]
    """
    c = len(start)
    bounds[0], bounds[1], met[0], next_met[0] = 0, n_first, 1, 0
    j = 0
    while j >= 0:
        if next_met[j] == met[j]:
            j -= 1
            continue
        at = base[j] + next_met[j]
        next_met[j] += 1
        classes = lists[base[j] + bounds[at] : base[j] + bounds[at + 1]]
        if len(classes) == 1 or j == c - 1:  # whatever follows is held by this class alone
            found[len(classes)] += rest[j + 1, classes[0]]
            continue
        n_touched = spread(j + 1, classes, start, stop, low, high, count, touched)
        if j + 1 == c - 1:
            for place in range(n_touched):
                found[count[touched[place]]] += 1
                count[touched[place]] = 0
            continue
        j += 1
        begins, room = bounds[base[j] :], lists[base[j] :]
        part(j, classes, start, stop, low, high, count, touched, n_touched, begins, room)
        met[j], next_met[j] = n_touched, 0


@jit_parallel
def count_union(
    start: Any, stop: Any, low: Any, high: Any, rest: Any, heads: Any, listed: Any, room: Any, n_values: int,
    found: Any,
) -> None:  # fmt: skip
    """How many distinct tuples are held by one class, by two, ...: a walk over all their beginnings.

    Every beginning is met once, with the list of the classes that hold it. Where it is one class, all ends are its own
    and are counted at once. A step costs as much as the lists of the beginnings it leads to, so the whole walk about
    as much as there are tuples, each counted once for every class that holds it.

    IN   start, stop  int64[c, classes]
    IN   low, high    int64[runs]
    IN   rest         int64[c + 1, classes]  how many ends a class has from component j on; 1 in the last line
    IN   heads        int64[numbers + 1]     where the classes of each number of component 0 begin
    IN   listed       int32[...]             those classes
    IN   room         int64[c]               most entries that all lists of a step may have
    IN   n_values     int                    more than the largest number of any component
    OUT  found        int64[parts, longest list + 1]  to be added up
    """
    c, n_parts = len(start), len(found)
    base = np.zeros(c + 1, dtype=np.int64)
    for j in range(c):
        base[j + 1] = base[j] + room[j] + 1
    for one in prange(n_parts):
        count, touched = np.zeros(n_values, dtype=np.int32), np.empty(n_values, dtype=np.int64)
        lists, bounds = np.empty(base[c], dtype=np.int32), np.empty(base[c], dtype=np.int64)
        met, next_met = np.zeros(c, dtype=np.int64), np.zeros(c, dtype=np.int64)
        for value in range(one, len(heads) - 1, n_parts):
            size = heads[value + 1] - heads[value]
            if size:
                lists[:size] = listed[heads[value] : heads[value + 1]]
                count_ends(
                    start, stop, low, high, rest, base, lists, bounds, size, count, touched, met, next_met, found[one]
                )
