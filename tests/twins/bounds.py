"""Lower bounds of losses, and least losses over all partitions, as their definitions say them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from twins.partitions import partitions


def least(n: int, k: int, cost: Callable[[list[int]], float]) -> float:
    """The least cost over all partitions, by trying them all."""
    return min(math.fsum(cost(group) for group in groups) for groups in partitions(range(n), k))


def squared_error(column: Sequence[float | None], group: Sequence[int]) -> float:
    """Squared error of standardised numbers in a group, a missing one as far from any number as two can be."""
    there = [value for value in column if value is not None]
    if not there:
        return 0.0
    mean = sum(there) / len(there)
    spread = math.sqrt(sum((value - mean) ** 2 for value in there) / len(there)) or 1.0
    gap = ((max(there) - min(there)) / spread) ** 2 if max(there) > min(there) else 1.0
    inside = [column[row] for row in group]
    own = [value for value in inside if value is not None]
    if 2 * (len(inside) - len(own)) > len(inside):
        return gap * len(own)
    middle = sum(own) / len(own)
    return sum(((value - middle) / spread) ** 2 for value in own) + gap * (len(inside) - len(own))


def nearest_sums(rows: Sequence[Sequence[float]], k: int) -> float:
    """The sum over rows of the squared distances of the k - 1 nearest others, over 2 k; nothing is missing."""
    total = 0.0
    for i, one in enumerate(rows):
        others = sorted(
            sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for j, other in enumerate(rows) if j != i
        )
        total += sum(others[: k - 1]) / (2 * k)
    return total


def number_loss(column: Sequence[float | None], values: Sequence[float | None]) -> float:
    """What an interval loses that covers some numbers of a column."""
    there = [value for value in column if value is not None]
    own = [value for value in values if value is not None]
    if not own:
        return 0.0
    if len(own) < len(values):
        return 1.0
    return (max(own) - min(own)) / (max(there) - min(there)) if max(there) > min(there) else 0.0


def tree_loss(paths: dict[str, Sequence[str]], values: Sequence[str | None]) -> float:
    """What the lowest node over some values loses; paths lead from a value to the root."""
    own = {value for value in values if value is not None}
    if len(own) <= 1 and None not in values:
        return 0.0
    if not own:
        return 0.0
    if None in values:
        return 1.0
    first = next(iter(own))
    node = next(node for node in paths[first] if all(node in paths[value] for value in own))
    return sum(node in path for path in paths.values()) / len(paths)


def set_loss(column: Sequence[str | None], values: Sequence[str | None]) -> float:
    """What a set loses."""
    own, all_ = {value for value in values if value is not None}, {value for value in column if value is not None}
    if not own:
        return 0.0
    return 1.0 if None in values else (len(own) - 1) / (len(all_) - 1) if len(all_) > 1 else 0.0
