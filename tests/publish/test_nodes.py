"""The nodes that a manifest names of a hierarchy: in one order, whatever tree they were grown in."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal


@given(
    ages=st.lists(st.one_of(st.none(), st.integers(-20, 120)), min_size=6, max_size=60),
    parts=st.sampled_from([(4, 2), (8, 4), (8, 4, 2), (3,)]),
    k=st.integers(2, 3),
)
def test_quantiles_of_any_numbers_are_published(ages, parts, k):
    schema = shoal.Schema(quasi={"age": shoal.Numeric(shoal.Quantiles(parts=parts))})
    release = shoal.anonymize(pl.DataFrame({"age": pl.Series(ages, dtype=pl.Int64)}), schema, shoal.Mondrian(k=k))
    assert release.verify().k >= k


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2, 2)], ids=str)
def test_groupings_of_many_values_are_published(sizes):
    names = [f"{first}{second}" for first in "zamb" for second in "9071"]
    schema = shoal.Schema(quasi={"name": shoal.Nominal(shoal.Grouping(sizes=sizes))})
    release = shoal.anonymize(pl.DataFrame({"name": names * 2}), schema, shoal.Mondrian(k=3))
    assert release.verify().k >= 3


def test_nodes_stand_in_the_order_of_their_names_not_of_the_tree_they_are_from():
    ages = [1, 3, 4, 4, 6, 8, 8, 9, 9, 11, 12, 12, 13, 15, 15, 16, 16, 17, 18, 19]
    schema = shoal.Schema(quasi={"age": shoal.Numeric(shoal.Quantiles(parts=(4, 2)))})
    release = shoal.anonymize(pl.DataFrame({"age": ages}), schema, shoal.Mondrian(k=3), seed=1)
    nodes = release.manifest.layout.quasi[0].nodes
    assert [node.name for node in nodes] == [None, "[1, 6]", "[12, 15]", "[16, 19]", "[8, 11]"]
    assert {node.parent for node in nodes} == {None, 0}
