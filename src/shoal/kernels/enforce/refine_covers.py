"""What the generalisation loss of a group becomes when a row leaves it, or joins it, or both.

A column is a run, a tree or a set. Of a run (numbers, ranks) and of a tree (leaves from left to right) a group knows
its two lowest and two highest values, so that one may leave; of a set, which values occur and which occur twice, as
bits: exact up to 64 values, and a question to the members beyond.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.enforce.partition import NOBODY, Partition
from shoal.kernels.jit import jit

RUN, TREE, SET = 0, 1, 2
BITS = 64
COLUMN = np.dtype([("kind", np.int64), ("whole", np.float64), ("first", np.int64)], align=True)
"""A column: its kind; what a width, or the values beyond one, are divided by, and how many values a set column has; the
first node of a tree in `tree`."""
NODE = np.dtype([("leaf", np.int64), ("parent", np.int64), ("depth", np.int64), ("share", np.float64)], align=True)
"""A node: the node of the leaf at its place, from left to right; its parent and its depth; the share of all leaves that
is below it, 0 for a leaf."""
CELL = np.dtype(
    [("low", np.float64), ("lower", np.float64), ("high", np.float64), ("higher", np.float64), ("n_missing", np.int64),
     ("n_distinct", np.int64), ("once", np.uint64), ("twice", np.uint64)],
    align=True,
)  # fmt: skip
"""What is known of a column in a group: the lowest value, and what is lowest without one of those; the highest alike;
how many values are missing; of a set: how many differ, and which occur once or more, and twice or more, as bits."""


class Covers(NamedTuple):
    """Values of the rows, and the cells that cover the groups they are in."""

    values: Any  # float64[n, d]   IN     numbers, ranks, places of leaves, set values from 0 on; NaN = missing
    column: Any  # COLUMN[d]       IN
    tree: Any  # NODE[nodes]       IN     tree after tree
    cell: Any  # CELL[groups, d]   INOUT
    lost: Any  # float64[groups]   INOUT  cells left open, summed over rows and columns; NaN where nothing is known yet


@jit
def least_added(partition: Partition, covers: Covers, group: int) -> float:
    """What a further row adds to the loss of a group at least: it is shown as openly as the others are."""
    return covers.lost[group] / partition.groups[group].size


@jit
def least_swapped(partition: Partition, covers: Covers, group: int, row: int, relief: float) -> float:  # noqa: ARG001
    """How the loss changes at least when a row is replaced: the cells become those of the other rows."""
    size = partition.groups[group].size
    return (relief + covers.lost[group]) * size / (size - 1) - covers.lost[group] if size > 1 else -covers.lost[group]


@jit
def least_joined(partition: Partition, covers: Covers, group: int, joined: float) -> float:
    """What is added to that at least: cells that have to open for a row open whoever leaves."""
    size = partition.groups[group].size
    return size * (joined - covers.lost[group] / size) / (size + 1) if size > 1 else 0.0


@jit
def change(partition: Partition, covers: Covers, group: int, out: int, into: int) -> float:
    """By how much the loss of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
    values, size = covers.values, partition.groups[group].size - (out >= 0) + (into >= 0)
    total = 0.0
    for j in range(len(covers.column)):
        x = values[out, j] if out >= 0 else np.inf  # nobody: infinite, so that it is neither missing nor an end
        y = values[into, j] if into >= 0 else np.inf
        column, cell = covers.column[j], covers.cell[group, j]
        n_missing = cell.n_missing - np.isnan(x) + np.isnan(y)
        if n_missing > 0:
            total += 1.0 if n_missing < size else 0.0
        elif column.kind == SET:
            n = cell.n_distinct
            if x != y:
                n -= x < np.inf and not _occurs(partition, covers, group, j, x, 2)
                n += y < np.inf and not _occurs(partition, covers, group, j, y, 1)
            total += (n - 1.0) / (column.whole - 1.0) if n > 1 else 0.0
        elif size:
            low = cell.lower if x == cell.low else cell.low
            high = cell.higher if x == cell.high else cell.high
            if y < np.inf:
                low, high = y if y < low else low, y if y > high else high
            if column.kind == TREE:
                total += node_share(covers.tree, column.first, low, high)
            elif column.whole > 0.0:
                total += (high - low) / column.whole
    return size * total - covers.lost[group]


