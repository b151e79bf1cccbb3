"""Greedy k-member: every cluster grows by the record that adds least to its information loss (Byun et al.)."""

from twins.trees import climb, leaves_below, meet


def k_member(rows, columns, k, start, ref="last", cost="hierarchy", order=None):
    """Label every row with its cluster; `order` says in which order leftovers are placed (row order by default)."""
    rest = list(range(len(rows)))
    clusters, reference = [], start
    while len(rest) >= k:
        seed = max(rest, key=lambda row: (loss([rows[reference], rows[row]], rows, columns, cost), -row))
        cluster = [seed]
        rest.remove(seed)
        while len(cluster) < k:
            best = min(rest, key=lambda row: (loss([rows[r] for r in [*cluster, row]], rows, columns, cost), row))
            cluster.append(best)
            rest.remove(best)
        clusters.append(cluster)
        reference = cluster[-1] if ref == "last" else seed
    for row in sorted(rest, key=lambda row: row if order is None else (order[row], row)):

        def added(cluster, row=row):
            members = [rows[r] for r in cluster]
            after = (len(cluster) + 1) * loss([*members, rows[row]], rows, columns, cost)
            return after - len(cluster) * loss(members, rows, columns, cost)

        costs = [added(cluster) for cluster in clusters]
        clusters[costs.index(min(costs))].append(row)
    label = {row: number for number, cluster in enumerate(clusters) for row in cluster}
    return [label[row] for row in range(len(rows))]


def loss(members, rows, columns, cost):
    """Information loss of one row of a cluster: lines first, then trees, each in the order of the columns."""
    total = 0.0
    for sort in ("line", "tree"):
        for j, (this, measure) in enumerate(columns):
            if this == sort:
                total += open_share([row[j] for row in members], [row[j] for row in rows], this, measure, cost)
    return total


def open_share(values, all_values, sort, measure, cost):
    """How much of one column a cluster leaves open."""
    present = [value for value in values if value is not None]
    if not present:
        return 0.0
    if len(present) < len(values):
        return 1.0
    if sort == "line":
        return (max(present) - min(present)) / measure if measure else 0.0
    if cost == "set":
        domain = {value for value in all_values if value is not None}
        return (len(set(present)) - 1) / (len(domain) - 1) if len(set(present)) > 1 else 0.0
    whole = height(measure, measure.root)
    return height(measure, meet(measure, present)) / whole if whole else 0.0


def height(tree, node):
    """Edges from a node down to its deepest leaf."""
    return max(climb(tree, leaf, node) for leaf in leaves_below(tree, node))
