"""KACA: merging classes along attribute hierarchies (Li, Wong, Fu, Pei)."""

from dataclasses import dataclass

from twins.trees import climb, meet

ANY = object()  # what missing and present values have in common: nothing


@dataclass
class Class:
    """Rows that carry one generalised tuple: a node or an interval (low, high) per column, None for missing, or ANY."""

    cells: list
    rows: list  # ascending

    def __len__(self):
        return len(self.rows)


def kaca(rows, columns, k, weights="uniform", beta=1.0, draws=None, journal=None):
    """The final classes in the order in which they were made.

    A step takes the smallest class (of several, the one with the lowest row), or with `draws` the one that the next of
    these numbers in [0, 1) points at. `journal` collects which rows were merged with which.
    """
    classes = []
    for row, values in enumerate(rows):
        put(classes, raw(values, columns), [row])
    while small := [one for one in classes if len(one) < k]:
        chosen = min(small, key=lambda one: (len(one), one.rows[0]))
        if draws is not None:
            chosen = small[int(next(draws) * len(small))]
        others = [other for other in classes if other is not chosen]
        nearest = min(others, key=lambda other: distance(chosen, other, columns, k, weights, beta))  # the first of ties
        cells = common(chosen.cells, nearest.cells, columns)
        stub = nearest.rows
        if len(chosen) + len(nearest) >= 2 * k:
            stub, nearest.rows = nearest.rows[: k - len(chosen)], nearest.rows[k - len(chosen) :]
        else:
            classes.remove(nearest)
        classes.remove(chosen)
        if journal is not None:
            journal.append((chosen.rows, stub))
        put(classes, cells, chosen.rows + stub)
    return classes


def put(classes, cells, rows):
    """Give the rows to the class that has this generalised tuple, or make it."""
    for one in classes:
        if one.cells == cells:
            one.rows = sorted(one.rows + rows)
            return
    classes.append(Class(cells, sorted(rows)))


def labels_of(classes):
    """One label per row; classes numbered by their first row."""
    label = {}
    for number, one in enumerate(sorted(classes, key=lambda one: one.rows[0])):
        label.update(dict.fromkeys(one.rows, number))
    return [label[row] for row in sorted(label)]


def raw(values, columns):
    """The generalised tuple of a single row."""
    return [
        (value, value) if kind == "line" and value is not None else value
        for value, (kind, _) in zip(values, columns, strict=True)
    ]


def common(left, right, columns):
    """The closest common generalisation of two tuples."""
    cells = []
    for x, y, (kind, what) in zip(left, right, columns, strict=True):
        if x is ANY or y is ANY or (x is None) != (y is None):
            cells.append(ANY)
        elif x is None:
            cells.append(None)
        elif kind == "line":
            cells.append((min(x[0], y[0]), max(x[1], y[1])))
        else:
            cells.append(meet(what, [x, y]))
    return cells


def distance(one, other, columns, k, weights="uniform", beta=1.0):
    """What all tuples that would be generalised lose: those of the first class, and of the other or of its stub."""
    cells = common(one.cells, other.cells, columns)
    n_one, n_other = len(one), len(other)
    if n_one + n_other >= 2 * k:
        n_other = min(n_other, k - n_one)
    return n_one * distortion(one.cells, cells, columns, weights, beta) + n_other * distortion(
        other.cells, cells, columns, weights, beta
    )


def distortion(cells, above, columns, weights="uniform", beta=1.0):
    """What one tuple loses when it is generalised: the sum over the columns, lines first."""
    lines, trees = [], []
    for x, y, (kind, what) in zip(cells, above, columns, strict=True):
        part = lines if kind == "line" else trees
        if y is ANY:
            says_nothing = x is ANY or (kind == "tree" and x == what.root and x not in what.leaves)
            part.append(0.0 if says_nothing else 1.0)
        elif x is None:
            part.append(0.0)
        elif kind == "line":
            part.append(((y[1] - y[0]) - (x[1] - x[0])) / what if what else 0.0)
        else:
            part.append(whd(level(what, x), level(what, y), what.height + 1, weights, beta))
    total = 0.0
    for part in lines + trees:
        total += part
    return total


def level(tree, node):
    """1 for the root, one more for each step down; a leaf counts as one of the lowest level, however short its way."""
    return tree.height + 1 if node in tree.leaves else climb(tree, node, tree.root) + 1


def whd(p, q, h, weights="uniform", beta=1.0):
    """Weighted hierarchical distance of climbing from level p to level q of h levels."""
    if p == q:
        return 0.0
    return (way(p, weights, beta) - way(q, weights, beta)) / way(h, weights, beta)


def way(p, weights, beta):
    """The weights from level p up to the root, summed from the root: ties depend on the order of the sum."""
    total = 0.0
    for j in range(2, p + 1):
        total += 1.0 if weights == "uniform" else (j - 1) ** -beta
    return total
