"""Which class of a release a row belongs to, the slow way: cells read by hand, every row held against every class."""

from __future__ import annotations

import re
from fractions import Fraction

ANY = "*"


def covered(cell, tree: dict[str, set[str]] | None, order: tuple[str, ...]):
    """The values a cell of categories covers: None for a missing one, ANY for all."""
    if cell is None or cell == ANY:
        return cell
    if cell.startswith("{"):
        return {part.strip() for part in cell[1:-1].split(",")}
    if order:
        first, last = re.fullmatch(r"\[(\w+), (\w+)\]", cell).groups() if cell.startswith("[") else (cell, cell)
        return set(order[order.index(first) : order.index(last) + 1])
    return tree[cell] if tree is not None and cell in tree else {cell}


def distance(value, cell, kind: str, unit, tree, order) -> Fraction:
    """How far a value is from a cell, as a share of the column."""
    if cell == ANY:
        return Fraction(0)
    if (value is None) != (cell is None):
        return Fraction(1)
    if value is None:
        return Fraction(0)
    if kind == "numeric":
        low, high = (float(part) for part in (cell[1:-1].split(", ") if cell.startswith("[") else (cell, cell)))
        gap = max(Fraction(low) - Fraction(value), Fraction(value) - Fraction(high), Fraction(0))
        return min(gap / Fraction(unit), Fraction(1)) if unit else Fraction(int(gap > 0))
    inside = covered(cell, tree, order)
    if value in inside:
        return Fraction(0)
    if order:
        ranks = [order.index(one) for one in inside]
        rank = order.index(value)
        return Fraction(max(min(ranks) - rank, rank - max(ranks)), len(order) - 1)
    return Fraction(1)


def loss(cell, kind: str, unit, tree, order, n_values) -> Fraction:
    """How much of its column a cell leaves open."""
    if cell is None:
        return Fraction(0)
    if cell == ANY:
        return Fraction(1)
    if kind == "numeric":
        low, high = (float(part) for part in (cell[1:-1].split(", ") if cell.startswith("[") else (cell, cell)))
        return (Fraction(high) - Fraction(low)) / Fraction(unit) if unit else Fraction(0)
    inside = covered(cell, tree, order)
    if order:
        return Fraction(len(inside) - 1, len(order) - 1) if len(order) > 1 else Fraction(0)
    if cell.startswith("{"):
        return Fraction(len(inside) - 1, n_values - 1)
    if tree is not None:
        return (
            Fraction(len(inside), len(set().union(*tree.values()))) if cell in tree and len(inside) > 1 else Fraction(0)
        )
    return Fraction(0)
