"""(epsilon, m)-anonymity, from its definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from shoal.privacy.epsilon_m import EpsilonM
from shoal.testing.models.base import ROOM
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def epsilon_m(group: Sequence[Any], epsilon: Any, *, relative: bool = False) -> Fraction:
    """The rows over the most that are near any one of them; decimal numbers are what they are written as."""

    def near(one: Any, other: Any) -> bool:
        if one is None or other is None:
            return one is other
        reach = _exact(epsilon) * (abs(_exact(one)) if relative else 1)
        return abs(_exact(one) - _exact(other)) <= reach

    return Fraction(len(group), max(sum(near(one, other) for other in group) for one in group))


def _exact(number: Any) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def kept(one: EpsilonM, shown: Shown) -> bool:
    """Whether at most one in m rows of a class is near any one of them."""
    groups = shown.groups(one.column)
    return all(epsilon_m(group, one.epsilon, relative=one.relative) >= one.m - ROOM for group in groups)


def drawn(draw: st.DrawFn, case: Case) -> EpsilonM:  # noqa: ARG001
    """Of the one column of numbers."""
    epsilon, relative = draw(st.integers(0, 5)) / 10, draw(st.booleans())
    return EpsilonM("income", epsilon=epsilon, m=draw(st.integers(61, 180)) / 60, relative=relative)
