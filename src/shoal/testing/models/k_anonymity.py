"""k-anonymity, from its definition."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal.privacy.k_anonymity import KAnonymity
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def kept(one: KAnonymity, shown: Shown) -> bool:
    """Whether every class has at least k rows."""
    return all(group.size >= one.k for group in shown.classes)


def drawn(draw: st.DrawFn, case: Case) -> KAnonymity:  # noqa: ARG001
    """Any small k."""
    return KAnonymity(k=draw(st.integers(2, 9)))
