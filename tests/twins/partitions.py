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
