"""What the generalisation loss of a group becomes when a row leaves it, or joins it, or both.

A column is a run, a tree or a set. Of a run (numbers, ranks) and of a tree (leaves from left to right) a group knows
its two lowest and two highest values, so that one may leave; of a set, which values occur and which occur twice, as
bits: exact up to 64 values, and a question to the members beyond.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.partition import Partition
from shoal.kernels.jit import jit

RUN, TREE, SET = 0.0, 1.0, 2.0
KIND, WHOLE, FIRST = 0, 1, 2
LOW, LOWER, HIGH, HIGHER, GONE = 0, 1, 2, 3, 4
DISTINCT = 0
ONCE, TWICE = 0, 1
LEAF, PARENT, DEPTH = 0, 1, 2
BITS = 64


class Covers(NamedTuple):
    """Values of the rows, and the cells that cover the groups they are in."""

    cells: Any  # float64[n, d]          IN     numbers, ranks, places of leaves, set values from 0 on; NaN = missing
    column: Any  # float64[d, 3]         IN     KIND; WHOLE: what a width, or the values beyond one, are divided by, and
    #                                           how many values a set column has; FIRST node of a tree in `tree`
    facts: Any  # float64[groups, d, 5]  INOUT  LOW, and what is lowest without one of those: LOWER; HIGH and HIGHER
    #                                           alike; how many values are missing: GONE; of a set: how many DISTINCT
    bits: Any  # uint64[groups, d, 2]    INOUT  of a set: values that occur ONCE or more, and TWICE or more
    tree: Any  # int64[nodes, 3]         IN     node of each LEAF place, PARENT and DEPTH of each node, tree after tree
    share: Any  # float64[nodes]         IN     share of the leaves below each node; 0 for a leaf
    loss: Any  # float64[groups]         INOUT  cells left open, summed over rows and columns


@jit
def least_added(partition: Partition, covers: Covers, group: int) -> float:
    """What a further row adds to the loss of a group at least: it is shown as openly as the others are."""
    return covers.loss[group] / partition.size[group]


@jit
def change(partition: Partition, covers: Covers, group: int, out: int, into: int) -> float:
    """By how much the loss of a group changes when the row `out` leaves and `into` joins (-1 for none)."""
    cells, column, facts, bits = covers.cells, covers.column, covers.facts, covers.bits
    members, begin, end = partition.members, partition.begin[group], partition.begin[group] + partition.size[group]
    size = end - begin - (out >= 0) + (into >= 0)
    total = 0.0
    for j in range(len(column)):
        x = cells[out, j] if out >= 0 else np.inf  # nobody: infinite, so that it is neither missing nor an end
        y = cells[into, j] if into >= 0 else np.inf
        gone = facts[group, j, GONE] - np.isnan(x) + np.isnan(y)
        if gone > 0.0:
            total += 1.0 if gone < size else 0.0
        elif column[j, KIND] == SET:
            n = facts[group, j, DISTINCT]
            if x != y:
                n -= x < np.inf and not _occurs(members, begin, end, cells, bits, column[j, WHOLE], group, j, x, TWICE)
                n += y < np.inf and not _occurs(members, begin, end, cells, bits, column[j, WHOLE], group, j, y, ONCE)
            total += (n - 1.0) / (column[j, WHOLE] - 1.0) if n > 1.0 else 0.0
        elif size:
            low = facts[group, j, LOWER] if x == facts[group, j, LOW] else facts[group, j, LOW]
            high = facts[group, j, HIGHER] if x == facts[group, j, HIGH] else facts[group, j, HIGH]
            if y < np.inf:
                low, high = min(low, y), max(high, y)
            if column[j, KIND] == TREE:
                total += _node_share(covers.tree, covers.share, int(column[j, FIRST]), low, high)
            elif column[j, WHOLE] > 0.0:
                total += (high - low) / column[j, WHOLE]
    return size * total - covers.loss[group]


@jit
def _node_share(tree: Any, share: Any, first: int, low: float, high: float) -> float:
    """Share of the leaves below the lowest node over two of them, hence over all between."""
    left, right = tree[first + int(low), LEAF], tree[first + int(high), LEAF]
    while left != right:
        if tree[first + left, DEPTH] >= tree[first + right, DEPTH]:
            left = tree[first + left, PARENT]
        else:
            right = tree[first + right, PARENT]
    return share[first + left]


@jit
def _occurs(
    members: Any, begin: int, end: int, cells: Any, bits: Any, n_values: float, group: int, j: int, value: float,
    times: int,
) -> bool:  # fmt: skip
    """Whether a value occurs in a group ONCE or TWICE; a bit says no, or yes where every value has its own."""
    known = (bits[group, j, times] >> np.uint64(int(value) % BITS)) & np.uint64(1) != 0
    if known and n_values > BITS:
        n = 0
        for at in range(begin, end):
            n += cells[members[at], j] == value
        known = n > times
    return known


# -- what is known of a group -----------------------------------------------------------------------------------------


@jit
def renew(partition: Partition, covers: Covers, group: int) -> None:
    """Cover a group anew, from its members alone."""
    cells, column, facts, bits, members = covers.cells, covers.column, covers.facts, covers.bits, partition.members
    begin, end = partition.begin[group], partition.begin[group] + partition.size[group]
    for j in range(len(column)):
        is_set = column[j, KIND] == SET
        low, lower, high, higher, gone, distinct = np.inf, np.inf, -np.inf, -np.inf, 0.0, 0.0
        once, twice = np.uint64(0), np.uint64(0)
        for at in range(begin, end):
            x = cells[members[at], j]
            if np.isnan(x):
                gone += 1.0
            elif is_set:
                bit = np.uint64(1) << np.uint64(int(x) % BITS)
                known = once & bit != 0
                twice |= once & bit
                if known and column[j, WHOLE] > BITS:
                    known = _is_among(cells, members, begin, at, j, x)
                once |= bit
                distinct += not known
            else:
                lower, low = min(lower, max(low, x)), min(low, x)
                higher, high = max(higher, min(high, x)), max(high, x)
        facts[group, j, LOW], facts[group, j, LOWER] = low, lower
        facts[group, j, HIGH], facts[group, j, HIGHER], facts[group, j, GONE] = high, higher, gone
        if is_set:
            facts[group, j, DISTINCT] = distinct
            bits[group, j, ONCE], bits[group, j, TWICE] = once, twice
    covers.loss[group] = 0.0
    covers.loss[group] = change(partition, covers, group, -1, -1)


@jit
def _is_among(cells: Any, members: Any, begin: int, end: int, j: int, value: float) -> bool:
    found = False
    for at in range(begin, end):
        found |= cells[members[at], j] == value
    return found
