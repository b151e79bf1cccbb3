"""Mondrian: multidimensional median cuts (LeFevre, DeWitt, Ramakrishnan)."""

from math import inf

from twins.trees import child_above, leaves_below, meet


def mondrian(rows, columns, k, strict=True, width="true", nominal="tree"):
    """Label every row with its part; parts are numbered by their lowest row."""
    table = [[place(value, column) for value, column in zip(row, columns, strict=True)] for row in rows]
    along = [kind == "tree" and nominal == "tree" and strict for kind, _ in columns]
    everyone = list(range(len(rows)))
    todo = [(everyone, spreads(table, everyone))]
    done = []
    while todo:
        part, box = todo.pop()
        if width == "true":
            box = spreads(table, part)
        pieces = split(table, columns, along, part, box, k, strict)
        todo.extend(pieces)
        if not pieces:
            done.append(part)
    done.sort(key=min)
    return [next(label for label, part in enumerate(done) if row in part) for row in everyone]


def place(value, column):
    """Where a value lies on its axis: a number as it is, a leaf by its position, missing beyond all of them."""
    kind, what = column
    if value is None:
        return inf
    return value if kind == "line" else what.leaves.index(value)


def spread(table, part, j):
    """Smallest and largest place of a part in a column."""
    places = [table[row][j] for row in part]
    return min(places), max(places)


def spreads(table, part):
    """The spread of a part in every column."""
    return [spread(table, part, j) for j in range(len(table[0]))]


def split(table, columns, along, part, box, k, strict):
    """Cut a part in the widest column that allows it: the pieces with their boxes, or none."""
    box = list(box)
    widest_first = sorted(range(len(columns)), key=lambda j: -share(box[j], columns[j], along[j]))  # sort is stable
    for j in widest_first:
        box[j] = spread(table, part, j)  # a box is tightened when its column is tried
        if along[j]:
            pieces = cut_along_tree(table, part, j, columns[j][1])
        else:
            pieces = cut_by_order(table, part, j, box[j], strict)
        if len(pieces) > 1 and all(len(piece) >= k for piece, _ in pieces):
            return [(piece, [*box[:j], inside, *box[j + 1 :]]) for piece, inside in pieces]
    return []


def share(ends, column, along_tree):
    """Width of a box in one column, as a share of the whole column."""
    low, high = ends
    kind, what = column
    if high == inf:
        return 0.0 if low == inf else 1.0
    if kind == "line":
        return (high - low) / what if what else 0.0
    if low == high:
        return 0.0
    if along_tree:
        node = meet(what, [what.leaves[low], what.leaves[high]])
        return len(leaves_below(what, node)) / len(what.leaves)
    return (high - low) / (len(what.leaves) - 1)


def cut_along_tree(table, part, j, tree):
    """One piece for each child of the node where the part's values meet; missing and present values part first."""
    missing = [row for row in part if table[row][j] == inf]
    present = [row for row in part if table[row][j] != inf]
    if missing and present:
        return [(present, (0, len(tree.leaves) - 1)), (missing, (inf, inf))]
    leaf = {row: tree.leaves[table[row][j]] for row in present}
    if len(set(leaf.values())) < 2:
        return []
    node = meet(tree, leaf.values())
    pieces = {}
    for row in present:
        pieces.setdefault(child_above(tree, node, leaf[row]), []).append(row)
    return [(piece, ends_of(tree, child)) for child, piece in pieces.items()]


def ends_of(tree, node):
    """Places of the first and the last leaf under a node."""
    below = leaves_below(tree, node)
    return tree.leaves.index(below[0]), tree.leaves.index(below[-1])


def cut_by_order(table, part, j, ends, strict):
    """Two pieces at the median; in strict mode equal values stay together, else they fill the left up to one half."""
    half = len(part) // 2
    median = sorted(table[row][j] for row in part)[half - 1]
    if strict:
        if median == inf:
            median = max((table[row][j] for row in part if table[row][j] != inf), default=inf)
        left = [row for row in part if table[row][j] <= median]
    else:
        below = [row for row in part if table[row][j] < median]
        equal = [row for row in part if table[row][j] == median]
        left = sorted(below + equal[: half - len(below)])
    right = [row for row in part if row not in left]
    if not left or not right:
        return []
    return [(left, (ends[0], spread(table, left, j)[1])), (right, (spread(table, right, j)[0], ends[1]))]
