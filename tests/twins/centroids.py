"""OKA, k-means with groups of k, and weighted C-means, step by step from the papers.

A centroid is a list with one entry per column: a number, a node, None where it is missing, or `TOP` where missing and
present values meet.
"""

from functools import cache
from math import frexp, fsum, inf, ldexp

from shoal import Numeric
from twins.trees import climb, leaves_below, meet

TOP = object()


# -- rows -------------------------------------------------------------------------------------------------------------


def laid_out(rows, columns):
    """Numbers from the smallest on, in units of a power of two, on a grid; spans likewise, and that grid."""
    grid = 2.0 ** min(52, 62 - len(rows).bit_length())
    lines, measures = [], []
    for (sort, measure), values in zip(columns, zip(*rows, strict=True), strict=True):
        present = [x for x in values if x is not None]
        if sort == "line" and present:
            power = frexp(float(max(present) - min(present)))[1]
            lines.append(
                [None if x is None else round(ldexp(float(x - min(present)), -power) * grid) / grid for x in values]
            )
            measures.append((sort, ldexp(float(measure), -power)))
        else:
            lines.append(list(values))
            measures.append((sort, measure))
    return [list(row) for row in zip(*lines, strict=True)], measures, grid


@cache
def height(tree, node):
    """Edges from a node down to its deepest leaf."""
    return max(climb(tree, leaf, node) for leaf in leaves_below(tree, node))


@cache
def apart(tree, value, node):
    """H(LCA) / H(T)."""
    whole = height(tree, tree.root)
    return height(tree, meet(tree, [value, node])) / whole if whole else 0.0


def difference(column, x, c, *, squared=False):
    """How far a value is from a centroid, in one column."""
    sort, measure = column
    if c is TOP or (x is None) != (c is None):
        return 1.0
    if x is None:
        return 0.0
    if sort == "tree":
        return float(x != c) if squared else apart(measure, x, c)
    share = abs(x - c) / measure if measure else 0.0
    return share * share if squared else share


def lines_first(columns):
    """Column numbers in the order in which distances are summed."""
    return sorted(range(len(columns)), key=lambda j: columns[j][0] != "line")


def distance(row, centroid, columns, factors=None, *, squared=False):
    """Distance of a row to a centroid."""
    total = 0.0
    for j in lines_first(columns):
        factor = 1.0 if factors is None else factors[j]
        total += factor * difference(columns[j], row[j], centroid[j], squared=squared)
    return total


def nearest(row, centroids, columns, allowed, **how):
    """The cluster with the nearest centroid, the lowest number of those that tie."""
    return min(allowed, key=lambda c: (distance(row, centroids[c], columns, **how), c))


# -- centroids --------------------------------------------------------------------------------------------------------


def mean(numbers, grid):
    """Mean by an exact sum of whole numbers."""
    whole, rest = divmod(sum(round(x * grid) for x in numbers), len(numbers))
    return (whole + rest / len(numbers)) / grid


def mode(values):
    """The most frequent value, of those that tie the one met first."""
    return max(values, key=lambda value: (values.count(value), -values.index(value)))


def common(tree, values):
    """The lowest common node; missing values meet present ones at the top."""
    if all(value is None for value in values):
        return None
    return TOP if None in values else meet(tree, values)


def centroid_of(members, rows, columns, grid, how):
    """Mean, and mode or lowest common node."""
    centroid = []
    for j, (sort, measure) in enumerate(columns):
        values = [rows[row][j] for row in sorted(members)]
        present = [x for x in values if x is not None]
        if sort == "line":
            gone = 2 * (len(values) - len(present)) > len(values)
            centroid.append(None if gone or not present else mean(present, grid))
        else:
            centroid.append(mode(values) if how == "mode" else common(measure, values))
    return centroid


