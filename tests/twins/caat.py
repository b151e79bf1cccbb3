"""CAAT: clustering by the distance of a tuple to a class (Jiang)."""

from twins.trees import climb, meet


def caat(rows, columns, k, start, interval="mean_cost", ties="one"):
    """Label every row with its cluster; clusters are numbered in the order in which they are opened."""
    rest = list(range(len(rows)))  # T of the paper, in row order
    clusters = []

    def far(row, cluster):
        return distance(rows[row], [rows[member] for member in cluster], columns, interval)

    seed = start
    while True:
        rest.remove(seed)
        cluster = [seed]
        clusters.append(cluster)
        while len(cluster) < k and rest:
            for row in nearest(rest, [far(row, cluster) for row in rest], ties):
                rest.remove(row)
                cluster.append(row)
        if len(rest) < k:
            break
        seed = farthest(rest, [far(row, cluster) for row in rest])

    for row in rest:
        min(clusters, key=lambda cluster: far(row, cluster)).append(row)  # min takes the first of several
    return [next(label for label, cluster in enumerate(clusters) if row in cluster) for row in range(len(rows))]


def nearest(rows, distances, ties):
    """The first row at the smallest distance, or with ties='all' every row at it."""
    best = [row for row, dist in zip(rows, distances, strict=True) if dist == min(distances)]
    return best if ties == "all" else best[:1]


def farthest(rows, distances):
    """The first row at the largest distance."""
    return rows[distances.index(max(distances))]


def distance(row, members, columns, interval="mean_cost"):
    """Distance of a tuple to the class of the given members: the mean over the columns, lines first."""
    lines, trees = [], []
    for x, values, (kind, what) in zip(row, zip(*members, strict=True), columns, strict=True):
        if kind == "line":
            lines.append(line_distance(x, values, what, interval))
        else:
            trees.append(tree_distance(x, values, what))
    total = 0.0
    for part in lines + trees:
        total += part
    return total / len(columns)


def line_distance(x, values, span, interval):
    """Distance of a number to the interval of a class."""
    present = [value for value in values if value is not None]
    if x is None or len(present) < len(values):
        return line_distance_with_missing(x, values, present, span, interval)
    if span == 0:
        return 0.0
    low, high = min(present), max(present)
    width = high - low
    wider = max(high, x) - min(low, x)
    return {
        "mean_cost": (wider + (wider - width)) / (2 * span),
        "hull": wider / span,
        "gap": max(low - x, x - high, 0) / span,
        "midpoint": abs(x - (low + high) / 2) / span,
    }[interval]


def line_distance_with_missing(x, values, present, span, interval):
    """The same where the tuple or the class has a missing value: together with a number it makes '*', of width 1."""
    if x is None and not present:
        return 0.0
    if present and len(present) < len(values):  # the class is '*' already
        return {"mean_cost": 0.5, "hull": 1.0, "gap": 0.0, "midpoint": 0.5}[interval]
    if interval == "mean_cost" and present:
        share = (max(present) - min(present)) / span if span else 0.0
        return 1 - share / 2  # (1 + (1 - share)) / 2
    return 1.0


def tree_distance(x, values, tree):
    """Mean of what the tuple and the class lose by climbing to where they meet, as shares of their way to the root."""
    present = [value for value in values if value is not None]
    if x is None or len(present) < len(values):
        return tree_distance_with_missing(x, values, present, tree)
    node = meet(tree, present)
    met = meet(tree, [node, x])
    return 0.5 * (climbed(tree, x, met) + climbed(tree, node, met))


def climbed(tree, node, met):
    """h(node, met) / h(node, root), and 0/0 := 0."""
    way = climb(tree, node, tree.root)
    return climb(tree, node, met) / way if way else 0.0


def tree_distance_with_missing(x, values, present, tree):
    """The same where one is missing: a leaf of its own that meets all other nodes in a top above the root."""
    if x is None and not present:
        return 0.0
    if present and len(present) < len(values):  # the class is at the top already, only the tuple climbs
        return 0.5 * (1.0 + 0.0)
    inner_root = present and meet(tree, present) == tree.root and tree.root not in tree.leaves
    return 0.5 * (1.0 + (0.0 if inner_root else 1.0))
