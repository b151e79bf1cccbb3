"""Privacy models straight from their definitions: fractions, loops, one class at a time.

A class is a list of values, None where one is missing; `table` is the list of all values. A tree is a mapping from each
node to the node above it, None above the root.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

Parents = Mapping[str, str | None]


def split(labels: Sequence[int], values: Sequence[object]) -> list[list[object]]:
    """The values of each class, by its number."""
    return [[value for label, value in zip(labels, values, strict=True) if label == one] for one in sorted(set(labels))]


def shares(values: Sequence[object]) -> dict[object, Fraction]:
    return {value: Fraction(times, len(values)) for value, times in Counter(values).items()}


# -- how many values -------------------------------------------------------------------------------------------


def distinct(group: Sequence[object]) -> int:
    return len(set(group))


def entropy(group: Sequence[object]) -> float:
    """The l whose logarithm is the entropy."""
    return math.exp(-sum(p * math.log(p) for p in map(float, shares(group).values())))


def recursive(group: Sequence[object], l: int) -> float:  # noqa: E741
    """The least c that is missed: r1 / (rl + ... + rm)."""
    counts = sorted(Counter(group).values(), reverse=True)
    return float(Fraction(counts[0], sum(counts[l - 1 :]))) if len(counts) >= l else math.inf


def alpha(group: Sequence[object], named: Sequence[object] | None = None) -> Fraction:
    found = shares(group)
    return max(found.get(value, Fraction(0)) for value in (found if named is None else named))


# -- the class against the table -------------------------------------------------------------------------------


def delta(group: Sequence[object], table: Sequence[object], *, absent: str = "counts") -> float:
    p, q = shares(group), shares(table)
    if absent == "counts" and set(q) - set(p):
        return math.inf
    return max(abs(math.log(p[value] / q[value])) for value in p)


def beta(group: Sequence[object], table: Sequence[object], *, enhanced: bool = False) -> float:
    p, q = shares(group), shares(table)
    gains = {value: (p.get(value, Fraction(0)) - q[value]) / q[value] for value in q}
    if enhanced and any(gain > -math.log(q[value]) + 1e-12 for value, gain in gains.items()):
        return math.inf
    return float(max(gains.values()))


def t_equal(group: Sequence[object], table: Sequence[object]) -> Fraction:
    p, q = shares(group), shares(table)
    return sum((abs(p.get(value, Fraction(0)) - q[value]) for value in q), Fraction(0)) / 2


def t_ordered(group: Sequence[object], table: Sequence[object], order: Sequence[object]) -> Fraction:
    """The sum of all cumulated differences over m - 1; the values that occur, in their order."""
    p, q = shares(group), shares(table)
    known = [value for value in order if value in q]
    if len(known) == 1:
        return Fraction(0)
    differences = [p.get(value, Fraction(0)) - q[value] for value in known]
    return sum((abs(sum(differences[: i + 1])) for i in range(len(known))), Fraction(0)) / (len(known) - 1)


def t_hierarchical(group: Sequence[object], table: Sequence[object], parents: Parents) -> Fraction:
    """Inner node by inner node: what its children can settle among each other, at the height of the node."""
    p, q = shares(group), shares(table)
    root = next(node for node, above in parents.items() if above is None)
    tallest = height(root, parents)
    work = Fraction(0)

    def settle(node: object) -> Fraction:
        nonlocal work
        extra = [settle(child) for child, above in parents.items() if above == node]
        extra.append(p.get(node, Fraction(0)) - q.get(node, Fraction(0)))
        if node == root:
            extra.append(p.get(None, Fraction(0)) - q.get(None, Fraction(0)))
        moved = min(sum(e for e in extra if e > 0), -sum(e for e in extra if e < 0))
        work += moved * (1 if node == root else Fraction(height(node, parents), tallest))
        return sum(extra, Fraction(0))

    settle(root)
    return work


def height(node: object, parents: Parents) -> int:
    return max((1 + height(child, parents) for child, above in parents.items() if above == node), default=0)


def path(node: str, parents: Parents) -> list[str]:
    """From a node up to the root, both included."""
    above = parents[node]
    return [node, *(path(above, parents) if above is not None else [])]


def tree_distance(one: object, other: object, parents: Parents) -> float:
    """Height of the lowest common ancestor over the height of the tree; 1 beside a missing value."""
    if one == other:
        return 0.0
    if one is None or other is None:
        return 1.0
    common = next(node for node in path(str(one), parents) if node in path(str(other), parents))
    root = path(str(one), parents)[-1]
    return height(common, parents) / height(root, parents)


def emd(group: Sequence[object], table: Sequence[object], distance: Callable[[object, object], float]) -> float:
    """The earth mover's distance as the transport problem it is, by linear programming."""
    p, q = shares(group), shares(table)
    values = list(q)
    pairs = list(product(range(len(values)), repeat=2))
    cost = [distance(values[i], values[j]) for i, j in pairs]
    out = np.array([[pair[0] == i for pair in pairs] for i in range(len(values))], dtype=float)
    into = np.array([[pair[1] == j for pair in pairs] for j in range(len(values))], dtype=float)
    due = [float(p.get(value, Fraction(0))) for value in values] + [float(q[value]) for value in values]
    from scipy.optimize import linprog  # slow to load

    return float(linprog(cost, A_eq=np.vstack((out, into)), b_eq=due).fun)


# -- nearness and guards ---------------------------------------------------------------------------------------


def epsilon_m(group: Sequence[object], epsilon: object, *, relative: bool = False) -> Fraction:
    """The rows over the most that are near any one of them."""

    def near(one: object, other: object) -> bool:
        if one is None or other is None:
            return one is other
        reach = Fraction(epsilon) * (abs(Fraction(one)) if relative else 1)
        return abs(Fraction(one) - Fraction(other)) <= reach

    return Fraction(len(group), max(sum(near(one, other) for other in group) for one in group))


def breach(group: Sequence[str | None], guards: Sequence[str | None], parents: Parents) -> Fraction:
    """The largest chance of a breach among those of the class who guard a node."""
    chances = [
        sum((part_below(guard, shown, parents) for shown in group), Fraction(0)) / len(group)
        for guard in guards
        if guard is not None
    ]
    return max(chances, default=Fraction(0))


def part_below(guard: str, shown: str | None, parents: Parents) -> Fraction:
    """How much of what a row shows lies below a guard, counted in leaves."""
    if shown is None:
        return Fraction(int(parents[guard] is None))
    leaves = leaves_below(shown, parents)
    return Fraction(sum(guard in path(leaf, parents) for leaf in leaves), len(leaves))


def leaves_below(node: str, parents: Parents) -> list[str]:
    inner = set(parents.values())
    return [leaf for leaf in parents if leaf not in inner and node in path(leaf, parents)]
