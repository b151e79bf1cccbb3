"""m-uniqueness, from its definition."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal.privacy.m_uniqueness import MUniqueness
from shoal.testing.models.base import COLUMNS
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def kept(one: MUniqueness, shown: Shown) -> bool:
    """Whether every class has at least m rows, no two of them with the same value."""
    return all(one.m <= len(group) == len(set(group)) for group in shown.groups(one.column))


def drawn(draw: st.DrawFn, case: Case) -> MUniqueness:  # noqa: ARG001
    """Any column, any small m."""
    return MUniqueness(draw(COLUMNS), m=draw(st.integers(2, 4)))
