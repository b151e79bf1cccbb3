"""The one order that a release may have: who comes first is worked out with plain lists, too."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.check.row_order import _check_numbers, _ranked
from shoal.errors import Problems

GROUPS = st.lists(st.tuples(*[st.lists(st.sampled_from("abc"), min_size=1, max_size=3)] * 2), min_size=1, max_size=5)


def is_numbered(groups):
    """Whether groups are accepted in this order; each shows some texts in either of two tables."""
    parts = []
    for at in range(2):
        rows = [(number, text) for number, group in enumerate(groups, 1) for text in group[at]]
        parts.append((pl.Series([number for number, _ in rows]), pl.DataFrame({"shown": [text for _, text in rows]})))
    problems = Problems()
    _check_numbers(parts, "classes", problems)
    return not problems


@given(GROUPS)
def test_groups_are_numbered_by_what_they_show(groups):
    """What a group shows in the first table comes first, then the second; of two that begin alike, the shorter."""
    sorted_groups = [tuple(sorted(part) for part in group) for group in groups]
    assert is_numbered(groups) == (sorted_groups == sorted(sorted_groups))


@given(GROUPS)
def test_one_order_is_always_right(groups):
    assert is_numbered(sorted(groups, key=lambda group: tuple(sorted(part) for part in group)))


def test_groups_that_show_the_same_may_stand_either_way():
    assert is_numbered([(["a", "b"], ["c"]), (["b", "a"], ["c"]), (["b"], ["a"])])
    assert not is_numbered([(["a", "b"], ["c"]), (["b", "a"], ["a"])])
    assert not is_numbered([(["a", "b"], ["c"]), (["a"], ["c"])])


def test_numbers_have_no_gap():
    frame = pl.DataFrame({"shown": ["a", "b"]})
    for numbers in ([1, 3], [0, 1], [1, None]):
        problems = Problems()
        _check_numbers([(pl.Series(numbers, dtype=pl.Int64), frame)], "classes", problems)
        assert len(problems) == 1


def test_rows_of_many_columns_with_many_values_rise_as_they_do_when_sorted():
    """All values of all columns together are more than a whole number can count."""
    rng = np.random.default_rng(3)
    columns = [pl.Series("same", ["x"] * 2000), *(pl.Series(str(at), rng.integers(0, 900, 2000)) for at in range(9))]
    columns[1] = columns[1] // 300  # or the first column alone would tell
    columns[2] = columns[2] // 300
    order = np.argsort(_ranked(pl.DataFrame(columns)), kind="stable").tolist()
    assert order == sorted(range(2000), key=lambda row: [one[row] for one in columns])
