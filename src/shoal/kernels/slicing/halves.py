"""A bucket of a sliced table and its two halves, counted part by part, and the tuples that match it.

A tuple is a combination of quasi-identifiers that occurs in the table; slice by slice it falls into *parts*. It
matches a bucket if every one of its parts occurs there, in whatever rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.jit import jit

WHOLE, LEFT, RIGHT = 0, 1, 2
"""The sides that are counted: a bucket, and its halves."""
FEW = 4
"""Tuples under a node that are not worth going further down; at least 1, for the last level."""
LEVEL = np.dtype([("part", np.int64), ("node", np.int64)], align=True)
"""The first part of a slice, and the first node of its level."""
NODE = np.dtype([("part", np.int32), ("child", np.int32), ("first", np.int32), ("last", np.int32)], align=True)
"""A node: its part, rising among the children of a node; its first child; the first tuple under it, and the one after
the last."""


class Sliced(NamedTuple):
    """The rows as parts, numbered through all slices, and their distinct tuples as a tree: a level for each slice."""

    row_part: Any  # int32[n, c]        IN
    row_value: Any  # int64[n, s]       IN  sensitive values, numbered through all attributes
    row_tuple: Any  # int64[n]          IN
    tuple_part: Any  # int32[u, c]      IN  in the order of the tree's last level
    home: Any  # int64[s]               IN  slice of each sensitive attribute
    levels: Any  # LEVEL[c + 1]         IN
    nodes: Any  # NODE[nodes + 1]       IN
    part_rows: Any  # int64[c * n]      IN  rows by slice and part
    rows_start: Any  # int64[parts + 1] IN
    n_values: int
    scale: float  # a factor of every share that keeps products in the range of doubles; it cancels
    folded: bool


class TupleRows(NamedTuple):
    """Parts and sensitive values of all rows, those of a bucket side by side."""

    part: Any  # int32[n, c]
    value: Any  # int64[n, s]


class Halves(NamedTuple):
    """A bucket and its halves, counted; everything is 0 or scratch outside its parts.

    The entries of a part are the sensitive values that occur with it.
    """

    sizes: Any  # int64[3]            rows of each side
    count: Any  # int32[parts, 3]     rows of each side with a part
    present: Any  # int32[parts]      parts that occur, from the slice's first on
    n_present: Any  # int64[c]
    begin: Any  # int64[parts]        where the entries of a part begin
    end: Any  # int64[s, parts]
    cell: Any  # int64[s, n]          sum that an entry goes to
    share: Any  # float64[s, 3, n]    rows of an entry, as a share of those with its part, for each side
    grouped: Any  # int64[n]          scratch
    slot: Any  # int64[values]        scratch, -1
    matched: Any  # int64[u]          tuples that match
    frontier: Any  # int64[2, u]      scratch


@jit
def count_halves(
    sliced: Sliced, halves: Halves, rows: TupleRows, first: int, run: Any, n_left: int, anew: bool | None
) -> None:
    """Count the parts and the sensitive values of a bucket and of its halves; see `sums.all_agree` for `anew`.

    IN  first, where the bucket begins in `rows`;  run int64[size], places of its rows from there on, left half first
    """
    halves.sizes[WHOLE], halves.sizes[LEFT], halves.sizes[RIGHT] = len(run), n_left, len(run) - n_left
    count, present = halves.count, halves.present
    for j in range(len(halves.n_present)):
        end = sliced.levels[j].part
        for i in range(len(run)):
            part = rows.part[first + run[i], j]
            if count[part, WHOLE] == 0:
                present[end] = part
                end += 1
            count[part, WHOLE] += 1
            count[part, LEFT if i < n_left else RIGHT] += 1
        halves.n_present[j] = end - sliced.levels[j].part
    for s in range(len(sliced.home)):
        _group_rows(sliced, halves, rows, first, run, sliced.home[s])
        for at in range(halves.n_present[sliced.home[s]]):
            part = present[sliced.levels[sliced.home[s]].part + at]
            _count_values(halves, rows, first, run, n_left, s, part)
            if anew is not None:
                _fold(sliced.folded, halves, s, part)
            for side in range(3):
                for entry in range(halves.begin[part], halves.end[s, part]):
                    of = count[part, side]
                    halves.share[s, side, entry] = halves.share[s, side, entry] / of if of else 0.0


@jit
def clear_halves(sliced: Sliced, halves: Halves) -> None:
    """Leave the counts as they were found: 0."""
    for j in range(len(halves.n_present)):
        for at in range(halves.n_present[j]):
            halves.count[halves.present[sliced.levels[j].part + at]] = 0


@jit
def _group_rows(sliced: Sliced, halves: Halves, rows: TupleRows, first: int, run: Any, j: int) -> None:
    """Places of the run by their part of a slice."""
    end, parts = 0, sliced.levels[j].part
    for at in range(halves.n_present[j]):
        halves.begin[halves.present[parts + at]] = end
        end += halves.count[halves.present[parts + at], WHOLE]
    for i in range(len(run)):
        part = rows.part[first + run[i], j]
        halves.grouped[halves.begin[part]] = i
        halves.begin[part] += 1
    for at in range(halves.n_present[j]):
        part = halves.present[parts + at]
        halves.begin[part] -= halves.count[part, WHOLE]


@jit
def _count_values(halves: Halves, rows: TupleRows, first: int, run: Any, n_left: int, s: int, part: int) -> None:
    """Entries of a part: each sensitive value that occurs with it, and how often, as the shares to be."""
    begin, share = halves.begin[part], halves.share
    end = begin
    for place in range(begin, begin + halves.count[part, WHOLE]):
        i = halves.grouped[place]
        value = rows.value[first + run[i], s]
        if halves.slot[value] < 0:
            halves.slot[value], halves.cell[s, end] = end, value
            share[s, WHOLE, end] = share[s, LEFT, end] = share[s, RIGHT, end] = 0.0
            end += 1
        share[s, WHOLE, halves.slot[value]] += 1.0
        share[s, LEFT if i < n_left else RIGHT, halves.slot[value]] += 1.0
    for entry in range(begin, end):
        halves.slot[halves.cell[s, entry]] = -1
    halves.end[s, part] = end


@jit
def _fold(folded: bool, halves: Halves, s: int, part: int) -> None:
    """Leave of the entries of a part the largest count of each side only, where sums are folded."""
    if not folded:
        return
    begin, share = halves.begin[part], halves.share
    for side in range(3):
        for entry in range(begin, halves.end[s, part]):
            if share[s, side, entry] > share[s, side, begin]:
                share[s, side, begin] = share[s, side, entry]
    halves.cell[s, begin], halves.end[s, part] = s, begin + 1


# -- who matches ------------------------------------------------------------------------------------------------


@jit
def matching(sliced: Sliced, halves: Halves) -> int:
    """Write the tuples whose every part occurs in the bucket to `matched`; how many.

    Down the tree of tuples, level by level: of each node reached, either its children are asked whether they occur in
    the bucket, or the parts of the bucket are looked up among its children, whichever are fewer. Where few tuples are
    left under a node, they are looked at one by one. A bucket of few rows is done in a time that hardly depends on the
    table, and none takes longer than going through all tuples.
    """
    nodes, levels, frontier, n_nodes, n_matched = sliced.nodes, sliced.levels, halves.frontier, 1, 0
    for j in range(len(levels) - 1):
        n_found, n_parts = 0, halves.n_present[j]
        for i in range(n_nodes):
            low, high = levels[0].node, levels[1].node
            if j:
                above = frontier[(j - 1) % 2, i]
                low, high = np.int64(nodes[above].child), np.int64(nodes[above + 1].child)
            by_child = high - low <= 4 * n_parts
            for place in range(high - low if by_child else n_parts):
                node = low + place
                if not by_child:
                    node = _find(nodes, low, high, halves.present[levels[j].part + place])
                if node < 0 or halves.count[nodes[node].part, WHOLE] == 0:
                    continue
                if nodes[node].last - nodes[node].first > FEW:
                    frontier[j % 2, n_found] = node
                    n_found += 1
                    continue
                for t in range(nodes[node].first, nodes[node].last):
                    occurs = True
                    for below in range(j + 1, len(levels) - 1):
                        occurs = occurs and halves.count[sliced.tuple_part[t, below], WHOLE] > 0
                    if occurs:
                        halves.matched[n_matched] = t
                        n_matched += 1
        n_nodes = n_found
    return n_matched


@jit
def _find(nodes: Any, low: int, high: int, part: int) -> int:
    """The one of some nodes in order that has a part, or -1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if nodes[middle].part < part:
            low = middle + 1
        else:
            high = middle
    return low if low < end and nodes[low].part == part else -1
