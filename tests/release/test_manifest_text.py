"""Manifests and receipts are written as the standard library would write them."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from shoal.release.manifest import indented

SCALARS = st.none() | st.booleans() | st.integers() | st.floats().filter(lambda number: number != 0) | st.text()
ENTRIES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(ENTRIES)
@example({"a": [], "b": {}, "c": [[{}], {"d": [1, '\u2028\n"\\\x00é']}], "": 1e-7, "e": float("nan")})
def test_as_the_standard_library_writes_it(entry):
    assert indented(entry) == json.dumps(entry, indent=2, ensure_ascii=False)


def test_zeros_are_alike():
    assert indented([-0.0, 0.0, 0, False]) == json.dumps([0.0, 0.0, 0, False], indent=2)
