"""All partitions of a few rows, for what only trying everything can tell."""


def partitions(rows, k):
    """Every way to put rows into groups of at least k."""
    rows = list(rows)
    if not rows:
        yield []
        return
    first, *others = rows
    for chosen in subsets(others):
        if len(chosen) + 1 >= k and (len(others) == len(chosen) or len(others) - len(chosen) >= k):
            rest = [row for row in others if row not in chosen]
            for groups in partitions(rest, k):
                yield [[first, *chosen], *groups]


def subsets(items):
    """Every subset of a list."""
    for number in range(2 ** len(items)):
        yield [item for place, item in enumerate(items) if number >> place & 1]


def sse(values, labels):
    """Squared differences of numbers from the mean of their group, summed."""
    return _squared_error([[x for x, label in zip(values, labels, strict=True) if label == g] for g in set(labels)])


def least_sse(values, k):
    """The least over all partitions into groups of at least k, by trying them all."""
    return min(
        _squared_error([[values[row] for row in rows] for rows in groups])
        for groups in partitions(range(len(values)), k)
    )


def _squared_error(groups):
    return sum((x - sum(group) / len(group)) ** 2 for group in groups for x in group)