class Clusters:
    """Who is in which cluster, and where the centroids are; an empty cluster stays where it was."""

    def __init__(self, rows, columns, seeds, how):
        self.rows, self.columns, self.grid = laid_out(rows, columns)
        self.how = how
        self.members = [[seed] for seed in seeds]
        self.centroids = [None] * len(seeds)
        self.move()

    def move(self):
        for c in range(len(self.members)):
            self.move_one(c)

    def move_one(self, c):
        if self.members[c]:
            self.centroids[c] = centroid_of(self.members[c], self.rows, self.columns, self.grid, self.how)

    def nearest(self, row, allowed=None):
        allowed = range(len(self.members)) if allowed is None else allowed
        return nearest(self.rows[row], self.centroids, self.columns, allowed)

    def clear(self):
        self.members = [[] for _ in self.members]

    def labels(self):
        label = {row: c for c, rows in enumerate(self.members) for row in rows}
        return [label[row] for row in range(len(self.rows))]

    def adjust(self, k, order=None):
        """Farthest records beyond k go to R; from there to the nearest cluster below k, or of all."""
        freed = []
        for c, members in enumerate(self.members):
            far = sorted(members, key=lambda r: (-distance(self.rows[r], self.centroids[c], self.columns), r))
            freed += far[: max(len(members) - k, 0)]
            self.members[c] = far[max(len(members) - k, 0) :]
        self.move()
        for row in freed if order is None else sorted(freed, key=lambda row: order[row]):
            below = [c for c, members in enumerate(self.members) if len(members) < k]
            c = self.nearest(row, below or None)
            self.members[c].append(row)
            self.move_one(c)


# -- methods ----------------------------------------------------------------------------------------------------------


def oka(rows, columns, k, seeds, centroid="lca", scan=None, order=None):
    """One pass, then the adjustment; `scan` says in which order records are met, `order` how freed ones are ranked."""
    clusters = Clusters(rows, columns, seeds, centroid)
    for row in range(len(rows)) if scan is None else scan:
        if row not in seeds:
            c = clusters.nearest(row)
            clusters.members[c].append(row)
            clusters.move_one(c)
    clusters.adjust(k, order)
    return clusters.labels()


def sorted_scan(rows, columns):
    """Rows by their values: numbers by size, leaves from left to right, missing ones last."""

    def key(row):
        ranks = []
        for x, (sort, measure) in zip(rows[row], columns, strict=True):
            rank = inf if x is None else x if sort == "line" else list(measure.leaves).index(x)
            ranks.append(rank)
        return (*ranks, row)

    return sorted(range(len(rows)), key=key)


def k_means(rows, columns, kinds, k, seeds, variant=1, centroid="mode", max_iter=50, order=None):
    """Labels, number of assignments, and whether the centroids came to rest."""
    clusters = Clusters(rows, columns, seeds, centroid)
    best, least, seen, n_iter, converged = None, inf, [], 0, False
    while n_iter < max_iter and not converged:
        before = list(clusters.centroids)
        clusters.clear()
        for row in range(len(rows)):
            below = [c for c, members in enumerate(clusters.members) if len(members) < k]
            c = clusters.nearest(row, (below or None) if variant == 2 else None)
            clusters.members[c].append(row)
        if variant == 1:
            clusters.adjust(k, order)
        clusters.move()
        n_iter += 1
        converged = clusters.centroids == before
        labels = clusters.labels()
        if variant != 3 and square_error(rows, kinds, labels) < least:
            best, least = labels, square_error(rows, kinds, labels)
        if labels in seen:
            break
        seen.append(labels)
    if variant == 3:
        clusters.adjust(k, order)
        best = clusters.labels()
    return best, n_iter, converged


def square_error(rows, kinds, labels):
    """E: squared differences of standardised numbers to their mean, and values other than the mode."""
    values, _, grid = laid_out(rows, [("line" if isinstance(kind, Numeric) else "tree", 0) for kind in kinds])
    scales = [scale([row[j] for row in values]) for j in range(len(kinds))]
    total = 0.0
    for c in range(max(labels) + 1):
        members = [row for row, label in zip(values, labels, strict=True) if label == c]
        error = 0.0
        for numeric in (True, False):
            for j, kind in enumerate(kinds):
                if isinstance(kind, Numeric) == numeric:
                    column = [row[j] for row in members]
                    error += spread(column, *scales[j], grid) if numeric else float(mismatches(column))
        total += error
    return total


