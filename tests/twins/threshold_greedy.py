"""Threshold greedy clustering: a cluster grows by the best score while its diversity stays within a threshold.

Loukides and Shao. The sensitive values are a second list of rows with its own columns, the weights one per column.
"""


def threshold_greedy(
    rows, columns, secrets, secret_columns, k, delta, order, w=0.5, weights=None, below="suppress", max_size=None
):
    """Label every row with its cluster, -1 where it is suppressed; clusters start at the free rows of `order`."""
    weights = weights or [1.0] * len(columns)
    free, labels, n_clusters = set(range(len(rows))), [-1] * len(rows), 0

    def quasi_diversity(members):
        return summed([rows[r] for r in members], rows, columns, weights)

    def score(members):
        protected = 0.0
        if secret_columns:
            ones = [1.0] * len(secret_columns)
            protected = summed([secrets[r] for r in members], secrets, secret_columns, ones) / len(secret_columns)
        return w * quasi_diversity(members) + (1 - w) * (1 - protected)

    for seed in order:
        if seed not in free:
            continue
        cluster = [seed]
        free.remove(seed)
        while free and len(cluster) != max_size:
            best = min(sorted(free), key=lambda row: score([*cluster, row]))
            if quasi_diversity([*cluster, best]) > delta:
                break
            cluster.append(best)
            free.remove(best)
        if len(cluster) >= k:
            for row in cluster:
                labels[row] = n_clusters
            n_clusters += 1
        elif below == "return":
            free.update(cluster[1:])
    return labels


def summed(members, rows, columns, weights):
    """Weighted sum of the diversity of the columns: lines first, then trees, each in the order of the columns."""
    total = 0.0
    for sort in ("line", "tree"):
        for j, (this, measure) in enumerate(columns):
            if this == sort:
                total += weights[j] * diversity([row[j] for row in members], [row[j] for row in rows], this, measure)
    return total


def diversity(values, all_values, sort, span):
    """The share of the column that the values span; 1 where missing and present ones meet."""
    present = {value for value in values if value is not None}
    if not present:
        return 0.0
    if None in values:
        return 1.0
    if len(present) == 1:
        return 0.0
    if sort == "line":
        return (max(present) - min(present)) / span
    return (len(present) - 1) / (len({value for value in all_values if value is not None}) - 1)
