"""Which attributes stay together: slicing's columns, by how much attributes say of each other.

Every attribute is brought to few categories, every two are compared by the mean-square contingency coefficient, and
k-medoids with distance 1 - phi2 gathers them. All of it is a function of the table alone: the order of rows and of
columns changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import fsum

import numpy as np
import numpy.typing as npt

from shoal.table.categories import FEWEST, Codes, Discretise, categories_of
from shoal.table.prepare import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STEPS = 1e12
"""Distances are compared in whole steps of 1e-12: sums are exact, and ties are ties on every machine."""


@dataclass(frozen=True, eq=False)
class Attributes:
    """How much attributes say of each other, and what is to be known before that is believed."""

    names: tuple[str, ...]
    """In the order of the table."""
    phi2: Floats
    """One row and one column per attribute; 1 in the diagonal."""
    n_categories: tuple[int, ...]
    """Of each attribute, after discretising."""
    biased: tuple[tuple[str, str], ...]
    """Pairs with fewer than five rows for every pair of categories: chance alone makes their phi2 large."""
    all_distinct: tuple[str, ...]
    """Attributes whose every row has a value of its own, before discretising."""
    discretised: tuple[str, ...] = ()
    """Attributes whose values were gathered into fewer categories."""


@dataclass(frozen=True)
class Columns:
    """Attributes gathered into columns."""

    groups: tuple[tuple[str, ...], ...]
    """Members in the order of the table, columns in the order of their first members."""
    medoids: tuple[str, ...]
    """The attribute around which each column was gathered."""
    total: float
    """Sum of the distances of all attributes from their medoids."""
    silhouettes: dict[int, float] = field(default_factory=dict)
    """Mean silhouette by the number of columns, where the number was chosen by it."""


def attributes_of(
    table: Table, names: Sequence[str], *, bins: int = 10, discretise: Discretise = "frequency"
) -> Attributes:
    """Compare attributes, each brought to few categories first.

    How values become categories, `categories_of` says. A missing value is a category of its own.

    Parameters
    ----------
    table
        The table.
    names
        Attributes to compare, each with a role that is published, in the order of the table.
    bins
        At least 2.
    discretise
        ``"frequency"`` or ``"width"``.
    """
    kinds = table.published
    coded, discretised = [], []
    for name in names:
        codes, fewer = categories_of(table.frame[name], kinds[name], bins, discretise)
        coded.append(codes)
        discretised += [name] if fewer else []
    cells = {(i, j): cells_of(coded[i], coded[j]) for i, j in combinations(range(len(names)), 2)}
    alone = tuple(name for name in names if 1 < table.n_rows == table.frame[name].n_unique())
    counts = [int(np.count_nonzero(np.bincount(codes))) for codes in coded]
    return compared(names, table.n_rows, counts, cells, all_distinct=alone, discretised=tuple(discretised))


def compared(
    names: Sequence[str],
    n_rows: int,
    n_categories: Sequence[int],
    cells: Mapping[tuple[int, int], Ints],
    *,
    all_distinct: tuple[str, ...],
    discretised: tuple[str, ...],
) -> Attributes:
    """Compare attributes, given how many rows have each pair of categories of any two of them."""
    matrix, biased = np.eye(len(names)), []
    for (one, other), counts in cells.items():
        matrix[one, other] = matrix[other, one] = _phi2_of(counts)
        if n_rows < FEWEST * n_categories[one] * n_categories[other]:
            biased.append((names[one], names[other]))
    return Attributes(tuple(names), matrix, tuple(n_categories), tuple(biased), all_distinct, discretised)


def cells_of(one: Codes, other: Codes, shape: tuple[int, int] | None = None) -> Ints:
    """How many rows have each pair of categories; as many as occur, if no shape is given."""
    height, width = shape or (int(one.max(initial=-1)) + 1, int(other.max(initial=-1)) + 1)
    cells = np.bincount(one.astype(np.int64) * width + other, minlength=height * width)
    return cells.reshape(height, width).astype(np.int64)


def phi2(one: Codes, other: Codes) -> float:
    """Mean-square contingency coefficient of two attributes, given as category numbers from 0: between 0 and 1.

    Only categories that occur are counted. With one category on either side it is 0.

    Examples
    --------
    >>> phi2(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])), phi2(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    (1.0, 0.0)
    """
    return _phi2_of(cells_of(one, other))


def _phi2_of(cells: Ints) -> float:
    """The same, of how many rows have each pair of categories."""
    ones, others = cells.sum(axis=1), cells.sum(axis=0)
    fewer = min(int(np.count_nonzero(ones)), int(np.count_nonzero(others)))
    if fewer <= 1:
        return 0.0
    i, j = np.nonzero(cells)
    # The sum of n_ij^2 / (n_i n_j), less 1, is that of the definition. Summed exactly, it is the same to the last bit
    # whatever the order of the categories is.
    parts = cells[i, j] ** 2 / (ones[i] * others[j])
    return min(max(fsum([-1.0, *parts.tolist()]) / (fewer - 1), 0.0), 1.0)


# -- columns ----------------------------------------------------------------------------------------------------


def partition_attributes(attributes: Attributes, n_columns: int | None, *, last: str | None = None) -> Columns:
    """Gather attributes into columns by k-medoids (PAM), distance 1 - phi2.

    Among sets of medoids that no single exchange betters, ties go to the set first in name order; an attribute as far
    from two medoids goes to the one first in name order. So the order of the table does not matter.

    Parameters
    ----------
    attributes
        What `attributes_of` gives.
    n_columns
        From 1 to the number of attributes. None: every number from 2 to that of the attributes less one is tried, and
        the one with the largest mean silhouette taken, the smallest of them at a tie; two attributes make two columns.
    last
        This attribute is a column of its own and comes last; it is one of the `n_columns`, which are at least 2 then.
    """
    order = sorted(range(len(attributes.names)), key=lambda place: attributes.names[place])
    steps = np.rint((1.0 - attributes.phi2[np.ix_(order, order)]) * STEPS).astype(np.int64)
    alone = None if last is None else order.index(attributes.names.index(last))
    if n_columns is not None or len(order) <= 2:
        return _named(attributes, order, _gathered(steps, n_columns or len(order), alone), last)
    found = {number: _gathered(steps, number, alone) for number in range(2, len(order))}
    silhouettes = {number: _mean_silhouette(steps, nearest) for number, nearest in found.items()}
    best = max(silhouettes.values())
    chosen = min(number for number, value in silhouettes.items() if value > best - 1 / STEPS)
    return replace(_named(attributes, order, found[chosen], last), silhouettes=silhouettes)


def _gathered(steps: Ints, n_columns: int, alone: int | None) -> Ints:
    """The medoid of each attribute; one that is to be alone is its own."""
    others = np.array([place for place in range(len(steps)) if place != alone], dtype=np.int64)
    nearest = np.arange(len(steps))
    if len(others):
        medoids = others[_pam(steps[np.ix_(others, others)], n_columns - (alone is not None))]
        nearest[others] = medoids[np.argmin(steps[np.ix_(others, medoids)], axis=1)]
        nearest[medoids] = medoids  # two medoids may say everything of each other; each still has its own column
    return nearest


def _pam(steps: Ints, n_medoids: int) -> list[int]:
    """Medoids by BUILD and SWAP, then the tie rule: no exchange lowers the total, or keeps it with an earlier set."""
    medoids: list[int] = []
    nearest = np.full(len(steps), np.iinfo(np.int64).max // len(steps))
    for _ in range(n_medoids):
        totals = np.minimum(nearest, steps).sum(axis=1)
        totals[medoids] = np.iinfo(np.int64).max
        medoids.append(int(np.argmin(totals)))
        nearest = np.minimum(nearest, steps[medoids[-1]])
    best = (int(steps[medoids].min(axis=0).sum()), sorted(medoids))
    while (better := min(_exchanges(steps, best[1]), default=best)) < best:
        best = better
    return best[1]


def _exchanges(steps: Ints, medoids: list[int]) -> list[tuple[int, list[int]]]:
    """Total and medoids after every exchange of one medoid; of those with equal totals and one leaving, the first."""
    free = [place for place in range(len(steps)) if place not in medoids]
    found = []
    for leaving in medoids if free else []:
        stay = [medoid for medoid in medoids if medoid != leaving]
        kept = steps[stay].min(axis=0, initial=np.iinfo(np.int64).max)
        totals = np.minimum(kept, steps[free]).sum(axis=1)
        entering = int(np.argmin(totals))
        found.append((int(totals[entering]), sorted([*stay, free[entering]])))
    return found


def _mean_silhouette(steps: Ints, nearest: Ints) -> float:
    """How much nearer attributes are to their own column than to the next, on average; alone in a column counts 0."""
    medoids = np.unique(nearest)
    members = nearest[None, :] == medoids[:, None]
    sizes = members.sum(axis=1)
    sums = (steps / STEPS) @ members.T  # of the distances of each attribute to those of each column
    own = np.searchsorted(medoids, nearest)
    place = np.arange(len(steps))
    inside = sums[place, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[place, own] = np.inf
    outside = means.min(axis=1)
    widest = np.maximum(inside, outside)
    alone = (sizes[own] == 1) | (widest == 0.0)
    return float(np.where(alone, 0.0, (outside - inside) / np.where(alone, 1.0, widest)).mean())


def _named(attributes: Attributes, order: list[int], nearest: Ints, last: str | None) -> Columns:
    """Places in name order back to names in the order of the table."""
    names = attributes.names
    medoid_of = {order[place]: order[medoid] for place, medoid in enumerate(nearest)}
    members: dict[int, list[int]] = {}
    for place in range(len(names)):
        members.setdefault(medoid_of[place], []).append(place)
    found = sorted(members.items(), key=lambda item: (names[item[0]] == last, item[1]))
    return Columns(
        groups=tuple(tuple(names[place] for place in group) for _, group in found),
        medoids=tuple(names[medoid] for medoid, _ in found),
        total=fsum(1.0 - attributes.phi2[place, medoid] for place, medoid in medoid_of.items()),
    )
