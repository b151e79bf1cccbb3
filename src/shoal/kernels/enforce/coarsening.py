"""Rows that look alike once columns are coarsened, and the part of them that keeps all promises as a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.partition import Partition, enter, keeps, members_of
from shoal.kernels.enforce.refine import LEAST, change, least_added, move, renew
from shoal.kernels.enforce.violation import EQUAL, ROUNDING, Needs, short
from shoal.kernels.jit import jit

SLICES = 20
"""Into how many slices the rows of one key are cut, to be left out one after the other."""


class Desk(NamedTuple):
    """Room to work in, for as many rows as there are at the start."""

    table: Any  # int64[power of two >= 2 rows]  SCRATCH  place of a row of each cell, -1 = empty
    cell: Any  # int64[rows]          SCRATCH  cell of each row that is left
    first: Any  # int64[rows]         SCRATCH  place of the first row of each cell
    size: Any  # int64[rows]          SCRATCH  rows of each cell
    begin: Any  # int64[rows + 1]     SCRATCH  where the rows of each large cell begin
    members: Any  # int64[rows]       SCRATCH  rows of the large cells
    often: Any  # int64[keys]         SCRATCH  0 between calls
    present: Any  # int64[keys]       SCRATCH
    counts: Any  # int64[keys]        SCRATCH
    runs: Any  # int64[3, values]     SCRATCH


@jit
def take_alike(
    needs: Needs, seen_as: Any, keys: Any, rows: Any, levels: Any, coarsening_level: Any, left: Any, least: int,
    label: int, labels: Any, desk: Desk,
) -> Any:  # fmt: skip
    """Form a group of as many rows as possible from each cell, where that can be; the next label, and how many stay.

    IN     keys int64[n];  rows int64[m], those to form groups of;  levels int32[all levels, m], codes of each column at
           each level;  grain int64[d], which of the levels each column has;  least, smallest size of a group
    INOUT  left int64[m], places in `rows` of those in no group, the first so many of them;  labels int64[n]
    """
    n_cells = _cells(levels, coarsening_level, left, desk)
    n_large = 0
    for cell in range(n_cells):
        desk.begin[cell] = n_large
        if desk.size[cell] >= least:
            n_large += desk.size[cell]
    desk.begin[n_cells] = n_large
    place = desk.first  # not asked for any more
    place[:n_cells] = desk.begin[:n_cells]
    for i in range(len(left)):
        cell = desk.cell[i]
        if desk.size[cell] >= least:
            desk.members[place[cell]] = rows[left[i]]
            place[cell] += 1
    for cell in range(n_cells):
        members = desk.members[desk.begin[cell] : desk.begin[cell + 1]]
        if len(members) and _take(needs, seen_as, keys, members, least, label, labels, desk):
            label += 1
    n_left = 0
    for i in range(len(left)):
        if labels[rows[left[i]]] < 0:
            left[n_left] = left[i]
            n_left += 1
    return label, n_left


@jit
def _cells(levels: Any, coarsening_level: Any, left: Any, desk: Desk) -> int:
    """Number the cells by their first row; how many there are."""
    mask = 1
    while mask < 2 * len(left):
        mask *= 2
    desk.table[:mask] = -1
    mask -= 1
    n_cells = 0
    for i in range(len(left)):
        row = left[i]
        scrambled = np.uint64(14695981039346656037)
        for j in coarsening_level:
            scrambled = (scrambled ^ np.uint64(levels[j, row] + 1)) * np.uint64(1099511628211)
        slot = np.int64((scrambled ^ (scrambled >> np.uint64(29))) & np.uint64(mask))
        while desk.table[slot] >= 0 and not _look_alike(levels, coarsening_level, row, desk.first[desk.table[slot]]):
            slot = (slot + 1) & mask
        if desk.table[slot] < 0:
            desk.table[slot], desk.first[n_cells], desk.size[n_cells] = n_cells, row, 0
            n_cells += 1
        desk.cell[i] = desk.table[slot]
        desk.size[desk.table[slot]] += 1
    return n_cells


@jit
def _look_alike(levels: Any, coarsening_level: Any, row: int, other: int) -> bool:
    alike = True
    for j in coarsening_level:
        alike = alike and levels[j, row] == levels[j, other]
    return alike


@jit
def _take(needs: Needs, seen_as: Any, keys: Any, rows: Any, least: int, label: int, labels: Any, desk: Desk) -> bool:
    """Form one group of rows of a cell, of every key the first ones; say whether that could be."""
    often, n_keys = desk.often, 0
    for row in rows:
        if often[keys[row]] == 0:
            desk.present[n_keys] = keys[row]
            n_keys += 1
        often[keys[row]] += 1
    present, counts = desk.present[:n_keys], desk.counts[:n_keys]
    present.sort()
    for i in range(n_keys):
        counts[i] = often[present[i]]
        often[present[i]] = 0
    if _is_hopeless(needs, seen_as, present) or not _leave_out(needs, seen_as, present, counts, least, desk.runs):
        return False
    for i in range(n_keys):
        often[present[i]] = counts[i]
    for row in rows:
        if often[keys[row]] > 0:
            labels[row] = label
            often[keys[row]] -= 1
    return True


@jit
def _is_hopeless(needs: Needs, seen_as: Any, present: Any) -> bool:
    """Whether the values present are too few, however often each occurs: seen at a glance where it can be."""
    for promise in range(len(needs.promises)):
        if needs.promises[promise].kind == EQUAL:
            first, share = needs.promises[promise].first, 0.0
            last = -1
            for key in present:  # in rising order of the values that the first promise sees
                value = seen_as[promise, key]
                if value != last or promise > 0:
                    share += needs.values[first + value].share
                last = value
            if 1.0 - share > needs.promises[promise].bound + ROUNDING:
                return True
    return False


@jit
def _leave_out(needs: Needs, seen_as: Any, present: Any, counts: Any, least: int, runs: Any) -> bool:
    """Leave out as few rows as greedy steps tell until a group keeps all promises; say whether enough are left.

    INOUT  counts int64[keys], how many rows of each key present are in the group
    """
    size, far = counts.sum(), _violation_of(needs, seen_as, present, counts, runs)
    while far > 0.0:
        best, who, reached = 0.0, -1, far
        for i in range(len(counts)):
            slice_ = max(counts[i] // SLICES, 1)
            if counts[i] and size - slice_ >= least:
                counts[i] -= slice_
                after = _violation_of(needs, seen_as, present, counts, runs)
                counts[i] += slice_
                if (far - after) / slice_ > best:
                    best, who, reached = (far - after) / slice_, i, after
        if who < 0:
            return False
        size -= max(counts[who] // SLICES, 1)
        counts[who] -= max(counts[who] // SLICES, 1)
        far = reached
    return size >= least


@jit
def _violation_of(needs: Needs, seen_as: Any, present: Any, counts: Any, runs: Any) -> float:
    """How far a group is from all promises that has so many rows of each key present."""
    total, size = 0.0, counts.sum()
    often, values, times = runs[0], runs[1], runs[2]
    for promise in range(len(needs.promises)):
        n_values = needs.promises[promise].last - needs.promises[promise].first
        often[:n_values] = 0
        for i in range(len(present)):
            often[seen_as[promise, present[i]]] += counts[i]
        n_runs = 0
        for value in range(n_values):
            if often[value]:
                values[n_runs], times[n_runs] = value, often[value]
                n_runs += 1
        total += short(needs, promise, values, times, n_runs, size)
    return total


@jit
def take_in(partition: Partition, loss: Any, rows: Any) -> int:
    """Send each of some rows that are in no group to the one where it adds least and breaks no promise; how many.

    A row that no group can take stays where it is.
    """
    n_taken = 0
    for row in rows:
        where, _ = _best_home(partition, loss, row, -1, np.inf)
        if where >= 0:
            enter(partition, row, where)
            renew(partition, loss, where)
            n_taken += 1
    return n_taken


@jit
def _best_home(partition: Partition, loss: Any, row: int, here: int, dearest: float) -> Any:
    """The group other than `here` that a row adds least to, less than `dearest`, without breaking a promise.

    All groups are looked at, not only near ones as in a refinement: groups of coarse cells overlap with many.
    """
    best, where = dearest, -1
    for group in range(len(partition.size)):
        full = partition.size[group] == partition.begin[group + 1] - partition.begin[group]
        if partition.size[group] == 0 or full or group == here or least_added(partition, loss, group) >= best:
            continue
        added = change(partition, loss, group, -1, row)
        if added < best and keeps(partition, group, -1, row):
            best, where = added, group
    return where, best


@jit
def move_on(partition: Partition, loss: Any, rows: Any, k: int) -> int:
    """Let each of some rows move to the group where the loss falls most by it and no promise is broken; how many do."""
    moved = 0
    for row in rows:
        here = partition.label[row]
        if partition.size[here] <= k or not keeps(partition, here, row, -1):
            continue
        where, _ = _best_home(partition, loss, row, here, -change(partition, loss, here, row, -1) - LEAST)
        if where >= 0:
            move(partition, loss, row, where)
            moved += 1
    return moved


@jit
def give_up(partition: Partition, loss: Any, group: int) -> bool:
    """Send every row of a group to others, if the loss falls by it and no promise is broken; say whether."""
    rows, total = members_of(partition, group).copy(), 0.0
    moved = 0
    for row in rows:
        where, added = _best_home(partition, loss, row, group, np.inf)
        if where < 0:
            break
        total += added + change(partition, loss, group, row, -1)
        move(partition, loss, row, where)
        moved += 1
    if moved == len(rows) and total < -LEAST:
        return True
    for row in rows[:moved]:
        move(partition, loss, row, group)
    return False
