"""Microaggregation, step by step from the papers: MDAV, CBFS, V-MDAV, DBA, TFRP, and the best cut of one column."""

from dataclasses import dataclass
from itertools import combinations
from math import frexp, fsum, inf, ldexp, sqrt

import numpy as np

from shoal import Nominal, Ordinal

# -- points -----------------------------------------------------------------------------------------------------------


@dataclass
class Axis:
    """One column: how its differences count, and on which grid its numbers are summed."""

    kind: str
    weight: float
    gap: float
    grid: float


def space(rows, kinds):
    """Rows as points, and the axes; missing stays None."""
    grid = 2.0 ** min(52, 62 - len(rows).bit_length())
    columns, axes = [], []
    for kind, column in zip(kinds, zip(*rows, strict=True), strict=True):
        if isinstance(kind, Nominal):
            leaves = list(kind.hierarchy.leaves)
            columns.append([len(leaves) if x is None else leaves.index(x) for x in column])  # missing: one more name
            axes.append(Axis("name", 1.0, 1.0, grid))
        elif isinstance(kind, Ordinal):
            size = len(kind.order)
            columns.append(list(column))
            axes.append(Axis("order", 1 / size**2, gap(size - 1, 1 / size**2), grid))
        else:
            values, axis = number_axis(column, grid)
            columns.append(values)
            axes.append(axis)
    return [list(point) for point in zip(*columns, strict=True)], axes


def number_axis(column, grid):
    """Numbers from the smallest on, in units of a power of two, and what divides them by their standard deviation."""
    present = [x for x in column if x is not None]
    if not present or min(present) == max(present):
        return [None if x is None else 0.0 for x in column], Axis("number", 0.0, 1.0, grid)
    power = frexp(max(present) - min(present))[1]
    values = [None if x is None else ldexp(x - min(present), -power) for x in column]
    here = [x for x in values if x is not None]
    middle = mean(here, grid)
    weight = 1 / (fsum((x - middle) * (x - middle) for x in here) / len(here))
    return values, Axis("number", weight, gap(max(here), weight), grid)


def gap(span, weight):
    """Squared distance of missing and present: the largest of the column, or 1 if the column has but one value."""
    return span * span * weight if span else 1.0


def mean(numbers, grid):
    """Mean by an exact sum of whole numbers."""
    return float(sum(round(x * grid) for x in numbers)) / len(numbers) / grid


def distance2(left, right, axes):
    """Squared distance of two points."""
    total = 0.0
    for x, y, axis in zip(left, right, axes, strict=True):
        if axis.kind == "name":
            total += float(x != y)
        elif x is None or y is None:
            total += 0.0 if x is y else axis.gap
        else:
            total += (x - y) * (x - y) * axis.weight
    return total


def average(points, axes):
    """Mean, lower median or mode of every column; missing where more than half of the points are."""
    record = []
    for column, axis in zip(zip(*points, strict=True), axes, strict=True):
        present = sorted(x for x in column if x is not None)
        if axis.kind == "name":
            record.append(max(present, key=lambda x: (present.count(x), -x)))
        elif 2 * (len(column) - len(present)) > len(column):
            record.append(None)
        elif axis.kind == "number":
            record.append(mean(present, axis.grid))
        else:
            record.append(next(c for c in present if 2 * sum(x <= c for x in present) >= len(present)))
    return record


def average_of(group, points, axes):
    """Average record of the rows of a group."""
    return average([points[row] for row in group], axes)


def error(group, points, axes):
    """Squared error of a group around its average, in row order."""
    centre = average_of(group, points, axes)
    total = 0.0
    for row in sorted(group):
        total += distance2(points[row], centre, axes)
    return total


# -- questions --------------------------------------------------------------------------------------------------------


def farthest(rest, point, points, axes):
    """The row farthest from a point, the lowest of those that tie."""
    return max(rest, key=lambda row: (distance2(points[row], point, axes), -row))


