"""Guarding nodes, from their definition: how likely a value lies below what its owner guards."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from shoal.privacy.guarding_nodes import GuardingNodes
from shoal.testing.models.base import BOUNDS, ROOM, leaves_below, path
from shoal.testing.shown import Parents, Shown
from shoal.testing.tables import Case


def breach(group: Sequence[str | None], guards: Sequence[str | None], parents: Parents) -> Fraction:
    """The largest probability of a breach among those of the class who guard a node."""
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


def kept(one: GuardingNodes, shown: Shown) -> bool:
    """Whether no guard is broken with a chance above p."""
    parents = shown.parents(one.column)
    assert all(len(group.guards) == group.size for group in shown.classes), "the table needs the column `note`"
    return all(
        breach(group.values[one.column], group.guards, parents) <= one.p + ROOM for group in shown.classes
    )  # fmt: skip


def drawn(draw: st.DrawFn, case: Case) -> GuardingNodes:  # noqa: ARG001
    """Of the one column with a tree of its own."""
    return GuardingNodes("illness", p=draw(BOUNDS))
