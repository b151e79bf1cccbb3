"""Rows that look alike once columns are coarsened, and the part of them that keeps all promises as a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.jit import jit
from shoal.kernels.needs import EQUAL, ROUNDING, Needs, short
from shoal.kernels.partition import Partition, enter, keeps, members_of
from shoal.kernels.refine import LEAST, change, move, renew

SLICES = 20
"""Into how many slices the rows of one key are cut, to be left out one after the other."""


@jit
def take_alike(
    needs: Needs, seen_as: Any, keys: Any, rows: Any, cells: Any, least: int, label: int, labels: Any
) -> int:
    """Form a group of as many rows as possible from each cell, where that can be; the next label.

    IN     keys int64[n];  rows int64[m], by cell, then by key;  cells int64[m], which cell each of them is in
           least, smallest size of a group
    INOUT  labels int64[n]
    """
    begin = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and cells[end] == cells[begin]:
            continue
        if end - begin >= least and _take(needs, seen_as, keys, rows[begin:end], least, label, labels):
            label += 1
        begin = end
    return label


@jit
def _take(needs: Needs, seen_as: Any, keys: Any, rows: Any, least: int, label: int, labels: Any) -> bool:
    """Form one group of the rows of a cell, sorted by key; say whether that could be."""
    present, counts, n_keys = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64), 0
    for row in rows:
        if n_keys and present[n_keys - 1] == keys[row]:
            counts[n_keys - 1] += 1
        else:
            present[n_keys], counts[n_keys] = keys[row], 1
            n_keys += 1
    if _is_hopeless(needs, seen_as, present[:n_keys]):
        return False
    if not _leave_out(needs, seen_as, present[:n_keys], counts[:n_keys], least):
        return False
    at = -1
    for row in rows:
        if at < 0 or present[at] != keys[row]:
            at += 1
        if counts[at] > 0:
            labels[row] = label
            counts[at] -= 1
    return True


@jit
def _is_hopeless(needs: Needs, seen_as: Any, present: Any) -> bool:
    """Whether the values present are too few, however often each occurs: seen at a glance where it can be."""
    for promise in range(len(needs.kind)):
        if needs.kind[promise] == EQUAL:
            first, share = needs.first[promise], 0.0
            last = -1
            for key in present:  # in rising order of the values that the first promise sees
                value = seen_as[promise, key]
                if value != last or promise > 0:
                    share += needs.facts[first + value, 0]
                last = value
            if 1.0 - share > needs.bound[promise] + ROUNDING:
                return True
    return False


@jit
def _leave_out(needs: Needs, seen_as: Any, present: Any, counts: Any, least: int) -> bool:
    """Leave out as few rows as greedy steps tell until a group keeps all promises; say whether enough are left.

    INOUT  counts int64[keys], how many rows of each key present are in the group
    """
    size, far = counts.sum(), lack_of(needs, seen_as, present, counts)
    while far > 0.0:
        best, who, reached = 0.0, -1, far
        for i in range(len(counts)):
            slice_ = max(counts[i] // SLICES, 1)
            if counts[i] and size - slice_ >= least:
                counts[i] -= slice_
                after = lack_of(needs, seen_as, present, counts)
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
def lack_of(needs: Needs, seen_as: Any, present: Any, counts: Any) -> float:
    """How far a group is from all promises that has so many rows of each key present."""
    total, size = 0.0, counts.sum()
    for promise in range(len(needs.kind)):
        n_values = needs.first[promise + 1] - needs.first[promise]
        often = np.zeros(n_values, dtype=np.int64)
        for i in range(len(present)):
            often[seen_as[promise, present[i]]] += counts[i]
        values, times, n_runs = np.empty(n_values, dtype=np.int64), np.empty(n_values, dtype=np.int64), 0
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
        if partition.size[group] == 0 or full or group == here:
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