def nearest(rest, point, points, axes):
    """The row nearest to a point, the lowest of those that tie."""
    return min(rest, key=lambda row: (distance2(points[row], point, axes), row))


def with_nearest(row, rest, k, points, axes):
    """A row and its k - 1 nearest."""
    others = sorted((other for other in rest if other != row), key=lambda other: order(other, row, points, axes))
    return [row, *others[: k - 1]]


def order(other, row, points, axes):
    """What neighbours are sorted by."""
    return distance2(points[other], points[row], axes), other


def without(rest, group):
    """What is left."""
    return [row for row in rest if row not in group]


def nearest_group(row, groups, points, axes, among=None):
    """Number of the group with the nearest average, the lowest of those that tie."""
    numbers = range(len(groups)) if among is None else among
    return min(numbers, key=lambda g: (distance2(points[row], average_of(groups[g], points, axes), axes), g))


def join_frozen(rest, groups, points, axes):
    """Send rows to the nearest groups as they were before the first one joined."""
    targets = [nearest_group(row, groups, points, axes) for row in rest]
    for row, target in zip(rest, targets, strict=True):
        groups[target].append(row)


def labels_of(groups, n):
    """A label per row."""
    return [next(label for label, group in enumerate(groups) if row in group) for row in range(n)]


# -- methods ----------------------------------------------------------------------------------------------------------


def mdav(rows, kinds, k, leftover="generic"):
    """MDAV-generic, or with leftovers assigned."""
    points, axes = space(rows, kinds)
    everyone = list(range(len(rows)))
    groups = (
        mdav_generic(everyone, k, points, axes) if leftover == "generic" else mdav_assign(everyone, k, points, axes)
    )
    return labels_of(groups, len(rows))


def two_groups(rest, k, points, axes):
    """One round of MDAV."""
    r = farthest(rest, average_of(rest, points, axes), points, axes)
    first = with_nearest(r, rest, k, points, axes)
    rest = without(rest, first)
    s = farthest(rest, points[r], points, axes)
    second = with_nearest(s, rest, k, points, axes)
    return [first, second], without(rest, second)


def mdav_generic(rest, k, points, axes):
    """Rounds while 3k rows are left; then k and the rest."""
    groups = []
    while len(rest) >= 3 * k:
        pair, rest = two_groups(rest, k, points, axes)
        groups += pair
    if len(rest) >= 2 * k:
        r = farthest(rest, average_of(rest, points, axes), points, axes)
        groups.append(with_nearest(r, rest, k, points, axes))
        rest = without(rest, groups[-1])
    return [*groups, rest]


def mdav_assign(rest, k, points, axes):
    """Rounds while 2k rows are left; then one group, or leftovers to the nearest."""
    groups = []
    while len(rest) >= 2 * k:
        pair, rest = two_groups(rest, k, points, axes)
        groups += pair
    if len(rest) >= k:
        return [*groups, rest]
    join_frozen(rest, groups, points, axes)
    return groups


def cbfs(rows, kinds, k):
    """One group at a time around the farthest from the average."""
    points, axes = space(rows, kinds)
    rest, groups = list(range(len(rows))), []
    while len(rest) >= 2 * k:
        r = farthest(rest, average_of(rest, points, axes), points, axes)
        groups.append(with_nearest(r, rest, k, points, axes))
        rest = without(rest, groups[-1])
    return labels_of([*groups, rest], len(rows))


def v_mdav(rows, kinds, k, gamma=0.2):
    """Groups that grow; the centroid is that of the whole table."""
    points, axes = space(rows, kinds)
    rest, groups = list(range(len(rows))), []
    centroid = average(points, axes)
    while len(rest) >= k:
        group = with_nearest(farthest(rest, centroid, points, axes), rest, k, points, axes)
        rest = without(rest, group)
        while len(group) < 2 * k - 1 and rest:
            d_in, u = min((distance2(points[row], points[member], axes), row) for row in rest for member in group)
            others = without(rest, [u])
            d_out = min((sqrt(distance2(points[u], points[other], axes)) for other in others), default=inf)
            if gamma == 0 or not sqrt(d_in) < gamma * d_out:
                break
            group.append(u)
            rest = others
        groups.append(group)
    join_frozen(rest, groups, points, axes)
    return labels_of(groups, len(rows))


