"""r-gather, with and without outliers, step by step from the definition; and the best radius, by trying everything."""

from math import floor, inf

import numpy as np

from shoal import Numeric
from twins.mdav import Axis, distance2, gap, space


def distances2(rows, kinds, standardize=True):
    """Squared distances of all pairs of rows."""
    points, axes = space(rows, kinds)
    if not standardize:
        for j, kind in enumerate(kinds):
            if isinstance(kind, Numeric):
                present = [row[j] for row in rows if row[j] is not None]
                low, span = min(present, default=0), max(present, default=0) - min(present, default=0)
                axes[j] = Axis("number", 1.0, gap(span, 1.0), 1.0)
                for point, row in zip(points, rows, strict=True):
                    point[j] = None if row[j] is None else row[j] - low
    return [[distance2(left, right, axes) for right in points] for left in points]


def squared(table, standardize=True):
    """The same, of a table of `twins.tables`."""
    return distances2(table.rows, list(table.schema.quasi.values()), standardize)


# -- r-gather ---------------------------------------------------------------------------------------------------------


def r_gather(d2, k):
    """Labels and centres."""
    n = len(d2)
    there = sorted({d2[i][j] for i in range(n) for j in range(i)})
    low = max(sorted(row)[k - 1] for row in d2)
    if done := test(d2, k, low):
        return done
    high = max(x for x in there if x <= 4 * low)
    while not (done := test(d2, k, high)):
        low, high = high, max(x for x in there if x <= 4 * high)
    while between := [x for x in there if low < x < high]:
        middle = low + (high - low) / 2
        lower = [x for x in between if x <= middle]
        reach = max(lower) if lower else min(between)
        if found := test(d2, k, reach):
            high, done = reach, found
        else:
            low = reach
    return done


def test(d2, k, reach):
    """Whether every row has k within reach, and centres can be given k each; labels and centres then."""
    n = len(d2)
    if any(sum(x <= reach for x in row) < k for row in d2):
        return None
    centres = []
    for row in range(n):
        if all(d2[row][c] > reach for c in centres):
            centres.append(row)
    near = [[g for g, c in enumerate(centres) if d2[row][c] <= reach] for row in range(n)]
    if not all_filled(near, len(centres), k):
        return None
    labels = [min(range(len(centres)), key=lambda g: (d2[row][centres[g]], g)) for row in range(n)]
    for row, g in given(near, len(centres), k):
        labels[row] = g
    return labels, centres


def all_filled(near, n_centres, k):
    """Whether each centre can have k rows of its own, by one augmenting path after the other."""
    owner = {}

    def take(g, seen):
        for row, reached_by in enumerate(near):
            if g in reached_by and row not in seen:
                seen.add(row)
                if row not in owner or take(owner[row], seen):
                    owner[row] = g
                    return True
        return False

    return all(take(g, set()) for g in range(n_centres) for _ in range(k))


def given(near, n_centres, k):
    """Shared rows, and the centres with too few of their own that the library's flow gives them to."""
    own = [sum(reached_by == [g] for reached_by in near) for g in range(n_centres)]
    short = [g for g in range(n_centres) if own[g] < k]
    shared = [row for row, reached_by in enumerate(near) if len(reached_by) > 1 and set(reached_by) & set(short)]
    if not short:
        return []
    sink = 1 + len(short) + len(shared)
    network = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    for i, g in enumerate(short, 1):
        network[0, i] = k - own[g]
        for j, row in enumerate(shared, 1 + len(short)):
            network[i, j] = g in near[row]
    network[1 + len(short) : sink, sink] = 1
    from scipy.sparse import csr_array  # slow to load
    from scipy.sparse.csgraph import maximum_flow

    flow = maximum_flow(csr_array(network), 0, sink).flow.toarray()
    return [(row, g) for i, g in enumerate(short, 1) for j, row in enumerate(shared, 1 + len(short)) if flow[i, j] > 0]


# -- with outliers ----------------------------------------------------------------------------------------------------


def with_outliers(d2, k, epsilon):
    """Labels and centres; at most floor(epsilon n) rows in no group."""
    n = len(d2)
    n_outliers = floor(epsilon * n)
    if n_outliers == 0:
        return r_gather(d2, k)
    kth = [sorted(row)[k - 1] for row in d2]
    for reach in sorted({x for row in d2 for x in row}):
        dense = [row for row in range(n) if kth[row] <= reach]
        if len(dense) >= n - n_outliers:
            break
    labels, centres = [-1] * n, []
    for row in dense:
        around = [other for other in range(n) if labels[other] < 0 and d2[row][other] <= reach]
        if labels[row] < 0 and len(around) >= k:
            for other in around:
                labels[other] = len(centres)
            centres.append(row)
    for row in dense:
        if labels[row] < 0:
            labels[row] = min(range(len(centres)), key=lambda g: (d2[row][centres[g]], g))
    return labels, centres


# -- all partitions ---------------------------------------------------------------------------------------------------


def least(n, k, cost, join, n_outliers=0):
    """The least joined cost of groups of k or more, over all partitions of all but so many rows."""
    costs = [cost(members(group)) if group.bit_count() >= k else inf for group in range(1 << n)]
    best = [0] + [inf] * ((1 << n) - 1)
    for rows in range(1, 1 << n):
        lowest, group = rows & -rows, rows
        while group:
            if group & lowest and costs[group] < inf:
                best[rows] = min(best[rows], join(costs[group], best[rows ^ group]))
            group = (group - 1) & rows
    return min(best[rows] for rows in range(1, 1 << n) if rows.bit_count() >= n - n_outliers)


def members(group):
    """Rows of a group given as bits."""
    return [row for row in range(group.bit_length()) if group >> row & 1]


def radius2(d2, group):
    """Squared radius of a group around the best of all rows."""
    return min(max(line[row] for row in group) for line in d2)


def least_radius2(d2, k, n_outliers=0):
    """The least largest squared radius of any partition, whatever the centres."""
    return least(len(d2), k, lambda group: radius2(d2, group), max, n_outliers)
