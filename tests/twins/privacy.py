"""Privacy models from their definitions, class by class; those of `shoal.testing`, and slower ones to check them by.

A class is a list of values, None where one is missing; `table` is the list of all values. A tree is a mapping from each
node to the node above it, None above the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from shoal.testing.models.alpha_k import alpha
from shoal.testing.models.base import height, path, shares
from shoal.testing.models.beta_likeness import beta
from shoal.testing.models.delta_disclosure import delta
from shoal.testing.models.epsilon_m import epsilon_m
from shoal.testing.models.guarding_nodes import breach
from shoal.testing.models.l_diversity import distinct, entropy, recursive
from shoal.testing.models.t_closeness import t_equal, t_hierarchical, t_ordered
from shoal.testing.shown import Parents


def split(labels: Sequence[int], values: Sequence[object]) -> list[list[object]]:
    """The values of each class, by its number."""
    return [[value for label, value in zip(labels, values, strict=True) if label == one] for one in sorted(set(labels))]


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


__all__ = [
    "alpha", "beta", "breach", "delta", "distinct", "emd", "entropy", "epsilon_m", "recursive", "split", "t_equal",
    "t_hierarchical", "t_ordered", "tree_distance",
]  # fmt: skip
