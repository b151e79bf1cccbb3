"""A bucket of a sliced table and its two halves, counted part by part, and the tuples that match it.

A tuple is a combination of quasi-identifiers that occurs in the table; slice by slice it falls into *parts*. It
matches a bucket if every one of its parts occurs there, in whatever rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels.jit import jit

WHOLE, LEFT, RIGHT = 0, 1, 2
FEW = 4
"""Tuples under a node that are not worth going further down; at least 1, for the last level."""


class Sliced(NamedTuple):
    """The rows as parts, numbered through all slices, and their distinct tuples as a tree: a level for each slice."""

    row_part: Any  # int32[n, c]        IN
    row_value: Any  # int64[n, s]       IN  sensitive values, numbered through all attributes
    home: Any  # int64[s]               IN  slice of each sensitive attribute
    n_values: int
    tuple_part: Any  # int32[u, c]      IN  in the order of the tree's last level
    row_tuple: Any  # int64[n]          IN
    part_start: Any  # int64[c + 1]     IN  first part of each slice
    node_start: Any  # int64[c + 1]     IN  first node of each level
    node_part: Any  # int32[nodes]      IN  rising among the children of a node
    child_start: Any  # int64[nodes + 1] IN
    node_first: Any  # int32[nodes]     IN  first tuple under a node
    node_last: Any  # int32[nodes]      IN  and the one after its last
    part_rows: Any  # int64[c * n]      IN  rows by slice and part
    rows_start: Any  # int64[parts + 1] IN
    scale: float  # a factor of every share that keeps products in the range of doubles; it cancels
    folded: bool


class TupleRows(NamedTuple):
    """Parts and sensitive values of all rows, or those of one bucket side by side, where they are near each other."""

    part: Any  # int32[n, c]
    value: Any  # int64[n, s]


class Halves(NamedTuple):
    """A bucket and its halves, counted; everything is 0 or scratch outside its parts."""

    sizes: Any  # int64[3]            rows of the whole, left and right
    count: Any  # int32[parts, 3]     rows with a part
    present: Any  # int32[parts]      parts that occur, from the slice's first on
    n_present: Any  # int64[c]
    begin: Any  # int64[parts]        where the entries of a part begin
    end: Any  # int64[s, parts]
    cell: Any  # int64[s, n]          sum that an entry goes to
    n_entry: Any  # int32[s, 3, n]    rows of an entry
    share: Any  # float64[s, 3, n]    and as a share of those with its part
    grouped: Any  # int64[n]          scratch
    slot: Any  # int64[values]        scratch, -1
    matched: Any  # int64[u]          tuples that match
    frontier: Any  # int64[2, u]      scratch


@jit
def count_halves(sliced: Sliced, halves: Halves, rows: TupleRows, run: Any, n_left: int) -> None:
    """Count the parts and the sensitive values of a bucket and of its halves.

    IN  run  int64[rows], places in `rows`, the left half first
    """
    halves.sizes[WHOLE], halves.sizes[LEFT], halves.sizes[RIGHT] = len(run), n_left, len(run) - n_left
    row_part, count, present, n_present = rows.part, halves.count, halves.present, halves.n_present
    for j in range(row_part.shape[1]):
        end = sliced.part_start[j]
        for i in range(len(run)):
            part = row_part[run[i], j]
            if count[part, WHOLE] == 0:
                present[end] = part
                end += 1
            count[part, WHOLE] += 1
            count[part, LEFT if i < n_left else RIGHT] += 1
        n_present[j] = end - sliced.part_start[j]
    for s in range(len(sliced.home)):
        _group(sliced, halves, rows, run, sliced.home[s])
        parts = sliced.part_start[sliced.home[s]]
        for part in halves.present[parts : parts + halves.n_present[sliced.home[s]]]:
            _count_values(sliced, halves, rows, run, n_left, s, part)


@jit
def clear_halves(sliced: Sliced, halves: Halves) -> None:
    """Leave the counts as they were found: 0."""
    for j in range(len(halves.n_present)):
        parts = sliced.part_start[j]
        for part in halves.present[parts : parts + halves.n_present[j]]:
            halves.count[part] = 0


@jit
def _group(sliced: Sliced, halves: Halves, rows: TupleRows, run: Any, j: int) -> None:
    """Places of the run by their part of a slice."""
    at, parts = 0, sliced.part_start[j]
    for part in halves.present[parts : parts + halves.n_present[j]]:
        halves.begin[part] = at
        at += halves.count[part, WHOLE]
    for i in range(len(run)):
        part = rows.part[run[i], j]
        halves.grouped[halves.begin[part]] = i
        halves.begin[part] += 1
    for part in halves.present[parts : parts + halves.n_present[j]]:
        halves.begin[part] -= halves.count[part, WHOLE]


@jit
def _count_values(sliced: Sliced, halves: Halves, rows: TupleRows, run: Any, n_left: int, s: int, part: int) -> None:
    """Entries of a part: each sensitive value that occurs with it, and how often; folded, the largest counts only."""
    cell, n_entry, begin = halves.cell[s], halves.n_entry[s], halves.begin[part]
    end = begin
    for place in range(begin, begin + halves.count[part, WHOLE]):
        i = halves.grouped[place]
        value = rows.value[run[i], s]
        if halves.slot[value] < 0:
            halves.slot[value] = end
            cell[end] = value
            n_entry[WHOLE, end] = n_entry[LEFT, end] = n_entry[RIGHT, end] = 0
            end += 1
        entry = halves.slot[value]
        n_entry[WHOLE, entry] += 1
        n_entry[LEFT if i < n_left else RIGHT, entry] += 1
    for entry in range(begin, end):
        halves.slot[cell[entry]] = -1
    if sliced.folded:
        for side in range(3):
            n_entry[side, begin] = n_entry[side, begin:end].max()
        cell[begin] = s
        end = begin + 1
    for side in range(3):
        for entry in range(begin, end):
            halves.share[s, side, entry] = part_of(n_entry[side, entry], halves.count[part, side])
    halves.end[s, part] = end


@jit
def part_of(some: int, of: int) -> float:
    """A share; 0 of nothing is 0. Whoever needs a share takes it from here: equal counts must give equal bits."""
    return some / of if of else 0.0


# -- who matches ------------------------------------------------------------------------------------------------


@jit
def matching(sliced: Sliced, halves: Halves) -> int:
    """Write the tuples whose every part occurs in the bucket to `matched`; how many.

    Down the tree of tuples, level by level: of each node reached, either its children are asked whether they occur in
    the bucket, or the parts of the bucket are looked up among its children, whichever are fewer. Where few tuples are
    left under a node, they are looked at one by one. A bucket of few rows is done in a time that hardly depends on the
    table, and none takes longer than going through all tuples.
    """
    here, there, n_nodes, n_matched = halves.frontier[0], halves.frontier[1], 1, 0
    for j in range(len(sliced.node_start) - 1):
        here, there = there, here
        n_found, parts, n_parts = 0, sliced.part_start[j], halves.n_present[j]
        for i in range(n_nodes):
            low, high = sliced.node_start[0], sliced.node_start[1]
            if j:
                low, high = sliced.child_start[there[i]], sliced.child_start[there[i] + 1]
            by_child = high - low <= 4 * n_parts
            for place in range(high - low if by_child else n_parts):
                if by_child:
                    node = low + place
                    occurs = halves.count[sliced.node_part[node], WHOLE] > 0
                else:
                    node = _find(sliced.node_part, low, high, halves.present[parts + place])
                    occurs = node >= 0
                if occurs and sliced.node_last[node] - sliced.node_first[node] > FEW:
                    here[n_found] = node
                    n_found += 1
                elif occurs:
                    n_matched = _look_at(sliced, halves, node, j + 1, n_matched)
        n_nodes = n_found
    return n_matched


@jit
def _look_at(sliced: Sliced, halves: Halves, node: int, level: int, n_matched: int) -> int:
    """Add those tuples under a node whose parts from a level on occur."""
    for t in range(sliced.node_first[node], sliced.node_last[node]):
        occurs = True
        for j in range(level, sliced.tuple_part.shape[1]):
            if halves.count[sliced.tuple_part[t, j], WHOLE] == 0:
                occurs = False
                break
        if occurs:
            halves.matched[n_matched] = t
            n_matched += 1
    return n_matched


@jit
def _find(rising: Any, low: int, high: int, wanted: int) -> int:
    end = high
    while low < high:
        middle = (low + high) // 2
        if rising[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and rising[low] == wanted else -1
