"""Groups that move: how far a row is from a centroid, and centroids that follow their members as these come in.

The centroid of a line (numbers and ranks) is the mean of the present values, from exact whole-number sums, so that it
depends neither on the order of the rows nor on rounding on the way. That of a tree is the most frequent value, or the
lowest common node. A missing value is at distance 1 from a present one and 0 from another. Distances are summed lines
first, then trees, in the order of the columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.cluster.trees import meet
from shoal.kernels.jit import jit


class Ruler(NamedTuple):
    """How far a row is from a centroid."""

    scale: Any  # float64[lines]     IN  factor of each line
    spans: Any  # float64[lines]     IN  what a difference is divided by; never 0
    holes: Any  # bool[lines]        IN  whether a line has missing values
    squared: Any  # bool             IN  whether differences are squared
    start: Any  # int64[trees + 1]   IN  where each tree begins
    size: Any  # int64[trees]        IN  nodes of each tree
    parent: Any  # int32[nodes]      IN
    depth: Any  # int32[nodes]       IN
    share: Any  # float64[nodes]     IN  distance of two nodes that meet here
    table: Any  # float64[all]       INOUT  distance of every pair of nodes, for trees that are not too large
    table_at: Any  # int64[trees]    IN  where the pairs of each tree begin; -1: too large, walk up instead


class CentroidGroups(NamedTuple):
    """Centroids, and what is needed to move them when a row comes in."""

    centre: Any  # float64[lines, K] INOUT  NaN = missing
    node: Any  # int32[trees, K]     INOUT
    size: Any  # int64[K]            INOUT
    total: Any  # int64[lines, K]    INOUT  sums of the numbers, in units of the grid
    square: Any  # int64[lines, K]   INOUT  sums of their squares, in units of the grid
    present: Any  # int64[lines, K]  INOUT  how many are not missing
    head: Any  # int64[trees, K]     INOUT  first entry of the values of each group; -1: none
    entry_node: Any  # int32[e]      INOUT  entries: a value,
    entry_count: Any  # int64[e]     INOUT  how many members have it,
    entry_row: Any  # int64[e]       INOUT  the lowest of their rows,
    entry_next: Any  # int64[e]      INOUT  and the next entry of the group
    used: Any  # int64[1]            INOUT  how many entries there are
    grid: Any  # float64[1]          IN  numbers are summed as whole multiples of 1 / grid
    lca: Any  # bool                 IN  whether trees meet in the lowest common node instead of the mode


@jit
def line_term(ruler: Ruler, j: int, x: float, c: float) -> float:
    """Distance of a number to a centre."""
    if np.isnan(x) or np.isnan(c):
        return 0.0 if np.isnan(x) and np.isnan(c) else ruler.scale[j]
    t = abs(x - c) / ruler.spans[j]
    return ruler.scale[j] * (t * t if ruler.squared else t)


@jit
def tree_term(ruler: Ruler, t: int, value: int, node: int) -> float:
    """Distance of two nodes of one tree."""
    begin, end = ruler.start[t], ruler.start[t + 1]
    if ruler.table_at[t] >= 0:
        return ruler.table[ruler.table_at[t] + value * (end - begin) + node]
    return ruler.share[begin + meet(ruler.parent[begin:end], ruler.depth[begin:end], value, node)]


@jit
def fill_tables(ruler: Ruler) -> None:
    """Write down the distance of every pair of nodes."""
    for t in range(len(ruler.table_at)):
        begin, end, at = ruler.start[t], ruler.start[t + 1], ruler.table_at[t]
        size = end - begin
        if at >= 0:
            for a in range(size):
                for b in range(size):
                    common = meet(ruler.parent[begin:end], ruler.depth[begin:end], a, b)
                    ruler.table[at + a * size + b] = ruler.share[begin + common]


@jit
def distance(ruler: Ruler, lines: Any, codes: Any, groups: CentroidGroups, c: int) -> float:
    """Distance of a row to the centroid of a group.

    IN  lines float64[lines];  codes int32[trees]
    """
    d = 0.0
    for j in range(len(lines)):
        d += line_term(ruler, j, lines[j], groups.centre[j, c])
    for t in range(len(codes)):
        d += tree_term(ruler, t, codes[t], groups.node[t, c])
    return d


@jit
def own_distances(ruler: Ruler, lines: Any, codes: Any, groups: CentroidGroups, labels: Any, out: Any) -> None:
    """Distance of every row to the centroid of its group.

    IN   lines float64[n, lines];  codes int32[n, trees];  labels int64[n]
    OUT  out float64[n]
    """
    for row in range(len(labels)):
        out[row] = distance(ruler, lines[row], codes[row], groups, labels[row])


# -- members ----------------------------------------------------------------------------------------------------------


@jit
def empty(groups: CentroidGroups) -> None:
    """Take all members out; the centroids stay where they are until somebody comes in."""
    groups.size[:] = 0
    groups.total[:] = 0
    groups.square[:] = 0
    groups.present[:] = 0
    groups.head[:] = -1
    groups.used[0] = 0


@jit
def join(ruler: Ruler, groups: CentroidGroups, lines: Any, codes: Any, row: int, c: int) -> None:
    """Let a row into a group, whose centroid follows.

    IN  lines float64[n, lines];  codes int32[n, trees]
    """
    _add(groups.total, groups.square, groups.present, groups.grid[0], lines, row, c)
    groups.size[c] += 1
    for j in range(lines.shape[1]):
        groups.centre[j, c] = centre_of(ruler, groups, j, c)
    if groups.lca:
        _generalise(ruler, groups, codes, row, c)
    else:
        _count_values(groups, codes, row, c)


@jit
def join_all(ruler: Ruler, groups: CentroidGroups, lines: Any, codes: Any, labels: Any) -> None:
    """Fill the groups anew; rows with label -1 are in none.

    IN  lines float64[n, lines];  codes int32[n, trees];  labels int64[n]
    """
    empty(groups)
    for row in range(len(labels)):
        if labels[row] >= 0:
            _add(groups.total, groups.square, groups.present, groups.grid[0], lines, row, labels[row])
            groups.size[labels[row]] += 1
            if groups.lca:
                _generalise(ruler, groups, codes, row, labels[row])
            else:
                _count_values(groups, codes, row, labels[row])
    for c in range(len(groups.size)):
        if groups.size[c] > 0:
            for j in range(lines.shape[1]):
                groups.centre[j, c] = centre_of(ruler, groups, j, c)


@jit
def _add(total: Any, square: Any, present: Any, grid: float, lines: Any, row: int, c: int) -> None:
    """Add the numbers of a row to the sums of a group."""
    for j in range(lines.shape[1]):
        x = lines[row, j]
        if not np.isnan(x):
            present[j, c] += 1
            total[j, c] += np.int64(np.rint(x * grid))
            square[j, c] += np.int64(np.rint(x * x * grid))


@jit
def _generalise(ruler: Ruler, groups: CentroidGroups, codes: Any, row: int, c: int) -> None:
    """Let the nodes of a group cover a member who is counted already."""
    for t in range(codes.shape[1]):
        begin, end = ruler.start[t], ruler.start[t + 1]
        node = codes[row, t] if groups.size[c] == 1 else groups.node[t, c]
        groups.node[t, c] = meet(ruler.parent[begin:end], ruler.depth[begin:end], codes[row, t], node)


@jit
def centre_of(ruler: Ruler, groups: CentroidGroups, j: int, c: int) -> float:
    """Mean of the present values; missing where more than half are, or, with squares, where that costs less."""
    present, size = groups.present[j, c], groups.size[c]
    if present == 0:
        return np.nan
    mean = mean_of(groups.total[j, c], present, groups.grid[0])
    if not ruler.squared:
        return np.nan if 2 * (size - present) > size else mean
    if present == size:
        return mean
    spread = np.float64(groups.square[j, c]) / groups.grid[0] - mean * mean * present
    around = spread / (ruler.spans[j] * ruler.spans[j]) + (size - present)
    return np.nan if present < around else mean


@jit
def mean_of(total: Any, n: int, grid: float) -> float:
    """Mean of numbers summed on the grid; that of equal numbers is exactly the number."""
    return (np.float64(total // n) + np.float64(total % n) / np.float64(n)) / grid


@jit
def _count_values(groups: CentroidGroups, codes: Any, row: int, c: int) -> None:
    """Note the values of a member; the most frequent one leads, of those that tie the one met in the lowest row."""
    names, following, counts, first = groups.entry_node, groups.entry_next, groups.entry_count, groups.entry_row
    for t in range(codes.shape[1]):
        value, leader = codes[row, t], groups.node[t, c]
        mine, leading, entry = -1, -1, groups.head[t, c]
        while entry >= 0:
            if names[entry] == value:
                mine = entry
            if names[entry] == leader:
                leading = entry
            entry = following[entry]
        if mine < 0:
            mine = groups.used[0]
            groups.used[0] += 1
            names[mine], counts[mine], first[mine] = value, 0, row
            following[mine], groups.head[t, c] = groups.head[t, c], mine
        counts[mine] += 1
        first[mine] = min(first[mine], row)
        if leading < 0 or leads(counts, first, mine, leading):
            groups.node[t, c] = value


@jit
def leads(count: Any, row: Any, one: int, other: int) -> bool:
    """Whether one entry comes before another: more members, or as many and met in a lower row.

    IN  count, row  int64[entries]
    """
    return count[one] > count[other] or (count[one] == count[other] and row[one] < row[other])


# -- how good a partition is ------------------------------------------------------------------------------------------


@jit
def square_error(
    numbers: Any, weight: Any, gap: Any, grid: float, names: Any, n_names: int, order: Any, first: Any
) -> float:
    """Squared error inside groups: standardised numbers around their mean, and names other than the most frequent.

    IN  numbers float64[numeric, n];  weight, gap float64[numeric];  names int64[categorical, n], below n_names
        order int64[n], rows by group, each group's in row order;  first int64[K + 1], where each group begins
    """
    counts = np.zeros(n_names, dtype=np.int64)
    total = 0.0
    for c in range(len(first) - 1):
        rows = order[first[c] : first[c + 1]]
        error = 0.0
        for j in range(len(numbers)):
            error += _number_error(numbers[j], rows, weight[j], gap[j], grid)
        for t in range(len(names)):
            error += _mismatches(names[t], rows, counts)
        total += error
    return total


@jit
def _number_error(column: Any, rows: Any, weight: float, gap: float, grid: float) -> float:
    present, total = 0, np.int64(0)
    for row in rows:
        if not np.isnan(column[row]):
            present += 1
            total += np.int64(np.rint(column[row] * grid))
    gone = 2 * (len(rows) - present) > len(rows)
    mean = np.nan if gone or present == 0 else mean_of(total, present, grid)
    error = 0.0
    for row in rows:
        t = column[row] - mean
        if not np.isnan(t):
            error += t * t * weight
        elif np.isnan(column[row]) != gone:
            error += gap
    return error


@jit
def _mismatches(column: Any, rows: Any, counts: Any) -> int:
    most = 0
    for row in rows:
        counts[column[row]] += 1
        most = max(most, counts[column[row]])
    for row in rows:
        counts[column[row]] = 0
    return len(rows) - most
