"""k-map, from its definition."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal.privacy.k_map import KMap
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def kept(one: KMap, shown: Shown) -> bool:
    """Whether the cells of every class fit at least k people of the population."""
    return all(sum(shown.covers(group, person) for person in shown.people) >= one.k for group in shown.classes)


def drawn(draw: st.DrawFn, case: Case) -> KMap:  # noqa: ARG001
    """Any small k."""
    return KMap(k=draw(st.integers(2, 12)))
