"""Products of sets: how many of them hold a tuple, and how many tuples their union has.

A class has one set of numbers per component, written as runs (from `low` to `high`, ascending and apart). Classes with
equal sets may point at the same runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

SPAN = np.dtype([("start", np.int64), ("stop", np.int64)], align=True)
"""Where the runs of a class begin and end."""
RUN = np.dtype([("low", np.int64), ("high", np.int64)], align=True)
"""All numbers from the lowest to the highest."""


class ClassRuns(NamedTuple):
    """The sets of all classes."""

    spans: Any  # SPAN[c, classes]  IN
    runs: Any  # RUN[runs]          IN


class ClassLists(NamedTuple):
    """Which classes may hold a number, by blocks of 2**shift numbers of a component."""

    shift: Any  # int64[c]      IN
    first: Any  # int64[c + 1]  IN  where the lists of each component begin among heads
    heads: Any  # int64[...]    IN  where each list begins, and one past the last, component after component
    listed: Any  # int32[...]   IN  classes


@jit
def _holds(classes: ClassRuns, j: int, one: int, value: int) -> bool:
    """Whether the set of a class holds a number of component j."""
    start, stop = classes.spans[j, one].start, classes.spans[j, one].stop
    while start < stop:
        middle = (start + stop) // 2
        if classes.runs[middle].high < value:
            start = middle + 1
        elif classes.runs[middle].low > value:
            stop = middle
        else:
            return True
    return False


@jit
def _count_matches(classes: ClassRuns, lists: ClassLists, one: Any) -> int:
    """How many classes hold a tuple: those of its shortest list are looked at.

    IN  one  int64[c]  -1 where a value is in no class
    """
    begin, end, n_found = 0, -1, 0
    for j in range(len(one)):
        block = one[j] >> lists.shift[j]  # -1 stays -1
        if block < 0 or lists.first[j] + block + 1 >= lists.first[j + 1]:
            return 0
        at = lists.first[j] + block
        if end < 0 or lists.heads[at + 1] - lists.heads[at] < end - begin:
            begin, end = lists.heads[at], lists.heads[at + 1]
    for at in range(begin, end):
        inside = True
        for j in range(len(one)):
            inside = inside and _holds(classes, j, lists.listed[at], one[j])
        n_found += inside
    return n_found


@jit
def count_matches(classes: ClassRuns, lists: ClassLists, tuples: Any, matches: Any) -> None:
    """How many classes hold each tuple.

    IN   tuples   int64[q, c]  -1 where a value is in no class
    OUT  matches  int64[q]
    """
    for q in range(len(tuples)):
        matches[q] = _count_matches(classes, lists, tuples[q])


# -- the union --------------------------------------------------------------------------------------------------------


class ClassUnion(NamedTuple):
    """What is known of the classes before their tuples are counted."""

    classes: ClassRuns
    rest: Any  # int64[c + 1, classes]  IN  how many ends a class has from component j on; 1 in the last line
    heads: Any  # int64[numbers + 1]    IN  where the classes of each number of component 0 begin
    listed: Any  # int32[...]           IN  those classes
    base: Any  # int64[c + 1]           IN  where the room of each step begins, for all its lists
    n_values: int  # more than the largest number of any component


class Walk(NamedTuple):
    """Where a walk over all beginnings of tuples is."""

    lists: Any  # int32[room]      classes that hold the beginnings of each step
    bounds: Any  # int64[room]     where those of each beginning begin
    met: Any  # int64[c]           beginnings of each step
    next_met: Any  # int64[c]      the next to go on from
    count: Any  # int32[numbers]   0 between steps
    touched: Any  # int64[numbers]


@jit
def _spread(classes: ClassRuns, j: int, some: Any, walk: Walk) -> int:
    """Count how many of some classes hold each number of component j; give how many numbers there are.

    IN   some  int32[...]
    """
    n_touched, count = 0, walk.count
    for at in range(len(some)):
        span = classes.spans[j, some[at]]
        for run in range(span.start, span.stop):
            for value in range(classes.runs[run].low, classes.runs[run].high + 1):
                if count[value] == 0:
                    walk.touched[n_touched] = value
                    n_touched += 1
                count[value] += 1
    return n_touched


@jit
def _part(classes: ClassRuns, j: int, some: Any, walk: Walk, n_touched: int, base: int) -> None:
    """Write, for each number that was met, the classes that hold it; all counts are 0 afterwards."""
    total, count = 0, walk.count
    for place in range(n_touched):
        walk.bounds[base + place] = total
        total += count[walk.touched[place]]
        count[walk.touched[place]] = walk.bounds[base + place]  # from here on: where the next class goes
    walk.bounds[base + n_touched] = total
    for at in range(len(some)):
        span = classes.spans[j, some[at]]
        for run in range(span.start, span.stop):
            for value in range(classes.runs[run].low, classes.runs[run].high + 1):
                walk.lists[base + count[value]] = some[at]
                count[value] += 1
    for place in range(n_touched):
        count[walk.touched[place]] = 0


@jit
def _count_ends(union: ClassUnion, walk: Walk, n_first: int, found: Any) -> None:
    """How many tuples that begin alike are held by one class, by two, ...

    IN     n_first  classes that hold the beginning, in the first room
    INOUT  found    int64[...]
    """
    c, base, bounds = len(walk.met), union.base, walk.bounds
    bounds[0], bounds[1] = 0, n_first
    walk.met[0], walk.next_met[0] = 1, 0
    j = 0
    while j >= 0:
        if walk.next_met[j] == walk.met[j]:
            j -= 1
            continue
        at = base[j] + walk.next_met[j]
        walk.next_met[j] += 1
        some = walk.lists[base[j] + bounds[at] : base[j] + bounds[at + 1]]
        if len(some) == 1 or j == c - 1:  # whatever follows is held by this class alone
            found[len(some)] += union.rest[j + 1, some[0]]
            continue
        n_touched = _spread(union.classes, j + 1, some, walk)
        if j + 1 == c - 1:
            for place in range(n_touched):
                found[walk.count[walk.touched[place]]] += 1
                walk.count[walk.touched[place]] = 0
            continue
        j += 1
        _part(union.classes, j, some, walk, n_touched, base[j])
        walk.met[j], walk.next_met[j] = n_touched, 0


@jit
def count_union(union: ClassUnion, found: Any) -> None:
    """How many distinct tuples are held by one class, by two, ...: a walk over all their beginnings.

    Every beginning is met once, with the list of the classes that hold it. Where it is one class, all ends are its own
    and are counted at once. A step costs as much as the lists of the beginnings it leads to, so the whole walk about
    as much as there are tuples, each counted once for every class that holds it.

    OUT  found  int64[longest list + 1]
    """
    c, room = len(union.base) - 1, union.base[len(union.base) - 1]
    walk = Walk(
        np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64), np.empty(c, dtype=np.int64),
        np.empty(c, dtype=np.int64), np.empty(union.n_values, dtype=np.int32), np.empty(union.n_values, dtype=np.int64),
    )  # fmt: skip
    walk.count[:] = 0
    for value in range(len(union.heads) - 1):
        size = union.heads[value + 1] - union.heads[value]
        for i in range(size):
            walk.lists[i] = union.listed[union.heads[value] + i]
        if size:
            _count_ends(union, walk, size, found)