def dba(rows, kinds, k, variant=2):
    """Densest neighbourhoods; variant 2 dissolves and splits."""
    points, axes = space(rows, kinds)
    rest, groups = list(range(len(rows))), []
    while len(rest) >= k:
        hoods = {row: with_nearest(row, rest, k, points, axes) for row in rest}
        densest = min(rest, key=lambda row: (error(hoods[row], points, axes), row))
        groups.append(hoods[densest])
        rest = without(rest, groups[-1])
    for row in rest:
        groups[nearest_group(row, groups, points, axes)].append(row)
    if variant == 2:
        for g in reversed(range(len(groups))):
            dissolve(groups, g, points, axes)
        groups = [group for group in groups if group]
        for g in range(len(groups)):
            if len(groups[g]) >= 2 * k:
                groups[g], *more = mdav_assign(sorted(groups[g]), k, points, axes)
                groups += more
    return labels_of(groups, len(rows))


def dissolve(groups, g, points, axes):
    """Send the members of a group to the nearest other ones, if the total squared error falls by it."""
    others = [other for other in range(len(groups)) if other != g and groups[other]]
    if not others:
        return
    targets = {row: nearest_group(row, groups, points, axes, others) for row in groups[g]}
    after = {t: groups[t] + [row for row in targets if targets[row] == t] for t in set(targets.values())}
    old = fsum([error(groups[g], points, axes), *(error(groups[t], points, axes) for t in after)])
    if fsum(error(group, points, axes) for group in after.values()) < old:
        groups[g] = []
        for t, group in after.items():
            groups[t] = group


def tfrp(rows, kinds, k, variant=2):
    """Farthest from the smallest and from the largest values, in turn; variant 2 dissolves."""
    points, axes = space(rows, kinds)
    present = [[x for x in column if x is not None] for column in zip(*points, strict=True)]
    corners = [[min(column, default=None) for column in present], [max(column, default=None) for column in present]]
    rest, groups = list(range(len(rows))), []
    while len(rest) >= k:
        r = farthest(rest, corners[len(groups) % 2], points, axes)
        groups.append(with_nearest(r, rest, k, points, axes))
        rest = without(rest, groups[-1])
    join_frozen(rest, groups, points, axes)
    if variant == 2:
        errors = [error(group, points, axes) for group in groups]
        for g in sorted(range(len(groups)), key=lambda g: (-errors[g], g)):
            dissolve(groups, g, points, axes)
    return labels_of([group for group in groups if group], len(rows))


# -- one column -------------------------------------------------------------------------------------------------------


def squared_error(values):
    """Squared error of numbers around their mean."""
    middle = fsum(values) / len(values)
    return fsum((x - middle) ** 2 for x in values)


def least_error(values, k):
    """Least squared error of any partition into groups of at least k, by trying them all."""
    if not values:
        return 0.0
    best = inf
    first, *others = values
    for size in range(k - 1, len(others) + 1):
        for chosen in combinations(range(len(others)), size):
            left = [x for place, x in enumerate(others) if place not in chosen]
            if left and len(left) < k:
                continue
            own = squared_error([first, *(others[place] for place in chosen)])
            if own < best:
                best = min(best, own + least_error(left, k))
    return best


def error_percent(frame, labels):
    """Squared error within groups, in percent of the whole, on standardised columns."""
    x = frame.to_numpy().astype(float)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    groups = [z[np.asarray(labels) == group] for group in set(labels)]
    within = sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups)
    return 100 * within / (z**2).sum()
