"""delta-disclosure privacy, from its definition."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.testing.models.base import COLUMNS, shares
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def delta(group: Sequence[object], table: Sequence[object], *, absent: str = "counts") -> float:
    """The largest |ln(p / q)|; infinite where a value is absent, unless that is ignored."""
    p, q = shares(group), shares(table)
    if absent == "counts" and set(q) - set(p):
        return math.inf
    return max(abs(math.log(p[value] / q[value])) for value in p)


def kept(one: DeltaDisclosure, shown: Shown) -> bool:
    """Whether every value is less than delta away from its share in the table."""
    whole = shown.column(one.column)
    return all(delta(group, whole, absent=one.absent) < one.delta for group in shown.groups(one.column))


def drawn(draw: st.DrawFn, case: Case) -> DeltaDisclosure:  # noqa: ARG001
    """Any column, and bounds that are logarithms of small numbers, too."""
    absent = draw(st.sampled_from(["counts", "ignored"]))
    near = st.one_of(st.integers(20, 150).map(lambda n: n / 60), st.sampled_from([2, 1.5, 3]).map(math.log))
    return DeltaDisclosure(draw(COLUMNS), delta=draw(near), absent=absent)
