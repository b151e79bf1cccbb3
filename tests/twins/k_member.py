"""Greedy k-member: every cluster grows by the record that adds least to its information loss (Byun et al.)."""

from twins.trees import climb, leaves_below, meet


def k_member(
    rows,
    columns,
    k,
    start,
    ref="last",
    cost="hierarchy",
    order=None,
    classes=None,
    weight=1.0,
    secrets=None,
    l=0,  # noqa: E741
):
    """Label every row with its cluster; `order` says in which order leftovers are placed (row order by default).

    With `classes`, a label per row, a record of another label than the cluster's majority costs `weight` more. With
    `secrets`, a value per row, a cluster of fewer than `l` values takes a new one where there is one.
    """
    rest = list(range(len(rows)))
    clusters, reference = [], start

    def penalty(cluster, row):
        return weight if classes and classes[row] != majority([classes[r] for r in cluster]) else 0.0

    while len(rest) >= k:
        seed = max(rest, key=lambda row: (loss([rows[reference], rows[row]], rows, columns, cost), -row))
        cluster = [seed]
        rest.remove(seed)
        while len(cluster) < k:
            # All candidates join a cluster of the same size: what is added is compared per record of it.
            def charge(row, cluster=cluster):
                whole = loss([rows[r] for r in [*cluster, row]], rows, columns, cost)
                return whole + penalty(cluster, row) / (len(cluster) + 1)

            allowed = fresh(rest, cluster, secrets, l)
            best = min(allowed, key=lambda row: (charge(row), row))
            cluster.append(best)
            rest.remove(best)
        clusters.append(cluster)
        reference = cluster[-1] if ref == "last" else seed
    for row in sorted(rest, key=lambda row: row if order is None else (order[row], row)):

        def added(cluster, row=row):
            members = [rows[r] for r in cluster]
            after = (len(cluster) + 1) * loss([*members, rows[row]], rows, columns, cost)
            return after - len(cluster) * loss(members, rows, columns, cost) + penalty(cluster, row)

        costs = [added(cluster) for cluster in clusters]
        clusters[costs.index(min(costs))].append(row)
    label = {row: number for number, cluster in enumerate(clusters) for row in cluster}
    return [label[row] for row in range(len(rows))]


def majority(labels):
    """The most frequent label; of several, the one that reached that number first."""
    most = max(labels.count(label) for label in labels)
    return next(label for n, label in enumerate(labels) if labels[: n + 1].count(label) == most)


def fresh(rest, cluster, secrets, l):  # noqa: E741
    """The candidates that bring a new value, where those are wanted and there are any; else all."""
    present = {secrets[r] for r in cluster} if secrets else set()
    new = [row for row in rest if secrets and secrets[row] not in present]
    return new if new and len(present) < l else rest


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