@jit
def joined_below(partition: Partition, covers: Covers, group: int, row: int, most: float) -> float:
    """What a row adds to the loss of a group that it joins; infinite where that is more than `most`, but for rounding.

    Columns are opened one after the other: most groups are out of the question after a few.
    """
    values, size = covers.values, partition.groups[group].size
    opened = covers.lost[group] / size
    for j in range(len(covers.column)):
        y, column, cell = values[row, j], covers.column[j], covers.cell[group, j]
        if cell.n_missing or np.isnan(y):  # what that opens is left out
            continue
        if column.kind == SET:
            unknown = (cell.once >> np.uint64(np.int64(y) % BITS)) & np.uint64(1) == 0
            opened += (size + 1.0) / (column.whole - 1.0) if unknown and column.whole > 1.0 else 0.0
        elif y < cell.low or y > cell.high:
            low, high = y if y < cell.low else cell.low, y if y > cell.high else cell.high
            if column.kind == TREE:
                before = node_share(covers.tree, column.first, cell.low, cell.high)
                opened += (size + 1.0) * (node_share(covers.tree, column.first, low, high) - before)
            elif column.whole > 0.0:
                opened += (size + 1.0) * (high - low - (cell.high - cell.low)) / column.whole
        if opened > most:
            return np.inf
    return change(partition, covers, group, NOBODY, row)


@jit
def node_share(tree: Any, first: int, low: float, high: float) -> float:
    """Share of the leaves below the lowest node over two of them, hence over all between."""
    left, right = tree[first + np.int64(low)].leaf, tree[first + np.int64(high)].leaf
    while left != right:
        if tree[first + left].depth >= tree[first + right].depth:
            left = tree[first + left].parent
        else:
            right = tree[first + right].parent
    return tree[first + left].share


@jit
def _occurs(partition: Partition, covers: Covers, group: int, j: int, value: float, times: int) -> bool:
    """Whether a value occurs once or twice in a group; a bit says no, or yes where every value has its own."""
    cell, one = covers.cell[group, j], partition.groups[group]
    bits = cell.once if times == 1 else cell.twice
    known = (bits >> np.uint64(np.int64(value) % BITS)) & np.uint64(1) != 0
    if known and covers.column[j].whole > BITS:
        n = 0
        for at in range(one.begin, one.begin + one.size):
            n += covers.values[partition.members[at], j] == value
        known = n >= times
    return known


# -- what is known of a group -----------------------------------------------------------------------------------------


@jit
def error(partition: Partition, covers: Covers, group: int) -> float:  # noqa: ARG001
    """What the cells of a group leave open."""
    return covers.lost[group]  # type: ignore[no-any-return]


@jit
def renew(partition: Partition, covers: Covers, group: int) -> None:
    """Cover a group anew, from its members alone."""
    values, members, one = covers.values, partition.members, partition.groups[group]
    for j in range(len(covers.column)):
        column, cell = covers.column[j], covers.cell[group, j]
        low, lower, high, higher = np.inf, np.inf, -np.inf, -np.inf
        n_missing, n_distinct, once, twice = 0, 0, np.uint64(0), np.uint64(0)
        for at in range(one.begin, one.begin + one.size):
            x = values[members[at], j]
            if np.isnan(x):
                n_missing += 1
            elif column.kind == SET:
                bit = np.uint64(1) << np.uint64(np.int64(x) % BITS)
                known = once & bit != 0
                twice |= once & bit
                if known and column.whole > BITS:
                    known = False
                    for before in range(one.begin, at):
                        known |= values[members[before], j] == x
                once |= bit
                n_distinct += not known
            else:
                if x < low:
                    low, lower = x, low
                elif x < lower:
                    lower = x
                if x > high:
                    high, higher = x, high
                elif x > higher:
                    higher = x
        cell.low, cell.lower, cell.high, cell.higher = low, lower, high, higher
        cell.n_missing, cell.n_distinct, cell.once, cell.twice = n_missing, n_distinct, once, twice
    covers.lost[group] = 0.0
    covers.lost[group] = change(partition, covers, group, NOBODY, NOBODY)
