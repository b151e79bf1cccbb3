"""t-closeness, from its definitions: the work that turns the values of a class into those of the table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from shoal.privacy.t_closeness import TCloseness
from shoal.testing.models.base import BOUNDS, ROOM, height, shares
from shoal.testing.shown import Parents, Shown
from shoal.testing.tables import SENSITIVE, Case


def t_equal(group: Sequence[object], table: Sequence[object]) -> Fraction:
    """Half of all differences."""
    p, q = shares(group), shares(table)
    return sum((abs(p.get(value, Fraction(0)) - q[value]) for value in q), Fraction(0)) / 2


def t_ordered(group: Sequence[object], table: Sequence[object], order: Sequence[object]) -> Fraction:
    """The sum of all cumulated differences over m - 1; the values that occur, in their order."""
    p, q = shares(group), shares(table)
    known = [value for value in order if value in q]
    if len(known) == 1:
        return Fraction(0)
    differences = [p.get(value, Fraction(0)) - q[value] for value in known]
    cumulated = [sum(differences[: place + 1], Fraction(0)) for place in range(len(known))]
    return sum(map(abs, cumulated), Fraction(0)) / (len(known) - 1)


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
        moved = min(sum((e for e in extra if e > 0), Fraction(0)), -sum((e for e in extra if e < 0), Fraction(0)))
        work += moved * (1 if node == root else Fraction(height(node, parents), tallest))
        return sum(extra, Fraction(0))

    settle(root)
    return work


def kept(one: TCloseness, shown: Shown) -> bool:
    """Whether no class is farther from the table than t."""
    whole = shown.column(one.column)

    def distance(group: list[object]) -> Fraction:
        if one.distance == "ordered":
            return t_ordered(group, whole, shown.order(one.column))
        if one.distance == "hierarchical":
            return t_hierarchical(group, whole, shown.parents(one.column))
        return t_equal(group, whole)

    return all(distance(group) <= one.t + ROOM for group in shown.groups(one.column))


def drawn(draw: st.DrawFn, case: Case) -> TCloseness:
    """Any distance, of a column that has it."""
    distance = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
    holes = case.frame["income"].null_count() > 0
    columns = {
        "equal": SENSITIVE,
        "ordered": ("stage",) if holes else ("stage", "income"),
        "hierarchical": ("illness",),
    }
    return TCloseness(draw(st.sampled_from(columns[distance])), t=draw(BOUNDS), distance=distance)
