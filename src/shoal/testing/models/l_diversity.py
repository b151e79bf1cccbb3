"""l-diversity, from its definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from shoal.privacy.l_diversity import LDiversity
from shoal.testing.models.base import COLUMNS, ROOM, shares
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def distinct(group: Sequence[object]) -> int:
    """How many values there are."""
    return len(set(group))


def entropy(group: Sequence[object]) -> float:
    """The l whose logarithm is the entropy."""
    return math.exp(-sum(p * math.log(p) for p in map(float, shares(group).values())))


def recursive(group: Sequence[object], l: int) -> float:  # noqa: E741
    """The least c that is missed: r1 / (rl + ... + rm)."""
    counts = sorted(Counter(group).values(), reverse=True)
    return float(Fraction(counts[0], sum(counts[l - 1 :]))) if len(counts) >= l else math.inf


def kept(one: LDiversity, shown: Shown) -> bool:
    """Whether every class holds l values, counted as the variant says."""
    groups = shown.groups(one.column)
    if one.variant == "distinct":
        return all(distinct(group) >= one.l for group in groups)
    if one.variant == "entropy":
        return all(entropy(group) >= one.l - ROOM for group in groups)
    assert one.c is not None
    return all(recursive(group, int(one.l)) < one.c for group in groups)


def drawn(draw: st.DrawFn, case: Case) -> LDiversity:  # noqa: ARG001
    """Any column and variant; l need not be whole for entropy."""
    variant = draw(st.sampled_from(["distinct", "entropy", "recursive"]))
    c = draw(st.integers(30, 360)) / 60 if variant == "recursive" else None
    l = draw(st.integers(61, 180)) / 60 if variant == "entropy" else draw(st.integers(2, 3))  # noqa: E741
    return LDiversity(draw(COLUMNS), l=l, variant=variant, c=c)
