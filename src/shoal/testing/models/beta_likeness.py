"""beta-likeness, from its definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from shoal.privacy.beta_likeness import BetaLikeness
from shoal.testing.models.base import COLUMNS, ROOM, shares
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def beta(group: Sequence[object], table: Sequence[object], *, enhanced: bool = False) -> float:
    """The largest relative gain of a value; enhanced: infinite where it is above -ln of its share."""
    p, q = shares(group), shares(table)
    gains = {value: (p.get(value, Fraction(0)) - q[value]) / q[value] for value in q}
    if enhanced and any(gain > -math.log(q[value]) + ROOM for value, gain in gains.items()):
        return math.inf
    return float(max(gains.values()))


def kept(one: BetaLikeness, shown: Shown) -> bool:
    """Whether no value gains more than beta."""
    whole, enhanced = shown.column(one.column), one.variant == "enhanced"
    return all(beta(group, whole, enhanced=enhanced) <= one.beta + ROOM for group in shown.groups(one.column))


def drawn(draw: st.DrawFn, case: Case) -> BetaLikeness:  # noqa: ARG001
    """Any column, both variants."""
    variant = draw(st.sampled_from(["basic", "enhanced"]))
    return BetaLikeness(draw(COLUMNS), beta=draw(st.integers(6, 180)) / 60, variant=variant)
