"""What hypothesis draws."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st


def beyond_the_simplest(data: st.DataObject) -> None:
    """Turn down the simplest example, which hypothesis always tries first: of one example, that would be all."""
    assume(data.draw(st.integers(0, 99), "not the simplest"))
