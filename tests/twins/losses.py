"""Losses, slowly: every row of the input beside the cell of its group, all in lists.

A table is a dict of columns, `labels` says the group of each row, -1 for one left out. A cell is the list of values
that it may stand for.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations


def groups_of(labels):
    return {group: [row for row, label in enumerate(labels) if label == group] for group in sorted(set(labels) - {-1})}


def domain(values):
    """Every value once, missing last."""
    return [*sorted(value for value in set(values) if value is not None), *([None] if None in values else [])]


def cells_of(values, labels, *, numeric):
    """The values that the generalised cell of every row covers; None for a row left out."""
    cells = [None] * len(values)
    for rows in groups_of(labels).values():
        inside = [values[row] for row in rows]
        known = [value for value in inside if value is not None]
        if not known:
            cell = [None]
        elif len(known) < len(inside) or (not numeric and len(set(known)) > 1):
            cell = domain(values)
        else:
            cell = [value for value in domain(values) if value is not None and min(known) <= value <= max(known)]
        for row in rows:
            cells[row] = cell
    return cells


def shares(cells, values):
    """The expected share of every value: cells and rows left out are spread evenly."""
    found, every = Counter(), domain(values)
    for cell in cells:
        for value in every if cell is None else cell:
            found[value] += 1 / len(every if cell is None else cell) / len(cells)
    return found


def pair_shares(one, other, first, second):
    found = Counter()
    for a, b in zip(one, other, strict=True):
        left, right = (domain(first), domain(second)) if a is None else (a, b)
        for pair in ((x, y) for x in left for y in right):
            found[pair] += 1 / (len(left) * len(right) * len(one))
    return found


def distance(true, expected):
    return sum(abs(true[key] - expected[key]) for key in {*true, *expected}) / 2


def counted(values):
    return Counter({value: count / len(values) for value, count in Counter(values).items()})


def divergence(true, expected, n_rows, n_categories):
    total = 0.0
    for key in set(true) | set(expected):
        p, q = ((side[key] * n_rows + 1 / n_categories) / (n_rows + 1) for side in (true, expected))
        total += p * math.log2(p / q)
    p = 1 / n_categories / (n_rows + 1)
    return total + (n_categories - len(set(true) | set(expected))) * p * math.log2(1)


def middles(values, labels):
    """The middle of the interval of every row; the mean of all others for a cell that says nothing."""
    found, vague = [None] * len(values), [row for row, label in enumerate(labels) if label == -1]
    for rows in groups_of(labels).values():
        inside = [values[row] for row in rows]
        known = [value for value in inside if value is not None]
        for row in rows:
            if known and len(known) < len(inside):
                vague.append(row)
            elif known:
                found[row] = (min(known) + max(known)) / 2
    said = [value for value, label in zip(found, labels, strict=True) if label != -1]
    open_rows = [row for row in vague if labels[row] != -1]
    there = [value for value in said if value is not None]
    mean = sum(there) / len(there) if there else None
    for row in open_rows:
        found[row] = mean
    for row in set(vague) - set(open_rows):
        found[row] = mean if mean is not None else 0.0
    return found


def moments(x, y):
    """Mean of the first, covariance of both, over rows where neither is missing."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    n = len(pairs)
    mx, my = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    return mx, sum((a - mx) * (b - my) for a, b in pairs) / n


def number_losses(table, labels):
    """IL1 to IL5 of columns without zeros, missing values or rows left out."""
    shown = {name: middles(values, labels) for name, values in table.items()}
    il1 = [abs(x - y) / abs(x) for name in table for x, y in zip(table[name], shown[name], strict=True)]
    il2, il3, il4, il5 = [], [], [], []
    for name in table:
        (mean, variance), (after, spread) = moments(table[name], table[name]), moments(shown[name], shown[name])
        il2.append(abs(mean - after) / abs(mean))
        il3.append(abs(variance - spread) / variance if variance else 0.0)
    for one, other in combinations(table, 2):
        before, after = moments(table[one], table[other])[1], moments(shown[one], shown[other])[1]
        spreads = [moments(side[name], side[name])[1] for side in (table, shown) for name in (one, other)]
        unit = abs(before) or math.sqrt(spreads[0] * spreads[1]) or 1.0
        il4.append(abs(before - after) / unit)
        r = [c / math.sqrt(a * b) if a * b > 0 else 0.0
             for c, a, b in ((before, *spreads[:2]), (after, *spreads[2:]))]  # fmt: skip
        il5.append(abs(r[0] - r[1]))
    return [sum(one) / len(one) for one in (il1, il2, il3, il4, il5)]


def name_distance(values, cells):
    """How far names are from those that show them, on average over the values of a cell; 1 for a row left out."""
    return sum(
        1 if cell is None else 1 - (value in cell) / len(cell) for value, cell in zip(values, cells, strict=True)
    )


def entropy(values):
    return -sum(count / len(values) * math.log2(count / len(values)) for count in Counter(values).values())


def entropy_loss(values, cells):
    """For every row the entropy of the values of all rows with the same cell; of all rows, for one left out."""
    total = 0.0
    for cell in cells:
        same = values if cell is None else [v for v, other in zip(values, cells, strict=True) if other == cell]
        total += entropy(same)
    return total


def expected_count(columns, cells, wanted):
    """Rows whose values lie in what is wanted of each column, as cells let expect it."""
    total = 0.0
    for row in range(len(next(iter(cells.values())))):
        chance = 1.0
        for name, asked in wanted.items():
            cell = cells[name][row] if cells[name][row] is not None else domain(columns[name])
            chance *= sum(value in asked for value in cell) / len(cell)
        total += chance
    return total
