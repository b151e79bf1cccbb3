"""(alpha, k)-anonymity, from its definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from shoal.privacy.alpha_k import AlphaK
from shoal.table.numbers import number_text
from shoal.testing.models.base import BOUNDS, COLUMNS, ROOM, shares
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def alpha(group: Sequence[object], named: Sequence[object] | None = None) -> Fraction:
    """The largest share of a value, of all or of those that are named."""
    found = shares(group)
    return max(found.get(value, Fraction(0)) for value in (found if named is None else named))


def kept(one: AlphaK, shown: Shown) -> bool:
    """Whether no value that is looked at makes up more than alpha of a class."""
    named = None
    if one.values is not None:
        texts = {_text(value): value for value in shown.column(one.column)}
        if not set(one.values) <= set(texts):
            return False
        named = [texts[text] for text in one.values]
    return all(alpha(group, named) <= one.alpha + ROOM for group in shown.groups(one.column))


def _text(value: object) -> str | None:
    return number_text(value) if isinstance(value, int | float) else None if value is None else str(value)


def drawn(draw: st.DrawFn, case: Case) -> AlphaK:
    """Any column, all its values or some of those that occur."""
    column = draw(COLUMNS)
    present = case.frame[column].drop_nulls().unique()
    known = sorted(map(number_text if present.dtype.is_numeric() else str, present.to_list()))
    named = draw(st.none() | st.lists(st.sampled_from(known), min_size=1, max_size=3)) if known else None
    return AlphaK(column, alpha=draw(BOUNDS), values=None if named is None else tuple(named))