def scale(column):
    """One over the variance of the numbers, and the largest squared difference in that unit."""
    present = [x for x in column if x is not None]
    if not present or not isinstance(present[0], float) or max(present) == 0:
        return 0.0, 1.0
    middle = fsum(present) / len(present)
    variance = fsum((x - middle) * (x - middle) for x in present) / len(present)
    return 1 / variance, max(present) * max(present) / variance


def spread(column, weight, gap, grid):
    """Squared error of one column of one cluster; a missing value is as far from any number as numbers can be."""
    present = [x for x in column if x is not None]
    if 2 * (len(column) - len(present)) > len(column):
        return sum([gap] * len(present), 0.0)
    middle = mean(present, grid) if present else None
    total = 0.0
    for x in column:
        total += gap if x is None else (x - middle) * (x - middle) * weight
    return total


def mismatches(column):
    """How many values differ from the mode."""
    return len(column) - max((column.count(value) for value in column), default=0)


# -- weighted C-means -------------------------------------------------------------------------------------------------


def c_means(rows, columns, k, seeds, beta=2.0, weights=None, max_iter=50, trace=None):
    """Labels and final weights; `trace` is told the objective after every step until the merge."""
    rows, columns, grid = laid_out(rows, columns)
    weights = [1.0] * len(columns) if weights is None else weights
    weights = [weight / sum(weights) for weight in weights]
    centres, labels = [list(rows[seed]) for seed in seeds], None

    def note():
        if trace is not None:
            terms = zip(weights, dispersions(rows, columns, centres, labels), strict=True)
            trace(sum(weight**beta * one for weight, one in terms))

    for _ in range(max_iter):
        factors = [weight**beta for weight in weights]
        everyone = range(len(centres))
        before = labels
        labels = [nearest(row, centres, columns, everyone, factors=factors, squared=True) for row in rows]
        if labels == before:
            break
        note()
        for c in everyone:
            members = [row for row, label in zip(rows, labels, strict=True) if label == c]
            centres[c] = centre_of(members, columns, grid) or centres[c]
        note()
        weights = weights_of(dispersions(rows, columns, centres, labels), beta)
        note()
    return merge_small(rows, columns, grid, k, centres, labels, [weight**beta for weight in weights]), weights


def centre_of(members, columns, grid):
    """Mean and mode; a missing mean where that leaves a smaller sum of squared differences."""
    centre = []
    for j, (sort, span) in enumerate(columns):
        values = [row[j] for row in members]
        present = [x for x in values if x is not None]
        if sort == "tree":
            centre.append(mode(values) if values else None)
        elif not present:
            centre.append(None)
        else:
            middle, gone = mean(present, grid), len(values) - len(present)
            around = float(sum(round(x * x * grid) for x in present)) / grid - middle * middle * len(present)
            around = around / ((span or 1.0) * (span or 1.0)) + gone
            centre.append(None if gone and len(present) < around else middle)
    return centre if members else None


def dispersions(rows, columns, centres, labels):
    """D_j: how much each column varies inside clusters."""
    totals = [0.0] * len(columns)
    for row, label in zip(rows, labels, strict=True):
        for j, column in enumerate(columns):
            totals[j] += difference(column, row[j], centres[label][j], squared=True)
    return totals


def weights_of(spreads, beta):
    """w_j = 1 / sum_t (D_j / D_t)^(1 / (beta - 1)), each as a share of the largest."""
    spreads = [max(one, 1e-12) for one in spreads]
    shares = [(min(spreads) / one) ** (1 / (beta - 1)) for one in spreads]
    return [share / sum(shares) for share in shares]


def merge_small(rows, columns, grid, k, centres, labels, factors):
    """The smallest cluster below k goes into the one with the nearest centre, as often as needed."""
    members = {c: [row for row, label in enumerate(labels) if label == c] for c in range(len(centres))}
    while min(len(one) for one in members.values()) < k:
        small = min(members, key=lambda c: (len(members[c]), c))
        freed, centre = members.pop(small), centres[small]
        target = nearest(centre, centres, columns, list(members), factors=factors, squared=True)
        if freed:
            members[target] = sorted(members[target] + freed)
            centres[target] = centre_of([rows[row] for row in members[target]], columns, grid)
    label = {row: number for number, c in enumerate(sorted(members)) for row in members[c]}
    return [label[row] for row in range(len(rows))]
