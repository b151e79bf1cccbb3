"""delta-presence, from its definition."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from shoal.privacy.delta_presence import DeltaPresence
from shoal.testing.models.base import BOUNDS, ROOM
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def kept(one: DeltaPresence, shown: Shown) -> bool:
    """Whether everybody of the population is in the release with a chance within the bounds.

    A class may stand for any of the people that its cells fit, so each of them is among its rows with a chance of rows
    over people; the chances of all classes that fit a person add up.
    """
    fitting = [[shown.covers(group, person) for person in shown.people] for group in shown.classes]
    if not all(any(fits) for fits in fitting):
        return False
    shares = [Fraction(group.size, sum(fits)) for group, fits in zip(shown.classes, fitting, strict=True)]
    chances = [
        sum((share for share, fits in zip(shares, fitting, strict=True) if fits[place]), Fraction(0))
        for place in range(len(shown.people))
    ]
    return all(one.low - ROOM <= chance <= one.high + ROOM for chance in chances)


def drawn(draw: st.DrawFn, case: Case) -> DeltaPresence:  # noqa: ARG001
    """Bounds around what rows over people may be."""
    low, high = sorted((draw(BOUNDS), draw(BOUNDS)))
    return DeltaPresence(low=low / 2, high=high)
