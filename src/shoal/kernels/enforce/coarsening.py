"""Rows that look alike once columns are coarsened, and the part of them that keeps all promises as a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.points import sort
from shoal.kernels.enforce.violation import DISTINCT, ENTROPY, EQUAL, RECURSIVE, ROUNDING, SIZE, Needs, short
from shoal.kernels.jit import jit

SLICES = 20
"""Into how many slices the rows of one key are cut, to be left out one after the other."""
MANY = 256
"""From this number of keys on, those that are as good to leave out are tried together, as rows of one key are: numbers
of which hardly one comes twice make a key of every row, and to try each alone takes cubic time."""
SIGN = np.int64(-1 << 63)
"""The bit by which numbers with a sign sort as those without."""
CELL = np.dtype(
    [("cell", np.int64), ("first", np.int64), ("size", np.int64), ("begin", np.int64), ("member", np.int64)],
    align=True,
)
"""Of each row that is left, its cell; of each cell, the place of its first row, how many rows it has, and where they
begin among the members; one after the other, the rows of all large cells."""
KEY = np.dtype([("often", np.int64), ("present", np.int64), ("count", np.int64)], align=True)
"""Of each key, how often it occurs, 0 between calls; one after the other, the keys that are present, and how many of
their rows are in the group."""


class Alike(NamedTuple):
    """The rows to form groups of, and what there is to know of them."""

    needs: Needs  #              IN
    seen_as: Any  # int64[promises, keys]     IN  value that each promise sees in a key
    keys: Any  # int64[n]                     IN
    rows: Any  # int64[m]                     IN
    levels: Any  # int32[all levels, m]       IN  codes of each column at each of its levels


class Present(NamedTuple):
    """What the promises see in the keys of a cell: the values that are there, in rising order, and which a key has."""

    place: Any  # int64[promises, present]   which of the values
    values: Any  # int64[promises, present]
    n_values: Any  # int64[promises]         how many


class Scratch(NamedTuple):
    """Room to work in, for as many rows as there are at the start."""

    table: Any  # int64[power of two >= 2 rows]  number of a cell, -1 = empty
    cells: Any  # CELL[rows + 1]
    keys: Any  # KEY[keys]
    runs: Any  # int64[3, values]


@jit
def take_alike(alike: Alike, level: Any, left: Any, least: int, label: int, labels: Any, scratch: Scratch) -> Any:
    """Form a group of as many rows as possible from each cell, where that can be; the next label, and how many stay.

    IN     level int64[d], which of all levels each column has;  least, smallest size of a group
           label, the first of the new groups
    INOUT  left int64[m], places in `rows` of those in no group, the first so many of them;  labels int64[n]
    """
    cells = scratch.cells
    n_cells = _number_cells(alike.levels, level, left, scratch)
    end = 0
    for cell in range(n_cells):
        cells[cell].begin = end
        if cells[cell].size >= least:
            end += cells[cell].size
    for i in range(len(left)):
        cell = cells[i].cell
        if cells[cell].size >= least:
            cells[cells[cell].begin].member = alike.rows[left[i]]
            cells[cell].begin += 1
    for cell in range(n_cells):
        one = cells[cell]
        if one.size >= least and _take(alike, one.begin - one.size, one.begin, least, label, labels, scratch):
            label += 1
    n_left = 0
    for i in range(len(left)):
        if labels[alike.rows[left[i]]] < 0:
            left[n_left] = left[i]
            n_left += 1
    return label, n_left


@jit
def _number_cells(levels: Any, level: Any, left: Any, scratch: Scratch) -> int:
    """Number the cells by their first row; how many there are."""
    table, cells = scratch.table, scratch.cells
    mask = 1
    while mask < 2 * len(left):
        mask *= 2
    table[:mask] = -1
    mask -= 1
    n_cells = 0
    for i in range(len(left)):
        row = left[i]
        scrambled = np.uint64(14695981039346656037)
        for j in level:
            scrambled = (scrambled ^ np.uint64(levels[j, row] + 1)) * np.uint64(1099511628211)
        slot = np.int64((scrambled ^ (scrambled >> np.uint64(29))) & np.uint64(mask))
        while table[slot] >= 0:
            other, alike = cells[table[slot]].first, True
            for j in level:
                alike = alike and levels[j, row] == levels[j, other]
            if alike:
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot], cells[n_cells].first, cells[n_cells].size = n_cells, row, 0
            n_cells += 1
        cells[i].cell = table[slot]
        cells[table[slot]].size += 1
    return n_cells


@jit
def _take(alike: Alike, begin: int, end: int, least: int, label: int, labels: Any, scratch: Scratch) -> bool:
    """Form one group of rows of a cell, of every key the first ones; say whether that could be."""
    keys, n_keys = scratch.keys, 0
    for i in range(begin, end):
        key = alike.keys[scratch.cells[i].member]
        if keys[key].often == 0:
            keys[n_keys].present = key
            n_keys += 1
        keys[key].often += 1
    present = np.empty(n_keys, dtype=np.int64)
    for i in range(n_keys):
        present[i] = keys[i].present
    sort(present, present)
    for i in range(n_keys):
        keys[i].present, keys[i].count = present[i], keys[present[i]].often
    for i in range(n_keys):
        keys[keys[i].present].often = 0
    if not _leave_out(alike, keys[:n_keys], end - begin, least, scratch.runs):
        return False
    for i in range(n_keys):
        keys[keys[i].present].often = keys[i].count
    for i in range(begin, end):
        row = scratch.cells[i].member
        if keys[alike.keys[row]].often > 0:
            labels[row] = label
            keys[alike.keys[row]].often -= 1
    return True


@jit
def _is_hopeless(alike: Alike, keys: Any) -> bool:
    """Whether the values present are too few, however often each occurs: seen at a glance where it can be."""
    for at in range(len(alike.needs.promises)):
        promise = alike.needs.promises[at]
        if promise.kind == EQUAL:
            share, last = 0.0, -1
            for i in range(len(keys)):  # in rising order of the values that the first promise sees
                value = alike.seen_as[at, keys[i].present]
                if value != last or at > 0:
                    share += alike.needs.values[promise.first + value].share
                last = value
            if 1.0 - share > promise.bound + ROUNDING:
                return True
    return False


@jit
def _leave_out(alike: Alike, keys: Any, size: int, least: int, runs: Any) -> bool:
    """Leave out as few rows as greedy steps tell until a group keeps all promises; say whether enough are left.

    Each step leaves out rows of the key that gains most for each of them, or of all keys that are as good.

    INOUT  keys KEY[present];  size, how many rows they are together
    """
    if _is_hopeless(alike, keys):
        return False
    marks, order = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
    left, present = size, _present(alike, keys)
    far = _violation_of(alike, keys, present, size, runs)
    while far > 0.0:
        for i in range(len(keys)):
            marks[i] = order[i] = i
        if len(keys) >= MANY:
            _mark(alike, keys, present, marks, runs)
            sort(marks, order)
        best, who, reached = 0.0, order[:0], far
        begin = 0
        while begin < len(order):
            end = begin + 1
            while end < len(order) and marks[end] == marks[begin]:
                end += 1
            some, begin = order[begin:end], end
            each = _slice_of(keys[some[0]].count)
            n = _leave_out_some(keys, some, each)
            if n and left - n >= least:
                after = _violation_of(alike, keys, present, left - n, runs)
                if (far - after) / n > best:
                    best, who, reached = (far - after) / n, some, after
            _leave_out_some(keys, some, -each)
        if not len(who):
            return False
        left, far = left - _leave_out_some(keys, who, _slice_of(keys[who[0]].count)), reached
    return left >= least


@jit
def _slice_of(count: int) -> int:
    """How many rows of a key are left out in one step."""
    return count // SLICES if count >= SLICES else min(count, 1)


@jit
def _leave_out_some(keys: Any, some: Any, each: int) -> int:
    """Leave out so many rows of a slice of some keys, evenly among these; how many rows that are together."""
    step, n_rows = min(SLICES, len(some)), 0
    for at in range(step - 1, len(some), step):
        n_rows += each
        keys[some[at]].count -= each
    return n_rows


@jit
def _mark(alike: Alike, keys: Any, present: Present, marks: Any, runs: Any) -> None:
    """Give equal marks to keys that are as good to leave out: whose values are as frequent, or equal where that counts.

    OUT  marks int64[present], which sort as the same bits without a sign do
    """
    often, prime = runs[0], np.uint64(1099511628211)
    for i in range(len(keys)):
        marks[i] = np.int64((np.uint64(14695981039346656037) ^ np.uint64(keys[i].count)) * prime)
    for at in range(len(alike.needs.promises)):
        by_count = alike.needs.promises[at].kind in (SIZE, DISTINCT, ENTROPY, RECURSIVE)
        often[: present.n_values[at]] = 0
        for i in range(len(keys)):
            often[present.place[at, i]] += keys[i].count
        for i in range(len(keys)):
            value = present.place[at, i]
            mark = (np.uint64(marks[i]) ^ np.uint64(often[value] if by_count else value)) * prime
            marks[i] = np.int64(mark ^ (mark >> np.uint64(29)))
    for i in range(len(keys)):
        marks[i] ^= SIGN


@jit
def _present(alike: Alike, keys: Any) -> Present:
    """Number the values that the keys of a cell have, promise after promise."""
    n_promises = len(alike.needs.promises)
    place, values = np.empty((n_promises, len(keys)), dtype=np.int64), np.empty((n_promises, len(keys)), dtype=np.int64)
    n_values = np.empty(n_promises, dtype=np.int64)
    seen, order = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
    for at in range(n_promises):
        for i in range(len(keys)):
            seen[i], order[i] = alike.seen_as[at, keys[i].present], i
        sort(seen, order)
        n = 0
        for i in range(len(keys)):
            if i == 0 or seen[i] != seen[i - 1]:
                values[at, n] = seen[i]
                n += 1
            place[at, order[i]] = n - 1
        n_values[at] = n
    return Present(place, values, n_values)


@jit
def _violation_of(alike: Alike, keys: Any, present: Present, size: int, runs: Any) -> float:
    """How far a group is from all promises that has so many rows of each key present."""
    total, often, values, times = 0.0, runs[0], runs[1], runs[2]
    for at in range(len(alike.needs.promises)):
        often[: present.n_values[at]] = 0
        for i in range(len(keys)):
            often[present.place[at, i]] += keys[i].count
        n_runs = 0
        for place in range(present.n_values[at]):
            if often[place]:
                values[n_runs], times[n_runs] = present.values[at, place], often[place]
                n_runs += 1
        total += short(alike.needs, at, values, times, n_runs, size)
    return total
